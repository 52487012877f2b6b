//! Runs an experiment: on all cores, every unit once, and without losing a finished one.

use crate::experiment::{Experiment, first_stream};
use crate::options::Options;
use crate::settings_table;
use crate::stop::Stop;
use crate::store::{Contents, Kind, Store, StoreError, View, chosen_settings, label};
use crate::summary;
use crate::table::{EncodedUnit, Unit};
use crate::unit::{self, Shared, UnitError};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread::Scope;
use std::time::{Duration, Instant};
use thiserror::Error;

/// How often finished units are written to the disk.
const FLUSH: Duration = Duration::from_secs(1);

/// How often progress is reported.
const TICK: Duration = Duration::from_millis(100);

/// How far a run has come.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Which units are being run.
    pub kind: Kind,
    /// The number of units to do in all.
    pub units: usize,
    /// The number of units that were already done at the start.
    pub before: usize,
    /// The number of units that are done, including those at the start.
    pub done: usize,
    /// The number of updates that this process has made in this phase.
    pub updates: u64,
    /// The duration of this phase so far.
    pub elapsed: Duration,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All units are done.
    Finished,
    /// This shard is done; others are not.
    ShardFinished,
    /// The run was asked to stop.
    Stopped,
}

/// What a run did.
#[derive(Clone, Copy, Debug)]
pub struct Report {
    /// How it ended.
    pub ending: Ending,
    /// The number of units in the directory now, those of finalists and fresh ones included.
    pub done: usize,
    /// The number of units that there will be.
    pub units: usize,
    /// The number of units that were there before.
    pub before: usize,
    /// The number of updates made.
    pub updates: u64,
    /// The number of runs of settings that diverged.
    pub diverged: u64,
}

/// An experiment that could not be run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The directory could not be used, or its results could not be read.
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
        /// The reason.
        source: Box<UnitError>,
    },
    /// No thread could be started.
    #[error("no thread could be started: {0}")]
    Thread(std::io::Error),
}

/// What happens while an experiment is run.
#[derive(Debug)]
pub enum Event<'a> {
    /// Something is not as it should be, but the run goes on.
    Warning(&'a str),
    /// The run has come this far.
    Progress(Progress),
}

/// Runs the units of an experiment that are missing in `dir`. `on_event` is called with warnings at once, and with progress now and then.
pub fn run(
    experiment: &Experiment,
    dir: &Path,
    options: &Options,
    stop: &Stop,
    on_event: &mut dyn FnMut(Event),
) -> Result<Report, RunError> {
    let start = Instant::now();
    let mut store = open(experiment, dir)?;
    store.warnings().iter().for_each(|warning| on_event(Event::Warning(warning)));
    let seconds_before = store.manifest()["wall_seconds"].as_f64().unwrap_or(0.0);
    store.set_manifest(&counts(experiment, &store, false))?;

    let mut engine =
        Engine { experiment, options, stop, on_event, before: 0, updates: 0, warned: BTreeSet::new() };
    let complete = engine.run(&mut store);
    let (before, updates) = (engine.before, engine.updates);
    // However it ended, the manifest says what the directory has.
    let mut fields = counts(experiment, &store, matches!(complete, Ok(true)));
    fields["wall_seconds"] = json!(seconds_before + start.elapsed().as_secs_f64());
    store.set_manifest(&fields)?;
    let ending = match complete? {
        true => Ending::Finished,
        false if stop.is_stopped() => Ending::Stopped,
        false => Ending::ShardFinished,
    };
    let units = Kind::ALL.iter().map(|kind| units_of_kind(experiment, &store, *kind)).sum();
    let done = Kind::ALL.iter().map(|kind| store.count(*kind)).sum();
    Ok(Report { ending, done, units, before, updates, diverged: diverged_runs(&store) })
}

/// Opens the directory of an experiment's results, or creates it.
pub(crate) fn open(experiment: &Experiment, dir: &Path) -> Result<Store, StoreError> {
    const SETTINGS: &str = "settings.parquet";
    let identity = experiment.identity();
    let settings = settings_table::encode(experiment, label(&identity, "settings"));
    let settings = settings.map_err(StoreError::parquet(&dir.join(SETTINGS)))?;
    let copies = experiment.files();
    let mut files: Vec<(&str, &[u8])> = vec![(SETTINGS, &settings)];
    files.extend(copies.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())));
    let runs = Kind::ALL.map(|kind| experiment.runs_of(kind));
    Store::open(dir, &Contents { files: &files, identity: &identity, runs })
}

