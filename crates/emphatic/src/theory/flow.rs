//! Where expected updates lead.

use super::{Exact, Model};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::random::Random;
use crate::real::elementary;

/// A flow whose objective keeps within this of where it was, relative to the largest value seen, stands still.
const STILL: f64 = 1e-10;
/// The error allowed in one step of the integration, relative to 1 + |θ|.
const TOLERANCE: f64 = 1e-6;
/// So many steps without the objective moving are enough: the flow turns about an equilibrium.
const MANY_STEPS: usize = 10_000;
/// So long a time without the objective moving is enough, in units of one over the largest value seen. A policy that starts
/// on a plateau flatter than that is taken to have arrived.
const LONG_TIME: f64 = 1e15;
/// A slope below this is none.
const NOTHING: f64 = 1e-290;
/// A flow that has not settled after so many steps is given up.
const MOST_STEPS: usize = 100_000;

/// The end of a flow. Weights may have no limit (a softmax approaches certainty for ever); the objective usually has.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The weights when the flow was stopped.
    pub weights: Vec<f64>,
    /// J_μ there.
    pub objective: f64,
    /// Whether the objective had settled, to about nine digits. It has not if it grows without bound. (A flow that turns
    /// fast about an equilibrium in some weights can only be followed for some 10⁵ units of time; if others start on a
    /// plateau that takes longer to leave, as weights of ±10 do, it is taken to have settled there.)
    pub settled: bool,
}

/// Follows the expected update for λ_a from some weights to its limit: dθ/dt = Σ_s m_{λ_a}(s) Σ_a ∂π(s,a) q_π(s,a).
///
/// λ_a = 1 climbs J_μ; λ_a = 0 is where OffPAC or DPG would go with vanishing step-sizes.
///
/// ```
/// use emphatic::{Task, limit};
/// let task = Task::counterexample();
/// let policy = task.softmax();
/// let near_optimal = [9f64.ln(), 0.0, 9f64.ln(), 0.0];
/// assert!((limit(&task, &policy, &near_optimal, 1.0)?.objective - 1.25).abs() < 1e-8);
/// assert!((limit(&task, &policy, &near_optimal, 0.0)?.objective - 0.875).abs() < 1e-8);
/// # Ok::<(), emphatic::ProblemError>(())
/// ```
pub fn limit<P: Policy<State = usize>, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
) -> Result<Limit, ProblemError> {
    if !(0.0..=1.0).contains(&lambda_a) {
        let right = "it must lie between 0 and 1";
        return Err(ProblemError::Number { what: "lambda_a".to_owned(), value: lambda_a, right });
    }
    let field = |weights: &[f64]| Exact::new(model, policy, weights).map(|exact| exact.gradient(lambda_a));
    let mut weights = weights.to_vec();
    let mut slope = field(&weights)?;
    let (mut time, mut step) = (0.0, (0.1 / largest(&slope)).min(1e300));
    let (mut standing, mut moved_at, mut steps_since) = (f64::NAN, 0.0, 0);
    let mut scale: f64 = 0.0;
    for _ in 0..MOST_STEPS {
        let exact = Exact::new(model, policy, &weights)?;
        let objective = exact.objective();
        scale = scale.max(weighted_values(model, &exact)).max(largest(&slope));
        if (objective - standing).abs() <= STILL * scale {
            steps_since += 1;
        } else {
            (standing, moved_at, steps_since) = (objective, time, 0);
        }
        // The objective may stand still for a moment where it turns, so it must have done so for most of the time.
        let for_long = time * scale > 10.0 * (moved_at * scale + 1e3);
        let enough = steps_since > MANY_STEPS || time * scale > LONG_TIME;
        if largest(&slope) < NOTHING || (for_long && enough) {
            return Ok(Limit { weights, objective, settled: true });
        }

        // A step so long that it leads out of what can be computed is an infinite error.
        let trial = try_step(&field, &weights, &slope, step);
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
        if let Ok(trial) = trial
            && error <= 1.0
        {
            time += step;
            (weights, slope) = (trial.weights, trial.slope);
        }
        // The cube root is ours: the platform's may differ in the last bits.
        let factor = if error > 0.0 { 0.9 * elementary::exp(elementary::ln(error) / -3.0) } else { 5.0 };
        step *= factor.clamp(0.2, 5.0);
        if error > 1.0 && step * largest(&slope) < NOTHING {
            break; // It runs away faster than can be followed.
        }
    }
    let objective = Exact::new(model, policy, &weights)?.objective();
    Ok(Limit { weights, objective, settled: false })
}

/// A step of the integration: its error, relative to what is allowed, and where it leads with the slope there.
struct Trial {
    error: f64,
    weights: Vec<f64>,
    slope: Vec<f64>,
}

/// One step by Bogacki and Shampine's pair of orders 3 and 2. Near a limit at infinity the field decays like 1/t, and the
/// step grows in proportion to t.
fn try_step<E>(
    field: &impl Fn(&[f64]) -> Result<Vec<f64>, E>,
    weights: &[f64],
    k1: &[f64],
    step: f64,
) -> Result<Trial, E> {
    let along = |k: &[f64], by: f64| -> Vec<f64> { weights.iter().zip(k).map(|(w, k)| w + by * k).collect() };
    let k2 = field(&along(k1, step / 2.0))?;
    let k3 = field(&along(&k2, step * 0.75))?;
    let mean = |j: usize| (2.0 * k1[j] + 3.0 * k2[j] + 4.0 * k3[j]) / 9.0;
    let next: Vec<f64> = (0..k1.len()).map(|j| weights[j] + step * mean(j)).collect();
    let k4 = field(&next)?;
    let error = (0..k1.len()).map(|j| {
        let difference = step * (-5.0 * k1[j] + 6.0 * k2[j] + 8.0 * k3[j] - 9.0 * k4[j]) / 72.0;
        (difference / (TOLERANCE * (1.0 + next[j].abs()))).abs()
    });
    // What is not a number must not pass for small.
    let error = error.map(|x| if x.is_nan() { f64::INFINITY } else { x }).fold(0.0, f64::max);
    Ok(Trial { error, weights: next, slope: k4 })
}

/// Σ d_μ i |v|: what the objective, and with it the field, is measured by.
fn weighted_values<P: Policy<State = usize>, M: Model<P>>(model: &M, exact: &Exact<f64, M, P>) -> f64 {
    let weights = model.stationary().iter().zip(model.interest());
    weights.zip(exact.values()).map(|((d, i), v)| d * i * v.abs()).sum()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}

/// The best objective found by following the gradient from zero weights and from `starts` random ones. No policy of this
/// form that can be reached so does better; one that cannot may.
pub fn best_attainable<P: Policy<State = usize>, M: Model<P>>(
    model: &M,
    policy: &P,
    starts: usize,
    seed: u64,
) -> Result<Limit, ProblemError> {
    let mut best = limit(model, policy, &vec![0.0; policy.len()], 1.0)?;
    for run in 0..starts {
        let mut random = Random::new(seed, run as u64);
        let start: Vec<f64> = (0..policy.len()).map(|_| 2.0 * random.normal()).collect();
        match limit(model, policy, &start, 1.0) {
            Ok(reached) if reached.objective > best.objective => best = reached,
            _ => {} // No better, or a start at which nothing can be computed.
        }
    }
    Ok(best)
}
