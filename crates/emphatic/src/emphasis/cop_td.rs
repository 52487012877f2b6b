//! COP-TD with a discount: the density ratio of the discounted target chain.

use super::Emphasis;
use super::estimate::{Estimate, add};
use super::lambda_a::product;
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    CopTd<R>(features, schedule: Schedule<R>) => CopTdBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    read: Fraction = 0.0, "the share of the return in what is read; 0 reads ĉ(S_t)";
    gamma: Fraction, "the discount γ̂ of the ratio; 1 is COP-TD, the ratio of d_π to d_μ, for tasks that never end";
    penalty: Amount = 0.0, "how strongly the ratio's mean is drawn to 1: γ̂ near 1 needs it";
    alpha_u: StepSize, "step-size of u";
    alpha_n: StepSize = 0.01, "step-size of ν, the running mean of the ratio";
}

impl Declared for CopTd {
    const DECLARATION: Declaration = Declaration {
        source: "Hallak and Mannor 2017; Gelada and Bellemare 2019",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "cop-td",
            "COPTD",
            "the discounted density ratio ĉ(s) = u·x(s), learned toward γ̂ ρ_{t−1} ĉ(S_{t−1}) + 1 − γ̂",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(CopTd::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// ĉ(s) = u·x(s), the ratio of d_γ̂ to d_μ:
///
/// ```text
/// g_t = γ̂ ρ_{t−1} ĉ(S_{t−1}) + 1 − γ̂          (1 − γ̂ where an episode starts)
/// ν ← ν + α_n (ĉ(S_t) − ν)
/// u ← u + α (g_t − ĉ(S_t) − penalty (ν − 1)) x_t
/// ```
///
/// M_t is ĉ(S_t)/(1 − γ̂), which estimates m/d_μ for i = 1 and γ = γ̂ and is at least i_t, or ĉ(S_t) itself for γ̂ = 1, which may be less. The ratio starts as 1 everywhere, as far as
/// features allow.
#[derive(Clone, Debug)]
pub struct CopTd<R = f64> {
    settings: Settings<R>,
    schedule: Schedule<R>,
    estimate: Estimate<R>,
    gamma: R,
    /// What the ratio is divided by to be an emphasis: 1 − γ̂, or 1 for γ̂ = 1.
    scale: R,
    /// The least emphasis in units of the interest: 1, or 0 for γ̂ = 1, where the target may visit a state less often than the behaviour does.
    least: R,
    penalty: R,
    alpha: R,
    alpha_n: R,
    /// ρ_{t−1} ĉ(S_{t−1}).
    carried: R,
    mean: R,
    changed: R,
}

impl<R: Real> CopTd<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let gamma = settings.number("gamma")?;
        let share = R::one() / R::splat(features.most_active() as f64);
        let mut estimate = Estimate::new(features.clone(), &settings)?;
        estimate.u.fill(share);
        Ok(Self {
            schedule: schedule.of(&features),
            estimate,
            gamma,
            scale: gamma.if_less(R::one(), R::one() - gamma, R::one()),
            least: gamma.if_less(R::one(), R::one(), R::zero()),
            penalty: settings.number("penalty")?,
            alpha: settings.number("alpha_u")?,
            alpha_n: settings.number("alpha_n")?,
            settings,
            carried: R::zero(),
            mean: R::one(),
            changed: R::zero(),
        })
    }
}

impl<R: Real> Part<R> for CopTd<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        self.estimate.tensors(visitor)?;
        visitor.weights("mean", std::iter::once(&mut self.mean))?;
        visitor.numbers("rho_c", std::iter::once(&mut self.carried))
    }
}

impl<R: Real> CopTd<R> {
    /// Learns from the step. Returns ĉ(S_t), and what it was learned toward.
    #[inline(always)]
    fn arrive(&mut self, step: &Seen, rho: R) -> [R; 2] {
        let rest = R::one() - self.gamma;
        let target = if step.gamma > 0.0 { product(self.gamma, self.carried) + rest } else { rest };
        let old = self.estimate.value(step.x);
        self.mean += self.alpha_n * (old - self.mean);
        self.schedule.begin(step.x);
        let error = target - old - self.penalty * (self.mean - R::one());
        self.changed = add(&mut self.estimate.u, step.x, self.alpha * error, &self.schedule)
            + self.mean.nan_unless_finite();
        let ratio = self.estimate.value(step.x);
        self.carried = product(rho, ratio);
        [ratio, target]
    }

    /// Learns from the step. Returns ĉ(S_t).
    pub(crate) fn ratio(&mut self, step: &Seen, rho: R) -> R {
        self.arrive(step, rho)[0]
    }

    /// The sum of [`Real::nan_unless_finite`] over the weights that the last step changed.
    pub(crate) fn changed(&self) -> R {
        self.changed
    }
}

impl<R: Real> Emphasis<R> for CopTd<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let [ratio, target] = self.arrive(step, rho);
        let interest = R::splat(step.interest);
        let (estimate, follow_on) = (ratio / self.scale, target / self.scale);
        self.estimate.read_at_least(self.least * interest, interest, estimate, follow_on)
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::SeenScratch;
    use crate::{State, Step};

    /// Once the ratio of d_π to d_μ was read as at least 1 in every state, although 1 is its mean.
    #[test]
    fn a_ratio_without_a_discount_may_be_less_than_the_interest() {
        let read = |gamma: f64| {
            let features = Features::one_hot(2);
            let cop = CopTd::builder(features.clone(), Schedule::default());
            let mut cop = cop.gamma(gamma).alpha_u(0.5).build().unwrap();
            // Nothing leads to the state from where the target goes.
            let step = Step::in_state(State::Number(0));
            let mut scratch = SeenScratch::of(&features);
            let seen = Seen::new(&step, Some(&features), &mut scratch);
            cop.weigh(&seen, 0.0)
        };
        // ĉ is 1 at first, and learned toward 1 − γ̂ by half.
        assert_eq!([read(1.0), read(0.5)], [0.5, 0.75 / 0.5]);
    }
}