/// Returns the fields of the manifest that count what the directory has of an experiment.
pub(crate) fn counts(experiment: &Experiment, store: &Store, finished: bool) -> Value {
    let mut fields = json!({
        "seed": experiment.seed,
        "settings": experiment.settings(),
        "diverged_runs": diverged_runs(store),
        "finished": finished,
    });
    for kind in Kind::ALL {
        let all = units_of_kind(experiment, store, kind);
        fields[kind.runs_key()] = json!(experiment.runs_of(kind));
        fields[kind.count_key()] = json!({ "done": store.count(kind), "all": all });
    }
    fields
}

/// Returns how many runs of settings diverged, those of finalists and fresh ones included.
fn diverged_runs(view: &View) -> u64 {
    Kind::ALL.iter().map(|kind| view.diverged_runs(*kind)).sum()
}

/// Returns how many units of a kind there are to be: of finalists and of fresh runs those of the settings that are chosen so far.
pub(crate) fn units_of_kind(experiment: &Experiment, view: &View, kind: Kind) -> usize {
    match kind {
        Kind::Results => experiment.units(),
        _ => {
            blocks_of(experiment, kind, &chosen_settings(view, kind)).len()
                * experiment.runs_of(kind) as usize
        }
    }
}

/// Chooses the settings that are to have runs of a kind, by all runs before them, which are complete. Runs of blocks that are no longer the same are removed; the
/// warning says so.
pub(crate) fn choose(
    experiment: &Experiment,
    store: &mut Store,
    kind: Kind,
) -> Result<(Vec<usize>, Option<String>), StoreError> {
    let (before, chosen) = (chosen_settings(store, kind), summary::chosen(experiment, store, kind)?);
    if chosen == before {
        return Ok((chosen, None));
    }
    let [old, new] = [&before, &chosen].map(|settings| blocks_of(experiment, kind, settings));
    let stays = |unit: Unit| {
        let block = unit.block as usize;
        new.get(block).is_some_and(|settings| old.get(block) == Some(settings))
    };
    let count = store.count(kind);
    store.choose(kind, &chosen, new.len() * experiment.runs_of(kind) as usize, &stays)?;
    let discarded = count - store.count(kind);
    let warning = (discarded > 0).then(|| {
        format!(
            "{discarded} finished units of {} in {} are discarded: other settings are chosen now",
            kind.runs(),
            store.dir().display()
        )
    });
    Ok((chosen, warning))
}

