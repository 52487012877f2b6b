//! The paper's theory, checked on random problems.
//!
//! Theorems 1 and 2: the theorem's gradient is the derivative of J_μ, which dual numbers give without it. The equation for
//! λ_a, E_μ[M_t | S_t = s] d_μ(s) = m_{λ_a}(s), and Proposition 1, E_μ[ρ_t M_t δ_t ∇ ln π] = ∂J_μ/∂θ: means over independent
//! batches of experience, whose standard errors are known.

use crate::verdict::Verdict;
use emphatic::theory::derivative;
use emphatic::{
    Action, ContinuousCounterexample, Exact, ExactCritic, Isa, Kernel, Lanes, Learner, Model, Policy,
    ProblemError, Random, Real, Softmax, State, StochasticPolicy, Task, ace,
};
use emphatic_lab::statistics::{mean, standard_error};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// A theory that could not be checked.
#[derive(Debug, Error)]
pub enum TheoryError {
    /// A problem refused.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The parts of a learner do not fit.
    #[error(transparent)]
    Compose(#[from] emphatic::ComposeError),
    /// A step refused.
    #[error(transparent)]
    Step(#[from] emphatic::StepError),
    /// Weights do not fit.
    #[error(transparent)]
    Weights(#[from] emphatic::StateError),
}

/// A claim of the paper's theory.
#[derive(Clone, Copy, Debug)]
pub struct TheoryClaim {
    /// Its name.
    pub id: &'static str,
    /// What the paper says.
    pub text: &'static str,
    /// How it is checked, in words.
    pub rule: &'static str,
}

/// All claims about theory.
pub const CLAIMS: [TheoryClaim; 4] = [
    TheoryClaim {
        id: "T1",
        text: "∂J_μ/∂θ = Σ_s m(s) Σ_a ∂π(s,a)/∂θ q_π(s,a), for any differentiable policy, interest and transition-based γ",
        rule: "on 1,000 random problems with softmax policies and 50 with Gaussian ones, the theorem's gradient is within 10⁻⁸ (relative) of the derivative by dual numbers; the semi-gradient is not, on most of them",
    },
    TheoryClaim {
        id: "T2",
        text: "The same for deterministic policies, with ∂q/∂a",
        rule: "on 100 random interests and policies of the continuous problem, the same",
    },
    TheoryClaim {
        id: "T3",
        text: "λ_a = 1 gives m, λ_a = 0 gives d_μ·i, and E_μ[M_t | S_t = s] d_μ(s) = m_{λₐ}(s)",
        rule: "on six random problems and the counterexample, for λ_a = 0, 0.3, 0.8 and 1, means over 100 batches of 2,520 steps are within 7 standard errors for every state; with a λ_a that is 0.1 off they are not, on most of the problems",
    },
    TheoryClaim {
        id: "T4",
        text: "E_μ[ρ_t M_t δ_t ∇ln π] equals the gradient, for a fixed policy, λ_a = 1 and an exact critic",
        rule: "in the same samples, within 7 standard errors for every weight; for the semi-gradient they are not, on most of the problems",
    },
];

/// How far a gradient may be from the derivative, relative to its largest entry.
const CLOSE: f64 = 1e-8;

/// How many standard errors a right expectation may miss by. Over 100 batches that has a probability of 3·10⁻¹⁰ (Student's
/// distribution), and there are some 400 comparisons: no seed is likely to meet it.
const ERRORS: f64 = 7.0;

/// What a wrong λ_a is off by, to show that it would be caught.
const OFF: f64 = 0.1;

/// Checks a theorem's gradient: (deviation of the gradient, deviation of the semi-gradient).
fn deviations<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
) -> Result<(f64, f64), ProblemError> {
    let exact = Exact::new(model, policy, weights)?;
    let derivative = derivative(model, policy, weights)?;
    Ok((difference(&exact.gradient(1.0), &derivative), difference(&exact.gradient(0.0), &derivative)))
}

/// The largest difference between two vectors, relative to the larger of their largest entries.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = largest(a.iter().chain(b).map(|x| x.abs()));
    let apart = largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    // Nothing by nothing, and an infinity by an infinity, would be no number.
    if apart == 0.0 || apart.is_infinite() { apart } else { apart / scale }
}

/// What is not a number is infinitely wrong.
fn largest(deviations: impl Iterator<Item = f64>) -> f64 {
    deviations.fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { f64::max(most, x) })
}

