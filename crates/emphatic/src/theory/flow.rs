//! Where expected updates lead.

use super::{Exact, Model, dense};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::random_stream::Random;
use crate::real::{Dual, Real, elementary};
use std::ops::ControlFlow;

/// A flow whose objective keeps within this of where it was, relative to the largest value seen, stands still.
const STILL: f64 = 1e-10;
/// The error allowed in one step of the integration, relative to 1 + |θ|.
const TOLERANCE: f64 = 1e-6;
/// So many steps without the objective moving are enough: the flow turns about an equilibrium, faster than explicit
/// steps can pass over.
const MANY_STEPS: usize = 10_000;
/// Steps that are so long beside what is fastest in the field are only held back by it. If so many of them are, implicit steps take
/// over, which pass over it, for up to so many weights: each needs a derivative by every weight.
const LONG_STEP: f64 = 0.5;
const STIFF_STEPS: usize = 20;
const MOST_IMPLICIT: usize = 200;
/// So long a time without the objective moving is enough, in units of one over the largest value seen. A policy that starts
/// on a plateau flatter than that is taken to have arrived.
const LONG_TIME: f64 = 1e15;
/// What rounding leaves of a slope, relative to the values that it comes from.
const ROUNDING: f64 = 1e-15;
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
    /// Whether the objective had settled, to about nine digits. It has not if it grows without bound. (A flow of more than
    /// 200 weights that turns fast about an equilibrium in some of them can only be followed for some 10⁵ units of time;
    /// if others start on a plateau that takes longer to leave, as weights of ±10 do, it is taken to have settled there.)
    pub settled: bool,
}

/// A moment of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The time since the start, in units of α times steps: a step of the learner takes α.
    pub time: f64,
    /// θ.
    pub weights: &'a [f64],
    /// J_μ.
    pub objective: f64,
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
pub fn limit<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
) -> Result<Limit, ProblemError> {
    follow(model, policy, weights, lambda_a, &mut |_| ControlFlow::Continue(()))
}

/// [`limit`], which shows each moment of the flow to `watch`, who may break it off.
pub fn follow<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
    watch: &mut dyn FnMut(Moment<'_>) -> ControlFlow<()>,
) -> Result<Limit, ProblemError> {
    if !(0.0..=1.0).contains(&lambda_a) {
        let right = "it must lie between 0 and 1";
        return Err(ProblemError::Number { what: "lambda_a".to_owned(), value: lambda_a, right });
    }
    let field = Field { model, policy, lambda_a };
    let mut weights = weights.to_vec();
    let mut here = field.at(&weights)?;
    let (mut time, mut step) = (0.0, (0.1 / largest(&here.slope)).min(1e300));
    let (mut standing, mut moved_at, mut steps_since) = (f64::NAN, 0.0, 0);
    let mut scale: f64 = 0.0;
    let mut stiff_steps: usize = 0;
    let mut jacobian = None; // Of these weights, if it was needed.
    for _ in 0..MOST_STEPS {
        scale = scale.max(here.size).max(largest(&here.slope));
        if (here.objective - standing).abs() <= STILL * scale {
            steps_since += 1;
        } else {
            (standing, moved_at, steps_since) = (here.objective, time, 0);
        }
        // The objective may stand still for a moment where it turns, so it must have done so for most of the time.
        let for_long = time * scale > 10.0 * (moved_at * scale + 1e3);
        let enough = steps_since > MANY_STEPS || time * scale > LONG_TIME;
        if largest(&here.slope) < NOTHING || (for_long && enough) {
            return Ok(Limit { weights, objective: here.objective, settled: true });
        }
        let implicit = stiff_steps >= STIFF_STEPS && weights.len() <= MOST_IMPLICIT;

        // A step so long that it leads out of what can be computed is an infinite error.
        let trial = if implicit {
            if jacobian.is_none() {
                jacobian = field.jacobian(&weights).ok();
            }
            field.implicit_step(&weights, &here.slope, jacobian.as_ref(), step)
        } else {
            field.explicit_step(&weights, &here.slope, step)
        };
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
        if let Ok(trial) = trial
            && error <= 1.0
        {
            time += step;
            if stiff_steps < STIFF_STEPS {
                stiff_steps =
                    if trial.length > LONG_STEP { stiff_steps + 1 } else { stiff_steps.saturating_sub(1) };
            }
            (weights, here, jacobian) = (trial.weights, trial.here, None);
            if watch(Moment { time, weights: &weights, objective: here.objective }).is_break() {
                break;
            }
        }
        // The cube root is ours: the platform's may differ in the last bits.
        let factor = if error > 0.0 { 0.9 * elementary::exp(elementary::ln(error) / -3.0) } else { 5.0 };
        step *= factor.clamp(0.2, 5.0);
        if error > 1.0 && step * largest(&here.slope) < NOTHING {
            break; // It runs away faster than can be followed.
        }
    }
    Ok(Limit { weights, objective: here.objective, settled: false })
}

/// What is followed: the expected update.
struct Field<'a, M, P> {
    model: &'a M,
    policy: &'a P,
    lambda_a: f64,
}

/// The field at some weights.
struct Here {
    slope: Vec<f64>,
    objective: f64,
    /// Σ d_μ i |v|: what the objective, and with it the field, is measured by.
    size: f64,
}

/// A step of the integration: its error, relative to what is allowed, and where it leads.
struct Trial {
    error: f64,
    /// How long the step is beside what is fastest in the field.
    length: f64,
    weights: Vec<f64>,
    here: Here,
}

