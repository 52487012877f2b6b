//! Every critic against the expectation of its own rule, and against what is published of it.

use super::LinearCritic;
use crate::theory::follow_on_moments::tests::{five_states, relatively_near, right, two_states};
use crate::theory::tests::trace_expectation::{At, Case, random_cases, trace_expectation};
use crate::theory::tests::{close, continuing, dense, random_weights, solve};
use crate::theory::{EmphasisKind, EmphasisRead, LearnedEmphasis, LearningRule};
use crate::{Exact, Fixed, ProblemError, Random, Table};

/// E[κ_t (R_{t+1} + γ_{t+1} w·x_{t+1} − w·x_t) z_t] as (A, b), with the trace z_t = M_t x_t + decay z_{t−1} that a rule makes of the
/// step, its numbers before z, and z.
struct Rule<D, K> {
    /// The numbers before z.
    own: usize,
    step: D,
    kappa: K,
}

fn followed<D, K>(case: &Case, rule: &Rule<D, K>) -> (Vec<Vec<f64>>, Vec<f64>)
where
    D: Fn(&At, f64, &[f64]) -> Vec<f64>,
    K: Fn(f64, f64) -> f64,
{
    let k = case.features.len();
    let z = trace_expectation(&case.task, &case.pi, rule.own + k, &rule.step);
    let (mut a, mut b) = (vec![vec![0.0; k]; k], vec![0.0; k]);
    case.transitions(|s, action, p, reward, gamma, next| {
        let mu = case.task.behaviour(s)[action];
        if mu == 0.0 {
            return;
        }
        let kappa = (rule.kappa)(case.pi[s][action], mu);
        let (x, y) = (case.x(s), case.x(next));
        for f in 0..k {
            let z = p * kappa * z[s][action][rule.own + f];
            (0..k).for_each(|g| a[f][g] += z * (x[g] - gamma * y[g]));
            b[f] += z * reward;
        }
    });
    (a, b)
}

fn check<D, K>(case: &Case, critic: &LinearCritic, rule: Rule<D, K>)
where
    D: Fn(&At, f64, &[f64]) -> Vec<f64>,
    K: Fn(f64, f64) -> f64,
{
    let update = case.exact().critic_update(critic, &case.features).unwrap();
    let (a, b) = followed(case, &rule);
    let what = format!("{critic:?}");
    close(&what, &update.key_matrix().concat(), &a.concat(), 1e-10);
    close(&what, update.key_vector(), &b, 1e-10);
    // The fixed point is where the rule expects no change. (Where there is no interest, there may be others.)
    let w = update.fixed_point().unwrap();
    let moved: Vec<f64> = a.iter().map(|row| row.iter().zip(&w).map(|(a, w)| a * w).sum()).collect();
    let size = w.iter().fold(1.0, |most: f64, w| most.max(w.abs()));
    moved.iter().zip(&b).for_each(|(moved, b)| assert!((moved - b).abs() < 1e-10 * size, "{what}: {w:?}"));
}

/// z ← decay z + scale x.
fn trace(case: &Case, at: &At, past: &[f64], decay: f64, scale: f64) -> Vec<f64> {
    case.x(at.state).iter().zip(past).map(|(x, z)| decay * z + scale * x).collect()
}

