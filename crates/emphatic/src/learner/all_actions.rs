//! The second branch of Algorithm 1: the actor compares all actions, or some of them.

use super::{Composed, LearnerBuilder, Rule, RuleInput, RuleSetup, unless_waiting};
use crate::{
    ActionCritic, ComposeError, FinitePolicy, Random, Real, Scratch, Seen, SettingError, StateError, Subset,
    Visitor,
};

/// θ ← θ + α M_t Σ_b π(b|S_t) (q̂(S_t,b) − v̂(S_t)) ∇ ln π(b|S_t), over all actions b or a random subset.
///
/// With a subset of k out of n actions, drawn without replacement, the sum is multiplied by n/k: its
/// expectation is then the sum over all actions, and the step-size keeps its meaning.
pub type AllActions<R, P, C, E> = Composed<R, P, C, E, EveryAction<R, P>>;

/// The actor compares all actions, or some of them: see [`AllActions`].
#[derive(Clone, Debug)]
pub struct EveryAction<R: Real, P: FinitePolicy> {
    advantages: Vec<R>,
    /// Room for the policy's features of S_{t+1}.
    x_next: Scratch,
    /// π(·|S_{t+1}).
    next: P::Distribution<R>,
    critic_wants_next: bool,
    /// How many actions are drawn at each step; all of them if this is their number.
    subset: usize,
    /// A permutation of the actions; the first `subset` are those drawn.
    drawn: Vec<usize>,
    random: Random,
}

impl<R: Real, P: FinitePolicy, C, E> LearnerBuilder<R, P, C, E, EveryAction<R, P>> {
    /// Draws some actions anew at each step (the same in all lanes) by the seed and the run, as the experience is.
    pub fn subset(mut self, subset: Subset) -> Self {
        self.setup.subset = Some(subset);
        self
    }
}

impl<R: Real, P: FinitePolicy> EveryAction<R, P> {
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

/// Returns an error if a critic is for another number of actions than a policy.
pub(super) fn check_actions<R: Real>(
    policy: &impl FinitePolicy,
    critic: &impl ActionCritic<R>,
) -> Result<(), ComposeError> {
    let (critic, policy) = (critic.actions(), policy.actions());
    if critic == policy { Ok(()) } else { Err(ComposeError::Actions { critic, policy }) }
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R>> Rule<R, P, C> for EveryAction<R, P> {
    fn new(policy: &P, critic: &C, setup: RuleSetup<R>) -> Result<Self, ComposeError> {
        check_actions(policy, critic)?;
        let actions = policy.actions();
        let (count, random) = match setup.subset {
            Some(Subset { count, .. }) if !(1..=actions).contains(&count) => {
                let right = "it must be at least 1 and at most the number of actions";
                let error =
                    SettingError::OutOfRange { name: "subset", value: count as f64, lane: None, right };
                return Err(error.into());
            }
            // Not one of the streams that experience comes from.
            Some(Subset { count, seed, run }) => (count, Random::new(seed, u64::MAX - run)),
            None => (actions, Random::new(0, 0)),
        };
        Ok(Self {
            advantages: vec![R::zero(); actions],
            x_next: policy.features().scratch(),
            next: policy.room(),
            critic_wants_next: critic.wants_next(),
            subset: count,
            drawn: (0..actions).collect(),
            random,
        })
    }

    #[inline(always)]
    fn probability(policy: &P, at: &P::Distribution<R>, action: usize) -> Option<R> {
        Some(policy.probability(at, action))
    }

    fn value(policy: &P, at: &P::Distribution<R>, critic: &mut C, step: &Seen) -> Option<R> {
        Some(critic.value(step, policy.probabilities(at)))
    }

    #[inline(always)]
    fn learn(&mut self, input: RuleInput<R, P>, critic: &mut C) -> [R; 2] {
        let RuleInput { policy, weights, step_size, x, at, action, step, rho, emphasis } = input;
        self.draw();
        let Self { advantages, x_next, next, subset, drawn, .. } = self;
        critic.advantages(&step, policy.probabilities(at), advantages);
        if self.critic_wants_next && step.gamma_next > 0.0 {
            policy.distribution(weights, policy.features().row(step.next, x_next), next);
        }
        let mut changed = critic.learn(&step, policy.probabilities(at), policy.probabilities(next), rho);
        let scale = step_size * emphasis * R::splat(drawn.len() as f64 / *subset as f64);
        for &b in &drawn[..*subset] {
            let probability = policy.probability(at, b);
            let scale = unless_waiting(step_size * probability, scale * probability * advantages[b]);
            changed += policy.add_score(x, at, b, scale, weights);
        }
        [advantages[action], changed]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        let mut drawn: Vec<u64> = self.drawn.iter().map(|action| *action as u64).collect();
        visitor.setting("subset", self.subset as f64)?;
        visitor.counts("drawn", &mut drawn)?;
        visitor.counts("random", self.random.words())?;
        if visitor.restores() {
            let mut sorted = drawn.clone();
            sorted.sort_unstable();
            if sorted.into_iter().enumerate().any(|(k, action)| k as u64 != action) {
                return Err(StateError::Actions);
            }
            self.drawn = drawn.into_iter().map(|action| action as usize).collect();
        }
        Ok(())
    }
}
