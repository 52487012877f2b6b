//! Runs, as they are in the tables.

use crate::experiment::Experiment;
use crate::rows::schema;
use crate::store::{Kind, Store, View};
use crate::summary::SummaryError;
use crate::table::Table;
use arrow_array::cast::AsArray;
use arrow_array::{Array, Float64Array, UInt32Array, UInt64Array};
use std::collections::BTreeMap;
use std::path::Path;

/// One run of one setting, and a recorded quantity along it.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Which setting.
    pub setting: usize,
    /// Which run: those of the same number had the same experience.
    pub run: u32,
    /// After how many episodes or steps it was evaluated.
    pub at: Vec<u64>,
    /// The quantity there; nothing once the run has diverged.
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

/// The experiment whose results are in a directory, and what is there of them.
pub(crate) fn open(dir: &Path) -> Result<(Experiment, View), SummaryError> {
    let view = Store::read_only(dir)?;
    let experiment = Experiment::open(&dir.join("experiment.toml"))?;
    if experiment.identity() != view.manifest()["identity"] {
        return Err(SummaryError::Changed(dir.display().to_string()));
    }
    let runs = view.manifest()["runs"].as_u64().and_then(|runs| u32::try_from(runs).ok());
    // There are no fewer than the tables have, whatever the manifest says.
    let there = view.units(Kind::Results).map(|(unit, _)| unit.run.saturating_add(1)).max();
    let experiment = experiment.with_runs(runs.max(there).unwrap_or(1))?;
    Ok((experiment, view))
}

pub(crate) fn of_settings(
    experiment: &Experiment,
    view: &View,
    kind: Kind,
    quantity: &str,
    settings: &[usize],
) -> Result<BTreeMap<usize, Vec<Run>>, SummaryError> {
    let blocks = experiment.blocks();
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for (unit, table, group) in view.tables(kind) {
        let has = |k: &usize| blocks.get(unit.block as usize).is_some_and(|block| block.contains(k));
        // A unit of fresh runs has settings of several blocks.
        if kind == Kind::Results && !settings.iter().any(has) {
            continue;
        }
        for run in Runs::read(experiment, unit.run, table, group, quantity)? {
            if settings.contains(&run.setting) {
                runs.entry(run.setting).or_default().push(run);
            }
        }
    }
    runs.values_mut().for_each(|runs| runs.sort_unstable_by_key(|run| run.run));
    Ok(runs)
}

/// The runs in a row group, one after the other.
pub(crate) struct Runs {
    setting: UInt32Array,
    at: UInt64Array,
    quantity: Float64Array,
    diverged: UInt64Array,
    run: u32,
    row: usize,
}

impl Runs {
    pub(crate) fn read(
        experiment: &Experiment,
        run: u32,
        table: &Table,
        group: usize,
        quantity: &str,
    ) -> Result<Self, SummaryError> {
        let axis = match experiment.length.word() {
            "episodes" => "episode",
            _ => "step",
        };
        let names = ["setting", axis, quantity, "diverged_step"];
        let batch = table.read(group, &names)?;
        let runs = || {
            let [setting, at, values, diverged] = batch.columns() else { return None };
            Some(Self {
                setting: setting.as_primitive_opt()?.clone(),
                at: at.as_primitive_opt()?.clone(),
                quantity: values.as_primitive_opt()?.clone(),
                diverged: diverged.as_primitive_opt()?.clone(),
                run,
                row: 0,
            })
        };
        Ok(runs().ok_or_else(|| table.other_columns(&schema(experiment.measured())))?)
    }
}

impl Iterator for Runs {
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
