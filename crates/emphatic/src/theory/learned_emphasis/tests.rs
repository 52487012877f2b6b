//! The learned emphasis against the expectation of its rules, and the identities that it obeys.

use super::{EmphasisRead, LearnedEmphasis, MeanPenalty};
use crate::theory::follow_on_moments::tests::{relatively_near, right, two_states};
use crate::theory::tests::trace_expectation::{At, Case, random_cases, trace_expectation};
use crate::theory::tests::{close, continuing, random_weights, solve};
use crate::theory::{EmphasisKind, ExpectedUpdate, LearningRule, LinearCritic};
use crate::{Exact, Fixed, Problem, ProblemError, Random, Table, Task};

fn direct(features: &Table, lambda_e: f64) -> LearnedEmphasis {
    LearnedEmphasis::direct(features.clone(), lambda_e)
}

/// c_t and y_t.
fn parts(case: &Case, lambda_e: f64) -> Vec<Vec<Vec<f64>>> {
    parts_of(case, lambda_e, case.features.len(), |s| case.x(s))
}

/// c_t and y_t with other features.
fn parts_of(case: &Case, lambda_e: f64, k: usize, x: impl Fn(usize) -> Vec<f64>) -> Vec<Vec<Vec<f64>>> {
    trace_expectation(&case.task, &case.pi, 1 + k, |at: &At, there, past| {
        let passed = at.gamma * at.rho_prev();
        let x_prev = x(at.state_prev);
        let c = case.task.interest()[at.state] * there + passed * lambda_e * past[0];
        let y = (0..k).map(|f| passed * ((1.0 - lambda_e) * x_prev[f] * there + lambda_e * past[1 + f]));
        std::iter::once(c).chain(y).collect()
    })
}

#[test]
fn key_matrices_and_both_reads_are_what_the_rule_expects() {
    let mut negative = 0;
    for (number, case) in random_cases(91, 12).iter().enumerate() {
        let (exact, k, n) = (case.exact(), case.features.len(), case.task.states());
        for lambda_e in [0.0, 0.5, 1.0] {
            let parts = parts(case, lambda_e);
            let sum = |s: usize, f: usize| parts[s].iter().map(|z| z[f]).sum::<f64>();
            // E[x (x − y)ᵀ] and E[c x].
            let (mut a, mut b) = (vec![vec![0.0; k]; k], vec![0.0; k]);
            for s in 0..n {
                let (x, d) = (case.x(s), case.task.stationary()[s]);
                for f in 0..k {
                    (0..k).for_each(|g| a[f][g] += x[f] * (d * x[g] - sum(s, 1 + g)));
                    b[f] += x[f] * sum(s, 0);
                }
            }
            let learned = direct(&case.features, lambda_e);
            let update = exact.emphasis_update(&learned).unwrap();
            close("A", &update.key_matrix().concat(), &a.concat(), 1e-10);
            close("b", update.key_vector(), &b, 1e-10);
            let u = solve(a, b);
            let estimate = |s: usize| case.x(s).iter().zip(&u).map(|(x, u)| x * u).sum::<f64>();
            let is_negative = (0..n).any(|s| estimate(s) < 0.0);
            // Where each state has a feature of its own, y says from which one û is passed on.
            let one_hot = |s: usize| (0..n).map(|other| f64::from(u8::from(s == other))).collect();
            let from = parts_of(case, lambda_e, n, one_hot);
            let passed_on = |s: usize, from_s: usize| from[s].iter().map(|z| z[1 + from_s]).sum::<f64>();
            let at = |s: usize, read| match read {
                EmphasisRead::Estimate => {
                    case.task.stationary()[s] * estimate(s).max(case.task.interest()[s])
                }
                EmphasisRead::Return if lambda_e == 0.0 => {
                    sum(s, 0) + (0..n).map(|from| estimate(from).max(0.0) * passed_on(s, from)).sum::<f64>()
                }
                EmphasisRead::Return => sum(s, 0) + (0..k).map(|f| u[f] * sum(s, 1 + f)).sum::<f64>(),
            };
            for read in [EmphasisRead::Estimate, EmphasisRead::Return] {
                let kind = EmphasisKind::Learned(LearnedEmphasis { read, ..learned.clone() });
                if read == EmphasisRead::Return && lambda_e == 0.5 && is_negative {
                    let refused = exact.emphasis_weighting(&kind, 1.0);
                    assert_eq!(refused, Err(ProblemError::NegativeEmphasis));
                    negative += 1;
                    continue;
                }
                let right: Vec<f64> = (0..n).map(|s| at(s, read)).collect();
                let found = exact.emphasis_weighting(&kind, 1.0).unwrap();
                close(&format!("{read:?} {lambda_e} in problem {number}"), &found, &right, 1e-7);
            }
        }
    }
    // Once F_t was taken for what it is where û is negative, although it is read as the interest.
    assert!(negative > 0);
}