#[test]
fn key_matrices_are_what_the_rules_expect() {
    for case in &random_cases(81, 12) {
        for lambda in [0.0, 0.6, 1.0] {
            check(
                case,
                &LinearCritic::td(lambda),
                Rule {
                    own: 0,
                    step: |at: &At, there: f64, past: &[f64]| {
                        trace(case, at, past, at.rho() * at.gamma * lambda, at.rho() * there)
                    },
                    kappa: |_, _| 1.0,
                },
            );
            for (rho_max, c_max) in [(1.0, 1.0), (1.5, 0.7)] {
                check(
                    case,
                    &LinearCritic::VTrace { lambda, rho_max, c_max },
                    Rule {
                        own: 0,
                        step: |at: &At, there: f64, past: &[f64]| {
                            trace(case, at, past, at.gamma * lambda * at.rho_prev().min(c_max), there)
                        },
                        kappa: |pi: f64, mu: f64| (pi / mu).min(rho_max),
                    },
                );
            }
            check(
                case,
                &LinearCritic::TreeBackup { lambda },
                Rule {
                    own: 0,
                    step: |at: &At, there: f64, past: &[f64]| {
                        trace(case, at, past, at.gamma * lambda * at.pi_prev, there)
                    },
                    kappa: |pi: f64, mu: f64| pi / mu,
                },
            );
            for rho_max in [0.9, 1e9] {
                let emphasis = EmphasisKind::Clipped { rho_max };
                let rule = LearningRule::SemiGradient;
                check(
                    case,
                    &LinearCritic::Emphatic { lambda, emphasis, rule },
                    Rule {
                        own: 1,
                        step: |at: &At, there: f64, past: &[f64]| {
                            let interest = case.task.interest()[at.state] * there;
                            let follow_on = at.gamma * at.rho_prev().min(rho_max) * past[0] + interest;
                            let m = lambda * interest + (1.0 - lambda) * follow_on;
                            let decay = at.rho() * at.gamma * lambda;
                            let z = trace(case, at, &past[1..], decay, at.rho() * m);
                            std::iter::once(follow_on).chain(z).collect()
                        },
                        kappa: |_, _| 1.0,
                    },
                );
            }
        }
        for xi in [0.0, 0.8, 1.7] {
            check(
                case,
                &LinearCritic::AbTd { xi },
                Rule {
                    own: 0,
                    step: |at: &At, there: f64, past: &[f64]| {
                        let nu = xi.min(1.0 / at.mu_prev.max(at.pi_prev));
                        trace(case, at, past, at.gamma * nu * at.pi_prev, there)
                    },
                    kappa: |pi: f64, mu: f64| pi / mu,
                },
            );
        }
    }
}

/// E[Δ(w, h)] of each rule with second weights is g − G (w, h).
#[test]
fn system_matrices_are_what_the_rules_expect() {
    let mut random = Random::new(82, 0);
    for case in &random_cases(82, 12) {
        let k = case.features.len();
        let (eta, beta) = (0.7, 0.4);
        let mut vector = |_: usize| (0..k).map(|_| random.normal()).collect::<Vec<f64>>();
        let (w, h) = (vector(0), vector(1));
        for lambda in [0.0, 0.5] {
            // z and z^μ.
            let z = trace_expectation(&case.task, &case.pi, 2 * k, |at, there, past| {
                let z = trace(case, at, &past[..k], at.rho() * at.gamma * lambda, at.rho() * there);
                [z, trace(case, at, &past[k..], at.gamma * lambda, there)].concat()
            });
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let add = |sum: &mut Vec<f64>, scale: f64, x: &[f64]| {
                sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += scale * x)
            };
            // The updates of w and of h: GTD, GTD2, TDRC, HTD.
            let mut updates = vec![[vec![0.0; k], vec![0.0; k]]; 4];
            case.transitions(|s, a, p, reward, gamma, next| {
                let there = p * case.task.stationary()[s] * case.task.behaviour(s)[a];
                let z: Vec<f64> = z[s][a].iter().map(|z| p * z).collect();
                let (z, z_mu) = z.split_at(k);
                let (x, y) = (case.x(s), case.x(next));
                let difference: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - gamma * y).collect();
                let delta = reward - dot(&w, &difference);
                let x_h = there * dot(&x, &h);
                let correction = -gamma * (1.0 - lambda) * dot(z, &h);
                let [gtd, gtd2, tdrc, htd] = &mut updates[..] else { unreachable!() };
                for of in [&mut *gtd, tdrc] {
                    add(&mut of[0], delta, z);
                    add(&mut of[0], correction, &y);
                }
                add(&mut gtd2[0], x_h, &x);
                add(&mut gtd2[0], correction, &y);
                for of in [&mut *gtd, gtd2, tdrc] {
                    add(&mut of[1], eta * delta, z);
                    add(&mut of[1], -eta * x_h, &x);
                }
                add(&mut tdrc[1], -eta * beta * there, &h);
                add(&mut htd[0], delta, z);
                add(&mut htd[0], dot(z, &h) - dot(z_mu, &h), &difference);
                add(&mut htd[1], eta * delta, z);
                add(&mut htd[1], -eta * dot(z_mu, &h), &difference);
            });
            let critics = [
                LinearCritic::Td { lambda, rule: LearningRule::Gtd { eta } },
                LinearCritic::Td { lambda, rule: LearningRule::Gtd2 { eta } },
                LinearCritic::Td { lambda, rule: LearningRule::Tdrc { eta, beta } },
                LinearCritic::Hybrid { lambda, eta },
            ];
            for (critic, right) in critics.iter().zip(&updates) {
                let update = case.exact().critic_update(critic, &case.features).unwrap();
                let b = update.key_vector();
                let is_gtd2 = matches!(critic, LinearCritic::Td { rule: LearningRule::Gtd2 { .. }, .. });
                let first = b.iter().map(|b| if is_gtd2 { 0.0 } else { *b });
                let g: Vec<f64> = first.chain(b.iter().map(|b| eta * b)).collect();
                let both = [&w[..], &h].concat();
                let system = update.system_matrix().unwrap();
                let found: Vec<f64> = g.iter().zip(&system).map(|(g, row)| g - dot(row, &both)).collect();
                close(&format!("{critic:?}"), &found, &right.concat(), 1e-10);
            }
        }
    }
}

