//! Summaries of results: the best setting of each method, how good it is, and how certain it is that it is the best.

mod fixed_point;
mod print;
mod scores;

pub use fixed_point::FixedPoint;
pub(crate) use print::label;
pub(crate) use scores::{choices, chosen};

use crate::engine;
use crate::experiment::{Cell, Experiment, FIRST_FINALIST_RUN, Judged, first_stream};
use crate::experiment_file::Select;
use crate::measure::{Goal, effective_sample};
use crate::runs::{self, Run};
use crate::statistics::{Bootstrap, Interval, mean, quantile, rank, standard_error};
use crate::store::{Kind, StoreError, View, check_table};
use crate::unit::NO_EMPHASIS;
use emphatic::learner::uneven_emphasis;
use scores::{Comparison, Group, Score, Scores, groups, judged_by};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A summary of all methods.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Whether all runs are finished, fresh ones included.
    pub complete: bool,
    /// How many units are finished.
    pub units_done: usize,
    /// How many there are to be: of finalists and of fresh runs, once they are chosen.
    pub units: usize,
    /// `final` or `area`.
    pub select: &'static str,
    /// The recorded quantity that all numbers are of.
    pub quantity: String,
    /// `largest`, `smallest` or `neither`: which of its values are the best.
    pub best_is: &'static str,
    /// The recorded quantity by which the best settings are chosen: the objective, or an error.
    pub chosen_by: String,
    /// `episodes` or `steps`: what the points of curves count.
    pub axis: &'static str,
    /// How often runs are evaluated, and how often fresh ones, where that differs: averages over them are not quite of the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluations: Option<[u64; 2]>,
    /// In how many runs of settings a weight is not finite at the end.
    pub diverged_runs: u64,
    /// The methods.
    pub methods: Vec<MethodSummary>,
    /// The methods that have runs, but no best setting, since no run of any setting has a value.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub without_best: Vec<MethodWithoutBest>,
    /// What is wrong with the results.
    pub warnings: Vec<String>,
}

/// A summary of one method; of one value of its separate settings if it has any, and in one problem.
#[derive(Clone, Debug, Serialize)]
pub struct MethodSummary {
    /// The method's name.
    pub method: String,
    /// What distinguishes it from others of the same name.
    pub values: Map<String, Value>,
    /// How many runs all of its settings have, or its finalists.
    pub runs: usize,
    /// How many of its settings are finalists, among which the best is chosen; 0 if it is chosen among all.
    pub finalists: usize,
    /// How many runs of its settings diverged, over its whole grid.
    pub diverged: Diverged,
    /// Which runs all of its contenders have.
    #[serde(skip)]
    common_runs: Vec<u32>,
    /// The number of the best setting.
    pub best: usize,
    /// The best setting's values: those that its method sweeps.
    pub best_values: Map<String, Value>,
    /// The probability, by bootstrap over runs, that the chosen setting is the best.
    pub probability_best: f64,
    /// The settings, best first; if there are finalists, those before the others.
    pub settings: Vec<SettingSummary>,
    /// The best setting's learning curve.
    pub curve: Vec<Point>,
    /// The best setting on fresh runs.
    pub fresh: Option<FreshSummary>,
    /// If the best setting evaluates a fixed target by a linear critic: where that comes to rest in expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixed_point: Option<FixedPoint>,
}

/// A method of which no run of any setting has a value.
#[derive(Clone, Debug, Serialize)]
pub struct MethodWithoutBest {
    /// The method's name.
    pub method: String,
    /// What distinguishes it from others of the same name.
    pub values: Map<String, Value>,
    /// How many runs all of its settings have.
    pub runs: usize,
    /// How many runs of its settings diverged.
    pub diverged: Diverged,
    /// The settings.
    pub settings: Vec<SettingSummary>,
}

/// How many runs of settings diverged, over a whole grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Diverged {
    /// In how many a weight is not finite at the end.
    pub runs: usize,
    /// How many there are.
    pub of: usize,
}

