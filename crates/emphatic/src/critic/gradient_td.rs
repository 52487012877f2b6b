//! Gradient temporal-difference learning: what GTD(λ), TDRC(λ), GQ(λ) and expected TDRC(λ) have in common.

use super::pairs::{mean, pair};
use super::shrinking::{Shrinking, shrunk};
use super::traced::Traced;
use crate::action::number;
use crate::{Features, Real, Row, Schedule, Seen, StateError, Visitor};

/// The numbers of the two kinds of weights.
const W: usize = 0;
const H: usize = 1;

/// A linear estimate that learns by the gradient of the projected Bellman error, with a second set of weights and
/// an eligibility trace:
///
/// ```text
/// e ← decay e + scale x
/// w ← w + α (δ e − γ_{t+1} (1 − λ) (e·h) x̄)
/// h ← h + α_h (δ e − (x·h) x − β h)
/// ```
///
/// Unless it is regularised, there is no β.
#[derive(Clone, Debug)]
pub(super) struct GradientTd<R, const REGULARISED: bool = false> {
    sizes: StepSizes<R>,
    /// The step-sizes: divided by the number of active features, or as they are if a schedule does that.
    alpha: R,
    alpha_h: R,
    /// α (1 − λ).
    correction: R,
    schedule: Schedule<R>,
    is_constant: bool,
    traced: Traced<R, 2, 1>,
    /// How h is drawn to zero: if it is regularised, the second weights are h without a factor that all have in common.
    shrinking: Shrinking<R>,
}

/// The settings of a [`GradientTd`], checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSizes<R> {
    pub(super) alpha: R,
    pub(super) alpha_h: R,
    pub(super) lambda: R,
    pub(super) beta: R,
}

/// The numbers of a step that a [`GradientTd`] learns from.
pub(super) struct TdStep<R> {
    /// γ_t.
    pub(super) gamma: f64,
    /// γ_{t+1}.
    pub(super) gamma_next: f64,
    /// ρ_t, by which the old trace is multiplied.
    pub(super) rho: R,
    /// The factor of x in the new trace.
    pub(super) scale: R,
    pub(super) delta: R,
}

impl<R: Real, const REGULARISED: bool> GradientTd<R, REGULARISED> {
    /// All weights zero, for features of a state or for those of a state with each of so many actions. The step-sizes are divided by the number of active features.
    pub(super) fn new(features: &Features, actions: usize, sizes: StepSizes<R>) -> Self {
        let StepSizes { alpha, alpha_h, lambda, beta } = sizes;
        let active = R::splat(features.most_active() as f64);
        Self {
            sizes,
            alpha: alpha / active,
            alpha_h: alpha_h / active,
            correction: alpha / active * (R::one() - lambda),
            schedule: Schedule::default(),
            is_constant: true,
            traced: Traced::new(features.len() * actions),
            shrinking: Shrinking::new(alpha_h / active * beta),
        }
    }

    /// Sets the schedule of the step-sizes.
    pub(super) fn set_schedule(&mut self, schedule: Schedule<R>, features: &Features, actions: usize) {
        self.schedule = schedule.of_pairs(features, actions);
        self.is_constant = self.schedule.is_constant();
        if !self.is_constant {
            let StepSizes { alpha, alpha_h, lambda, .. } = self.sizes;
            (self.alpha, self.alpha_h) = (alpha, alpha_h);
            self.correction = alpha * (R::one() - lambda);
        }
    }

    /// w·x.
    #[inline(always)]
    pub(super) fn estimate(&self, x: impl Iterator<Item = (usize, f64)>) -> R {
        self.traced.dot(W, x)
    }

    /// v̂(s).
    #[inline(always)]
    pub(super) fn value(&self, x: Row) -> R {
        match x.one::<R>() {
            Some(feature) => self.estimate(std::iter::once((feature, 1.0))),
            None => self.estimate(x.iter()),
        }
    }

