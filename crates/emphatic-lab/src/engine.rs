//! Runs an experiment: all cores, every unit once, nothing that was finished lost.

use crate::experiment::Experiment;
use crate::settings_table;
use crate::store::{Contents, Identity, Kind, Store, StoreError};
use crate::summary::{self, SummaryError};
use crate::table::{EncodedUnit, Unit};
use crate::unit::{self, FRESH, Machine, Shared, UnitError};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Finished units reach the disk this often.
const FLUSH: Duration = Duration::from_secs(1);

/// Progress is told this often.
const TICK: Duration = Duration::from_millis(100);

/// A part of the units, for one of several processes: number `index` (from 1) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which.
    pub index: usize,
    /// Of how many.
    pub count: usize,
}

/// How an experiment is run; what comes out does not depend on it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How many threads.
    pub threads: usize,
    /// Which part of the units, if not all.
    pub shard: Option<Shard>,
    /// Lanes and instruction set.
    pub machine: Machine,
}

impl Default for Options {
    /// All cores, all units.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, shard: None, machine: Machine::default() }
    }
}

/// How far it is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What is being run.
    pub kind: Kind,
    /// How many units there are to do in all.
    pub units: usize,
    /// How many of them were there from before.
    pub before: usize,
    /// How many are done, those from before included.
    pub done: usize,
    /// How many updates this process has made in this phase.
    pub updates: u64,
    /// For how long.
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is done.
    Finished,
    /// This shard is done; others are not.
    ShardFinished,
    /// It was told to stop.
    Stopped,
}

/// What a run did.
#[derive(Clone, Debug)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// How many units the directory has now, fresh ones included.
    pub done: usize,
    /// How many it will have.
    pub units: usize,
    /// How many were there before.
    pub before: usize,
    /// How many updates were made.
    pub updates: u64,
    /// How many runs of settings have diverged.
    pub diverged: u64,
}

/// An experiment that could not be run to its end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A unit failed.
    #[error("run {run}, settings {first} to {last}: {source}")]
    Unit {
        /// Its run.
        run: u32,
        /// Its first setting.
        first: usize,
        /// Its last setting.
        last: usize,
        /// Why.
        source: UnitError,
    },
    /// The best settings could not be found.
    #[error(transparent)]
    Summary(#[from] SummaryError),
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(std::io::Error),
    /// The table of settings could not be made.
    #[error("the table of settings could not be made: {0}")]
    Settings(#[from] parquet::errors::ParquetError),
}

/// A unit to be run.
struct Job {
    unit: Unit,
    settings: Vec<usize>,
    stream: u64,
}

/// What tells a running experiment to stop, from another thread or a signal handler.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Shared>);

impl Stop {
    /// Asks it to stop. Finished units are kept.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// What is set to ask it: for a signal handler, which can do no more than that.
    pub fn flag(&self) -> Arc<AtomicBool> {
        self.0.stop.clone()
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed)
    }
}

/// Runs what is missing in `dir` of an experiment. `tell` hears of warnings at once, and of progress now and then.
pub fn run(
    experiment: &Experiment,
    dir: &Path,
    options: &Options,
    stop: &Stop,
    tell: &mut dyn FnMut(News),
) -> Result<Report, RunError> {
    let start = Instant::now();
    let mut store = open(experiment, dir)?;
    store.warnings().iter().for_each(|warning| tell(News::Warning(warning)));
    let seconds_before = store.manifest()["wall_seconds"].as_f64().unwrap_or(0.0);
    store.set_manifest(counts(experiment, &store, false))?;

    let mut engine = Engine { experiment, options, stop, tell, before: 0, updates: 0 };
    let done = engine.results(&mut store).and_then(|complete| match complete {
        true if experiment.fresh_runs > 0 => engine.fresh(&mut store),
        complete => Ok(complete),
    });
    let (before, updates) = (engine.before, engine.updates);
    // Whatever happened, the manifest says what is there.
    let finished = matches!(done, Ok(true));
    let mut fields = counts(experiment, &store, finished);
    fields.insert("wall_seconds".to_owned(), json!(seconds_before + start.elapsed().as_secs_f64()));
    store.set_manifest(fields)?;
    let ending = match done? {
        true => Ending::Finished,
        false if stop.is_stopped() => Ending::Stopped,
        false => Ending::ShardFinished,
    };
    let diverged = store.diverged_runs();
    let units = experiment.units() + fresh_units(experiment, &store);
    let done = store.count(Kind::Results) + store.count(Kind::Fresh);
    Ok(Report { ending, done, units, before, updates, diverged })
}

/// What a running experiment has to say.
#[derive(Debug)]
pub enum News<'a> {
    /// Something is not as it should be, but it goes on.
    Warning(&'a str),
    /// How far it is.
    Progress(Progress),
}

