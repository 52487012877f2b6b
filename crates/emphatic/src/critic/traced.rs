//! Weights with eligibility traces: what critics that learn by traces have in common.

use crate::{Real, StateError, Visitor};

/// The numbers of one feature, side by side in memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell<R, const W: usize, const T: usize> {
    pub(super) weights: [R; W],
    pub(super) traces: [R; T],
    /// The step at which the feature was last active, or 0 if its traces are zero.
    active_at: u64,
}

impl<R: Real, const W: usize, const T: usize> Cell<R, W, T> {
    #[inline(always)]
    fn decay(&mut self, by: &[R; T]) {
        for (trace, by) in self.traces.iter_mut().zip(by) {
            *trace *= *by;
        }
    }
}

/// W weights and T traces for each feature.
///
/// The traces list the features for which they are not zero in the order in which they were last active, which depends on the
/// steps alone. So all lanes and `f64` add up in the same order, even where one has forgotten a feature and another has
/// not. What decays below 10⁻⁶⁰ is forgotten, lest the trace of a task that never ends grow for ever.
///
/// A step is either [`Self::step`] (or [`Self::step_all`]), one pass for critics whose changes need nothing of the whole trace, or [`Self::decay`], [`Self::add`] and
/// [`Self::each`]. A critic keeps to one of them: the first assumes that no entry is out of date, and [`Self::add`] leaves such entries.
///
/// A feature that only other lanes still trace is gone through too. There this lane's traces are zero and its weights stay as they
/// are, unless they are changed by 0 · ∞: so factors that are not finite must count as divergence, whether or not this lane traces
/// a feature.
#[derive(Clone, Debug)]
pub(super) struct Traced<R, const W: usize, const T: usize> {
    pub(super) cells: Vec<Cell<R, W, T>>,
    /// Features and when they were last active. One that has been active since is listed again further on, and its
    /// earlier entry does not count. The first `listed` entries are in use: a list that never grows needs no allocator.
    traced: Vec<(usize, u64)>,
    listed: usize,
    now: u64,
}

/// A trace below this becomes zero, once in so many steps.
const FORGOTTEN: f64 = 1e-60;
const FORGET_EVERY: u64 = 32;

impl<R: Real, const W: usize, const T: usize> Traced<R, W, T> {
    /// All weights and traces zero.
    pub(super) fn new(len: usize) -> Self {
        let cell = Cell { weights: [R::zero(); W], traces: [R::zero(); T], active_at: 0 };
        Self { cells: vec![cell; len], traced: vec![(0, 0); 2 * len], listed: 0, now: 0 }
    }

    /// Returns w·x, where w are the weights of this number.
    #[inline(always)]
    pub(super) fn dot(&self, weights: usize, x: impl Iterator<Item = (usize, f64)>) -> R {
        let mut sum = R::zero();
        for (k, x) in x {
            sum += self.cells[k].weights[weights] * R::splat(x);
        }
        sum
    }

    /// Begins a step: multiplies each trace by its factor. Without factors all traces start afresh.
    #[inline(always)]
    pub(super) fn decay(&mut self, by: Option<[R; T]>) {
        if let Some(by) = by {
            let mut kept = 0;
            for entry in 0..self.listed {
                let (k, at) = self.traced[entry];
                let cell = &mut self.cells[k];
                if cell.active_at != at {
                    continue;
                }
                cell.decay(&by);
                self.traced[kept] = (k, at);
                kept += 1;
            }
            self.listed = kept;
            if self.now.is_multiple_of(FORGET_EVERY) {
                self.forget();
            }
        } else {
            self.clear();
        }
        self.now = self.now.wrapping_add(1);
    }

    /// Adds what a function makes of each feature's number and value to its traces.
    #[inline(always)]
    pub(super) fn add(
        &mut self,
        x: impl Iterator<Item = (usize, f64)>,
        mut of: impl FnMut(usize, R) -> [R; T],
    ) {
        for (k, x) in x {
            let cell = &mut self.cells[k];
            let add = of(k, R::splat(x));
            for (trace, add) in cell.traces.iter_mut().zip(&add) {
                *trace += *add;
            }
            if cell.active_at != self.now {
                cell.active_at = self.now;
                self.traced[self.listed] = (k, self.now);
                self.listed += 1;
            }
        }
    }

    /// Shows each feature that is traced to a function, which may change its numbers.
    #[inline(always)]
    pub(super) fn each(&mut self, mut change: impl FnMut(usize, &mut Cell<R, W, T>)) {
        for &(k, at) in &self.traced[..self.listed] {
            let cell = &mut self.cells[k];
            if cell.active_at == at {
                change(k, cell);
            }
        }
    }

