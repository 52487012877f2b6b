//! Critics: how good was it?
//!
//! | kind | its signal to the actor | critics |
//! |---|---|---|
//! | [`Critic`] | δ_t, from v̂ | [`ExactCritic`], [`Td`], [`Gtd`], [`Gtd2`], [`ProximalGtd2`], [`Tdrc`], [`Htd`], [`VTrace`], [`TreeBackup`], [`Abtd`], [`Etd`], [`TrueOnlineEtd`], [`Lstd`], [`Elstd`] |
//! | [`ActionCritic`] | q̂(s,b) − v̂(s) for every action | [`ExactCritic`], [`Gq`], [`Advantage`], [`Retrace`], [`ExpectedTdrc`], [`LstdQ`], [`ModelCritic`] |
//! | [`SlopeCritic`] | ∂q/∂a | [`ExactCritic`], [`Compatible`] |

mod abtd;
mod advantage;
mod compatible;
mod corrected_td;
mod elstd;
mod etd;
pub(crate) mod exact;
mod expected_tdrc;
mod gq;
mod gradient_td;
mod gtd;
mod gtd2;
mod htd;
mod least_squares;
mod linear_td;
mod lstd;
mod lstd_q;
mod model;
mod pairs;
mod proximal_gtd2;
mod retrace;
mod shrinking;
mod td;
mod td_error;
mod tdrc;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod traced;
mod tree_backup;
mod true_online_etd;
mod v_trace;

pub use abtd::{Abtd, AbtdBuilder};
pub use advantage::{Advantage, AdvantageBuilder};
pub use compatible::{Compatible, CompatibleBuilder};
pub use elstd::{Elstd, ElstdBuilder};
pub use etd::{Etd, EtdBuilder};
pub use exact::ExactCritic;
pub use expected_tdrc::{ExpectedTdrc, ExpectedTdrcBuilder};
pub use gq::{Gq, GqBuilder};
pub use gtd::{Gtd, GtdBuilder};
pub use gtd2::{Gtd2, Gtd2Builder};
pub use htd::{Htd, HtdBuilder};
pub use lstd::{Lstd, LstdBuilder};
pub use lstd_q::{LstdQ, LstdQBuilder};
pub use model::{ModelCritic, ModelCriticBuilder};
pub use proximal_gtd2::{ProximalGtd2, ProximalGtd2Builder};
pub use retrace::{Retrace, RetraceBuilder};
pub use td::{Td, TdBuilder};
pub use tdrc::{Tdrc, TdrcBuilder};
pub use tree_backup::{TreeBackup, TreeBackupBuilder};
pub use true_online_etd::{TrueOnlineEtd, TrueOnlineEtdBuilder};
pub use v_trace::{VTrace, VTraceBuilder};

use crate::{Part, Real, Seen};
pub(crate) use pairs::{mean, pair};
use td_error::td_error;

/// A critic that estimates v_π.
pub trait Critic<R: Real>: Part<R> {
    /// Returns v̂(S_t).
    fn value(&mut self, step: &Seen) -> R;

    /// Returns v̂(S_{t+1}), where an episode goes on.
    fn next_value(&mut self, step: &Seen) -> R;

    /// Learns from the step. Returns δ_t = R_{t+1} + γ_{t+1} v̂(S_{t+1}) − v̂(S_t), from the weights before this step's updates,
    /// and the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn update(&mut self, step: &Seen, rho: R) -> [R; 2];
}

/// A critic that compares actions.
pub trait ActionCritic<R: Real>: Part<R> {
    /// Returns the number of actions.
    fn actions(&self) -> usize;

    /// Returns whether it learns from π(·|S_{t+1}).
    fn wants_next(&self) -> bool {
        false
    }

    /// Returns v̂(S_t): Σ_b π(b|S_t) q̂(S_t,b), unless the critic has an estimate of its own for it. `policy` is π(·|S_t).
    fn value(&mut self, step: &Seen, policy: &[R]) -> R;

    /// Writes q̂(S_t,b) − v̂(S_t) of every action b to `out`, from the weights before this step's updates. `policy` is π(·|S_t).
    fn advantages(&mut self, step: &Seen, policy: &[R], out: &mut [R]);

    /// Writes q̂(S_{t+1},b) − v̂(S_{t+1}) of every action b to `out`, where an episode goes on. `next` is π(·|S_{t+1}).
    fn next_advantages(&mut self, step: &Seen, next: &[R], out: &mut [R]);

    /// Learns from the step. `policy` is π(·|S_t) by the policy's weights before its update, and `next` is π(·|S_{t+1}), if the critic wants it
    /// and the episode goes on. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn learn(&mut self, step: &Seen, policy: &[R], next: &[R], rho: R) -> R;
}

/// A critic that estimates in which direction a real action improves.
pub trait SlopeCritic<R: Real>: Part<R> {
    /// Returns ∂q(S_t,a)/∂a, from the weights before this step's updates.
    fn slope(&mut self, step: &Seen, action: R) -> R;

    /// Learns from the step, given π(S_t) before the policy's update. Returns the sum of [`Real::nan_unless_finite`]
    /// over the weights it changed.
    fn learn(&mut self, step: &Seen, action: R) -> R;
}

/// Defines how a critic of values that has features, and a linear estimate in its field `td`, is scheduled and shows its weights.
macro_rules! linear_methods {
    () => {
        /// The same with this schedule of its step-sizes.
        pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
            self.td.set_schedule(schedule.into(), &self.features, 1);
            self
        }

        /// A copy of v, the weights of the value estimate.
        pub fn weights(&self) -> Vec<R> {
            self.td.weights()
        }
    };
}
pub(crate) use linear_methods;

/// The estimates of a critic of values that has a linear one in its field `td`, and its update by its method `learn`.
macro_rules! linear_values {
    () => {
        #[inline(always)]
        fn value(&mut self, step: &Seen) -> R {
            self.td.value(step.x)
        }

        #[inline(always)]
        fn next_value(&mut self, step: &Seen) -> R {
            self.td.value(step.x_next)
        }

        #[inline(always)]
        fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
            let delta = $crate::critic::td_error(self, step);
            [delta, self.learn(step, rho, delta)]
        }
    };
}
pub(crate) use linear_values;

/// The methods of [`Part`] of a critic that has features, and another part inside it.
macro_rules! part_around {
    ($values:ident) => {
        fn features(&self) -> Option<&Features> {
            Some(&self.features)
        }

        fn all_features(&self) -> Vec<&Features> {
            [vec![&self.features], self.$values.part.all_features()].concat()
        }

        fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
            self.$values.part.set_policy(policy)
        }

        fn depends_on_policy(&self) -> bool {
            self.$values.depends_on_policy
        }

        #[inline(always)]
        fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
            self.$values.policy_changed(weights, state);
        }
    };
}
pub(crate) use part_around;