/// Opens the directory of an experiment's results, or makes it.
pub(crate) fn open(experiment: &Experiment, dir: &Path) -> Result<Store, RunError> {
    let identity = Identity::new(experiment.identity());
    let settings = settings_table::encode(experiment, identity.label("settings"))?;
    let texts = experiment.files();
    let mut files: Vec<(&str, &[u8])> = vec![("settings.parquet", &settings)];
    files.extend(texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())));
    let contents = Contents { files: &files, identity: &identity, runs: experiment.runs };
    Ok(Store::open(dir, &contents)?)
}

/// What the manifest says of an experiment and what is there of it.
pub(crate) fn counts(experiment: &Experiment, store: &Store, finished: bool) -> Map<String, Value> {
    let value = json!({
        "seed": experiment.seed,
        "runs": experiment.runs,
        "fresh_runs": experiment.fresh_runs,
        "settings": experiment.settings(),
        "units": { "done": store.count(Kind::Results), "all": experiment.units() },
        "fresh_units": { "done": store.count(Kind::Fresh), "all": fresh_units(experiment, store) },
        "diverged_runs": store.diverged_runs(),
        "finished": finished,
    });
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn fresh_units(experiment: &Experiment, store: &Store) -> usize {
    let chosen = chosen_of(store.manifest());
    fresh_blocks(experiment, &chosen).len() * experiment.fresh_runs as usize
}

/// The settings that fresh runs are of.
fn chosen_of(manifest: &Value) -> Vec<usize> {
    let list = manifest["fresh_settings"].as_array();
    list.into_iter().flatten().filter_map(|k| k.as_u64()).map(|k| k as usize).collect()
}

/// Chosen settings that can share lanes.
fn fresh_blocks(experiment: &Experiment, chosen: &[usize]) -> Vec<Vec<usize>> {
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for &setting in chosen.iter().filter(|k| **k < experiment.settings()) {
        let structure = experiment.structure(setting);
        match blocks.iter_mut().find(|block| experiment.structure(block[0]) == structure) {
            Some(block) => block.push(setting),
            None => blocks.push(vec![setting]),
        }
    }
    blocks
}

struct Engine<'a> {
    experiment: &'a Experiment,
    options: &'a Options,
    stop: &'a Stop,
    tell: &'a mut dyn FnMut(News),
    before: usize,
    updates: u64,
}

