//! Emphasis: how much a state counts.
//!
//! | emphasis | M_t | E[M_t ∣ S_t = s] d_μ(s) |
//! |---|---|---|
//! | [`NoEmphasis`] | i(S_t) | d_μ(s) i(s) |
//! | [`FollowOn`], [`Ideal`] | (1 − λ_a) i(S_t) + λ_a F_t | m_{λ_a}(s) |
//! | [`Truncated`], [`Periodic`], [`NStep`], [`Decayed`], [`Clipped`], [`Normalised`], [`Lc`] | the same with another trace | another: see [`EmphasisKind`](crate::theory::EmphasisKind) |
//! | [`LambdaReturn`], [`Direct`], [`Tderc`], [`Gem`], [`LstdEmphasis`], [`XEtd`], [`ModelEmphasis`] | an estimate û(S_t) that is learned, or a return that looks back to it | m(s), as far as features allow |
//! | [`GradientDice`], [`CopTd`] | a density ratio that is learned | m(s), for one discount and as far as features allow |
//! | [`ExactEmphasis`] | m(S_t)/d_μ(S_t) | m(s) |

mod clipped;
mod cop_td;
mod decayed;
mod direct;
mod estimate;
mod exact;
mod follow_on;
mod gem;
mod gradient_dice;
mod ideal;
mod lambda_a;
mod lambda_return;
mod lc;
mod lstd;
mod model;
mod n_step;
mod none;
mod normalised;
mod past;
mod periodic;
mod tderc;
mod time_reversed;
mod truncated;
mod x_etd;

pub use clipped::{Clipped, ClippedBuilder};
pub use cop_td::{CopTd, CopTdBuilder};
pub use decayed::{Decayed, DecayedBuilder};
pub use direct::{Direct, DirectBuilder};
pub use exact::ExactEmphasis;
pub use follow_on::{FollowOn, FollowOnBuilder};
pub use gem::{Gem, GemBuilder};
pub use gradient_dice::{GradientDice, GradientDiceBuilder};
pub use ideal::Ideal;
pub use lambda_return::{LambdaReturn, LambdaReturnBuilder};
pub(crate) use lc::lc_share;
pub use lc::{Lc, LcBuilder};
pub use lstd::{LstdEmphasis, LstdEmphasisBuilder};
pub use model::{ModelEmphasis, ModelEmphasisBuilder};
pub use n_step::{NStep, NStepBuilder};
pub use none::NoEmphasis;
pub use normalised::{Normalised, NormalisedBuilder};
pub use periodic::{Periodic, PeriodicBuilder};
pub use tderc::{Tderc, TdercBuilder};
pub use truncated::{Truncated, TruncatedBuilder};
pub use x_etd::{XEtd, XEtdBuilder};

use crate::{Part, Real, Seen};

/// The weight of each step in the actor's update.
pub trait Emphasis<R: Real>: Part<R> {
    /// Returns M_t. `rho` is ρ_t; it counts for the steps after this one.
    fn weigh(&mut self, step: &Seen, rho: R) -> R;

    /// Returns whether it uses ρ. With a deterministic target policy it must not: the behaviour almost never takes exactly
    /// its action, so the ratio does not exist.
    fn needs_ratio(&self) -> bool {
        true
    }

    /// Returns whether [`Emphasis::learn`] does anything; if not, it is never called.
    fn learns(&self) -> bool {
        true
    }

    /// Learns from the step, after the actor has. (One that learns on arriving in a state, before M_t is read, does so in [`Emphasis::weigh`], and tells here whether its weights are
    /// finite.) Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        R::zero()
    }
}
