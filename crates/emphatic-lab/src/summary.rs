//! What came out: the best setting of each method, how good it is, and how certain that it is the best.

mod print;

use crate::experiment::{Cell, Experiment, TooManyUnits};
use crate::experiment_file::Select;
use crate::runs::{self, Run, Runs};
use crate::statistics::{
    Bootstrap, Interval, area, choose, interquartile_mean, mean, quantile, standard_error,
};
use crate::store::{Kind, Store, StoreError, View};
use crate::table::TableError;
use emphatic_problems::ReadError;
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;
use thiserror::Error;

/// Results that cannot be summarised.
#[derive(Debug, Error, miette::Diagnostic)]
pub enum SummaryError {
    /// The directory refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A table refused.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The experiment file beside the results cannot be read.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Read(#[from] ReadError),
    /// The experiment file beside the results is not theirs.
    #[error(
        "{0}/experiment.toml is not the file that these results are of: put back the one they were run with"
    )]
    Changed(String),
    /// The manifest beside the results asks for more than can be.
    #[error(transparent)]
    TooManyUnits(#[from] TooManyUnits),
    /// There is nothing to compare by.
    #[error("the objective was not recorded, so there is nothing to choose the best settings by")]
    NoObjective,
    /// There is nothing to read.
    #[error("`{0}` was not recorded as a number")]
    NotRecorded(String),
    /// Nothing is there yet.
    #[error("{dir} has no finished runs yet{}", warnings.iter().map(|w| format!("; {w}")).collect::<String>())]
    Nothing {
        /// The directory.
        dir: String,
        /// What is damaged there.
        warnings: Vec<String>,
    },
}

/// A summary of all methods.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Whether all runs are there.
    pub complete: bool,
    /// How many units are there.
    pub units_done: usize,
    /// How many there will be.
    pub units: usize,
    /// `final` or `area`.
    pub select: &'static str,
    /// `episodes` or `steps`: what the points of curves count.
    pub axis: &'static str,
    /// How many runs of settings have diverged.
    pub diverged_runs: u64,
    /// The methods.
    pub methods: Vec<MethodSummary>,
    /// What is not as it should be.
    pub warnings: Vec<String>,
}

/// A summary of one method (or of one value of its separate settings, or in one of several problems).
#[derive(Clone, Debug, Serialize)]
pub struct MethodSummary {
    /// The method's name.
    pub method: String,
    /// What tells it from others of the same name.
    pub values: Map<String, Value>,
    /// How many runs of every setting are there.
    pub runs: usize,
    /// The number of the best setting.
    pub best: usize,
    /// The best setting's values: those that its method sweeps.
    pub best_values: Map<String, Value>,
    /// How probable it is, by the bootstrap over runs, that the chosen setting is the best.
    pub probability_best: f64,
    /// The settings, best first.
    pub settings: Vec<SettingSummary>,
    /// The best setting's learning curve.
    pub curve: Vec<Point>,
    /// The best setting on fresh runs.
    pub fresh: Option<FreshSummary>,
}

/// A summary of some runs of one setting.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// How many of the runs diverged.
    pub diverged: usize,
    /// Mean over the runs that have a value.
    pub mean: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The interquartile mean.
    pub interquartile_mean: Option<f64>,
    /// Its 95 % interval, by the bootstrap over runs.
    pub interval: Option<Interval>,
}

/// A summary of one setting.
#[derive(Clone, Debug, Serialize)]
pub struct SettingSummary {
    /// Its number.
    pub setting: usize,
    /// What it has.
    pub values: Map<String, Value>,
    /// The objective at the end.
    pub final_objective: Statistics,
    /// The average objective.
    pub area: Statistics,
    /// How probable it is that it is the best of its method.
    pub probability_best: f64,
}

/// A point of a learning curve.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// After how many episodes or steps.
    pub at: u64,
    /// How many runs have a value there.
    pub runs: usize,
    /// The mean of the objective.
    pub mean: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its 95 % interval, by the bootstrap over runs.
    pub interval: Option<Interval>,
}

/// A summary of fresh runs.
#[derive(Clone, Debug, Serialize)]
pub struct FreshSummary {
    /// How many there are.
    pub runs: usize,
    /// The objective at the end.
    pub final_objective: Statistics,
    /// Its quantiles over runs: 0, 5, 25, 50, 75, 95 and 100 %.
    pub final_quantiles: Vec<Option<f64>>,
    /// The average objective.
    pub area: Statistics,
    /// The learning curve.
    pub curve: Vec<Point>,
}