/// Checks all claims: verdicts and evidence, in the order of [`CLAIMS`].
pub fn check(seed: u64, threads: usize) -> Result<[(Verdict, Vec<String>); 4], TheoryError> {
    let [t3, t4] = judged_expectations(&samples(seed, threads)?)?;
    Ok([theorem_1(seed)?, theorem_2(seed)?, t3, t4])
}

/// Theorem 1.
fn theorem_1(seed: u64) -> Result<(Verdict, Vec<String>), TheoryError> {
    let mut found = Vec::new();
    for problem in 0..1000 {
        let mut random = Random::new(seed, problem);
        let task = Task::random(&mut random);
        let policy = task.softmax();
        let weights: Vec<f64> = (0..policy.len()).map(|_| random.normal()).collect();
        found.push(deviations(&task, &policy, &weights)?);
    }
    let plain = ContinuousCounterexample::default();
    for problem in 0..50 {
        let mut random = Random::new(seed, 1000 + problem);
        let task = with_random_interest(&plain, &mut random)?;
        let weights: Vec<f64> = (0..4).map(|_| 1.5 * random.normal()).collect();
        found.push(deviations(&task, &task.gaussian(), &weights)?);
    }
    Ok(judged_deviations(&found))
}

/// Theorem 2.
fn theorem_2(seed: u64) -> Result<(Verdict, Vec<String>), TheoryError> {
    let plain = ContinuousCounterexample::default();
    let mut found = Vec::new();
    for problem in 0..100 {
        let mut random = Random::new(seed, 2000 + problem);
        let task = with_random_interest(&plain, &mut random)?;
        let weights = [2.0 * random.normal(), 2.0 * random.normal()];
        found.push(deviations(&task, &task.deterministic(), &weights)?);
    }
    Ok(judged_deviations(&found))
}

fn with_random_interest(
    problem: &ContinuousCounterexample,
    random: &mut Random,
) -> Result<ContinuousCounterexample, ProblemError> {
    let interest = [random.uniform(), random.uniform(), if random.below(3) == 0 { 0.0 } else { 1.0 }];
    problem.clone().with_interest(interest)
}

/// From the deviations of the gradient and of the semi-gradient, for each problem.
fn judged_deviations(found: &[(f64, f64)]) -> (Verdict, Vec<String>) {
    let worst = largest(found.iter().map(|(gradient, _)| *gradient));
    let caught = found.iter().filter(|(_, semi_gradient)| *semi_gradient > CLOSE).count();
    let evidence = vec![
        format!("largest deviation {worst:.1e} over {} problems", found.len()),
        format!("that of the semi-gradient is larger than 10⁻⁸ on {caught} of them"),
    ];
    (verdict(worst < CLOSE, 2 * caught > found.len()), evidence)
}

/// Only a check that would have caught something wrong decides.
fn verdict(right: bool, caught: bool) -> Verdict {
    match (right, caught) {
        (false, _) => Verdict::Refuted,
        (true, false) => Verdict::NotDecided,
        (true, true) => Verdict::Confirmed,
    }
}

const LAMBDAS: [f64; 4] = [0.0, 0.3, 0.8, 1.0];
const RANDOM_PROBLEMS: u64 = 6;
const BATCHES: u64 = 100;
const BURN_IN: usize = 400;
/// A multiple of the periods that small problems may have: an incomplete one would be a bias without a variance.
const STEPS: usize = 2520;

type Numbers = Lanes<4>;

/// One batch: the mean over steps of M_t·1{S_t = s}, by state, then of ρ_t M_t δ_t ∇ ln π, by weight.
struct Batch<'a> {
    task: &'a Arc<Task>,
    policy: &'a Softmax,
    weights: &'a [f64],
    seed: u64,
    run: u64,
}

impl Kernel for Batch<'_> {
    type Output = Result<Vec<Numbers>, TheoryError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { task, policy, weights, seed, run } = self;
        let splat = |x: &[f64]| x.iter().map(|&x| Numbers::splat(x)).collect::<Vec<_>>();
        let critic = ExactCritic::new(task.clone(), policy)?;
        // With α = 0 the policy stays fixed.
        let mut learner = ace(policy.clone(), critic)
            .lambda_a(Lanes(LAMBDAS))
            .alpha(Numbers::zero())
            .build()?
            .with_weights(splat(weights))?;
        let mut at = policy.room();
        let mut sums = splat(&vec![0.0; task.states() + policy.len()]);
        for (t, step) in task.stream(seed, run).take(BURN_IN + STEPS).enumerate() {
            let update = learner.step(&step)?;
            if t < BURN_IN {
                continue;
            }
            let (emphasis, gradient) = sums.split_at_mut(task.states());
            let (State::Number(state), Action::Number(action)) = (step.state, step.action) else { continue };
            emphasis[state] += update.emphasis;
            let x = policy.features.of_number(state);
            policy.distribution(learner.weights(), x, &mut at);
            let scale = update.rho * update.emphasis * update.delta;
            policy.add_score(x, &at, action, scale, gradient);
        }
        Ok(sums.into_iter().map(|sum| sum / Numbers::splat(STEPS as f64)).collect())
    }
}

