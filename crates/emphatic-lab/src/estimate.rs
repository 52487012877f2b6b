//! Estimates how long an experiment takes, and how much room.

use crate::experiment::{Experiment, Length, first_stream};
use crate::measure::DynMeasure;
use crate::options::Options;
use crate::stop::Stop;
use crate::store::Kind;
use crate::summary;
use crate::unit::{self, Shared, UnitError};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much work an experiment is.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// The number of updates, roughly.
    pub updates: f64,
    /// The number of rows of the table of results.
    pub rows: f64,
    /// The time on one core, roughly, from a short trial, that learning takes.
    pub learning: f64,
    /// The same of evaluations, which in a simulator are rollouts.
    pub evaluating: f64,
    /// The same of more runs of the finalists, in all.
    pub finalists: f64,
    /// The same of fresh runs, in all.
    pub fresh: f64,
    /// The size of the results in bytes, roughly.
    pub bytes: f64,
}

/// Estimates the work of an experiment from a trial of each kind of learner.
pub fn estimate(experiment: &Experiment) -> Result<Estimate, UnitError> {
    let evaluations = experiment.evaluations as f64 + 1.0;
    let (mut updates, mut learning, mut evaluating, mut bytes) = (0.0, 0.0, 0.0, 0.0);
    let (mut searching, mut searching_fresh) = (0.0, 0.0);
    // Of each block.
    let mut costs = Vec::with_capacity(experiment.blocks.len());
    let start = Instant::now();
    let mut last: Option<(usize, Trials)> = None;
    for block in &experiment.blocks {
        let structure = experiment.structure(block.start);
        // Where there are very many kinds, the others are taken to be like the last that was tried.
        let is_known = |k: usize| start.elapsed() > LONGEST || experiment.structure(k) == structure;
        let trials = match last {
            Some((k, trials)) if is_known(k) => trials,
            _ => {
                let settings: Vec<usize> = block.clone().take(LANES).collect();
                let together = Trial::run(experiment, &settings)?;
                // Of chosen settings there are few, so that lanes stay empty. (In Python that is not what takes the time.)
                let are_chosen = experiment.fresh_runs + experiment.finalist_runs > 0;
                let alone = match are_chosen && !experiment.is_elsewhere() {
                    true => Trial::run(experiment, &settings[..1])?,
                    false => together,
                };
                // Chosen settings of a kind share a unit.
                searching_fresh += together.search
                    * experiment.searched_steps(structure.scenario, first_stream(Kind::Fresh));
                Trials { together, alone }
            }
        };
        last = Some((block.start, trials));
        let (settings, steps) = (block.len(), experiment.expected_steps(structure.scenario));
        costs.push((trials, steps));
        updates += settings as f64 * steps;
        learning += steps * trials.update_of(settings);
        evaluating += settings as f64 * evaluations * trials.together.evaluation;
        searching += trials.together.search * experiment.searched_steps(structure.scenario, 0);
        // Numbers hardly compress, and counts compress to almost nothing.
        let bytes_a_row = 8.0 * experiment.numbers_a_row(block.start) as f64 + 1.0;
        bytes += settings as f64 * evaluations * bytes_a_row;
    }
    // Which settings will be the best is not known; they cost what another of their method does.
    let of = |setting: usize| costs[experiment.blocks.partition_point(|block| block.end <= setting)];
    let finalist = |(setting, count): (usize, usize)| {
        let (trials, steps) = of(setting);
        steps * trials.update_of(count) + count as f64 * evaluations * trials.together.evaluation
    };
    let fresh = |(setting, count): (usize, usize)| {
        let (trials, steps) = of(setting);
        let evaluations = experiment.fresh_evaluations as f64 + 1.0;
        steps * trials.update_of(count) + count as f64 * evaluations * trials.alone.fresh_evaluation
    };
    let finalists = summary::choices(experiment, experiment.finalists as usize).into_iter().map(finalist);
    let fresh = summary::choices(experiment, 1).into_iter().map(fresh).sum::<f64>() + searching_fresh;
    let runs = f64::from(experiment.runs);
    Ok(Estimate {
        updates: updates * runs,
        rows: experiment.settings() as f64 * runs * evaluations,
        learning: learning * runs,
        evaluating: (evaluating + searching) * runs,
        finalists: finalists.sum::<f64>() * f64::from(experiment.finalist_runs),
        fresh: fresh * f64::from(experiment.fresh_runs),
        bytes: bytes * runs,
    })
}