    /// Learns the values of states from a step. `are_dense`: whether every state lists all features. Returns the sum of
    /// [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    pub(super) fn learn_state(&mut self, step: &Seen, are_dense: bool, rho: R, delta: R) -> R {
        let next = || step.x_next.iter().map(|(f, x)| (f, R::splat(x)));
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: rho, delta };
        if !self.is_constant {
            return if R::LANES == 1 {
                self.learn_scheduled_state(step, rho, delta)
            } else {
                self.learn_scheduled(numbers, step.x.iter(), next)
            };
        }
        if let Some(feature) = step.x.one::<R>() {
            // The next state has one feature too, unless an episode ends.
            let next = || step.x_next.one::<R>().map(|f| (f, R::one())).into_iter();
            return self.learn(numbers, std::iter::once((feature, 1.0)), next);
        }
        if !are_dense {
            return self.learn(numbers, step.x.iter(), next);
        }
        // In lanes it must be inlined to be compiled for the instruction set; for `f64` a short loop is faster.
        if R::LANES == 1 {
            self.learn_dense_state(step, rho, delta)
        } else {
            self.learn_all(numbers, step.x.iter(), next)
        }
    }

    #[inline(never)]
    fn learn_dense_state(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let next = || step.x_next.iter().map(|(f, x)| (f, R::splat(x)));
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: rho, delta };
        self.learn_all(numbers, step.x.iter(), next)
    }

    #[inline(never)]
    fn learn_scheduled_state(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let next = || step.x_next.iter().map(|(f, x)| (f, R::splat(x)));
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: rho, delta };
        self.learn_scheduled(numbers, step.x.iter(), next)
    }

    /// Learns the values of actions from a step, given π(·|S_{t+1}). Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    pub(super) fn learn_pair(&mut self, step: &Seen, actions: usize, next: &[R], rho: R, delta: R) -> R {
        let x = pair(step.x, actions, number(step.action));
        let next = || mean(step.x_next, next);
        let numbers = TdStep { gamma: step.gamma, gamma_next: step.gamma_next, rho, scale: R::one(), delta };
        if self.is_constant { self.learn(numbers, x, next) } else { self.learn_scheduled(numbers, x, next) }
    }

    /// Learns from one step. `x` and `next` list the features x and x̄. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn<N: Iterator<Item = (usize, R)>>(
        &mut self,
        step: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
    ) -> R {
        self.learn_by(
            step,
            x,
            next,
            #[inline(always)]
            |_, _, step| step,
        )
    }

    /// [`Self::learn`] with step-sizes that change.
    #[inline(always)]
    fn learn_scheduled<N: Iterator<Item = (usize, R)>>(
        &mut self,
        step: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
    ) -> R {
        self.schedule.begin_at(x.clone());
        self.learn_by(
            step,
            x,
            next,
            #[inline(always)]
            |schedule, k, step| step * schedule.factor(k),
        )
    }

    /// [`Self::learn`], where a function multiplies a step by the schedule's factor of a feature.
    #[inline(always)]
    fn learn_by<N: Iterator<Item = (usize, R)>>(
        &mut self,
        TdStep { gamma, gamma_next, rho, scale, delta }: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
        by: impl Fn(&Schedule<R>, usize, R) -> R,
    ) -> R {
        let Self {
            sizes: StepSizes { lambda, beta, .. }, alpha, alpha_h, schedule, traced, shrinking, ..
        } = self;
        let mut x_h = traced.dot(H, x.clone());
        if REGULARISED {
            x_h *= shrinking.common;
        }
        // e·h of the new trace, from the old one: decay (e·h) + scale (x·h).
        let (mut trace_h, mut decayed_h, before) = (scale * x_h, R::zero(), shrinking.common);
        let decay = (gamma > 0.0 && !lambda.all_zero()).then(|| [rho * (R::splat(gamma) * *lambda)]);
        let (step, mut step_h, mut step_x) = (*alpha * delta, *alpha_h * delta, *alpha_h * x_h);
        // If each feature has a step-size of its own, h is drawn to zero in active features alone.
        let (mut own, mut of_active) = (None, None);
        if REGULARISED {
            let rate = *alpha_h * *beta;
            if schedule.is_per_feature() {
                of_active = Some(rate);
            } else {
                own = shrinking.shrink(if schedule.is_constant() { rate } else { rate * schedule.factor(0) });
            }
            let inverse = R::one() / shrinking.common;
            (step_h, step_x) = (step_h * inverse, step_x * inverse);
        }
        let mut sum = rho.nan_unless_finite() + step.nan_unless_finite() + step_h.nan_unless_finite();
        traced.step(
            decay,
            x.clone(),
            #[inline(always)]
            |cell| decayed_h += cell.traces[0] * cell.weights[H],
            #[inline(always)]
            |k, x, cell| {
                cell.traces[0] += scale * R::splat(x);
                if REGULARISED
                    && x != 0.0
                    && let Some(rate) = of_active
                {
                    let h = cell.weights[H];
                    cell.weights[H] = h - rate * schedule.factor(k) * h;
                }
            },
            #[inline(always)]
            |k, cell| {
                let ([weight, second], [trace]) = (&mut cell.weights, cell.traces);
                if REGULARISED && let Some(factor) = own {
                    *second = shrunk(*second, factor);
                }
                *weight += by(schedule, k, step) * trace;
                *second += by(schedule, k, step_h) * trace;
                sum += weight.nan_unless_finite() + second.nan_unless_finite();
            },
        );
        if REGULARISED && let Some(factor) = own {
            traced.each_other(|cell| {
                cell.weights[H] = shrunk(cell.weights[H], factor);
                sum += cell.weights[H].nan_unless_finite();
            });
        }
        trace_h += if REGULARISED { before * decayed_h } else { decayed_h };
        for (k, x) in x {
            let second = &mut traced.cells[k].weights[H];
            *second -= by(schedule, k, step_x) * R::splat(x);
            sum += second.nan_unless_finite();
        }
        if REGULARISED {
            sum += shrinking.end(traced);
        }
        if gamma_next > 0.0 {
            let correction = self.correction * R::splat(gamma_next) * trace_h;
            for (k, x) in next() {
                let weight = &mut traced.cells[k].weights[W];
                *weight -= by(schedule, k, correction) * x;
                sum += weight.nan_unless_finite();
            }
        }
        sum
    }

    /// [`Self::learn`] where every state lists all features in their order: the trace then lists them all too, so there
    /// is no list to keep. The same bits.
    #[inline(always)]
    fn learn_all<N: Iterator<Item = (usize, R)>>(
        &mut self,
        TdStep { gamma, gamma_next, rho, scale, delta }: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
    ) -> R {
        let Self { sizes: StepSizes { lambda, beta, .. }, alpha, alpha_h, traced, shrinking, .. } = self;
        let mut x_h = R::zero();
        for (cell, (_, x)) in traced.cells.iter().zip(x.clone()) {
            x_h += cell.weights[H] * R::splat(x);
        }
        if REGULARISED {
            x_h *= shrinking.common;
        }
        let (mut trace_h, mut decayed_h, before) = (scale * x_h, R::zero(), shrinking.common);
        let decay = (gamma > 0.0 && !lambda.all_zero()).then(|| [rho * (R::splat(gamma) * *lambda)]);
        let (step, mut step_h, mut step_x) = (*alpha * delta, *alpha_h * delta, *alpha_h * x_h);
        let mut own = None;
        if REGULARISED {
            own = shrinking.shrink(*alpha_h * *beta);
            let inverse = R::one() / shrinking.common;
            (step_h, step_x) = (step_h * inverse, step_x * inverse);
        }
        // Two sums, which need not wait for one another.
        let mut sums = [rho.nan_unless_finite() + step.nan_unless_finite(), step_h.nan_unless_finite()];
        traced.step_all(
            decay,
            x,
            #[inline(always)]
            |cell| decayed_h += cell.traces[0] * cell.weights[H],
            #[inline(always)]
            |x, cell| {
                let x = R::splat(x);
                let ([weight, second], [trace]) = (&mut cell.weights, &mut cell.traces);
                if REGULARISED && let Some(factor) = own {
                    *second = shrunk(*second, factor);
                }
                *trace += scale * x;
                *weight += step * *trace;
                *second = *second + step_h * *trace - step_x * x;
                sums[0] += weight.nan_unless_finite();
                sums[1] += second.nan_unless_finite();
            },
        );
        trace_h += if REGULARISED { before * decayed_h } else { decayed_h };
        let [mut sum, mut corrected] = sums;
        if REGULARISED {
            sum += shrinking.end(traced);
        }
        if gamma_next > 0.0 {
            let correction = self.correction * R::splat(gamma_next) * trace_h;
            for (cell, (_, x)) in traced.cells.iter_mut().zip(next()) {
                cell.weights[W] -= correction * x;
                corrected += cell.weights[W].nan_unless_finite();
            }
        }
        sum + corrected
    }

    pub(super) fn weights(&self) -> Vec<R> {
        self.traced.weights(W)
    }

    /// See [`Part::tensors`](crate::Part::tensors). The weights, the second weights and the trace go by these names.
    pub(super) fn tensors(
        &mut self,
        visitor: &mut Visitor,
        [weights, second, trace]: [&str; 3],
    ) -> Result<(), StateError> {
        visitor.part("schedule", &mut self.schedule)?;
        visitor.estimate(weights, self.traced.weights_mut(W))?;
        visitor.weights(second, self.traced.weights_mut(H))?;
        if REGULARISED {
            let name = format!("{second}.common");
            visitor.numbers(&name, std::iter::once(&mut self.shrinking.common))?;
        }
        self.traced.traces(visitor, [trace])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SavedState, Tensors};

    const NAMES: [&str; 3] = ["v", "w", "e"];

    fn state<const REGULARISED: bool>(td: &mut GradientTd<f64, REGULARISED>) -> Tensors {
        let mut state = SavedState::empty();
        td.tensors(&mut Visitor::save(&mut state), NAMES).unwrap();
        state.into_tensors()
    }

    fn learner<const REGULARISED: bool>(beta: f64) -> GradientTd<f64, REGULARISED> {
        let sizes = StepSizes { alpha: 0.5, alpha_h: 0.25, lambda: 0.5, beta };
        GradientTd::new(&Features::active(4, 1), 1, sizes)
    }

    fn same_with_and_without_a_list<const REGULARISED: bool>(beta: f64) {
        let (mut listed, mut all) = (learner::<REGULARISED>(beta), learner::<REGULARISED>(beta));
        for t in 0..2000 {
            // For a while ratios are small and the last feature is zero, so that it is forgotten.
            let small = t % 100 >= 50;
            let rho = if small { 1e-3 } else { 1.5 };
            let x = |shift: u32| {
                let value = move |k: usize| 0.1 * f64::from((7 * t + 3 * k as u32 + shift) % 11) - 0.5;
                (0..4).map(move |k| (k, if small && k == 3 { 0.0 } else { value(k) }))
            };
            let step = || TdStep {
                gamma: if t % 300 == 0 { 0.0 } else { 0.9 },
                gamma_next: if t % 300 == 299 { 0.0 } else { 0.9 },
                rho,
                scale: rho,
                delta: 1e-4 * f64::from(t % 5),
            };
            listed.learn(step(), x(0), || x(1));
            all.learn_all(step(), x(0), || x(1));
            assert_eq!(state(&mut listed), state(&mut all));
            if t % 700 == 0 {
                let mut restored = learner::<REGULARISED>(beta);
                let saved = SavedState::without_settings(state(&mut all));
                restored.tensors(&mut Visitor::restore(&saved), NAMES).unwrap();
                all = restored;
            }
        }
    }

    #[test]
    fn where_all_features_are_listed_there_is_no_need_of_a_list() {
        same_with_and_without_a_list::<false>(0.75);
        same_with_and_without_a_list::<true>(0.75);
        // Second weights that are drawn to zero so fast that each is multiplied.
        same_with_and_without_a_list::<true>(3.9);
    }
}