#[test]
fn n_step_critics_look_ahead_as_far_as_they_look_back() {
    for case in &random_cases(83, 8) {
        let exact = case.exact();
        let n_states = case.task.states();
        let features = Table::one_hot(n_states);
        for n in [1, 2, 3] {
            let emphasis = EmphasisKind::NStep { n };
            let f = exact.emphasis_weighting(&emphasis, 1.0).unwrap();
            let update = exact.critic_update(&LinearCritic::NStep { n, emphasis }, &features).unwrap();
            // Row by row: the return of n steps and the value after them, followed by hand.
            let observed =
                |s: usize, a: usize| if case.task.behaviour(s)[a] > 0.0 { case.pi[s][a] } else { 0.0 };
            for s in 0..n_states {
                let mut row = vec![0.0; n_states];
                let mut reward = 0.0;
                let mut at = vec![0.0; n_states];
                at[s] = f[s];
                for _ in 0..n {
                    let mut next_at = vec![0.0; n_states];
                    case.transitions(|s, a, p, r, gamma, next| {
                        let share = at[s] * observed(s, a) * p;
                        row[s] += share;
                        row[next] -= share * gamma;
                        reward += share * r;
                        next_at[next] += share * gamma;
                    });
                    at = next_at;
                }
                close("the n-step key matrix", &update.key_matrix()[s], &row, 1e-12);
                close("the n-step key vector", &[update.key_vector()[s]], &[reward], 1e-12);
            }
        }
    }
    // The column sums are the interest, as those of ETD(0).
    let case = &random_cases(83, 1)[0];
    let features = Table::one_hot(case.task.states());
    let interest = case.exact().emphasis_weighting(&EmphasisKind::None, 1.0).unwrap();
    for n in 1..4 {
        let critic = LinearCritic::NStep { n, emphasis: EmphasisKind::NStep { n } };
        let update = case.exact().critic_update(&critic, &features).unwrap();
        let sum = |j: usize| update.key_matrix().iter().map(|row| row[j]).sum::<f64>();
        close("column sums", &(0..interest.len()).map(sum).collect::<Vec<_>>(), &interest, 1e-12);
    }
}