/// Samples of one problem: means over batches with their standard errors, and what they should be.
struct Samples {
    task: Arc<Task>,
    weights: Vec<f64>,
    /// By λ_a, then by state and weight: mean and standard error.
    means: Vec<Vec<(f64, f64)>>,
}

impl Samples {
    fn draw(task: Task, weights: Vec<f64>, seed: u64) -> Result<Self, TheoryError> {
        let task = Arc::new(task);
        let policy = task.softmax();
        let draw =
            |run| Isa::best().run(Batch { task: &task, policy: &policy, weights: &weights, seed, run });
        let batches: Vec<Vec<Numbers>> = (0..BATCHES).map(draw).collect::<Result<_, _>>()?;
        // What is not a number misses everything.
        let of = |lane: usize, k: usize| {
            let values: Vec<f64> = batches.iter().map(|batch| batch[k].0[lane]).collect();
            (mean(&values).unwrap_or(f64::NAN), standard_error(&values).unwrap_or(f64::NAN))
        };
        let numbers = task.states() + policy.len();
        let means = (0..LAMBDAS.len()).map(|lane| (0..numbers).map(|k| of(lane, k)).collect()).collect();
        Ok(Self { task, weights, means })
    }

    /// By how many standard errors the samples miss what is expected, at most: in the emphasis, and in the gradient, where
    /// `taken` says which λ_a is taken for which.
    fn misses(&self, taken: impl Fn(f64) -> f64) -> Result<(Vec<f64>, Vec<f64>), TheoryError> {
        let policy = self.task.softmax();
        let exact = Exact::new(&*self.task, &policy, &self.weights)?;
        let (mut emphasis, mut gradient) = (Vec::new(), Vec::new());
        for (lambda_a, means) in LAMBDAS.iter().zip(&self.means) {
            let (of_states, of_weights) = means.split_at(self.task.states());
            let taken = taken(*lambda_a);
            emphasis.push(worst(of_states, &exact.emphatic_weighting(taken)));
            gradient.push(worst(of_weights, &exact.gradient(taken)));
        }
        Ok((emphasis, gradient))
    }
}

fn worst(means: &[(f64, f64)], expected: &[f64]) -> f64 {
    let miss = |((mean, error), expected): (&(f64, f64), &f64)| {
        let miss = (mean - expected).abs();
        // Where nothing varies (the emphasis of a state that starts every episode), only rounding is left.
        if miss < 1e-12 { 0.0 } else { miss / error }
    };
    largest(means.iter().zip(expected).map(miss))
}

/// Samples of the counterexample and of random problems, for the equation of λ_a and Proposition 1.
fn samples(seed: u64, threads: usize) -> Result<Vec<Samples>, TheoryError> {
    let problems = (0..=RANDOM_PROBLEMS).map(|k| sampled_problem(seed, k)).collect::<Result<Vec<_>, _>>()?;
    let draw = |k: usize| {
        let (task, weights) = &problems[k];
        Samples::draw(task.clone(), weights.clone(), seed.wrapping_add(k as u64))
    };
    on_threads(threads, problems.len(), draw)
}

/// The counterexample, then random problems; and a policy.
fn sampled_problem(seed: u64, k: u64) -> Result<(Task, Vec<f64>), ProblemError> {
    if k == 0 {
        return Ok((Task::counterexample(), vec![1.0, 0.0, 0.5, 0.0]));
    }
    let mut random = Random::new(seed, 3000 + k);
    let task = Task::random(&mut random);
    // A behaviour that is even enough for the trace to have a variance.
    let even = |p: &f64| 0.7 / task.actions() as f64 + 0.3 * p;
    let behaviour: Vec<Vec<f64>> =
        (0..task.states()).map(|s| task.behaviour(s).iter().map(even).collect()).collect();
    let task = task.with_behaviour(&behaviour)?;
    let weights = (0..task.softmax().len()).map(|_| 0.3 * random.normal()).collect();
    Ok((task, weights))
}

