//! The emphasis learned directly: time-reversed TD(λ_e).

use super::Emphasis;
use super::estimate::{Estimate, add};
use super::lambda_a::{LambdaA, blend, product};
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Direct<R>(features, schedule: Schedule<R>) => DirectBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    lambda_e: Fraction = 0.5, "λ_e of the return: 1 is the follow-on trace, 0 looks one step back";
    read: Fraction = 1.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    least: Fraction = 1.0, "the share that is at least the interest; 0 reads estimates as they are, also negative ones";
    alpha_u: StepSize = 1.0, "step-size of u";
}

impl Declared for Direct {
    const DECLARATION: Declaration = Declaration {
        source: "Graves, Imani, Kumaraswamy and White 2023",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("per-feature")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "direct",
            "Direct",
            "û(s) = u·x(s) regressed on its return, F_t = i_t + γ_t ρ_{t−1} ((1 − λ_e) û(S_{t−1}) + λ_e F_{t−1})",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(Direct::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// Learns the emphatic density û(s) = u·x(s) by the emphasis's λ-return:
///
/// ```text
/// F_t = i_t + γ_t ρ_{t−1} ((1 − λ_e) û(S_{t−1}) + λ_e F_{t−1})
/// u ← u + α (F_t − û(S_t)) x_t
/// M_t = max(i_t, F_t), or max(i_t, û(S_t)), or something between
/// ```
///
/// With λ_e = 0, `read` and `least` 0 and a constant step-size it is the estimate of Graves and others.
///
/// The chain is reversed, so the return is known when S_t is reached and needs no trace of features. It is stable exactly if off-policy
/// TD(λ_e) with the same features is: its key matrix is the transposed one.
#[derive(Clone, Debug)]
pub struct Direct<R = f64> {
    learned: DirectEstimate<R>,
    least: R,
}

/// What [`Direct`] learns.
#[derive(Clone, Debug)]
pub(super) struct DirectEstimate<R> {
    settings: Settings<R>,
    pub(super) schedule: Schedule<R>,
    pub(super) estimate: Estimate<R>,
    lambda_e: R,
    pub(super) alpha: R,
    /// ρ_{t−1} ((1 − λ_e) û(S_{t−1}) + λ_e F_{t−1}).
    carried: R,
    /// Zero if the weights that the last step changed are finite, otherwise NaN.
    pub(super) changed: R,
}

impl<R: Real> Direct<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let least = settings.number("least")?;
        Ok(Self { learned: DirectEstimate::new(features, schedule, settings)?, least })
    }
}

impl<R: Real> DirectEstimate<R> {
    pub(super) fn new(
        features: Features,
        schedule: Schedule<R>,
        settings: Settings<R>,
    ) -> Result<Self, SettingError> {
        Ok(Self {
            schedule: schedule.of(&features),
            estimate: Estimate::new(features, &settings)?,
            lambda_e: settings.number("lambda_e")?,
            alpha: settings.number("alpha_u")?,
            settings,
            carried: R::zero(),
            changed: R::zero(),
        })
    }

    pub(super) fn set_lambda_a(&mut self, lambda_a: R) -> Result<(), SettingError> {
        self.settings.set("lambda_a", lambda_a);
        self.estimate.lambda_a = LambdaA::new(&self.settings)?;
        Ok(())
    }

    /// Arrives in S_t, learns, and leaves it with ρ_t. Returns û(S_t) and F_t.
    #[inline(always)]
    pub(super) fn learn(&mut self, step: &Seen, rho: R) -> [R; 2] {
        let follow_on = product(R::splat(step.gamma), self.carried) + R::splat(step.interest);
        self.schedule.begin(step.x);
        let error = follow_on - self.estimate.value(step.x);
        self.changed = add(&mut self.estimate.u, step.x, self.alpha * error, &self.schedule);
        let estimate = self.estimate.value(step.x);
        self.carried = product(rho, blend(self.lambda_e, estimate, follow_on));
        [estimate, follow_on]
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        self.estimate.tensors(visitor)?;
        visitor.numbers("rho_f", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> Part<R> for Direct<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.learned.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.learned.tensors(visitor)
    }
}

impl<R: Real> Emphasis<R> for Direct<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let [estimate, follow_on] = self.learned.learn(step, rho);
        let (interest, none) = (R::splat(step.interest), R::splat(f64::NEG_INFINITY));
        let read = |least| self.learned.estimate.read_at_least(least, interest, estimate, follow_on);
        blend(self.least, read(none), read(interest))
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.learned.changed
    }
}