    /// A whole step in one pass: multiplies each trace by its factor, lets `add` change the numbers of active features, and then `change` those of all that are traced. In between,
    /// when its traces have decayed and nothing has been added, each feature is shown to `show`: first those that are active. Without factors all traces start afresh.
    #[inline(always)]
    pub(super) fn step(
        &mut self,
        by: Option<[R; T]>,
        x: impl Iterator<Item = (usize, f64)>,
        mut show: impl FnMut(&Cell<R, W, T>),
        mut add: impl FnMut(usize, f64, &mut Cell<R, W, T>),
        mut change: impl FnMut(usize, &mut Cell<R, W, T>),
    ) {
        match &by {
            Some(_) if self.now.is_multiple_of(FORGET_EVERY) => self.forget(),
            Some(_) => {}
            None => self.clear(),
        }
        let by = by.unwrap_or([R::zero(); T]);
        self.now = self.now.wrapping_add(1);
        // No entry is out of date here, so that there is room for those that become so.
        debug_assert!(self.listed <= self.cells.len(), "entries are out of date");
        let before = self.listed;
        for (k, x) in x {
            let cell = &mut self.cells[k];
            if cell.active_at != self.now {
                if cell.active_at != 0 {
                    cell.decay(&by);
                    show(cell);
                }
                cell.active_at = self.now;
                self.traced[self.listed] = (k, self.now);
                self.listed += 1;
            }
            add(k, x, cell);
        }
        let mut kept = 0;
        for entry in 0..self.listed {
            let (k, at) = self.traced[entry];
            let cell = &mut self.cells[k];
            if cell.active_at != at {
                continue;
            }
            if entry < before {
                cell.decay(&by);
                show(cell);
            }
            change(k, cell);
            self.traced[kept] = (k, at);
            kept += 1;
        }
        self.listed = kept;
    }

    /// [`Self::step`] for states that list all features in their order: the traces then list them all too, so there is no list to keep. `change` adds to the traces, too. The same bits.
    #[inline(always)]
    pub(super) fn step_all(
        &mut self,
        by: Option<[R; T]>,
        x: impl Iterator<Item = (usize, f64)>,
        mut show: impl FnMut(&Cell<R, W, T>),
        mut change: impl FnMut(f64, &mut Cell<R, W, T>),
    ) {
        if self.listed < self.cells.len() {
            self.list_all();
        }
        if by.is_some() && self.now.is_multiple_of(FORGET_EVERY) {
            for cell in &mut self.cells {
                cell.traces = cell.traces.map(forgotten);
            }
        }
        self.now = self.now.wrapping_add(1);
        let cells = self.cells.iter_mut().zip(x);
        if let Some(by) = by {
            for (cell, (_, x)) in cells {
                cell.decay(&by);
                show(cell);
                change(x, cell);
            }
        } else {
            for (cell, (_, x)) in cells {
                cell.traces = [R::zero(); T];
                change(x, cell);
            }
        }
    }

    /// Shows each feature that is not traced to a function, which may change its numbers: those that [`Self::step`] did not.
    #[inline(always)]
    pub(super) fn each_other(&mut self, mut change: impl FnMut(&mut Cell<R, W, T>)) {
        self.cells.iter_mut().filter(|cell| cell.active_at == 0).for_each(&mut change);
    }

    #[cold]
    fn list_all(&mut self) {
        for (k, cell) in self.cells.iter_mut().enumerate() {
            cell.active_at = 1;
            self.traced[k] = (k, 1);
        }
        self.listed = self.cells.len();
    }

    /// Removes features whose traces have decayed to almost zero.
    fn forget(&mut self) {
        let mut kept = 0;
        for entry in 0..self.listed {
            let (k, at) = self.traced[entry];
            let cell = &mut self.cells[k];
            cell.traces = cell.traces.map(forgotten);
            if cell.traces.iter().all(|trace| trace.all_zero()) {
                cell.active_at = 0;
            } else {
                self.traced[kept] = (k, at);
                kept += 1;
            }
        }
        self.listed = kept;
    }

    /// Makes all traces zero.
    #[inline(always)]
    fn clear(&mut self) {
        for &(k, _) in &self.traced[..self.listed] {
            self.cells[k].traces = [R::zero(); T];
            self.cells[k].active_at = 0;
        }
        self.listed = 0;
    }

