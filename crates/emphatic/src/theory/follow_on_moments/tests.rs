//! Closed forms, and simulation on both sides of the border between finite and infinite variance.

use super::FollowOnMoments;
use crate::theory::tests::numbers;
use crate::theory::{OffPolicyModel, OffPolicyTransition};
use crate::{ContinuousCounterexample, Exact, Fixed, Normal, Policy, Problem, Random, Real, Task};

/// θ → 2θ: two states, `right` leads to the second, γ as given; the target always goes right.
pub(in crate::theory) fn two_states(gamma: f64, right: f64) -> Task {
    let mut builder = Problem::builder().states(["1", "2"]).actions(["left", "right"]).start("1", 1.0);
    for s in 0..2 {
        builder = builder.transition(s, 0, 0, 1.0, 0.0, gamma).transition(s, 1, 1, 1.0, 0.0, gamma);
    }
    Task::new(builder.build().unwrap(), &vec![vec![1.0 - right, right]; 2]).unwrap()
}

/// Sutton, Mahmood and White (2016), section 5: γ = 0 into the two ends, behaviour left with 2/3, target right.
pub(in crate::theory) fn five_states() -> Task {
    let mut builder =
        Problem::builder().states((1..=5).map(|s| s.to_string())).actions(["left", "right"]).start(0, 1.0);
    for s in 0..5usize {
        for (action, next) in [(0, s.saturating_sub(1)), (1, (s + 1).min(4))] {
            let gamma = if next == 0 || next == 4 { 0.0 } else { 1.0 };
            builder = builder.transition(s, action, next, 1.0, 1.0, gamma);
        }
    }
    Task::new(builder.build().unwrap(), &vec![vec![2.0 / 3.0, 1.0 / 3.0]; 5]).unwrap()
}

pub(in crate::theory) fn right(task: &Task) -> Fixed {
    Fixed::new(task, &vec![vec![0.0, 1.0]; task.states()]).unwrap()
}

pub(in crate::theory) fn relatively_near(x: f64, y: f64, tolerance: f64) {
    assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{x} is not {y}");
}

#[test]
fn the_five_state_example() {
    let task = five_states();
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    assert_eq!(moments.spectral_radius(), Some([0.0, 0.0]));
    // By hand: F is 1, then 1 + 3·1 or 1 with probabilities of the ways in, and so on.
    for (sd, variance) in
        moments.standard_deviations().unwrap().into_iter().zip([0.0, 2.0, 30.0, 278.0, 0.0f64])
    {
        relatively_near(sd, variance.sqrt(), 1e-12);
    }
}

#[test]
fn the_variance_of_theta_to_two_theta_grows_as_published() {
    // Sutton, Mahmood and White (2016), section 8: Var[F_t] = 1.62^t − 0.81^t for interest in the first step only.
    let task = two_states(0.9, 0.5);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    let [low, high] = moments.spectral_radius().unwrap();
    assert!(low <= 1.62 + 1e-12 && 1.62 - 1e-12 <= high && high - low < 1e-11, "{low} {high}");
    // State 1 is entered with a ratio of 0 only: F is 1 there.
    assert_eq!(moments.standard_deviations(), Some(vec![0.0, f64::INFINITY]));
    assert_eq!(moments.estimation_steps(&[0.0, 1.0], 0.1), f64::INFINITY);
    relatively_near(moments.estimation_steps(&[1.0, 0.0], 0.1), 100.0, 1e-9); // A fair coin, known to 10 %: 0.25/(0.1 · 0.5)².
}

#[test]
fn the_radius_of_two_states_with_a_wall() {
    // He et al. (2023): γ = 0.8, left with 0.6 under the target and 0.4 under the behaviour. γ² E[ρ²] in both states.
    let task = two_states(0.8, 0.6);
    let policy = Fixed::new(&task, &vec![vec![0.6, 0.4]; 2]).unwrap();
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let radius = FollowOnMoments::new(&exact).spectral_radius().unwrap()[1];
    relatively_near(radius, 0.64 * (0.36 / 0.4 + 0.16 / 0.6), 1e-12);
}

#[test]
fn the_border_is_where_it_should_be() {
    // The radius is γ²/μ(right): at γ = 0.9 the border is μ = 0.81.
    for (mu, finite) in [(0.8099, false), (0.8101, true)] {
        let task = two_states(0.9, mu);
        let policy = right(&task);
        let exact = Exact::new(&task, &policy, &[]).unwrap();
        let moments = FollowOnMoments::new(&exact);
        relatively_near(moments.spectral_radius().unwrap()[1], 0.81 / mu, 1e-12);
        assert_eq!(moments.is_finite(), finite);
    }
}