/// A summary of some runs of one setting.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statistics {
    /// How many of the runs diverged: at the end a weight is not finite, or the quantity has no finite value. (A square overflows before weights do.)
    pub diverged: usize,
    /// Mean over the runs that have a value.
    pub mean: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// The interquartile mean.
    pub interquartile_mean: Option<f64>,
    /// Its 95 % bootstrap interval over runs.
    pub interval: Option<Interval>,
}

/// A summary of one setting.
#[derive(Clone, Debug, Serialize)]
pub struct SettingSummary {
    /// Its number.
    pub setting: usize,
    /// Its values: those that its method sweeps.
    pub values: Map<String, Value>,
    /// How many runs the numbers are of: finalists have more than others.
    pub runs: usize,
    /// The quantity at the end.
    #[serde(rename = "final")]
    pub at_end: Statistics,
    /// The average of the quantity.
    pub area: Statistics,
    /// The probability that it is the best of its method, of its finalists if there are any.
    pub probability_best: f64,
}

/// A point of a learning curve.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// After how many episodes or steps.
    pub at: u64,
    /// How many runs have a value there.
    pub runs: usize,
    /// The mean of the quantity.
    pub mean: Option<f64>,
    /// Its standard error.
    pub standard_error: Option<f64>,
    /// Its 95 % bootstrap interval over runs.
    pub interval: Option<Interval>,
}

/// A summary of fresh runs.
#[derive(Clone, Debug, Serialize)]
pub struct FreshSummary {
    /// How many.
    pub runs: usize,
    /// The quantity at the end.
    #[serde(rename = "final")]
    pub at_end: Statistics,
    /// Its quantiles over runs: 0, 5, 25, 50, 75, 95 and 100 %.
    pub final_quantiles: Vec<Option<f64>>,
    /// Its values, ascending; those of runs that have diverged are left out.
    pub final_values: Vec<f64>,
    /// The average of the quantity.
    pub area: Statistics,
    /// Its quantiles over runs, as those of the end.
    pub area_quantiles: Vec<Option<f64>>,
    /// Its values, ascending; those of runs that have diverged are left out.
    pub area_values: Vec<f64>,
    /// The learning curve.
    pub curve: Vec<Point>,
}

/// Enough steps to tell that an emphasis is uneven. (Runs may be counted in episodes.)
const ENOUGH_STEPS: u64 = 1_000_000;

/// The quantiles of fresh runs in a summary.
const QUANTILES: [f64; 7] = [0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0];

/// How results are to be summarised.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SummaryOptions {
    /// What makes a setting the best, if not as the experiment says.
    pub select: Option<Select>,
    /// The recorded quantity by which the best settings are chosen: one of those that the experiment chooses by. `None` is the first.
    pub select_by: Option<String>,
    /// The recorded quantity that all numbers are of; `None` is the one by which settings are chosen.
    pub quantity: Option<String>,
    /// Whether there are bootstrap intervals, which take seconds with thousands of runs.
    pub intervals: bool,
    /// Whether the runs of finalists count. Without them, all settings are compared by the same runs.
    pub finalists: bool,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        Self { select: None, select_by: None, quantity: None, intervals: true, finalists: true }
    }
}

/// Summarises a directory of results, finished or not.
pub fn summarise(dir: &Path, select: Option<Select>) -> Result<Summary, StoreError> {
    summarise_as(dir, &SummaryOptions { select, ..SummaryOptions::default() })
}

/// Like [`summarise`], with a choice of what settings are chosen by and what is shown.
pub fn summarise_as(dir: &Path, options: &SummaryOptions) -> Result<Summary, StoreError> {
    let (experiment, view) = runs::open(dir)?;
    Summariser::new(&experiment, &view, options)?.summary()
}

