//! Runs one unit: a stream of experience that teaches a block of settings.

use crate::experiment::{Experiment, Length, Quantity};
use crate::learners::{self, Learners, Lot, SetUpError};
use crate::rows::Rows;
use crate::table::{self, TableError, Unit};
use bytes::Bytes;
use emphatic::{Isa, Lanes, LearnError, ProblemError, Step};
use emphatic_problems::World;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// How many steps are made before the next learners get them: they stay in the cache.
const CHUNK: usize = 2048;

/// How many learners stand side by side at most. The results are the same bits; the speed is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneCount {
    /// One at a time.
    One,
    /// Eight.
    Eight,
    /// Sixteen: the fastest.
    #[default]
    Sixteen,
}

/// How units are run; what comes out does not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// How many lanes.
    pub lanes: LaneCount,
    /// Which instruction set.
    pub isa: Isa,
}

impl Default for Machine {
    fn default() -> Self {
        Self { lanes: LaneCount::default(), isa: Isa::best() }
    }
}

/// A unit that could not be run.
#[derive(Debug, Error)]
pub enum UnitError {
    /// The learners cannot be set up.
    #[error(transparent)]
    SetUp(#[from] SetUpError),
    /// A step that makes no sense.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The results cannot be written down.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The results do not make a table.
    #[error("the results of a unit do not make a table: {0}")]
    Rows(#[from] arrow_schema::ArrowError),
}

impl From<ProblemError> for UnitError {
    fn from(error: ProblemError) -> Self {
        Self::SetUp(error.into())
    }
}

/// What running units tells and asks the others.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Set when everything is to stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// How many updates have been made.
    pub(crate) updates: AtomicU64,
}

/// Streams of fresh runs have numbers from here on.
pub(crate) const FRESH: u64 = 1 << 32;

/// Runs the settings on the stream with this number, and gives their table, with this label. Nothing if it was told to stop.
pub(crate) fn run(
    (experiment, label): (&Experiment, &str),
    settings: &[usize],
    unit: Unit,
    stream: u64,
    machine: Machine,
    shared: &Shared,
) -> Result<Option<Bytes>, UnitError> {
    let Some(rows) = learn(experiment, settings, stream, machine, shared)? else { return Ok(None) };
    let diverged = rows.diverged();
    let table = rows.table(unit, settings, &experiment.record)?;
    Ok(Some(table::encode(label, unit, diverged, &table)?))
}

/// How long the settings take.
pub(crate) fn time(
    experiment: &Experiment,
    settings: &[usize],
    machine: Machine,
) -> Result<Duration, UnitError> {
    let start = Instant::now();
    learn(experiment, settings, 0, machine, &Shared::default())?;
    Ok(start.elapsed())
}

fn learn(
    experiment: &Experiment,
    settings: &[usize],
    stream: u64,
    machine: Machine,
    shared: &Shared,
) -> Result<Option<Rows>, UnitError> {
    let scenario = experiment.structure(settings[0]).scenario;
    let world = &experiment.scenarios[scenario].world;
    let quantities: Vec<Quantity> = experiment.quantities(scenario);
    let evaluations = experiment.evaluations as usize + 1;
    let mut rows = Rows::new(settings.len(), evaluations, &quantities);
    let lots = lots(experiment, settings, &quantities, stream, machine);
    let schedule = Schedule { length: experiment.length, evaluations: experiment.evaluations };
    macro_rules! in_lanes {
        ($kind:ident, $model:expr) => {{
            let set_up = |(lot, lanes): (Lot, LaneCount)| match lanes {
                LaneCount::One => learners::$kind::<f64>(lot, $model),
                LaneCount::Eight => learners::$kind::<Lanes<8>>(lot, $model),
                LaneCount::Sixteen => learners::$kind::<Lanes<16>>(lot, $model),
            };
            let mut all = lots.into_iter().map(set_up).collect::<Result<Vec<_>, _>>()?;
            teach(
                $model.stream(experiment.seed, stream),
                &mut all,
                schedule,
                settings.len(),
                &mut rows,
                shared,
            )?
        }};
    }
    let finished = match world {
        World::Finite(task) => in_lanes!(finite, task),
        World::Continuous(problem) => in_lanes!(continuous, problem),
    };
    Ok(finished.then_some(rows))
}

/// Settings that fill lanes. Few that are left over stand in fewer lanes.
fn lots<'a>(
    experiment: &'a Experiment,
    settings: &'a [usize],
    quantities: &'a [Quantity],
    stream: u64,
    machine: Machine,
) -> Vec<(Lot<'a>, LaneCount)> {
    let most = match machine.lanes {
        LaneCount::One => 1,
        LaneCount::Eight => 8,
        LaneCount::Sixteen => 16,
    };
    let lot = |(k, settings): (usize, &'a [usize])| {
        let lanes = match settings.len() {
            1 => LaneCount::One,
            2..=8 => LaneCount::Eight,
            _ => LaneCount::Sixteen,
        };
        (Lot { experiment, settings, first: k * most, quantities, stream, isa: machine.isa }, lanes)
    };
    settings.chunks(most).enumerate().map(lot).collect()
}

/// When a run is evaluated.
#[derive(Clone, Copy)]
struct Schedule {
    length: Length,
    evaluations: u64,
}

impl Schedule {
    /// After how many episodes or steps evaluation number `k` is.
    fn at(self, k: u64) -> u64 {
        (u128::from(self.length.count()) * u128::from(k) / u128::from(self.evaluations)) as u64
    }
}

/// Teaches all learners from one stream, which is made once for all of them. False if it was told to stop.
fn teach<A: Copy>(
    mut stream: impl Iterator<Item = Step<usize, A>>,
    learners: &mut [Box<dyn Learners<A>>],
    schedule: Schedule,
    settings: usize,
    rows: &mut Rows,
    shared: &Shared,
) -> Result<bool, LearnError> {
    let (mut episodes, mut steps) = (0, 0);
    let mut chunk: Vec<Step<usize, A>> = Vec::with_capacity(CHUNK);
    for evaluation in 0..=schedule.evaluations {
        let goal = schedule.at(evaluation);
        loop {
            chunk.clear();
            while chunk.len() < CHUNK {
                let reached = match schedule.length {
                    Length::Episodes(_) => episodes,
                    Length::Steps(_) => steps,
                };
                if reached >= goal {
                    break;
                }
                let Some(step) = stream.next() else { break };
                episodes += u64::from(step.gamma_next == 0.0);
                steps += 1;
                chunk.push(step);
            }
            if chunk.is_empty() {
                break;
            }
            for each in learners.iter_mut() {
                each.learn(&chunk)?;
                if shared.stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            shared.updates.fetch_add((chunk.len() * settings) as u64, Ordering::Relaxed);
        }
        rows.set_place(episodes, steps);
        for each in learners.iter_mut() {
            each.evaluate(evaluation as usize, rows);
        }
    }
    Ok(true)
}
