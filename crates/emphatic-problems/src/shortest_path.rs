//! A target that takes the shortest path to a state.

use crate::file_error::ValueError;
use crate::names::{Key, Names};
use crate::policy::{Share, TargetEntry, uniform};
use crate::values::Number;
use emphatic::{Problem, Transition};
use std::collections::{BTreeMap, VecDeque};

/// The key of such a target.
const KEY: &str = "shortest_path";

/// The probabilities in each state of a target that is given as `{ shortest_path = "r2c5" }`, unless a state or an action has that
/// name.
pub(crate) fn given_shortest_path(
    table: &BTreeMap<String, TargetEntry>,
    problem: &Problem,
) -> Result<Option<Vec<Vec<f64>>>, ValueError> {
    let Some(entry) = table.get(KEY) else { return Ok(None) };
    if problem.states().iter().chain(problem.actions()).any(|name| name == KEY) {
        return Ok(None);
    }
    let key = match entry {
        TargetEntry::Text(name) => Some(Key::Name(name.clone())),
        TargetEntry::Share(Share::Number(Number(x))) => whole(*x).map(Key::Number),
        _ => None,
    };
    let Some(key) = key.filter(|_| table.len() == 1) else {
        return Err(ValueError::new("`shortest_path` is a state, and nothing stands beside it")
            .help(format!("target = {{ {KEY} = \"{}\" }}", problem.states()[0])));
    };
    Ok(Some(rows(problem, Names::new("state", problem.states()).find_key(&key)?)))
}

/// The number, if it is whole and not negative.
fn whole(x: f64) -> Option<u64> {
    (x >= 0.0 && x.fract() == 0.0 && x < 1e15).then_some(x as u64)
}

/// The probabilities in each state: alike for all actions that begin a shortest path to the goal. In the goal itself, and where no
/// path leads there, all actions are alike.
fn rows(problem: &Problem, goal: usize) -> Vec<Vec<f64>> {
    let (states, actions) = (problem.states().len(), problem.actions().len());
    let mut is_start = vec![false; states];
    problem.start().iter().for_each(|&(start, _)| is_start[start] = true);
    // An episode ends by a discount of 0 on the way to a start.
    let ends = |t: &Transition| t.gamma == 0.0 && is_start[t.next];
    let of_action = |k| likeliest(problem.transitions(k / actions, k % actions), ends);
    let next: Vec<Option<usize>> = (0..states * actions).map(of_action).collect();
    let steps = steps(&next, actions, goal);
    let row = |s: usize| {
        let step = steps[s].and_then(|steps| steps.checked_sub(1));
        let begins = |a: &usize| step.is_some() && next[s * actions + a].is_some_and(|n| steps[n] == step);
        let shortest: Vec<usize> = (0..actions).filter(begins).collect();
        if shortest.is_empty() {
            return uniform(actions);
        }
        let mut row = vec![0.0; actions];
        shortest.iter().for_each(|&a| row[a] = 1.0 / shortest.len() as f64);
        row
    };
    (0..states).map(row).collect()
}

/// How many steps it takes from each state to the goal; `None` if no path leads there.
fn steps(next: &[Option<usize>], actions: usize, goal: usize) -> Vec<Option<usize>> {
    let states = next.len() / actions;
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); states];
    for (k, next) in next.iter().enumerate() {
        if let Some(next) = next {
            before[*next].push(k / actions);
        }
    }
    let mut steps = vec![None; states];
    steps[goal] = Some(0);
    let mut reached = VecDeque::from([goal]);
    while let Some(state) = reached.pop_front() {
        for &from in &before[state] {
            if steps[from].is_none() {
                steps[from] = steps[state].map(|steps: usize| steps + 1);
                reached.push_back(from);
            }
        }
    }
    steps
}

/// The state that an action most likely leads to, the first of several; `None` if the episode most likely ends.
fn likeliest(outcomes: &[Transition], ends: impl Fn(&Transition) -> bool) -> Option<usize> {
    let mut shares: BTreeMap<Option<usize>, f64> = BTreeMap::new();
    for outcome in outcomes {
        *shares.entry((!ends(outcome)).then_some(outcome.next)).or_default() += outcome.probability;
    }
    let more = |best: (Option<usize>, f64), (next, share): (&Option<usize>, &f64)| {
        if *share > best.1 { (*next, *share) } else { best }
    };
    shares.iter().fold((None, 0.0), more).0
}

#[cfg(test)]
mod tests {
    use crate::policy::Target;
    use crate::problem_file::ProblemFile;
    use emphatic::{Exact, KnownProblem};

    #[track_caller]
    fn rows(text: &str) -> Vec<Vec<f64>> {
        let file = ProblemFile::parse(text, "p.toml").unwrap();
        let (KnownProblem::Finite(task), Target::Fixed(target)) = (&file.known, &file.target) else {
            panic!("{:?}", file.target)
        };
        Exact::new(&**task, target, &[]).unwrap().probabilities()
    }

    /// Whose target is the cell in the second row and the third column.
    fn grid(map: &str) -> String {
        let top = "behaviour = \"uniform\"\ngamma = 0.9\ntarget = { shortest_path = \"r1c2\" }\n";
        format!("{top}[grid]\nmap = \"\"\"\n{map}\n\"\"\"\n")
    }

    const UP: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
    const RIGHT: [f64; 4] = [0.0, 1.0, 0.0, 0.0];
    const DOWN: [f64; 4] = [0.0, 0.0, 1.0, 0.0];
    const RIGHT_OR_DOWN: [f64; 4] = [0.0, 0.5, 0.5, 0.0];
    const ALIKE: [f64; 4] = [0.25; 4];

    #[test]
    fn all_actions_that_begin_a_shortest_path_are_alike() {
        let open = rows(&grid("S..\n..."));
        assert_eq!(open, [RIGHT_OR_DOWN, RIGHT_OR_DOWN, DOWN, RIGHT, RIGHT, ALIKE]);
        assert_eq!(rows(&grid("S..\n.#.")), [RIGHT, RIGHT, DOWN, UP, ALIKE]);
        // No path leads through the end of an episode, or out of a cell between walls.
        assert_eq!(rows(&grid("S..\n.G.")), [RIGHT, RIGHT, DOWN, UP, ALIKE, ALIKE]);
        assert_eq!(rows(&grid("S..#.\n.#.")), [RIGHT, RIGHT, DOWN, ALIKE, UP, ALIKE]);
    }

    /// A move that may go astray is taken for what it most likely is; a state may go by its number.
    #[test]
    fn actions_are_taken_at_their_likeliest() {
        let plain = grid("S..\n...");
        assert_eq!(rows(&(plain.clone() + "slip = 0.3\n")), rows(&plain));
        assert_eq!(rows(&plain.replace("\"r1c2\"", "5")), rows(&plain));
        let chain = "behaviour = \"uniform\"\ntarget = { shortest_path = \"0\" }\n[chain]\nstates = 3\nleft.end = true\n";
        assert_eq!(rows(chain), [[0.5, 0.5], [1.0, 0.0], [1.0, 0.0]]);
    }
}
