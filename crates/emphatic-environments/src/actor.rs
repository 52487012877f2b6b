//! How rollouts act: policies with their weights.

use emphatic::{Action, Policy, Random, Scratch, State};

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
