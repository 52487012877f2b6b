//! X-ETD's mixture of a learned and a sampled n-step trace.

use super::Emphasis;
use super::estimate::{Estimate, add};
use super::lambda_a::blend;
use super::n_step::n_step_product;
use super::past::Past;
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    XEtd<R>(features, schedule: Schedule<R>) => XEtdBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    n: Count, "how many steps lie between a trace and what it is made from";
    beta: Fraction = 0.0, "β: the share of the sampled trace; 0 is the learned one alone";
    read: Fraction = 0.0, "the share of the trace F_t in what is read; 0 reads û(S_t)";
    alpha_u: StepSize, "step-size of u";
}

impl Declared for XEtd {
    const DECLARATION: Declaration = Declaration {
        source: "Jiang, Zhang, Chelu, White and van Hasselt 2022",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "x-etd",
            "XETD",
            "û(s) = u·x(s) by time-reversed n-step TD, with a share β of the sampled trace",
        )
    };

    fn size(of: &Extent) -> Size {
        let n = of.numbers.get("n").copied().unwrap_or(0.0);
        Size { in_lanes: of.features + 3.0 * n, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(XEtd::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// û(s) = u·x(s), learned by time-reversed n-step TD:
///
/// ```text
/// F_t = i_t + (Π_{k=1}^n γ_{t−k+1} ρ_{t−k}) ((1 − β) û(S_{t−n}) + β F_{t−n})
/// u ← u + α (F_t − û(S_t)) x_t
/// ```
///
/// For n = 1 this is `direct` with λ_e = β. For larger n it estimates the weighting of the n-step trace, (I − (Pⁿ)ᵀ)⁻¹ i, which is not m.
#[derive(Clone, Debug)]
pub struct XEtd<R = f64> {
    settings: Settings<R>,
    schedule: Schedule<R>,
    estimate: Estimate<R>,
    beta: R,
    alpha: R,
    /// γ_k, ρ_k and (1 − β) û(S_k) + β F_k of the last n steps.
    past: Past<R, 3>,
    changed: R,
}

impl<R: Real> XEtd<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        Ok(Self {
            schedule: schedule.of(&features),
            estimate: Estimate::new(features, &settings)?,
            beta: settings.number("beta")?,
            alpha: settings.number("alpha_u")?,
            past: Past::new(settings.count("n")?),
            settings,
            changed: R::zero(),
        })
    }
}

impl<R: Real> Part<R> for XEtd<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        self.estimate.tensors(visitor)?;
        self.past.tensors(visitor, ["gamma", "rho", "f"])
    }
}

impl<R: Real> Emphasis<R> for XEtd<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let (gamma, interest) = (R::splat(step.gamma), R::splat(step.interest));
        let [_, _, oldest] = self.past.oldest();
        let factors = self.past.oldest_first().map(|[gamma, rho, _]| (gamma, rho));
        let follow_on = n_step_product(factors, gamma, oldest) + interest;
        self.schedule.begin(step.x);
        let error = follow_on - self.estimate.value(step.x);
        self.changed = add(&mut self.estimate.u, step.x, self.alpha * error, &self.schedule);
        let estimate = self.estimate.value(step.x);
        self.past.push([gamma, rho, blend(self.beta, estimate, follow_on)]);
        self.estimate.read(interest, estimate, follow_on)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.changed
    }
}
