//! Virtual Office: a walk through rooms that look alike.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{nearest_number, numbers, numbers_mut};
use emphatic::{Action, Random};

/// An office of a hallway and two rooms that look alike, in which goals are hidden. One walks north, east, south or west, looks where one
/// walks, and turns even if a wall is in the way.
///
/// A state is the column, the row (from the top) and the direction: 0 east, 1 south, 2 west, 3 north. Observed is what is ahead: 3 × 3
/// cells, column by column from the left to the right, each from the farthest cell to the nearest, and three numbers for each cell:
/// what it is (0 unseen, 1 oneself, 2 wall, 3 floor), its colour (1 green, 2 blue, 5 grey) and a number that is always 0. One cannot see
/// through walls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VirtualOffice;

/// The office from above: `#` is a wall, `h` the hallway's floor, `r` a room's.
const OFFICE: [&[u8; 9]; 9] = [
    b"#########",
    b"#hhh#rrr#",
    b"#hhhrrrr#",
    b"#hhh#rrr#",
    b"#hhh#####",
    b"#hhh#rrr#",
    b"#hhhrrrr#",
    b"#hhh#rrr#",
    b"#########",
];

/// Where the hidden goals are, and their rewards.
const GOALS: [([f64; 2], f64); 4] =
    [([7.0, 1.0], 1.0), ([7.0, 3.0], 0.0), ([7.0, 5.0], 0.0), ([7.0, 7.0], 0.5)];

/// The ways of the directions.
const WAYS: [[i32; 2]; 4] = [[1, 0], [0, 1], [-1, 0], [0, -1]];

/// How wide and how deep the view is.
const VIEW: usize = 3;

/// What is shown of a cell.
type Cell = [f64; 3];

const UNSEEN: Cell = [0.0, 0.0, 0.0];
const ONESELF: Cell = [1.0, 0.0, 0.0];
const WALL: Cell = [2.0, 5.0, 0.0];
const ROOM: Cell = [3.0, 1.0, 0.0];
const HALLWAY: Cell = [3.0, 2.0, 0.0];

/// The three numbers of a cell.
macro_rules! cell {
    ($place:literal) => {
        [
            Observed::bounded(concat!("object ", $place), 0.0, 3.0),
            Observed::bounded(concat!("colour ", $place), 0.0, 5.0),
            // Doors that are open, closed or locked would have 0, 1, 2 here: there are none.
            Observed::bounded(concat!("condition ", $place), 0.0, 2.0),
        ]
    };
}

static OBSERVED: [[Observed; 3]; VIEW * VIEW] = [
    cell!("far left"),
    cell!("left"),
    cell!("beside on the left"),
    cell!("far ahead"),
    cell!("ahead"),
    cell!("here"),
    cell!("far right"),
    cell!("right"),
    cell!("beside on the right"),
];

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "virtual-office",
    about: "a walk through a hallway and rooms that look alike to goals that are hidden",
    source: "Graves, Imani, Kumaraswamy and White 2023",
    state: 3,
    observations: OBSERVED.as_flattened(),
    actions: Actions::Finite(&["north", "east", "south", "west"]),
    limit: Some(100),
    gymnasium: None,
};

impl Environment for VirtualOffice {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    #[inline]
    fn start(&self, state: &mut [f64], _: &mut Random) {
        *numbers_mut(state) = [1.0, 4.0, 0.0];
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, _: &mut Random) -> Outcome {
        let state: &mut [f64; 3] = numbers_mut(state);
        // Actions are counted from the north, directions from the east.
        let direction = (nearest_number(action, WAYS.len()) + 3) % WAYS.len();
        let way = WAYS[direction];
        let next = [whole(state[0]) + way[0], whole(state[1]) + way[1]];
        if cell(next) != WALL {
            state[0] = f64::from(next[0]);
            state[1] = f64::from(next[1]);
        }
        state[2] = direction as f64;
        let goal = GOALS.iter().find(|(position, _)| *position == state[..2]);
        Outcome { reward: goal.map_or(0.0, |(_, reward)| *reward), is_over: goal.is_some() }
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        let [x, y, direction] = *numbers(state);
        let direction = (direction as usize) % WAYS.len();
        let (ahead, right) = (WAYS[direction], WAYS[(direction + 1) % WAYS.len()]);

        let mut view = [[WALL; VIEW]; VIEW];
        for (column, cells) in view.iter_mut().enumerate() {
            for (row, shown) in cells.iter_mut().enumerate() {
                let (aside, forward) = (column as i32 - 1, (VIEW - 1 - row) as i32);
                *shown = cell([
                    whole(x) + forward * ahead[0] + aside * right[0],
                    whole(y) + forward * ahead[1] + aside * right[1],
                ]);
            }
        }
        let seen = seen(&view);
        view[1][VIEW - 1] = ONESELF;
        let observation: &mut [f64; 27] = numbers_mut(observation);
        let (cells, seen) = (view.as_flattened(), seen.as_flattened());
        for ((numbers, cell), seen) in observation.chunks_exact_mut(3).zip(cells).zip(seen) {
            numbers.copy_from_slice(if *seen { cell } else { &UNSEEN });
        }
    }
}

