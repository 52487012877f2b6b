//! Runs, read from the tables: a recorded quantity along each, and whether it diverged.

use crate::experiment::{Experiment, FIRST_FINALIST_RUN, Length};
use crate::source::Described;
use crate::store::{Kind, StoreError, View};
use crate::table::StoredUnit;
use crate::unit::columns_of;
use arrow_array::cast::AsArray;
use arrow_array::{Array, Float64Array, UInt32Array, UInt64Array};
use emphatic_problems::suggest;
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
) -> Result<BTreeMap<usize, Vec<Run>>, StoreError> {
    let (experiment, view) = open(dir)?;
    check_recorded(&experiment, quantity)?;
    of_settings(&experiment, &view, kind, quantity, settings)
}

/// Returns the number of a run where runs of finalists stand beside those of all settings: that of its stream.
pub(crate) fn number_beside_others(kind: Kind, run: u32) -> u32 {
    if kind == Kind::Finalists { FIRST_FINALIST_RUN + run } else { run }
}

/// Returns an error if a quantity was not recorded. Lists are no quantities.
pub(crate) fn check_recorded(experiment: &Experiment, quantity: &str) -> Result<(), StoreError> {
    let recorded = || experiment.measured().filter(|(_, is_list)| !is_list).map(|(name, _)| name);
    match recorded().any(|name| name == quantity) {
        true => Ok(()),
        false => {
            let help = suggest(quantity, recorded());
            Err(StoreError::NotRecorded { quantity: quantity.to_owned(), help })
        }
    }
}

/// Opens a results directory. Returns the experiment, with as many runs as the directory is to have, and the results.
pub(crate) fn open(dir: &Path) -> Result<(Experiment, View), StoreError> {
    let view = View::open(dir)?;
    let experiment = experiment_of(&view)?;
    let runs = view.manifest()["runs"].as_u64().and_then(|runs| u32::try_from(runs).ok());
    // Never fewer than the tables have, whatever the manifest says.
    let finished = u32::try_from(view.runs(Kind::Results)).unwrap_or(u32::MAX);
    let experiment = experiment.with_runs(runs.unwrap_or(1).max(finished))?;
    Ok((experiment, view))
}

/// Reads the experiment file beside some results, which must be the one that they were run with.
pub(crate) fn experiment_of(view: &View) -> Result<Experiment, StoreError> {
    let find_external = |name: &str| Described::find(view.dir(), name);
    let experiment = Experiment::open_with(&view.dir().join("experiment.toml"), Some(&find_external))?;
    if experiment.identity() != view.manifest()["identity"] {
        return Err(StoreError::Changed { dir: view.dir().to_owned() });
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
) -> Result<BTreeMap<usize, Vec<Run>>, StoreError> {
    let blocks = &experiment.blocks;
    let mut runs: BTreeMap<usize, Vec<Run>> = BTreeMap::new();
    for stored in view.units(kind) {
        let block = blocks.get(stored.unit().block as usize);
        // A unit of finalists or of fresh runs has settings of several blocks.
        if kind == Kind::Results && !settings.iter().any(|k| block.is_some_and(|block| block.contains(k))) {
            continue;
        }
        for run in of_unit(experiment, stored, quantity)? {
            if settings.contains(&run.setting) {
                runs.entry(run.setting).or_default().push(run);
            }
        }
    }
    runs.values_mut().for_each(|runs| runs.sort_unstable_by_key(|run| run.run));
    Ok(runs)
}

/// Iterates over the runs of a unit, one for each of its settings.
pub(crate) fn of_unit(
    experiment: &Experiment,
    stored: StoredUnit,
    quantity: &str,
) -> Result<impl Iterator<Item = Run> + use<>, StoreError> {
    let axis = match experiment.length {
        Length::Episodes(_) => "episode",
        Length::Steps(_) => "step",
    };
    let batch = stored.read(&["setting", axis, quantity, "diverged_step"])?;
    let wrong = || stored.table().other_columns(&columns_of(experiment));
    let settings: UInt32Array = batch.column(0).as_primitive_opt().ok_or_else(wrong)?.clone();
    let at: UInt64Array = batch.column(1).as_primitive_opt().ok_or_else(wrong)?.clone();
    let values: Float64Array = batch.column(2).as_primitive_opt().ok_or_else(wrong)?.clone();
    let diverged: UInt64Array = batch.column(3).as_primitive_opt().ok_or_else(wrong)?.clone();
    let (run, mut row) = (stored.unit().run, 0);
    Ok(std::iter::from_fn(move || {
        let setting = *settings.values().get(row)?;
        let length = settings.values()[row..].iter().take_while(|other| **other == setting).count();
        let rows = row..row + length;
        row = rows.end;
        Some(Run {
            setting: setting as usize,
            run,
            at: at.values()[rows.clone()].to_vec(),
            values: rows.clone().map(|k| values.is_valid(k).then(|| values.value(k))).collect(),
            diverged: diverged.is_valid(rows.end - 1),
        })
    }))
}
