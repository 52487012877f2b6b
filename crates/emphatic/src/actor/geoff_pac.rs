//! Geoff-PAC: the gradient of the counterfactual objective.

use super::{ActorInput, ActorRule};
use crate::catalogue::{Extent, Need, Role, Signal, Size};
use crate::learner::unless_waiting;
use crate::part::SeenScratch;
use crate::real::{blend, product};
use crate::settings::settings;
use crate::{
    AnyPolicy, Built, ComposeError, CopTd, Critic, Declaration, Declared, Features, Part, PartBuilder, Real,
    Schedule, Seen, SettingError, Settings, StateError, Visitor,
};

settings! {
    GeoffPac<R>(features) => GeoffPacBuilder;
    gamma_hat: Fraction, "γ̂ of the counterfactual objective: 0 is the excursion objective, near 1 that of a life of the target policy";
    lambda_1: Fraction = 1.0, "λ¹, of the emphasis of states: 1 is full emphasis, 0 none";
    lambda_2: Fraction = 1.0, "λ², of the gradient of the state weighting: 1 is all of it, 0 its last step alone";
    alpha_c: StepSize, "step-size of the density ratio ĉ";
    penalty: Amount = 0.0, "how strongly the ratio's mean is drawn to 1";
}

impl Declared for GeoffPac {
    const DECLARATION: Declaration = Declaration {
        source: "Zhang, Boehmer and Whiteson 2019",
        settings: SETTINGS,
        features: true,
        signals: &[Signal::Delta],
        needs: &[Need::NoEmphasis],
        ..Declaration::new(
            Role::Actor,
            "geoff-pac",
            "CounterfactualGradient",
            "θ follows the gradient of the counterfactual objective: an emphasis of states weighted by ĉ, and the gradient of that weighting",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features + 2.0 * of.weights, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actor_by_values(GeoffPac::new(with.features()?, with.settings())?)
    }
}

/// With ĉ(s) ≈ d_γ̂(s)/d_μ(s) as [`CopTd`] learns it:
///
/// ```text
/// F¹_t = γ_t ρ_{t−1} F¹_{t−1} + i_t ĉ(S_t)          M¹_t = (1 − λ¹) i_t ĉ(S_t) + λ¹ F¹_t
/// I_t = ĉ(S_{t−1}) ρ_{t−1} ψ_{t−1}                  F²_t = γ̂ ρ_{t−1} F²_{t−1} + I_t,  M²_t = (1 − λ²) I_t + λ² F²_t
/// θ ← θ + α (ρ_t M¹_t δ_t ψ_t + γ̂ i_t v̂(S_t) M²_t)
/// ```
///
/// F² and I are as long as θ; both are zero where an episode starts. The objective is Σ_s d_γ̂(s) i(s) v_π(s), where d_γ̂ looks back to the
/// start of an episode at most. With γ̂ = 0, ĉ is 1 and this is ACE(λ¹). It has its own emphasis: the learner's must be none.
#[derive(Clone, Debug)]
pub struct GeoffPac<R = f64> {
    settings: Settings<R>,
    gamma_hat: R,
    lambda_1: R,
    lambda_2: R,
    ratio: CopTd<R>,
    scratch: SeenScratch,
    /// ρ_{t−1} F¹_{t−1}, ρ_{t−1} and ĉ(S_{t−1}) ρ_{t−1}.
    carried: R,
    rho: R,
    ratio_rho: R,
    /// F²_{t−1}, and ψ_{t−1}.
    second: Vec<R>,
    score: Vec<R>,
}

impl<R: Real> GeoffPac<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let gamma_hat = settings.number("gamma_hat")?;
        let ratio = CopTd::builder(features.clone(), Schedule::default())
            .gamma(gamma_hat)
            .alpha_u(settings.number("alpha_c")?)
            .penalty(settings.number("penalty")?)
            .build()?;
        Ok(Self {
            gamma_hat,
            lambda_1: settings.number("lambda_1")?,
            lambda_2: settings.number("lambda_2")?,
            settings,
            ratio,
            scratch: SeenScratch::of(&features),
            carried: R::zero(),
            rho: R::zero(),
            ratio_rho: R::zero(),
            second: Vec::new(),
            score: Vec::new(),
        })
    }
}