#[test]
fn the_variance_in_closed_form() {
    // In state 2 reached for ever by `right`: E[F²] solves g = q g + i(2m − d i) with q = γ²/μ.
    let (gamma, mu) = (0.8, 0.9);
    let task = two_states(gamma, mu);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    let q = gamma * gamma / mu;
    let (d1, d2) = (1.0 - mu, mu);
    let (m1, m2) = (d1, (d2 + gamma * d1) / (1.0 - gamma));
    let (g1, g2) = (d1, (2.0 * m2 - d2 + q * d1) / (1.0 - q));
    relatively_near(exact.emphatic_weighting(1.0)[0], m1, 1e-14);
    relatively_near(exact.emphatic_weighting(1.0)[1], m2, 1e-14);
    relatively_near(moments.second_moment().unwrap()[0], g1, 1e-14);
    relatively_near(moments.second_moment().unwrap()[1], g2, 1e-13);
}

/// Means over batches of a simulated stream: of F² in each state, and of F in each state; the squared deviation of the latter
/// times the length of a batch is what `estimation_steps` rests on.
fn simulate(task: &Task, pi: &[Vec<f64>], batches: u64, length: usize) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
    let n = task.states();
    let (mut first, mut second, mut spread) = (vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let m: Vec<f64> = {
        let policy = Fixed::new(task, pi).unwrap();
        Exact::new(task, &policy, &[]).unwrap().emphatic_weighting(1.0)
    };
    for batch in 0..batches {
        let mut own = vec![0.0; n];
        let (mut follow_on, mut rho) = (0.0, 1.0);
        for (t, step) in task.stream(11, batch).take(length + 200).enumerate() {
            follow_on = rho * step.gamma * follow_on + step.interest;
            let [state, action, _] = numbers(&step);
            rho = pi[state][action] / step.mu;
            if t >= 200 {
                own[state] += follow_on / length as f64;
                second[state] += follow_on * follow_on / (length as f64 * batches as f64);
            }
        }
        for s in 0..n {
            first[s] += own[s] / batches as f64;
            spread[s] += (own[s] - m[s]).powi(2) * length as f64 / batches as f64;
        }
    }
    (first, second, spread)
}

#[test]
fn moments_and_steps_agree_with_simulation() {
    // Random problems whose trace has a finite variance with room to spare: fourth moments must be tame for a simulation.
    let mut random = Random::new(3, 0);
    let mut seen = 0;
    while seen < 4 {
        let task = Task::random(&mut random);
        let policy = task.softmax();
        let weights: Vec<f64> = (0..policy.len()).map(|_| 0.5 * random.normal()).collect();
        let exact = Exact::new(&task, &policy, &weights).unwrap();
        let moments = FollowOnMoments::new(&exact);
        if task.states() > 8 || moments.spectral_radius().unwrap()[1] > 0.6 {
            continue;
        }
        seen += 1;
        let (batches, length) = (400, 2000);
        let (first, second, spread) = simulate(&task, &exact.probabilities(), batches, length);
        let m = exact.emphatic_weighting(1.0);
        for s in (0..task.states()).filter(|&s| m[s] > 0.02) {
            relatively_near(first[s] / m[s], 1.0, 0.02);
            relatively_near(second[s] / moments.second_moment().unwrap()[s], 1.0, 0.05);
            // A variance estimated from 400 batches is good to 7 %; three times that (near allows twice its number here).
            let mut indicator = vec![0.0; task.states()];
            indicator[s] = 1.0;
            let steps = moments.estimation_steps(&indicator, 0.1);
            relatively_near(spread[s] / (0.01 * m[s] * m[s]) / steps, 1.0, 0.1);
        }
    }
}

#[test]
fn above_the_border_the_sample_second_moment_never_settles() {
    // The median over ten runs. Above the border, P(F > x) falls like x^(−1.18) at μ = 0.5, since 0.5 (0.9/0.5)^1.18 = 1: the mean of F² over
    // L steps grows like L^0.7, sevenfold from L to 16 L. Below, it settles at what is computed.
    let median = |mu: f64, length: usize| {
        let task = two_states(0.9, mu);
        let run = |seed| {
            let (mut follow_on, mut rho, mut sum) = (0.0, 1.0, 0.0);
            for step in task.stream(seed, 0).take(length) {
                follow_on = rho * step.gamma * follow_on + step.interest;
                let [state, action, _] = numbers(&step);
                rho = if action == 1 { 1.0 / step.mu } else { 0.0 };
                sum += if state == 1 { follow_on * follow_on / length as f64 } else { 0.0 };
            }
            sum
        };
        let mut runs: Vec<f64> = (0..10).map(run).collect();
        runs.sort_by(f64::total_cmp);
        runs[5]
    };
    let task = two_states(0.9, 0.95);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    relatively_near(median(0.95, 200_000), FollowOnMoments::new(&exact).second_moment().unwrap()[1], 0.02);
    let (short, long) = (median(0.5, 100_000), median(0.5, 1_600_000));
    assert!(long > 3.0 * short, "{short} {long}");
}