/// A coordinate as a whole number, not far from the office.
#[inline]
fn whole(coordinate: f64) -> i32 {
    coordinate.clamp(-9.0, 18.0) as i32
}

/// What there is at a position; all around the office there is wall.
#[inline]
fn cell([x, y]: [i32; 2]) -> Cell {
    let row = usize::try_from(y).ok().and_then(|y| OFFICE.get(y));
    match usize::try_from(x).ok().and_then(|x| row?.get(x)) {
        Some(b'h') => HALLWAY,
        Some(b'r') => ROOM,
        _ => WALL,
    }
}

/// Which cells are seen: from the nearest row to the farthest, whoever sees a cell that is no wall sees its neighbours in the row, and
/// the cells behind all of these.
#[inline]
fn seen(view: &[[Cell; VIEW]; VIEW]) -> [[bool; VIEW]; VIEW] {
    let mut seen = [[false; VIEW]; VIEW];
    seen[1][VIEW - 1] = true;
    for row in (0..VIEW).rev() {
        // First towards the right, then towards the left.
        for (from, to) in [(0, 1), (1, 2), (2, 1), (1, 0)] {
            if seen[from][row] && view[from][row] != WALL {
                seen[to][row] = true;
                if row > 0 {
                    seen[from][row - 1] = true;
                    seen[to][row - 1] = true;
                }
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::between;
    use crate::testing;

    fn walk(actions: &[usize]) -> ([f64; 3], Outcome) {
        let (mut state, mut random) = ([0.0; 3], Random::new(0, 0));
        VirtualOffice.start(&mut state, &mut random);
        let mut outcome = Outcome::default();
        for (k, action) in actions.iter().enumerate() {
            assert!(!outcome.is_over, "after {k}");
            outcome = VirtualOffice.step(&mut state, Action::Number(*action), &mut random);
            assert!(outcome.is_over || outcome.reward == 0.0);
        }
        (state, outcome)
    }

    #[test]
    fn the_four_goals() {
        // Up the hallway, through the upper door, to the right, then up or down; the same below.
        assert_eq!(
            walk(&[0, 0, 1, 1, 1, 1, 1, 1, 0]),
            ([7.0, 1.0, 3.0], Outcome { reward: 1.0, is_over: true })
        );
        assert_eq!(
            walk(&[0, 0, 1, 1, 1, 1, 1, 1, 2]),
            ([7.0, 3.0, 1.0], Outcome { reward: 0.0, is_over: true })
        );
        assert_eq!(
            walk(&[2, 2, 1, 1, 1, 1, 1, 1, 0]),
            ([7.0, 5.0, 3.0], Outcome { reward: 0.0, is_over: true })
        );
        assert_eq!(
            walk(&[2, 2, 1, 1, 1, 1, 1, 1, 2]),
            ([7.0, 7.0, 1.0], Outcome { reward: 0.5, is_over: true })
        );
    }

    #[test]
    fn walls_stop_but_turn() {
        assert_eq!(walk(&[3]), ([1.0, 4.0, 2.0], Outcome::default()));
    }

    #[test]
    fn rooms_look_alike() {
        let (mut upper, mut lower) = ([0.0; 27], [0.0; 27]);
        VirtualOffice.observe(&[6.0, 2.0, 0.0], &mut upper);
        VirtualOffice.observe(&[6.0, 6.0, 0.0], &mut lower);
        assert_eq!(upper, lower);
    }

    #[test]
    fn stays_within_its_bounds() {
        let any_state = |random: &mut Random| loop {
            let position = [random.below(9), random.below(9)];
            if OFFICE[position[1]][position[0]] != b'#' {
                return vec![position[0] as f64, position[1] as f64, between(0.0, 4.0, random).floor()];
            }
        };
        testing::steps(&VirtualOffice, any_state, |before, after, _, _| {
            assert_ne!(cell([after[0] as i32, after[1] as i32]), WALL);
            assert!((after[0] - before[0]).abs() + (after[1] - before[1]).abs() <= 1.0);
        });
    }

    #[test]
    fn states_from_nowhere_do_no_harm() {
        let mut observation = [0.0; 27];
        for x in [f64::NAN, f64::INFINITY, -1e300, -3.0, 100.0] {
            VirtualOffice.observe(&[x, x, x], &mut observation);
            VirtualOffice.step(&mut [x, x, x], Action::Number(1), &mut Random::new(0, 0));
            assert!(observation.iter().all(|number| number.is_finite()));
        }
    }
}