/// The quantiles that are shown of fresh runs.
const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// Summarises a directory of results, also while they come in.
pub fn summarise(dir: &Path, by: Option<Select>) -> Result<Summary, SummaryError> {
    let (experiment, view) = runs::open(dir)?;
    summary(&experiment, &view, by, true)
}

/// The same without intervals by the bootstrap, which take seconds with thousands of runs.
pub fn summarise_without_intervals(dir: &Path) -> Result<Summary, SummaryError> {
    let (experiment, view) = runs::open(dir)?;
    summary(&experiment, &view, None, false)
}

/// The best setting of each method.
pub(crate) fn chosen(experiment: &Experiment, view: &View) -> Result<Vec<usize>, SummaryError> {
    let scores = Scores::read(experiment, view, Kind::Results)?;
    let by = experiment.select;
    let best = |group: &Group| {
        let (_, matrix) = scores.matrix(group, by);
        choose(&matrix).map(|k| group.settings[k])
    };
    Ok(groups(experiment).iter().filter_map(best).collect())
}

/// Settings among which the best is chosen.
struct Group<'a> {
    method: usize,
    values: Vec<(&'a str, Cell)>,
    settings: Vec<usize>,
}

/// Settings of the same method, in the same problem, with the same separate values.
fn groups(experiment: &Experiment) -> Vec<Group<'_>> {
    let mut groups: Vec<Group> = Vec::new();
    let mut by_key: HashMap<String, usize> = HashMap::new();
    let several_problems = experiment.scenarios.len() > 1;
    for setting in 0..experiment.settings() {
        let method = experiment.method_of(setting);
        let separate = &experiment.methods[method].separate;
        let scenario = &experiment.scenarios[experiment.structure(setting).scenario];
        let of_problem =
            |name: &str| several_problems && scenario.columns.iter().any(|(known, _)| *known == name);
        let tells = |name: &&str| of_problem(name) || separate.iter().any(|key| key == name);
        let values: Vec<_> = experiment.cells(setting).into_iter().filter(|(name, _)| tells(name)).collect();
        let key = format!("{method} {values:?}");
        let number = *by_key.entry(key).or_insert_with(|| {
            groups.push(Group { method, values, settings: Vec::new() });
            groups.len() - 1
        });
        groups[number].settings.push(setting);
    }
    groups
}

/// What is known of one run of one setting.
#[derive(Clone, Copy)]
struct Score {
    last: Option<f64>,
    area: Option<f64>,
    diverged: bool,
}

/// What is known of all runs: for each setting, a score for each run that is there.
struct Scores {
    by_setting: HashMap<usize, Vec<(u32, Score)>>,
}

impl Scores {
    fn read(experiment: &Experiment, view: &View, kind: Kind) -> Result<Self, SummaryError> {
        if !experiment.record.iter().any(|name| name == "objective") {
            return Err(SummaryError::NoObjective);
        }
        let mut by_setting: HashMap<usize, Vec<(u32, Score)>> = HashMap::new();
        for (unit, table, group) in view.tables(kind) {
            for run in Runs::read(experiment, unit.run, table, group, "objective")? {
                by_setting.entry(run.setting).or_default().push((unit.run, Score::of(&run)));
            }
        }
        by_setting.values_mut().for_each(|runs| runs.sort_unstable_by_key(|(run, _)| *run));
        Ok(Self { by_setting })
    }

    fn of(&self, setting: usize) -> &[(u32, Score)] {
        self.by_setting.get(&setting).map_or(&[], Vec::as_slice)
    }

    /// The runs that all settings of a group have, and the settings' scores in them.
    fn matrix(&self, group: &Group, by: Select) -> (Vec<u32>, Vec<Vec<Option<f64>>>) {
        let mut counts: HashMap<u32, usize> = HashMap::new();
        for &setting in &group.settings {
            self.of(setting).iter().for_each(|(run, _)| *counts.entry(*run).or_default() += 1);
        }
        let mut runs: Vec<u32> =
            counts.into_iter().filter(|(_, n)| *n == group.settings.len()).map(|(run, _)| run).collect();
        runs.sort_unstable();
        let row = |setting: &usize| {
            let scores = self.of(*setting).iter().filter(|(run, _)| runs.binary_search(run).is_ok());
            scores.map(|(_, score)| score.by(by)).collect()
        };
        let matrix = group.settings.iter().map(row).collect();
        (runs, matrix)
    }

