//! What LSTD(λ), ELSTD(λ) and LSTD-Q(λ) have in common: a linear system along a trace, solved now and then.

use super::traced::Traced;
use crate::catalogue::Size;
use crate::linear_system::{Due, LinearSystem};
use crate::{Real, Row, Seen, SettingError, Settings, StateError, Visitor};

/// What is added to the diagonal of A, so that features that were never active have weight zero.
const RIDGE: f64 = 1e-3;

/// Weights w by least squares, with d = x_t − γ_{t+1} x̄ and a forgetting φ:
///
/// ```text
/// e ← decay e + scale x
/// A ← (1 − φ) A + e dᵀ          b ← (1 − φ) b + R_{t+1} e
/// (A + ε I) w = b
/// ```
#[derive(Clone, Debug)]
pub(super) struct LeastSquares<R> {
    traced: Traced<R, 0, 1>,
    system: LinearSystem<R>,
    pub(super) weights: Vec<R>,
    keep: R,
    forgets: bool,
    due: Due,
    /// Zero if the last solution is finite, otherwise NaN.
    changed: R,
}

/// How many numbers it holds for so many weights.
pub(super) fn least_squares_size(len: f64) -> Size {
    Size { in_lanes: len * (len + 3.0), shared: len * (len + 6.0) }
}

impl<R: Real> LeastSquares<R> {
    pub(super) fn new(len: usize, settings: &Settings<R>) -> Result<Self, SettingError> {
        let forgetting = settings.number("forgetting")?;
        Ok(Self {
            traced: Traced::new(len),
            system: LinearSystem::new(len),
            weights: vec![R::zero(); len],
            keep: R::one() - forgetting,
            forgets: !forgetting.all_zero(),
            due: Due::new(settings)?,
            changed: R::zero(),
        })
    }

    /// Solves for w from all steps before, if it is time: where an episode starts, or after so many steps.
    #[inline(always)]
    pub(super) fn solve_if_due(&mut self, step: &Seen) {
        if self.due.is_now(step) {
            self.solve();
        }
    }

    #[inline(never)]
    fn solve(&mut self) {
        self.system.solve(RIDGE, 0.0, &mut self.weights);
        self.weights.iter().for_each(|w| self.changed += w.nan_unless_finite());
    }

    /// w·x.
    #[inline(always)]
    pub(super) fn estimate(&self, x: impl Iterator<Item = (usize, f64)>) -> R {
        let mut sum = R::zero();
        for (k, x) in x {
            sum += self.weights[k] * R::splat(x);
        }
        sum
    }

    /// v̂(s).
    #[inline(always)]
    pub(super) fn value(&self, x: Row) -> R {
        self.estimate(x.iter())
    }

    /// Learns from a step, given d; without a decay the trace starts afresh. Returns the sum of [`Real::nan_unless_finite`] over what it changed.
    #[inline(always)]
    pub(super) fn learn(
        &mut self,
        decay: Option<R>,
        scale: R,
        reward: f64,
        x: impl Iterator<Item = (usize, f64)>,
        difference: impl Iterator<Item = (usize, R)> + Clone,
    ) -> R {
        let Self { traced, system, .. } = self;
        traced.decay(decay.map(|decay| [decay]));
        traced.add(
            x,
            #[inline(always)]
            |_, x| [scale * x],
        );
        if self.forgets {
            system.keep(self.keep);
        }
        let mut sum =
            self.changed + decay.map_or(R::zero(), R::nan_unless_finite) + scale.nan_unless_finite();
        traced.each(
            #[inline(always)]
            |k, cell| {
                let [e] = cell.traces;
                sum += system.add_to_row(k, e, difference.clone(), R::splat(reward));
            },
        );
        self.changed = R::zero();
        self.due.count();
        sum
    }

    /// [`Self::learn`] for the values of states.
    #[inline(always)]
    pub(super) fn learn_state(&mut self, decay: Option<R>, scale: R, step: &Seen) -> R {
        let x = step.x.iter().map(|(k, x)| (k, R::splat(x)));
        let next = step.x_next.iter().map(|(k, x)| (k, R::splat(-step.gamma_next * x)));
        self.learn(decay, scale, step.reward, step.x.iter(), x.chain(next))
    }

    /// See [`Part::tensors`](crate::Part::tensors). The weights and the trace go by these names.
    pub(super) fn tensors(
        &mut self,
        visitor: &mut Visitor,
        [weights, trace]: [&str; 2],
    ) -> Result<(), StateError> {
        visitor.estimate(weights, self.weights.iter_mut())?;
        self.system.tensors(visitor)?;
        self.due.tensors(visitor)?;
        self.traced.traces(visitor, [trace])
    }
}

/// The estimates of a critic of values that is [`LeastSquares`] in its field `td`, and its update by its method `learn`.
macro_rules! least_squares_values {
    () => {
        #[inline(always)]
        fn value(&mut self, step: &Seen) -> R {
            self.td.solve_if_due(step);
            self.td.value(step.x)
        }

        #[inline(always)]
        fn next_value(&mut self, step: &Seen) -> R {
            self.td.solve_if_due(step);
            self.td.value(step.x_next)
        }

        #[inline(always)]
        fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
            let delta = $crate::critic::td_error(self, step);
            [delta, self.learn(step, rho)]
        }
    };
}
pub(super) use least_squares_values;