/// Does the jobs 0 to n − 1 on several threads. What comes out is in their order.
fn on_threads<T: Send>(
    threads: usize,
    n: usize,
    job: impl Fn(usize) -> Result<T, TheoryError> + Sync,
) -> Result<Vec<T>, TheoryError> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let work = || {
        loop {
            let k = next.fetch_add(1, Ordering::Relaxed);
            if k >= n {
                return;
            }
            let result = job(k);
            done.lock().unwrap_or_else(PoisonError::into_inner).push((k, result));
        }
    };
    std::thread::scope(|scope| (0..threads.clamp(1, n.max(1))).for_each(|_| drop(scope.spawn(work))));
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, result)| result).collect()
}

fn judged_expectations(samples: &[Samples]) -> Result<[(Verdict, Vec<String>); 2], TheoryError> {
    let (mut emphasis, mut gradient) = (Vec::new(), Vec::new());
    for samples in samples {
        let right = samples.misses(|lambda_a| lambda_a)?;
        let off = samples.misses(|lambda_a| (lambda_a - OFF).abs())?;
        let semi_gradient = samples.misses(|_| 0.0)?;
        emphasis.push((largest(right.0.into_iter()), largest(off.0.into_iter())));
        // Proposition 1 is about λ_a = 1, the last.
        gradient.push((right.1[LAMBDAS.len() - 1], semi_gradient.1[LAMBDAS.len() - 1]));
    }
    let judged = |misses: &[(f64, f64)], wrong: &str| {
        let worst = largest(misses.iter().map(|(right, _)| *right));
        let caught = misses.iter().filter(|(_, wrong)| *wrong > ERRORS).count();
        let evidence = vec![
            format!("largest deviation {worst:.1} standard errors over {} problems", misses.len()),
            format!("that of {wrong} is more than {ERRORS} on {caught} of them"),
        ];
        (verdict(worst < ERRORS, 2 * caught > misses.len()), evidence)
    };
    Ok([judged(&emphasis, "a λ_a that is 0.1 off"), judged(&gradient, "the semi-gradient")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theorems_hold() {
        assert_eq!(theorem_1(1).unwrap().0, Verdict::Confirmed);
        assert_eq!(theorem_2(1).unwrap().0, Verdict::Confirmed);
    }

    #[test]
    fn the_expectations_are_right() {
        let samples = samples(1, 2).unwrap();
        let [t3, t4] = judged_expectations(&samples).unwrap();
        assert_eq!((t3.0, t4.0), (Verdict::Confirmed, Verdict::Confirmed), "{:?} {:?}", t3.1, t4.1);
        // As Proposition 1, for any λ_a.
        for samples in &samples {
            let (_, gradient) = samples.misses(|lambda_a| lambda_a).unwrap();
            assert!(largest(gradient.iter().copied()) < ERRORS, "{gradient:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_refuted_and_what_catches_nothing_decides_nothing() {
        assert_eq!(judged_deviations(&[(1e-12, 0.3), (1e-4, 0.5)]).0, Verdict::Refuted);
        assert_eq!(judged_deviations(&[(1e-12, 1e-12), (1e-12, 0.3)]).0, Verdict::NotDecided);
        // What is not a number once passed as right.
        assert_eq!(judged_deviations(&[(f64::NAN, 0.3)]).0, Verdict::Refuted);
        assert_eq!(difference(&[f64::NAN, 1.0], &[0.5, 1.0]), f64::INFINITY);
        let draw = |weights: Vec<f64>| Samples::draw(Task::counterexample(), weights, 3).unwrap();
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means.iter_mut().for_each(|means| means[1].0 *= 1.2);
        assert_eq!(judged_expectations(&[samples]).unwrap()[0].0, Verdict::Refuted);
        // The semi-gradient's samples in place of the gradient's.
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means[3] = samples.means[0].clone();
        assert_eq!(judged_expectations(&[samples]).unwrap()[1].0, Verdict::Refuted);
        // Without a difference between the two, nothing is shown.
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means.iter_mut().flatten().for_each(|(_, error)| *error = 1e6);
        let [t3, t4] = judged_expectations(&[samples]).unwrap();
        assert_eq!((t3.0, t4.0), (Verdict::NotDecided, Verdict::NotDecided));
    }
}
