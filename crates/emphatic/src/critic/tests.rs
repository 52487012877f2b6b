//! What holds of all critics that learn: episodes do not know of one another, and the mean change of weights is what the equations say.

use super::testing::{Row, assert_near, episodes, kinds, learn, learn_actions, numbers, set};
use super::*;
use crate::{
    Action, Features, FollowOn, NoEmphasis, PerFeature, Policy, Polynomial, Schedule, Step, StochasticPolicy,
    Task,
};

/// Without rewards nothing is learned from zero, but there are traces; another episode then must not know of them.
fn starts_afresh<C: Critic<f64>>(features: &Features, make: impl Fn() -> C) {
    for pair in episodes(features, 20, 3.0).windows(2) {
        let (mut one, mut other) = (make(), make());
        let mut before = pair[0].clone();
        before.iter_mut().for_each(|row| row.step.reward = 0.0);
        learn(&mut one, &before);
        assert_eq!(learn(&mut one, &pair[1]), learn(&mut other, &pair[1]));
        assert_eq!(numbers(&mut one, "v"), numbers(&mut other, "v"));
    }
}

fn actions_start_afresh<C: ActionCritic<f64>>(features: &Features, make: impl Fn() -> C) {
    for pair in episodes(features, 20, 3.0).windows(2) {
        let (mut one, mut other) = (make(), make());
        let mut before = pair[0].clone();
        before.iter_mut().for_each(|row| row.step.reward = 0.0);
        learn_actions(&mut one, &before);
        assert_eq!(learn_actions(&mut one, &pair[1]), learn_actions(&mut other, &pair[1]));
        assert_eq!(numbers(&mut one, "q"), numbers(&mut other, "q"));
    }
}