/// The runs of the best setting of each method, along which a quantity was recorded.
pub(crate) struct BestRuns {
    pub(crate) experiment: Experiment,
    /// Without intervals.
    pub(crate) summary: Summary,
    pub(crate) quantity: String,
    /// Those of each method of the summary: fresh ones if it has any, otherwise those that its setting was chosen by.
    pub(crate) runs: Vec<Vec<Run>>,
}

/// Reads the runs of the best settings along a quantity, by default the one that settings are judged by.
pub(crate) fn best_runs(dir: &Path, quantity: Option<&str>) -> Result<BestRuns, StoreError> {
    let (experiment, view) = runs::open(dir)?;
    let quantity = shown_quantity(&experiment, quantity, judged_by(&experiment, None)?)?;
    let options = SummaryOptions { intervals: false, ..SummaryOptions::default() };
    let summariser = Summariser::new(&experiment, &view, &options)?;
    let summary = summariser.summary()?;
    let chosen_by = summariser.runs_to_choose_by(&summary.methods, &quantity)?;
    let fresh = summariser.runs_of_best(&summary.methods, Kind::Fresh, &quantity)?;
    let shown = |(chosen_by, fresh): (_, Vec<Run>)| if fresh.is_empty() { chosen_by } else { fresh };
    let runs = chosen_by.into_iter().zip(fresh).map(shown).collect();
    Ok(BestRuns { experiment, summary, quantity, runs })
}

/// Returns the quantity that is asked for, which must have been recorded; by default the one that settings are judged by.
fn shown_quantity(
    experiment: &Experiment,
    asked: Option<&str>,
    judged_by: &Judged,
) -> Result<String, StoreError> {
    let quantity = asked.unwrap_or(&judged_by.column);
    runs::check_recorded(experiment, quantity)?;
    Ok(quantity.to_owned())
}

/// Results, and how they are to be summarised.
struct Summariser<'a> {
    experiment: &'a Experiment,
    view: &'a View,
    /// What the best setting is chosen by.
    select: Select,
    judged_by: &'a Judged,
    /// What all numbers are of.
    quantity: String,
    intervals: bool,
    /// Of what settings are judged by.
    scores: Scores,
    /// Of the quantity, if it is another one.
    other_scores: Option<Scores>,
    /// Of the quantity.
    fresh: Scores,
}

impl<'a> Summariser<'a> {
    fn new(experiment: &'a Experiment, view: &'a View, options: &SummaryOptions) -> Result<Self, StoreError> {
        let (select, intervals) = (options.select.unwrap_or(experiment.select), options.intervals);
        let judged_by = judged_by(experiment, options.select_by.as_deref())?;
        let quantity = shown_quantity(experiment, options.quantity.as_deref(), judged_by)?;
        let read = |quantity: &str| match options.finalists {
            true => Scores::to_choose_by(experiment, view, quantity),
            false => Scores::read(experiment, view, Kind::Results, quantity),
        };
        let scores = read(&judged_by.column)?;
        if scores.is_empty() {
            let (dir, warnings) = (view.dir().to_owned(), view.warnings().to_vec());
            return Err(view.missing(Kind::Results).unwrap_or(StoreError::NoRuns { dir, warnings }));
        }
        let other_scores = match quantity == judged_by.column {
            true => None,
            false => Some(read(&quantity)?),
        };
        let fresh = Scores::read(experiment, view, Kind::Fresh, &quantity)?;
        Ok(Self { experiment, view, select, judged_by, quantity, intervals, scores, other_scores, fresh })
    }

    /// The scores that are shown.
    fn shown(&self) -> &Scores {
        self.other_scores.as_ref().unwrap_or(&self.scores)
    }

    fn comparison(&self, settings: Vec<usize>) -> Comparison {
        self.scores.comparison(settings, self.select, self.judged_by.goal)
    }

