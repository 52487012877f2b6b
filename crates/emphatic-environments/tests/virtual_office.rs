//! Every view and every move of the Virtual Office.
//!
//! `virtual_office.json` holds those of the study in which it appeared. A view is the column, the row, the direction (0 east, 1 south, 2 west,
//! 3 north) and 27 digits; a move is the column, the row, the action (0 north, 1 east, 2 south, 3 west) and the next column and row.

use emphatic::{Action, Random};
use emphatic_environments::{Environment, VirtualOffice};
use serde_json::Value;

#[test]
fn views_and_moves() {
    let file: Value = serde_json::from_str(include_str!("virtual_office.json")).unwrap();
    let views = file["observations"].as_array().unwrap();
    assert_eq!(views.len(), 164);
    for view in views {
        let state = [0, 1, 2].map(|k| view[k].as_f64().unwrap());
        let mut observation = [0.0; 27];
        VirtualOffice.observe(&state, &mut observation);
        let digits: String = observation.iter().map(f64::to_string).collect();
        assert_eq!(digits, view[3].as_str().unwrap(), "{state:?}");
    }

    let moves = file["moves"].as_array().unwrap();
    assert_eq!(moves.len(), 164);
    for row in moves {
        let [x, y, action, x_next, y_next] = [0, 1, 2, 3, 4].map(|k| row[k].as_u64().unwrap());
        for direction in 0..4 {
            let mut state = [x as f64, y as f64, f64::from(direction)];
            VirtualOffice.step(&mut state, Action::Number(action as usize), &mut Random::new(0, 0));
            assert_eq!(state, [x_next as f64, y_next as f64, ((action + 3) % 4) as f64], "{row}");
        }
    }
}
