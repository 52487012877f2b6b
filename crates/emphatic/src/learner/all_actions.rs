//! The second branch of Algorithm 1: the actor compares all actions, or some of them.

use super::{Composed, LearnerBuilder, Rule, Update};
use crate::action::Action;
use crate::critic::ActionCritic;
use crate::emphasis::Emphasis;
use crate::features::State;
use crate::importance_ratio::importance_ratio;
use crate::part::ComposeError;
use crate::policy::FinitePolicy;
use crate::random_stream::Random;
use crate::real::Real;
use crate::recipe::Subset;
use crate::saved_state::StateError;
use crate::settings::SettingError;
use crate::step::{Step, StepError};
use crate::visitor::Visitor;

/// θ ← θ + α M_t Σ_b π(b|S_t) (q̂(S_t,b) − v̂(S_t)) ∇ ln π(b|S_t), over all actions b or a random subset.
///
/// With a subset of k out of n actions, drawn without replacement, the sum is multiplied by n/k: its
/// expectation is then the sum over all actions, and the step-size keeps its meaning.
pub type AllActions<R, P, C, E> = Composed<R, P, C, E, EveryAction<R, P>>;

/// The actor compares all actions, or some of them: see [`AllActions`].
#[derive(Clone, Debug)]
pub struct EveryAction<R: Real, P: FinitePolicy> {
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
    /// Builds a learner that sums over all actions. Its setting is `alpha`.
    pub fn builder(policy: P, critic: C, emphasis: E) -> LearnerBuilder<R, P, C, E, EveryAction<R, P>> {
        LearnerBuilder::new(policy, critic, Ok(emphasis))
    }
}

impl<R, P, C, E> LearnerBuilder<R, P, C, E, EveryAction<R, P>>
where
    R: Real,
    P: FinitePolicy,
    C: ActionCritic<R>,
    E: Emphasis<R>,
{
    /// Draws some actions anew at each step (the same in all lanes) by the seed and the run, as the experience is.
    pub fn subset(mut self, subset: Subset) -> Self {
        self.subset = Some(subset);
        self
    }

    /// Builds the learner. Parts that do not go together, or a setting that is missing or out of its range, are an error.
    pub fn build(self) -> Result<AllActions<R, P, C, E>, ComposeError> {
        let (actions, of_critic) = (self.policy.actions(), self.critic.actions());
        if of_critic != actions {
            return Err(ComposeError::Actions { critic: of_critic, policy: actions });
        }
        let (count, random) = match self.subset {
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
        self.compose(|policy, critic, emphasis| EveryAction {
            advantages: vec![R::zero(); actions],
            next: policy.room(),
            critic_wants_next: critic.wants_next(),
            emphasis_learns: emphasis.learns(),
            subset: count,
            drawn: (0..actions).collect(),
            random,
        })
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

impl<R: Real, P: FinitePolicy, C: ActionCritic<R>, E: Emphasis<R>> Rule<R, P, C, E> for EveryAction<R, P> {
    #[inline(always)]
    fn update(
        learner: &mut AllActions<R, P, C, E>,
        step: &Step<State, Action>,
        report: Option<&mut Update<R>>,
    ) -> Result<(), StepError> {
        let action = learner.check_step(step)?;
        let Composed { actor, critic, emphasis, rule, .. } = learner;
        let x = actor.policy.features().row(step.state, &mut actor.x);
        actor.policy.distribution(&actor.weights, x, &mut actor.at);
        rule.draw();
        let EveryAction { advantages, next, subset, drawn, .. } = rule;
        let (critic, seen) = critic.see(step);
        let (emphasis, weighed) = emphasis.see(step);
        let rho = importance_ratio(actor.policy.probability(&actor.at, action), step.mu);
        let weight = emphasis.weigh(&weighed, rho);
        critic.advantages(&seen, advantages);
        if rule.critic_wants_next && step.gamma_next > 0.0 {
            let x_next = actor.policy.features().row(step.next, &mut actor.x_next);
            actor.policy.distribution(&actor.weights, x_next, next);
        }
        let mut changed = critic.learn(&seen, actor.policy.probabilities(next), rho);
        let scale = actor.step_size * weight * R::splat(drawn.len() as f64 / *subset as f64);
        for &b in &drawn[..*subset] {
            let scale = scale * actor.policy.probability(&actor.at, b) * advantages[b];
            changed += actor.policy.add_score(x, &actor.at, b, scale, &mut actor.weights);
        }
        if rule.emphasis_learns {
            changed += emphasis.learn(&weighed, rho);
        }
        if let Some(report) = report {
            *report = Update { rho, emphasis: weight, delta: advantages[action] };
        }
        learner.finish_update(step.state, changed);
        Ok(())
    }

    fn probability(policy: &P, at: &P::Distribution<R>, action: usize) -> Option<R> {
        Some(policy.probability(at, action))
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
