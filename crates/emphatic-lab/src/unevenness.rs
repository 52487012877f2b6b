//! Runs in which the emphasis is so uneven that a few steps count for all.

use crate::experiment::Experiment;
use emphatic::learner::uneven_emphasis;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// If a method has fewer such runs than this share of all, nothing is said: some settings of a grid always go wrong.
const MANY: f64 = 0.1;

/// Counts runs of settings by method, while units run.
#[derive(Debug, Default)]
pub(crate) struct Unevenness(Mutex<BTreeMap<usize, Runs>>);

#[derive(Debug, Default)]
struct Runs {
    all: usize,
    uneven: usize,
    /// What is said of the worst, and its effective sample.
    worst: Option<(f64, String)>,
}

impl Unevenness {
    /// Counts a run of a setting of a method, given its steps and its effective sample.
    pub(crate) fn add(&self, method: usize, steps: u64, share: f64) {
        let mut methods = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let runs = methods.entry(method).or_default();
        runs.all += 1;
        let Some(words) = uneven_emphasis(steps, share) else { return };
        runs.uneven += 1;
        // Of two that are alike the shorter words, so that the order in which runs end does not matter.
        let worse = |(worst, known): &(f64, String)| (share, &words) < (*worst, known);
        if runs.worst.as_ref().is_none_or(worse) {
            runs.worst = Some((share, words));
        }
    }

    /// Returns the methods that have many such runs, each with a warning.
    pub(crate) fn warnings(&self, experiment: &Experiment) -> Vec<(usize, String)> {
        let methods = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let warning = |(method, runs): (&usize, &Runs)| {
            let Runs { all, uneven, worst } = runs;
            let (_, words) = worst.as_ref().filter(|_| *uneven as f64 >= MANY * *all as f64)?;
            let name = &experiment.methods[*method].name;
            Some((
                *method,
                format!("{name}: {words} (the worst of {uneven} such runs of settings, of {all})"),
            ))
        };
        methods.iter().filter_map(warning).collect()
    }
}
