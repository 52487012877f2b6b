//! Steps are those of Gymnasium.
//!
//! `gymnasium.json` was made with Gymnasium 1.4: `env = gymnasium.make(id).unwrapped`, `env.state` set to a state (all the states a step can be
//! taken from, and more of those before an end), an action drawn at random, `env.step`, and then `env.state`, the reward and whether it
//! terminated. A row is the state, the action, the next state, the reward and the end.

use emphatic::{Action, Random};
use emphatic_environments::{Actions, find};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

#[test]
fn steps_are_those_of_gymnasium() {
    let file: Value = serde_json::from_str(include_str!("gymnasium.json")).unwrap();
    let file = file.as_object().unwrap();
    assert_eq!(file.len(), 4);
    for (name, rows) in file {
        let environment = find(name).unwrap();
        assert!(environment.description().gymnasium.is_some());
        let (mut most, mut ends) = (0.0_f64, 0);
        for row in rows.as_array().unwrap() {
            let mut state = numbers(&row[0]);
            let action = match environment.description().actions {
                Actions::Finite(_) => Action::Number(row[1].as_u64().unwrap() as usize),
                Actions::Real { .. } => Action::Real(row[1].as_f64().unwrap()),
            };
            let outcome = environment.step(&mut state, action, &mut Random::new(0, 0));
            let difference = |x: f64, y: f64| (x - y).abs();
            let next = numbers(&row[2]);
            assert_eq!(state.len(), next.len());
            for (x, y) in state.iter().zip(&next) {
                most = most.max(difference(*x, *y));
            }
            most = most.max(difference(outcome.reward, row[3].as_f64().unwrap()));
            assert_eq!(outcome.is_over, row[4].as_bool().unwrap(), "{name} {row}");
            ends += usize::from(outcome.is_over);
        }
        println!("{name}: {most:e}, {ends} ends");
        assert!(most < 1e-12, "{name}: {most:e}");
        assert!(ends > 0 || name == "pendulum", "{name}");
    }
}
