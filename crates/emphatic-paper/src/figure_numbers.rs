//! The results of a figure's experiment: every number in its panels and tables.

use crate::claims::{CLAIMS, Evidence, MethodEvidence, StepSizeEvidence};
use crate::figures::{Bounds, Figure};
use crate::verdict::JudgedClaim;
use emphatic_lab::statistics::{mean, standard_error};
use emphatic_lab::store::{Kind, StoreError};
use emphatic_lab::{
    Cell, Experiment, MethodSummary, ReadError, Run, SettingSummary, SummaryOptions, read_runs, summarise_as,
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// A figure's numbers, as in `summary.json`.
#[derive(Clone, Debug, Serialize)]
pub struct FigureNumbers {
    /// Which figure.
    pub figure: &'static str,
    /// How it was run.
    pub settings: Map<String, Value>,
    /// The best attainable J_μ.
    pub optimum: f64,
    /// J_μ where the expected semi-gradient leads.
    pub semi_gradient: f64,
    /// J_μ of the policy that all methods start from.
    pub start: Option<f64>,
    /// The methods, each λ_a being one.
    pub methods: Vec<MethodNumbers>,
    /// The claims about it, judged.
    pub claims: Vec<JudgedClaim>,
    /// What is wrong with the results.
    pub warnings: Vec<String>,
}

/// One method's numbers.
#[derive(Clone, Debug, Serialize)]
pub struct MethodNumbers {
    /// Its name.
    pub method: String,
    /// λ_a, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda_a: Option<f64>,
    /// How well each step-size does, in ascending order.
    pub sensitivity: Vec<StepSize>,
    /// The best setting, along the runs.
    pub best: Best,
    /// The best setting on fresh runs.
    pub fresh: Option<Fresh>,
}

impl MethodNumbers {
    /// Its name in figures and claims: ACE(0.25).
    pub fn label(&self) -> String {
        match self.lambda_a {
            Some(lambda_a) => format!("{}({lambda_a})", self.method),
            None => self.method.clone(),
        }
    }
}

/// How well a step-size does, with the critic that is best for it.
#[derive(Clone, Debug, Serialize)]
pub struct StepSize {
    /// The actor's step-size.
    pub alpha: f64,
    /// The mean of J_μ at the end, over the runs that did not diverge.
    pub final_mean: Option<f64>,
    /// Its standard error.
    pub final_sem: Option<f64>,
    /// How many runs diverged.
    pub diverged: usize,
    /// The critic.
    pub critic: Map<String, Value>,
}

/// The best setting, along the runs it was chosen by.
#[derive(Clone, Debug, Serialize)]
pub struct Best {
    /// The actor's step-size.
    pub alpha: f64,
    /// The critic.
    pub critic: Map<String, Value>,
    /// The share of resamples of the runs in which it is the best; one run has nothing to resample.
    pub probability_best: Option<f64>,
    /// After how many episodes it was evaluated.
    pub episodes: Vec<u64>,
    /// The mean of J_μ there.
    pub objective_mean: Vec<Option<f64>>,
    /// Its standard error.
    pub objective_sem: Vec<Option<f64>>,
    /// The mean of the policy in the aliased states: the probability of A0, or the mean action.
    pub aliased_mean: Vec<Option<f64>>,
    /// Its standard error.
    pub aliased_sem: Vec<Option<f64>>,
}

/// The best setting on fresh runs.
#[derive(Clone, Debug, Serialize)]
pub struct Fresh {
    /// How many.
    pub runs: usize,
    /// The mean of J_μ at the end, over the runs that did not diverge.
    pub final_mean: Option<f64>,
    /// Its standard error.
    pub final_sem: Option<f64>,
    /// Quantiles of J_μ at the end, by percent.
    pub final_quantiles: Map<String, Value>,
    /// The mean of the policy in the aliased states at the end.
    pub aliased_mean: Option<f64>,
    /// Its standard error.
    pub aliased_sem: Option<f64>,
    /// How many diverged.
    pub diverged: usize,
}

/// The percentages of the quantiles of fresh runs in a summary of the lab.
const PERCENT: [&str; 7] = ["0", "5", "25", "50", "75", "95", "100"];

impl FigureNumbers {
    /// Reads a figure's finished experiment and judges its claims.
    pub fn read(figure: &Figure, bounds: Bounds, results: &Path) -> Result<Self, StoreError> {
        let results = Results::open(figure, results)?;
        let methods: Vec<MethodNumbers> = results.methods.iter().map(|m| results.numbers(m)).collect();
        let start = methods.first().and_then(|m| m.best.objective_mean.first().copied().flatten());
        let evidence = results.methods.iter().zip(&methods).map(|(m, n)| results.evidence(m, n.label()));
        let evidence = Evidence {
            start: start.unwrap_or(f64::NAN),
            optimum: bounds.optimum,
            semi_gradient: bounds.semi_gradient,
            methods: evidence.collect(),
        };
        let claims = CLAIMS.iter().filter(|claim| claim.figure == figure.id);
        Ok(Self {
            figure: figure.id,
            settings: results.settings(),
            optimum: bounds.optimum,
            semi_gradient: bounds.semi_gradient,
            start,
            claims: claims.map(|claim| claim.judged(&evidence, results.enough_runs)).collect(),
            methods,
            warnings: results.warnings,
        })
    }
}

/// The runs of settings, by setting.
type BySetting = BTreeMap<usize, Vec<Run>>;

/// The results of a figure's experiment.
struct Results {
    experiment: Experiment,
    /// Whether there are as many runs as in the paper.
    enough_runs: bool,
    methods: Vec<MethodSummary>,
    warnings: Vec<String>,
    /// J_μ along the runs of all settings that a panel or a claim needs.
    objective: BySetting,
    /// The policy in the aliased states along the runs of the best settings.
    aliased: BySetting,
    fresh_objective: BySetting,
    fresh_aliased: BySetting,
}

impl Results {
    fn open(figure: &Figure, dir: &Path) -> Result<Self, StoreError> {
        let mut options = SummaryOptions::default();
        options.intervals = false;
        let summary = summarise_as(dir, &options)?;
        let experiment = Experiment::open(&dir.join("experiment.toml"))?;
        let best: Vec<usize> = summary.methods.iter().map(|method| method.best).collect();
        let sizes = summary.methods.iter().flat_map(|method| by_step_size(&experiment, method));
        let shown: Vec<usize> = sizes.map(|best| best.setting).collect();
        let paper =
            Experiment::parse(figure.experiment, figure.id, Path::new("")).map_err(ReadError::from)?;
        let runs = summary.methods.iter().map(|method| method.runs).min().unwrap_or(0);
        Ok(Self {
            enough_runs: runs >= paper.runs as usize,
            objective: read_runs(dir, Kind::Results, "objective", &shown)?,
            aliased: read_runs(dir, Kind::Results, figure.aliased, &best)?,
            fresh_objective: read_runs(dir, Kind::Fresh, "objective", &best)?,
            fresh_aliased: read_runs(dir, Kind::Fresh, figure.aliased, &best)?,
            experiment,
            methods: summary.methods,
            warnings: summary.warnings,
        })
    }

    fn settings(&self) -> Map<String, Value> {
        let experiment = &self.experiment;
        let entries = [
            ("problem", cell(experiment, 0, "problem").map_or(Value::Null, |cell| value(&cell))),
            ("seed", json!(experiment.seed)),
            ("runs", json!(self.methods.iter().map(|m| m.runs).min().unwrap_or(0))),
            (experiment.length.word(), json!(experiment.length.count())),
            ("evaluations", json!(experiment.evaluations)),
            ("fresh_runs", json!(experiment.fresh_runs)),
            ("settings", json!(experiment.settings())),
        ];
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn numbers(&self, method: &MethodSummary) -> MethodNumbers {
        MethodNumbers {
            method: method.method.clone(),
            lambda_a: method.values.get("lambda_a").and_then(Value::as_f64),
            sensitivity: self.sensitivity(method),
            best: self.best(method),
            fresh: self.fresh(method),
        }
    }

    fn sensitivity(&self, method: &MethodSummary) -> Vec<StepSize> {
        let size = |BestOfStepSize { alpha, setting }| {
            let runs = runs_of(&self.objective, setting);
            let last: Vec<f64> = runs.iter().filter_map(Run::last).collect();
            StepSize {
                alpha,
                final_mean: mean(&last),
                final_sem: standard_error(&last),
                diverged: runs.iter().filter(|run| run.diverged).count(),
                critic: critic(&self.experiment, setting),
            }
        };
        by_step_size(&self.experiment, method).into_iter().map(size).collect()
    }

    fn best(&self, method: &MethodSummary) -> Best {
        let objective = runs_of(&self.objective, method.best);
        let (objective_mean, objective_sem) = curve(objective);
        let (aliased_mean, aliased_sem) = curve(runs_of(&self.aliased, method.best));
        Best {
            alpha: step_size(&self.experiment, method.best),
            critic: critic(&self.experiment, method.best),
            probability_best: (method.runs > 1).then_some(method.probability_best),
            episodes: objective.first().map_or_else(Vec::new, |run| run.at.clone()),
            objective_mean,
            objective_sem,
            aliased_mean,
            aliased_sem,
        }
    }

    fn fresh(&self, method: &MethodSummary) -> Option<Fresh> {
        let fresh = method.fresh.as_ref()?;
        let last = |runs: &BySetting| -> Vec<f64> {
            runs_of(runs, method.best).iter().filter_map(Run::last).collect()
        };
        let aliased = last(&self.fresh_aliased);
        let quantiles = PERCENT.iter().zip(&fresh.final_quantiles);
        Some(Fresh {
            runs: fresh.runs,
            final_mean: fresh.at_end.mean,
            final_sem: fresh.at_end.standard_error,
            final_quantiles: quantiles.map(|(percent, x)| ((*percent).to_owned(), json!(x))).collect(),
            aliased_mean: mean(&aliased),
            aliased_sem: standard_error(&aliased),
            diverged: fresh.at_end.diverged,
        })
    }

    fn evidence(&self, method: &MethodSummary, name: String) -> MethodEvidence {
        let last = |runs: &BySetting, setting| by_run(runs_of(runs, setting));
        let size = |BestOfStepSize { alpha, setting }| StepSizeEvidence {
            alpha,
            objective: last(&self.objective, setting),
        };
        MethodEvidence {
            name,
            objective: last(&self.fresh_objective, method.best),
            aliased: last(&self.fresh_aliased, method.best),
            by_step_size: by_step_size(&self.experiment, method).into_iter().map(size).collect(),
        }
    }
}

fn runs_of(runs: &BySetting, setting: usize) -> &[Run] {
    runs.get(&setting).map_or(&[], Vec::as_slice)
}

/// The last value of each run, at the index of its number: so that runs of the same experience stay pairs.
fn by_run(runs: &[Run]) -> Vec<Option<f64>> {
    let mut ends = vec![None; runs.iter().map(|run| run.run as usize + 1).max().unwrap_or(0)];
    runs.iter().for_each(|run| ends[run.run as usize] = run.last());
    ends
}

/// The mean and its standard error at every evaluation; `None` where a run has no value, since the mean of the others would be about
/// something else.
fn curve(runs: &[Run]) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
    let points = runs.first().map_or(0, |run| run.values.len());
    let values = |k: usize| -> Option<Vec<f64>> {
        runs.iter().map(|run| run.values.get(k).copied().flatten()).collect()
    };
    let point = |k| values(k).map_or((None, None), |values| (mean(&values), standard_error(&values)));
    (0..points).map(point).unzip()
}

/// The best setting of a method that has this step-size.
struct BestOfStepSize {
    alpha: f64,
    setting: usize,
}

/// The best setting of each step-size of a method, by ascending step-size.
fn by_step_size(experiment: &Experiment, method: &MethodSummary) -> Vec<BestOfStepSize> {
    let mut sizes: Vec<BestOfStepSize> = Vec::new();
    // Settings are listed best first.
    for &SettingSummary { setting, .. } in &method.settings {
        let alpha = step_size(experiment, setting);
        if !sizes.iter().any(|known| known.alpha == alpha) {
            sizes.push(BestOfStepSize { alpha, setting });
        }
    }
    sizes.sort_by(|a, b| a.alpha.total_cmp(&b.alpha));
    sizes
}

fn cell(experiment: &Experiment, setting: usize, name: &str) -> Option<Cell> {
    experiment.cells(setting).into_iter().find(|(known, _)| *known == name).map(|(_, cell)| cell)
}

fn step_size(experiment: &Experiment, setting: usize) -> f64 {
    match cell(experiment, setting, "alpha") {
        Some(Cell::Number(alpha)) => alpha,
        _ => f64::NAN,
    }
}

fn critic(experiment: &Experiment, setting: usize) -> Map<String, Value> {
    let mut critic = Map::new();
    for (column, cell) in experiment.cells(setting) {
        let name = match column {
            "critic" => "kind",
            "critic_features" => "features",
            "alpha_v" | "alpha_w" | "lambda" => column,
            _ => continue,
        };
        critic.insert(name.to_owned(), value(&cell));
    }
    critic
}

fn value(cell: &Cell) -> Value {
    match cell {
        Cell::Text(text) => json!(text),
        Cell::Number(x) => json!(x),
    }
}
