//! How far the critic's values are from what one step of bootstrapping makes of them, as far as its features can tell.

use super::critic_weights::of_lane;
use super::{Context, Goal, Kind, Measure, Measured, Recorder, require_known, single};
use crate::experiment::{MOST_BYTES, NUMBER, gigabytes};
use emphatic::catalogue::{Catalogue, Role, Signal};
use emphatic::theory::{ExpectedUpdate, LinearCritic};
use emphatic::{Composable, ComposeError, Exact, Features, Fixed, KnownProblem, Learner, Real, Recipe};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "projected_error",
    about: "√(gᵀ C⁻¹ g) with g = E[δ_t z_t] and C = E[x_t x_tᵀ]: the root of the mean squared projected Bellman error of off-policy TD(λ), states weighted by d_μ, with the critic's own λ (0 if it has none) and features",
    parse: |name, _| single(name, "projected_error", ProjectedError),
};

#[derive(Debug)]
struct ProjectedError;

impl Measure for ProjectedError {
    fn goal(&self) -> Option<Goal> {
        Some(Goal::Smallest)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_known()?;
        of.check_critic()?;
        of.check_target()?;
        let kind = &of.recipe.critic.kind;
        let entry = Catalogue::current().find(Role::Critic, kind);
        if !entry.is_some_and(|entry| entry.features && entry.signals.contains(&Signal::Delta)) {
            return Err(ValueError::new(format!("the critic `{kind}` is no linear critic of values")));
        }
        let bytes = NUMBER * self.held(of.recipe);
        if bytes <= MOST_BYTES {
            return Ok(());
        }
        let features = of.recipe.critic.features.as_ref().map_or(0, Features::len);
        let (bytes, most) = (gigabytes(bytes), gigabytes(MOST_BYTES));
        Err(ValueError::new(format!(
            "with {features} features it takes {bytes} of memory for each learner, which may have {most}"
        )))
    }

    /// Three matrices, and the features of all states.
    fn held(&self, recipe: &Recipe) -> f64 {
        let Some(Features::Table(table)) = &recipe.critic.features else { return 0.0 };
        let features = table.len() as f64;
        features * (3.0 * features + table.states() as f64)
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        let problem = require_known(context.problem, "projected error")?;
        let lane = |lane: usize| {
            let recipe = context.recipes.get(lane).unwrap_or(&context.recipes[0]);
            expected_update(recipe, problem, context.policy)
        };
        let updates = (0..R::LANES).map(lane).collect::<Result<_, ComposeError>>()?;
        Ok(Box::new(ErrorRecorder { updates }))
    }
}

/// Returns the expected update of TD(λ) with the λ and the features of a critic.
fn expected_update(
    recipe: &Recipe,
    problem: &KnownProblem,
    policy: &dyn std::any::Any,
) -> Result<ExpectedUpdate, ComposeError> {
    let critic = &recipe.critic;
    let (KnownProblem::Finite(task), Some(target), Some(Features::Table(table))) =
        (problem, policy.downcast_ref::<Fixed>(), &critic.features)
    else {
        let message = "the projected error is that of a fixed target and features of numbered states";
        return Err(ComposeError::Incompatible(message.to_owned()));
    };
    let lambda = critic.numbers.get("lambda").copied().unwrap_or(0.0);
    Ok(Exact::new(&**task, target, &[])?.critic_update(&LinearCritic::td(lambda), table)?)
}

struct ErrorRecorder {
    /// Of each lane.
    updates: Vec<ExpectedUpdate>,
}

impl<R: Real> Recorder<R> for ErrorRecorder {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        let error = |lane: usize| {
            let weights = of_lane(learner, lane);
            let update = &self.updates[lane];
            let fits = weights.len() == update.key_vector().len();
            fits.then(|| update.projected_bellman_error(&weights)).flatten().unwrap_or(f64::NAN)
        };
        vec![R::from_lanes(error)]
    }
}
