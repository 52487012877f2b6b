//! The gradient of the values, learned from δ: the gradient critic's v-form.

use super::gradient_weights::GradientWeights;
use super::{ActorInput, ActorRule, ascend};
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::part::SeenScratch;
use crate::settings::settings;
use crate::{
    AnyPolicy, Built, ComposeError, Critic, Declaration, Declared, Features, PartBuilder, Real, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    GradientValues<R>(features) => GradientValuesBuilder;
    alpha_g: StepSize, "step-size of G";
    eta: Amount = 1.0, "step-size of the second weights as a multiple of alpha_g; 0 is TD";
    beta: Amount = 1.0, "how strongly the second weights are drawn to zero";
}

impl Declared for GradientValues {
    const DECLARATION: Declaration = Declaration {
        source: "here; after Tosatto, Patterson, White and Mahmood 2022",
        settings: SETTINGS,
        features: true,
        signals: &[Signal::Delta],
        ..Declaration::new(
            Role::Actor,
            "gradient-values",
            "GradientValues",
            "θ follows an estimate Ĝ(S_t) of ∇v_π(S_t), learned by TD from ρ_t δ_t ∇ ln π(A_t|S_t)",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: (2.0 * of.features + 3.0) * of.weights, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actor_by_values(GradientValues::new(with.features()?, with.settings())?)
    }
}

/// θ ← θ + α M_t Ĝ(S_t), where Ĝ(s) = Gᵀx(s) learns ∇v_π(s) from
///
/// ```text
/// ε_t = δ_t ∇ ln π(A_t|S_t) + γ_{t+1} Ĝ(S_{t+1}) − Ĝ(S_t)
/// ```
///
/// weighted by ρ_t, as a critic of values learns from δ_t. With M_t = i(S_t) this is the whole gradient of J_μ: nothing else need be told how much
/// a state counts.
#[derive(Clone, Debug)]
pub struct GradientValues<R = f64> {
    features: Features,
    settings: Settings<R>,
    g: GradientWeights<R>,
    scratch: SeenScratch,
    error: Vec<R>,
    gradient: Vec<R>,
}

impl<R: Real> GradientValues<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            g: GradientWeights::new(&features, &settings)?,
            scratch: SeenScratch::of(&features),
            features,
            settings,
            error: Vec::new(),
            gradient: Vec::new(),
        })
    }
}

impl<R: Real> ActorRule<R, dyn Critic<R>> for GradientValues<R> {
    fn all_features(&self) -> Vec<&Features> {
        vec![&self.features]
    }

    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError> {
        let weights = policy.weights();
        self.g.resize(self.features.len(), weights);
        (self.error, self.gradient) = (vec![R::zero(); weights], vec![R::zero(); weights]);
        Ok(())
    }

    fn learn(&mut self, input: ActorInput<R>, critic: &mut (dyn Critic<R> + 'static)) -> [R; 2] {
        let ActorInput { policy, weights, step_size, x, step, seen, rho, emphasis, .. } = input;
        let Self { features, g, scratch, error, gradient, .. } = self;
        let own = Seen::new(step, Some(features), scratch);
        let row = || own.x.iter().map(|(k, x)| (k, R::splat(x)));
        let back = || own.x_next.iter().map(|(k, x)| (k, R::splat(step.gamma_next * x)));
        let [delta, mut changed] = critic.update(&seen, rho);
        gradient.fill(R::zero());
        g.add_estimate(row(), R::one(), gradient);
        policy.see(weights, x);
        error.iter_mut().zip(&*gradient).for_each(|(error, g)| *error = -*g);
        policy.add_score(x, step.action, delta, error);
        g.add_estimate(back(), R::one(), error);
        changed += g.learn(own.x.iter(), back(), rho, error);
        [delta, changed + ascend(weights, step_size, emphasis, gradient)]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.features(&self.features)?;
        visitor.settings(&self.settings)?;
        self.g.tensors(visitor)
    }
}
