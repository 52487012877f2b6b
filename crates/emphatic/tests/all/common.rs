//! Helpers of several tests.

use emphatic::{Action, Policy, Random, State, Step};

/// Weights that prefer some actions without making any certain.
pub fn random_weights<P: Policy>(random: &mut Random, policy: &P) -> Vec<f64> {
    (0..policy.len()).map(|_| random.normal()).collect()
}

/// The numbers of a step's state, of its action and of the next state.
pub fn numbers(step: &Step<State, Action>) -> [usize; 3] {
    match (step.state, step.action, step.next) {
        (State::Number(state), Action::Number(action), State::Number(next)) => [state, action, next],
        _ => panic!("{step:?} is not a step of a finite problem"),
    }
}