#[test]
fn the_columns_of_an_emphatic_key_matrix_sum_to_the_interest() {
    for seed in 0..50 {
        let mut random = Random::new(84, seed);
        let task = crate::Task::random(&mut random);
        let policy = task.softmax();
        let weights = random_weights(&mut random, &policy);
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let states = Table::one_hot(task.states());
        let interest = exact.emphatic_weighting(0.0);
        // For every λ: the column sums are fᵀ(I − λP)⁻¹(I − P) with fᵀ = iᵀ(I − P)⁻¹(I − λP).
        for lambda in [0.0, 0.3, 1.0] {
            let update = exact.critic_update(&LinearCritic::etd(lambda), &states).unwrap();
            let sum = |j: usize| update.key_matrix().iter().map(|row| row[j]).sum::<f64>();
            close("column sums", &(0..interest.len()).map(sum).collect::<Vec<_>>(), &interest, 1e-11);
        }
        // ETD(0) and TD(0) as the older function has them.
        let etd = exact.critic_update(&LinearCritic::etd(0.0), task.actor()).unwrap();
        let key_matrix = exact.key_matrix(task.actor(), &exact.emphatic_weighting(1.0));
        close("ETD(0)", &etd.key_matrix().concat(), &key_matrix.concat(), 1e-11);
    }
}

#[test]
fn critics_that_see_the_states_learn_their_values() {
    for case in random_cases(85, 6).iter().step_by(2) {
        let exact = case.exact();
        let states = Table::one_hot(case.task.states());
        let emphasis = EmphasisKind::Learned(LearnedEmphasis {
            read: EmphasisRead::Return,
            ..LearnedEmphasis::direct(states.clone(), 0.5)
        });
        let rule = LearningRule::LeastSquares;
        let visited: Vec<f64> = exact.stationary().iter().map(|d| f64::from(u8::from(*d > 0.0))).collect();
        for critic in [
            LinearCritic::td(0.0),
            LinearCritic::td(1.0),
            LinearCritic::Td { lambda: 0.4, rule },
            LinearCritic::Hybrid { lambda: 0.4, eta: 1.0 },
            LinearCritic::TreeBackup { lambda: 0.9 },
            LinearCritic::abtd(0.6, [1.0, 2.0]),
            LinearCritic::VTrace { lambda: 0.8, rho_max: f64::INFINITY, c_max: 1.0 },
            LinearCritic::NStep { n: 4, emphasis: EmphasisKind::None },
        ] {
            if matches!(critic, LinearCritic::NStep { .. }) && case.task.interest().contains(&0.0) {
                continue; // Where there is no interest, nothing is learned.
            }
            let update = exact.critic_update(&critic, &states).unwrap();
            let weights = update.fixed_point().unwrap();
            assert!(exact.value_error(&states, &weights, &visited) < 1e-9, "{critic:?}");
            assert!(update.projected_bellman_error(&weights).unwrap() < 1e-9);
        }
        let interested = case.task.interest().iter().all(|i| *i > 0.0);
        let critic = LinearCritic::Emphatic { lambda: 0.3, emphasis, rule };
        let update = exact.critic_update(&critic, &states).unwrap();
        if let Some(weights) = update.fixed_point().filter(|_| interested) {
            assert!(exact.value_error(&states, &weights, &visited) < 1e-9);
        }
    }
}