    fn summary(&self) -> Result<Summary, StoreError> {
        let (experiment, view) = (self.experiment, self.view);
        let mut warnings = view.warnings().to_vec();
        // Nothing here depends on the table of settings, but whoever joins it with the results does.
        let settings = check_table(view.dir(), &view.dir().join("settings.parquet"));
        warnings.extend(settings.err().map(|error| error.to_string()));
        let (mut methods, mut without_best) = (Vec::new(), Vec::new());
        for group in groups(experiment) {
            let comparison = self.comparison(self.scores.contenders(&group));
            if comparison.runs.is_empty() {
                continue; // Its runs are still to come.
            }
            match comparison.best_one() {
                Some(best) => methods.push(self.method(&group, comparison, best)),
                None => {
                    let method = self.without_best(&group, &comparison);
                    warnings.push(format!(
                        "{} is missing: no run of any of its settings has {} (they diverged, it overflowed, or episodes never end)",
                        print::label(&method.method, &method.values),
                        print::indefinite(&self.judged_by.column)
                    ));
                    without_best.push(method);
                }
            }
        }
        self.add_curves(&mut methods)?;
        warnings.extend(self.uneven_emphases(&methods)?);
        if self.select != experiment.select && methods.iter().any(|method| method.finalists > 0) {
            let (chosen_by, asked) = (experiment.select.word(), self.select.word());
            warnings.push(format!(
                "the finalists were chosen by `{chosen_by}`, so that the best by `{asked}` may not be among them"
            ));
        }
        // Fresh runs of an earlier, larger number of them may be there too.
        let units = Kind::ALL.map(|kind| engine::units_of_kind(experiment, view, kind));
        let done = Kind::ALL.map(|kind| view.count(kind));
        let is_there = done.iter().zip(units).all(|(done, units)| *done >= units);
        Ok(Summary {
            complete: is_there && view.manifest()["finished"] == true,
            units_done: done.iter().sum(),
            units: units.iter().sum(),
            select: self.select.word(),
            quantity: self.quantity.clone(),
            best_is: match experiment.goal_of(&self.quantity) {
                Some(Goal::Largest) => "largest",
                Some(Goal::Smallest) => "smallest",
                None => "neither",
            },
            chosen_by: self.judged_by.column.clone(),
            axis: experiment.length.word(),
            evaluations: Some([experiment.evaluations, experiment.fresh_evaluations]).filter(|[a, b]| a != b),
            diverged_runs: view.diverged_runs(Kind::Results),
            methods,
            without_best,
            warnings,
        })
    }

    /// The summary of a group with its best setting, without curves.
    fn method(&self, group: &Group, comparison: Comparison, best: usize) -> MethodSummary {
        let experiment = self.experiment;
        let settings = SettingSummaries { of: self, swept: swept(experiment, group) };
        let others = self.comparison(self.scores.others(group));
        let probabilities = Bootstrap::default().best(&comparison.scores);
        let probability =
            |k: Option<usize>| k.and_then(|k| probabilities.get(k)).copied().unwrap_or_default();
        let summaries = |comparison: &Comparison, are_contenders: bool| -> Vec<SettingSummary> {
            let summary = |k: usize| {
                let setting = comparison.settings[k];
                // Intervals for a grid of thousands would take longer than anyone waits; the best one has them.
                let intervals = self.intervals && setting == best;
                let probability = probability(are_contenders.then_some(k));
                settings.summary(setting, &comparison.runs, probability, intervals)
            };
            rank(&comparison.scores).into_iter().map(summary).collect()
        };
        let all = [summaries(&comparison, true), summaries(&others, false)].concat();
        MethodSummary {
            method: experiment.methods[group.method].name.clone(),
            values: json_of(&group.values),
            runs: comparison.runs.len(),
            finalists: self.scores.finalists_of(group),
            diverged: self.diverged(group),
            best,
            best_values: settings.values(best),
            probability_best: probability(comparison.settings.iter().position(|setting| *setting == best)),
            settings: all,
            curve: Vec::new(),
            fresh: self.fresh(best),
            fixed_point: self.fixed_point(best, &comparison.runs),
            common_runs: comparison.runs,
        }
    }