/// Returns blocks of the chosen settings that can share lanes.
fn blocks_of(experiment: &Experiment, kind: Kind, chosen: &[usize]) -> Vec<Vec<usize>> {
    let most = |setting: usize| match kind {
        Kind::Finalists => experiment.most_in_a_block(setting),
        // One or two of each method.
        _ => usize::MAX,
    };
    let mut blocks: Vec<Vec<usize>> = Vec::new();
    for &setting in chosen.iter().filter(|k| **k < experiment.settings()) {
        let structure = experiment.structure(setting);
        let has_room = |block: &&mut Vec<usize>| {
            experiment.structure(block[0]) == structure && block.len() < most(block[0])
        };
        match blocks.iter_mut().find(has_room) {
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
    on_event: &'a mut dyn FnMut(Event),
    /// The number of units that were there before.
    before: usize,
    /// The number of updates made.
    updates: u64,
    /// The methods of whose emphasis it was said that it is uneven.
    warned: BTreeSet<usize>,
}

/// One phase of a run: the results, the finalists, or the fresh runs.
struct Phase<'a> {
    kind: Kind,
    /// All units, also those that are there.
    units: Vec<Unit>,
    /// Returns the settings of a block, of which there is at least one.
    settings: &'a (dyn Fn(u32) -> Vec<usize> + Sync),
    /// The number of the stream of the first run.
    first_stream: u64,
}

/// Returns the units of these runs and blocks, runs first.
fn units_of(runs: u32, blocks: usize) -> impl Iterator<Item = Unit> {
    (0..runs).flat_map(move |run| (0..blocks as u32).map(move |block| Unit { block, run }))
}

impl Engine<'_> {
    /// Runs the missing results, then what is missing of the finalists and of the fresh runs. Returns true if all are complete.
    fn run(&mut self, store: &mut Store) -> Result<bool, RunError> {
        let mut complete = self.run_results(store)?;
        for kind in Kind::OF_CHOSEN.into_iter().filter(|kind| self.experiment.runs_of(*kind) > 0) {
            complete = complete && self.run_chosen(store, kind)?;
        }
        Ok(complete)
    }

    /// Runs the missing results. Returns true if they are complete.
    fn run_results(&mut self, store: &mut Store) -> Result<bool, RunError> {
        let experiment = self.experiment;
        let blocks = &experiment.blocks;
        let in_shard = |unit: &Unit| self.options.shard.is_none_or(|shard| shard.contains(unit));
        let units = units_of(experiment.runs, blocks.len()).filter(in_shard).collect();
        let settings = |block: u32| blocks[block as usize].clone().collect();
        let first_stream = first_stream(Kind::Results);
        let phase = Phase { kind: Kind::Results, units, settings: &settings, first_stream };
        if !self.execute(&phase, store)? {
            return Ok(false);
        }
        store.finish(Kind::Results, &|_| true)?;
        Ok(store.count(Kind::Results) == experiment.units())
    }

    /// Runs the settings that are chosen for it on streams of this kind. Returns false if it was asked to stop.
    fn run_chosen(&mut self, store: &mut Store, kind: Kind) -> Result<bool, RunError> {
        let (chosen, warning) = choose(self.experiment, store, kind)?;
        warning.iter().for_each(|warning| (self.on_event)(Event::Warning(warning)));
        let runs = self.experiment.runs_of(kind);
        let blocks = blocks_of(self.experiment, kind, &chosen);
        let settings = |block: u32| blocks[block as usize].clone();
        let units = units_of(runs, blocks.len()).collect();
        let phase = Phase { kind, units, settings: &settings, first_stream: first_stream(kind) };
        if !self.execute(&phase, store)? {
            return Ok(false);
        }
        // Units of an earlier, larger number of runs would make the table depend on its history.
        store.finish(kind, &|unit| unit.run < runs)?;
        Ok(true)
    }

    /// Runs those units of a phase that are missing, on all threads, and stores them. Returns false if it was asked to stop.
    fn execute(&mut self, phase: &Phase, store: &mut Store) -> Result<bool, RunError> {
        let is_missing = |unit: &&Unit| !store.has(phase.kind, **unit);
        let missing: Vec<Unit> = phase.units.iter().filter(is_missing).copied().collect();
        let (kind, units, before) = (phase.kind, phase.units.len(), phase.units.len() - missing.len());
        self.before += before;
        let shared = &Shared { stop: self.stop.clone(), ..Shared::default() };
        let (experiment, options) = (self.experiment, self.options);
        let next = AtomicUsize::new(0);
        let workers = Workers { experiment, phase, options, shared, missing: &missing, next };
        let mut tally = Tally { kind, units, before, done: before, start: Instant::now(), shared };
        let threads = self.options.threads.clamp(1, missing.len().max(1));
        let result = std::thread::scope(|scope| {
            let _stop = StopOnPanic(&shared.stop);
            // It is dropped however this ends, so that no worker waits for ever to send something.
            let finished = workers.start(scope, threads)?;
            self.collect(&finished, &mut tally, store)
        });
        let progress = tally.progress(0);
        self.updates += progress.updates;
        result?;
        (self.on_event)(Event::Progress(progress));
        self.warn_of_uneven_emphases(shared);
        Ok(progress.done == progress.units)
    }

    /// Warns of methods whose updates are those of few steps, each once.
    fn warn_of_uneven_emphases(&mut self, shared: &Shared) {
        for (method, warning) in shared.unevenness.warnings(self.experiment) {
            if self.warned.insert(method) {
                (self.on_event)(Event::Warning(&warning));
            }
        }
    }

    /// Stores units as they are finished, until all workers have ended, and reports progress.
    fn collect(
        &mut self,
        finished: &Receiver<Result<EncodedUnit, RunError>>,
        tally: &mut Tally,
        store: &mut Store,
    ) -> Result<(), RunError> {
        let mut pending: Vec<EncodedUnit> = Vec::new();
        let (mut flushed, mut reported) = (Instant::now(), Instant::now());
        let mut outcome = Ok(());
        loop {
            match finished.recv_timeout(TICK) {
                Ok(Ok(unit)) => pending.push(unit),
                Ok(Err(error)) => outcome = outcome.and(Err(error)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if outcome.is_ok() && !pending.is_empty() && flushed.elapsed() >= FLUSH {
                outcome = tally.store(&mut pending, store);
                flushed = Instant::now();
            }
            if outcome.is_err() {
                // The workers stop as soon as they can; units that they finish are still received.
                self.stop.stop();
            }
            if reported.elapsed() >= TICK {
                reported = Instant::now();
                (self.on_event)(Event::Progress(tally.progress(pending.len())));
            }
        }
        let last = tally.store(&mut pending, store);
        outcome.and(last)
    }
}

/// Counts the units of a phase while it is run.
struct Tally<'a> {
    kind: Kind,
    units: usize,
    before: usize,
    done: usize,
    start: Instant,
    shared: &'a Shared,
}

impl Tally<'_> {
    /// Stores the finished units.
    fn store(&mut self, pending: &mut Vec<EncodedUnit>, store: &mut Store) -> Result<(), RunError> {
        if pending.is_empty() {
            return Ok(());
        }
        self.done += pending.len();
        Ok(store.add(self.kind, std::mem::take(pending))?)
    }

    /// Returns how far the phase has come; `pending` units have yet to be stored.
    fn progress(&self, pending: usize) -> Progress {
        let Self { kind, units, before, done, .. } = *self;
        let updates = self.shared.updates.load(Ordering::Relaxed);
        Progress { kind, units, before, done: done + pending, updates, elapsed: self.start.elapsed() }
    }
}