/// V-trace's fixed point is the value of the policy in proportion to min(π, ρ̄ μ).
#[test]
fn v_trace_learns_the_values_of_a_policy_in_between() {
    for case in &random_cases(86, 4) {
        let exact = case.exact();
        let states = Table::one_hot(case.task.states());
        for rho_max in [0.5, 1.0] {
            let between: Vec<Vec<f64>> = (0..case.task.states())
                .map(|s| {
                    let row: Vec<f64> = case
                        .task
                        .behaviour(s)
                        .iter()
                        .zip(&case.pi[s])
                        .map(|(mu, pi)| pi.min(rho_max * mu))
                        .collect();
                    let sum: f64 = row.iter().sum();
                    row.iter().map(|p| p / sum).collect()
                })
                .collect();
            let policy = Fixed::new(&case.task, &between).unwrap();
            let values = Exact::new(&case.task, &policy, &[]).unwrap();
            let critic = LinearCritic::VTrace { lambda: 0.7, rho_max, c_max: 1.0 };
            let weights = exact.critic_update(&critic, &states).unwrap().fixed_point().unwrap();
            assert!(values.value_error(&states, &weights, exact.stationary()) < 1e-9);
        }
    }
}

#[test]
fn with_full_returns_the_fixed_point_is_the_nearest_to_the_values() {
    for case in random_cases(87, 6).iter().step_by(2) {
        let exact = case.exact();
        let k = case.features.len();
        let weights =
            exact.critic_update(&LinearCritic::td(1.0), &case.features).unwrap().fixed_point().unwrap();
        // The normal equations.
        let (mut gram, mut rhs) = (vec![vec![0.0; k]; k], vec![0.0; k]);
        for (s, d) in exact.stationary().iter().enumerate() {
            let x = case.x(s);
            for f in 0..k {
                (0..k).for_each(|g| gram[f][g] += d * x[f] * x[g]);
                rhs[f] += d * x[f] * exact.values()[s];
            }
        }
        close("TD(1)", &weights, &solve(gram, rhs), 1e-8);
        let least = exact.value_error(&case.features, &weights, exact.stationary());
        let mut moved = weights.clone();
        moved[0] += 1e-3;
        assert!(exact.value_error(&case.features, &moved, exact.stationary()) > least);
    }
}

#[test]
fn the_two_states_as_published() {
    // Sutton, Mahmood and White (2016): −0.2 for TD(0), 3.4 for ETD(0).
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let features = Table::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let key = |critic: &LinearCritic| exact.critic_update(critic, &features).unwrap().key_matrix()[0][0];
    relatively_near(key(&LinearCritic::td(0.0)), -0.2, 1e-13);
    relatively_near(key(&LinearCritic::etd(0.0)), 3.4, 1e-13);
    // By hand: with full returns it is Σ d x² = 2.5, whatever the ratios.
    relatively_near(key(&LinearCritic::td(1.0)), 2.5, 1e-13);
    relatively_near(key(&LinearCritic::etd(1.0)), 2.5, 1e-13);
    // GTD2 and TDC: A² / C and A² η / C decide; the system of one feature is ((A, C − A), (ηA, ηC)).
    let rule = LearningRule::Gtd { eta: 2.0 };
    let gtd = exact.critic_update(&LinearCritic::Td { lambda: 0.0, rule }, &features).unwrap();
    let expected = [-0.2, 2.7, -0.4, 5.0];
    close("GTD", &gtd.system_matrix().unwrap().concat(), &expected, 1e-13);
    // V-trace clips the ratio 2 to 1: half of the step is lost. Σ d x (½ x − 0.45 x′).
    let v_trace = LinearCritic::VTrace { lambda: 0.0, rho_max: 1.0, c_max: 1.0 };
    relatively_near(key(&v_trace), 0.5 * (0.5 - 0.9) + 0.5 * 2.0 * (1.0 - 0.9), 1e-13);
}