#[test]
fn a_new_episode_knows_nothing_of_the_last() {
    for f in kinds() {
        let follow_on = || FollowOn::builder().lambda_a(1.0).build().unwrap();
        starts_afresh(&f, || Td::builder(f.clone()).alpha_v(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || Gtd::builder(f.clone()).alpha_v(0.1).alpha_w(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || Gtd2::builder(f.clone()).alpha_v(0.1).alpha_w(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || {
            ProximalGtd2::builder(f.clone()).alpha_v(0.1).alpha_w(0.1).lambda(0.9).build().unwrap()
        });
        starts_afresh(&f, || Htd::builder(f.clone()).alpha_v(0.1).alpha_w(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || VTrace::builder(f.clone()).alpha_v(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || TreeBackup::builder(f.clone()).alpha_v(0.1).lambda(0.9).build().unwrap());
        starts_afresh(&f, || Abtd::builder(f.clone()).alpha_v(0.1).zeta(0.9).build().unwrap());
        starts_afresh(&f, || Etd::builder(f.clone(), follow_on()).alpha_v(0.1).lambda(0.5).build().unwrap());
        starts_afresh(&f, || TrueOnlineEtd::builder(f.clone()).alpha_v(0.1).lambda(0.5).build().unwrap());
        actions_start_afresh(&f, || Retrace::builder(f.clone(), 2).alpha_q(0.1).build().unwrap());
        // A factor that all second weights have is another after more steps: so without regularisation.
        starts_afresh(&f, || Tdrc::builder(f.clone()).alpha_v(0.1).beta(0.0).lambda(0.9).build().unwrap());
        actions_start_afresh(&f, || {
            ExpectedTdrc::builder(f.clone(), 2).alpha_q(0.1).beta(0.0).lambda_q(0.9).build().unwrap()
        });
    }
}

/// Where ρ is zero, TD and ETD learn nothing, and nothing passes.
#[test]
fn nothing_is_learned_and_nothing_passes_where_the_ratio_is_zero() {
    fn check<C: Critic<f64>>(f: &Features, make: impl Fn() -> C) {
        let episode = &episodes(f, 3, 3.0)[2];
        let impossible = Row { rho: 0.0, ..episode[1].clone() };
        let mut critic = make();
        learn(&mut critic, &episode[..1]);
        let before = numbers(&mut critic, "v");
        learn(&mut critic, &[impossible]);
        assert_eq!(numbers(&mut critic, "v"), before);
        assert!(numbers(&mut critic, "e").iter().all(|e| *e == 0.0));
    }
    for f in kinds() {
        check(&f, || Td::builder(f.clone()).alpha_v(0.1).lambda(0.9).build().unwrap());
        check(&f, || Etd::builder(f.clone(), NoEmphasis).alpha_v(0.1).lambda(0.9).build().unwrap());
    }
}

/// A small task with features that states share, and a policy that is not the behaviour.
struct Expectations {
    features: Features,
    rows: Vec<(f64, Row)>,
    /// A = E[ρ x (x − γ′x′)ᵀ], b = E[ρ R x], C = E[x xᵀ] and A_μ = E[x (x − γ′x′)ᵀ].
    a: Vec<Vec<f64>>,
    b: Vec<f64>,
    c: Vec<Vec<f64>>,
    a_mu: Vec<Vec<f64>>,
}

fn expectations() -> Expectations {
    let task = Task::long_counterexample(2);
    let policy = task.softmax();
    let theta: Vec<f64> = (0..policy.len()).map(|k| 0.7 - 0.3 * (k % 5) as f64).collect();
    let x = |s: usize| vec![1.0, 0.5 * s as f64 - 1.0, f64::from(u8::from(s.is_multiple_of(2)))];
    let zero = || vec![vec![0.0; 3]; 3];
    let (mut a, mut c, mut a_mu, mut b) = (zero(), zero(), zero(), vec![0.0; 3]);
    let mut rows = Vec::new();
    for s in 0..task.states() {
        let at = policy.distribution_at(&theta, policy.features().of_number(s));
        for (action, mu) in task.behaviour(s).iter().enumerate().filter(|(_, mu)| **mu > 0.0) {
            let rho = policy.probability(&at, action) / mu;
            for outcome in task.problem().transitions(s, action) {
                let p = task.stationary()[s] * mu * outcome.probability;
                let (now, next) = (x(s), x(outcome.next));
                for i in 0..3 {
                    for j in 0..3 {
                        let difference = now[j] - outcome.gamma * next[j];
                        a[i][j] += p * rho * now[i] * difference;
                        a_mu[i][j] += p * now[i] * difference;
                        c[i][j] += p * now[i] * now[j];
                    }
                    b[i] += p * rho * outcome.reward * now[i];
                }
                let step = Step {
                    state: now,
                    action: Action::Number(action),
                    mu: *mu,
                    reward: outcome.reward,
                    next,
                    gamma: 0.0,
                    gamma_next: outcome.gamma,
                    interest: 1.0,
                };
                rows.push((p, Row { step, rho, policy: [vec![], vec![]] }));
            }
        }
    }
    Expectations { features: Features::dense(3), rows, a, b, c, a_mu }
}

fn times(matrix: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

fn transposed(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    (0..3).map(|j| matrix.iter().map(|row| row[j]).collect()).collect()
}

fn minus(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(x, y)| x - y).collect()
}

const V: [f64; 3] = [0.4, -0.7, 1.1];
const SECOND: [f64; 3] = [-0.2, 0.5, 0.3];
const ALPHA: f64 = 0.3;

/// The mean change of weights in one step from V and SECOND, divided by the step-size; that of the second weights too, if it has any.
fn mean_change<C: Critic<f64>>(of: &Expectations, has_second: bool, make: impl Fn() -> C) -> [Vec<f64>; 2] {
    let mut mean = [vec![0.0; 3], vec![0.0; 3]];
    for (p, row) in &of.rows {
        let mut critic = make();
        set(&mut critic, &[("v", &V[..]), ("w", &SECOND[..])][..1 + usize::from(has_second)]);
        learn(&mut critic, std::slice::from_ref(row));
        let mut after = vec![("v", V)];
        if has_second {
            after.push(("w", SECOND));
        }
        for ((name, before), mean) in after.into_iter().zip(&mut mean) {
            for ((mean, after), before) in mean.iter_mut().zip(numbers(&mut critic, name)).zip(before) {
                // The step-size is divided by the number of features.
                *mean += p * (after - before) / (ALPHA / 3.0);
            }
        }
    }
    mean
}

/// In one step without a trace: TD goes along b − A v; GTD along b − A v − E[γ′ρ x′xᵀ] w; GTD2 along Aᵀ w; and so on.
#[test]
fn the_mean_change_of_weights_is_what_the_equations_say() {
    let e = &expectations();
    let f = || e.features.clone();
    let error = minus(&e.b, &times(&e.a, &V));
    // E[ρ x xᵀ] = E[x xᵀ], and E[γ′ρ x x′ᵀ] = C − A.
    let back = minus(&times(&e.c, &SECOND), &times(&transposed(&e.a), &SECOND));
    let drawn = minus(&error, &times(&e.c, &SECOND));

    let [td, _] = mean_change(e, false, || Td::builder(f()).alpha_v(ALPHA).build().unwrap());
    assert_near(&td, &error, 1e-13);
    let [gtd, w] = mean_change(e, true, || Gtd::builder(f()).alpha_v(ALPHA).alpha_w(ALPHA).build().unwrap());
    assert_near(&gtd, &minus(&error, &back), 1e-13);
    assert_near(&w, &drawn, 1e-13);
    let [gtd2, w] =
        mean_change(e, true, || Gtd2::builder(f()).alpha_v(ALPHA).alpha_w(ALPHA).build().unwrap());
    assert_near(&gtd2, &times(&transposed(&e.a), &SECOND), 1e-13);
    assert_near(&w, &drawn, 1e-13);
    let [htd, w] = mean_change(e, true, || Htd::builder(f()).alpha_v(ALPHA).alpha_w(ALPHA).build().unwrap());
    let hybrid = minus(&times(&transposed(&e.a), &SECOND), &times(&transposed(&e.a_mu), &SECOND));
    assert_near(&htd, &error.iter().zip(&hybrid).map(|(x, y)| x + y).collect::<Vec<_>>(), 1e-13);
    assert_near(&w, &minus(&error, &times(&transposed(&e.a_mu), &SECOND)), 1e-13);
    // With the emphasis of the step alone, ETD(0) is TD(0).
    let etd = || Etd::builder(f(), FollowOn::builder().lambda_a(1.0).build().unwrap());
    let [etd, _] = mean_change(e, false, || etd().alpha_v(ALPHA).build().unwrap());
    assert_near(&etd, &error, 1e-13);
    // TDRC's second weights have a factor in common after the step.
    let [tdrc, _] = mean_change(e, true, || Tdrc::builder(f()).alpha_v(ALPHA).build().unwrap());
    assert_near(&tdrc, &minus(&error, &back), 1e-13);
}

/// Schedules that stay as they are, by all that they compute.
fn constant_schedules(features: &Features) -> Vec<Schedule<f64>> {
    let polynomial = Polynomial::builder().power(0.0).build().unwrap();
    let mut schedules = vec![polynomial.into()];
    if matches!(features, Features::Table(_)) {
        schedules.push(PerFeature::builder().power(0.0).build().unwrap().into());
    }
    schedules
}

fn alike<C: Critic<f64>>(features: &Features, make: impl Fn(Schedule<f64>) -> C) {
    for schedule in constant_schedules(features) {
        let (mut plain, mut scheduled) = (make(Schedule::default()), make(schedule));
        for episode in episodes(features, 20, 2.0) {
            assert_near(&learn(&mut plain, &episode), &learn(&mut scheduled, &episode), 1e-11);
        }
    }
}

fn actions_alike<C: ActionCritic<f64>>(features: &Features, make: impl Fn(Schedule<f64>) -> C) {
    for schedule in constant_schedules(features) {
        let (mut plain, mut scheduled) = (make(Schedule::default()), make(schedule));
        for episode in episodes(features, 20, 2.0) {
            let [plain, scheduled] =
                [learn_actions(&mut plain, &episode), learn_actions(&mut scheduled, &episode)];
            assert_near(&plain.concat(), &scheduled.concat(), 1e-11);
        }
    }
}

#[test]
fn a_schedule_that_stays_as_it_is_is_none() {
    for f in kinds() {
        let f = &f;
        let follow_on = || FollowOn::builder().lambda_a(1.0).build().unwrap();
        alike(f, |s| Td::builder(f.clone()).alpha_v(0.1).lambda(0.7).build().unwrap().with_schedule(s));
        alike(f, |s| {
            Gtd::builder(f.clone()).alpha_v(0.1).alpha_w(0.05).lambda(0.7).build().unwrap().with_schedule(s)
        });
        alike(f, |s| {
            Gtd2::builder(f.clone()).alpha_v(0.1).alpha_w(0.05).lambda(0.7).build().unwrap().with_schedule(s)
        });
        alike(f, |s| {
            Htd::builder(f.clone()).alpha_v(0.1).alpha_w(0.05).lambda(0.7).build().unwrap().with_schedule(s)
        });
        alike(f, |s| Etd::builder(f.clone(), follow_on()).alpha_v(0.1).build().unwrap().with_schedule(s));
        alike(f, |s| {
            TrueOnlineEtd::builder(f.clone()).alpha_v(0.1).lambda(0.7).build().unwrap().with_schedule(s)
        });
        actions_alike(f, |s| Retrace::builder(f.clone(), 2).alpha_q(0.1).build().unwrap().with_schedule(s));
        let values = || Gtd::builder(f.clone()).alpha_v(0.1).alpha_w(0.05).build().unwrap();
        actions_alike(f, |s| {
            let critic = Gq::builder(f.clone(), 2, values()).alpha_q(0.1).alpha_h(0.05).lambda_q(0.7);
            critic.build().unwrap().with_schedule(s)
        });
        actions_alike(f, |s| {
            Advantage::builder(f.clone(), 2, values()).alpha_u(0.1).build().unwrap().with_schedule(s)
        });
    }
}

/// The first step of a feature is whole, the fourth is half of it.
#[test]
fn a_step_size_may_fall_with_how_often_a_feature_was_active() {
    let features = Features::one_hot(4);
    let mut row = episodes(&features, 1, 1.0)[0][0].clone();
    (row.rho, row.step.gamma_next) = (1.0, 0.0);
    let mut critic = Td::builder(features).alpha_v(0.5).build().unwrap();
    critic = critic.with_schedule(PerFeature::builder().build().unwrap());
    let deltas = learn(&mut critic, &vec![row; 5]);
    for (t, pair) in deltas.windows(2).enumerate() {
        let size = 0.5 / ((t + 1) as f64).sqrt();
        assert_near(&[pair[1]], &[(1.0 - size) * pair[0]], 1e-15);
    }
}