#[test]
fn actions_that_the_behaviour_never_takes_leave_no_finite_moment() {
    let task = two_states(0.9, 0.0);
    let policy = right(&task);
    let exact = Exact::new(&task, &policy, &[]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    assert_eq!((moments.spectral_radius(), moments.standard_deviations()), (None, None));
}

#[test]
fn gaussian_ratios_agree_with_an_integral() {
    let task = ContinuousCounterexample::default();
    let policy = task.gaussian();
    // Σ_a π²/μ P γ² of the two transitions out of S0.
    let squares = |at: &Normal<f64>| -> [f64; 2] {
        let square = |t: &OffPolicyTransition| t.probability * (t.passed * t.passed + t.variance);
        let transitions = task.off_policy_transitions(&policy, at, 0);
        [square(&transitions[0]), square(&transitions[1])]
    };
    for weights in [[0.0; 4], [-1.0, 0.3, 2.0, 0.1], [2.0, -2.0, 0.0, 0.0]] {
        let mut at = policy.room();
        policy.distribution(&weights, policy.features.of_number(0), &mut at);
        let [square_left, square_right] = squares(&at);
        let (mut left, mut right) = (0.0, 0.0);
        let step = 1e-3;
        for k in -20_000..20_000 {
            let a = f64::from(k) * step;
            let (pi, mu) = (a.normal_density(at.mean, at.standard_deviation), a.normal_density(1.0, 1.0));
            // Where both underflow, they contribute nothing.
            let share = if pi > 1e-150 && mu > 0.0 { pi * (pi / mu) * step } else { 0.0 };
            right += share * a.sigmoid();
            left += share * (-a).sigmoid();
        }
        relatively_near(square_left, left, 1e-9);
        relatively_near(square_right, right, 1e-9);
    }
    // softplus(2) = 2.13 > √2: the square of the ratio has no finite mean.
    let mut wide = policy.room();
    policy.distribution(&[0.0, 2.0, 0.0, 0.0], policy.features.of_number(0), &mut wide);
    assert_eq!(squares(&wide), [f64::INFINITY; 2]);
}

/// Two wells that are hardly ever left: leaks were once differences of numbers near one, and `estimation_steps` was wrong by a factor of a million.
#[test]
fn steps_in_a_chain_that_hardly_mixes() {
    // A chain that goes outwards with 0.99 from either side of its middle, twice as long for the second.
    let wells = |half: usize| {
        let n = 2 * half;
        let mut builder =
            Problem::builder().states((0..n).map(|s| s.to_string())).actions(["in", "out"]).start(0, 1.0);
        for s in 0..n {
            let (left, right) = (s.saturating_sub(1), (s + 1).min(n - 1));
            let (inwards, outwards) = if s < half { (right, left) } else { (left, right) };
            builder =
                builder.transition(s, 0, inwards, 1.0, 0.0, 0.0).transition(s, 1, outwards, 1.0, 0.0, 0.0);
        }
        Task::new(builder.build().unwrap(), &vec![vec![0.01, 0.99]; n]).unwrap()
    };
    // With gamma = 0 the trace is 1, and m is d: a state's share is known once its well is left often enough. A crossing takes
    // about 99^(half) steps, so that one more state on each side makes it 99 times as long.
    let steps = |half: usize| {
        let task = wells(half);
        let policy = task.softmax();
        let exact = Exact::new(&task, &policy, &vec![0.0; policy.len()]).unwrap();
        let mut indicator = vec![0.0; task.states()];
        indicator[0] = 1.0;
        FollowOnMoments::new(&exact).estimation_steps(&indicator, 0.1)
    };
    for half in [3, 6, 9] {
        relatively_near(steps(half + 1) / steps(half), 99.0, 0.02);
    }
}

/// A huge ratio in a state that is never returned to: the sum of a row was once so large that one vanished beside it.
#[test]
fn a_huge_ratio_that_ends_is_finite() {
    let task = ContinuousCounterexample::default();
    let policy = task.gaussian();
    let exact = Exact::new(&task, &policy, &[-10.0, 0.5, 0.0, 0.0]).unwrap();
    let moments = FollowOnMoments::new(&exact);
    assert_eq!(moments.spectral_radius(), Some([0.0, 0.0]));
    assert!(moments.is_finite() && moments.standard_deviations().unwrap()[1] > 1e20);
}