/// What all worker threads of a phase share.
struct Workers<'a> {
    experiment: &'a Experiment,
    phase: &'a Phase<'a>,
    options: &'a Options,
    shared: &'a Shared,
    missing: &'a [Unit],
    /// The place of the next unit in `missing`.
    next: AtomicUsize,
}

impl Workers<'_> {
    /// Starts threads that run the missing units, and returns where the units arrive.
    fn start<'s>(
        &'s self,
        scope: &'s Scope<'s, '_>,
        threads: usize,
    ) -> Result<Receiver<Result<EncodedUnit, RunError>>, RunError> {
        let (sender, receiver) = mpsc::sync_channel(4 * threads);
        for started in 0..threads {
            let sender = sender.clone();
            let spawned = std::thread::Builder::new().spawn_scoped(scope, move || self.work(&sender));
            // If no more threads can be started, those that were do the work.
            match spawned {
                Ok(_) => {}
                Err(error) if started == 0 => return Err(RunError::Thread(error)),
                Err(_) => break,
            }
        }
        Ok(receiver)
    }

    /// Runs one missing unit after the other, until there are none, one fails, or all are to stop.
    fn work(&self, sender: &SyncSender<Result<EncodedUnit, RunError>>) {
        let _stop = StopOnPanic(&self.shared.stop);
        while let Some(&unit) = self.missing.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let Some(finished) = self.run(unit).transpose() else { return };
            let is_last = finished.is_err();
            if sender.send(finished).is_err() || is_last || self.shared.stop.is_stopped() {
                return;
            }
        }
    }

    /// Runs a unit and encodes it for the store; `None` if it was asked to stop.
    fn run(&self, unit: Unit) -> Result<Option<EncodedUnit>, RunError> {
        let settings = (self.phase.settings)(unit.block);
        let stream = self.phase.first_stream + u64::from(unit.run);
        let encoded = || {
            let rows = unit::run(self.experiment, &settings, stream, self.options, self.shared)?;
            rows.map(|rows| rows.encode(self.experiment, unit, &settings)).transpose()
        };
        encoded().map_err(|source| {
            let (first, last) = (settings[0], settings[settings.len() - 1]);
            RunError::Unit { run: unit.run, first, last, source: Box::new(source) }
        })
    }
}

/// If its thread panics, the others stop as soon as they can.
struct StopOnPanic<'a>(&'a Stop);

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop();
        }
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

    /// Once the worker threads waited for ever for somebody to receive their results.
    #[test]
    fn a_panic_in_the_event_handler_ends_the_run() {
        let experiment = Experiment::parse(MANY, "many.toml", Path::new("")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let options = Options { threads: 2, ..Options::default() };
        let stop = Stop::default();
        let mut handler = |_: Event| panic!("nobody listens");
        let run = AssertUnwindSafe(|| run(&experiment, dir.path(), &options, &stop, &mut handler));
        assert!(catch_unwind(run).is_err());
        assert!(stop.is_stopped());
        // The lock is released too.
        assert!(open(&experiment, dir.path()).is_ok());
    }
}
