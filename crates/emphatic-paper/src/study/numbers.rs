//! The results of a problem of the study: every number in its panels and tables.

use super::{CRITICS, Critic, Interest, METHODS, Method, OBJECTIVES, Objective, StudyProblem};
use emphatic_lab::statistics::{mean, standard_error};
use emphatic_lab::store::{Kind, StoreError};
use emphatic_lab::{
    Experiment, MethodSummary, Run, SettingSummary, Summary, SummaryOptions, read_runs, summarise_as,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::path::Path;

/// A problem's numbers, as in `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub struct ProblemNumbers {
    /// Which problem.
    pub problem: &'static str,
    /// How it was run.
    pub settings: Map<String, Value>,
    /// How many runs settings were chosen by, in both steps.
    pub runs: usize,
    /// By either objective.
    pub objectives: Vec<ObjectiveNumbers>,
    /// What is wrong with the results.
    pub warnings: Vec<String>,
}

/// The numbers where settings are chosen and judged by one objective.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectiveNumbers {
    /// `return` or `excursions_return`.
    #[serde(serialize_with = "column")]
    pub objective: Objective,
    /// The methods with their critics.
    pub methods: Vec<MethodNumbers>,
}

/// The numbers of a method with one critic.
#[derive(Clone, Debug, Serialize)]
pub struct MethodNumbers {
    /// The method.
    #[serde(serialize_with = "text")]
    pub method: Method,
    /// Its critic.
    #[serde(serialize_with = "text")]
    pub critic: Critic,
    /// The setting that was chosen.
    pub best: Map<String, Value>,
    /// The share of resamples of the runs in which it is the best of its finalists; one run has nothing to resample.
    pub probability_best: Option<f64>,
    /// In how many of the grid's runs a weight left the finite numbers.
    pub diverged: usize,
    /// Of how many.
    pub grid_runs: usize,
    /// How well each step-size of the actor does, with what is best for it, in ascending order.
    pub sensitivity: Vec<StepSize>,
    /// The setting on fresh runs.
    pub fresh: Fresh,
}

/// How well a step-size of the actor does.
#[derive(Clone, Debug, Serialize)]
pub struct StepSize {
    /// The step-size.
    pub alpha: f64,
    /// The average return over a run, with the other settings that are best for it.
    pub mean: Option<f64>,
    /// Its standard error.
    pub error: Option<f64>,
}

/// A setting on fresh runs.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Fresh {
    /// How many.
    pub runs: usize,
    /// How many of them diverged.
    pub diverged: usize,
    /// The return, averaged over the checkpoints of a run; over runs that did not diverge.
    pub mean: Option<f64>,
    /// Its standard error.
    pub mean_error: Option<f64>,
    /// The return at the end.
    pub end: Option<f64>,
    /// Its standard error.
    pub end_error: Option<f64>,
    /// After how many steps checkpoints were made.
    pub at: Vec<u64>,
    /// The mean return at each; `None` where a run has diverged.
    pub curve: Vec<Option<f64>>,
    /// Its standard error.
    pub curve_error: Vec<Option<f64>>,
    /// The scores of each run, by its number.
    #[serde(skip)]
    pub scores: Vec<Option<RunScores>>,
}

/// How well one run went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunScores {
    /// The return of the policy that it starts from.
    pub start: f64,
    /// The average over its checkpoints.
    pub mean: f64,
    /// The average over the first quarter of them.
    pub early: f64,
    /// The return at the end.
    pub end: f64,
}

impl RunScores {
    /// `None` if the run has diverged.
    pub(super) fn of(run: &Run) -> Option<Self> {
        let values: Vec<f64> = run.values.iter().copied().collect::<Option<_>>()?;
        let quarter = values.len().div_ceil(4);
        Some(Self {
            start: *values.first()?,
            mean: mean(&values)?,
            early: mean(&values[..quarter])?,
            end: *values.last()?,
        })
    }
}

impl ProblemNumbers {
    /// Reads the finished experiment of a problem.
    pub fn read(problem: &StudyProblem, dir: &Path) -> Result<Self, StoreError> {
        let experiment = Experiment::open(&dir.join("experiment.toml"))?;
        let (mut objectives, mut warnings, mut runs) = (Vec::new(), Vec::new(), 0);
        for objective in OBJECTIVES {
            let mut options = SummaryOptions::default();
            (options.select_by, options.intervals) = (Some(objective.column().to_owned()), false);
            let summary = summarise_as(dir, &options)?;
            options.finalists = false;
            let alike = summarise_as(dir, &options)?;
            runs = summary.methods.iter().map(|method| method.runs).min().unwrap_or(0);
            objectives
                .push(ObjectiveNumbers { objective, methods: methods(&summary, &alike, objective, dir)? });
            // They are the same for both.
            warnings = summary.warnings;
        }
        Ok(Self { problem: problem.id, settings: settings(&experiment), runs, objectives, warnings })
    }

