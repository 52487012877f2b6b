//! The default emphasis: learned through its λ-return, with a guard.

use super::Emphasis;
use super::direct::DirectEstimate;
use super::estimate::dot;
use super::lambda_a::product;
use crate::catalogue::{Extent, Inner, Need, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    LambdaReturn<R>(features, schedule: Schedule<R>) => LambdaReturnBuilder;
    lambda_a: Fraction = 1.0, "λ_a: 1 is full emphasis, 0 none";
    lambda_e: Fraction = 0.5, "λ_e of the return: its variance is finite exactly for λ_e below 1/√r, with the r that `emphatic diagnose` shows";
    read: Fraction = 1.0, "the share of the return F_t in what is read; 0 reads û(S_t)";
    alpha_u: StepSize = 1.0, "step-size of u";
}

impl Declared for LambdaReturn {
    const DECLARATION: Declaration = Declaration {
        source: "here; after Graves, Imani, Kumaraswamy and White 2023, and Cao, Feng, Wang and Li 2023",
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("per-feature")],
        needs: &[Need::Ratio],
        ..Declaration::new(
            Role::Emphasis,
            "lambda-return",
            "LambdaReturn",
            "the emphasis learned through its λ-return, which falls back to TDERC where that is not stable: the default",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 3.0 * of.features, shared: 2.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(LambdaReturn::new(with.features()?, with.schedule()?, with.settings())?)
    }
}

/// Like [`Direct`](crate::Direct), the emphasis's λ-return and an estimate û that it bootstraps from:
///
/// ```text
/// F_t = i_t + γ_t ρ_{t−1} ((1 − λ_e) û(S_{t−1}) + λ_e F_{t−1})
/// u ← u + α (F_t − û(S_t)) x_t
/// M_t = max(i_t, F_t)
/// ```
///
/// The variance of F is finite if λ_e² r < 1, where r is the spectral radius of the second moment of the follow-on trace; and once û is the emphatic
/// density, F is unbiased. With features that are not a table û may not be stable: so TDERC(0) learns beside it by the same step-sizes, and
/// takes its place for good once the squared one-step error of û is a million times the sum of TDERC's and of the squared interest (running means). A û that diverges
/// gets there soon, since it grows exponentially; one that only varies does not.
#[derive(Clone, Debug)]
pub struct LambdaReturn<R = f64> {
    direct: DirectEstimate<R>,
    fallback: Fallback<R>,
}

impl<R: Real> LambdaReturn<R> {
    fn new(features: Features, schedule: Schedule<R>, settings: Settings<R>) -> Result<Self, SettingError> {
        let fallback = Fallback::new(&features);
        Ok(Self { direct: DirectEstimate::new(features, schedule, settings)?, fallback })
    }
}

impl<R: Real> LambdaReturn<R> {
    /// The same with this λ_a.
    pub(crate) fn with_lambda_a(mut self, lambda_a: R) -> Result<Self, SettingError> {
        self.direct.set_lambda_a(lambda_a)?;
        Ok(self)
    }
}

impl<R: Real> Part<R> for LambdaReturn<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.direct.estimate.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.direct.tensors(visitor)?;
        self.fallback.tensors(visitor)
    }
}

impl<R: Real> Emphasis<R> for LambdaReturn<R> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let Self { direct, fallback } = self;
        let interest = R::splat(step.interest);
        let old = fallback.one_step_error(&direct.estimate.u, step);
        let [estimate, follow_on] = direct.learn(step, rho);
        let [second, second_return] = fallback.learn(step, old, direct.alpha, &direct.schedule);
        fallback.leave(step.x, rho);
        // What is not in use does not matter, whatever it is.
        let choose = |first, second| R::zero().if_less(fallback.in_use, second, first);
        direct.changed = choose(direct.changed, fallback.changed);
        direct.estimate.read(interest, choose(estimate, second), choose(follow_on, second_return))
    }

    #[inline(always)]
    fn learn(&mut self, _step: &Seen, _rho: R) -> R {
        self.direct.changed
    }
}

/// How much of a squared error counts at each step in its running mean.
const RECENT: f64 = 0.005;

/// How many times the squared error of TDERC an estimate may have that is still trusted.
const TRUSTED: f64 = 1e6;

/// TDERC(0) with β = 1, whose second weights are drawn to zero where features are active, as by a schedule per feature; and whether it is in use.
#[derive(Clone, Debug)]
struct Fallback<R> {
    u: Vec<R>,
    kappa: Vec<R>,
    /// x_{t−1}.
    before: Vec<(usize, f64)>,
    /// ρ_{t−1}.
    rho: R,
    /// Running means of the squared one-step errors: of the first estimate, and of this one with the squared interest.
    error: R,
    own_error: R,
    /// One where the first estimate has been given up.
    in_use: R,
    changed: R,
}

