//! Runs, read from the tables: a recorded quantity along each, and whether it diverged.

use crate::experiment::Experiment;
use crate::rows::schema;
use crate::store::{Kind, View};
use crate::summary::SummaryError;
use crate::table::StoredUnit;
use arrow_array::cast::AsArray;
use arrow_array::{Array, Float64Array, UInt32Array, UInt64Array};
use std::collections::BTreeMap;
use std::path::Path;

/// One run of one setting, and a recorded quantity along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The number of the setting.
    pub setting: usize,
    /// The number of the run: those of the same number had the same experience.
    pub run: u32,
    /// After how many episodes or steps it was evaluated.
    pub at: Vec<u64>,
    /// The quantity at each evaluation; `None` once the run has diverged.
    pub values: Vec<Option<f64>>,
    /// Whether it has diverged.
    pub diverged: bool,
}

impl Run {
    /// The quantity at the end.
    pub fn last(&self) -> Option<f64> {
        self.values.last().copied().flatten()
    }
}

/// Reads a quantity that was recorded (`objective`, `target.S1.A0`) along all runs of some settings, in order of runs.
pub fn read_runs(
    dir: &Path,
    kind: Kind,
    quantity: &str,
    settings: &[usize],
) -> Result<BTreeMap<usize, Vec<Run>>, SummaryError> {
    let (experiment, view) = open(dir)?;
    // Lists are no quantities.
    if !experiment.measured().any(|column| column == (quantity, false)) {
        return Err(SummaryError::NotRecorded(quantity.to_owned()));
    }
    of_settings(&experiment, &view, kind, quantity, settings)
}

/// Opens a results directory. Returns the experiment, with as many runs as the directory is to have, and the results.
pub(crate) fn open(dir: &Path) -> Result<(Experiment, View), SummaryError> {
    let view = View::open(dir)?;
    let experiment = experiment_of(&view)?;
    let runs = view.manifest()["runs"].as_u64().and_then(|runs| u32::try_from(runs).ok());
    // Never fewer than the tables have, whatever the manifest says.
    let finished = u32::try_from(view.runs()).unwrap_or(u32::MAX);
    let experiment = experiment.with_runs(runs.unwrap_or(1).max(finished))?;
    Ok((experiment, view))
}

/// Reads the experiment file beside some results, which must be the one that they were run with.
pub(crate) fn experiment_of(view: &View) -> Result<Experiment, SummaryError> {
    let experiment = Experiment::open(&view.dir().join("experiment.toml"))?;
    if experiment.identity() != view.manifest()["identity"] {
        return Err(SummaryError::Changed(view.dir().display().to_string()));
    }
    Ok(experiment)
}

/// The runs of some settings, by setting, in order of runs.
pub(crate) fn of_settings(
    experiment: &Experiment,
    view: &View,
    kind: Kind,
    quantity: &str,
    settings: &[usize],
) -> Result<BTreeMap<usize, Vec<Run>>, SummaryError> {
    let blocks = experiment.blocks();
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for stored in view.units(kind) {
        let block = blocks.get(stored.unit().block as usize);
        // A unit of fresh runs has settings of several blocks.
        if kind == Kind::Results && !settings.iter().any(|k| block.is_some_and(|block| block.contains(k))) {
            continue;
        }
        for run in RunsOfUnit::read(experiment, stored, quantity)? {
            if settings.contains(&run.setting) {
                runs.entry(run.setting).or_default().push(run);
            }
        }
    }
    runs.values_mut().for_each(|runs| runs.sort_unstable_by_key(|run| run.run));
    Ok(runs)
}

/// Iterates over the runs of a unit, one for each of its settings.
pub(crate) struct RunsOfUnit {
    setting: UInt32Array,
    at: UInt64Array,
    quantity: Float64Array,
    diverged: UInt64Array,
    run: u32,
    /// The first row of the next run.
    row: usize,
}

impl RunsOfUnit {
    pub(crate) fn read(
        experiment: &Experiment,
        stored: StoredUnit,
        quantity: &str,
    ) -> Result<Self, SummaryError> {
        let axis = match experiment.length.word() {
            "episodes" => "episode",
            _ => "step",
        };
        let batch = stored.read(&["setting", axis, quantity, "diverged_step"])?;
        let runs = || {
            let [setting, at, values, diverged] = batch.columns() else { return None };
            Some(Self {
                setting: setting.as_primitive_opt()?.clone(),
                at: at.as_primitive_opt()?.clone(),
                quantity: values.as_primitive_opt()?.clone(),
                diverged: diverged.as_primitive_opt()?.clone(),
                run: stored.unit().run,
                row: 0,
            })
        };
        Ok(runs().ok_or_else(|| stored.table().other_columns(&schema(experiment.measured())))?)
    }
}

impl Iterator for RunsOfUnit {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        let Self { setting: settings, at, quantity, diverged, .. } = &*self;
        let (settings, at) = (settings.values(), at.values());
        let setting = *settings.get(self.row)?;
        let length = settings[self.row..].iter().take_while(|other| **other == setting).count();
        let rows = self.row..self.row + length;
        let run = Run {
            setting: setting as usize,
            run: self.run,
            at: at[rows.clone()].to_vec(),
            values: rows.clone().map(|k| quantity.is_valid(k).then(|| quantity.value(k))).collect(),
            diverged: diverged.is_valid(rows.end - 1),
        };
        self.row = rows.end;
        Some(run)
    }
}