    /// The summary of a group that has no best setting, since no run of any contender has a value.
    fn without_best(&self, group: &Group, comparison: &Comparison) -> MethodWithoutBest {
        let others = self.comparison(self.scores.others(group));
        let settings = SettingSummaries { of: self, swept: swept(self.experiment, group) };
        let summaries = |comparison: &Comparison| -> Vec<SettingSummary> {
            let summary = |setting: &usize| settings.summary(*setting, &comparison.runs, 0.0, false);
            comparison.settings.iter().map(summary).collect()
        };
        MethodWithoutBest {
            method: self.experiment.methods[group.method].name.clone(),
            values: json_of(&group.values),
            runs: comparison.runs.len(),
            diverged: self.diverged(group),
            settings: [summaries(comparison), summaries(&others)].concat(),
        }
    }

    /// How many runs of the settings of a group diverged, of those that all settings have.
    fn diverged(&self, group: &Group) -> Diverged {
        let is_of_all = |score: &&Score| score.run < FIRST_FINALIST_RUN;
        let scores = || group.settings.iter().flat_map(|setting| self.scores.of(*setting)).filter(is_of_all);
        Diverged { runs: scores().filter(|score| score.diverged).count(), of: scores().count() }
    }

    /// The fixed point of a setting in the runs that its mean is compared with: the fresh ones if there are any, otherwise those that it was
    /// chosen by. Features that are drawn for each run are others in fresh ones.
    fn fixed_point(&self, setting: usize, chosen_by: &[u32]) -> Option<FixedPoint> {
        let fresh = self.fresh.of(setting);
        let streams: Vec<u64> = match fresh.is_empty() {
            true => chosen_by.iter().map(|run| u64::from(*run)).collect(),
            false => fresh.iter().map(|score| first_stream(Kind::Fresh) + u64::from(score.run)).collect(),
        };
        fixed_point::fixed_point(self.experiment, setting, &self.quantity, &streams)
    }