/// How many settings learn side by side.
const LANES: usize = 16;

/// Trials of settings side by side, and of one alone.
#[derive(Clone, Copy)]
struct Trials {
    together: Trial,
    alone: Trial,
}

impl Trials {
    /// Returns how long an update of so many settings takes. Lanes take as long if some are empty.
    fn update_of(&self, settings: usize) -> f64 {
        let groups = settings.div_ceil(LANES) as f64;
        (groups * self.together.update).min(settings as f64 * self.alone.update)
    }
}

/// How long trials take in all, roughly.
const LONGEST: Duration = Duration::from_secs(2);

/// Seconds that an update of settings side by side takes, an evaluation of one of them, and a step of the behaviour on the way to the states in which excursions begin.
#[derive(Clone, Copy)]
struct Trial {
    update: f64,
    evaluation: f64,
    fresh_evaluation: f64,
    search: f64,
}

impl Trial {
    fn run(experiment: &Experiment, settings: &[usize]) -> Result<Self, UnitError> {
        const STEPS: u64 = 2000;
        const EVALUATIONS: u64 = 20;
        const LONG_ENOUGH: f64 = 0.05;
        // The first evaluation comes before the first step, and another one after it.
        const AT_ONCE: f64 = 2.0;
        let (experiment, [times, fresh_times]) =
            experiment.with_short_rollouts(experiment.structure(settings[0]).scenario);
        let time = |steps: u64, evaluations: u64, with_rollouts: bool| -> Result<f64, UnitError> {
            let mut short = experiment.clone();
            (short.length, short.evaluations) = (Length::Steps(steps), evaluations);
            if !with_rollouts {
                let is_cheap = |measure: &Arc<dyn DynMeasure>| measure.trials() == 0;
                short.scenarios.iter_mut().for_each(|scenario| scenario.measures.retain(is_cheap));
            }
            let start = Instant::now();
            unit::run(&short, settings, 0, &Options::default(), &Shared::default())?;
            Ok(start.elapsed().as_secs_f64())
        };
        let each = settings.len() as f64;
        // Rollouts take long enough to be timed once.
        let once = time(1, 1, true)?;
        let evaluation = match once > LONG_ENOUGH {
            true => once / AT_ONCE,
            false => time(EVALUATIONS, EVALUATIONS, true)? / EVALUATIONS as f64,
        };
        // No policy is tried out, since that takes longer than so few steps, and the difference would be noise.
        let composing = time(1, 1, false)?;
        let (mut steps, mut seconds) = (EVALUATIONS, 0.0);
        while seconds < LONG_ENOUGH && steps < STEPS {
            steps = (8 * steps).min(STEPS);
            seconds = time(steps, 1, false)? - composing;
        }
        // Something else may have had the core for a while.
        let again = time(steps, 1, false)? - composing;
        let update = seconds.min(again).max(0.0) / steps as f64;
        let evaluation = evaluation / each;
        Ok(Self {
            update,
            evaluation: evaluation * times,
            fresh_evaluation: evaluation * fresh_times,
            search: Self::search(&experiment, settings[0])?,
        })
    }

    /// Returns how long a step of the behaviour takes where states are sought in which excursions begin.
    fn search(experiment: &Experiment, setting: usize) -> Result<f64, UnitError> {
        const STATES: usize = 10;
        const EVERY: u64 = 500;
        let scenario = experiment.structure(setting).scenario;
        let simulator = experiment.scenarios[scenario].simulator();
        let Some(simulator) = simulator.filter(|_| experiment.searched_steps(scenario, 0) > 0.0) else {
            return Ok(0.0);
        };
        let start = Instant::now();
        simulator.visited_states(0, STATES, EVERY, &Stop::default())?;
        Ok(start.elapsed().as_secs_f64() / (STATES as f64 * EVERY as f64))
    }
}