/// Learning the emphasis backwards has the transposed key matrix of learning values forwards, for every λ.
#[test]
fn the_key_matrix_is_that_of_td_transposed() {
    // If the target takes actions that the behaviour never does, a part of what TD keeps is missing.
    for case in random_cases(92, 12).iter().filter(|case| case.covers()) {
        let exact = case.exact();
        for lambda in [0.0, 0.5, 0.9] {
            let td = exact.critic_update(&LinearCritic::td(lambda), &case.features).unwrap();
            let emphasis = exact.emphasis_update(&direct(&case.features, lambda)).unwrap();
            for (f, row) in td.key_matrix().iter().enumerate() {
                let column: Vec<f64> = emphasis.key_matrix().iter().map(|row| row[f]).collect();
                close("Aᵀ", &column, row, 1e-11);
            }
        }
    }
}

#[test]
fn system_matrices_are_what_the_rules_expect() {
    let mut random = Random::new(93, 0);
    for case in &random_cases(93, 8) {
        let (exact, k) = (case.exact(), case.features.len());
        let (eta, beta, lambda_e) = (0.6, 0.3, 0.5);
        let mut vector = || (0..k).map(|_| random.normal()).collect::<Vec<f64>>();
        let (u, kappa) = (vector(), vector());
        let parts = parts(case, lambda_e);
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        // TDERC and GEM.
        let mut updates = vec![vec![0.0; 2 * k]; 2];
        for (s, of_state) in parts.iter().enumerate() {
            let (x, d) = (case.x(s), case.task.stationary()[s]);
            let (mut c, mut y) = (0.0, vec![0.0; k]);
            for z in of_state {
                c += z[0];
                y.iter_mut().zip(&z[1..]).for_each(|(y, z)| *y += z);
            }
            let (delta, x_kappa) = (c + dot(&y, &u) - d * dot(&x, &u), dot(&x, &kappa));
            for f in 0..k {
                updates[0][f] += delta * x[f] - x_kappa * y[f];
                updates[0][k + f] += eta * (delta * x[f] - d * x_kappa * x[f] - d * beta * kappa[f]);
                updates[1][f] += (d * x[f] - y[f]) * x_kappa;
                updates[1][k + f] += eta * (delta * x[f] - d * x_kappa * x[f]);
            }
        }
        let rules = [LearningRule::Tdrc { eta, beta }, LearningRule::Gtd2 { eta }];
        for (rule, right) in rules.into_iter().zip(&updates) {
            let learned = LearnedEmphasis { rule, ..direct(&case.features, lambda_e) };
            let update = exact.emphasis_update(&learned).unwrap();
            let b = update.key_vector();
            let is_gem = matches!(rule, LearningRule::Gtd2 { .. });
            let g: Vec<f64> =
                (0..k).map(|f| if is_gem { 0.0 } else { b[f] }).chain(b.iter().map(|b| eta * b)).collect();
            let both = [&u[..], &kappa].concat();
            let system = update.system_matrix().unwrap();
            let found: Vec<f64> = g.iter().zip(&system).map(|(g, row)| g - dot(row, &both)).collect();
            close(&format!("{rule:?}"), &found, right, 1e-10);
        }
    }
}

