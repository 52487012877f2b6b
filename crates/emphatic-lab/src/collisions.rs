//! Counts the tiles that share a feature, where features hash tiles.

use crate::experiment::Experiment;
use crate::source::{Dynamics, Simulator, Source, SourceError};
use crate::unit::UnitError;
use emphatic::basis::BasisValue;
use emphatic::{Features, State, TileCoder};
use std::collections::HashSet;
use std::sync::Arc;

/// From how many steps of the behaviour collisions are counted, at most; and from how many tiles, if each step has many.
const STEPS: usize = 20_000;
const TILES: usize = 4_000_000;

/// The stream of those steps, which no run has.
const STREAM: u64 = (1 << 61) + 1;

/// The tiles that a behaviour comes by, of features that hash them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Collisions {
    /// The features, as `kind, setting = value, …`.
    pub features: String,
    /// From how many steps they are counted.
    pub steps: usize,
    /// The number of tiles.
    pub tiles: usize,
    /// How many of them share their feature with another.
    pub shared: usize,
}

/// Counts the collisions of all features of an experiment that hash tiles: where several simulators or behaviours have the same features, where
/// most tiles collide.
pub fn collisions(experiment: &Experiment) -> Result<Vec<Collisions>, UnitError> {
    let (mut found, mut counted) = (Vec::<Collisions>::new(), HashSet::new());
    for scenario in &experiment.scenarios {
        let Some(simulator) = scenario.simulator() else { continue };
        // Elsewhere a step may take long.
        if matches!(simulator.dynamics, Dynamics::Elsewhere(_)) {
            continue;
        }
        for (features, coder, tiles_a_step) in hashed(simulator) {
            // Nothing else changes what is observed.
            let observed_by =
                scenario.columns.iter().filter(|(key, _)| ["problem", "behaviour"].contains(&&**key));
            if !counted.insert(format!("{:?} {features}", observed_by.collect::<Vec<_>>())) {
                continue;
            }
            let steps = (TILES / tiles_a_step.max(1)).clamp(1, STEPS);
            let (tiles, shared) =
                coder.collisions(observed(simulator, experiment.seed, steps)?.iter().map(|x| &x[..]));
            match found.iter_mut().find(|known| known.features == features) {
                Some(known) if known.shared >= shared => {}
                Some(known) => (known.tiles, known.shared) = (tiles, shared),
                None => found.push(Collisions { features, steps, tiles, shared }),
            }
        }
    }
    Ok(found)
}

/// Returns what is observed while the behaviour acts.
fn observed(simulator: &Arc<Simulator>, seed: u64, steps: usize) -> Result<Vec<Vec<f64>>, SourceError> {
    let mut stream = simulator.stream(seed, STREAM);
    let mut observations = Vec::with_capacity(steps);
    while observations.len() < steps
        && let Some(step) = stream.next()?
    {
        if let State::Vector(observation) = step.state {
            observations.push(observation.to_vec());
        }
    }
    Ok(observations)
}

/// Returns the features that hash tiles, and how many of them are active.
fn hashed(simulator: &Simulator) -> Vec<(String, TileCoder, usize)> {
    let of = |(_, features): &(&str, Features)| {
        let active = features.most_active();
        let Features::Observed(observed) = features else { return None };
        let recipe = observed.recipe();
        let is_hashed =
            matches!(recipe.values.get("memory"), Some(BasisValue::Number(memory)) if *memory > 0.0);
        let coder = recipe.build_as().ok().filter(|_| is_hashed)?;
        Some((recipe.to_string(), coder, active))
    };
    simulator.features.iter().filter_map(of).collect()
}
