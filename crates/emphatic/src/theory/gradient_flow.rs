//! Gradient flow: where the gradient and the semi-gradient lead.

use super::lu_decomposition::LuDecomposition;
use super::{Exact, Model};
use crate::policy::Policy;
use crate::problem::ProblemError;
use crate::random_stream::Random;
use crate::real::{Dual, Real, elementary};
use std::ops::ControlFlow;

/// The objective stands still while it keeps within this of one value, relative to the largest value seen.
const STILL: f64 = 1e-10;
/// The error allowed in one step of the integration, relative to 1 + |θ|.
const TOLERANCE: f64 = 1e-6;
/// The flow has settled if the objective stands still for this many steps: it turns about an equilibrium too fast for
/// longer explicit steps.
const MANY_STEPS: usize = 10_000;
/// The flow has settled if the objective stands still for this time, in units of one over the largest value seen. A policy that
/// starts on a plateau flatter than that is taken to have settled.
const LONG_TIME: f64 = 1e15;
/// The length of a step, beside the fastest change of the field, from which on stability rather than accuracy limits it.
const LONG_STEP: f64 = 0.5;
/// After this many long steps the field is stiff, and implicit steps take over.
const STIFF_STEPS: usize = 20;
/// Implicit steps need a derivative by every weight: they are only used for up to this many.
const MOST_IMPLICIT: usize = 200;
/// The rounding error of a slope, relative to the values that it is computed from.
const ROUNDING: f64 = 1e-15;
/// A slope below this is taken for zero.
const NEGLIGIBLE: f64 = 1e-290;
/// A flow that has not settled after this many steps is given up.
const MOST_STEPS: usize = 100_000;

/// The end of a flow. Weights may have no limit (a softmax approaches certainty for ever); the objective usually has.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The weights when the flow was stopped.
    pub weights: Vec<f64>,
    /// J_μ there.
    pub objective: f64,
    /// Whether the objective had settled, to about nine digits. It has not if it grows without bound. (A flow of more than
    /// 200 weights that turns fast about an equilibrium in some of them can only be integrated for about 10⁵ units of time;
    /// if others start on a plateau that takes longer to leave, as weights of ±10 do, it is taken to have settled there.)
    pub settled: bool,
}

/// A point of a flow.
#[derive(Clone, Copy, Debug)]
pub struct FlowPoint<'a> {
    /// The time since the start, in units of α times steps: a step of the learner takes α.
    pub time: f64,
    /// θ.
    pub weights: &'a [f64],
    /// J_μ.
    pub objective: f64,
}

/// The limit of the flow dθ/dt = Σ_s m_{λ_a}(s) Σ_a ∂π(s,a) q_π(s,a), the expected update for λ_a, from some weights.
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
    integrate_flow(model, policy, weights, lambda_a, &mut |_| ControlFlow::Continue(()))
}

/// [`limit`], which calls `watch` with each point of the flow and stops if it returns `Break`.
pub fn integrate_flow<P: Policy, M: Model<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
    watch: &mut dyn FnMut(FlowPoint<'_>) -> ControlFlow<()>,
) -> Result<Limit, ProblemError> {
    if !(0.0..=1.0).contains(&lambda_a) {
        let right = "it must lie between 0 and 1";
        return Err(ProblemError::Number { what: "lambda_a".to_owned(), value: lambda_a, right });
    }
    let mut flow = Flow::new(Field { model, policy, lambda_a }, weights)?;
    let mut settled = false;
    for _ in 0..MOST_STEPS {
        settled = flow.has_settled();
        if settled || flow.try_step(watch).is_break() {
            break;
        }
    }
    Ok(Limit { weights: flow.weights, objective: flow.here.objective, settled })
}

/// The integration of a flow.
struct Flow<'a, M, P> {
    field: Field<'a, M, P>,
    weights: Vec<f64>,
    /// The field at these weights.
    here: Here,
    /// Its Jacobian, if it was needed.
    jacobian: Option<Vec<Vec<f64>>>,
    time: f64,
    /// The length of the next step.
    step: f64,
    stiff_steps: usize,
    standstill: Standstill,
}

