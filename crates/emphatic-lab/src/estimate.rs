//! About how long an experiment takes, and how much room.

use crate::experiment::{Experiment, Length};
use crate::unit::{self, Machine, UnitError};

/// How much work an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// How many settings.
    pub settings: usize,
    /// How many units of work.
    pub units: usize,
    /// About how many updates.
    pub updates: f64,
    /// How many rows the table of results will have.
    pub rows: f64,
    /// About how long it takes on one core, from a short trial.
    pub seconds: f64,
    /// About how many bytes the results take.
    pub bytes: f64,
}

/// Estimates, from a trial of each kind of learner.
pub fn estimate(experiment: &Experiment) -> Result<Estimate, UnitError> {
    let evaluations = experiment.evaluations as f64 + 1.0;
    let mut seconds = 0.0;
    let mut bytes = 0.0;
    let mut kinds: Vec<(usize, Trial)> = Vec::new();
    for block in experiment.blocks() {
        let structure = experiment.structure(block.start);
        let same = |(k, _): &&(usize, Trial)| experiment.structure(*k) == structure;
        let trial = match kinds.iter().find(same) {
            Some((_, trial)) => *trial,
            None => {
                let settings: Vec<usize> = block.clone().take(16).collect();
                let trial = try_out(experiment, &settings)?;
                kinds.push((block.start, trial));
                trial
            }
        };
        let steps = experiment.expected_steps(structure.scenario);
        seconds += block.len() as f64 * (steps * trial.update + evaluations * trial.evaluation);
        bytes += block.len() as f64 * evaluations * bytes_a_row(experiment, block.start);
    }
    let runs = f64::from(experiment.runs);
    Ok(Estimate {
        settings: experiment.settings(),
        units: experiment.units(),
        updates: experiment.expected_updates(),
        rows: experiment.settings() as f64 * runs * evaluations,
        seconds: seconds * runs,
        bytes: bytes * runs,
    })
}

/// Seconds for one setting.
#[derive(Clone, Copy)]
struct Trial {
    update: f64,
    evaluation: f64,
}

fn try_out(experiment: &Experiment, settings: &[usize]) -> Result<Trial, UnitError> {
    const STEPS: u64 = 2000;
    const EVALUATIONS: u64 = 20;
    let time = |steps: u64, evaluations: u64| {
        let mut short = experiment.clone();
        (short.length, short.evaluations) = (Length::Steps(steps), evaluations);
        unit::time(&short, settings, Machine::default())
            .map(|time| time.as_secs_f64() / settings.len() as f64)
    };
    let evaluation = time(EVALUATIONS, EVALUATIONS)? / EVALUATIONS as f64;
    Ok(Trial { update: (time(STEPS, 1)? - evaluation).max(0.0) / STEPS as f64, evaluation })
}

/// Numbers hardly compress; counts nearly vanish.
fn bytes_a_row(experiment: &Experiment, setting: usize) -> f64 {
    8.0 * experiment.numbers_a_row(setting) as f64 + 1.0
}
