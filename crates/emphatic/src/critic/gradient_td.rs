//! Gradient temporal-difference learning: what GTD(λ) and GQ(λ) have in common.

use crate::{Real, StateError, Visitor};

/// The numbers of one feature, side by side in memory.
#[derive(Clone, Copy, Debug, Default)]
struct Cell<R> {
    weight: R,
    second: R,
    trace: R,
    /// The step at which the feature was last active, or 0 if the trace is zero.
    active_at: u64,
}

/// A linear estimate that learns by the gradient of the projected Bellman error, with a second set of weights and
/// an eligibility trace:
///
/// ```text
/// e ← decay e + scale x
/// w ← w + α (δ e − γ_{t+1} (1 − λ) (e·h) x̄)
/// h ← h + α_h (δ e − (x·h) x)
/// ```
///
/// The trace lists the features for which it is not zero in the order in which they were last active, which depends on the
/// steps alone. So all lanes and `f64` add up in the same order, even where one has forgotten a feature and another has
/// not. What decays below 10⁻⁶⁰ is forgotten, lest the trace of a task that never ends grow for ever.
#[derive(Clone, Debug)]
pub(super) struct GradientTd<R> {
    alpha: R,
    alpha_h: R,
    lambda: R,
    /// α (1 − λ).
    correction: R,
    cells: Vec<Cell<R>>,
    /// Features and when they were last active. One that has been active since is listed again further on, and its
    /// earlier entry does not count. The first `listed` entries are in use: a list that never grows needs no allocator.
    traced: Vec<(usize, u64)>,
    listed: usize,
    now: u64,
}

/// The settings of a [`GradientTd`], checked.
pub(super) struct StepSizes<R> {
    pub(super) alpha: R,
    pub(super) alpha_h: R,
    pub(super) lambda: R,
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

/// A trace below this becomes zero, once in so many steps.
const FORGOTTEN: f64 = 1e-60;
const FORGET_EVERY: u64 = 32;

impl<R: Real> GradientTd<R> {
    /// All weights zero. The step-sizes are divided by `most_active`.
    pub(super) fn new(len: usize, most_active: usize, settings: StepSizes<R>) -> Self {
        let StepSizes { alpha, alpha_h, lambda } = settings;
        let active = R::splat(most_active as f64);
        Self {
            alpha: alpha / active,
            alpha_h: alpha_h / active,
            lambda,
            correction: alpha / active * (R::one() - lambda),
            cells: vec![Cell::default(); len],
            traced: vec![(0, 0); 2 * len],
            listed: 0,
            now: 0,
        }
    }

    /// w·x.
    #[inline(always)]
    pub(super) fn estimate(&self, x: impl Iterator<Item = (usize, f64)>) -> R {
        let mut sum = R::zero();
        for (k, x) in x {
            sum += self.cells[k].weight * R::splat(x);
        }
        sum
    }

    /// Learns from one step. `x` and `next` list the features x and x̄. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    ///
    /// A feature that only other lanes still trace is gone through too. There this lane's trace is zero and the weights stay as they
    /// are, unless they are changed by 0 · ∞: so factors that are not finite count as divergence, whether or not this lane
    /// traces a feature.
    #[inline(always)]
    pub(super) fn learn<N: Iterator<Item = (usize, R)>>(
        &mut self,
        TdStep { gamma, gamma_next, rho, scale, delta }: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
    ) -> R {
        let mut x_h = R::zero();
        for (k, x) in x.clone() {
            x_h += self.cells[k].second * R::splat(x);
        }
        // e·h of the new trace, from the old one: decay (e·h) + scale (x·h).
        let mut trace_h = scale * x_h;
        if gamma > 0.0 && !self.lambda.all_zero() {
            trace_h += self.decay(rho * (R::splat(gamma) * self.lambda));
            if self.now.is_multiple_of(FORGET_EVERY) {
                self.forget();
            }
        } else {
            self.clear();
        }
        self.now = self.now.wrapping_add(1);
        for (k, x) in x.clone() {
            let cell = &mut self.cells[k];
            cell.trace += scale * R::splat(x);
            if cell.active_at != self.now {
                cell.active_at = self.now;
                self.traced[self.listed] = (k, self.now);
                self.listed += 1;
            }
        }

        let (step, step_h) = (self.alpha * delta, self.alpha_h * delta);
        let mut sum = rho.nan_unless_finite() + step.nan_unless_finite() + step_h.nan_unless_finite();
        for &(k, at) in &self.traced[..self.listed] {
            let cell = &mut self.cells[k];
            if cell.active_at == at {
                cell.weight += step * cell.trace;
                cell.second += step_h * cell.trace;
                sum += cell.weight.nan_unless_finite() + cell.second.nan_unless_finite();
            }
        }
        let step_x = self.alpha_h * x_h;
        for (k, x) in x {
            let cell = &mut self.cells[k];
            cell.second -= step_x * R::splat(x);
            sum += cell.second.nan_unless_finite();
        }
        if gamma_next > 0.0 {
            let correction = self.correction * R::splat(gamma_next) * trace_h;
            for (k, x) in next() {
                let cell = &mut self.cells[k];
                cell.weight -= correction * x;
                sum += cell.weight.nan_unless_finite();
            }
        }
        sum
    }

