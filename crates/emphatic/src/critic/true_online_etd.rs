//! True-online ETD(λ).

use super::linear_td::decay;
use super::traced::Traced;
use super::{Critic, td_error};
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::real::{blend, product};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Emphasis, Features, FollowOn, Part, PartBuilder, Real,
    Schedule, Seen, SettingError, Settings, StateError, Visitor,
};

settings! {
    TrueOnlineEtd<R>(features) => TrueOnlineEtdBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    lambda: Fraction = 0.0, "λ of the trace: 1 means full returns, and that only the interest counts, not the follow-on trace";
}

impl Declared for TrueOnlineEtd {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton 2015",
        signals: &[Signal::Delta],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "true-online-etd",
            "TrueOnlineETD",
            "true-online ETD(λ): what ETD(λ) approximates, exactly, with the follow-on trace",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 2.0 * of.features, shared: 5.0 * of.features }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.critic(TrueOnlineEtd::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// True-online ETD(λ) (Sutton 2015), with v̂(s) = v·x(s), and v⁻ the weights before the step before:
///
/// ```text
/// F_t = γ_t ρ_{t−1} F_{t−1} + i_t          M_t = λ i_t + (1 − λ) F_t
/// e ← ρ_t γ_t λ e + ρ_t α_v M_t (1 − ρ_t γ_t λ e·x_t) x_t
/// v ← v + δ_t e + ((v − v⁻)·x_t) (e − ρ_t α_v M_t x_t)
/// ```
///
/// The trace holds the step-size. λ runs the other way than λ_a: λ = 1 is no emphasis. (v − v⁻)·x_t is v·x_t less what v̂(S_t) was when S_t was the
/// next state; where an episode starts it has the factor 0.
#[derive(Clone, Debug)]
pub struct TrueOnlineEtd<R = f64> {
    features: Features,
    settings: Settings<R>,
    lambda: R,
    alpha: R,
    schedule: Schedule<R>,
    follow_on: FollowOn<R>,
    traced: Traced<R, 1, 1>,
    /// v⁻·x_t.
    before: R,
}

impl<R: Real> TrueOnlineEtd<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let (alpha, lambda) = (settings.number("alpha_v")?, settings.number("lambda")?);
        Ok(Self {
            lambda,
            alpha,
            schedule: Schedule::default().of(&features),
            follow_on: FollowOn::builder().lambda_a(R::one()).build()?,
            traced: Traced::new(features.len()),
            before: R::zero(),
            features,
            settings,
        })
    }

    /// The same with this schedule of its step-size.
    pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
        self.schedule = schedule.into().of(&self.features);
        self
    }

    /// A copy of v, the weights of the value estimate.
    pub fn weights(&self) -> Vec<R> {
        self.traced.weights(0)
    }
}

impl<R: Real> Part<R> for TrueOnlineEtd<R> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        visitor.part("follow_on", &mut self.follow_on)?;
        visitor.estimate("v", self.traced.weights_mut(0))?;
        visitor.numbers("v_before", std::iter::once(&mut self.before))?;
        self.traced.traces(visitor, ["e"])
    }
}

impl<R: Real> TrueOnlineEtd<R> {
    /// Learns from the step. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        let Self { lambda, schedule, traced, .. } = self;
        schedule.begin(step.x);
        let follow_on = self.follow_on.weigh(step, rho);
        let emphasis = blend(*lambda, follow_on, R::splat(step.interest));
        let size = product(rho, self.alpha * emphasis);
        let decay = decay(step.gamma, *lambda, rho);
        let (mut e_x, mut change) = (R::zero(), R::zero());
        if step.gamma > 0.0 {
            change = traced.dot(0, step.x.iter()) - self.before;
        }
        // v̂(S_{t+1}) before the update, for the next step.
        self.before = traced.dot(0, step.x_next.iter());
        traced.decay(decay.map(|decay| [decay]));
        for (k, x) in step.x.iter() {
            e_x += traced.cells[k].traces[0] * R::splat(x);
        }
        traced.add(
            step.x.iter(),
            #[inline(always)]
            |k, x| [size * schedule.factor(k) * (R::one() - e_x) * x],
        );

        let along = delta + change;
        let mut sum = decay.map_or(R::zero(), R::nan_unless_finite)
            + size.nan_unless_finite()
            + along.nan_unless_finite();
        traced.each(
            #[inline(always)]
            |_, cell| {
                cell.weights[0] += along * cell.traces[0];
                sum += cell.weights[0].nan_unless_finite();
            },
        );
        for (k, x) in step.x.iter() {
            let weight = &mut traced.cells[k].weights[0];
            *weight -= change * size * schedule.factor(k) * R::splat(x);
            sum += weight.nan_unless_finite();
        }
        sum
    }
}

impl<R: Real> Critic<R> for TrueOnlineEtd<R> {
    #[inline(always)]
    fn value(&mut self, step: &Seen) -> R {
        self.traced.dot(0, step.x.iter())
    }

    #[inline(always)]
    fn next_value(&mut self, step: &Seen) -> R {
        self.traced.dot(0, step.x_next.iter())
    }

    #[inline(always)]
    fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
        let delta = td_error(self, step);
        [delta, self.learn(step, rho, delta)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{assert_near, episodes, kinds, learn, two_steps};

    use crate::Etd;

    #[test]
    fn by_hand() {
        let mut critic = TrueOnlineEtd::builder(Features::dense(1)).alpha_v(0.5).lambda(0.5).build().unwrap();
        assert_eq!(learn(&mut critic, &two_steps()), [1.0, -1.5]);
        // e = 1, then 0.125 + 0.375 (1 − 0.25) 2 = 0.6875; (v − v⁻) x = 2.
        assert_eq!(critic.weights(), [-0.15625]);
    }

    /// The largest difference of δ to ETD(λ).
    fn difference(features: &Features, alpha: f64, lambda: f64) -> f64 {
        let own = TrueOnlineEtd::builder(features.clone()).alpha_v(alpha).lambda(lambda);
        let emphasis = FollowOn::builder().lambda_a(1.0).build().unwrap();
        let etd = Etd::builder(features.clone(), emphasis).alpha_v(alpha).lambda(lambda);
        let (mut own, mut etd) = (own.build().unwrap(), etd.build().unwrap());
        let of = |episode: Vec<_>| {
            let deltas = learn(&mut own, &episode).into_iter().zip(learn(&mut etd, &episode));
            deltas.fold(0.0, |most: f64, (own, other)| most.max((own - other).abs()))
        };
        episodes(features, 10, 2.0).into_iter().map(of).fold(0.0, f64::max)
    }

    #[test]
    fn without_a_trace_it_is_etd_and_with_one_to_first_order() {
        for features in kinds() {
            assert!(difference(&features, 0.05, 0.0) < 1e-13);
            // A tenth of the step-size makes a hundredth of the difference.
            let [large, small] = [1e-3, 1e-4].map(|alpha| difference(&features, alpha, 0.8));
            assert!(large > 1e-9 && (large / small - 100.0).abs() < 20.0, "{large} {small}");
        }
    }

    #[test]
    fn a_schedule_that_stays_as_it_is_changes_nothing() {
        for features in kinds() {
            let make = || TrueOnlineEtd::builder(features.clone()).alpha_v(0.05).lambda(0.8).build().unwrap();
            let one = crate::Polynomial::builder().power(0.0).build().unwrap();
            let (mut plain, mut scheduled) = (make(), make().with_schedule(one));
            for episode in episodes(&features, 10, 2.0) {
                assert_near(&learn(&mut plain, &episode), &learn(&mut scheduled, &episode), 1e-12);
            }
        }
    }
}