    /// Returns the numbers of a method; `None` if it was not run, or no run of any setting has a value.
    pub(super) fn method(
        &self,
        objective: Objective,
        critic: Critic,
        method: Method,
    ) -> Option<&MethodNumbers> {
        let of_objective = self.objectives.iter().find(|numbers| numbers.objective == objective)?;
        of_objective.methods.iter().find(|numbers| (numbers.critic, numbers.method) == (critic, method))
    }
}

/// Returns the methods in the order of tables. In the other summary all settings are compared by the same runs.
fn methods(
    summary: &Summary,
    alike: &Summary,
    objective: Objective,
    dir: &Path,
) -> Result<Vec<MethodNumbers>, StoreError> {
    let best: Vec<usize> = summary.methods.iter().map(|method| method.best).collect();
    let fresh = read_runs(dir, Kind::Fresh, objective.column(), &best)?;
    let mut methods = Vec::new();
    for critic in CRITICS {
        for method in METHODS {
            let is_it = |found: &&MethodSummary| identified(found) == Some((critic, method));
            let Some(found) = summary.methods.iter().find(is_it) else { continue };
            let runs = fresh.get(&found.best).map_or(&[][..], Vec::as_slice);
            methods.push(MethodNumbers {
                method,
                critic,
                best: found.best_values.clone(),
                probability_best: (found.runs > 1).then_some(found.probability_best),
                diverged: found.diverged.runs,
                grid_runs: found.diverged.of,
                sensitivity: alike
                    .methods
                    .iter()
                    .find(is_it)
                    .map_or_else(Vec::new, |m| sensitivity(&m.settings)),
                fresh: Fresh::of(runs),
            });
        }
    }
    Ok(methods)
}

/// Returns which method of the study a summary is of.
fn identified(summary: &MethodSummary) -> Option<(Critic, Method)> {
    let word = |key: &str| summary.values.get(key).and_then(Value::as_str);
    let interest = if word("method_interest") == Some("start") { Interest::Start } else { Interest::All };
    let method = match summary.method.as_str() {
        "OffPAC" => Method::OffPac,
        "trace" => Method::Trace(interest),
        "direct" => Method::Direct(interest),
        "ideal" => Method::Ideal(interest),
        _ => return None,
    };
    let critic = match word("critic")? {
        "tdrc" => Critic::Tdrc,
        "etd" => Critic::Etd,
        _ => return None,
    };
    Some((critic, method))
}

/// Returns the best setting of each step-size of the actor. Settings are listed best first.
fn sensitivity(settings: &[SettingSummary]) -> Vec<StepSize> {
    let mut sizes: Vec<StepSize> = Vec::new();
    for setting in settings {
        let Some(alpha) = setting.values.get("alpha").and_then(Value::as_f64) else { continue };
        if !sizes.iter().any(|known| known.alpha == alpha) {
            // With a diverged run, the mean of the others would be about something else.
            let area = Some(&setting.area).filter(|area| area.diverged == 0);
            let (mean, error) = (area.and_then(|area| area.mean), area.and_then(|area| area.standard_error));
            sizes.push(StepSize { alpha, mean, error });
        }
    }
    sizes.sort_by(|a, b| a.alpha.total_cmp(&b.alpha));
    sizes
}

impl Fresh {
    fn of(runs: &[Run]) -> Self {
        let mut scores = vec![None; runs.iter().map(|run| run.run as usize + 1).max().unwrap_or(0)];
        runs.iter().for_each(|run| scores[run.run as usize] = RunScores::of(run));
        let known =
            |score: fn(&RunScores) -> f64| -> Vec<f64> { scores.iter().flatten().map(score).collect() };
        let (means, ends) = (known(|scores| scores.mean), known(|scores| scores.end));
        let at = runs.first().map_or_else(Vec::new, |run| run.at.clone());
        let point = |k: usize| {
            let values: Option<Vec<f64>> =
                runs.iter().map(|run| run.values.get(k).copied().flatten()).collect();
            values.map_or((None, None), |values| (mean(&values), standard_error(&values)))
        };
        let (curve, curve_error) = (0..at.len()).map(point).unzip();
        Self {
            runs: runs.len(),
            diverged: runs.iter().filter(|run| run.diverged).count(),
            mean: mean(&means),
            mean_error: standard_error(&means),
            end: mean(&ends),
            end_error: standard_error(&ends),
            at,
            curve,
            curve_error,
            scores,
        }
    }
}

fn settings(experiment: &Experiment) -> Map<String, Value> {
    let entries = [
        ("seed", json!(experiment.seed)),
        ("runs", json!(experiment.runs)),
        (experiment.length.word(), json!(experiment.length.count())),
        ("evaluations", json!(experiment.evaluations)),
        ("settings", json!(experiment.settings())),
        ("finalists", json!(experiment.finalists)),
        ("finalist_runs", json!(experiment.finalist_runs)),
        ("fresh_runs", json!(experiment.fresh_runs)),
        ("fresh_evaluations", json!(experiment.fresh_evaluations)),
    ];
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn text<T: std::fmt::Display, S: serde::Serializer>(of: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(of)
}

fn column<S: serde::Serializer>(of: &Objective, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(of.column())
}
