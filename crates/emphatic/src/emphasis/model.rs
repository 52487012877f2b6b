//! The expectation-model emphasis: solved for from a model of the features' expectations.

use super::Emphasis;
use super::estimate::dot;
use super::lambda_a::LambdaA;
use crate::catalogue::{Extent, Need, Role, Size};
use crate::expectation_model::ExpectationModel;
use crate::linear_system::{Due, LinearSystem};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, FinitePolicy, Fixed, Part, PartBuilder, Real,
    Scratch, Seen, SettingError, Settings, Softmax, State, StateError, Visitor,
};
use std::any::Any;

settings! {
    ModelEmphasis<R>(features, policy: Softmax) => ModelEmphasisBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    solve_every: Count = 100.0, "after how many steps u is solved for anew; also where an episode starts";
}

impl Declared for ModelEmphasis {
    const DECLARATION: Declaration = Declaration {
        source: "here",
        settings: SETTINGS,
        features: true,
        needs: &[Need::Finite],
        ..Declaration::new(
            Role::Emphasis,
            "model",
            "ModelEmphasis",
            "û(s) = u·x(s), solved for from a learned model of γ_{t+1} x_{t+1} and the current policy, without ratios",
        )
    };

    fn size(of: &Extent) -> Size {
        let square = of.features * of.features;
        Size {
            in_lanes: square * (1.0 + of.actions) + 3.0 * of.features,
            shared: square * (4.0 + 3.0 * of.actions) + 2.0 * of.states,
        }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actions()?;
        let (features, settings) = (with.features()?, with.settings());
        if let Some(policy) = with.policy().downcast_ref::<Softmax>() {
            return with.emphasis(ModelEmphasis::new(features, policy.clone(), settings)?);
        }
        match with.policy().downcast_ref::<Fixed>() {
            Some(policy) => with.emphasis(ModelEmphasis::new(features, policy.clone(), settings)?),
            None => Err(ComposeError::Policy),
        }
    }
}

/// The ridge by which u is drawn to 1.
const RIDGE: f64 = 1e-3;

/// û(s) = u·x(s) from a model B̂(s,b) = W_b x(s) of E[γ_{t+1} x_{t+1} | S_t = s, A_t = b]:
///
/// ```text
/// (Σ_k x_k x_kᵀ − Σ_k Σ_b π(b|S_k) B̂(S_k,b) x_kᵀ) u = Σ_k i_k x_k
/// ```
///
/// No ratio enters, and the model does not depend on the policy, so nothing is forgotten. Where features are a table, the sum over the past has the
/// probabilities of the *current* policy, by how often each state was visited; otherwise those of its time. The model is a regression weighted by 1/μ, so
/// that it is the same for every behaviour. u is solved for where an episode starts and after `solve_every` steps.
#[derive(Clone, Debug)]
pub struct ModelEmphasis<R: Real = f64, P: FinitePolicy = Softmax> {
    features: Features,
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    policy: P,
    weights: Vec<R>,
    u: Vec<R>,
    model: ExpectationModel,
    /// How often each state was visited, if features are a table.
    visits: Vec<f64>,
    /// Σ_k π(b|S_k) x_k x_kᵀ of every action, if they are not.
    mixed: Vec<R>,
    /// Σ_k x_k x_kᵀ and Σ_k i_k x_k.
    gram: Vec<f64>,
    interest: Vec<f64>,
    system: LinearSystem<R>,
    due: Due,
    changed: R,
    scratch: Scratch,
    at: P::Distribution<R>,
}

impl<R: Real, P: FinitePolicy> ModelEmphasis<R, P> {
    fn new(features: Features, policy: P, settings: Settings<R>) -> Result<Self, SettingError> {
        let (len, actions) = (features.len(), policy.actions());
        let states = if let Features::Table(table) = &features { table.states() } else { 0 };
        Ok(Self {
            lambda_a: LambdaA::new(&settings)?,
            weights: vec![R::zero(); policy.len()],
            u: vec![R::zero(); len],
            model: ExpectationModel::new(len, actions),
            visits: vec![0.0; states],
            mixed: if states > 0 { Vec::new() } else { vec![R::zero(); actions * len * len] },
            gram: vec![0.0; len * len],
            interest: vec![0.0; len],
            system: LinearSystem::new(len),
            due: Due::new(&settings)?,
            settings,
            changed: R::zero(),
            scratch: policy.features().scratch(),
            at: policy.room(),
            features,
            policy,
        })
    }