    /// The summary of the fresh runs of a setting, without the curve. `None` if there are none.
    fn fresh(&self, setting: usize) -> Option<FreshSummary> {
        let scores = self.fresh.of(setting);
        if scores.is_empty() {
            return None;
        }
        let runs: Vec<u32> = scores.iter().map(|score| score.run).collect();
        let values = |by: Select| {
            let mut values: Vec<f64> = scores.iter().filter_map(|score| score.by(by)).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let quantiles = |values: &[f64]| QUANTILES.iter().map(|q| quantile(values, *q)).collect();
        let (final_values, area_values) = (values(Select::Final), values(Select::Area));
        Some(FreshSummary {
            runs: runs.len(),
            at_end: self.fresh.statistics(setting, &runs, Select::Final, self.intervals),
            final_quantiles: quantiles(&final_values),
            final_values,
            area: self.fresh.statistics(setting, &runs, Select::Area, self.intervals),
            area_quantiles: quantiles(&area_values),
            area_values,
            curve: Vec::new(),
        })
    }

    /// Adds the learning curves of the best settings.
    fn add_curves(&self, methods: &mut [MethodSummary]) -> Result<(), StoreError> {
        let results = self.runs_to_choose_by(methods, &self.quantity)?;
        let fresh_runs = self.runs_of_best(methods, Kind::Fresh, &self.quantity)?;
        for ((method, results), fresh_runs) in methods.iter_mut().zip(&results).zip(&fresh_runs) {
            method.curve = curve(results, self.intervals);
            if let Some(fresh) = &mut method.fresh {
                fresh.curve = curve(fresh_runs, self.intervals);
            }
        }
        Ok(())
    }

    /// What is to be said of methods whose emphasis is so uneven that a few steps count for all, if that was recorded: by the median over the runs of the best setting.
    fn uneven_emphases(&self, methods: &[MethodSummary]) -> Result<Vec<String>, StoreError> {
        if runs::check_recorded(self.experiment, effective_sample::NAME).is_err() {
            return Ok(Vec::new());
        }
        let runs = self.runs_to_choose_by(methods, effective_sample::NAME)?;
        let warning = |(method, runs): (&MethodSummary, Vec<Run>)| {
            if self.experiment.structure(method.best).recipe.emphasis.kind == NO_EMPHASIS {
                return None;
            }
            let mut shares: Vec<f64> = runs.iter().filter_map(Run::last).collect();
            shares.sort_by(f64::total_cmp);
            let words = uneven_emphasis(ENOUGH_STEPS, quantile(&shares, 0.5)?)?;
            Some(format!("{}: {words}", print::label(&method.method, &method.values)))
        };
        Ok(methods.iter().zip(runs).filter_map(warning).collect())
    }

    /// The runs by which the best setting of each method was chosen: those that all settings have, and those of finalists.
    fn runs_to_choose_by(
        &self,
        methods: &[MethodSummary],
        quantity: &str,
    ) -> Result<Vec<Vec<Run>>, StoreError> {
        let mut runs = self.runs_of_best(methods, Kind::Results, quantity)?;
        let finalists = self.runs_of_best(methods, Kind::Finalists, quantity)?;
        for ((of_method, finalists), method) in runs.iter_mut().zip(finalists).zip(methods) {
            let beside = |run: Run| Run { run: runs::number_beside_others(Kind::Finalists, run.run), ..run };
            of_method.extend(finalists.into_iter().map(beside));
            of_method.retain(|run| method.common_runs.binary_search(&run.run).is_ok());
        }
        Ok(runs)
    }

    /// The runs of a kind of the best setting of each method.
    fn runs_of_best(
        &self,
        methods: &[MethodSummary],
        kind: Kind,
        quantity: &str,
    ) -> Result<Vec<Vec<Run>>, StoreError> {
        let best: Vec<usize> = methods.iter().map(|method| method.best).collect();
        let mut by_setting = runs::of_settings(self.experiment, self.view, kind, quantity, &best)?;
        let of_method = |method: &MethodSummary| by_setting.remove(&method.best).unwrap_or_default();
        Ok(methods.iter().map(of_method).collect())
    }
}

/// What summaries of the settings of a group have in common.
struct SettingSummaries<'a> {
    of: &'a Summariser<'a>,
    /// The names of the values that are shown.
    swept: Vec<&'a str>,
}

impl SettingSummaries<'_> {
    fn values(&self, setting: usize) -> Map<String, Value> {
        let cells = self.of.experiment.cells(setting);
        json_of(&cells.into_iter().filter(|(name, _)| self.swept.contains(name)).collect::<Vec<_>>())
    }

    fn summary(
        &self,
        setting: usize,
        runs: &[u32],
        probability_best: f64,
        intervals: bool,
    ) -> SettingSummary {
        let statistics = |by| self.of.shown().statistics(setting, runs, by, intervals);
        SettingSummary {
            setting,
            values: self.values(setting),
            runs: runs.len(),
            at_end: statistics(Select::Final),
            area: statistics(Select::Area),
            probability_best,
        }
    }
}

fn json_of(cells: &[(&str, Cell)]) -> Map<String, Value> {
    cells.iter().map(|(name, cell)| ((*name).to_owned(), cell.json())).collect()
}

/// The names of the values in which settings of a group differ.
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

/// The learning curve of some runs.
pub(crate) fn curve(runs: &[Run], intervals: bool) -> Vec<Point> {
    // A mean over the steps of a run has no value before the first of them.
    let start = usize::from(runs.iter().all(|run| run.values.first().is_some_and(Option::is_none)));
    let whole: Option<Vec<Vec<f64>>> =
        runs.iter().map(|run| run.values[start..].iter().copied().collect()).collect();
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
            interval: k.checked_sub(start).and_then(|k| intervals.get(k).copied().flatten()),
        }
    };
    (0..points).map(point).collect()
}
