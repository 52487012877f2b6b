//! What the tests of the environments share.

use crate::environment::{Actions, Environment, between};
use emphatic::{Action, Random};

/// Draws one of the actions, each as likely as the others; a real one from a range somewhat wider than the allowed.
pub(crate) fn any_action(environment: &dyn Environment, random: &mut Random) -> Action {
    match environment.description().actions {
        Actions::Finite(names) => Action::Number(random.below(names.len())),
        Actions::Real { standard_deviation, .. } => {
            Action::Real(between(-3.0, 3.0, random) * standard_deviation)
        }
    }
}

/// Steps from many states that `state` draws, and has `check` look at each state before and after, the reward and the end. Whatever is
/// observed must be a number, and must be in its range if it is said to be.
pub(crate) fn steps(
    environment: &dyn Environment,
    mut state: impl FnMut(&mut Random) -> Vec<f64>,
    mut check: impl FnMut(&[f64], &[f64], f64, bool),
) {
    let mut random = Random::new(11, 0);
    let observed = environment.description().observations;
    let mut observation = vec![0.0; observed.len()];
    for _ in 0..20_000 {
        let before = state(&mut random);
        let mut after = before.clone();
        let action = any_action(environment, &mut random);
        let outcome = environment.step(&mut after, action, &mut random);
        assert!(outcome.reward.is_finite() && after.iter().all(|x| x.is_finite()), "{before:?} {after:?}");
        environment.observe(&after, &mut observation);
        for (x, observed) in observation.iter().zip(observed) {
            assert!(x.is_finite(), "{observed:?} {after:?}");
            assert!(
                !observed.bounded || (observed.low..=observed.high).contains(x),
                "{observed:?} {after:?}"
            );
        }
        check(&before, &after, outcome.reward, outcome.is_over);
    }
}