impl<R: Real> ActorRule<R, dyn Critic<R>> for GeoffPac<R> {
    fn all_features(&self) -> Vec<&Features> {
        self.ratio.all_features()
    }

    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError> {
        self.second = vec![R::zero(); policy.weights()];
        self.score = vec![R::zero(); policy.weights()];
        Ok(())
    }

    fn learn(&mut self, input: ActorInput<R>, critic: &mut (dyn Critic<R> + 'static)) -> [R; 2] {
        let ActorInput { policy, weights, step_size, x, step, seen, rho, .. } = input;
        let features = self.ratio.features().cloned();
        let own = Seen::new(step, features.as_ref(), &mut self.scratch);
        let ratio = self.ratio.ratio(&own, rho);
        policy.see(weights, x);
        let value = critic.value(&seen);
        let [delta, mut changed] = critic.update(&seen, rho);
        changed += self.ratio.changed() + value.nan_unless_finite() + delta.nan_unless_finite();

        let interest = R::splat(step.interest) * ratio;
        let is_start = step.gamma == 0.0;
        let carried = if is_start { R::zero() } else { product(R::splat(step.gamma), self.carried) };
        let follow_on = carried + interest;
        let emphasis = blend(self.lambda_1, interest, follow_on);
        let scale = step_size * self.gamma_hat * R::splat(step.interest);
        let [decay, last] =
            if is_start { [R::zero(); 2] } else { [self.gamma_hat * self.rho, self.ratio_rho] };
        for ((w, second), score) in weights.iter_mut().zip(&mut self.second).zip(&self.score) {
            let gradient = last * *score;
            *second = product(decay, *second) + gradient;
            *w += product(scale, value * blend(self.lambda_2, gradient, *second));
            changed += w.nan_unless_finite();
        }
        // The score is that of the weights before the update.
        self.score.fill(R::zero());
        policy.add_score(x, step.action, R::one(), &mut self.score);
        let step_size = step_size * rho;
        let scale = unless_waiting(step_size, step_size * emphasis * delta);
        for (w, score) in weights.iter_mut().zip(&self.score) {
            *w += scale * *score;
            changed += w.nan_unless_finite();
        }
        (self.carried, self.rho, self.ratio_rho) = (product(rho, follow_on), rho, product(rho, ratio));
        [delta, changed]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.ratio.features().map_or(Ok(()), |features| visitor.features(features))?;
        visitor.settings(&self.settings)?;
        visitor.part("ratio", &mut self.ratio)?;
        visitor.numbers("rho_f1", std::iter::once(&mut self.carried))?;
        visitor.numbers("rho", std::iter::once(&mut self.rho))?;
        visitor.numbers("rho_c", std::iter::once(&mut self.ratio_rho))?;
        visitor.weights("f2", self.second.iter_mut())?;
        visitor.weights("score", self.score.iter_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Gtd, Learner, NoEmphasis, Softmax, State, Step, WithActor};

    /// Regression: where v̂ was negative, it was added in place of its product with M².
    #[test]
    fn a_negative_value_multiplies_the_gradient_of_the_weighting() {
        let policy = Softmax { features: Features::dense(1), actions: 2 };
        let critic = Gtd::builder(Features::dense(1)).alpha_v(1.0).alpha_w(0.0).lambda(0.0).build().unwrap();
        let actor = GeoffPac::builder(Features::dense(1)).gamma_hat(0.5).alpha_c(0.0).build().unwrap();
        let mut learner =
            WithActor::builder(policy, critic, NoEmphasis).actor(actor).alpha(1.0).build().unwrap();
        let mut step = Step {
            state: State::Vector(&[1.0]),
            action: Action::Number(0),
            mu: 0.5,
            reward: -1.0,
            next: State::Vector(&[1.0]),
            gamma: 0.0,
            gamma_next: 1.0,
            interest: 1.0,
        };
        // δ = −1 and ψ = (1/2, −1/2); from then on v̂ = −1.
        learner.update(&step).unwrap();
        assert_eq!(learner.weights(), [-0.5, 0.5]);
        // δ = 0, M² = ψ of the step before: θ changes by γ̂ v̂ M².
        (step.gamma, step.gamma_next) = (1.0, 0.0);
        learner.update(&step).unwrap();
        assert_eq!(learner.weights(), [-0.75, 0.75]);
    }
}
