//! The weights of the critic.

use super::{Context, Kind, Measure, Measured, Recorder, single};
use emphatic::{Composable, ComposeError, Features, Learner, Real, Recipe};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "critic.weights",
    about: "the weights of v̂, or of q̂ if the critic has values of actions alone",
    parse: |name, _| single(name, "critic.weights", CriticWeights),
};

/// The names of such weights in the critics of the catalogue, and in the critic of values inside another.
const NAMES: [&str; 3] = ["critic.v", "critic.q", "critic.values.v"];

#[derive(Debug)]
struct CriticWeights;

/// Returns the weights of v̂ in a lane, or of q̂; empty if there are none.
pub(super) fn of_lane<R: Real>(learner: &mut dyn Learner<R>, lane: usize) -> Vec<f64> {
    let estimates = learner.estimates_in(lane).unwrap_or_default();
    let named = |name: &&str| estimates.iter().find(|(known, _)| known == name);
    NAMES.iter().find_map(named).map(|(_, weights)| weights.clone()).unwrap_or_default()
}

impl Measure for CriticWeights {
    fn is_list(&self) -> bool {
        true
    }

    fn numbers(&self, recipe: &Recipe, _weights: usize) -> usize {
        let features = recipe.critic.features.as_ref().map_or(0, Features::len);
        features.saturating_mul(recipe.actions.unwrap_or(1))
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_critic()?;
        if of.recipe.critic.features.is_some() {
            return Ok(());
        }
        Err(ValueError::new(format!("the critic `{}` has no weights", of.recipe.critic.kind)))
    }

    fn recorder<R: Composable>(&self, _: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(CriticWeights))
    }
}

impl<R: Real> Recorder<R> for CriticWeights {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        let lanes: Vec<Vec<f64>> = (0..R::LANES).map(|lane| of_lane(learner, lane)).collect();
        (0..lanes[0].len()).map(|k| R::from_lanes(|lane| lanes[lane][k])).collect()
    }
}
