//! Time-reversed TD with second weights: what TDERC, GEM and GradientDICE have in common.

use super::estimate::{Estimate, dot};
use super::lambda_a::product;
use crate::{Features, Real, Row, Schedule, Seen, SettingError, Settings, StateError, Visitor};

/// An estimate û(s) = u·x(s) with second weights κ, both of which learn from δ̄ = F_t − û(S_t) by a rule.
#[derive(Clone, Debug)]
pub(super) struct TimeReversed<R> {
    pub(super) settings: Settings<R>,
    pub(super) schedule: Schedule<R>,
    pub(super) estimate: Estimate<R>,
    pub(super) trace: ReversedTrace<R>,
    pub(super) kappa: Vec<R>,
    alpha: R,
    alpha_k: R,
    /// Zero if the weights that the last step changed are finite, otherwise NaN.
    pub(super) changed: R,
}

/// The weights of one feature, and what a rule may change them by.
pub(super) struct Cell<'a, R> {
    pub(super) u: &'a mut R,
    pub(super) kappa: &'a mut R,
    /// The step-sizes of u and of κ, for this feature at this step.
    pub(super) step: R,
    pub(super) step_k: R,
    /// x_t and y_t of this feature.
    pub(super) x: R,
    pub(super) y: R,
    /// Whether the feature is one that all its step-sizes apply to: any, or only an active one if each has its own.
    pub(super) is_drawn: bool,
}

impl<R: Real> TimeReversed<R> {
    pub(super) fn new(
        features: Features,
        schedule: Schedule<R>,
        settings: Settings<R>,
        lambda_e: R,
    ) -> Result<Self, SettingError> {
        let alpha = settings.number("alpha_u")?;
        Ok(Self {
            schedule: schedule.of(&features),
            kappa: vec![R::zero(); features.len()],
            trace: ReversedTrace::new(&features, lambda_e),
            estimate: Estimate::new(features, &settings)?,
            alpha,
            alpha_k: alpha * settings.number("eta")?,
            settings,
            changed: R::zero(),
        })
    }

    /// Arrives in S_t with this interest, learns, and leaves it. The rule changes the weights of each feature, given δ̄ and x_t·κ. Returns û(S_t) by the
    /// new weights, and F_t by the old ones.
    #[inline(always)]
    pub(super) fn learn(&mut self, step: &Seen, interest: R, rho: R, rule: impl Fn(Cell<R>, R, R)) -> [R; 2] {
        self.trace.arrive(step, interest);
        let Self { estimate: Estimate { u, .. }, kappa, schedule, trace, .. } = self;
        let follow_on = trace.c + trace.dot(u);
        let (delta, x_kappa) = (follow_on - dot(u, step.x), dot(kappa, step.x));
        schedule.begin(step.x);
        trace.write(step.x);
        let mut sum = R::zero();
        for (j, ((u, kappa), [x, y])) in u.iter_mut().zip(&mut *kappa).zip(trace.rows()).enumerate() {
            let factor = schedule.factor(j);
            let (step, step_k) = (self.alpha * factor, self.alpha_k * factor);
            let is_drawn = !schedule.is_per_feature() || !x.all_zero();
            rule(Cell { u, kappa, step, step_k, x, y, is_drawn }, delta, x_kappa);
            sum += u.nan_unless_finite() + kappa.nan_unless_finite();
        }
        self.changed = sum;
        self.trace.leave(step, rho);
        [self.estimate.value(step.x), follow_on]
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        self.estimate.tensors(visitor)?;
        visitor.weights("kappa", self.kappa.iter_mut())?;
        self.trace.tensors(visitor)
    }
}

/// The methods of a part that is [`TimeReversed`] in its field `learned`.
macro_rules! time_reversed_part {
    () => {
        fn features(&self) -> Option<&Features> {
            Some(&self.learned.estimate.features)
        }

        fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
            self.learned.tensors(visitor)
        }
    };
}
pub(super) use time_reversed_part;

/// F_t = c_t + y_t·u is the emphasis's λ-return as a function of the weights u, with
///
/// ```text
/// c_t = i_t + γ_t ρ_{t−1} λ_e c_{t−1}
/// y_t = γ_t ρ_{t−1} ((1 − λ_e) x_{t−1} + λ_e y_{t−1})
/// ```
#[derive(Clone, Debug)]
pub(super) struct ReversedTrace<R> {
    lambda_e: R,
    pub(super) c: R,
    pub(super) y: Vec<R>,
    /// ρ_{t−1} λ_e c_{t−1}, and ρ_{t−1} ((1 − λ_e) x_{t−1} + λ_e y_{t−1}).
    carried_c: R,
    carried_y: Vec<R>,
    /// x_t, written out.
    x: Vec<R>,
}

impl<R: Real> ReversedTrace<R> {
    pub(super) fn new(features: &Features, lambda_e: R) -> Self {
        let zeros = vec![R::zero(); features.len()];
        Self {
            lambda_e,
            c: R::zero(),
            y: zeros.clone(),
            carried_c: R::zero(),
            carried_y: zeros.clone(),
            x: zeros,
        }
    }

    /// Arrives in S_t, and makes c_t and y_t.
    #[inline(always)]
    pub(super) fn arrive(&mut self, step: &Seen, interest: R) {
        let gamma = R::splat(step.gamma);
        self.c = interest + product(gamma, self.carried_c);
        for (y, carried) in self.y.iter_mut().zip(&self.carried_y) {
            *y = product(gamma, *carried);
        }
    }

    /// Leaves S_t with the ratio ρ_t.
    #[inline(always)]
    pub(super) fn leave(&mut self, step: &Seen, rho: R) {
        self.carried_c = product(rho, product(self.lambda_e, self.c));
        let old = product(rho, self.lambda_e);
        for (carried, y) in self.carried_y.iter_mut().zip(&self.y) {
            *carried = product(old, *y);
        }
        let new = product(rho, R::one() - self.lambda_e);
        for (j, x) in step.x.iter() {
            self.carried_y[j] += new * R::splat(x);
        }
    }

    /// Writes out x_t.
    #[inline(always)]
    fn write(&mut self, x: Row) {
        self.x.fill(R::zero());
        x.iter().for_each(|(j, x)| self.x[j] += R::splat(x));
    }

    /// x_t and y_t of each feature.
    #[inline(always)]
    fn rows(&self) -> impl Iterator<Item = [R; 2]> {
        self.x.iter().zip(&self.y).map(|(x, y)| [*x, *y])
    }

    /// Returns y_t·w.
    #[inline(always)]
    pub(super) fn dot(&self, weights: &[R]) -> R {
        let mut sum = R::zero();
        for (y, w) in self.y.iter().zip(weights) {
            sum += *y * *w;
        }
        sum
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.numbers("rho_c", std::iter::once(&mut self.carried_c))?;
        visitor.numbers("rho_y", self.carried_y.iter_mut())
    }
}
