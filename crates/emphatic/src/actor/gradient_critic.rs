//! The gradient critic: the gradient of the action values, learned without ratios.

use super::gradient_weights::GradientWeights;
use super::{Actions, ActorInput, ActorRule, ascend};
use crate::action::number;
use crate::catalogue::{Extent, Need, Role, Signal, Size};
use crate::critic::{mean, pair};
use crate::part::SeenScratch;
use crate::settings::settings;
use crate::{
    ActionCritic, AnyPolicy, Built, ComposeError, Declaration, Declared, Features, PartBuilder, Real, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    GradientCritic<R>(features, actions: usize) => GradientCriticBuilder;
    alpha_g: StepSize, "step-size of G";
    eta: Amount = 1.0, "step-size of the second weights as a multiple of alpha_g; 0 is TD";
    beta: Amount = 1.0, "how strongly the second weights are drawn to zero";
    lambda_a: Fraction = 1.0, "how much of the gradient critic counts: 1 is the whole gradient, 0 the semi-gradient";
}

impl Declared for GradientCritic {
    const DECLARATION: Declaration = Declaration {
        source: "Tosatto, Patterson, White and Mahmood 2022",
        settings: SETTINGS,
        features: true,
        signals: &[Signal::Advantages],
        needs: &[Need::Finite],
        ..Declaration::new(
            Role::Actor,
            "gradient-critic",
            "GradientCritic",
            "θ follows Σ_b π(b|S_t) (∇ ln π(b|S_t) q̂(S_t,b) + Γ̂(S_t,b)), where Γ̂ learns ∇q_π without ratios (TDRCΓ)",
        )
    };

    fn size(of: &Extent) -> Size {
        let rows = of.features * of.actions;
        Size { in_lanes: (2.0 * rows + 3.0) * of.weights + 4.0 * of.actions, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actor_by_actions(GradientCritic::new(with.features()?, with.actions()?, with.settings())?)
    }
}

/// θ ← θ + α M_t Σ_b π(b|S_t) (ψ(S_t,b) q̂(S_t,b) + λ_a Γ̂(S_t,b)), where Γ̂(s,a) = Gᵀφ(s,a) learns ∇q_π(s,a) from
///
/// ```text
/// ε_t = γ_{t+1} Σ_b π(b|S_{t+1}) (ψ(S_{t+1},b) q̂(S_{t+1},b) + Γ̂(S_{t+1},b)) − Γ̂(S_t,A_t)
/// ```
///
/// No ratio enters. With M_t = i(S_t) this is the whole gradient of J_μ: nothing else need be told how much a state counts.
#[derive(Clone, Debug)]
pub struct GradientCritic<R = f64> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    lambda_a: R,
    g: GradientWeights<R>,
    scratch: SeenScratch,
    /// π and the advantages in S_t, and in S_{t+1}.
    now: Actions<R>,
    next: Actions<R>,
    error: Vec<R>,
    gradient: Vec<R>,
}

impl<R: Real> GradientCritic<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            lambda_a: settings.number("lambda_a")?,
            g: GradientWeights::new(&features, &settings)?,
            scratch: SeenScratch::of(&features),
            features,
            actions,
            settings,
            now: Actions::new(actions),
            next: Actions::new(actions),
            error: Vec::new(),
            gradient: Vec::new(),
        })
    }
}

impl<R: Real> ActorRule<R, dyn ActionCritic<R>> for GradientCritic<R> {
    fn all_features(&self) -> Vec<&Features> {
        vec![&self.features]
    }

    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError> {
        let weights = policy.weights();
        self.g.resize(self.features.len() * self.actions, weights);
        (self.error, self.gradient) = (vec![R::zero(); weights], vec![R::zero(); weights]);
        Ok(())
    }

    fn learn(&mut self, input: ActorInput<R>, critic: &mut (dyn ActionCritic<R> + 'static)) -> [R; 2] {
        let ActorInput { policy, weights, step_size, x, x_next, step, seen, rho, emphasis } = input;
        let Self { features, g, scratch, now, next, error, gradient, .. } = self;
        let own = Seen::new(step, Some(features), scratch);
        let (actions, action) = (self.actions, number(step.action));
        let gamma_next = R::splat(step.gamma_next);

        error.fill(R::zero());
        if step.gamma_next > 0.0 {
            next.ask(policy, weights, x_next);
            critic.next_advantages(&seen, &next.probabilities, &mut next.advantages);
            next.add_gradient(policy, x_next, gamma_next, error);
            g.add_estimate(mean(own.x_next, &next.probabilities), gamma_next, error);
        }
        g.add_estimate(pair(own.x, actions, action).map(|(k, x)| (k, R::splat(x))), -R::one(), error);

        now.ask(policy, weights, x);
        critic.advantages(&seen, &now.probabilities, &mut now.advantages);
        gradient.fill(R::zero());
        now.add_gradient(policy, x, R::one(), gradient);
        g.add_estimate(mean(own.x, &now.probabilities), self.lambda_a, gradient);

        let mut changed = critic.learn(&seen, &now.probabilities, &next.probabilities, rho);
        // The next state lists no features where an episode ends.
        let back = mean(own.x_next, &next.probabilities).map(|(k, x)| (k, gamma_next * x));
        changed += g.learn(pair(own.x, actions, action), back, R::one(), error);
        [now.advantages[action], changed + ascend(weights, step_size, emphasis, gradient)]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.features(&self.features)?;
        visitor.settings(&self.settings)?;
        self.g.tensors(visitor)
    }
}
