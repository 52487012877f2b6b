//! How rollouts act: policies with their weights.

use emphatic::{Action, Isa, Lanes, Policy, Random, Real, Scratch, Softmax, State, index_at};

/// Acts in environments.
pub trait Actor {
    /// Writes an action for each of the observations, which lie one after the other in a slice. Each has a random stream of its own.
    fn act(&mut self, observations: &[f64], randoms: &mut [Random], actions: &mut [Action]);
}

/// A policy with its weights.
#[derive(Clone, Debug)]
pub struct PolicyActor<P: Policy> {
    policy: P,
    weights: Vec<f64>,
    /// The distribution in the state it looked at last.
    at: P::Distribution<f64>,
    room: Scratch,
    /// The length of an observation.
    dimensions: usize,
}

impl<P: Policy> PolicyActor<P> {
    /// A policy with these weights, for observations of this length, which its features must be able to describe.
    pub fn new(policy: P, weights: Vec<f64>, dimensions: usize) -> Self {
        let (at, room) = (policy.room(), policy.features().scratch());
        Self { policy, weights, at, room, dimensions }
    }
}

impl<P: Policy> Actor for PolicyActor<P> {
    fn act(&mut self, observations: &[f64], randoms: &mut [Random], actions: &mut [Action]) {
        let Self { policy, weights, at, room, dimensions } = self;
        let observations = observations.chunks_exact(*dimensions);
        for ((observation, random), action) in observations.zip(randoms).zip(actions) {
            let x = policy.features().row(State::Vector(observation), room);
            policy.distribution(weights, x, at);
            *action = policy.sample(at, 0, random).into();
        }
    }
}

/// How many observations a [`SoftmaxActor`] looks at side by side.
const SIDE_BY_SIDE: usize = 16;

/// A softmax policy with its weights: a [`PolicyActor`], to the bit, that looks at several observations side by side.
#[derive(Clone, Debug)]
pub struct SoftmaxActor {
    policy: Softmax,
    weights: Vec<f64>,
    room: Scratch,
    /// The preference of each action, then its probability, for the observations side by side.
    at: Vec<Lanes<SIDE_BY_SIDE>>,
    dimensions: usize,
    isa: Isa,
}

impl SoftmaxActor {
    /// A softmax policy with these weights, for observations of this length, which its features must be able to describe.
    pub fn new(policy: Softmax, weights: Vec<f64>, dimensions: usize, isa: Isa) -> Self {
        let (at, room) = (vec![Lanes::zero(); policy.actions], policy.features.scratch());
        Self { policy, weights, room, at, dimensions, isa }
    }

    /// Writes the preferences in a state to a lane.
    fn look(&mut self, observation: &[f64], lane: usize) {
        let Self { policy, weights, room, at, .. } = self;
        at.iter_mut().for_each(|at| at.0[lane] = 0.0);
        for (feature, x) in policy.features.row(State::Vector(observation), room).iter() {
            let weights = &weights[feature * policy.actions..][..policy.actions];
            for (preference, weight) in at.iter_mut().zip(weights) {
                preference.0[lane] += x * weight;
            }
        }
    }
}

impl Actor for SoftmaxActor {
    fn act(&mut self, observations: &[f64], randoms: &mut [Random], actions: &mut [Action]) {
        let observations = observations.chunks(self.dimensions * SIDE_BY_SIDE);
        let places = randoms.chunks_mut(SIDE_BY_SIDE).zip(actions.chunks_mut(SIDE_BY_SIDE));
        for (observations, (randoms, actions)) in observations.zip(places) {
            for (lane, observation) in observations.chunks_exact(self.dimensions).enumerate() {
                self.look(observation, lane);
            }
            let at = &mut self.at;
            self.isa.run(
                #[inline(always)]
                || Softmax::probabilities_of(at),
            );
            for (lane, (random, action)) in randoms.iter_mut().zip(actions).enumerate() {
                *action = Action::Number(index_at(random.uniform(), self.at.iter().map(|p| p.0[lane])));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic::BasisRecipe;

    #[test]
    fn observations_side_by_side_are_acted_on_as_one_by_one() {
        let tiles = BasisRecipe::new("tiles").with("low", [0.0; 2]).with("high", [1.0; 2]).with("tiles", 3.0);
        let features = tiles.with("tilings", 5.0).with("bias", true).build().unwrap();
        for count in 2..=4 {
            let policy = Softmax { features: features.clone(), actions: count };
            let weights: Vec<f64> = (0..policy.len()).map(|k| (k as f64 * 1.3).sin()).collect();
            let mut alone = PolicyActor::new(policy.clone(), weights.clone(), 2);
            let mut several = SoftmaxActor::new(policy, weights, 2, Isa::best());
            let observations: Vec<f64> = (0..2 * 37).map(|k| (f64::from(k) * 0.37).fract()).collect();
            let act = |actor: &mut dyn Actor| {
                let mut randoms: Vec<Random> = (0..37).map(|k| Random::new(5, k)).collect();
                let mut actions = vec![Action::Number(0); 37];
                for _ in 0..20 {
                    actor.act(&observations, &mut randoms, &mut actions);
                }
                (actions, randoms)
            };
            assert_eq!(act(&mut alone), act(&mut several));
        }
    }
}