#[test]
fn the_five_states_as_published() {
    // Sutton, Mahmood and White (2016), section 5: v = (4, 3, 2, 1, 1), and m = (16, 24, 28, 30, 1)/31.
    let task = five_states();
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    close("v", exact.values(), &[4.0, 3.0, 2.0, 1.0, 1.0], 1e-13);
    let m = [16.0, 24.0, 28.0, 30.0, 1.0].map(|m| m / 31.0);
    close("m", &exact.emphasis_weighting(&EmphasisKind::FollowOn, 1.0).unwrap(), &m, 1e-13);
    let features = Table::dense(&[
        vec![1.0, 0.0, 0.0],
        vec![1.0, 1.0, 0.0],
        vec![0.0, 1.0, 0.0],
        vec![0.0, 1.0, 1.0],
        vec![0.0, 0.0, 1.0],
    ])
    .unwrap();
    let fixed_point = |critic| exact.critic_update(&critic, &features).unwrap().fixed_point().unwrap();
    // By hand, with P that leads to the right and no further than to 4: A = Σ weight x (x − x′)ᵀ, b = Σ weight x.
    let by_hand = |weight: [f64; 5]| {
        let x = [[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0], [0.0, 0.0, 1.0]];
        let (mut a, mut b) = (vec![vec![0.0; 3]; 3], vec![0.0; 3]);
        for s in 0..5 {
            for f in 0..3 {
                b[f] += weight[s] * x[s][f];
                (0..3).for_each(|g| {
                    let next = if s < 3 { x[s + 1][g] } else { 0.0 };
                    a[f][g] += weight[s] * x[s][f] * (x[s][g] - next);
                });
            }
        }
        solve(a, b)
    };
    let d = [16.0, 8.0, 4.0, 2.0, 1.0].map(|d| d / 31.0);
    close("TD(0)", &fixed_point(LinearCritic::td(0.0)), &by_hand(d), 1e-12);
    close("ETD(0)", &fixed_point(LinearCritic::etd(0.0)), &by_hand(m), 1e-12);
    // ETD(0) has the smaller error, as the paper has it for the emphasis' own weighting.
    let error = |critic| exact.value_error(&features, &fixed_point(critic), &m);
    assert!(error(LinearCritic::etd(0.0)) < error(LinearCritic::td(0.0)));
}

#[test]
fn the_range_of_abtd_is_that_of_collision() {
    // Always right, where the behaviour is even: max(μ, π) is 1 or ½.
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    assert_eq!(exact.abtd_range(), [1.0, 2.0]);
    assert_eq!(LinearCritic::abtd(0.25, [1.0, 2.0]), LinearCritic::AbTd { xi: 0.5 });
    assert_eq!(LinearCritic::abtd(1.0, [1.0, 4.0]), LinearCritic::AbTd { xi: 4.0 });
}

#[test]
fn hybrid_td_is_td_if_the_policies_are_the_same() {
    let task = continuing(&mut Random::new(88, 0), 0.9);
    let behaviour: Vec<Vec<f64>> = (0..task.states()).map(|s| task.behaviour(s).to_vec()).collect();
    let policy = Fixed::new(&task, &behaviour).unwrap();
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let states = Table::one_hot(task.states());
    let critic = LinearCritic::Hybrid { lambda: 0.6, eta: 1.0 };
    let update = exact.critic_update(&critic, &states).unwrap();
    let system = update.system_matrix().unwrap();
    for (row, key) in system.iter().zip(update.key_matrix()) {
        close("A", &row[..key.len()], key, 1e-13);
        close("0", &row[key.len()..], &vec![0.0; key.len()], 1e-13);
    }
}

#[test]
fn the_projected_bellman_error_is_that_of_the_projection() {
    // ‖Π(r + P v̂ − v̂)‖ in d_μ, by projecting with the normal equations.
    for case in random_cases(89, 6).iter().step_by(2) {
        let exact = case.exact();
        let (p, r) = dense(&case.task, &case.pi);
        let (k, n) = (case.features.len(), case.task.states());
        let mut random = Random::new(89, 1);
        let w: Vec<f64> = (0..k).map(|_| random.normal()).collect();
        let v: Vec<f64> = (0..n).map(|s| case.x(s).iter().zip(&w).map(|(x, w)| x * w).sum()).collect();
        let error: Vec<f64> =
            (0..n).map(|s| r[s] + (0..n).map(|t| p[s][t] * v[t]).sum::<f64>() - v[s]).collect();
        let (mut gram, mut rhs) = (vec![vec![0.0; k]; k], vec![0.0; k]);
        for (s, d) in exact.stationary().iter().enumerate() {
            for f in 0..k {
                (0..k).for_each(|g| gram[f][g] += d * case.x(s)[f] * case.x(s)[g]);
                rhs[f] += d * case.x(s)[f] * error[s];
            }
        }
        let projection = solve(gram, rhs);
        let at = |s: usize| case.x(s).iter().zip(&projection).map(|(x, y)| x * y).sum::<f64>();
        let right: f64 = (0..n).map(|s| exact.stationary()[s] * at(s) * at(s)).sum();
        let update = exact.critic_update(&LinearCritic::td(0.0), &case.features).unwrap();
        relatively_near(update.projected_bellman_error(&w).unwrap(), right.sqrt(), 1e-10);
    }
}