    /// [`Self::learn`] where every state lists all features in their order: the trace then lists them all too, so there
    /// is no list to keep. The same bits.
    #[inline(always)]
    pub(super) fn learn_all<N: Iterator<Item = (usize, R)>>(
        &mut self,
        TdStep { gamma, gamma_next, rho, scale, delta }: TdStep<R>,
        x: impl Iterator<Item = (usize, f64)> + Clone,
        next: impl FnOnce() -> N,
    ) -> R {
        if self.listed < self.cells.len() {
            self.list_all();
        }
        let mut x_h = R::zero();
        for (cell, (_, x)) in self.cells.iter().zip(x.clone()) {
            x_h += cell.second * R::splat(x);
        }
        let mut trace_h = scale * x_h;
        if gamma > 0.0 && !self.lambda.all_zero() {
            let decay = rho * (R::splat(gamma) * self.lambda);
            let mut decayed_h = R::zero();
            for cell in &mut self.cells {
                cell.trace *= decay;
                decayed_h += cell.trace * cell.second;
            }
            trace_h += decayed_h;
            if self.now.is_multiple_of(FORGET_EVERY) {
                for cell in &mut self.cells {
                    cell.trace = forgotten(cell.trace);
                }
            }
        } else {
            for cell in &mut self.cells {
                cell.trace = R::zero();
            }
        }
        self.now = self.now.wrapping_add(1);
        let (step, step_h, step_x) = (self.alpha * delta, self.alpha_h * delta, self.alpha_h * x_h);
        let mut sum = R::zero();
        for (cell, (_, x)) in self.cells.iter_mut().zip(x) {
            let x = R::splat(x);
            cell.trace += scale * x;
            cell.weight += step * cell.trace;
            cell.second = cell.second + step_h * cell.trace - step_x * x;
            sum += cell.weight.nan_unless_finite() + cell.second.nan_unless_finite();
        }
        // A sum of its own, which need not wait for the other.
        let mut corrected = R::zero();
        if gamma_next > 0.0 {
            let correction = self.correction * R::splat(gamma_next) * trace_h;
            for (cell, (_, x)) in self.cells.iter_mut().zip(next()) {
                cell.weight -= correction * x;
                corrected += cell.weight.nan_unless_finite();
            }
        }
        sum + corrected
    }

    #[cold]
    fn list_all(&mut self) {
        for (k, cell) in self.cells.iter_mut().enumerate() {
            cell.active_at = 1;
            self.traced[k] = (k, 1);
        }
        self.listed = self.cells.len();
    }

    /// e ← decay e. Returns e·h.
    #[inline(always)]
    fn decay(&mut self, decay: R) -> R {
        let mut trace_h = R::zero();
        let mut kept = 0;
        for entry in 0..self.listed {
            let (k, at) = self.traced[entry];
            let cell = &mut self.cells[k];
            if cell.active_at != at {
                continue;
            }
            cell.trace *= decay;
            trace_h += cell.trace * cell.second;
            self.traced[kept] = (k, at);
            kept += 1;
        }
        self.listed = kept;
        trace_h
    }

    /// Removes features whose trace has decayed to almost zero.
    fn forget(&mut self) {
        let mut kept = 0;
        for entry in 0..self.listed {
            let (k, at) = self.traced[entry];
            let cell = &mut self.cells[k];
            cell.trace = forgotten(cell.trace);
            if cell.trace.all_zero() {
                cell.active_at = 0;
            } else {
                self.traced[kept] = (k, at);
                kept += 1;
            }
        }
        self.listed = kept;
    }

    /// Makes the trace zero.
    #[inline(always)]
    fn clear(&mut self) {
        for &(k, _) in &self.traced[..self.listed] {
            self.cells[k].trace = R::zero();
            self.cells[k].active_at = 0;
        }
        self.listed = 0;
    }

    /// The features for which the trace is not zero.
    fn traced(&self) -> impl Iterator<Item = usize> {
        self.traced[..self.listed].iter().filter(|(k, at)| self.cells[*k].active_at == *at).map(|(k, _)| *k)
    }

