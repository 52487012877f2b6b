//! Steps for tests of critics.

use super::{ActionCritic, Critic};
use crate::{Action, Features, Part, Random, SavedState, Seen, SeenScratch, State, Step, Visitor};

/// A step in which features come as they are in the experience, with ρ and, for critics of actions, π(·|S_t) and π(·|S_{t+1}).
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) step: Step<Vec<f64>, Action>,
    pub(super) rho: f64,
    pub(super) policy: [Vec<f64>; 2],
}

impl Row {
    /// Shows the step to a function as a part with these features sees it. Those that are not dense are active where they are not zero.
    pub(super) fn see<T>(&self, features: &Features, show: impl FnOnce(&Seen) -> T) -> T {
        let active = |x: &[f64]| (0..x.len()).filter(|j| x[*j] != 0.0).collect::<Vec<_>>();
        let lists = [active(&self.step.state), active(&self.step.next)];
        let mut step = self.step.view();
        match features {
            Features::Dense { .. } | Features::Observed(_) => {}
            Features::Active { .. } => {
                (step.state, step.next) = (State::Active(&lists[0]), State::Active(&lists[1]));
            }
            // One-hot.
            Features::Table(_) => {
                let number = |list: &[usize]| State::Number(list.first().copied().unwrap_or(0));
                (step.state, step.next) = (number(&lists[0]), number(&lists[1]));
            }
        }
        show(&Seen::new(&step, Some(features), &mut SeenScratch::default()))
    }
}

/// Lets a critic of values learn from steps. Returns δ of each.
pub(super) fn learn(critic: &mut impl Critic<f64>, rows: &[Row]) -> Vec<f64> {
    let features = critic.features().cloned().expect("it has features");
    let learn = |row: &Row| {
        row.see(&features, |seen| {
            let [delta, changed] = critic.update(seen, row.rho);
            assert_eq!(changed, 0.0, "a weight is not finite");
            delta
        })
    };
    rows.iter().map(learn).collect()
}

/// Lets a critic of actions learn from steps. Returns the advantages that it had at each.
pub(super) fn learn_actions(critic: &mut impl ActionCritic<f64>, rows: &[Row]) -> Vec<Vec<f64>> {
    let features = critic.features().cloned().expect("it has features");
    let mut learn = |row: &Row| {
        row.see(&features, |seen| {
            let mut out = vec![0.0; critic.actions()];
            critic.advantages(seen, &row.policy[0], &mut out);
            assert_eq!(critic.learn(seen, &row.policy[0], &row.policy[1], row.rho), 0.0);
            out
        })
    };
    rows.iter().map(&mut learn).collect()
}

/// Two steps with one feature, for tests by hand: x = 1, 2 and then 1, ρ = 2 and then ½, two actions.
pub(super) fn two_steps() -> [Row; 2] {
    let first = Step {
        state: vec![1.0],
        action: Action::Number(0),
        mu: 0.25,
        reward: 1.0,
        next: vec![2.0],
        gamma: 0.0,
        gamma_next: 0.5,
        interest: 1.0,
    };
    let second = Step {
        state: vec![2.0],
        action: Action::Number(1),
        mu: 0.5,
        reward: 0.0,
        next: vec![1.0],
        gamma: 0.5,
        gamma_next: 0.5,
        interest: 1.0,
    };
    [
        Row { step: first, rho: 2.0, policy: [vec![0.5, 0.5], vec![0.75, 0.25]] },
        Row { step: second, rho: 0.5, policy: [vec![0.75, 0.25], vec![0.25, 0.75]] },
    ]
}

/// Random episodes of a few steps each, which terminate or meet a time limit in turn. Some ratios are zero; all are at most the largest.
pub(super) fn episodes(features: &Features, count: usize, largest: f64) -> Vec<Vec<Row>> {
    let mut random = Random::new(7, 0);
    let len = features.len();
    let mut state = || -> Vec<f64> {
        match features {
            Features::Dense { .. } => (0..len).map(|_| 2.0 * random.uniform() - 1.0).collect(),
            _ => {
                let (one, other) = (random.below(len), random.below(len));
                let two = matches!(features, Features::Active { .. });
                (0..len).map(|j| f64::from(u8::from(j == one || (two && j == other)))).collect()
            }
        }
    };
    let mut random = Random::new(8, 0);
    let mut episode = |k: usize| {
        let length = 2 + k % 5;
        let states: Vec<Vec<f64>> = (0..=length).map(|_| state()).collect();
        let policies: Vec<f64> = (0..=length).map(|_| random.uniform()).collect();
        (0..length)
            .map(|t| {
                let policy = |t: usize| vec![policies[t], 1.0 - policies[t]];
                let action = random.below(2);
                let pi = if (t + k) % 7 == 3 { 0.0 } else { policies[t] };
                let pi = if action == 0 { pi } else { 1.0 - pi };
                let mu = 0.3 + 0.6 * random.uniform();
                let step = Step {
                    state: states[t].clone(),
                    action: Action::Number(action),
                    mu,
                    reward: 2.0 * random.uniform() - 1.0,
                    next: states[t + 1].clone(),
                    gamma: if t == 0 { 0.0 } else { 0.9 },
                    gamma_next: if t + 1 == length && k.is_multiple_of(2) { 0.0 } else { 0.9 },
                    interest: 1.0,
                };
                Row { step, rho: (pi / mu).min(largest), policy: [policy(t), policy(t + 1)] }
            })
            .collect()
    };
    (0..count).map(&mut episode).collect()
}

/// The kinds of features that critics are tested with.
pub(super) fn kinds() -> [Features; 3] {
    [Features::dense(3), Features::active(5, 2), Features::one_hot(4)]
}

/// Returns numbers of a critic by name.
pub(super) fn numbers(critic: &mut impl Part<f64>, name: &str) -> Vec<f64> {
    let mut state = SavedState::empty();
    critic.tensors(&mut Visitor::save(&mut state)).unwrap();
    let tensors = state.into_tensors();
    let found = tensors.iter().find(|(other, _)| *other == name).unwrap_or_else(|| panic!("no `{name}`"));
    found.1.real().unwrap().to_vec()
}

/// Replaces numbers of a critic by name.
pub(super) fn set(critic: &mut impl Part<f64>, changes: &[(&str, &[f64])]) {
    let mut state = SavedState::empty();
    critic.tensors(&mut Visitor::save(&mut state)).unwrap();
    let mut tensors = state.into_tensors();
    for (name, numbers) in changes {
        tensors.insert(*name, crate::Numbers::Real(numbers.to_vec()));
    }
    critic.tensors(&mut Visitor::restore(&SavedState::without_settings(tensors))).unwrap();
}

#[track_caller]
pub(super) fn assert_near(got: &[f64], right: &[f64], tolerance: f64) {
    let near = |(x, y): (&f64, &f64)| (x - y).abs() <= tolerance * (1.0 + y.abs());
    assert!(got.len() == right.len() && got.iter().zip(right).all(near), "{got:?} is not {right:?}");
}