    /// The features for which the traces are not zero.
    fn traced(&self) -> impl Iterator<Item = usize> {
        self.traced[..self.listed].iter().filter(|(k, at)| self.cells[*k].active_at == *at).map(|(k, _)| *k)
    }

    /// A copy of the weights of this number.
    pub(super) fn weights(&self, weights: usize) -> Vec<R> {
        self.cells.iter().map(|cell| cell.weights[weights]).collect()
    }

    /// The weights of this number, to be shown to a visitor.
    pub(super) fn weights_mut(&mut self, weights: usize) -> impl ExactSizeIterator<Item = &mut R> {
        self.cells.iter_mut().map(move |cell| &mut cell.weights[weights])
    }

    /// Shows the traces to a visitor by these names.
    pub(super) fn traces(&mut self, visitor: &mut Visitor, names: [&str; T]) -> Result<(), StateError> {
        let mut first: Vec<usize> = self.traced().collect();
        let mut traces = vec![[R::zero(); T]; first.len()];
        for (t, name) in names.into_iter().enumerate() {
            let mut traced: Vec<(usize, R)> = self.traced().map(|k| (k, self.cells[k].traces[t])).collect();
            visitor.trace(name, self.cells.len(), &mut traced)?;
            if visitor.restores() {
                if t == 0 {
                    first = traced.iter().map(|(k, _)| *k).collect();
                    traces = vec![[R::zero(); T]; first.len()];
                }
                // All traces are of the same features.
                if !first.iter().eq(traced.iter().map(|(k, _)| k)) {
                    return Err(StateError::Trace(name.to_owned()));
                }
                traces.iter_mut().zip(&traced).for_each(|(traces, (_, trace))| traces[t] = *trace);
            }
        }
        // The number of steps: it determines when small traces are removed.
        visitor.counts("steps", std::slice::from_mut(&mut self.now))?;
        if visitor.restores() {
            if self.now == 0 && !first.is_empty() {
                // Before the first step there is no trace.
                return Err(StateError::Trace(names[0].to_owned()));
            }
            self.clear();
            for (k, traces) in first.into_iter().zip(traces) {
                // Only their order matters, not when they were active.
                (self.cells[k].traces, self.cells[k].active_at) = (traces, self.now);
                self.traced[self.listed] = (k, self.now);
                self.listed += 1;
            }
        }
        Ok(())
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
    use crate::SavedState;

    fn trace(traced: &Traced<f64, 1, 1>) -> Vec<(usize, f64)> {
        traced.traced().map(|k| (k, traced.cells[k].traces[0])).collect()
    }

    /// e ← γ e + 2 x, where feature k is active.
    fn step(traced: &mut Traced<f64, 1, 1>, decay: Option<f64>, k: usize) {
        traced.decay(decay.map(|decay| [decay]));
        traced.add(std::iter::once((k, 1.0)), |_, x| [2.0 * x]);
    }

    #[test]
    fn features_are_listed_in_the_order_in_which_they_were_last_active() {
        let mut traced = Traced::new(4);
        step(&mut traced, None, 2);
        step(&mut traced, Some(0.5), 0);
        step(&mut traced, Some(0.5), 2);
        // 2 → 1 → 0.5 + 2, and 2 → 1.
        assert_eq!(trace(&traced), [(0, 1.0), (2, 2.5)]);
        step(&mut traced, None, 3);
        assert_eq!(trace(&traced), [(3, 2.0)]);
    }

    /// Once every feature ever seen was touched at every step of a task that never ends.
    #[test]
    fn what_has_decayed_is_forgotten() {
        let mut traced = Traced::new(4);
        step(&mut traced, None, 1);
        for _ in 0..1000 {
            step(&mut traced, Some(0.5), 2);
        }
        assert_eq!(trace(&traced), [(2, 4.0)]);
        assert_eq!(traced.listed, 2, "the feature now active, and its entry of the step before");
    }

    /// Once what is not a number was kept for ever: a learner that had diverged let the list grow for all other lanes.
    #[test]
    fn what_is_not_a_number_is_forgotten() {
        let mut traced = Traced::new(4);
        step(&mut traced, None, 1);
        step(&mut traced, Some(f64::NAN), 0);
        for _ in 0..1000 {
            step(&mut traced, Some(0.5), 2);
        }
        assert_eq!(traced.traced().collect::<Vec<_>>(), [2]);
    }

    /// A step in one pass and one in three leave the same traces, and all traces are shown once, between decay and addition.
    #[test]
    fn one_pass_is_as_good_as_three() {
        const FEATURES: usize = 5;
        let (mut once, mut thrice) = (Traced::<f64, 1, 1>::new(FEATURES), Traced::<f64, 1, 1>::new(FEATURES));
        once.weights_mut(0).zip(0..).for_each(|(w, k)| *w = f64::from(k));
        for t in 0..5120_u32 {
            let decay = match t % 400 {
                0 => None,
                _ => Some([if t % 7 == 0 { 1.75 } else { 0.125 }]),
            };
            // One is listed twice now and then, one has the value zero, and some are forgotten for a while.
            let last = if t % 200 < 120 { 3 } else { 4 };
            let x =
                [(t % 3, 0.5), (last, f64::from(t % 2)), (t % 5 % 3, -0.25)].map(|(k, x)| (k as usize, x));
            let before: Vec<usize> = once.traced().collect();
            let mut expected: Vec<(f64, f64)> = Vec::new();
            if let Some([decay]) = decay {
                expected = before.iter().map(|&k| (k as f64, decay * once.cells[k].traces[0])).collect();
            }
            let (mut shown, mut changed) = (Vec::new(), Vec::new());
            once.step(
                decay,
                x.into_iter(),
                |cell| shown.push((cell.weights[0], cell.traces[0])),
                |_, x, cell| cell.traces[0] += 2.0 * x,
                |k, _| changed.push(k),
            );
            // Once in a while some are forgotten first.
            if u64::from(t) % FORGET_EVERY != 0 {
                shown.sort_by(|a, b| a.0.total_cmp(&b.0));
                expected.sort_by(|a, b| a.0.total_cmp(&b.0));
                assert_eq!(shown, expected, "{t}");
            }
            assert_eq!(changed, once.traced().collect::<Vec<_>>(), "{t}");
            thrice.decay(decay);
            thrice.add(x.into_iter(), |_, x| [2.0 * x]);
            let mut others = Vec::new();
            once.each_other(|cell| others.push(cell.weights[0] as usize));
            changed.extend(others);
            changed.sort_unstable();
            assert_eq!(changed, [0, 1, 2, 3, 4], "{t}: each once");
            for (one, three) in once.cells.iter().zip(&thrice.cells) {
                // They forget before and after the traces decay.
                let (one, three) = (one.traces[0], three.traces[0]);
                assert!(one == three || one.abs().max(three.abs()) < 10.0 * FORGOTTEN, "{t}: {one} {three}");
            }
        }
        assert!(once.traced().count() < FEATURES, "none was forgotten");
    }

    /// A trace before the first step would be taken for none.
    #[test]
    fn a_trace_before_the_first_step_is_refused() {
        let mut traced = Traced::<f64, 1, 1>::new(3);
        step(&mut traced, None, 1);
        let mut saved = SavedState::empty();
        traced.traces(&mut Visitor::save(&mut saved), ["e"]).unwrap();
        let mut tensors = saved.into_tensors();
        tensors.insert("steps".to_owned(), crate::Numbers::Whole(vec![0]));
        let saved = SavedState::without_settings(tensors);
        let refused = Traced::<f64, 1, 1>::new(3).traces(&mut Visitor::restore(&saved), ["e"]);
        assert_eq!(refused, Err(StateError::Trace("e".to_owned())));
    }

    #[test]
    fn two_traces_of_other_features_are_refused() {
        let mut traced = Traced::<f64, 1, 2>::new(3);
        for k in [2, 0] {
            traced.decay(Some([0.5, 0.25]));
            traced.add(std::iter::once((k, 1.0)), |_, x| [x, 2.0 * x]);
        }
        let mut saved = SavedState::empty();
        traced.traces(&mut Visitor::save(&mut saved), ["e", "e_mu"]).unwrap();
        let mut other = Traced::<f64, 1, 2>::new(3);
        other.traces(&mut Visitor::restore(&saved), ["e", "e_mu"]).unwrap();
        assert_eq!(other.traced().collect::<Vec<_>>(), [2, 0]);
        assert_eq!(other.cells[2].traces, [0.5, 0.5]);
        let mut tensors = saved.into_tensors();
        tensors.insert("e_mu.features", crate::Numbers::Whole(vec![0, 2]));
        let saved = SavedState::without_settings(tensors);
        let refused = other.traces(&mut Visitor::restore(&saved), ["e", "e_mu"]);
        assert_eq!(refused, Err(StateError::Trace("e_mu".to_owned())));
    }
}
