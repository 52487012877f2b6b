//! Every critic of action-values against the expectation of its own rule.

use super::LinearActionCritic;
use crate::theory::LearningRule;
use crate::theory::tests::trace_expectation::{At, Case, random_cases, trace_expectation};
use crate::theory::tests::{close, solve};
use crate::{ProblemError, Random, Table};

/// φ(s, a).
fn phi(case: &Case, s: usize, a: usize) -> Vec<f64> {
    let actions = case.task.actions();
    case.x(s).iter().flat_map(|x| (0..actions).map(move |b| if a == b { *x } else { 0.0 })).collect()
}

/// Σ_b π(b|s) φ(s, b).
fn phi_mean(case: &Case, s: usize) -> Vec<f64> {
    case.x(s).iter().flat_map(|x| case.pi[s].iter().map(move |pi| pi * x)).collect()
}

fn trace(case: &Case, coefficient: impl Fn(&At) -> f64) -> Vec<Vec<Vec<f64>>> {
    let k = case.features.len() * case.task.actions();
    trace_expectation(&case.task, &case.pi, k, |at, there, past| {
        let x = phi(case, at.state, at.action);
        x.iter().zip(past).map(|(x, z)| there * x + at.gamma * coefficient(at) * z).collect()
    })
}

#[test]
fn key_matrices_are_what_the_rules_expect() {
    for case in &random_cases(101, 8) {
        for lambda in [0.0, 0.7] {
            let rule = LearningRule::SemiGradient;
            let check = |critic: LinearActionCritic, coefficient: &dyn Fn(&At) -> f64| {
                let z = trace(case, coefficient);
                let k = z[0][0].len();
                let (mut a, mut b) = (vec![vec![0.0; k]; k], vec![0.0; k]);
                case.transitions(|s, action, p, reward, gamma, next| {
                    let (x, y) = (phi(case, s, action), phi_mean(case, next));
                    for f in 0..k {
                        let z = p * z[s][action][f];
                        (0..k).for_each(|g| a[f][g] += z * (x[g] - gamma * y[g]));
                        b[f] += z * reward;
                    }
                });
                let update = case.exact().action_critic_update(&critic, &case.features).unwrap();
                close(&format!("{critic:?}"), &update.key_matrix().concat(), &a.concat(), 1e-10);
                close(&format!("{critic:?}"), update.key_vector(), &b, 1e-10);
            };
            check(LinearActionCritic::Expected { lambda, rule }, &|at| lambda * at.rho());
            check(LinearActionCritic::Retrace { lambda }, &|at| lambda * at.rho().min(1.0));
            check(LinearActionCritic::TreeBackup { lambda }, &|at| lambda * at.pi);
        }
    }
}

#[test]
fn the_system_matrix_of_gq_is_what_the_rule_expects() {
    let mut random = Random::new(102, 0);
    for case in &random_cases(102, 6) {
        let k = case.features.len() * case.task.actions();
        let (eta, lambda) = (0.7, 0.5);
        let mut vector = || (0..k).map(|_| random.normal()).collect::<Vec<f64>>();
        let (w, h) = (vector(), vector());
        let z = trace(case, |at| lambda * at.rho());
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        let mut right = vec![0.0; 2 * k];
        case.transitions(|s, a, p, reward, gamma, next| {
            let there = p * case.task.stationary()[s] * case.task.behaviour(s)[a];
            let (x, y) = (phi(case, s, a), phi_mean(case, next));
            let z: Vec<f64> = z[s][a].iter().map(|z| p * z).collect();
            let delta = reward + gamma * dot(&w, &y) - dot(&w, &x);
            for f in 0..k {
                right[f] += delta * z[f] - gamma * (1.0 - lambda) * dot(&z, &h) * y[f];
                right[k + f] += eta * (delta * z[f] - there * dot(&x, &h) * x[f]);
            }
        });
        let critic = LinearActionCritic::Expected { lambda, rule: LearningRule::Gtd { eta } };
        let update = case.exact().action_critic_update(&critic, &case.features).unwrap();
        let b = update.key_vector();
        let g: Vec<f64> = b.iter().copied().chain(b.iter().map(|b| eta * b)).collect();
        let both = [&w[..], &h].concat();
        let system = update.system_matrix().unwrap();
        let found: Vec<f64> = g.iter().zip(&system).map(|(g, row)| g - dot(row, &both)).collect();
        close("GQ", &found, &right, 1e-10);
    }
}

