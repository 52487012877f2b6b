//! Policies: how to act, given weights θ.
//!
//! A policy here is a *form*, such as "softmax over linear preferences"; its weights are kept beside it, in the
//! number type at hand. So one and the same form serves a learner with `f64`, sixteen learners in
//! [`Lanes`](crate::Lanes), and the exact theory with [`Dual`](crate::Dual) numbers.

mod any;
mod deterministic;
mod fixed;
mod gaussian;
mod softmax;

pub use any::AnyPolicy;
pub(crate) use any::Looking;
pub use deterministic::DeterministicLinear;
pub use fixed::Fixed;
pub use gaussian::{Gaussian, Normal};
pub use softmax::Softmax;

use crate::{Acts, Draw, Features, Real, Row, StateError, StepError, Visitor};
use std::any::Any;
use std::fmt::Debug;

/// A way to act that depends on weights.
pub trait Policy: Clone + Debug + Send + Sync + 'static {
    /// The type of its actions: the number of an action (`usize`) or a real action (`f64`).
    type Action: Acts;

    /// The distribution of actions in one state, with the numbers that its gradient needs.
    type Distribution<R: Real>: Clone + Debug + Send + Sync;

    /// The policy itself as any type: exact parts check that it is the type they were made for.
    fn form(&self) -> &dyn Any {
        self
    }

    /// The features of the policy.
    fn features(&self) -> &Features;

    /// The number of weights.
    fn len(&self) -> usize;

    /// Whether there are no weights at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an error if this is not an action of the policy; everything else may assume that it is.
    fn check_action(&self, action: Self::Action) -> Result<(), StepError>;

    /// Returns an error if the behaviour cannot have taken an action with this probability; a density may be any positive
    /// number.
    fn check_mu(&self, _mu: f64) -> Result<(), StepError> {
        Ok(())
    }

    /// Returns room for a distribution, so that no step allocates.
    fn room<R: Real>(&self) -> Self::Distribution<R>;

    /// Writes π(·|s), given the features of s, to `out`, which came from [`Policy::room`].
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut Self::Distribution<R>);

    /// Returns π(·|s), given the features of s, in room of its own.
    fn distribution_at<R: Real>(&self, weights: &[R], x: Row) -> Self::Distribution<R> {
        let mut at = self.room();
        self.distribution(weights, x, &mut at);
        at
    }

    /// Returns π(·|s) as numbers: for a softmax the probability of each action, for a Gaussian its mean and deviation, for a
    /// deterministic policy the action.
    fn numbers<R: Real>(&self, at: &Self::Distribution<R>) -> Vec<R>;

    /// Shows settings of its own to a visitor, which saves them or compares them with those saved.
    fn settings(&self, _visitor: &mut Visitor) -> Result<(), StateError> {
        Ok(())
    }

    /// Draws an action, or computes it, as one lane has it.
    fn sample<R: Real>(&self, at: &Self::Distribution<R>, lane: usize, draw: &mut dyn Draw) -> Self::Action;
}

/// A policy that draws its actions.
pub trait StochasticPolicy: Policy {
    /// Returns π(a|s), the probability or the density of an action.
    fn probability<R: Real>(&self, at: &Self::Distribution<R>, action: Self::Action) -> R;

    /// `weights` ← `weights` + `scale` ∇ ln π(a|s), where `at` is the distribution in s.
    ///
    /// Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn add_score<R: Real>(
        &self,
        x: Row,
        at: &Self::Distribution<R>,
        action: Self::Action,
        scale: R,
        weights: &mut [R],
    ) -> R;
}

/// A policy with finitely many actions, numbered from 0.
pub trait FinitePolicy: StochasticPolicy + Policy<Action = usize> {
    /// The number of actions.
    fn actions(&self) -> usize;

    /// Returns π(·|s): the probability of each action.
    fn probabilities<'a, R: Real>(&self, at: &'a Self::Distribution<R>) -> &'a [R];
}

/// A policy that computes its action, a real number.
pub trait DeterministicPolicy: Policy<Action = f64> {
    /// Returns π(s).
    fn action<R: Real>(&self, at: &Self::Distribution<R>) -> R;

    /// `weights` ← `weights` + `scale` ∇π(s). Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    fn add_gradient<R: Real>(&self, x: Row, at: &Self::Distribution<R>, scale: R, weights: &mut [R]) -> R;
}

/// Returns the first weight that is not finite in some lane, with its value there.
pub(crate) fn not_finite<R: Real>(weights: &[R]) -> Option<(usize, f64)> {
    let in_lanes = |w: &R| (0..R::LANES).map(|lane| w.lane(lane)).find(|x| !x.is_finite());
    weights.iter().enumerate().find_map(|(index, w)| in_lanes(w).map(|value| (index, value)))
}

/// y_k = Σ_f x_f θ_{f,k}: K outputs that are linear in the features. θ is stored feature by feature, so the weights
/// of one active feature lie side by side.
#[inline(always)]
pub(crate) fn outputs<R: Real, const K: usize>(x: Row, weights: &[R]) -> [R; K] {
    let weights = weights.as_chunks::<K>().0;
    let mut y = [R::zero(); K];
    if let Some(f) = x.one::<R>() {
        for (y, w) in y.iter_mut().zip(&weights[f]) {
            *y += *w;
        }
        return y;
    }
    for (f, x) in x.iter() {
        let x = R::splat(x);
        for (y, w) in y.iter_mut().zip(&weights[f]) {
            *y += x * *w;
        }
    }
    y
}

/// θ_{f,k} ← θ_{f,k} + c_k x_f. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
#[inline(always)]
pub(crate) fn add_outputs<R: Real, const K: usize>(x: Row, c: [R; K], weights: &mut [R]) -> R {
    let weights = weights.as_chunks_mut::<K>().0;
    // A sum for each output: they need not wait for one another.
    let mut sums = [R::zero(); K];
    if let Some(f) = x.one::<R>() {
        for ((w, c), sum) in weights[f].iter_mut().zip(c).zip(&mut sums) {
            *w += c;
            *sum += w.nan_unless_finite();
        }
        return sums.into_iter().fold(R::zero(), |all, sum| all + sum);
    }
    for (f, x) in x.iter() {
        let x = R::splat(x);
        for ((w, c), sum) in weights[f].iter_mut().zip(c).zip(&mut sums) {
            *w += c * x;
            *sum += w.nan_unless_finite();
        }
    }
    sums.into_iter().fold(R::zero(), |all, sum| all + sum)
}

/// [`outputs`] where their number is not known at compile time.
#[inline(always)]
pub(crate) fn any_outputs<R: Real>(x: Row, weights: &[R], out: &mut [R]) {
    let count = out.len();
    // By twos: a sum alone waits for itself, and of more the compiler makes vectors of outputs, not of lanes.
    let (pairs, last) = out.as_chunks_mut::<2>();
    for (pair, y) in pairs.iter_mut().enumerate() {
        let mut sums = [R::zero(); 2];
        for (f, x) in x.iter() {
            let (x, at) = (R::splat(x), f * count + 2 * pair);
            sums[0] += x * weights[at];
            sums[1] += x * weights[at + 1];
        }
        *y = sums;
    }
    if let [y] = last {
        let mut sum = R::zero();
        for (f, x) in x.iter() {
            sum += R::splat(x) * weights[f * count + count - 1];
        }
        *y = sum;
    }
}
