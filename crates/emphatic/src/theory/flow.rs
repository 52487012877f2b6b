//! Where expected updates lead.

use super::{Exact, Model};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::random::Random;

/// The change of J_μ still to come, by its present rate, below which a flow counts as settled.
const SETTLED: f64 = 1e-10;
/// The error allowed in one step of the integration, relative to 1 + |θ|.
const TOLERANCE: f64 = 1e-6;
/// A flow that has not settled after so many steps is given up.
const MOST_STEPS: usize = 100_000;

/// The end of a flow. Weights may have no limit (a softmax approaches certainty for ever); the objective has.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The weights when the flow was stopped.
    pub weights: Vec<f64>,
    /// J_μ there.
    pub objective: f64,
    /// Whether the objective had settled, to about 10⁻⁹.
    pub settled: bool,
}

/// Follows the expected update for λ_a from some weights to its limit: dθ/dt = Σ_s m_{λ_a}(s) Σ_a ∂π(s,a) q_π(s,a).
///
/// λ_a = 1 climbs J_μ; λ_a = 0 is where OffPAC or DPG would go with vanishing step-sizes.
///
/// ```
/// use emphatic::{Task, theory::limit};
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
    let field = |weights: &[f64]| Exact::new(model, policy, weights).map(|exact| exact.gradient(lambda_a));
    let mut weights = weights.to_vec();
    let mut slope = field(&weights)?;
    let (mut time, mut step) = (0.0, 1.0);
    // J_μ may stand still for a moment where it turns, so it must have stood still for most of the time.
    let mut moved_at = 0.0;
    for _ in 0..MOST_STEPS {
        let exact = Exact::new(model, policy, &weights)?;
        let rate: f64 = exact.gradient(1.0).iter().zip(&slope).map(|(a, b)| a * b).sum();
        if rate.abs() * (time + 1e3) > SETTLED {
            moved_at = time;
        } else if time > 10.0 * (moved_at + 1e3) {
            return Ok(Limit { objective: exact.objective(), weights, settled: true });
        }

        // Bogacki and Shampine's pair of orders 3 and 2, with the step as long as its error allows. Near a limit at
        // infinity the field decays like 1/t, and the step grows in proportion to t.
        let along =
            |k: &[f64], by: f64| -> Vec<f64> { weights.iter().zip(k).map(|(w, k)| w + by * k).collect() };
        let k1 = &slope;
        let k2 = field(&along(k1, step / 2.0))?;
        let k3 = field(&along(&k2, step * 0.75))?;
        let third: Vec<f64> = (0..k1.len())
            .map(|j| weights[j] + step * (2.0 * k1[j] + 3.0 * k2[j] + 4.0 * k3[j]) / 9.0)
            .collect();
        let k4 = field(&third)?;
        let error = (0..k1.len())
            .map(|j| {
                let difference = step * (-5.0 * k1[j] + 6.0 * k2[j] + 8.0 * k3[j] - 9.0 * k4[j]) / 72.0;
                (difference / (TOLERANCE * (1.0 + third[j].abs()))).abs()
            })
            .fold(0.0, f64::max);
        if error <= 1.0 {
            time += step;
            (weights, slope) = (third, k4);
        }
        let factor = if error > 0.0 { 0.9 / error.cbrt() } else { 5.0 };
        step *= factor.clamp(0.2, 5.0);
    }
    let objective = Exact::new(model, policy, &weights)?.objective();
    Ok(Limit { weights, objective, settled: false })
}

/// The best objective that the policy's form can attain, found by following the gradient from zero weights and
/// from `starts` random ones.
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
        let reached = limit(model, policy, &start, 1.0)?;
        if reached.objective > best.objective {
            best = reached;
        }
    }
    Ok(best)
}
