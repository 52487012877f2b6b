//! Where the critic of a setting that evaluates a fixed target comes to rest in expectation, and whether it does.

use crate::experiment::Experiment;
use crate::measure::Weighting;
use crate::statistics::mean;
use emphatic::theory::{EmphasisKind, LearningRule, LinearCritic};
use emphatic::{Exact, Features, Fixed, KnownProblem, PartRecipe, Task};
use emphatic_diagnosis::linear_methods::linear_critic;
use serde::Serialize;

/// The most features for which this is computed: the time grows with the cube.
const MOST_FEATURES: usize = 100;

/// The fixed point of the expected update of a linear critic. If features are drawn anew for each run, each run has its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedPoint {
    /// The error of the values in it, as it is recorded of the critic: the mean over runs. `None` if a run has no fixed point.
    pub error: Option<f64>,
    /// In how many runs the expected update is stable, so that it leads there; `None` if that was not decided.
    pub stable: Option<usize>,
    /// How many runs there are; 1 if all have the same features.
    pub runs: usize,
}

/// Returns the fixed point of a setting's critic in these runs; `None` if it is not known, or something else than the error of values is
/// recorded.
pub(super) fn fixed_point(
    experiment: &Experiment,
    setting: usize,
    column: &str,
    runs: &[u32],
) -> Option<FixedPoint> {
    let weighting = Weighting::of_column(column)?;
    let structure = experiment.structure(setting);
    let scenario = &experiment.scenarios[structure.scenario];
    let (KnownProblem::Finite(task), Some(target)) = (&scenario.known, &scenario.evaluated) else {
        return None;
    };
    let learners_task = match &structure.interest {
        Some(interest) => Task::clone(task).with_interest(interest.clone()).ok()?,
        None => Task::clone(task),
    };
    let exact = Exact::new(&**task, target, &[]).ok()?;
    let learners_exact = Exact::new(&learners_task, target, &[]).ok()?;
    let weights = weighting.for_target(&exact).ok()?;
    let runs = if experiment.draws_features() { runs } else { &runs[..runs.len().min(1)] };
    let of_run = |run: &u32| {
        let critic = experiment.plan(setting, u64::from(*run)).recipe.critic;
        of_critic(&critic, &exact, &learners_exact, &weights)
    };
    let found: Vec<Rest> = runs.iter().map(of_run).collect::<Option<_>>()?;
    let errors: Option<Vec<f64>> = found.iter().map(|rest| rest.error).collect();
    let stable: Option<Vec<bool>> = found.iter().map(|rest| rest.stable).collect();
    Some(FixedPoint {
        error: errors.and_then(|errors| mean(&errors)),
        stable: stable.map(|stable| stable.into_iter().filter(|stable| *stable).count()),
        runs: found.len(),
    })
}

/// A fixed point for given features.
struct Rest {
    error: Option<f64>,
    stable: Option<bool>,
}

fn of_critic(
    critic: &PartRecipe,
    exact: &Exact<f64, Task, Fixed>,
    learners_exact: &Exact<f64, Task, Fixed>,
    weights: &[f64],
) -> Option<Rest> {
    let Some(Features::Table(table)) = &critic.features else { return None };
    if table.len() > MOST_FEATURES {
        return None;
    }
    let method = linear_critic(learners_exact, &critic.kind, &known_critic(critic)?, table).ok()?;
    let error = method.fixed_point.map(|point| exact.value_error(table, &point, weights));
    Some(Rest { error, stable: method.stable })
}

/// Returns the critic as the theory knows it; `None` if it does not.
fn known_critic(critic: &PartRecipe) -> Option<LinearCritic> {
    let number = |name: &str| critic.numbers.get(name).copied();
    let eta = || Some(number("alpha_w")? / number("alpha_v")?);
    let td = |rule| Some(LinearCritic::Td { lambda: number("lambda")?, rule });
    let emphatic = |rule| {
        let emphasis = known_emphasis(critic.inner.get("emphasis"))?;
        Some(LinearCritic::Emphatic { lambda: number("lambda")?, emphasis, rule })
    };
    match critic.kind.as_str() {
        "td" => td(LearningRule::SemiGradient),
        "gtd" => td(LearningRule::Gtd { eta: eta()? }),
        "gtd2" | "proximal-gtd2" => td(LearningRule::Gtd2 { eta: eta()? }),
        "tdrc" => td(LearningRule::Tdrc { eta: number("eta")?, beta: number("beta")? }),
        "lstd" => td(LearningRule::LeastSquares),
        "htd" => Some(LinearCritic::Hybrid { lambda: number("lambda")?, eta: eta()? }),
        "v-trace" => Some(LinearCritic::VTrace {
            lambda: number("lambda")?,
            rho_max: number("rho_max")?,
            c_max: number("c_max")?,
        }),
        "tree-backup" => Some(LinearCritic::TreeBackup { lambda: number("lambda")? }),
        "abtd" => Some(LinearCritic::abtd(number("zeta")?, [number("xi_0")?, number("xi_max")?])),
        "etd" | "true-online-etd" => emphatic(LearningRule::SemiGradient),
        "elstd" => emphatic(LearningRule::LeastSquares),
        _ => None,
    }
}

/// Returns the emphasis inside an emphatic critic as the theory knows it: left out, it is the follow-on trace.
fn known_emphasis(emphasis: Option<&PartRecipe>) -> Option<EmphasisKind> {
    let Some(emphasis) = emphasis else { return Some(EmphasisKind::FollowOn) };
    let number = |name: &str| emphasis.numbers.get(name).copied();
    let count = |name: &str| number(name).map(|n| n as usize);
    match emphasis.kind.as_str() {
        "none" => Some(EmphasisKind::None),
        "exact" => Some(EmphasisKind::Exact),
        "follow-on" | "ideal" => Some(EmphasisKind::FollowOn),
        "normalised" => Some(EmphasisKind::Normalised),
        "truncated" => Some(EmphasisKind::Truncated { n: count("n")? }),
        "periodic" => Some(EmphasisKind::Periodic { period: count("period")? }),
        "n-step" => Some(EmphasisKind::NStep { n: count("n")? }),
        "decayed" => Some(EmphasisKind::Decayed { beta: number("beta")? }),
        "clipped" => Some(EmphasisKind::Clipped { rho_max: number("rho_max")? }),
        _ => None,
    }
}
