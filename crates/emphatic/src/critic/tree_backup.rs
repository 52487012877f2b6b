//! Tree backup, for values of states.

use super::linear_td::{LinearTd, decay};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    TreeBackup<R>(features) => TreeBackupBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    lambda: Fraction = 0.0, "λ of the trace: 1 is the longest trace (it has nothing to do with λ_a)";
}

impl Declared for TreeBackup {
    const DECLARATION: Declaration = Declaration {
        source: "Precup, Sutton and Singh 2000",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "tree-backup",
            "TreeBackup",
            "tree backup: the trace decays by π in place of ρ",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(TreeBackup::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// Tree backup (Precup, Sutton and Singh 2000) for values of states, with v̂(s) = v·x(s):
///
/// ```text
/// e ← γ_t λ π_{t−1} e + x_t          π_t = π(A_t|S_t) = ρ_t μ_t
/// v ← v + α_v ρ_t δ_t e
/// ```
///
/// λ = 1 means the longest trace; it has nothing to do with λ_a. No ratio multiplies another, so the variance is bounded. It is meant for finitely many actions: a density counts as 1
/// at most.
#[derive(Clone, Debug)]
pub struct TreeBackup<R = f64> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    /// π_{t−1}.
    pi: R,
    td: LinearTd<R>,
}

impl<R: Real> TreeBackup<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let (alpha, lambda) = (settings.number("alpha_v")?, settings.number("lambda")?);
        Ok(Self { td: LinearTd::new(&features, 1, alpha), features, settings, lambda, pi: R::zero() })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for TreeBackup<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("pi", std::iter::once(&mut self.pi))?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> TreeBackup<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let decay = decay(step.gamma, self.lambda, self.pi);
        self.pi = (rho * R::splat(step.mu)).smaller(R::one());
        self.td.learn(decay, R::one(), rho * delta, step.x.iter())
    }
}

impl<R: Real> Critic<R> for TreeBackup<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::Td;

    #[test]
    fn by_hand() {
        let mut critic = TreeBackup::builder(Features::dense(1)).alpha_v(0.5).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // π = ½ in the first step: e = ½ · ½ · ½ + 2.
        assert_eq!(critic.weights(), [0.203125]);
    }

    #[test]
    fn without_a_trace_it_is_td() {
        for features in kinds() {
            let own = TreeBackup::builder(features.clone()).alpha_v(0.1);
            let td = Td::builder(features.clone()).alpha_v(0.1);
            let (mut own, mut td) = (own.build().unwrap(), td.build().unwrap());
            for episode in episodes(&features, 40, 5.0) {
                assert_near(&learn(&mut own, &episode), &learn(&mut td, &episode), 1e-13);
            }
        }
    }
}
