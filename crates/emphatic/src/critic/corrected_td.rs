//! What GTD2(λ), proximal GTD2(λ) and HTD(λ) have in common: weights and second weights that change along traces, x_t and x_{t+1}.

use super::traced::Traced;
use crate::{Features, Real, Row, Schedule, Seen, SettingError, Settings, StateError, Visitor};

/// A linear estimate v̂(s) = v·x(s) with second weights w and T traces. The first two of W weights of a feature are those of v and of w.
#[derive(Clone, Debug)]
pub(super) struct CorrectedTd<R, const W: usize, const T: usize> {
    alpha_v: R,
    alpha_w: R,
    pub(super) lambda: R,
    schedule: Schedule<R>,
    pub(super) traced: Traced<R, W, T>,
}

/// The direction in which v and w change: multiples of each trace, of x_t and of x_{t+1}.
#[derive(Clone, Copy, Debug)]
pub(super) struct Direction<R, const T: usize> {
    pub(super) traces: [[R; 2]; T],
    pub(super) x: [R; 2],
    pub(super) next: [R; 2],
}

impl<R: Real, const W: usize, const T: usize> CorrectedTd<R, W, T> {
    /// All weights zero.
    pub(super) fn new(features: &Features, settings: &Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            alpha_v: settings.number("alpha_v")?,
            alpha_w: settings.number("alpha_w")?,
            lambda: settings.number("lambda")?,
            schedule: Schedule::default().of(features),
            traced: Traced::new(features.len()),
        })
    }

    /// Sets the schedule of the step-sizes.
    pub(super) fn set_schedule(&mut self, schedule: Schedule<R>, features: &Features, actions: usize) {
        self.schedule = schedule.of_pairs(features, actions);
    }

    /// v̂(s).
    #[inline(always)]
    pub(super) fn value(&self, x: Row) -> R {
        self.traced.dot(0, x.iter())
    }

    /// Begins a step: makes the new traces.
    #[inline(always)]
    pub(super) fn begin(&mut self, step: &Seen, decay: Option<[R; T]>, scale: [R; T]) {
        self.schedule.begin(step.x);
        self.traced.decay(decay);
        self.traced.add(
            step.x.iter(),
            #[inline(always)]
            |_, x| scale.map(|scale| scale * x),
        );
    }

    /// Returns the product of each trace with the weights of this number.
    #[inline(always)]
    pub(super) fn along_traces(&mut self, weights: usize) -> [R; T] {
        let mut sums = [R::zero(); T];
        self.traced.each(
            #[inline(always)]
            |_, cell| {
                for (sum, trace) in sums.iter_mut().zip(cell.traces) {
                    *sum += trace * cell.weights[weights];
                }
            },
        );
        sums
    }

    /// Changes the weights of numbers `first` and `first + 1` by a step in this direction. Returns the sum of [`Real::nan_unless_finite`] over the
    /// weights it changed.
    #[inline(always)]
    pub(super) fn change(&mut self, first: usize, direction: Direction<R, T>, step: &Seen) -> R {
        let Self { alpha_v, alpha_w, schedule, traced, .. } = self;
        let sizes = [*alpha_v, *alpha_w];
        let Direction { traces, x, next } = direction;
        let mut sum = R::zero();
        for factor in traces.as_flattened().iter().chain(&x).chain(&next) {
            sum += factor.nan_unless_finite();
        }
        traced.each(
            #[inline(always)]
            |k, cell| {
                for (i, size) in sizes.into_iter().enumerate() {
                    let mut along = R::zero();
                    for (trace, factors) in cell.traces.iter().zip(traces) {
                        along += factors[i] * *trace;
                    }
                    cell.weights[first + i] += size * schedule.factor(k) * along;
                    sum += cell.weights[first + i].nan_unless_finite();
                }
            },
        );
        // The next state lists no features where an episode ends.
        for (row, factors) in [(step.x, x), (step.x_next, next)] {
            for (k, x) in row.iter() {
                for (i, size) in sizes.into_iter().enumerate() {
                    let weight = &mut traced.cells[k].weights[first + i];
                    *weight += size * schedule.factor(k) * factors[i] * R::splat(x);
                    sum += weight.nan_unless_finite();
                }
            }
        }
        sum
    }

    pub(super) fn weights(&self) -> Vec<R> {
        self.traced.weights(0)
    }

    /// See [`Part::tensors`](crate::Part::tensors). The traces go by these names.
    pub(super) fn tensors(&mut self, visitor: &mut Visitor, traces: [&str; T]) -> Result<(), StateError> {
        visitor.part("schedule", &mut self.schedule)?;
        visitor.estimate("v", self.traced.weights_mut(0))?;
        visitor.weights("w", self.traced.weights_mut(1))?;
        self.traced.traces(visitor, traces)
    }
}
