//! V-trace.

use super::linear_td::{LinearTd, decay};
use super::{Critic, linear_methods, linear_values};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    VTrace<R>(features) => VTraceBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    rho_max: Amount = 1.0, "ρ̄: the ratio of δ is cut at this; if it cuts, the values are those of a policy between μ and π";
    c_max: Amount = 1.0, "c̄: the ratios in the trace are cut at this";
    lambda: Fraction = 1.0, "λ of the trace: 1 is the longest trace (it has nothing to do with λ_a)";
}

impl Declared for VTrace {
    const DECLARATION: Declaration = Declaration {
        source: "Espeholt et al. 2018",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "v-trace",
            "VTrace",
            "V-trace, by a trace: ratios are cut, so that the variance is bounded and the values are biased",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(VTrace::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// V-trace (Espeholt et al. 2018), as an online method with a trace, with v̂(s) = v·x(s):
///
/// ```text
/// e ← γ_t λ min(c̄, ρ_{t−1}) e + x_t
/// v ← v + α_v min(ρ̄, ρ_t) δ_t e
/// ```
///
/// λ = 1 means full returns; it has nothing to do with λ_a. Where ρ̄ cuts, the fixed point is the value of a policy between μ and π. The actor sees
/// δ_t itself.
#[derive(Clone, Debug)]
pub struct VTrace<R = f64> {
    features: Features,
    settings: Settings<R>,
    rho_max: R,
    c_max: R,
    lambda: R,
    /// min(c̄, ρ_{t−1}).
    c: R,
    td: LinearTd<R>,
}

impl<R: Real> VTrace<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            td: LinearTd::new(&features, 1, settings.number("alpha_v")?),
            rho_max: settings.number("rho_max")?,
            c_max: settings.number("c_max")?,
            lambda: settings.number("lambda")?,
            c: R::zero(),
            features,
            settings,
        })
    }

    linear_methods!();
}

impl<R: Real> Part<R> for VTrace<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.numbers("c", std::iter::once(&mut self.c))?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real> VTrace<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let decay = decay(step.gamma, self.lambda, self.c);
        self.c = rho.smaller(self.c_max);
        self.td.learn(decay, R::one(), rho.smaller(self.rho_max) * delta, step.x.iter())
    }
}

impl<R: Real> Critic<R> for VTrace<R> {
    linear_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::Td;

    #[test]
    fn by_hand() {
        let mut critic = VTrace::builder(Features::dense(1)).alpha_v(0.5).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -0.75]);
        // ρ is cut to 1 in the first step, and in the trace of the second: e = ½ · ½ + 2.
        assert_eq!(critic.weights(), [0.078125]);
    }

    #[test]
    fn where_nothing_is_cut_it_is_td() {
        for features in kinds() {
            let own = VTrace::builder(features.clone()).alpha_v(0.1).lambda(0.7);
            let td = Td::builder(features.clone()).alpha_v(0.1).lambda(0.7);
            let (mut own, mut td) = (own.build().unwrap(), td.build().unwrap());
            for episode in episodes(&features, 40, 1.0) {
                assert_near(&learn(&mut own, &episode), &learn(&mut td, &episode), 1e-13);
            }
        }
    }

    #[test]
    fn what_is_not_a_number_is_not_cut() {
        let mut critic = VTrace::builder(Features::dense(1)).alpha_v(0.5).build().unwrap();
        let [row, _] = two_steps();
        let features = Features::dense(1);
        let [_, changed] = row.see(&features, |seen| critic.update(seen, f64::NAN));
        assert!(changed.is_nan());
    }
}
