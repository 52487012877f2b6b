//! ELSTD(λ): emphatic values by least squares, with any emphasis.

use super::etd::weigh;
use super::least_squares::{LeastSquares, least_squares_size, least_squares_values};
use super::linear_td::decay;
use super::{Critic, part_around};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::part::CachedPart;
use crate::real::product;
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Emphasis, Features, FollowOn, Part, PartBuilder, Real, Seen,
    SettingError, Settings, State, StateError, Visitor,
};
use std::any::Any;

settings! {
    Elstd<R, E: Emphasis>(features, emphasis: E) => ElstdBuilder;
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns, and that only the interest counts, not the emphasis";
    forgetting: Fraction = 0.0, "the share of the past that each step forgets: ratios of old policies are stale; 0 for a policy that stays";
    solve_every: Count = 100.0, "after how many steps v is solved for anew; also where an episode starts";
}

impl Declared for Elstd {
    const DECLARATION: Declaration = Declaration {
        source: "Yu 2015",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::emphasis("the emphasis that gives F_t")],
        ..Declaration::new(
            Role::Critic,
            "elstd",
            "ELSTD",
            "ELSTD(λ): the solution of ETD(λ) by least squares, without a step-size, with forgetting",
        )
    };

    fn size(of: &Extent) -> Size {
        least_squares_size(of.features)
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(Elstd::new(with.features()?, with.emphasis_inside("emphasis")?, with.settings())?)
    }
}

/// ELSTD(λ) (Yu 2015): LSTD(λ) with the trace of ETD(λ). With v̂(s) = v·x(s), F_t by an emphasis, and a forgetting φ:
///
/// ```text
/// M_t = λ i_t + (1 − λ) F_t
/// e ← ρ_t (γ_t λ e + M_t x_t)
/// A ← (1 − φ) A + e (x_t − γ_{t+1} x_{t+1})ᵀ          b ← (1 − φ) b + R_{t+1} e
/// (A + ε I) v = b,  ε = 0.001
/// ```
///
/// λ runs the other way than λ_a: λ = 0 is full emphasis, and λ = 1 none, but full returns. v is solved for where an episode starts and after `solve_every` steps, from all steps
/// before, and before δ_t is computed. It costs d² numbers and d³ operations a solution.
#[derive(Clone, Debug)]
pub struct Elstd<R = f64, E = FollowOn<R>> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    td: LeastSquares<R>,
    emphasis: CachedPart<E>,
    emphasis_learns: bool,
}

impl<R: Real, E: Emphasis<R>> Elstd<R, E> {
    fn new(features: Features, emphasis: E, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            td: LeastSquares::new(features.len(), &settings)?,
            lambda: settings.number("lambda")?,
            features,
            settings,
            emphasis_learns: emphasis.learns(),
            emphasis: CachedPart::new(emphasis),
        })
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.td.weights.clone()
    }

    /// The emphasis that gives F_t.
    pub fn emphasis(&self) -> &E {
        &self.emphasis.part
    }
}

impl<R: Real, E: Emphasis<R>> Part<R> for Elstd<R, E> {
    part_around!(emphasis);

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("emphasis", &mut self.emphasis.part)?;
        self.td.tensors(visitor, ["v", "e"])
    }
}

impl<R: Real, E: Emphasis<R>> Elstd<R, E> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R) -> R {
        let [emphasis, changed] = weigh(&mut self.emphasis, self.emphasis_learns, self.lambda, step, rho);
        let decay = decay(step.gamma, self.lambda, rho);
        changed + self.td.learn_state(decay, product(rho, emphasis), step)
    }
}

impl<R: Real, E: Emphasis<R>> Critic<R> for Elstd<R, E> {
    least_squares_values!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::{Lstd, NoEmphasis};

    #[test]
    fn by_hand() {
        let emphasis = FollowOn::builder().lambda_a(1.0).build().unwrap();
        let critic = Elstd::builder(Features::dense(1), emphasis).lambda(0.5).solve_every(2.0);
        let mut critic = critic.build().unwrap();
        let [first, second] = two_steps();
        // e = 2 and 1.75, A = 1.75 (2 − 0.5) = 2.625 and b = 2.
        learn(&mut critic, &[first, second.clone(), second]);
        assert_near(&critic.weights(), &[2.0 / 2.626], 1e-15);
    }

    #[test]
    fn without_emphasis_it_is_lstd() {
        for features in kinds() {
            let own =
                Elstd::builder(features.clone(), NoEmphasis).lambda(0.7).forgetting(0.01).solve_every(3.0);
            let lstd = Lstd::builder(features.clone()).lambda(0.7).forgetting(0.01).solve_every(3.0);
            let (mut own, mut lstd) = (own.build().unwrap(), lstd.build().unwrap());
            for episode in episodes(&features, 30, 3.0) {
                assert_eq!(learn(&mut own, &episode), learn(&mut lstd, &episode));
            }
        }
    }
}