impl<P: Policy, M: Model<P>> Field<'_, M, P> {
    fn at(&self, weights: &[f64]) -> Result<Here, ProblemError> {
        let exact = Exact::new(self.model, self.policy, weights)?;
        let interests = self.model.stationary().iter().zip(self.model.interest());
        let size = interests.zip(exact.values()).map(|((d, i), v)| d * i * v.abs()).sum();
        Ok(Here { slope: exact.gradient(self.lambda_a), objective: exact.objective(), size })
    }

    /// One step by Bogacki and Shampine's pair of orders 3 and 2. Near a limit at infinity the field decays like 1/t, and the
    /// step grows in proportion to t.
    fn explicit_step(&self, weights: &[f64], k1: &[f64], step: f64) -> Result<Trial, ProblemError> {
        let k2 = self.at(&along(weights, k1, step / 2.0))?.slope;
        let late = along(weights, &k2, step * 0.75);
        let k3 = self.at(&late)?.slope;
        let mean: Vec<f64> = (0..k1.len()).map(|j| (2.0 * k1[j] + 3.0 * k2[j] + 4.0 * k3[j]) / 9.0).collect();
        let next = along(weights, &mean, step);
        let here = self.at(&next)?;
        let error = |j: usize| step * (-5.0 * k1[j] + 6.0 * k2[j] + 8.0 * k3[j] - 9.0 * here.slope[j]) / 72.0;
        // Two slopes near each other show how fast the field changes there.
        let length = step * distance(&here.slope, &k3) / distance(&next, &late).max(NOTHING);
        Ok(Trial { error: worst(error, &next, step * ROUNDING * here.size), length, weights: next, here })
    }

    /// One step by the Rosenbrock pair of orders 2 and 3 of Shampine and Reichelt (ode23s), which damps whatever is fast.
    fn implicit_step(
        &self,
        weights: &[f64],
        slope: &[f64],
        jacobian: Option<&Vec<Vec<f64>>>,
        step: f64,
    ) -> Result<Trial, ProblemError> {
        let n = weights.len();
        let root = f64::sqrt(2.0);
        let (d, e) = (1.0 / (2.0 + root), 6.0 + root);
        let beyond = || ProblemError::NotFinite("a step of the flow".to_owned());
        let mut matrix = jacobian.ok_or_else(beyond)?.clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            row.iter_mut().for_each(|x| *x *= -step * d);
            row[i] += 1.0;
        }
        let matrix = dense::Factors::new(matrix).ok_or_else(beyond)?;
        let k1 = matrix.solve(slope);
        let middle = self.at(&along(weights, &k1, step / 2.0))?.slope;
        let difference: Vec<f64> = (0..n).map(|j| middle[j] - k1[j]).collect();
        let k2: Vec<f64> = matrix.solve(&difference).iter().zip(&k1).map(|(x, k1)| x + k1).collect();
        let next = along(weights, &k2, step);
        let here = self.at(&next)?;
        let rest: Vec<f64> =
            (0..n).map(|j| here.slope[j] - e * (k2[j] - middle[j]) - 2.0 * (k1[j] - slope[j])).collect();
        let k3 = matrix.solve(&rest);
        let error = |j: usize| step * (k1[j] - 2.0 * k2[j] + k3[j]) / 6.0;
        Ok(Trial {
            error: worst(error, &next, step * ROUNDING * here.size),
            length: 0.0,
            weights: next,
            here,
        })
    }

    /// ∂ field / ∂ θ, row by row, by dual numbers.
    fn jacobian(&self, weights: &[f64]) -> Result<Vec<Vec<f64>>, ProblemError> {
        const DIRECTIONS: usize = 8;
        let n = weights.len();
        let mut matrix = vec![vec![0.0; n]; n];
        for first in (0..n).step_by(DIRECTIONS) {
            let several = first..n.min(first + DIRECTIONS);
            let variable = |(k, w): (usize, &f64)| match several.contains(&k) {
                true => Dual::<DIRECTIONS>::variable(*w, k - first),
                false => Dual::splat(*w),
            };
            let dual: Vec<_> = weights.iter().enumerate().map(variable).collect();
            let columns = Exact::new(self.model, self.policy, &dual)?.gradient(self.lambda_a);
            for (x, row) in columns.iter().zip(&mut matrix) {
                row[several.clone()].copy_from_slice(&x.slope.0[..several.len()]);
            }
        }
        Ok(matrix)
    }
}

/// The largest difference.
fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).fold(0.0, |most, (x, y)| f64::max(most, (x - y).abs()))
}

fn along(weights: &[f64], slope: &[f64], step: f64) -> Vec<f64> {
    weights.iter().zip(slope).map(|(w, k)| w + step * k).collect()
}

/// The largest error, relative to what is allowed: a field of this scale has a little rounding in it, which is no error of the
/// step's. What is not a number must not pass for small.
fn worst(error: impl Fn(usize) -> f64, next: &[f64], rounding: f64) -> f64 {
    let relative = |(j, next): (usize, &f64)| (error(j) / (TOLERANCE * (1.0 + next.abs()) + rounding)).abs();
    next.iter()
        .enumerate()
        .map(relative)
        .map(|x| if x.is_nan() { f64::INFINITY } else { x })
        .fold(0.0, f64::max)
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |largest, x| f64::max(largest, x.abs()))
}

/// The best objective found by following the gradient from zero weights and from `starts` random ones. No policy of this
/// form that can be reached so does better; one that cannot may.
pub fn best_attainable<P: Policy, M: Model<P>>(
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
