//! The second branch of Algorithm 1: the actor compares all actions, or some of them.

use super::{Composed, Rule, Update};
use crate::action::Action;
use crate::critic::ActionCritic;
use crate::emphasis::Emphasis;
use crate::features::State;
use crate::part::ComposeError;
use crate::policy::FinitePolicy;
use crate::random::Random;
use crate::real::Real;
use crate::setting::SettingError;
use crate::step::{Step, StepError};
use crate::tensors::{StateError, Visitor};

/// θ ← θ + α M_t Σ_b π(b|S_t) (q̂(S_t,b) − v̂(S_t)) ∇ ln π(b|S_t), over all actions b or a random subset.
///
/// With a subset of k out of n actions, drawn without replacement, the sum is multiplied by n/k: its
/// expectation is then the sum over all actions, and the step-size keeps its meaning.
pub type AllActions<R, P, C, E> = Composed<R, P, C, E, All<R, P>>;

/// The actor compares all actions, or some of them: see [`AllActions`].
#[derive(Clone, Debug)]
pub struct All<R: Real, P: FinitePolicy> {
    advantages: Vec<R>,
    /// π(·|S_{t+1}).
    next: P::Distribution<R>,
    critic_wants_next: bool,
    emphasis_learns: bool,
    /// How many actions are drawn at each step; all of them if this is their number.
    subset: usize,
    /// A permutation of the actions; the first `subset` are those drawn.
    drawn: Vec<usize>,
    random: Random,
}

impl<R: Real, P: FinitePolicy, C: ActionCritic<R>, E: Emphasis<R>> AllActions<R, P, C, E> {
    /// A learner that sums over all actions. α is divided by the number of active features.
    pub fn new(policy: P, critic: C, emphasis: E, alpha: R) -> Result<Self, ComposeError> {
        let actions = policy.actions();
        if critic.actions() != actions {
            return Err(ComposeError::Actions { critic: critic.actions(), policy: actions });
        }
        let rule = All {
            advantages: vec![R::zero(); actions],
            next: policy.room(),
            critic_wants_next: critic.wants_next(),
            emphasis_learns: emphasis.learns(),
            subset: actions,
            drawn: (0..actions).collect(),
            random: Random::new(0, 0),
        };
        Self::compose(policy, critic, emphasis, alpha, rule)
    }

    /// The same, with `subset` actions drawn anew at each step (the same in all lanes) by the seed and the run, as the
    /// experience is.
    pub fn with_subset(mut self, subset: usize, seed: u64, run: u64) -> Result<Self, SettingError> {
        if subset == 0 || subset > self.rule.drawn.len() {
            let right = "it must be at least 1 and at most the number of actions";
            return Err(SettingError { name: "subset", value: subset as f64, lane: None, right });
        }
        self.rule.subset = subset;
        // Not one of the streams that experience comes from.
        self.rule.random = Random::new(seed, u64::MAX - run);
        Ok(self)
    }
}

impl<R: Real, P: FinitePolicy> All<R, P> {
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

impl<R: Real, P: FinitePolicy, C: ActionCritic<R>, E: Emphasis<R>> Rule<R, P, C, E> for All<R, P> {
    #[inline(always)]
    fn update(
        learner: &mut AllActions<R, P, C, E>,
        step: &Step<State, Action>,
        told: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        let action = learner.check_step(step)?;
        let Composed { actor, critic, emphasis, rule, .. } = learner;
        let x = actor.policy.features().row(step.state, &mut actor.x);
        actor.policy.distribution(&actor.weights, x, &mut actor.at);
        rule.draw();
        let All { advantages, next, subset, drawn, .. } = rule;
        let (critic, seen) = critic.see(step);
        let (emphasis, weighed) = emphasis.see(step);
        let rho = actor.policy.probability(&actor.at, action) * R::splat(1.0 / step.mu);
        let weight = emphasis.weigh(&weighed, rho);
        critic.advantages(&seen, advantages);
        if rule.critic_wants_next && step.gamma_next > 0.0 {
            let x_next = actor.policy.features().row(step.next, &mut actor.x_next);
            actor.policy.distribution(&actor.weights, x_next, next);
        }
        let mut changed = critic.learn(&seen, actor.policy.probabilities(next), rho);
        let scale = actor.alpha * weight * R::splat(drawn.len() as f64 / *subset as f64);
        for &b in &drawn[..*subset] {
            let scale = scale * actor.policy.probability(&actor.at, b) * advantages[b];
            changed += actor.policy.add_score(x, &actor.at, b, scale, &mut actor.weights);
        }
        if rule.emphasis_learns {
            changed += emphasis.learn(&weighed, rho);
        }
        if let Some(told) = told {
            *told = Update { rho, emphasis: weight, delta: advantages[action] };
        }
        learner.updated(step.state, changed);
        Ok(())
    }

    fn probability(policy: &P, at: &P::Distribution<R>, action: usize) -> Option<R> {
        Some(policy.probability(at, action))
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        let mut drawn: Vec<u64> = self.drawn.iter().map(|action| *action as u64).collect();
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