impl<R: Real> Fallback<R> {
    fn new(features: &Features) -> Self {
        let zeros = vec![R::zero(); features.len()];
        Self {
            u: zeros.clone(),
            kappa: zeros,
            before: Vec::with_capacity(features.most_active().min(features.len())),
            rho: R::zero(),
            error: R::zero(),
            own_error: R::zero(),
            in_use: R::zero(),
            changed: R::zero(),
        }
    }

    /// Returns γ_t ρ_{t−1}.
    #[inline(always)]
    fn discounted(&self, step: &Seen) -> R {
        if step.gamma > 0.0 { R::splat(step.gamma) * self.rho } else { R::zero() }
    }

    /// Returns i_t + γ_t ρ_{t−1} w·x_{t−1}.
    #[inline(always)]
    fn one_step_return(&self, weights: &[R], step: &Seen) -> R {
        let mut value = R::zero();
        for (j, x) in &self.before {
            value += weights[*j] * R::splat(*x);
        }
        R::splat(step.interest) + product(self.discounted(step), value)
    }

    /// Returns the one-step error of an estimate before it has learned.
    #[inline(always)]
    fn one_step_error(&self, weights: &[R], step: &Seen) -> R {
        self.one_step_return(weights, step) - dot(weights, step.x)
    }

    /// Learns, and compares errors with the first estimate's. Returns û(S_t) and F_t.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, error: R, alpha: R, schedule: &Schedule<R>) -> [R; 2] {
        let follow_on = self.one_step_return(&self.u, step);
        let delta = follow_on - dot(&self.u, step.x);
        let x_kappa = dot(&self.kappa, step.x);
        let corrected = product(self.discounted(step), x_kappa);
        let mut sum = R::zero();
        for (j, x) in &self.before {
            self.u[*j] -= alpha * schedule.factor(*j) * corrected * R::splat(*x);
            sum += self.u[*j].nan_unless_finite();
        }
        for (j, x) in step.x.iter() {
            // A row may list features that are zero.
            let drawn = if x == 0.0 { R::zero() } else { self.kappa[j] };
            let (size, x) = (alpha * schedule.factor(j), R::splat(x));
            self.u[j] += size * delta * x;
            self.kappa[j] += size * ((delta - x_kappa) * x - drawn);
            sum += self.u[j].nan_unless_finite() + self.kappa[j].nan_unless_finite();
        }
        self.changed = sum;
        self.compare(error, delta, R::splat(step.interest));
        [dot(&self.u, step.x), follow_on]
    }

    #[inline(always)]
    fn compare(&mut self, error: R, own: R, interest: R) {
        let recent = R::splat(RECENT);
        self.error += recent * (error * error - self.error);
        self.own_error += recent * (own * own + interest * interest - self.own_error);
        let trusted = R::splat(TRUSTED) * self.own_error;
        // An error that is no number is none to be trusted.
        let now = self.error.if_less(trusted, R::zero(), R::one());
        let has_learned = R::zero().if_less(self.own_error, now, R::zero());
        self.in_use = self.in_use.larger(has_learned);
    }

    /// Leaves S_t with ρ_t.
    #[inline(always)]
    fn leave(&mut self, x: Row, rho: R) {
        self.before.clear();
        self.before.extend(x.iter());
        self.rho = rho;
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.within("fallback", |visitor| {
            visitor.estimate("u", self.u.iter_mut())?;
            visitor.weights("kappa", self.kappa.iter_mut())?;
            visitor.numbers("errors", [&mut self.error, &mut self.own_error].into_iter())?;
            visitor.numbers("in_use", std::iter::once(&mut self.in_use))?;
            visitor.numbers("rho", std::iter::once(&mut self.rho))?;
            visitor.row("before", self.u.len(), &mut self.before)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::SeenScratch;
    use crate::{AsState, Step};

    fn learned<S: AsState>(features: Features, states: [S; 2]) -> Vec<f64> {
        let schedule = Schedule::from(crate::PerFeature::builder().build().unwrap());
        let mut emphasis = LambdaReturn::builder(features.clone(), schedule).build().unwrap();
        let at = |t: usize| states[t / 2 % 2].as_state();
        for t in 0..100 {
            let step = Step {
                state: at(t),
                next: at(t + 1),
                gamma: if t % 7 == 0 { 0.0 } else { 0.9 },
                ..Step::in_state(states[0].as_state())
            };
            let mut scratch = SeenScratch::default();
            emphasis.weigh(&Seen::new(&step, Some(&features), &mut scratch), [0.5, 1.0, 1.4][t % 3]);
        }
        emphasis.fallback.u
    }

    /// Regression: where a row lists features that are zero, their second weights were drawn to zero.
    #[test]
    fn features_that_are_zero_may_be_listed_or_not() {
        assert_eq!(
            learned(Features::one_hot(2), [0, 1]),
            learned(Features::dense(2), [&[1.0, 0.0], &[0.0, 1.0]])
        );
    }
}
