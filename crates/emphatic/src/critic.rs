//! Critics: how good was it?
//!
//! | kind | what it tells the actor | critics |
//! |---|---|---|
//! | [`Critic`] | δ_t, from v̂ | [`ExactCritic`], [`Gtd`] |
//! | [`ActionCritic`] | q̂(s,b) − v̂(s) for every action | [`ExactCritic`], [`Gq`], [`Advantage`] |
//! | [`SlopeCritic`] | ∂q/∂a | [`ExactCritic`], [`Compatible`] |

pub(crate) mod advantage;
pub(crate) mod compatible;
pub(crate) mod exact;
pub(crate) mod gq;
mod gradient_td;
pub(crate) mod gtd;

pub use advantage::Advantage;
pub use compatible::Compatible;
pub use exact::ExactCritic;
pub use gq::Gq;
pub use gtd::Gtd;

use crate::part::{Part, Seen, Slot};
use crate::real::Real;

/// A critic that estimates v_π.
pub trait Critic<R: Real>: Part<R> {
    /// v̂(S_t).
    fn value(&mut self, step: &Seen) -> R;

    /// v̂(S_{t+1}), where an episode goes on.
    fn next_value(&mut self, step: &Seen) -> R;

    /// δ_t = R_{t+1} + γ_{t+1} v̂(S_{t+1}) − v̂(S_t), from the weights before this step's updates.
    #[inline(always)]
    fn delta(&mut self, step: &Seen) -> R {
        let mut target = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            target += R::splat(step.gamma_next) * self.next_value(step);
        }
        target - self.value(step)
    }

    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R;

    /// δ_t, and then what [`Critic::learn`] returns: both in one call, for a critic behind a pointer.
    #[inline(always)]
    fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
        let delta = self.delta(step);
        [delta, self.learn(step, rho, delta)]
    }
}

/// A critic that compares actions.
pub trait ActionCritic<R: Real>: Part<R> {
    /// For how many actions it is.
    fn actions(&self) -> usize;

    /// Whether it learns from π(·|S_{t+1}).
    fn wants_next(&self) -> bool {
        false
    }

    /// q̂(S_t,b) − v̂(S_t) for every action b, from the weights before this step's updates.
    fn advantages(&mut self, step: &Seen, out: &mut [R]);

    /// Learns from the step. `next` is π(·|S_{t+1}) by the policy's weights before its update, if the critic wants it and the episode
    /// goes on. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn learn(&mut self, step: &Seen, next: &[R], rho: R) -> R;
}

/// A critic that tells in which direction a real action improves.
pub trait SlopeCritic<R: Real>: Part<R> {
    /// ∂q(S_t,a)/∂a, from the weights before this step's updates.
    fn slope(&mut self, step: &Seen, action: R) -> R;

    /// Learns from the step, given π(S_t) before the policy's update. Returns the sum of [`Real::nan_unless_finite`]
    /// over the weights it changed.
    fn learn(&mut self, step: &Seen, action: R) -> R;
}

/// A critic of values inside another critic.
impl<V> Slot<V> {
    /// v̂(S_t).
    #[inline(always)]
    fn value<R: Real>(&mut self, step: &Seen) -> R
    where
        V: Critic<R>,
    {
        let (part, step) = self.see(step);
        part.value(&step)
    }

    /// See [`Critic::update`].
    #[inline(always)]
    fn update<R: Real>(&mut self, step: &Seen, rho: R) -> [R; 2]
    where
        V: Critic<R>,
    {
        let (part, step) = self.see(step);
        part.update(&step, rho)
    }
}
