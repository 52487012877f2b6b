//! A decision problem with a behaviour, an interest and features: everything needed to learn off-policy in it.

use super::builder::{check_interest, check_probability, check_sum};
use super::{Problem, ProblemError, Sampled, Stream, Transition};
use crate::action::Action;
use crate::features::Table;
use crate::policy::{FinitePolicy, Softmax};
use crate::random_stream::Random;
use crate::real::{Real, Wide};
use crate::theory::stationary_distribution::stationary_distribution;
use crate::theory::{Bellman, Model, ModelStates, OffPolicyModel, OffPolicyTransition};
use crate::theory::{compressed_rows::CompressedRows, elimination_order::EliminationOrder};
use std::sync::Arc;

/// The name of the behaviour in errors.
const BEHAVIOUR: &str = "the behaviour";

/// A problem with a behaviour policy that generates the experience, the interest in each state, and the
/// features of the states for the actor and the critic. Its stationary distribution d_μ is part of it.
#[derive(Clone, Debug)]
pub struct Task {
    problem: Problem,
    behaviour: CompressedRows<f64>,
    interest: Vec<f64>,
    actor: Table,
    critic: Table,
    /// d_μ, as `f64` and without underflow.
    stationary: Vec<f64>,
    wide_stationary: Vec<Wide>,
    order: Arc<EliminationOrder>,
    /// For each state and action, its discounted transitions: (index of the successor in the order's list, p γ).
    discounted: CompressedRows<(usize, f64)>,
    /// For each state and action, Σ p (1 − γ) and Σ p r.
    leak: Vec<f64>,
    reward: Vec<f64>,
}

impl Task {
    /// A problem with a behaviour: a row for each state, a probability for each action.
    ///
    /// Interest is 1 everywhere; actor and critic see the state itself.
    pub fn new(problem: Problem, behaviour: &[Vec<f64>]) -> Result<Self, ProblemError> {
        let (n, actions) = (problem.states.len(), problem.actions.len());
        let behaviour = CompressedRows::new(problem.check_policy(BEHAVIOUR, behaviour)?);
        let wide_stationary = stationary_distribution(&problem, &behaviour)?;

        let successors: Vec<Vec<usize>> = (0..n)
            .map(|s| {
                (0..actions)
                    .flat_map(|a| problem.transitions(s, a))
                    .filter(|t| t.gamma > 0.0)
                    .map(|t| t.next)
                    .collect()
            })
            .collect();
        let order = Arc::new(EliminationOrder::new(&successors)?);
        let of_pair = |k: usize| problem.transitions(k / actions, k % actions);
        let discounted = CompressedRows::new((0..n * actions).map(|k| {
            let row = order.successors.row(k / actions);
            let slot = |next: usize| row.partition_point(|&t| t < next);
            let discounted = of_pair(k).iter().filter(|t| t.gamma > 0.0);
            discounted.map(|t| (slot(t.next), t.probability * t.gamma)).collect::<Vec<_>>()
        }));
        let leak = (0..n * actions)
            .map(|k| of_pair(k).iter().map(|t| t.probability * (1.0 - t.gamma)).sum())
            .collect();
        let reward =
            (0..n * actions).map(|k| of_pair(k).iter().map(|t| t.probability * t.reward).sum()).collect();

        let identity = Table::one_hot(n);
        Ok(Self {
            behaviour,
            interest: vec![1.0; n],
            actor: identity.clone(),
            critic: identity,
            stationary: wide_stationary.iter().map(|d| d.get()).collect(),
            wide_stationary,
            order,
            discounted,
            leak,
            reward,
            problem,
        })
    }

    /// The same with another behaviour.
    pub fn with_behaviour(mut self, behaviour: &[Vec<f64>]) -> Result<Self, ProblemError> {
        self.behaviour = CompressedRows::new(self.problem.check_policy(BEHAVIOUR, behaviour)?);
        self.wide_stationary = stationary_distribution(&self.problem, &self.behaviour)?;
        self.stationary = self.wide_stationary.iter().map(|d| d.get()).collect();
        Ok(self)
    }

    /// The same with this interest in each state.
    pub fn with_interest(mut self, interest: Vec<f64>) -> Result<Self, ProblemError> {
        check_shape("the interest", interest.len(), self.states())?;
        check_interest(&self.problem.states, &interest)?;
        self.interest = interest;
        Ok(self)
    }

    /// The same with these features for the actor.
    pub fn with_actor(mut self, features: Table) -> Result<Self, ProblemError> {
        check_shape("the table of the actor's features", features.states(), self.states())?;
        self.actor = features;
        Ok(self)
    }

    /// The same with these features for the critic.
    pub fn with_critic(mut self, features: Table) -> Result<Self, ProblemError> {
        check_shape("the table of the critic's features", features.states(), self.states())?;
        self.critic = features;
        Ok(self)
    }

    /// The decision problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }

    /// The number of states.
    #[inline(always)]
    pub fn states(&self) -> usize {
        self.problem.states.len()
    }

    /// The number of actions.
    #[inline(always)]
    pub fn actions(&self) -> usize {
        self.problem.actions.len()
    }

    /// μ(·|s).
    #[inline(always)]
    pub fn behaviour(&self, state: usize) -> &[f64] {
        self.behaviour.row(state)
    }

    /// i, by state.
    pub fn interest(&self) -> &[f64] {
        &self.interest
    }

    /// d_μ, by state: the unique stationary distribution of the chain that the behaviour drives. (The limit of
    /// P(S_t = s) over time need not exist; the counterexample's chain is periodic.)
    pub fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    /// The actor's features.
    pub fn actor(&self) -> &Table {
        &self.actor
    }