impl Engine<'_> {
    /// Runs what is missing of the results. True if they are complete.
    fn results(&mut self, store: &mut Store) -> Result<bool, RunError> {
        let experiment = self.experiment;
        let blocks = experiment.blocks();
        let units = (0..experiment.runs)
            .flat_map(|run| (0..blocks.len() as u32).map(move |block| Unit { block, run }));
        // Neighbouring blocks may cost very different times, so every shard gets some runs of each.
        let number = |unit: &Unit| unit.block as usize + unit.run as usize;
        let is_mine =
            |unit: &Unit| self.options.shard.is_none_or(|s| number(unit) % s.count.max(1) + 1 == s.index);
        let mine: Vec<Unit> = units.filter(is_mine).collect();
        let job = |unit: Unit| Job {
            unit,
            settings: blocks[unit.block as usize].clone().collect(),
            stream: u64::from(unit.run),
        };
        if !self.execute(store, Kind::Results, &mine, job)? {
            return Ok(false);
        }
        store.finish(Kind::Results, &|_| true)?;
        Ok(store.count(Kind::Results) == experiment.units())
    }

    /// Runs each method's best setting on fresh streams.
    fn fresh(&mut self, store: &mut Store) -> Result<bool, RunError> {
        let chosen = summary::best_settings(self.experiment, store)?;
        if chosen != chosen_of(store.manifest()) {
            store.discard(Kind::Fresh)?;
            store.set_manifest(Map::from_iter([("fresh_settings".to_owned(), json!(chosen))]))?;
        }
        let blocks = fresh_blocks(self.experiment, &chosen);
        let units = (0..self.experiment.fresh_runs)
            .flat_map(|run| (0..blocks.len() as u32).map(move |block| Unit { block, run }));
        let all: Vec<Unit> = units.collect();
        let job = |unit: Unit| Job {
            unit,
            settings: blocks[unit.block as usize].clone(),
            stream: FRESH + u64::from(unit.run),
        };
        if !self.execute(store, Kind::Fresh, &all, job)? {
            return Ok(false);
        }
        // What an earlier, larger number has left would make the table depend on its history.
        store.finish(Kind::Fresh, &|unit| unit.run < self.experiment.fresh_runs)?;
        Ok(true)
    }

    /// Runs those of the units that are missing, on all threads, and stores them. False if it was told to stop.
    fn execute(
        &mut self,
        store: &mut Store,
        kind: Kind,
        all: &[Unit],
        job: impl Fn(Unit) -> Job + Sync,
    ) -> Result<bool, RunError> {
        let (experiment, machine, shared) = (self.experiment, self.options.machine, &*self.stop.0);
        let start = Instant::now();
        let units = all.len();
        let missing: Vec<Unit> = all.iter().filter(|unit| !store.has(kind, **unit)).copied().collect();
        let updates_before = shared.updates.load(Ordering::Relaxed);
        let before = units - missing.len();
        self.before += before;
        let next = AtomicUsize::new(0);
        let threads = self.options.threads.clamp(1, missing.len().max(1));
        let (sender, receiver) = mpsc::sync_channel::<Result<EncodedUnit, RunError>>(4 * threads);
        let mut done = before;
        let result = std::thread::scope(|scope| {
            let _stop = StopOnPanic(shared);
            // Dropped however this ends: who still has something to send does not wait for ever.
            let receiver = receiver;
            for started in 0..threads {
                let (sender, next, job, missing) = (sender.clone(), &next, &job, &missing);
                let work = move || {
                    let _stop = StopOnPanic(shared);
                    while let Some(&unit) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let job = job(unit);
                        match unit::run(experiment, &job.settings, unit, job.stream, machine, shared) {
                            Ok(None) => return,
                            Ok(Some(encoded)) => {
                                if sender.send(Ok(encoded)).is_err() {
                                    return;
                                }
                            }
                            Err(source) => {
                                let _ = sender.send(Err(failed(&job, source)));
                                return;
                            }
                        }
                        if shared.stop.load(Ordering::Relaxed) {
                            return;
                        }
                    }
                };
                // Where no more threads are to be had, those that are there do the work.
                match std::thread::Builder::new().spawn_scoped(scope, work) {
                    Ok(_) => {}
                    Err(error) if started == 0 => return Err(RunError::Thread(error)),
                    Err(_) => break,
                }
            }
            drop(sender);
            let mut pending: Vec<EncodedUnit> = Vec::new();
            let mut flushed = Instant::now();
            let mut told = Instant::now();
            let mut outcome = Ok(());
            loop {
                match receiver.recv_timeout(TICK) {
                    Ok(Ok(encoded)) => pending.push(encoded),
                    Ok(Err(error)) => outcome = outcome.and(Err(error)),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                if outcome.is_ok() && !pending.is_empty() && flushed.elapsed() >= FLUSH {
                    done += pending.len();
                    outcome = store.add(kind, std::mem::take(&mut pending)).map_err(RunError::from);
                    flushed = Instant::now();
                }
                if outcome.is_err() {
                    // The others stop as soon as they can; what they finish is still received.
                    shared.stop.store(true, Ordering::Relaxed);
                }
                if told.elapsed() >= TICK {
                    told = Instant::now();
                    let updates = shared.updates.load(Ordering::Relaxed) - updates_before;
                    let done = done + pending.len();
                    let progress = Progress { kind, units, before, done, updates, elapsed: start.elapsed() };
                    (self.tell)(News::Progress(progress));
                }
            }
            if !pending.is_empty() {
                done += pending.len();
                let last = store.add(kind, pending).map_err(RunError::from);
                outcome = outcome.and(last);
            }
            outcome
        });
        let updates = shared.updates.load(Ordering::Relaxed) - updates_before;
        self.updates += updates;
        result?;
        (self.tell)(News::Progress(Progress {
            kind,
            units,
            before,
            done,
            updates,
            elapsed: start.elapsed(),
        }));
        Ok(done == units)
    }
}

/// If its thread panics, the others stop as soon as they can.
struct StopOnPanic<'a>(&'a Shared);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn failed(job: &Job, source: UnitError) -> RunError {
    let (first, last) = (job.settings.first(), job.settings.last());
    RunError::Unit {
        run: job.unit.run,
        first: first.copied().unwrap_or(0),
        last: last.copied().unwrap_or(0),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const MANY: &str = r#"
        problem = "counterexample"
        runs = 100000
        episodes = 20
        [[method]]
        algorithm = "offpac"
        alpha = 0.1
        critic = "exact"
    "#;

    /// Once the threads at work waited for ever for somebody to take what they had done.
    #[test]
    fn a_panic_of_who_is_told_ends_the_run() {
        let experiment = Experiment::parse(MANY, "many.toml", Path::new("")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let (options, stop) = (Options { threads: 2, ..Options::default() }, Stop::default());
        let mut told = |_: News| panic!("nobody listens");
        let run = AssertUnwindSafe(|| run(&experiment, dir.path(), &options, &stop, &mut told));
        assert!(catch_unwind(run).is_err());
        assert!(stop.is_stopped());
        // The lock is released too.
        assert!(open(&experiment, dir.path()).is_ok());
    }
}
