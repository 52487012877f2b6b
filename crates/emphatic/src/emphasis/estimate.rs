//! A learned emphasis: an estimate û(s) = u·x(s) of the emphatic density m(s)/d_μ(s), and how it is read.

use super::lambda_a::{LambdaA, blend};
use crate::{Features, Real, Row, Schedule, SettingError, Settings, StateError, Visitor};

/// û(s) = u·x(s), with the settings that all learned emphases have: `lambda_a` and `read`.
#[derive(Clone, Debug)]
pub(super) struct Estimate<R> {
    pub(super) features: Features,
    pub(super) u: Vec<R>,
    pub(super) lambda_a: LambdaA<R>,
    /// The share of the return F in what is read.
    read: R,
}

impl<R: Real> Estimate<R> {
    /// An estimate that starts from zero.
    pub(super) fn new(features: Features, settings: &Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, read) = (LambdaA::new(settings)?, settings.number("read")?);
        Ok(Self { u: vec![R::zero(); features.len()], features, lambda_a, read })
    }

    /// û(s).
    #[inline(always)]
    pub(super) fn value(&self, x: Row) -> R {
        dot(&self.u, x)
    }

    /// Returns M_t from û(S_t) and F_t. The emphasis of a state is at least its interest, which an estimate does not know.
    #[inline(always)]
    pub(super) fn read(&self, interest: R, estimate: R, follow_on: R) -> R {
        self.read_at_least(interest, interest, estimate, follow_on)
    }

    /// [`Self::read`] with another least emphasis than the interest.
    #[inline(always)]
    pub(super) fn read_at_least(&self, least: R, interest: R, estimate: R, follow_on: R) -> R {
        let read = blend(self.read, estimate, follow_on);
        self.lambda_a.mix(interest, read.if_less(least, least, read))
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.estimate("u", self.u.iter_mut())
    }
}

/// w·x.
#[inline(always)]
pub(super) fn dot<R: Real>(weights: &[R], x: Row) -> R {
    let mut sum = R::zero();
    for (j, x) in x.iter() {
        sum += weights[j] * R::splat(x);
    }
    sum
}

/// w ← w + step ∘ x, where the step-size of each feature is multiplied by its factor. Returns the sum of [`Real::nan_unless_finite`] over the
/// weights it changed.
#[inline(always)]
pub(super) fn add<R: Real>(weights: &mut [R], x: Row, step: R, schedule: &Schedule<R>) -> R {
    let mut sum = R::zero();
    for (j, x) in x.iter() {
        weights[j] += step * schedule.factor(j) * R::splat(x);
        sum += weights[j].nan_unless_finite();
    }
    sum
}
