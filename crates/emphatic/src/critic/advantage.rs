//! The learned advantage: v̂ by one critic, and a regression on its δ.

use super::pairs::pair;
use super::{ActionCritic, Critic, part_around};
use crate::action::number;
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::part::CachedPart;
use crate::policy::any_outputs;
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Gtd, Part, PartBuilder, Real, Schedule, Seen,
    SettingError, Settings, State, StateError, Visitor,
};
use std::any::Any;

settings! {
    Advantage<R, V: Critic>(features, actions: usize, values: V) => AdvantageBuilder;
    alpha_u: StepSize, "step-size of u, the weights of the advantage";
}

impl Declared for Advantage {
    const DECLARATION: Declaration = Declaration {
        source: "Imani, Graves and White 2018",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::values("the critic of values whose δ is learned from"), Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "advantage",
            "Advantage",
            "the advantage of each action, regressed on the δ of another critic",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: of.features * of.actions, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let (features, actions) = (with.features()?, with.actions()?);
        let critic = Advantage::new(features, actions, with.critic_inside("values")?, with.settings())?;
        with.action_critic(critic.with_schedule(with.schedule()?))
    }
}

/// â(s,b) = u·φ(s,b), regressed on δ_t of any critic of values: u ← u + α (δ_t − u·φ_t) φ_t.
///
/// Given v_π, E[δ_t | S_t = s, A_t = a] is the advantage; being conditional on the action, it needs no ratio.
#[derive(Clone, Debug)]
pub struct Advantage<R = f64, V = Gtd<R>> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    alpha_u: R,
    /// α_u, divided by the number of active features unless a schedule does that.
    alpha: R,
    schedule: Schedule<R>,
    u: Vec<R>,
    values: CachedPart<V>,
}

impl<R: Real, V: Critic<R>> Advantage<R, V> {
    fn new(
        features: Features,
        actions: usize,
        values: V,
        settings: Settings<R>,
    ) -> Result<Self, SettingError> {
        let alpha_u = settings.number("alpha_u")?;
        let alpha = alpha_u / R::splat(features.most_active() as f64);
        let u = vec![R::zero(); features.len() * actions];
        let (schedule, values) = (Schedule::default(), CachedPart::new(values));
        Ok(Self { features, actions, settings, alpha_u, alpha, schedule, u, values })
    }

    /// The same with this schedule of its step-size. The critic of values inside has its own.
    pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
        self.schedule = schedule.into().of_pairs(&self.features, self.actions);
        if !self.schedule.is_constant() {
            self.alpha = self.alpha_u;
        }
        self
    }

    /// A copy of u: the weight of feature `f` for action `a` is number `f · actions + a`.
    pub fn weights(&self) -> Vec<R> {
        self.u.clone()
    }

    /// The critic whose δ is learned from.
    pub fn values(&self) -> &V {
        &self.values.part
    }
}

impl<R: Real, V: Critic<R>> Part<R> for Advantage<R, V> {
    part_around!(values);

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        visitor.estimate("u", self.u.iter_mut())?;
        visitor.part("values", &mut self.values.part)
    }
}

impl<R: Real, V: Critic<R>> ActionCritic<R> for Advantage<R, V> {
    fn actions(&self) -> usize {
        self.actions
    }

    #[inline(always)]
    fn value(&mut self, step: &Seen, _policy: &[R]) -> R {
        let (values, seen) = self.values.see(step);
        values.value(&seen)
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, _policy: &[R], out: &mut [R]) {
        any_outputs(step.x, &self.u, out);
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, _next: &[R], out: &mut [R]) {
        any_outputs(step.x_next, &self.u, out);
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, _policy: &[R], _next: &[R], rho: R) -> R {
        let (values, seen) = self.values.see(step);
        let [delta, mut sum] = values.update(&seen, rho);
        let phi = pair(step.x, self.actions, number(step.action));
        let mut error = delta;
        for (k, x) in phi.clone() {
            error -= self.u[k] * R::splat(x);
        }
        let change = self.alpha * error;
        if self.schedule.is_constant() {
            for (k, x) in phi {
                self.u[k] += change * R::splat(x);
                sum += self.u[k].nan_unless_finite();
            }
            return sum;
        }
        self.schedule.begin_at(phi.clone());
        for (k, x) in phi {
            self.u[k] += change * self.schedule.factor(k) * R::splat(x);
            sum += self.u[k].nan_unless_finite();
        }
        sum
    }
}
