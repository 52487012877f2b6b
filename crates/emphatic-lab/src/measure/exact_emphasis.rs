//! The mean of the emphasis as it would be for a policy that stays as it is.

use super::{Kind, Mean, Measure, Meter, Subject, known, meters, plain};
use emphatic::{
    Action, Composable, ComposeError, Emphasis, Learner, Real, Recipe, Seen, State, Step, Update,
};

pub(super) const KIND: Kind = Kind {
    pattern: "exact_emphasis",
    about: "(1 − λ_a) i(S_t) + λ_a m(S_t)/d_μ(S_t) with the emphasis's own λ_a, computed: what E[M_t | S_t] would be for a policy that stays as it is; its mean over the same steps",
    parse: |name, _| plain(name, "exact_emphasis", Exact),
};

#[derive(Debug)]
struct Exact;

impl Measure for Exact {
    meters!(meter);
}

fn meter<R: Composable>(_: &Exact, of: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    let exact = R::exact_emphasis(known(of.own, "emphasis")?, of.policy, of.isa)?;
    let lambda_a = R::from_lanes(|lane| lambda_a(of.recipes.get(lane).unwrap_or(&of.recipes[0])));
    Ok(Box::new(Density { exact, lambda_a, fresh: true, density: R::zero(), mean: Mean::default() }))
}

/// The share of m/d_μ in what an emphasis is meant to estimate. A λ_a below 1 is a bias on purpose, so it counts; what else an emphasis
/// leaves out, such as old steps, does not.
fn lambda_a(recipe: &Recipe) -> f64 {
    let emphasis = &recipe.emphasis;
    let all = if emphasis.kind == "none" { 0.0 } else { 1.0 };
    emphasis.numbers.get("lambda_a").copied().unwrap_or(all)
}

struct Density<R> {
    exact: Box<dyn Emphasis<R>>,
    lambda_a: R,
    /// Whether the weights have yet to be looked at.
    fresh: bool,
    /// m(S_t)/d_μ(S_t) of the policy before the step.
    density: R,
    mean: Mean<R>,
}

impl<R: Real> Meter<R> for Density<R> {
    fn watches(&self) -> bool {
        true
    }

    fn before(&mut self, step: &Step<State, Action>) {
        self.density = self.exact.weigh(&Seen::without_features(step), R::one());
    }

    fn after(&mut self, step: &Step<State, Action>, _update: &Update<R>, learner: &dyn Learner<R>) {
        let rest = (R::one() - self.lambda_a) * R::splat(step.interest);
        self.mean.add(rest + self.lambda_a * self.density);
        self.exact.policy_changed(learner.weights(), Some(step.state));
    }

    fn read(&mut self, learner: &dyn Learner<R>) -> Vec<R> {
        // The first evaluation comes before the first step.
        if std::mem::take(&mut self.fresh) {
            self.exact.policy_changed(learner.weights(), None);
        }
        vec![self.mean.take()]
    }
}
