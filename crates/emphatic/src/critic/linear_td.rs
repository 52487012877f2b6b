//! Temporal-difference learning by a trace alone: what TD(λ), ETD(λ), V-trace, tree backup, ABTD and Retrace have in common.

use super::traced::Traced;
use crate::{Features, Real, Row, Schedule, StateError, Visitor};

/// A linear estimate that learns along an eligibility trace, which each method makes in its own way:
///
/// ```text
/// e ← decay e + scale x
/// w ← w + α δ e
/// ```
#[derive(Clone, Debug)]
pub(super) struct LinearTd<R> {
    size: R,
    /// The step-size: divided by the number of active features, or as it is if a schedule does that.
    alpha: R,
    schedule: Schedule<R>,
    traced: Traced<R, 1, 1>,
}

impl<R: Real> LinearTd<R> {
    /// All weights zero, for features of a state or for those of a state with each of so many actions. The step-size is divided by
    /// the number of active features.
    pub(super) fn new(features: &Features, actions: usize, size: R) -> Self {
        Self {
            size,
            alpha: size / R::splat(features.most_active() as f64),
            schedule: Schedule::default(),
            traced: Traced::new(features.len() * actions),
        }
    }

    /// Sets the schedule of the step-size.
    pub(super) fn set_schedule(&mut self, schedule: Schedule<R>, features: &Features, actions: usize) {
        self.schedule = schedule.of_pairs(features, actions);
        if !self.schedule.is_constant() {
            self.alpha = self.size;
        }
    }

    /// w·x.
    #[inline(always)]
    pub(super) fn estimate(&self, x: impl Iterator<Item = (usize, f64)>) -> R {
        self.traced.dot(0, x)
    }

    /// v̂(s).
    #[inline(always)]
    pub(super) fn value(&self, x: Row) -> R {
        match x.one::<R>() {
            Some(feature) => self.traced.cells[feature].weights[0],
            None => self.estimate(x.iter()),
        }
    }

    /// Learns from one step; without a decay the trace starts afresh. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    pub(super) fn learn(
        &mut self,
        decay: Option<R>,
        scale: R,
        delta: R,
        x: impl Iterator<Item = (usize, f64)> + Clone,
    ) -> R {
        let Self { alpha, schedule, traced, .. } = self;
        let step = *alpha * delta;
        let mut sum = decay.map_or(R::zero(), R::nan_unless_finite)
            + scale.nan_unless_finite()
            + step.nan_unless_finite();
        let is_constant = schedule.is_constant();
        if !is_constant {
            schedule.begin_at(x.clone());
        }
        traced.step(
            decay.map(|decay| [decay]),
            x,
            #[inline(always)]
            |_| {},
            #[inline(always)]
            |_, x, cell| cell.traces[0] += scale * R::splat(x),
            #[inline(always)]
            |k, cell| {
                let step = if is_constant { step } else { step * schedule.factor(k) };
                cell.weights[0] += step * cell.traces[0];
                sum += cell.weights[0].nan_unless_finite();
            },
        );
        sum
    }

    pub(super) fn weights(&self) -> Vec<R> {
        self.traced.weights(0)
    }

    /// See [`Part::tensors`](crate::Part::tensors). The weights and the trace go by these names.
    pub(super) fn tensors(
        &mut self,
        visitor: &mut Visitor,
        [weights, trace]: [&str; 2],
    ) -> Result<(), StateError> {
        visitor.part("schedule", &mut self.schedule)?;
        visitor.estimate(weights, self.traced.weights_mut(0))?;
        self.traced.traces(visitor, [trace])
    }
}

/// Returns the factor by which a trace decays: γ_t λ times a ratio; `None` if the trace starts afresh, as it does where an episode starts or without a λ.
#[inline(always)]
pub(super) fn decay<R: Real>(gamma: f64, lambda: R, ratio: R) -> Option<R> {
    (gamma > 0.0 && !lambda.all_zero()).then(|| ratio * (R::splat(gamma) * lambda))
}
