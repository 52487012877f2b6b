//! The follow-on trace, truncated to the last n steps.

use super::Emphasis;
use super::lambda_a::{LambdaA, product};
use super::past::Past;
use crate::catalogue::{Extent, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, SettingError, Settings,
    StateError, Visitor,
};

settings! {
    Truncated<R>() => TruncatedBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    n: Count, "how many steps it looks back";
}

impl Declared for Truncated {
    const DECLARATION: Declaration = Declaration {
        source: "Zhang and Whiteson 2022",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "truncated",
            "Truncated",
            "the follow-on trace, truncated to the last n steps",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.numbers.get("n").copied().unwrap_or(0.0), shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Truncated::new(with.settings())?)
    }
}

/// F_t = Σ_{j=0}^n (Π_{k=1}^j γ_{t−k+1} ρ_{t−k}) i(S_{t−j}): bounded if ratios are, and biased. It costs n products a step.
#[derive(Clone, Debug)]
pub struct Truncated<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    /// γ_k and i(S_k) of the last n steps, with ρ_k.
    past: Past<R, 3>,
}

impl<R: Real> Truncated<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, n) = (LambdaA::new(&settings)?, settings.count("n")?);
        Ok(Self { settings, lambda_a, past: Past::new(n) })
    }
}

impl<R: Real> Part<R> for Truncated<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.past.tensors(visitor, ["gamma", "interest", "rho"])
    }
}

impl<R: Real> Emphasis<R> for Truncated<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let (gamma, interest) = (R::splat(step.gamma), R::splat(step.interest));
        // The trace, begun anew at the oldest step.
        let mut carried = R::zero();
        for [gamma, interest, rho] in self.past.oldest_first() {
            carried = product(*rho, product(*gamma, carried) + *interest);
        }
        let follow_on = product(gamma, carried) + interest;
        self.past.push([gamma, interest, rho]);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