/// How long the objective has stood still.
struct Standstill {
    objective: f64,
    since: f64,
    steps: usize,
    /// The largest value seen.
    scale: f64,
}

impl<'a, P: Policy, M: Model<P>> Flow<'a, M, P> {
    fn new(field: Field<'a, M, P>, weights: &[f64]) -> Result<Self, ProblemError> {
        let here = field.at(weights)?;
        Ok(Self {
            field,
            weights: weights.to_vec(),
            jacobian: None,
            time: 0.0,
            step: (0.1 / largest(&here.slope)).min(1e300),
            stiff_steps: 0,
            standstill: Standstill { objective: f64::NAN, since: 0.0, steps: 0, scale: 0.0 },
            here,
        })
    }

    fn has_settled(&mut self) -> bool {
        let Self { here, time, standstill, .. } = self;
        standstill.scale = standstill.scale.max(here.size).max(largest(&here.slope));
        let scale = standstill.scale;
        if (here.objective - standstill.objective).abs() <= STILL * scale {
            standstill.steps += 1;
        } else {
            *standstill = Standstill { objective: here.objective, since: *time, steps: 0, scale };
        }
        // The objective may stand still for a moment where it turns, so it must have done so for most of the time.
        let for_long = *time * scale > 10.0 * (standstill.since * scale + 1e3);
        let enough = standstill.steps > MANY_STEPS || *time * scale > LONG_TIME;
        largest(&here.slope) < NEGLIGIBLE || (for_long && enough)
    }

