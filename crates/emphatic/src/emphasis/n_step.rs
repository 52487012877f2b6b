//! The n-step follow-on trace.

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
    NStep<R>() => NStepBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    n: Count, "how many steps lie between a trace and the one it is made from; 1 is the follow-on trace";
}

impl Declared for NStep {
    const DECLARATION: Declaration = Declaration {
        source: "Jiang, Zahavy, Xu, White, Hessel, Blundell and van Hasselt 2021 (NETD)",
        settings: SETTINGS,
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "n-step",
            "NStep",
            "the n-step trace: F_t = γ_t ρ_{t−1} ⋯ γ_{t−n+1} ρ_{t−n} F_{t−n} + i_t",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.numbers.get("n").copied().unwrap_or(0.0), shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(NStep::new(with.settings())?)
    }
}

/// F_t = (Π_{k=1}^n γ_{t−k+1} ρ_{t−k}) F_{t−n} + i(S_t), and i(S_t) in the first n steps of an episode: the emphasis that n-step TD
/// needs. Its expectation is d_μ⁻¹ (I − (P_{π,γ}ⁿ)ᵀ)⁻¹ d_μ i, which is m/d_μ for n = 1 alone.
#[derive(Clone, Debug)]
pub struct NStep<R = f64> {
    settings: Settings<R>,
    lambda_a: LambdaA<R>,
    /// γ_k, ρ_k and F_k of the last n steps.
    past: Past<R, 3>,
}

impl<R: Real> NStep<R> {
    fn new(settings: Settings<R>) -> Result<Self, SettingError> {
        let (lambda_a, n) = (LambdaA::new(&settings)?, settings.count("n")?);
        Ok(Self { settings, lambda_a, past: Past::new(n) })
    }
}

impl<R: Real> Part<R> for NStep<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        self.past.tensors(visitor, ["gamma", "rho", "f"])
    }
}

/// Returns Π_{k=1}^n γ_{t−k+1} ρ_{t−k} x, where x belongs to the oldest of the last n steps, each of which has its γ and its ρ.
#[inline(always)]
pub(super) fn n_step_product<'a, R: Real>(past: impl Iterator<Item = (&'a R, &'a R)>, gamma: R, x: R) -> R {
    let mut product_of_all = x;
    for (k, (gamma, rho)) in past.enumerate() {
        if k > 0 {
            product_of_all = product(*gamma, product_of_all);
        }
        product_of_all = product(*rho, product_of_all);
    }
    product(gamma, product_of_all)
}

impl<R: Real> Emphasis<R> for NStep<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let (gamma, interest) = (R::splat(step.gamma), R::splat(step.interest));
        let [_, _, oldest] = self.past.oldest();
        let factors = self.past.oldest_first().map(|[gamma, rho, _]| (gamma, rho));
        let follow_on = n_step_product(factors, gamma, oldest) + interest;
        self.past.push([gamma, rho, follow_on]);
        self.lambda_a.mix(interest, follow_on)
    }

    fn learns(&self) -> bool {
        false
    }
}