    /// Statistics of a setting over some runs.
    fn statistics(&self, setting: usize, runs: &[u32], by: Select, interval: bool) -> Statistics {
        let scores = self.of(setting).iter().filter(|(run, _)| runs.binary_search(run).is_ok());
        let scores: Vec<Score> = scores.map(|(_, score)| *score).collect();
        let values: Vec<f64> = scores.iter().filter_map(|score| score.by(by)).collect();
        let bootstrap = || Bootstrap::default().interval(&[&values], interquartile_mean);
        Statistics {
            diverged: scores.iter().filter(|score| score.diverged).count(),
            mean: mean(&values),
            standard_error: standard_error(&values),
            interquartile_mean: interquartile_mean(&values),
            interval: if interval { bootstrap() } else { None },
        }
    }
}

impl Score {
    fn of(run: &Run) -> Self {
        let points: Vec<f64> = run.at.iter().map(|at| *at as f64).collect();
        let values: Option<Vec<f64>> = run.values.iter().copied().collect();
        Self {
            last: run.last(),
            area: values.and_then(|values| area(&points, &values)),
            diverged: run.diverged,
        }
    }

    /// A run that has diverged has no value.
    fn by(&self, by: Select) -> Option<f64> {
        match by {
            Select::Final => self.last,
            Select::Area => self.area,
        }
    }
}

fn summary(
    experiment: &Experiment,
    view: &View,
    by: Option<Select>,
    intervals: bool,
) -> Result<Summary, SummaryError> {
    let by = by.unwrap_or(experiment.select);
    let scores = Scores::read(experiment, view, Kind::Results)?;
    if scores.by_setting.is_empty() {
        let (dir, warnings) = (view.dir().display().to_string(), view.warnings().to_vec());
        return Err(SummaryError::Nothing { dir, warnings });
    }
    let fresh = Scores::read(experiment, view, Kind::Fresh)?;
    let mut methods = Vec::new();
    let mut warnings = view.warnings().to_vec();
    // Nothing here depends on the table of settings, but whoever joins it with the results does.
    let settings = Store::check_table(view.dir(), &view.dir().join("settings.parquet"));
    warnings.extend(settings.err().map(|error| error.to_string()));
    for group in groups(experiment) {
        match method(experiment, &group, by, &scores, &fresh, intervals) {
            Some(summary) => methods.push(summary),
            None if scores.matrix(&group, by).0.is_empty() => {} // Still to come.
            None => warnings.push(format!(
                "{} is missing: no run of any of its settings has an objective (they diverged, or episodes never end)",
                print::label(&experiment.methods[group.method].name, &json_of(&group.values))
            )),
        }
    }
    let best: Vec<usize> = methods.iter().map(|m| m.best).collect();
    let mut curves = runs::of_settings(experiment, view, Kind::Results, "objective", &best)?;
    let mut fresh_curves = runs::of_settings(experiment, view, Kind::Fresh, "objective", &best)?;
    for method in &mut methods {
        method.curve = curve(curves.remove(&method.best), intervals);
        if let Some(fresh) = &mut method.fresh {
            fresh.curve = curve(fresh_curves.remove(&method.best), intervals);
        }
    }
    let units_done = view.count(Kind::Results);
    Ok(Summary {
        complete: units_done == experiment.units(),
        units_done,
        units: experiment.units(),
        select: by.word(),
        axis: experiment.length.word(),
        diverged_runs: view.units(Kind::Results).map(|(_, diverged)| u64::from(diverged)).sum(),
        methods,
        warnings,
    })
}

fn json_of(cells: &[(&str, Cell)]) -> Map<String, Value> {
    cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.json())).collect()
}

/// The values in which settings of a group differ.
fn swept<'a>(experiment: &'a Experiment, group: &Group) -> Vec<&'a str> {
    let first = experiment.cells(group.settings[0]);
    let mut names: Vec<&str> = Vec::new();
    for &setting in &group.settings {
        let cells = experiment.cells(setting);
        let left_out =
            first.iter().map(|(name, _)| *name).filter(|name| !cells.iter().any(|(n, _)| n == name));
        for name in left_out {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        for (name, cell) in cells {
            if !names.contains(&name) && !first.iter().any(|(other, same)| *other == name && *same == cell) {
                names.push(name);
            }
        }
    }
    names
}

