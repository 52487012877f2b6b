//! The expectation of any trace, by following it step by step from zero until it no longer changes.
//!
//! It knows nothing of matrices or closed forms: a trace is what its rule says, summed over all transitions into a state and all
//! actions in it.

use super::random_weights;
use crate::{Exact, Fixed, Policy, Random, Softmax, Table, Task};

/// What a rule may know of a step: S_t, A_t, the transition before it, and its ratios.
#[derive(Clone, Copy, Debug)]
pub(in crate::theory) struct At {
    pub(in crate::theory) state: usize,
    pub(in crate::theory) action: usize,
    pub(in crate::theory) mu: f64,
    pub(in crate::theory) pi: f64,
    /// γ_t.
    pub(in crate::theory) gamma: f64,
    /// S_{t−1}, and the probabilities of A_{t−1}.
    pub(in crate::theory) state_prev: usize,
    pub(in crate::theory) mu_prev: f64,
    pub(in crate::theory) pi_prev: f64,
}

impl At {
    /// ρ_t.
    pub(in crate::theory) fn rho(&self) -> f64 {
        self.pi / self.mu
    }

    /// ρ_{t−1}.
    pub(in crate::theory) fn rho_prev(&self) -> f64 {
        self.pi_prev / self.mu_prev
    }
}

/// Σ P(S_t = s, A_t = a) E[z_t | s, a] in the limit, for each state and action, where z_t is what `rule` returns, given the
/// step, the probability of being there, and z_{t−1} times that probability: it must be linear in both.
pub(in crate::theory) fn trace_expectation(
    task: &Task,
    pi: &[Vec<f64>],
    len: usize,
    rule: impl Fn(&At, f64, &[f64]) -> Vec<f64>,
) -> Vec<Vec<Vec<f64>>> {
    let (n, actions) = (task.states(), task.actions());
    let nothing = vec![vec![vec![0.0; len]; actions]; n];
    let mut z = nothing.clone();
    for _ in 0..20_000 {
        let mut new = nothing.clone();
        for s in 0..n {
            for a in (0..actions).filter(|&a| task.behaviour(s)[a] > 0.0) {
                let mu_prev = task.behaviour(s)[a];
                for t in task.problem().transitions(s, a) {
                    let there = task.stationary()[s] * mu_prev * t.probability;
                    for (action, &mu) in
                        task.behaviour(t.next).iter().enumerate().filter(|(_, mu)| **mu > 0.0)
                    {
                        let past: Vec<f64> = z[s][a].iter().map(|z| z * t.probability * mu).collect();
                        let at = At {
                            state: t.next,
                            action,
                            mu,
                            pi: pi[t.next][action],
                            gamma: t.gamma,
                            state_prev: s,
                            mu_prev,
                            pi_prev: pi[s][a],
                        };
                        let more = rule(&at, there * mu, &past);
                        new[t.next][action].iter_mut().zip(more).for_each(|(z, more)| *z += more);
                    }
                }
            }
        }
        let flat = |z: &[Vec<Vec<f64>>]| z.iter().flatten().flatten().copied().collect::<Vec<f64>>();
        let (old, now) = (flat(&z), flat(&new));
        let size = now.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        z = new;
        if old.iter().zip(&now).all(|(old, new)| (old - new).abs() <= 1e-15 * size) {
            return z;
        }
    }
    panic!("the trace does not settle");
}

/// A small random problem, with a policy to evaluate and a few features.
pub(in crate::theory) struct Case {
    pub(in crate::theory) task: Task,
    pub(in crate::theory) pi: Vec<Vec<f64>>,
    pub(in crate::theory) policy: Fixed,
    pub(in crate::theory) features: Table,
}

impl Case {
    pub(in crate::theory) fn exact(&self) -> Exact<'_, f64, Task, Fixed> {
        Exact::new(&self.task, &self.policy, &[]).unwrap()
    }

    /// Whether the behaviour takes all actions that the target does.
    pub(in crate::theory) fn covers(&self) -> bool {
        let covers =
            |s: usize| self.task.behaviour(s).iter().zip(&self.pi[s]).all(|(mu, pi)| *mu > 0.0 || *pi == 0.0);
        (0..self.task.states()).all(covers)
    }

    /// x(s).
    pub(in crate::theory) fn x(&self, state: usize) -> Vec<f64> {
        let mut x = vec![0.0; self.features.len()];
        self.features.active(state).for_each(|(f, value)| x[f] += value);
        x
    }

    /// Σ over all transitions of their probability, with the reward, γ_{t+1} and the next state.
    pub(in crate::theory) fn transitions(&self, mut sum: impl FnMut(usize, usize, f64, f64, f64, usize)) {
        for s in 0..self.task.states() {
            for a in 0..self.task.actions() {
                let outcomes = self.task.problem().transitions(s, a);
                outcomes.iter().for_each(|t| sum(s, a, t.probability, t.reward, t.gamma, t.next));
            }
        }
    }
}

/// Random problems of at most seven states; every third target never takes some actions, and every fourth takes one that the
/// behaviour never does.
pub(in crate::theory) fn random_cases(seed: u64, count: usize) -> Vec<Case> {
    let mut random = Random::new(seed, 0);
    let mut cases = Vec::new();
    while cases.len() < count {
        let mut task = Task::random(&mut random);
        if task.states() > 7 {
            continue;
        }
        let softmax = Softmax { features: (&Table::one_hot(task.states())).into(), actions: task.actions() };
        let weights = random_weights(&mut random, &softmax);
        let mut pi: Vec<Vec<f64>> = (0..task.states())
            .map(|s| softmax.distribution_at(&weights, softmax.features().of_number(s)))
            .collect();
        if cases.len() % 3 == 0 {
            pi.iter_mut().for_each(|row| {
                let rest = 1.0 - row[1];
                row[1] = 0.0;
                row.iter_mut().for_each(|p| *p /= rest);
            });
        }
        if cases.len() % 4 == 3 {
            let mut behaviour: Vec<Vec<f64>> =
                (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
            behaviour[0][0] += behaviour[0][1];
            behaviour[0][1] = 0.0;
            task = task.with_behaviour(&behaviour).unwrap();
        }
        let len = 2 + random.below(2);
        let rows: Vec<Vec<f64>> =
            (0..task.states()).map(|_| (0..len).map(|_| random.normal()).collect()).collect();
        let features = Table::dense(&rows).unwrap();
        let policy = Fixed::new(&task, &pi).unwrap();
        cases.push(Case { task, pi, policy, features });
    }
    cases
}
