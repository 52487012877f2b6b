//! How rollouts act: policies with their weights.

use emphatic::basis::SIDE_BY_SIDE;
use emphatic::{Action, Features, Isa, Lanes, Policy, Random, Real, Scratch, Softmax, State};

/// Acts in environments, by one policy or by several.
pub trait Actor {
    /// Writes an action for each of the observations, which lie one after the other in a slice. Each is acted on by one of the policies, and has a
    /// random stream of its own.
    fn act(
        &mut self,
        policies: &[usize],
        observations: &[f64],
        randoms: &mut [Random],
        actions: &mut [Action],
    );
}

/// Policies of one form, each with its weights.
#[derive(Clone, Debug)]
pub struct PolicyActor<P: Policy> {
    policy: P,
    /// The weights of each policy.
    weights: Vec<Vec<f64>>,
    /// The distribution in the state it looked at last.
    at: P::Distribution<f64>,
    room: Scratch,
    /// The length of an observation.
    dimensions: usize,
}

impl<P: Policy> PolicyActor<P> {
    /// A policy with each of these weights, for observations of this length, which its features must be able to describe.
    pub fn new(policy: P, weights: Vec<Vec<f64>>, dimensions: usize) -> Self {
        let (at, room) = (policy.room(), policy.features().scratch());
        Self { policy, weights, at, room, dimensions }
    }
}

impl<P: Policy> Actor for PolicyActor<P> {
    fn act(
        &mut self,
        policies: &[usize],
        observations: &[f64],
        randoms: &mut [Random],
        actions: &mut [Action],
    ) {
        let Self { policy, weights, at, room, dimensions } = self;
        let observations = policies.iter().zip(observations.chunks_exact(*dimensions));
        for (((number, observation), random), action) in observations.zip(randoms).zip(actions) {
            let x = policy.features().row(State::Vector(observation), room);
            policy.distribution(&weights[*number], x, at);
            *action = policy.sample(at, 0, random).into();
        }
    }
}

/// How many actions have their weights in one register.
const BLOCK: usize = 4;

/// Softmax policies, each with its weights: a [`PolicyActor`], to the bit, that looks at several observations side by side.
#[derive(Clone, Debug)]
pub struct SoftmaxActor {
    policy: Softmax,
    /// The weights by policy, feature and action, where a feature has blocks of actions, the last of which is filled up.
    weights: Vec<[f64; BLOCK]>,
    /// The number of blocks of a feature.
    blocks: usize,
    room: Scratch,
    /// The active features of the observations side by side.
    active: Vec<[usize; SIDE_BY_SIDE]>,
    /// The preference of each action, then its probability, for the observations side by side.
    at: Vec<Lanes<SIDE_BY_SIDE>>,
    dimensions: usize,
    isa: Isa,
}

impl SoftmaxActor {
    /// A softmax policy with each of these weights, for observations of this length, which its features must be able to describe.
    pub fn new(policy: Softmax, weights: &[Vec<f64>], dimensions: usize, isa: Isa) -> Self {
        let blocks = policy.actions.div_ceil(BLOCK);
        let of_feature = |weights: &[f64]| {
            let mut filled = vec![[0.0; BLOCK]; blocks];
            filled.as_flattened_mut()[..weights.len()].copy_from_slice(weights);
            filled
        };
        let weights =
            weights.iter().flat_map(|w| w.chunks_exact(policy.actions)).flat_map(of_feature).collect();
        let (at, room) = (vec![Lanes::zero(); blocks * BLOCK], policy.features.scratch());
        Self { policy, weights, blocks, room, active: Vec::new(), at, dimensions, isa }
    }

    /// Writes the preferences in some states.
    fn look(&mut self, policies: &[usize], observations: &[f64]) {
        let Self { policy, weights, blocks, room, active, at, dimensions, isa } = self;
        let of_policy = policy.features.len() * *blocks;
        if let Features::Observed(observed) = &policy.features
            && observed.basis().write_active(observations, *isa, active)
        {
            return isa.run(
                #[inline(always)]
                || {
                    for (lane, number) in policies.iter().enumerate() {
                        let weights = &weights[number * of_policy..][..of_policy];
                        let features = active.iter().map(|features| (features[lane], 1.0));
                        write_preferences(features, weights, *blocks, lane, at);
                    }
                },
            );
        }
        let observations = policies.iter().zip(observations.chunks_exact(*dimensions));
        for (lane, (number, observation)) in observations.enumerate() {
            let weights = &weights[number * of_policy..][..of_policy];
            let features = policy.features.row(State::Vector(observation), room);
            isa.run(
                #[inline(always)]
                || write_preferences(features.iter(), weights, *blocks, lane, at),
            );
        }
    }
}

