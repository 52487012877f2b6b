//! The claims of the paper's theory, checked on random problems.
//!
//! Theorems 1 and 2: the theorem's gradient is the derivative of J_μ, which dual numbers yield without the theorem. The equation for
//! λ_a, E_μ[M_t | S_t = s] d_μ(s) = m_{λ_a}(s), and Proposition 1, E_μ[ρ_t M_t δ_t ∇ ln π] = ∂J_μ/∂θ, are checked by means over
//! independent batches of experience, whose standard errors are known.

use crate::verdict::{JudgedClaim, Verdict};
use emphatic::theory::derivative;
use emphatic::{
    Action, ContinuousCounterexample, Exact, ExactCritic, Isa, Lanes, Learner, Model, Policy, ProblemError,
    Random, Real, Softmax, State, StochasticPolicy, Task, follow_on_ace,
};
use emphatic_lab::statistics::{mean, standard_error};
use std::panic::resume_unwind;
use std::sync::Arc;
use thiserror::Error;

/// The theory could not be checked.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TheoryError {
    /// A problem could not be solved.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The parts of a learner do not fit.
    #[error(transparent)]
    Compose(#[from] emphatic::ComposeError),
    /// A learner refused a step.
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

/// How far what is claimed is from the truth in a problem, and how far something wrong is.
#[derive(Clone, Copy)]
struct Contrast {
    right: f64,
    wrong: f64,
}

impl Contrast {
    /// How far the gradient and the semi-gradient are from the derivative.
    fn of<P: Policy, M: Model<P>>(model: &M, policy: &P, weights: &[f64]) -> Result<Self, ProblemError> {
        let exact = Exact::new(model, policy, weights)?;
        let derivative = derivative(model, policy, weights)?;
        let [right, wrong] = [1.0, 0.0].map(|lambda_a| difference(&exact.gradient(lambda_a), &derivative));
        Ok(Self { right, wrong })
    }
}

/// The largest difference between two vectors, relative to the larger of their largest entries.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let scale = largest(a.iter().chain(b).map(|x| x.abs()));
    let apart = largest(a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    // 0 / 0 and ∞ / ∞ are no numbers.
    if apart == 0.0 || apart.is_infinite() { apart } else { apart / scale }
}

/// The largest deviation. NaN is infinitely wrong.
fn largest(deviations: impl Iterator<Item = f64>) -> f64 {
    deviations.fold(0.0, |most, x| if x.is_nan() { f64::INFINITY } else { f64::max(most, x) })
}

/// What a check found.
#[derive(Debug)]
struct Finding {
    verdict: Verdict,
    evidence: Vec<String>,
}

/// Checks all claims, in the order of [`CLAIMS`].
pub fn check(seed: u64, threads: usize) -> Result<Vec<JudgedClaim>, TheoryError> {
    let [t3, t4] = judged_expectations(&samples(seed, threads)?)?;
    let findings = [theorem_1(seed)?, theorem_2(seed)?, t3, t4];
    let judged = |(claim, Finding { verdict, evidence }): (&TheoryClaim, Finding)| JudgedClaim {
        id: claim.id,
        claim: claim.text,
        verdict,
        rule: claim.rule,
        evidence,
    };
    Ok(CLAIMS.iter().zip(findings).map(judged).collect())
}

/// Theorem 1.
fn theorem_1(seed: u64) -> Result<Finding, TheoryError> {
    let mut found = Vec::new();
    for problem in 0..1000 {
        let mut random = Random::new(seed, problem);
        let task = Task::random(&mut random);
        let policy = task.softmax();
        let weights: Vec<f64> = (0..policy.len()).map(|_| random.normal()).collect();
        found.push(Contrast::of(&task, &policy, &weights)?);
    }
    let plain = ContinuousCounterexample::default();
    for problem in 0..50 {
        let mut random = Random::new(seed, 1000 + problem);
        let task = with_random_interest(&plain, &mut random)?;
        let weights: Vec<f64> = (0..4).map(|_| 1.5 * random.normal()).collect();
        found.push(Contrast::of(&task, &task.gaussian(), &weights)?);
    }
    Ok(judged_gradients(&found))
}

/// Theorem 2.
fn theorem_2(seed: u64) -> Result<Finding, TheoryError> {
    let plain = ContinuousCounterexample::default();
    let mut found = Vec::new();
    for problem in 0..100 {
        let mut random = Random::new(seed, 2000 + problem);
        let task = with_random_interest(&plain, &mut random)?;
        let weights = [2.0 * random.normal(), 2.0 * random.normal()];
        found.push(Contrast::of(&task, &task.deterministic(), &weights)?);
    }
    Ok(judged_gradients(&found))
}

fn with_random_interest(
    problem: &ContinuousCounterexample,
    random: &mut Random,
) -> Result<ContinuousCounterexample, ProblemError> {
    let interest = [random.uniform(), random.uniform(), if random.below(3) == 0 { 0.0 } else { 1.0 }];
    problem.clone().with_interest(interest)
}

/// Judges a theorem by the gradients in each problem.
fn judged_gradients(found: &[Contrast]) -> Finding {
    Finding::of(found, CLOSE, |worst| format!("{worst:.1e}"), "the semi-gradient is larger than 10⁻⁸")
}

impl Finding {
    /// Nothing that is claimed may be beyond the limit. A check decides only if it would have caught something wrong in most problems;
    /// `wrong` says what, and what the limit is.
    fn of(found: &[Contrast], limit: f64, shown: impl Fn(f64) -> String, wrong: &str) -> Self {
        let worst = largest(found.iter().map(|contrast| contrast.right));
        let caught = found.iter().filter(|contrast| contrast.wrong > limit).count();
        let evidence = vec![
            format!("largest deviation {} over {} problems", shown(worst), found.len()),
            format!("that of {wrong} on {caught} of them"),
        ];
        let verdict = match (worst < limit, 2 * caught > found.len()) {
            (false, _) => Verdict::Refuted,
            (true, false) => Verdict::NotDecided,
            (true, true) => Verdict::Confirmed,
        };
        Self { verdict, evidence }
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

impl Batch<'_> {
    #[inline(always)]
    fn run(self) -> Result<Vec<Numbers>, TheoryError> {
        let Self { task, policy, weights, seed, run } = self;
        let splat = |x: &[f64]| x.iter().map(|&x| Numbers::splat(x)).collect::<Vec<_>>();
        let critic = ExactCritic::new(task.clone(), policy)?;
        // With α = 0 the policy stays fixed.
        let mut learner = follow_on_ace(policy.clone(), critic)
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

/// A mean over batches.
#[derive(Clone, Copy)]
struct Mean {
    mean: f64,
    standard_error: f64,
}

/// Samples of one problem, and what they are samples of.
struct Samples {
    task: Arc<Task>,
    weights: Vec<f64>,
    /// By λ_a, then by state and weight.
    means: Vec<Vec<Mean>>,
}

/// By how many standard errors samples miss their expectation, at most: for each λ_a.
struct Misses {
    emphasis: Vec<f64>,
    gradient: Vec<f64>,
}

impl Samples {
    fn draw(task: Task, weights: Vec<f64>, seed: u64) -> Result<Self, TheoryError> {
        let task = Arc::new(task);
        let policy = task.softmax();
        let draw = |run| {
            let batch = Batch { task: &task, policy: &policy, weights: &weights, seed, run };
            Isa::best().run(
                #[inline(always)]
                || batch.run(),
            )
        };
        let batches: Vec<Vec<Numbers>> = (0..BATCHES).map(draw).collect::<Result<_, _>>()?;
        // NaN misses everything.
        let of = |lane: usize, k: usize| {
            let values: Vec<f64> = batches.iter().map(|batch| batch[k].0[lane]).collect();
            Mean {
                mean: mean(&values).unwrap_or(f64::NAN),
                standard_error: standard_error(&values).unwrap_or(f64::NAN),
            }
        };
        let numbers = task.states() + policy.len();
        let means = (0..LAMBDAS.len()).map(|lane| (0..numbers).map(|k| of(lane, k)).collect()).collect();
        Ok(Self { task, weights, means })
    }

    /// The misses if the samples for each λ_a are compared with the expectation for the λ_a that `expected` maps it to.
    fn misses(&self, expected: impl Fn(f64) -> f64) -> Result<Misses, TheoryError> {
        let policy = self.task.softmax();
        let exact = Exact::new(&*self.task, &policy, &self.weights)?;
        let mut misses = Misses { emphasis: Vec::new(), gradient: Vec::new() };
        for (lambda_a, means) in LAMBDAS.iter().zip(&self.means) {
            let (of_states, of_weights) = means.split_at(self.task.states());
            let lambda_a = expected(*lambda_a);
            misses.emphasis.push(worst(of_states, &exact.emphatic_weighting(lambda_a)));
            misses.gradient.push(worst(of_weights, &exact.gradient(lambda_a)));
        }
        Ok(misses)
    }
}

/// By how many standard errors means miss their expectations, at most.
fn worst(means: &[Mean], expected: &[f64]) -> f64 {
    let miss = |(Mean { mean, standard_error }, expected): (&Mean, &f64)| {
        let miss = (mean - expected).abs();
        // Where nothing varies (the emphasis of a state that starts every episode), only rounding is left.
        if miss < 1e-12 { 0.0 } else { miss / standard_error }
    };
    largest(means.iter().zip(expected).map(miss))
}

/// Samples of the counterexample and of random problems, for the equation of λ_a and Proposition 1. As many at a time as there are
/// threads.
fn samples(seed: u64, threads: usize) -> Result<Vec<Samples>, TheoryError> {
    let draw = |k: u64| {
        let (task, weights) = sampled_problem(seed, k)?;
        Samples::draw(task, weights, seed.wrapping_add(k))
    };
    let problems: Vec<u64> = (0..=RANDOM_PROBLEMS).collect();
    let mut samples = Vec::new();
    for problems in problems.chunks(threads.max(1)) {
        std::thread::scope(|scope| {
            let started: Vec<_> = problems.iter().map(|&k| scope.spawn(move || draw(k))).collect();
            samples.extend(
                started.into_iter().map(|one| one.join().unwrap_or_else(|panic| resume_unwind(panic))),
            );
        });
    }
    samples.into_iter().collect()
}

/// Problem number `k` (the counterexample is the first, the others are random) and the weights of a policy.
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

/// Judges the equation of λ_a and Proposition 1.
fn judged_expectations(samples: &[Samples]) -> Result<[Finding; 2], TheoryError> {
    let (mut emphasis, mut gradient) = (Vec::new(), Vec::new());
    for samples in samples {
        let right = samples.misses(|lambda_a| lambda_a)?;
        let off = samples.misses(|lambda_a| (lambda_a - OFF).abs())?;
        let semi_gradient = samples.misses(|_| 0.0)?;
        emphasis.push(Contrast {
            right: largest(right.emphasis.into_iter()),
            wrong: largest(off.emphasis.into_iter()),
        });
        // Proposition 1 is about λ_a = 1, the last.
        let last = LAMBDAS.len() - 1;
        gradient.push(Contrast { right: right.gradient[last], wrong: semi_gradient.gradient[last] });
    }
    let judged = |misses: &[Contrast], wrong: &str| {
        let wrong = format!("{wrong} is more than {ERRORS}");
        Finding::of(misses, ERRORS, |worst| format!("{worst:.1} standard errors"), &wrong)
    };
    Ok([judged(&emphasis, "a λ_a that is 0.1 off"), judged(&gradient, "the semi-gradient")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_theorems_hold() {
        assert_eq!(theorem_1(1).unwrap().verdict, Verdict::Confirmed);
        assert_eq!(theorem_2(1).unwrap().verdict, Verdict::Confirmed);
    }

    #[test]
    fn the_expectations_are_right() {
        let samples = samples(1, 2).unwrap();
        let [t3, t4] = judged_expectations(&samples).unwrap();
        assert_eq!((t3.verdict, t4.verdict), (Verdict::Confirmed, Verdict::Confirmed), "{t3:?} {t4:?}");
        // As Proposition 1, for any λ_a.
        for samples in &samples {
            let Misses { gradient, .. } = samples.misses(|lambda_a| lambda_a).unwrap();
            assert!(largest(gradient.iter().copied()) < ERRORS, "{gradient:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_refuted_and_what_catches_nothing_decides_nothing() {
        let judged = |found: &[(f64, f64)]| {
            let contrast = |&(right, wrong): &(f64, f64)| Contrast { right, wrong };
            judged_gradients(&found.iter().map(contrast).collect::<Vec<_>>()).verdict
        };
        assert_eq!(judged(&[(1e-12, 0.3), (1e-4, 0.5)]), Verdict::Refuted);
        assert_eq!(judged(&[(1e-12, 1e-12), (1e-12, 0.3)]), Verdict::NotDecided);
        // NaN once passed as right.
        assert_eq!(judged(&[(f64::NAN, 0.3)]), Verdict::Refuted);
        assert_eq!(difference(&[f64::NAN, 1.0], &[0.5, 1.0]), f64::INFINITY);
        let draw = |weights: Vec<f64>| Samples::draw(Task::counterexample(), weights, 3).unwrap();
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means.iter_mut().for_each(|means| means[1].mean *= 1.2);
        assert_eq!(judged_expectations(&[samples]).unwrap()[0].verdict, Verdict::Refuted);
        // The semi-gradient's samples in place of the gradient's.
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means[3] = samples.means[0].clone();
        assert_eq!(judged_expectations(&[samples]).unwrap()[1].verdict, Verdict::Refuted);
        // Without a difference between the two, nothing is shown.
        let mut samples = draw(vec![1.0, 0.0, 0.5, 0.0]);
        samples.means.iter_mut().flatten().for_each(|mean| mean.standard_error = 1e6);
        let [t3, t4] = judged_expectations(&[samples]).unwrap();
        assert_eq!((t3.verdict, t4.verdict), (Verdict::NotDecided, Verdict::NotDecided));
    }
}
