//! The TD error δ_t = R_{t+1} + γ_{t+1} v̂(S_{t+1}) − v̂(S_t).

use super::Critic;
use crate::{Real, Seen};

/// Returns δ_t by the critic's present estimates. The discount is that of the transition *out of* S_t; where an episode ends
/// it is zero, and S_{t+1} is not looked at.
#[inline(always)]
pub(super) fn td_error<R: Real>(critic: &mut (impl Critic<R> + ?Sized), step: &Seen) -> R {
    let mut target = R::splat(step.reward);
    if step.gamma_next > 0.0 {
        target += R::splat(step.gamma_next) * critic.next_value(step);
    }
    target - critic.value(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Features, Gtd, Numbers, Part, SavedState, Seen, SeenScratch, Step, Tensors, Visitor};

    #[test]
    fn by_hand() {
        let features = Features::one_hot(2);
        let mut critic = Gtd::builder(features.clone()).alpha_v(0.0).alpha_w(0.0).build().unwrap();
        let mut tensors = Tensors::default();
        tensors.insert("v", Numbers::Real(vec![3.0, 4.0]));
        tensors.insert("w", Numbers::Real(vec![0.0; 2]));
        tensors.insert("e.features", Numbers::Whole(vec![]));
        tensors.insert("e", Numbers::Real(vec![]));
        tensors.insert("steps", Numbers::Whole(vec![0]));
        critic.tensors(&mut Visitor::restore(&SavedState::without_settings(tensors))).unwrap();
        for (gamma_next, delta) in [(0.5, 1.0), (0.0, -1.0)] {
            let step = Step { reward: 2.0, gamma_next, ..Step::between(0, 0, 1) };
            let step = step.view();
            let mut scratch = SeenScratch::default();
            assert_eq!(td_error(&mut critic, &Seen::new(&step, Some(&features), &mut scratch)), delta);
        }
    }
}