#[test]
fn directions_that_are_never_updated_stay_zero() {
    // Baird's seven states have eight features: one direction is free, and the values (all zero) are learned all the same.
    let case = &random_cases(90, 1)[0];
    let n = case.task.states();
    let rows: Vec<Vec<f64>> = (0..n)
        .map(|s| (0..=n).map(|f| if f == s { 2.0 } else { f64::from(u8::from(f == n)) }).collect())
        .collect();
    let features = Table::dense(&rows).unwrap();
    let update = case.exact().critic_update(&LinearCritic::td(0.0), &features).unwrap();
    let weights = update.fixed_point().unwrap();
    assert!(case.exact().value_error(&features, &weights, case.exact().stationary()) < 1e-9);
    // What no state has: w orthogonal to all x, which is (1, …, 1, −2).
    relatively_near(weights[..n].iter().sum::<f64>() - 2.0 * weights[n], 0.0, 1e-9);
    // Features that say nothing at all have the zero weight.
    let nothing = Table::dense(&vec![vec![0.0]; n]).unwrap();
    let update = case.exact().critic_update(&LinearCritic::td(0.0), &nothing).unwrap();
    assert_eq!(update.fixed_point(), Some(vec![0.0]));
}

#[test]
fn a_singular_key_matrix_has_no_fixed_point() {
    // θ → kθ: A = ½ (1 − γk) + ½ k² (1 − γ) is zero at k with 1 − 0.9k + 0.1k² = 0.
    let k = (0.9 + (0.81f64 - 0.4).sqrt()) / 0.2;
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let features = Table::dense(&[vec![1.0, 0.0], vec![k, 0.0]]).unwrap();
    let update = exact.critic_update(&LinearCritic::td(0.0), &features).unwrap();
    assert!(update.key_matrix()[0][0].abs() < 1e-14);
    assert_eq!(update.fixed_point(), None);
}

#[test]
fn what_cannot_be_is_refused() {
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let states = Table::one_hot(2);
    let refused = |critic: &LinearCritic| exact.critic_update(critic, &states).unwrap_err();
    for critic in [
        LinearCritic::td(1.5),
        LinearCritic::td(f64::NAN),
        LinearCritic::Td { lambda: 0.5, rule: LearningRule::Gtd { eta: 0.0 } },
        LinearCritic::Td { lambda: 0.5, rule: LearningRule::Tdrc { eta: 1.0, beta: -1.0 } },
        LinearCritic::Hybrid { lambda: 0.5, eta: f64::INFINITY },
        LinearCritic::VTrace { lambda: 0.5, rho_max: -1.0, c_max: 1.0 },
        LinearCritic::AbTd { xi: -1.0 },
        LinearCritic::NStep { n: 0, emphasis: EmphasisKind::None },
    ] {
        assert!(matches!(refused(&critic), ProblemError::Number { .. }), "{critic:?}");
    }
    let three = Table::one_hot(3);
    let error = exact.critic_update(&LinearCritic::td(0.0), &three).unwrap_err();
    assert!(matches!(error, ProblemError::Shape { got: 3, right: 2, .. }), "{error}");
}
