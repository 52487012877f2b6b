//! Where the critic of a setting that evaluates a fixed target comes to rest in expectation, and whether it does.

use crate::experiment::{Experiment, OwnInterest};
use crate::measure::Weighting;
use crate::statistics::mean;
use emphatic::theory::LinearCritic;
use emphatic::{Exact, Features, Fixed, KnownProblem, PartRecipe, Task};
use emphatic_diagnosis::linear_methods::linear_critic;
use serde::Serialize;

/// The most features for which this is computed: the time grows with the cube.
const MOST_FEATURES: usize = 100;

/// The fixed point of the expected update of a linear critic. If features are drawn anew for each run, each run has its own.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FixedPoint {
    /// The error of the values in it, as it is recorded of the critic: the mean over runs, the fresh ones if there are any. `None` if a run
    /// has no fixed point.
    pub error: Option<f64>,
    /// In how many runs the expected update is stable, so that it leads there; `None` if that was not decided.
    pub stable: Option<usize>,
    /// How many runs there are; 1 if all have the same features.
    pub runs: usize,
}

/// Returns the fixed point of a setting's critic in the runs with these streams; `None` if it is not known, or the column is something else
/// than the error of values.
pub(super) fn fixed_point(
    experiment: &Experiment,
    setting: usize,
    column: &str,
    streams: &[u64],
) -> Option<FixedPoint> {
    let weighting = Weighting::of_column(column)?;
    let structure = experiment.structure(setting);
    let scenario = &experiment.scenarios[structure.scenario];
    let (Some(KnownProblem::Finite(task)), Some(target)) = (scenario.known(), &scenario.evaluated) else {
        return None;
    };
    let learners_task = match &structure.interest {
        Some(OwnInterest::ByState(interest)) => Task::clone(task).with_interest(interest.clone()).ok()?,
        Some(OwnInterest::Simulated(_)) | None => Task::clone(task),
    };
    let exact = Exact::new(&**task, target, &[]).ok()?;
    let learners_exact = Exact::new(&learners_task, target, &[]).ok()?;
    let weights = weighting.for_target(&exact).ok()?;
    let streams = if experiment.draws_features() { streams } else { &streams[..streams.len().min(1)] };
    let of_run = |stream: &u64| {
        let critic = experiment.plan(setting, *stream).recipe.critic;
        of_critic(&critic, &exact, &learners_exact, &weights)
    };
    let found: Vec<Rest> = streams.iter().map(of_run).collect::<Option<_>>()?;
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
    let method =
        linear_critic(learners_exact, &critic.kind, &LinearCritic::of_part(critic, table)?, table).ok()?;
    let error = method.fixed_point.map(|point| exact.value_error(table, &point, weights));
    Some(Rest { error, stable: method.stable })
}