#[test]
fn where_each_state_has_a_feature_every_form_learns_m() {
    for case in random_cases(94, 6).iter().step_by(2) {
        let exact = case.exact();
        let m = exact.emphasis_weighting(&EmphasisKind::FollowOn, 1.0).unwrap();
        let states = Table::one_hot(case.task.states());
        for lambda_e in [0.0, 0.5, 1.0] {
            for read in [EmphasisRead::Estimate, EmphasisRead::Return] {
                let learned = LearnedEmphasis { read, ..direct(&states, lambda_e) };
                let found = exact.emphasis_weighting(&EmphasisKind::Learned(learned), 1.0).unwrap();
                close("m", &found, &m, 1e-10);
            }
        }
        // With λ_e = 1 the return is the trace, whatever the features.
        let read = EmphasisRead::Return;
        let learned = LearnedEmphasis { read, ..direct(&case.features, 1.0) };
        close("m", &exact.emphasis_weighting(&EmphasisKind::Learned(learned), 1.0).unwrap(), &m, 1e-9);
    }
}

#[test]
fn the_two_states_by_hand() {
    // A = −0.2 as TD(0)'s, b = Σ d i x = 1.5: the fixed point −7.5 is absurd beside ω = (1, 19).
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let features = Table::dense(&[vec![1.0], vec![2.0]]).unwrap();
    let update = exact.emphasis_update(&direct(&features, 0.0)).unwrap();
    relatively_near(update.key_matrix()[0][0], -0.2, 1e-13);
    relatively_near(update.fixed_point().unwrap()[0], -7.5, 1e-12);
    let read = |read| {
        let learned = LearnedEmphasis { read, ..direct(&features, 0.0) };
        exact.emphasis_weighting(&EmphasisKind::Learned(learned), 1.0).unwrap()
    };
    // It is read as at least the interest.
    close("û", &read(EmphasisRead::Estimate), &[0.5, 0.5], 1e-12);
    // And so is i + γ ρ û of the step before, which would be 0.5 + 0.9 (½ · −7.5 + ½ · −15) in state 2.
    close("F", &read(EmphasisRead::Return), &[0.5, 0.5], 1e-12);
}

/// Once the limit of the model emphasis was taken for that of least squares, 10 here. One feature for two states, each as likely as the other: a model of each action
/// expects a discount of ½ of both, whichever the target takes.
#[test]
fn a_model_of_actions_does_not_see_where_the_target_takes_them() {
    let mut builder = Problem::builder().states(["0", "1"]).actions(["a", "b"]).start("0", 1.0);
    for (s, a, gamma) in [(0, 0, 0.9), (0, 1, 0.1), (1, 0, 0.1), (1, 1, 0.9)] {
        builder = builder.transition(s, a, 0, 0.5, 0.0, gamma).transition(s, a, 1, 0.5, 0.0, gamma);
    }
    let task = Task::new(builder.build().unwrap(), &[vec![0.5; 2], vec![0.5; 2]]).unwrap();
    let target = Fixed::new(&task, &[vec![1.0, 0.0], vec![0.0, 1.0]]).unwrap();
    let exact = Exact::new(&task, &target, &[]).unwrap();
    let one = Table::dense(&[vec![1.0], vec![1.0]]).unwrap();
    let limit = |features: &Table, from_model| {
        let learned = LearnedEmphasis { from_model, ..direct(features, 0.0) };
        exact.emphasis_update(&learned).unwrap().fixed_point().unwrap()
    };
    close("u", &limit(&one, false), &[10.0], 1e-12);
    close("u", &limit(&one, true), &[2.0], 1e-12);
    // With a feature for each state they are the same.
    let states = Table::one_hot(2);
    close("u", &limit(&states, true), &limit(&states, false), 1e-12);
}

#[test]
fn a_singular_key_matrix_is_refused() {
    // θ → kθ: A = ½ (1 − 0.9 k) + ½ k² (1 − 0.9) is zero at this k.
    let k = (0.9 + (0.81f64 - 0.4).sqrt()) / 0.2;
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    // So is one that overflows.
    for features in [vec![vec![1.0], vec![k]], vec![vec![1e200], vec![1e200]]] {
        let kind = EmphasisKind::Learned(direct(&Table::dense(&features).unwrap(), 0.0));
        assert_eq!(exact.emphasis_weighting(&kind, 1.0), Err(ProblemError::Singular("the emphasis")));
    }
}