    pub(super) fn weights(&self) -> Vec<R> {
        self.cells.iter().map(|cell| cell.weight).collect()
    }

    /// See [`Part::tensors`](crate::Part::tensors). The weights, the second weights and the trace go by these names.
    pub(super) fn tensors(
        &mut self,
        visitor: &mut Visitor,
        [weights, second, trace]: [&str; 3],
    ) -> Result<(), StateError> {
        visitor.estimate(weights, self.cells.iter_mut().map(|cell| &mut cell.weight))?;
        visitor.weights(second, self.cells.iter_mut().map(|cell| &mut cell.second))?;
        let mut traced = self.traced().map(|k| (k, self.cells[k].trace)).collect();
        visitor.trace(trace, self.cells.len(), &mut traced)?;
        // The number of steps: it determines when small traces are removed.
        visitor.counts("steps", std::slice::from_mut(&mut self.now))?;
        if visitor.restores() {
            self.set_trace(&traced);
        }
        Ok(())
    }

    fn set_trace(&mut self, traced: &[(usize, R)]) {
        self.clear();
        for &(k, trace) in traced {
            // Only their order matters, not when they were active.
            (self.cells[k].trace, self.cells[k].active_at) = (trace, self.now);
            self.traced[self.listed] = (k, self.now);
            self.listed += 1;
        }
    }
}

/// Returns zero for a trace that has decayed to almost zero.
#[inline(always)]
fn forgotten<R: Real>(trace: R) -> R {
    // NaN is forgotten too: a learner that has diverged would make the list grow for all others.
    R::splat(FORGOTTEN).if_less(trace.abs(), trace, R::zero())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SavedState, Tensors};

    const NAMES: [&str; 3] = ["v", "w", "e"];

    fn state(td: &mut GradientTd<f64>) -> Tensors {
        let mut state = SavedState::empty();
        td.tensors(&mut Visitor::save(&mut state), NAMES).unwrap();
        state.into_tensors()
    }

    fn trace(td: &GradientTd<f64>) -> Vec<(usize, f64)> {
        td.traced().map(|k| (k, td.cells[k].trace)).collect()
    }

    fn learner() -> GradientTd<f64> {
        GradientTd::new(4, 1, StepSizes { alpha: 0.5, alpha_h: 0.25, lambda: 0.5 })
    }

    fn step(td: &mut GradientTd<f64>, gamma: f64, k: usize) {
        let step = TdStep { gamma, gamma_next: 0.0, rho: 2.0, scale: 2.0, delta: 1.0 };
        td.learn(step, std::iter::once((k, 1.0)), std::iter::empty);
    }

    #[test]
    fn the_trace_lists_features_in_the_order_in_which_they_were_last_active() {
        let mut td = learner();
        step(&mut td, 0.0, 2);
        step(&mut td, 0.5, 0);
        step(&mut td, 0.5, 2);
        // 2 → ·(2·0.5·0.5) → ·0.5 + 2, and 2 → ·0.5.
        assert_eq!(trace(&td), [(0, 1.0), (2, 2.5)]);
        step(&mut td, 0.0, 3);
        assert_eq!(trace(&td), [(3, 2.0)]);
    }

    /// Once every feature ever seen was touched at every step of a task that never ends.
    #[test]
    fn what_has_decayed_is_forgotten() {
        let mut td = learner();
        step(&mut td, 0.0, 1);
        for _ in 0..1000 {
            step(&mut td, 0.5, 2);
        }
        assert_eq!(trace(&td), [(2, 4.0)]);
        assert_eq!(td.listed, 2, "the feature now active, and its entry of the step before");
    }

    /// Once what is not a number was kept for ever: a learner that had diverged let the list grow for all other lanes.
    #[test]
    fn what_is_not_a_number_is_forgotten() {
        let mut td = learner();
        step(&mut td, 0.0, 1);
        let nan = TdStep { gamma: 0.5, gamma_next: 0.0, rho: f64::NAN, scale: 1.0, delta: 0.0 };
        td.learn(nan, std::iter::once((0, 1.0)), std::iter::empty);
        for _ in 0..1000 {
            step(&mut td, 0.5, 2);
        }
        assert_eq!(td.traced().collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn where_all_features_are_listed_there_is_no_need_of_a_list() {
        let (mut listed, mut all) = (learner(), learner());
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
                let mut restored = learner();
                let saved = SavedState::without_settings(state(&mut all));
                restored.tensors(&mut Visitor::restore(&saved), NAMES).unwrap();
                all = restored;
            }
        }
    }
}
