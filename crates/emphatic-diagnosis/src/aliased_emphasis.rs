//! States that look alike to the actor and to a learned emphasis, but differ in their emphasis.
//!
//! An emphasis that is learned sees the critic's features by default. In states that have the same, û is the same, so that it weights them in
//! proportion to d_μ, as OffPAC does. Where the actor can tell them apart this does no harm to the direction of its weights; where it
//! cannot, the weighting is what the gradient is about.

use emphatic::{KnownProblem, Table};
use serde::Serialize;
use std::collections::HashMap;

/// m/d_μ that differ by less than this, relative to the larger, are the same.
const SAME: f64 = 1e-9;

/// States with the same features for the actor and for the critic, but different emphases.
#[derive(Clone, Debug, Serialize)]
pub struct AliasedEmphasis {
    /// The states.
    pub states: Vec<String>,
    /// The smallest m/d_μ in them.
    pub smallest: f64,
    /// The largest m/d_μ in them.
    pub largest: f64,
}

/// All such states, given m/d_μ; those first that differ most.
pub(crate) fn aliased_emphasis(known: &KnownProblem, density: &[f64]) -> Vec<AliasedEmphasis> {
    let (actor, critic) = (known.actor(), known.critic());
    let mut groups: HashMap<[Vec<(usize, u64)>; 2], Vec<usize>> = HashMap::new();
    for s in (0..density.len()).filter(|&s| known.stationary()[s] > 0.0) {
        groups.entry([actor, &critic].map(|features| looks(features, s))).or_default().push(s);
    }
    let of_group = |states: &Vec<usize>| {
        let densities = || states.iter().map(|&s| density[s]);
        let [smallest, largest] =
            [densities().fold(f64::INFINITY, f64::min), densities().fold(f64::NEG_INFINITY, f64::max)];
        let names = states.iter().map(|&s| known.states()[s].clone()).collect();
        (largest - smallest > SAME * largest)
            .then_some((states[0], AliasedEmphasis { states: names, smallest, largest }))
    };
    let mut all: Vec<(usize, AliasedEmphasis)> = groups.values().filter_map(of_group).collect();
    let ratio = |of: &AliasedEmphasis| of.largest / of.smallest;
    all.sort_by(|(s, a), (t, b)| ratio(b).total_cmp(&ratio(a)).then(s.cmp(t)));
    all.into_iter().map(|(_, of)| of).collect()
}

/// The features of a state, to be compared.
fn looks(features: &Table, state: usize) -> Vec<(usize, u64)> {
    features.active(state).map(|(f, x)| (f, x.to_bits())).collect()
}
