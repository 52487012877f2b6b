//! The mean of the emphasis that a policy would have if it stayed as it is.

use super::{Context, Kind, Mean, Measure, Measured, Recorder, require_known, single};
use emphatic::{
    Action, Composable, ComposeError, Emphasis, Learner, Real, Recipe, Seen, State, Step, Update,
};
use emphatic_problems::ValueError;

pub(super) const KIND: Kind = Kind {
    pattern: "exact_emphasis",
    about: "(1 − λ_a) i(S_t) + λ_a m(S_t)/d_μ(S_t) with the emphasis's own λ_a, computed: what E[M_t | S_t] would be for a policy that stays as it is; its mean over the same steps",
    parse: |name, _| single(name, "exact_emphasis", Exact),
};

#[derive(Debug)]
struct Exact;

impl Measure for Exact {
    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        of.check_known().map(|_| ())
    }

    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        let recipe = |lane: usize| context.recipes.get(lane).unwrap_or(&context.recipes[0]);
        let lambda_a = R::from_lanes(|lane| lambda_a(recipe(lane)));
        Ok(Box::new(DensityRecorder { density: Density::new(context)?, lambda_a, mean: Mean::default() }))
    }
}

/// Returns the share of m/d_μ in what an emphasis is meant to estimate. A λ_a below 1 is a deliberate bias and counts; anything else
/// that an emphasis leaves out, such as old steps, does not.
fn lambda_a(recipe: &Recipe) -> f64 {
    let emphasis = &recipe.emphasis;
    let default = if emphasis.kind == "none" { 0.0 } else { 1.0 };
    emphasis.numbers.get("lambda_a").copied().unwrap_or(default)
}

/// m(S_t)/d_μ(S_t) of the policy before each step.
pub(super) struct Density<R> {
    exact: Box<dyn Emphasis<R>>,
    /// Whether the weights at the start have yet to be seen.
    is_first: bool,
    /// Of the present step.
    pub(super) now: R,
}

impl<R: Composable> Density<R> {
    pub(super) fn new(context: &Context) -> Result<Self, ComposeError> {
        let problem = require_known(context.learners_problem, "emphasis")?;
        let exact = R::exact_emphasis(problem, context.policy, context.isa)?;
        Ok(Self { exact, is_first: true, now: R::zero() })
    }
}

impl<R: Real> Density<R> {
    /// Sees a step before it is learned from.
    pub(super) fn before(&mut self, step: &Step<State, Action>) {
        self.now = self.exact.weigh(&Seen::without_features(step), R::one());
    }

    /// Sees what a step has made of the policy.
    pub(super) fn after(&mut self, step: &Step<State, Action>, learner: &dyn Learner<R>) {
        self.exact.policy_changed(learner.weights(), Some(step.state));
    }

    /// Sees the learner at an evaluation, the first of which comes before the first step.
    pub(super) fn evaluation(&mut self, learner: &dyn Learner<R>) {
        if std::mem::take(&mut self.is_first) {
            self.exact.policy_changed(learner.weights(), None);
        }
    }
}

struct DensityRecorder<R> {
    density: Density<R>,
    lambda_a: R,
    mean: Mean<R>,
}

impl<R: Real> Recorder<R> for DensityRecorder<R> {
    fn needs_steps(&self) -> bool {
        true
    }

    fn before(&mut self, step: &Step<State, Action>) {
        self.density.before(step);
    }

    fn after(&mut self, step: &Step<State, Action>, _update: &Update<R>, learner: &dyn Learner<R>) {
        let rest = (R::one() - self.lambda_a) * R::splat(step.interest);
        self.mean.add(rest + self.lambda_a * self.density.now);
        self.density.after(step, learner);
    }

    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        self.density.evaluation(learner);
        vec![self.mean.take()]
    }
}
