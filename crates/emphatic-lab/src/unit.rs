//! Runs one unit: a stream of experience that teaches a block of settings.

use crate::experiment::{Experiment, Length};
use crate::group::{Group, Members, SetUpError};
use crate::rows::{Rows, schema};
use crate::source::{Chunk, Stream};
use crate::table::{self, EncodedUnit, TableError, Unit};
use emphatic::{Catalogue, Isa, Lanes, LearnError};
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

/// Runs the settings on the stream with this number. Returns the encoded unit; `None` if it was told to stop.
pub(crate) fn run(
    experiment: &Experiment,
    settings: &[usize],
    unit: Unit,
    stream: u64,
    machine: Machine,
    shared: &Shared,
) -> Result<Option<EncodedUnit>, UnitError> {
    let Some(rows) = learn(experiment, settings, stream, machine, shared)? else { return Ok(None) };
    let diverged = rows.diverged();
    let table = rows.table(unit, settings, schema(experiment.measured()))?;
    Ok(Some(table::encode(unit, diverged, &table)?))
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
    let scenario = &experiment.scenarios[experiment.structure(settings[0]).scenario];
    let evaluations = experiment.evaluations as usize + 1;
    let mut rows = Rows::new(settings.len(), evaluations, &scenario.measures);
    let schedule = Schedule { length: experiment.length, evaluations: experiment.evaluations };
    let mut groups = groups(experiment, settings, stream, machine)?;
    let mut stream = scenario.source.stream(experiment.seed, stream);
    let finished = teach(&mut *stream, &mut groups, schedule, settings.len(), &mut rows, shared)?;
    Ok(finished.then_some(rows))
}

/// Settings that fill lanes. Few that are left over stand in fewer lanes.
fn groups(
    experiment: &Experiment,
    settings: &[usize],
    stream: u64,
    machine: Machine,
) -> Result<Vec<Box<dyn Group>>, SetUpError> {
    let most = match machine.lanes {
        LaneCount::One => 1,
        LaneCount::Eight => 8,
        LaneCount::Sixteen => 16,
    };
    let measures = &experiment.scenarios[experiment.structure(settings[0]).scenario].measures;
    let group = |(k, settings): (usize, &[usize])| {
        let members = Members {
            experiment,
            catalogue: Catalogue::current(),
            settings,
            first: k * most,
            measures,
            stream,
            isa: machine.isa,
        };
        match settings.len() {
            1 => members.set_up::<f64>(),
            2..=8 => members.set_up::<Lanes<8>>(),
            _ => members.set_up::<Lanes<16>>(),
        }
    };
    settings.chunks(most).enumerate().map(group).collect()
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

/// Teaches all groups from one stream, which is made once for all of them. False if it was told to stop.
fn teach(
    stream: &mut dyn Stream,
    groups: &mut [Box<dyn Group>],
    schedule: Schedule,
    settings: usize,
    rows: &mut Rows,
    shared: &Shared,
) -> Result<bool, LearnError> {
    let (mut episodes, mut steps) = (0, 0);
    let mut chunk = Chunk::default();
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
                chunk.push(&step);
            }
            if chunk.len() == 0 {
                break;
            }
            let made = chunk.steps();
            for group in groups.iter_mut() {
                group.learn(&made)?;
                if shared.stop.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            shared.updates.fetch_add((chunk.len() * settings) as u64, Ordering::Relaxed);
        }
        rows.set_place(episodes, steps);
        for group in groups.iter_mut() {
            group.evaluate(evaluation as usize, rows);
        }
    }
    Ok(true)
}