    /// The critic's features.
    pub fn critic(&self) -> &Table {
        &self.critic
    }

    /// An endless stream of the behaviour's experience, the same for the same seed and run on every machine.
    pub fn stream(&self, seed: u64, run: u64) -> Stream<'_> {
        let (mut random, start) = (Random::new(seed, run), self.problem.start());
        let state = start[random.index(start.iter().map(|s| s.1))].0;
        Stream { problem: self, random, state, gamma: 0.0 }
    }

    /// A softmax policy over the actor's features.
    pub fn softmax(&self) -> Softmax {
        Softmax { features: (&self.actor).into(), actions: self.actions() }
    }

    /// q(s, a) = Σ p (r + γ v(s′)), given v.
    #[inline(always)]
    pub(crate) fn action_value<R: Real>(
        &self,
        state: usize,
        action: usize,
        mut value: impl FnMut(usize) -> R,
    ) -> R {
        let k = state * self.actions() + action;
        let successors = self.order.successors.row(state);
        let mut q = R::splat(self.reward[k]);
        for &(slot, weight) in self.discounted.row(k) {
            q += R::splat(weight) * value(successors[slot]);
        }
        q
    }
}

impl ModelStates for Task {
    fn order(&self) -> &Arc<EliminationOrder> {
        &self.order
    }

    fn stationary(&self) -> &[f64] {
        &self.stationary
    }

    fn wide_stationary(&self) -> Vec<Wide> {
        self.wide_stationary.clone()
    }

    fn interest(&self) -> &[f64] {
        &self.interest
    }

    fn state_names(&self) -> &[String] {
        &self.problem.states
    }
}

impl Sampled for Task {
    fn sample(&self, state: usize, random: &mut Random) -> (Action, f64, Transition) {
        let behaviour = self.behaviour(state);
        let action = random.index(behaviour.iter().copied());
        let outcomes = self.problem.transitions(state, action);
        let drawn =
            if outcomes.len() == 1 { 0 } else { random.index(outcomes.iter().map(|t| t.probability)) };
        (action.into(), behaviour[action], outcomes[drawn])
    }
}

impl<P: FinitePolicy> Model<P> for Task {
    fn check(&self, policy: &P) -> Result<(), ProblemError> {
        if policy.actions() == self.actions() {
            return Ok(());
        }
        Err(ProblemError::Actions { got: policy.actions(), right: self.actions() })
    }

    #[inline(always)]
    fn bellman<R: Real>(&self, policy: &P, at: &P::Distribution<R>, state: usize, out: Bellman<'_, R>) {
        out.row.fill(R::zero());
        *out.leak = R::zero();
        *out.reward = R::zero();
        for a in 0..self.actions() {
            let k = state * self.actions() + a;
            let pi = policy.probability(at, a);
            for &(slot, weight) in self.discounted.row(k) {
                out.row[slot] += pi * R::splat(weight);
            }
            *out.leak += pi * R::splat(self.leak[k]);
            *out.reward += pi * R::splat(self.reward[k]);
        }
    }

    fn add_gradient<R: Real>(
        &self,
        policy: &P,
        at: &P::Distribution<R>,
        state: usize,
        values: &[R],
        scale: R,
        gradient: &mut [R],
    ) {
        // ∂π = π ∇ ln π. Subtracting the state's value changes nothing in exact arithmetic and loses fewer digits.
        let x = policy.features().of_number(state);
        for a in 0..self.actions() {
            let advantage = self.action_value(state, a, |s| values[s]) - values[state];
            policy.add_score(x, at, a, scale * policy.probability(at, a) * advantage, gradient);
        }
    }
}

impl<P: FinitePolicy> OffPolicyModel<P> for Task {
    fn off_policy_transitions(
        &self,
        policy: &P,
        at: &P::Distribution<f64>,
        state: usize,
    ) -> Vec<OffPolicyTransition> {
        let of_action = |(a, &mu): (usize, &f64)| {
            let pi = policy.probability(at, a);
            let transition = move |t: &Transition| {
                let passed = if pi > 0.0 && t.gamma > 0.0 { pi / mu * t.gamma } else { 0.0 };
                let lost = (1.0 - t.gamma) + t.gamma * ((mu - pi) / mu);
                let Transition { next, probability, .. } = *t;
                OffPolicyTransition { next, behaviour: mu, probability, passed, lost, variance: 0.0 }
            };
            self.problem.transitions(state, a).iter().map(transition)
        };
        let all = self.behaviour(state).iter().enumerate().flat_map(of_action);
        all.filter(|t| t.behaviour > 0.0 || t.passed > 0.0).collect()
    }
}

pub(super) fn check_shape(what: &str, got: usize, right: usize) -> Result<(), ProblemError> {
    if got == right { Ok(()) } else { Err(ProblemError::Shape { what: what.to_owned(), got, right }) }
}

impl Problem {
    /// Checks a policy, given by a row for each state and a probability for each action; `whose` names it in errors.
    pub(crate) fn check_policy(
        &self,
        whose: &str,
        policy: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, ProblemError> {
        check_shape(whose, policy.len(), self.states.len())?;
        let mut rows = Vec::with_capacity(policy.len());
        for (state, row) in self.states.iter().zip(policy) {
            if row.len() != self.actions.len() {
                check_shape(&format!("{whose} in '{state}'"), row.len(), self.actions.len())?;
            }
            for (action, &p) in self.actions.iter().zip(row) {
                check_probability(p, || format!("{whose}'s probability of '{action}' in '{state}'"))?;
            }
            let sum = check_sum(row.iter().copied(), || format!("{whose}'s probabilities in '{state}'"))?;
            rows.push(row.iter().map(|p| p / sum).collect());
        }
        Ok(rows)
    }
}
