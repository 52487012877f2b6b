//! ETD(λ): emphatic temporal-difference learning, with any emphasis.

use super::linear_td::{LinearTd, decay};
use super::{Critic, linear_methods, linear_values, part_around};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::part::CachedPart;
use crate::real::{blend, product};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Emphasis, Features, FollowOn, Part, PartBuilder, Real,
    Schedule, Seen, SettingError, Settings, State, StateError, Visitor,
};
use std::any::Any;

settings! {
    Etd<R, E: Emphasis>(features, emphasis: E) => EtdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns, and that only the interest counts, not the emphasis";
}

impl Declared for Etd {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton, Mahmood and White 2016",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::emphasis("the emphasis that gives F_t"), Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "etd",
            "ETD",
            "ETD(λ): emphatic TD, stable off-policy with the follow-on trace as its F; any other emphasis may take its place",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let critic = Etd::new(with.features()?, with.emphasis_inside("emphasis")?, with.settings())?;
        with.critic(critic.with_schedule(with.schedule()?))
    }
}

/// ETD(λ) (Sutton, Mahmood and White 2016), with v̂(s) = v·x(s), and F_t by an emphasis:
///
/// ```text
/// M_t = λ i_t + (1 − λ) F_t
/// e ← ρ_t (γ_t λ e + M_t x_t)
/// v ← v + α_v δ_t e
/// ```
///
/// λ runs the other way than λ_a: λ = 0 is full emphasis, and λ = 1 none, but full returns. The emphasis inside has its own traces and sees features of its own; its M_t with λ_a = 1 is taken as F_t.
/// So other methods are compositions:
///
/// | emphasis inside | method |
/// |---|---|
/// | follow-on trace | ETD(λ) |
/// | decayed by β | ETD(λ, β) (Hallak, Tamar, Munos and Mannor 2016) |
/// | truncated to n steps | truncated ETD (Zhang and Whiteson 2022) |
/// | periodic | PER-ETD (Guan, Xu and Liang 2022) for λ = 0 |
/// | n-step | the weights of NETD (Jiang et al. 2021), with TD(λ) in place of n-step TD |
/// | learned (direct, TDERC, GEM, …) | TD weighted by a learned emphasis |
/// | `lc` | LC-ETD (He et al. 2023) for λ = 0 |
/// | none | TD(λ) weighted by the interest |
#[derive(Clone, Debug)]
pub struct Etd<R = f64, E = FollowOn<R>> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    td: LinearTd<R>,
    emphasis: CachedPart<E>,
    emphasis_learns: bool,
}

impl<R: Real, E: Emphasis<R>> Etd<R, E> {
    fn new(features: Features, emphasis: E, settings: Settings<R>) -> Result<Self, SettingError> {
        let (alpha, lambda) = (settings.number("alpha_v")?, settings.number("lambda")?);
        Ok(Self {
            td: LinearTd::new(&features, 1, alpha),
            features,
            settings,
            lambda,
            emphasis_learns: emphasis.learns(),
            emphasis: CachedPart::new(emphasis),
        })
    }

    linear_methods!();

    /// The emphasis that gives F_t.
    pub fn emphasis(&self) -> &E {
        &self.emphasis.part
    }
}

impl<R: Real, E: Emphasis<R>> Part<R> for Etd<R, E> {
    part_around!(emphasis);

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("emphasis", &mut self.emphasis.part)?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real, E: Emphasis<R>> Etd<R, E> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let [emphasis, changed] = weigh(&mut self.emphasis, self.emphasis_learns, self.lambda, step, rho);
        let decay = decay(step.gamma, self.lambda, rho);
        changed + self.td.learn(decay, product(rho, emphasis), delta, step.x.iter())
    }
}

impl<R: Real, E: Emphasis<R>> Critic<R> for Etd<R, E> {
    linear_values!();
}

/// Returns M_t = λ i_t + (1 − λ) F_t by the emphasis inside a critic, which learns if it does that, and what [`Emphasis::learn`] returns.
#[inline(always)]
pub(super) fn weigh<R: Real, E: Emphasis<R>>(
    emphasis: &mut CachedPart<E>,
    learns: bool,
    lambda: R,
    step: &Seen,
    rho: R,
) -> [R; 2] {
    let (emphasis, seen) = emphasis.see(step);
    let follow_on = emphasis.weigh(&seen, rho);
    let changed = if learns { emphasis.learn(&seen, rho) } else { R::zero() };
    [blend(lambda, follow_on, R::splat(step.interest)), changed]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::{Decayed, NoEmphasis, Td};

    fn follow_on() -> FollowOn {
        FollowOn::builder().lambda_a(1.0).build().unwrap()
    }

    #[test]
    fn by_hand() {
        let critic = Etd::builder(Features::dense(1), follow_on()).alpha_v(0.5);
        let mut critic = critic.lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // F = 1 and 2, M = 1 and 1.5, e = 2 and ½ (½ · ½ · 2 + 1.5 · 2) = 1.75.
        assert_eq!(critic.weights(), [-0.3125]);
    }

    #[test]
    fn without_emphasis_it_is_td() {
        for features in kinds() {
            let own = Etd::builder(features.clone(), NoEmphasis).alpha_v(0.1).lambda(0.7);
            let td = Td::builder(features.clone()).alpha_v(0.1).lambda(0.7);
            let (mut own, mut td) = (own.build().unwrap(), td.build().unwrap());
            for episode in episodes(&features, 40, 5.0) {
                assert_near(&learn(&mut own, &episode), &learn(&mut td, &episode), 1e-13);
            }
        }
    }

    #[test]
    fn a_trace_that_decays_by_the_discount_is_the_follow_on_trace() {
        for features in kinds() {
            let decayed = Decayed::builder().beta(0.9).build().unwrap();
            let own = Etd::builder(features.clone(), decayed).alpha_v(0.1).lambda(0.3);
            let other = Etd::builder(features.clone(), follow_on()).alpha_v(0.1).lambda(0.3);
            let (mut own, mut other) = (own.build().unwrap(), other.build().unwrap());
            for episode in episodes(&features, 20, 2.0) {
                assert_eq!(learn(&mut own, &episode), learn(&mut other, &episode));
            }
        }
    }

    /// Where ρ is zero or λ is 1, an F that has overflowed counts for nothing.
    #[test]
    fn what_has_no_share_is_ignored() {
        let [_, row] = two_steps();
        let features = Features::dense(1);
        for (lambda, rho) in [(0.5, 0.0), (1.0, 0.5)] {
            let emphasis = follow_on().carrying(f64::INFINITY);
            let critic = Etd::builder(features.clone(), emphasis).alpha_v(0.5).lambda(lambda);
            let mut critic = critic.build().unwrap();
            let [_, changed] = row.see(&features, |seen| critic.update(seen, rho));
            assert_eq!(changed, 0.0);
        }
    }
}