/// X-ETD, followed step by step: what it looks back to is passed on through as many steps as it looks back.
#[test]
fn several_steps_at_once() {
    let (steps, lambda_e) = (3, 0.4);
    let mut checked = 0;
    for case in &random_cases(95, 12) {
        let (exact, k) = (case.exact(), case.features.len());
        // c_t and y_t, and of the last three steps what will be looked back to.
        let z = trace_expectation(&case.task, &case.pi, (1 + k) * (1 + steps), |at: &At, there, past| {
            let mut passed: Vec<f64> = past.iter().map(|x| at.gamma * at.rho_prev() * x).collect();
            let mut now = passed.split_off(steps * (1 + k));
            now[0] += case.task.interest()[at.state] * there;
            let x = std::iter::once(0.0).chain(case.x(at.state));
            let seen = now.iter().zip(x).map(|(z, x)| (1.0 - lambda_e) * x * there + lambda_e * z);
            let seen: Vec<f64> = seen.collect();
            [now, seen, passed[1 + k..].to_vec()].concat()
        });
        let sum = |s: usize, f: usize| z[s].iter().map(|z| z[f]).sum::<f64>();
        let learned = LearnedEmphasis { steps, ..direct(&case.features, lambda_e) };
        let u = exact.emphasis_update(&learned).unwrap().fixed_point().unwrap();
        let kind = EmphasisKind::Learned(LearnedEmphasis { read: EmphasisRead::Return, ..learned });
        let found = exact.emphasis_weighting(&kind, 1.0);
        let estimate = |s: usize| case.x(s).iter().zip(&u).map(|(x, u)| x * u).sum::<f64>();
        if (0..case.task.states()).any(|s| estimate(s) < 0.0) {
            assert_eq!(found, Err(ProblemError::NegativeEmphasis));
            continue;
        }
        checked += 1;
        let found = found.unwrap();
        let of = |s: usize| sum(s, 0) + (0..k).map(|f| u[f] * sum(s, 1 + f)).sum::<f64>();
        close("F", &found, &(0..found.len()).map(of).collect::<Vec<f64>>(), 1e-8);
        // Nothing is left to learn: E[(F_t − û(S_t)) x_t] = 0.
        let error = |s: usize| found[s] - case.task.stationary()[s] * estimate(s);
        let left = |f: usize| (0..found.len()).map(|s| error(s) * case.x(s)[f]).sum::<f64>();
        close("error", &(0..k).map(left).collect::<Vec<f64>>(), &vec![0.0; k], 1e-8);
    }
    assert!(checked >= 4, "{checked}");
}

/// The expected updates of COP-TD and GradientDICE as their own rules write them, summed over all transitions.
#[test]
fn density_ratios_are_what_their_rules_expect() {
    let (gamma, penalty, eta, rate) = (0.7, 0.8, 0.6, 0.3);
    // Weights are determined where there are as many states as features.
    for case in random_cases(96, 12).iter().filter(|case| case.task.states() >= case.features.len()) {
        let (exact, k) = (case.exact(), case.features.len());
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        // The probability of each pair of steps, with S_t, S_{t−1}, γ_t and ρ_{t−1}.
        let mut pairs = Vec::new();
        case.transitions(|s, a, p, _, discount, next| {
            let (mu, pi) = (case.task.behaviour(s)[a], case.pi[s][a]);
            if mu > 0.0 {
                pairs.push((case.task.stationary()[s] * mu * p, next, s, discount, pi / mu));
            }
        });
        // u, κ, and the mean.
        let dice = |z: &[f64]| {
            let (u, kappa, mean) = (&z[..k], &z[k..2 * k], z[2 * k]);
            let mut update = vec![0.0; 2 * k + 1];
            for &(p, s, s_prev, discount, rho) in &pairs {
                let (x, i) = (case.x(s), case.task.interest()[s]);
                let y: Vec<f64> = case.x(s_prev).iter().map(|x| discount * rho * x).collect();
                let delta = (1.0 - gamma) * i + dot(&y, u) - dot(&x, u);
                for f in 0..k {
                    update[f] += p * (dot(&x, kappa) * (x[f] - y[f]) - penalty * mean * x[f]);
                    update[k + f] += p * eta * (delta - dot(&x, kappa)) * x[f];
                }
                update[2 * k] += p * eta * penalty * (dot(&x, u) - i - mean);
            }
            update
        };
        let cop = |z: &[f64]| {
            let (u, mean) = (&z[..k], z[k]);
            let mut update = vec![0.0; k + 1];
            for &(p, s, s_prev, discount, rho) in &pairs {
                let x = case.x(s);
                let past = if discount > 0.0 { gamma * rho * dot(&case.x(s_prev), u) } else { 0.0 };
                let error = past + 1.0 - gamma - dot(&x, u) - penalty * (mean - 1.0);
                (0..k).for_each(|f| update[f] += p * error * x[f]);
                update[k] += p * rate * (dot(&x, u) - mean);
            }
            update
        };
        let mean_penalty = |rate| Some(MeanPenalty { gamma, penalty, rate });
        let rule = LearningRule::Gtd2 { eta };
        let learned = LearnedEmphasis {
            mean_penalty: mean_penalty(eta * penalty),
            rule,
            ..direct(&case.features, 0.0)
        };
        follows("GradientDICE", &exact.emphasis_update(&learned).unwrap(), &dice, gamma);
        let learned = LearnedEmphasis {
            discount: Some(gamma),
            mean_penalty: mean_penalty(rate),
            ..direct(&case.features, 0.0)
        };
        follows("COP-TD", &exact.emphasis_update(&learned).unwrap(), &cop, gamma);
    }
}