/// Writes Σ_f x_f θ_{f,a} for each action a to a lane.
#[inline(always)]
fn write_preferences(
    features: impl Iterator<Item = (usize, f64)> + Clone,
    weights: &[[f64; BLOCK]],
    blocks: usize,
    lane: usize,
    at: &mut [Lanes<SIDE_BY_SIDE>],
) {
    for (block, at) in at.chunks_exact_mut(BLOCK).enumerate() {
        let mut sums = [0.0; BLOCK];
        for (feature, x) in features.clone() {
            for (sum, weight) in sums.iter_mut().zip(&weights[feature * blocks + block]) {
                *sum += x * weight;
            }
        }
        at.iter_mut().zip(sums).for_each(|(at, sum)| at.0[lane] = sum);
    }
}

impl Actor for SoftmaxActor {
    fn act(
        &mut self,
        policies: &[usize],
        observations: &[f64],
        randoms: &mut [Random],
        actions: &mut [Action],
    ) {
        let observations =
            policies.chunks(SIDE_BY_SIDE).zip(observations.chunks(self.dimensions * SIDE_BY_SIDE));
        let places = randoms.chunks_mut(SIDE_BY_SIDE).zip(actions.chunks_mut(SIDE_BY_SIDE));
        for ((policies, observations), (randoms, actions)) in observations.zip(places) {
            self.look(policies, observations);
            let mut uniform = Lanes::zero();
            uniform.0.iter_mut().zip(randoms).for_each(|(uniform, random)| *uniform = random.uniform());
            let at = &mut self.at[..self.policy.actions];
            let numbers = self.isa.run(
                #[inline(always)]
                || {
                    Softmax::probabilities_of(at);
                    indices_at(uniform, at)
                },
            );
            for (action, number) in actions.iter_mut().zip(numbers.0) {
                *action = Action::Number(number as usize);
            }
        }
    }
}

/// [`index_at`](emphatic::index_at), lane by lane.
#[inline(always)]
fn indices_at<R: Real>(uniform: R, probabilities: &[R]) -> R {
    let (zero, one) = (R::zero(), R::one());
    let (mut left, mut last, mut is_sought) = (uniform, zero, one);
    for (k, p) in probabilities.iter().enumerate() {
        let counts = zero.if_less(*p, is_sought, zero);
        last = zero.if_less(counts, R::splat(k as f64), last);
        is_sought = left.if_less(*p, is_sought - counts, is_sought);
        left = zero.if_less(counts, left - *p, left);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic::{BasisRecipe, index_at};

    #[test]
    fn observations_side_by_side_are_acted_on_as_one_by_one() {
        let bounds = |kind: &str| BasisRecipe::new(kind).with("low", [0.0; 2]).with("high", [1.0; 2]);
        let tiles = bounds("tiles").with("tiles", 3.0).with("tilings", 5.0).with("bias", true);
        let all = [tiles.clone(), tiles.with("memory", 50.0), bounds("observation").with("scale", "norm")];
        let observations: Vec<f64> = (0..2 * 37).map(|k| (f64::from(k) * 0.37).fract()).collect();
        let policies: Vec<usize> = (0..37).map(|k| k * 7 % 3).collect();
        for (recipe, count) in all.iter().flat_map(|recipe| (2..=6).map(move |count| (recipe, count))) {
            let policy = Softmax { features: recipe.build().unwrap(), actions: count };
            let weights = [1.3, 0.2, 5.0].map(|f| (0..policy.len()).map(|k| (k as f64 * f).sin()).collect());
            let mut alone = PolicyActor::new(policy.clone(), weights.to_vec(), 2);
            let mut several = SoftmaxActor::new(policy, &weights, 2, Isa::best());
            let act = |actor: &mut dyn Actor| {
                let mut randoms: Vec<Random> = (0..37).map(|k| Random::new(5, k)).collect();
                let mut actions = vec![Action::Number(0); 37];
                for _ in 0..20 {
                    actor.act(&policies, &observations, &mut randoms, &mut actions);
                }
                (actions, randoms)
            };
            assert_eq!(act(&mut alone), act(&mut several));
        }
    }

    #[test]
    fn indices_side_by_side_are_those_of_each_alone() {
        let mut random = Random::new(3, 0);
        let special = [0.0, 0.0, 0.5, 0.25, 1.0, f64::NAN, -1.0, 1e-300];
        for _ in 0..10_000 {
            let p = [(); 5].map(|()| match random.below(12) {
                k if k < special.len() => special[k],
                _ => random.uniform(),
            });
            let uniform = random.uniform();
            assert_eq!(indices_at(uniform, &p) as usize, index_at(uniform, p), "{uniform} {p:?}");
        }
    }
}
