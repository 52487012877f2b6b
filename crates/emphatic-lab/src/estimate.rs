//! Estimates how long an experiment takes, and how much room.

use crate::experiment::{Experiment, Length};
use crate::options::Options;
use crate::unit::{self, Shared, UnitError};
use std::time::Instant;

/// How much work an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// The number of updates, roughly.
    pub updates: f64,
    /// The number of rows of the table of results.
    pub rows: f64,
    /// The time on one core, roughly, from a short trial.
    pub seconds: f64,
    /// The size of the results in bytes, roughly.
    pub bytes: f64,
}

/// Estimates the work of an experiment from a trial of each kind of learner.
pub fn estimate(experiment: &Experiment) -> Result<Estimate, UnitError> {
    let evaluations = experiment.evaluations as f64 + 1.0;
    let (mut updates, mut seconds, mut bytes) = (0.0, 0.0, 0.0);
    let mut trials: Vec<(usize, Trial)> = Vec::new();
    for block in &experiment.blocks {
        let structure = experiment.structure(block.start);
        let same = |(k, _): &&(usize, Trial)| experiment.structure(*k) == structure;
        let trial = match trials.iter().find(same) {
            Some((_, trial)) => *trial,
            None => {
                let settings: Vec<usize> = block.clone().take(16).collect();
                let trial = Trial::run(experiment, &settings)?;
                trials.push((block.start, trial));
                trial
            }
        };
        let steps = experiment.expected_steps(structure.scenario);
        updates += block.len() as f64 * steps;
        seconds += block.len() as f64 * (steps * trial.update + evaluations * trial.evaluation);
        // Numbers hardly compress, and counts compress to almost nothing.
        let bytes_a_row = 8.0 * experiment.numbers_a_row(block.start) as f64 + 1.0;
        bytes += block.len() as f64 * evaluations * bytes_a_row;
    }
    let runs = f64::from(experiment.runs);
    Ok(Estimate {
        updates: updates * runs,
        rows: experiment.settings() as f64 * runs * evaluations,
        seconds: seconds * runs,
        bytes: bytes * runs,
    })
}

/// Seconds that one setting takes.
#[derive(Clone, Copy)]
struct Trial {
    update: f64,
    evaluation: f64,
}

impl Trial {
    fn run(experiment: &Experiment, settings: &[usize]) -> Result<Self, UnitError> {
        const STEPS: u64 = 2000;
        const EVALUATIONS: u64 = 20;
        let time = |steps: u64, evaluations: u64| -> Result<f64, UnitError> {
            let mut short = experiment.clone();
            (short.length, short.evaluations) = (Length::Steps(steps), evaluations);
            let start = Instant::now();
            unit::run(&short, settings, 0, &Options::default(), &Shared::default())?;
            Ok(start.elapsed().as_secs_f64() / settings.len() as f64)
        };
        let evaluation = time(EVALUATIONS, EVALUATIONS)? / EVALUATIONS as f64;
        Ok(Self { update: (time(STEPS, 1)? - evaluation).max(0.0) / STEPS as f64, evaluation })
    }
}