/// Whether an update, which is linear, changes as the system matrix says and rests at 1 − γ̂ times the fixed point.
fn follows(name: &str, update: &ExpectedUpdate, rule: &dyn Fn(&[f64]) -> Vec<f64>, gamma: f64) {
    let g = update.system_matrix().unwrap();
    let at_zero = rule(&vec![0.0; g.len()]);
    for column in 0..g.len() {
        let mut unit = vec![0.0; g.len()];
        unit[column] = 1.0;
        let found: Vec<f64> = g.iter().map(|row| -row[column]).collect();
        let right: Vec<f64> = rule(&unit).iter().zip(&at_zero).map(|(x, zero)| x - zero).collect();
        close(&format!("G of {name}"), &found, &right, 1e-11);
    }
    let scaled: Vec<f64> = update.fixed_point().unwrap().iter().map(|u| (1.0 - gamma) * u).collect();
    let at_rest = solve(g, at_zero);
    close(&format!("the fixed point of {name}"), &scaled, &at_rest[..scaled.len()], 1e-7);
}

/// With a feature for each state and no end, COP-TD without a discount finds d_π/d_μ: its mean has to be drawn to 1.
#[test]
fn without_a_discount_the_ratio_is_that_of_the_targets_own_states() {
    let mut random = Random::new(97, 0);
    for _ in 0..5 {
        let task = continuing(&mut random, 0.9);
        let policy = task.softmax();
        let weights = random_weights(&mut random, &policy);
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let states = Table::one_hot(task.states());
        let alone = LearnedEmphasis { discount: Some(1.0), ..direct(&states, 0.0) };
        let weighting = |learned: &LearnedEmphasis| {
            exact.emphasis_weighting(&EmphasisKind::Learned(learned.clone()), 1.0)
        };
        assert_eq!(weighting(&alone), Err(ProblemError::Singular("the emphasis")));
        let mean_penalty = Some(MeanPenalty { gamma: 1.0, penalty: 0.5, rate: 0.1 });
        let found = weighting(&LearnedEmphasis { mean_penalty, ..alone }).unwrap();
        close("d_π", &found, &exact.target_stationary().unwrap(), 1e-9);
    }
}

/// With one discount, GradientDICE's penalty changes nothing: the mean is right already.
#[test]
fn where_each_state_has_a_feature_a_density_ratio_is_the_emphasis() {
    let mut random = Random::new(98, 0);
    let gamma = 0.8;
    let task = continuing(&mut random, gamma);
    let policy = task.softmax();
    let weights = random_weights(&mut random, &policy);
    let exact = Exact::new(&task, &policy, &weights).unwrap();
    let states = Table::one_hot(task.states());
    let m = exact.emphatic_weighting(1.0);
    let mean_penalty = Some(MeanPenalty { gamma, penalty: 2.0, rate: 1.0 });
    let dice =
        LearnedEmphasis { mean_penalty, rule: LearningRule::Gtd2 { eta: 1.0 }, ..direct(&states, 0.0) };
    let cop = LearnedEmphasis { mean_penalty, discount: Some(gamma), ..direct(&states, 0.0) };
    for learned in [dice, cop] {
        let found = exact.emphasis_weighting(&EmphasisKind::Learned(learned), 1.0).unwrap();
        close("m", &found, &m, 1e-9);
    }
}