    /// Tries a step, and goes there if its error is small enough; chooses the length of the next one. Breaks if `watch` does, or
    /// if the flow runs away too fast to be integrated.
    fn try_step(&mut self, watch: &mut dyn FnMut(FlowPoint<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let trial = self.trial();
        // A step so long that nothing can be computed at its end has an infinite error.
        let error = trial.as_ref().map_or(f64::INFINITY, |trial| trial.error);
        if let Ok(trial) = trial
            && error <= 1.0
        {
            self.time += self.step;
            if self.stiff_steps < STIFF_STEPS {
                let is_long = trial.length > LONG_STEP;
                self.stiff_steps =
                    if is_long { self.stiff_steps + 1 } else { self.stiff_steps.saturating_sub(1) };
            }
            (self.weights, self.here, self.jacobian) = (trial.weights, trial.here, None);
            watch(FlowPoint { time: self.time, weights: &self.weights, objective: self.here.objective })?;
        }
        // The cube root is ours: the platform's may differ in the last bits.
        let factor = if error > 0.0 { 0.9 * elementary::exp(elementary::ln(error) / -3.0) } else { 5.0 };
        self.step *= factor.clamp(0.2, 5.0);
        let runs_away = error > 1.0 && self.step * largest(&self.here.slope) < NEGLIGIBLE;
        if runs_away { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn trial(&mut self) -> Result<Trial, ProblemError> {
        let Self { field, weights, here, jacobian, step, .. } = self;
        if self.stiff_steps < STIFF_STEPS || weights.len() > MOST_IMPLICIT {
            return field.explicit_step(weights, &here.slope, *step);
        }
        if jacobian.is_none() {
            *jacobian = field.jacobian(weights).ok();
        }
        field.implicit_step(weights, &here.slope, jacobian.as_ref(), *step)
    }
}

/// The field of the flow: the expected update as a function of the weights.
struct Field<'a, M, P> {
    model: &'a M,
    policy: &'a P,
    lambda_a: f64,
}

/// The field at some weights.
struct Here {
    slope: Vec<f64>,
    objective: f64,
    /// Σ d_μ i |v|: the scale of the objective and of the field.
    size: f64,
}

/// A step of the integration: its error, relative to the error allowed, and where it ends.
struct Trial {
    error: f64,
    /// The length of the step beside the fastest change of the field.
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
        // The slopes at two points near each other show how fast the field changes there.
        let length = step * distance(&here.slope, &k3) / distance(&next, &late).max(NEGLIGIBLE);
        Ok(Trial { error: worst(error, &next, step * ROUNDING * here.size), length, weights: next, here })
    }

    /// One step by the Rosenbrock pair of orders 2 and 3 of Shampine and Reichelt (ode23s), which damps fast changes.
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
        let not_finite = || ProblemError::NotFinite("a step of the flow".to_owned());
        let mut matrix = jacobian.ok_or_else(not_finite)?.clone();
        for (i, row) in matrix.iter_mut().enumerate() {
            row.iter_mut().for_each(|x| *x *= -step * d);
            row[i] += 1.0;
        }
        let matrix = LuDecomposition::new(matrix).ok_or_else(not_finite)?;
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

/// The largest error, relative to the error allowed, which includes the rounding error of the field. NaN counts as infinite.
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

/// The best limit of the gradient's flow from zero weights and from `starts` random ones. Policies of this form that none of
/// these flows reaches may be better.
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
            _ => {} // Not better, or a start at which nothing can be computed.
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::tests::near;
    use crate::{ContinuousCounterexample, Problem, ProblemBuilder, Table, Task};

    /// The objective of a flow that has settled.
    fn settled(limit: Limit) -> f64 {
        assert!(limit.settled, "{limit:?}");
        limit.objective
    }

    /// Checks the best attainable objective, and the limit of the semi-gradient from zero weights.
    fn check_limits<P: Policy, M: Model<P>>(model: &M, policy: &P, limits: [f64; 2], tolerance: f64) {
        near(settled(best_attainable(model, policy, 4, 1).unwrap()), limits[0], tolerance);
        let zeros = vec![0.0; policy.len()];
        near(settled(limit(model, policy, &zeros, 0.0).unwrap()), limits[1], tolerance);
    }

    #[test]
    fn best_attainable_objectives_and_limits_of_the_semi_gradient() {
        let three = Task::counterexample();
        check_limits(&three, &three.softmax(), [1.25, 0.875], 1e-8);
        let eleven = Task::long_counterexample(5);
        check_limits(&eleven, &eleven.softmax(), [1.817568, 0.999625], 5e-7);
        let continuous = ContinuousCounterexample::default();
        check_limits(&continuous, &continuous.deterministic(), [1.303265, 0.848367], 5e-7);
        check_limits(&continuous, &continuous.gaussian(), [1.303265, 0.848367], 5e-7);
    }

    fn task(builder: ProblemBuilder, groups: &[usize]) -> Task {
        let problem = builder.build().unwrap();
        let behaviour = vec![vec![0.5; 2]; groups.len()];
        Task::new(problem, &behaviour).unwrap().with_actor(Table::aliased(groups)).unwrap()
    }

    /// Ends with a's reward or leads on; then ends with 1 for a. Both states look alike, so that p = π(a) is best inside (0, 1).
    #[test]
    fn an_equilibrium_between_certain_policies() {
        let builder = Problem::builder()
            .states(["first", "second"])
            .actions(["a", "b"])
            .start("first", 1.0)
            .end("first", "a", 1.0, 0.0)
            .transition("first", "b", "second", 1.0, 0.0, 1.0)
            .end("second", "a", 1.0, 1.0)
            .end("second", "b", 1.0, 0.0);
        let task = task(builder, &[0, 0]);
        // d_μ = (2/3, 1/3), v = ((1 − p)p, p): J = (2p(1 − p) + p)/3 is largest at p = 3/4.
        let reached = limit(&task, &task.softmax(), &[0.0, 0.0], 1.0).unwrap();
        assert!(reached.settled && (reached.objective - 0.375).abs() < 1e-9, "{reached:?}");
        let p = 1.0 / (1.0 + (reached.weights[1] - reached.weights[0]).exp());
        assert!((p - 0.75).abs() < 1e-4, "{p}");
    }

    #[test]
    fn a_plateau_is_not_taken_for_a_limit() {
        let task = Task::counterexample();
        for start in [[15.0, 0.0, -15.0, 0.0], [20.0, 0.0, -10.0, 0.0]] {
            near(settled(limit(&task, &task.softmax(), &start, 1.0).unwrap()), 1.25, 1e-8);
        }
    }

    /// One state with two actions.
    fn one_state() -> ProblemBuilder {
        Problem::builder().states(["only"]).actions(["a", "b"]).start("only", 1.0)
    }

    #[test]
    fn rewards_of_any_size() {
        for size in [1e-9, 1.0, 1e9] {
            let task = task(one_state().end("only", "a", 1.0, size).end("only", "b", 1.0, -size), &[0]);
            let objective = settled(limit(&task, &task.softmax(), &[0.0, 0.0], 0.5).unwrap());
            near(objective / size, 1.0, 1e-8);
        }
    }

    #[test]
    fn nothing_to_gain() {
        let task = task(one_state().end("only", "a", 1.0, 3.0).end("only", "b", 1.0, 3.0), &[0]);
        near(settled(limit(&task, &task.softmax(), &[0.3, 0.0], 1.0).unwrap()), 3.0, 1e-12);
    }

    /// Staying pays for ever: the objective has no limit, and that is not an error of the caller's.
    #[test]
    fn an_objective_without_bound_does_not_settle() {
        let staying = one_state().transition("only", "a", "only", 1.0, 1.0, 1.0);
        let task = task(staying.end("only", "b", 1.0, 0.0), &[0]);
        let reached = limit(&task, &task.softmax(), &[0.0, 0.0], 1.0).unwrap();
        assert!(!reached.settled && reached.objective > 1e6, "{reached:?}");
    }

    #[test]
    fn lambda_a_must_be_a_fraction() {
        let task = Task::counterexample();
        for lambda_a in [-0.1, 1.5, f64::NAN] {
            let error = limit(&task, &task.softmax(), &[0.0; 4], lambda_a).unwrap_err();
            assert_eq!(error.to_string(), format!("lambda_a is {lambda_a}; it must lie between 0 and 1"));
        }
    }

    #[test]
    fn interest_of_any_size() {
        let task = Task::counterexample();
        for interest in [1e-12, 1e-6, 1e6] {
            let task = task.clone().with_interest(vec![interest; 3]).unwrap();
            let objective = settled(limit(&task, &task.softmax(), &[0.0; 4], 1.0).unwrap());
            near(objective / interest, 1.25, 1e-8);
        }
    }

    /// The first step was once infinite where the slope is tiny, and no other was ever taken.
    #[test]
    fn a_policy_that_is_as_certain_as_can_be_has_settled() {
        let task = Task::counterexample();
        for certain in [300.0, 360.0, 380.0, 800.0] {
            let weights = [certain, -certain, certain, -certain];
            near(settled(limit(&task, &task.softmax(), &weights, 1.0).unwrap()), 1.25, 1e-12);
        }
    }

    /// Half of the episodes turn about a fast equilibrium inside (0, 1); the other half have a choice that starts on a plateau. Explicit
    /// steps followed the first for ten thousand steps and took the second to have arrived.
    #[test]
    fn a_plateau_beside_a_fast_equilibrium_is_left() {
        let builder = Problem::builder()
            .states(["first", "second", "choice"])
            .actions(["a", "b"])
            .start("first", 0.5)
            .start("choice", 0.5)
            .end("first", "a", 1.0, 0.0)
            .transition("first", "b", "second", 1.0, 0.0, 1.0)
            .end("second", "a", 1.0, 1000.0)
            .end("second", "b", 1.0, 0.0)
            .end("choice", "a", 1.0, 1000.0)
            .end("choice", "b", 1.0, 0.0);
        let task = task(builder, &[0, 0, 1]);
        let start = [0.0, 0.0, -12.0, 12.0];
        // The behaviour is in `first`, `second` and `choice` with 2/5, 1/5 and 2/5: J = 400 p(1 − p) + 200 p + 400.
        near(settled(limit(&task, &task.softmax(), &start, 1.0).unwrap()), 225.0 + 400.0, 1e-5);
    }
}