/// Nothing if no run is there of all its settings, or none has a value.
fn method(
    experiment: &Experiment,
    group: &Group,
    by: Select,
    scores: &Scores,
    fresh: &Scores,
    intervals: bool,
) -> Option<MethodSummary> {
    let (runs, matrix) = scores.matrix(group, by);
    let best = choose(&matrix)?;
    let probabilities = Bootstrap::default().best(&matrix);
    let names = swept(experiment, group);
    let values = |setting: usize| {
        let cells = experiment.cells(setting);
        json_of(&cells.into_iter().filter(|(name, _)| names.contains(name)).collect::<Vec<_>>())
    };
    // Intervals for a grid of thousands would take longer than anyone waits; the best one has them.
    let of = |k: usize| SettingSummary {
        setting: group.settings[k],
        values: values(group.settings[k]),
        final_objective: scores.statistics(group.settings[k], &runs, Select::Final, intervals && k == best),
        area: scores.statistics(group.settings[k], &runs, Select::Area, intervals && k == best),
        probability_best: probabilities[k],
    };
    let settings = ranked(&matrix).into_iter().map(of).collect();
    let setting = group.settings[best];
    let fresh_runs: Vec<u32> = fresh.of(setting).iter().map(|(run, _)| *run).collect();
    Some(MethodSummary {
        method: experiment.methods[group.method].name.clone(),
        values: json_of(&group.values),
        runs: runs.len(),
        best: setting,
        best_values: values(setting),
        probability_best: probabilities[best],
        settings,
        curve: Vec::new(),
        fresh: (!fresh_runs.is_empty()).then(|| fresh_summary(fresh, setting, &fresh_runs, intervals)),
    })
}

/// The settings as [`choose`] ranks them, best first: fewest runs without a value, then the largest mean.
fn ranked(matrix: &[Vec<Option<f64>>]) -> Vec<usize> {
    let standing = |row: &Vec<Option<f64>>| {
        let values: Vec<f64> = row.iter().flatten().copied().collect();
        (values.len(), mean(&values).unwrap_or(f64::NEG_INFINITY))
    };
    let standings: Vec<(usize, f64)> = matrix.iter().map(standing).collect();
    let mut order: Vec<usize> = (0..matrix.len()).collect();
    order.sort_by(|&a, &b| {
        let ((count_a, mean_a), (count_b, mean_b)) = (standings[a], standings[b]);
        count_b.cmp(&count_a).then(mean_b.total_cmp(&mean_a))
    });
    order
}

fn fresh_summary(fresh: &Scores, setting: usize, runs: &[u32], intervals: bool) -> FreshSummary {
    let mut values: Vec<f64> = fresh.of(setting).iter().filter_map(|(_, score)| score.last).collect();
    values.sort_by(f64::total_cmp);
    FreshSummary {
        runs: runs.len(),
        final_objective: fresh.statistics(setting, runs, Select::Final, intervals),
        final_quantiles: QUANTILES.iter().map(|q| quantile(&values, *q)).collect(),
        area: fresh.statistics(setting, runs, Select::Area, intervals),
        curve: Vec::new(),
    }
}

fn curve(runs: Option<Vec<Run>>, intervals: bool) -> Vec<Point> {
    let runs = runs.unwrap_or_default();
    let whole: Option<Vec<Vec<f64>>> = runs.iter().map(|run| run.values.iter().copied().collect()).collect();
    // Where some runs have diverged, an interval over the others would be about something else.
    let whole = whole.filter(|_| intervals);
    let intervals = whole.map_or_else(Vec::new, |whole| Bootstrap::default().curve(&whole));
    let points = runs.first().map_or(0, |run| run.at.len());
    let point = |k: usize| {
        let values: Vec<f64> = runs.iter().filter_map(|run| run.values.get(k).copied().flatten()).collect();
        Point {
            at: runs[0].at[k],
            runs: values.len(),
            mean: mean(&values),
            standard_error: standard_error(&values),
            interval: intervals.get(k).copied().flatten(),
        }
    };
    (0..points).map(point).collect()
}