    /// Solves for u if it is time.
    #[inline(always)]
    fn solve_in_time(&mut self, step: &Seen) {
        self.changed = R::zero();
        if self.due.is_now(step) {
            self.solve();
            self.u.iter().for_each(|u| self.changed += u.nan_unless_finite());
        }
        self.due.count();
    }

    #[inline(never)]
    fn solve(&mut self) {
        self.model.solve();
        let (rhs, matrix) = (&mut self.system.rhs, &mut self.system.matrix);
        rhs.iter_mut().zip(&self.interest).for_each(|(x, i)| *x = R::splat(*i));
        matrix.iter_mut().zip(&self.gram).for_each(|(x, g)| *x = R::splat(*g));
        if let Features::Table(table) = &self.features {
            for (state, visits) in self.visits.iter().enumerate().filter(|(_, visits)| **visits > 0.0) {
                let of_policy = self.policy.features().of_number(state);
                self.policy.distribution(&self.weights, of_policy, &mut self.at);
                let share = |probability: &R| *probability * R::splat(*visits);
                let probabilities = self.policy.probabilities(&self.at);
                self.model.subtract(table.row(state), probabilities.iter().map(share), matrix);
            }
        } else {
            self.model.subtract_mixed(&self.mixed, matrix);
        }
        self.system.solve(RIDGE, 1.0, &mut self.u);
    }

    /// Adds a step to all sums.
    #[inline(always)]
    fn observe(&mut self, step: &Seen) {
        let len = self.u.len();
        for (j, x) in step.x.iter() {
            step.x.iter().for_each(|(k, y)| self.gram[j * len + k] += x * y);
            self.interest[j] += step.interest * x;
        }
        self.model.observe(step);
        if let State::Number(state) = step.state
            && !self.visits.is_empty()
        {
            self.visits[state] += 1.0;
            return;
        }
        let of_policy = self.policy.features().row(step.state, &mut self.scratch);
        self.policy.distribution(&self.weights, of_policy, &mut self.at);
        let probabilities = self.policy.probabilities(&self.at);
        for (mixed, probability) in self.mixed.chunks_exact_mut((len * len).max(1)).zip(probabilities) {
            for (j, x) in step.x.iter() {
                step.x.iter().for_each(|(k, y)| mixed[j * len + k] += *probability * R::splat(x * y));
            }
        }
    }
}

impl<R: Real, P: FinitePolicy + PartialEq> Part<R> for ModelEmphasis<R, P> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn all_features(&self) -> Vec<&Features> {
        vec![&self.features, self.policy.features()]
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        match policy.downcast_ref::<P>() {
            Some(policy) if *policy == self.policy => Ok(()),
            _ => Err(ComposeError::Policy),
        }
    }

    fn depends_on_policy(&self) -> bool {
        true
    }

    #[inline(always)]
    fn policy_changed(&mut self, weights: &[R], _state: Option<State>) {
        self.weights.copy_from_slice(weights);
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.estimate("u", self.u.iter_mut())?;
        visitor.numbers("mixed", self.mixed.iter_mut())?;
        visitor.shared("visits", &mut self.visits)?;
        visitor.shared("gram", &mut self.gram)?;
        visitor.shared("interest", &mut self.interest)?;
        self.model.tensors(visitor)?;
        self.due.tensors(visitor)
    }
}

impl<R: Real, P: FinitePolicy + PartialEq> Emphasis<R> for ModelEmphasis<R, P> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, _rho: R) -> R {
        self.solve_in_time(step);
        let (interest, estimate) = (R::splat(step.interest), dot(&self.u, step.x));
        self.observe(step);
        self.lambda_a.mix(interest, estimate.if_less(interest, interest, estimate))
    }

    fn needs_ratio(&self) -> bool {
        false
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.changed
    }
}
