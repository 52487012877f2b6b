//! The second branch of Algorithm 1: the actor compares all actions, or some of them.

use super::{ActionOf, Actor, Learner, LearnerState, Parts, SeenBy, Update};
use crate::critic::ActionCritic;
use crate::emphasis::Emphasis;
use crate::part::ComposeError;
use crate::policy::FinitePolicy;
use crate::random::Random;
use crate::real::Real;
use crate::state::{InLanes, RestoreError, SettingError, Stateful};
use crate::step::{Step, StepError};
use std::borrow::Borrow;

/// θ ← θ + α M_t Σ_b π(b|S_t) (q̂(S_t,b) − v̂(S_t)) ∇ ln π(b|S_t), over all actions b or a random subset.
///
/// With a subset of k out of n actions, drawn without replacement, the sum is multiplied by n/k: its
/// expectation is then the sum over all actions, and the step-size keeps its meaning.
#[derive(Clone, Debug)]
pub struct AllActions<R: Real, P: FinitePolicy, C, E> {
    parts: Parts<R, P, C, E>,
    advantages: Vec<R>,
    room: P::Distribution<R>,
    /// How many actions are drawn at each step; all of them if this is their number.
    subset: usize,
    /// A permutation of the actions; the first `subset` are those drawn.
    drawn: Vec<usize>,
    random: Random,
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R, P>, E: Emphasis<R, P>> AllActions<R, P, C, E> {
    /// A learner that sums over all actions. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        let actions = policy.actions();
        Ok(Self {
            advantages: vec![R::zero(); actions],
            room: policy.room(),
            parts: Parts::new(policy, critic, emphasis, alpha)?,
            subset: actions,
            drawn: (0..actions).collect(),
            random: Random::new(0, 0),
        })
    }

    /// The same, with `subset` actions drawn anew at each step (the same in all lanes) by the seed and the run, as the
    /// experience is.
    pub fn with_subset(mut self, subset: usize, seed: u64, run: u64) -> Result<Self, SettingError> {
        if subset == 0 || subset > self.drawn.len() {
            let right = "it must be at least 1 and at most the number of actions";
            return Err(SettingError { name: "subset", value: subset as f64, lane: None, right });
        }
        self.subset = subset;
        // Not one of the streams that experience comes from.
        self.random = Random::new(seed, u64::MAX - run);
        Ok(self)
    }

    /// Draws the subset of this step: the first entries of a shuffle (Fisher and Yates).
    #[inline(always)]
    fn draw(&mut self) {
        let n = self.drawn.len();
        if self.subset < n {
            for k in 0..self.subset {
                self.drawn.swap(k, k + self.random.below(n - k));
            }
        }
    }
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R, P>, E: Emphasis<R, P>> Learner for AllActions<R, P, C, E> {
    type Number = R;
    type Policy = P;
    type Critic = C;

    #[inline(always)]
    fn step<S: Borrow<SeenBy<Self>>>(
        &mut self,
        step: &Step<S, ActionOf<Self>>,
    ) -> Result<Update<R>, StepError> {
        let step = &step.view();
        self.parts.look(step)?;
        self.draw();

        let Self { parts: Parts { actor, critic, emphasis }, advantages, room, subset, drawn, .. } = self;
        let rho = actor.policy.probability(&actor.at, step.action) * R::splat(1.0 / step.mu);
        let emphasis = emphasis.weigh(step, rho);
        critic.advantages(step.state, advantages);
        let mut changed = critic.learn(step, &actor.policy, &actor.weights, room, rho);
        let scale = actor.alpha * emphasis * R::splat(drawn.len() as f64 / *subset as f64);
        for &b in &drawn[..*subset] {
            let scale = scale * actor.policy.probability(&actor.at, b) * advantages[b];
            changed += actor.policy.add_score(step.state, &actor.at, b, scale, &mut actor.weights);
        }
        let delta = advantages[step.action];
        self.parts.updated(step.state, changed);
        Ok(Update { rho, emphasis, delta })
    }

    fn actor(&self) -> &Actor<R, P> {
        &self.parts.actor
    }

    fn critic(&self) -> &C {
        &self.parts.critic
    }

    fn with_weights(mut self, weights: Vec<R>) -> Result<Self, RestoreError> {
        self.parts.set_weights(weights).map(|()| self)
    }
}

impl<S: InLanes> InLanes for (S, Vec<usize>, Random) {
    type One = (S::One, Vec<usize>, Random);

    fn lane(&self, lane: usize) -> Self::One {
        (self.0.lane(lane), self.1.clone(), self.2.clone())
    }
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R, P>, E: Emphasis<R, P>> Stateful for AllActions<R, P, C, E> {
    type State = (LearnerState<R, C::State, E::State>, Vec<usize>, Random);

    fn state(&self) -> Self::State {
        (self.parts.state(), self.drawn.clone(), self.random.clone())
    }

    fn fits(&self, (parts, drawn, _): &Self::State) -> Result<(), RestoreError> {
        let mut sorted = drawn.clone();
        sorted.sort_unstable();
        if sorted.len() != self.drawn.len() || sorted.into_iter().enumerate().any(|(k, b)| k != b) {
            return Err(RestoreError::Actions);
        }
        self.parts.fits(parts)
    }

    fn put(&mut self, (parts, drawn, random): Self::State) {
        self.parts.put(parts);
        (self.drawn, self.random) = (drawn, random);
    }
}