#[test]
fn critics_that_see_the_states_learn_their_action_values() {
    for case in random_cases(103, 6).iter().step_by(2) {
        let exact = case.exact();
        let states = Table::one_hot(case.task.states());
        for critic in [
            LinearActionCritic::Expected { lambda: 0.5, rule: LearningRule::Tdrc { eta: 1.0, beta: 1.0 } },
            LinearActionCritic::Retrace { lambda: 1.0 },
            LinearActionCritic::TreeBackup { lambda: 0.9 },
            LinearActionCritic::Model,
        ] {
            let weights = exact.action_critic_update(&critic, &states).unwrap().fixed_point().unwrap();
            assert!(exact.action_value_error(&states, &weights, exact.stationary()) < 1e-9, "{critic:?}");
        }
    }
}

/// The model by hand: least squares of the reward and of the next features for each action, then its values by iteration.
#[test]
fn a_model_of_aliased_states_has_the_fixed_point_of_least_squares() {
    for case in random_cases(104, 8).iter().step_by(2) {
        let (n, actions) = (case.task.states(), case.task.actions());
        // Two groups of states, in which the target acts alike.
        let group: Vec<usize> = (0..n).map(|s| s % 2).collect();
        let pi: Vec<Vec<f64>> = (0..n).map(|s| case.pi[group[s]].clone()).collect();
        let policy = crate::Fixed::new(&case.task, &pi).unwrap();
        let Ok(exact) = crate::Exact::new(&case.task, &policy, &[]) else { continue };
        let features = Table::aliased(&group);
        // For groups, least squares are means over the visits.
        let (mut visits, mut reward) = (vec![vec![0.0; actions]; 2], vec![vec![0.0; actions]; 2]);
        let mut next_group = vec![vec![[0.0; 2]; actions]; 2];
        case.transitions(|s, a, p, r, gamma, next| {
            let there = case.task.stationary()[s] * case.task.behaviour(s)[a] * p;
            visits[group[s]][a] += there;
            reward[group[s]][a] += there * r;
            next_group[group[s]][a][group[next]] += there * gamma;
        });
        let mean = |x: f64, g: usize, a: usize| if visits[g][a] > 0.0 { x / visits[g][a] } else { 0.0 };
        let q = |v: &[f64], g: usize, a: usize| {
            mean(reward[g][a] + next_group[g][a][0] * v[0] + next_group[g][a][1] * v[1], g, a)
        };
        // v = Σ_a π q, for both groups.
        let value_row = |g: usize| {
            let entry =
                |h: usize| (0..actions).map(|a| pi[g][a] * mean(next_group[g][a][h], g, a)).sum::<f64>();
            (0..2).map(|h| f64::from(u8::from(g == h)) - entry(h)).collect::<Vec<f64>>()
        };
        let rewards = |g: usize| (0..actions).map(|a| pi[g][a] * mean(reward[g][a], g, a)).sum::<f64>();
        let v = solve((0..2).map(value_row).collect(), (0..2).map(rewards).collect());
        let weights =
            exact.action_critic_update(&LinearActionCritic::Model, &features).unwrap().fixed_point().unwrap();
        for g in 0..2 {
            let right: Vec<f64> = (0..actions).map(|a| q(&v, g, a)).collect();
            close("q", &weights[g * actions..(g + 1) * actions], &right, 1e-8);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let case = &random_cases(105, 1)[0];
    let refused =
        |critic: &LinearActionCritic| case.exact().action_critic_update(critic, &case.features).unwrap_err();
    assert!(matches!(refused(&LinearActionCritic::Retrace { lambda: 2.0 }), ProblemError::Number { .. }));
    let rule = LearningRule::Gtd { eta: -1.0 };
    assert!(matches!(
        refused(&LinearActionCritic::Expected { lambda: 0.0, rule }),
        ProblemError::Number { .. }
    ));
}
