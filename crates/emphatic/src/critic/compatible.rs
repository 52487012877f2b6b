//! Compatible features: a learned critic for deterministic policies.

use super::SlopeCritic;
use crate::catalogue::{Extent, Inner, Role, Signal, Size};
use crate::policy::{add_outputs, outputs};
use crate::settings::settings;
use crate::{
    Acts, Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Schedule, Seen,
    SettingError, Settings, StateError, Visitor,
};

settings! {
    Compatible<R>(features) => CompatibleBuilder;
    alpha_v: StepSize, "step-size of v, the weights of the values";
    alpha_u: StepSize, "step-size of u, the weights of the slope";
    alpha_h: StepSize, "step-size of h, the second weights";
}

impl Declared for Compatible {
    const DECLARATION: Declaration = Declaration {
        source: "Silver et al. 2014 (COPDAC-GQ), with second weights for all features",
        signals: &[Signal::Slope],
        settings: SETTINGS,
        features: true,
        inner: &[Inner::schedule("constant")],
        ..Declaration::new(
            Role::Critic,
            "compatible",
            "Compatible",
            "q̂(s,a) = v·x + (a − π(s)) u·x by GQ(0), for deterministic policies",
        )
    };

    fn size(of: &Extent) -> Size {
        Size { in_lanes: 4.0 * of.features, shared: 0.0 }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.slope_critic(Compatible::new(with.features()?, with.settings())?.with_schedule(with.schedule()?))
    }
}

/// q̂(s,a) = v·x(s) + (a − π(s)) u·x(s) by GQ(0), so that ∂q̂/∂a = u·x(s).
///
/// With ζ_t = A_t − π(S_t), and h_v, h_u the second weights of x and of ζx:
///
/// ```text
/// δ = R_{t+1} + γ_{t+1} v·x_{t+1} − v·x_t − ζ_t u·x_t
/// c = h_v·x_t + ζ_t h_u·x_t
/// v ← v + α_v (δ x_t − γ_{t+1} c x_{t+1})      h_v ← h_v + α_h (δ − c) x_t
/// u ← u + α_u δ ζ_t x_t                        h_u ← h_u + α_h (δ − c) ζ_t x_t
/// ```
///
/// These are the compatible features of a policy that is linear in x (Silver et al. 2014, *Deterministic Policy Gradient
/// Algorithms*, where DPG with this critic is COPDAC-GQ). If x is not what the policy sees, they are not compatible with it,
/// but q̂ is still an estimate of q, and a better one if x tells more states apart. Under the target's own action ζ is
/// zero: so π(S_{t+1}) does not appear, u needs no correction, and there is no ratio.
///
/// In that paper the correction has no h_v: c comes from weights that are regressed on δ from ζx alone. This is not the gradient of the
/// projected Bellman error of q̂, whose features are x *and* ζx, and v can diverge: where the behaviour acts like the
/// target, it learns by plain TD(0). Here the second weights see all the features, as in GQ.
///
/// # Its limits
///
/// - q̂ is linear in a, and fitted to the actions that the behaviour takes. Where q is curved, u·x is the slope of that line, not
///   ∂q/∂a at π(s). With a feature for each state and a Gaussian behaviour it is the mean of the slope over the
///   behaviour's actions.
/// - It is fitted to the states as the behaviour visits them. For states that x cannot tell apart, u·x is a mean weighted
///   by d_μ, which no emphasis of the actor can undo: True-DPGE needs features that tell them apart.
/// - The further π(s) is from the behaviour's actions, the smaller must α_u and α_h be: α ζ² |x|² has to stay below about two.
///   With step-sizes that stay as they are, a policy that goes further and further away makes it diverge in the end.
///
/// ```
/// use emphatic::{Compatible, DeterministicLinear, Features, Learner, Step, dpg};
/// let policy = DeterministicLinear { features: Features::dense(2) };
/// let critic = Compatible::builder(Features::dense(2)).alpha_v(0.1).alpha_u(0.1).alpha_h(0.01).build()?;
/// let mut learner = dpg(policy, critic).alpha(0.05).build()?;
/// learner.step(&Step {
///     state: [1.0, 0.5],
///     action: 0.3,
///     mu: 0.4, // the density; not used
///     reward: 1.0,
///     next: [0.5, 1.0],
///     gamma: 0.0,
///     gamma_next: 0.9,
///     interest: 1.0,
/// })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compatible<R = f64> {
    features: Features,
    settings: Settings<R>,
    schedule: Schedule<R>,
    /// α_v, α_u and α_h.
    sizes: [R; 3],
    /// The same, divided by the number of active features unless a schedule does that.
    alphas: [R; 3],
    /// v and u, side by side for each feature.
    weights: Vec<R>,
    /// h_v and h_u, likewise.
    second: Vec<R>,
}

impl<R: Real> Compatible<R> {
    fn new(features: Features, settings: Settings<R>) -> Result<Self, SettingError> {
        let active = R::splat(features.most_active() as f64);
        let zero = vec![R::zero(); 2 * features.len()];
        let sizes = [settings.number("alpha_v")?, settings.number("alpha_u")?, settings.number("alpha_h")?];
        Ok(Self {
            features,
            sizes,
            alphas: sizes.map(|alpha| alpha / active),
            settings,
            schedule: Schedule::default(),
            weights: zero.clone(),
            second: zero,
        })
    }

    /// The same with this schedule of its step-sizes.
    pub fn with_schedule(mut self, schedule: impl Into<Schedule<R>>) -> Self {
        self.schedule = schedule.into().of(&self.features);
        if !self.schedule.is_constant() {
            self.alphas = self.sizes;
        }
        self
    }

    /// A copy of v and u: those of feature `f` are numbers `2 f` and `2 f + 1`.
    pub fn weights(&self) -> Vec<R> {
        self.weights.clone()
    }
}

impl<R: Real> Part<R> for Compatible<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.part("schedule", &mut self.schedule)?;
        let Self { weights, second, .. } = self;
        visitor.estimate("v", weights.as_chunks_mut::<2>().0.iter_mut().map(|[v, _]| v))?;
        visitor.estimate("u", weights.as_chunks_mut::<2>().0.iter_mut().map(|[_, u]| u))?;
        visitor.weights("h_v", second.as_chunks_mut::<2>().0.iter_mut().map(|[h, _]| h))?;
        visitor.weights("h_u", second.as_chunks_mut::<2>().0.iter_mut().map(|[_, h]| h))
    }
}

impl<R: Real> SlopeCritic<R> for Compatible<R> {
    #[inline(always)]
    fn slope(&mut self, step: &Seen, _action: R) -> R {
        let [_, slope] = outputs(step.x, &self.weights);
        slope
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, action: R) -> R {
        let Self { alphas: [alpha_v, alpha_u, alpha_h], schedule, weights, second, .. } = self;
        let gamma_next = R::splat(step.gamma_next);
        // An action that has been checked is a real number.
        let zeta = R::splat(f64::of(step.action).unwrap_or(0.0)) - action;
        let mut delta = R::splat(step.reward);
        if step.gamma_next > 0.0 {
            let [value, _] = outputs(step.x_next, weights);
            delta += gamma_next * value;
        }
        let [value, slope] = outputs(step.x, weights);
        delta -= value + zeta * slope;
        let [value_h, slope_h] = outputs(step.x, second);
        let correction = value_h + zeta * slope_h;

        let step_h = *alpha_h * (delta - correction);
        let (change, change_h) = ([*alpha_v * delta, *alpha_u * delta * zeta], [step_h, step_h * zeta]);
        if !schedule.is_constant() {
            schedule.begin(step.x);
            let back = [*alpha_v * gamma_next * correction, R::zero()];
            return add_scheduled(step.x, change, weights, schedule)
                + add_scheduled(step.x_next, back.map(|back| -back), weights, schedule)
                + add_scheduled(step.x, change_h, second, schedule);
        }
        let mut sum = add_outputs(step.x, change, weights);
        if step.gamma_next > 0.0 {
            let back = *alpha_v * gamma_next * correction;
            for (f, x) in step.x_next.iter() {
                weights[2 * f] -= back * R::splat(x);
                sum += weights[2 * f].nan_unless_finite();
            }
        }
        sum + add_outputs(step.x, change_h, second)
    }
}

/// [`add_outputs`], where each feature's change is multiplied by its factor.
#[inline(always)]
fn add_scheduled<R: Real>(x: Row, change: [R; 2], weights: &mut [R], schedule: &Schedule<R>) -> R {
    let mut sum = R::zero();
    for (f, x) in x.iter() {
        let factor = schedule.factor(f) * R::splat(x);
        for (weight, change) in weights[2 * f..].iter_mut().zip(change) {
            *weight += change * factor;
            sum += weight.nan_unless_finite();
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ContinuousCounterexample, DeterministicLinear, Exact, ExactCritic, Learner, Numbers, PerFeature,
        Polynomial, SavedState, SeenScratch, Step, Table, Tensors, dpg, true_dpge,
    };
    use std::sync::Arc;

    fn critic(features: impl Into<Features>, alpha_v: f64, alpha_u: f64, alpha_h: f64) -> Compatible {
        Compatible::builder(features).alpha_v(alpha_v).alpha_u(alpha_u).alpha_h(alpha_h).build().unwrap()
    }

    #[test]
    fn a_step_by_hand() {
        let features = Features::dense(2);
        let mut critic = critic(features.clone(), 0.5, 1.0, 0.25);
        // v and u, and h_v and h_u, side by side for each feature.
        let tensors = |weights: [f64; 4], second: [f64; 4]| {
            let mut tensors = Tensors::default();
            for (names, [a, b, c, d]) in [(["v", "u"], weights), (["h_v", "h_u"], second)] {
                tensors.insert(names[0], Numbers::Real(vec![a, c]));
                tensors.insert(names[1], Numbers::Real(vec![b, d]));
            }
            tensors
        };
        let before = tensors([1.0, 0.5, -1.0, 1.0], [0.5, 0.0, 0.0, 0.25]);
        critic.tensors(&mut Visitor::restore(&SavedState::without_settings(before))).unwrap();
        let step = Step::between([1.0, 2.0], 2.0, [2.0, 1.0]);
        let step = Step { mu: 0.1, gamma: 0.7, gamma_next: 0.5, interest: 3.0, ..step.view() };
        let mut scratch = SeenScratch::default();
        let step = Seen::new(&step, Some(&features), &mut scratch);
        assert_eq!(critic.slope(&step, 1.5), 2.5);
        // ζ = 0.5, δ = 1 + 0.5 · 1 + 1 − 0.5 · 2.5 = 1.25, c = 0.5 + 0.5 · 0.5 = 0.75.
        let sum = critic.learn(&step, 1.5);
        let learned = tensors([1.125, 0.8125, -0.46875, 1.625], [0.5625, 0.03125, 0.125, 0.3125]);
        let mut state = SavedState::empty();
        critic.tensors(&mut Visitor::save(&mut state)).unwrap();
        assert_eq!(state.into_tensors(), learned);
        assert_eq!(sum, 0.0);
        assert_eq!(critic.weights(), [1.125, 0.8125, -0.46875, 1.625]);
    }

    #[test]
    fn a_schedule_that_stays_as_it_is_is_none() {
        let task = ContinuousCounterexample::default();
        let learned = |schedule: Option<Schedule<f64>>| {
            let mut critic = critic(Table::one_hot(3), 0.05, 0.05, 0.05);
            if let Some(schedule) = schedule {
                critic = critic.with_schedule(schedule);
            }
            let mut learner = dpg(task.deterministic(), critic).alpha(0.1).build().unwrap();
            task.stream(1, 0).take(200).for_each(|step| _ = learner.update(&step).unwrap());
            learner.critic().weights()
        };
        let polynomial = Polynomial::builder().power(0.0).build().unwrap();
        let per_feature = PerFeature::builder().power(0.0).build().unwrap();
        assert_eq!(learned(Some(polynomial.into())), learned(None));
        assert_eq!(learned(Some(per_feature.into())), learned(None));
    }

    /// From feature 1 to feature 2, where the behaviour acts like the target: TD(0) diverges, and so would a correction that saw
    /// only ζx, which is zero throughout.
    #[test]
    fn values_converge_where_td_diverges() {
        let policy = DeterministicLinear { features: Features::dense(1) };
        let critic = critic(Features::dense(1), 0.02, 0.02, 0.2);
        let mut learner = dpg(policy, critic).alpha(0.0).build().unwrap();
        let step = Step::between([1.0], 0.0, [2.0]);
        for _ in 0..5000 {
            learner.step(&step).unwrap();
        }
        // v = 1 + 0.9 · 2 v.
        let [v, u] = learner.critic().weights()[..] else { panic!("one feature") };
        assert!((v + 1.25).abs() < 1e-9 && u == 0.0, "{v} {u}");
    }

    /// E[σ(a)] and E[σ′(a)] under the behaviour N(1, 1).
    const RIGHT: f64 = 0.6967346701436835;
    const SLOPE: f64 = 0.1779433801648659;

    /// The mean of the critic's weights over the second half of many steps, with the policy held where it is.
    fn learned(features: Table, policy: [f64; 2]) -> Vec<f64> {
        let task = ContinuousCounterexample::default();
        let critic = critic(features, 0.005, 0.005, 0.005);
        let learner = dpg(task.deterministic(), critic).alpha(0.0).build().unwrap();
        let mut learner = learner.with_weights(policy.to_vec()).unwrap();
        let n = 200_000;
        let mut mean = vec![0.0; learner.critic().weights().len()];
        for (t, step) in task.stream(1, 0).take(2 * n).enumerate() {
            learner.step(&step).unwrap();
            if t >= n {
                mean.iter_mut().zip(&learner.critic().weights).for_each(|(m, w)| *m += w / n as f64);
            }
        }
        mean
    }

    fn assert_near(got: &[f64], expected: &[f64]) {
        let near = got.iter().zip(expected).all(|(x, y)| (x - y).abs() < 0.01);
        assert!(got.len() == expected.len() && near, "{got:?} is not {expected:?}");
    }

    /// Each state's line through what follows the behaviour's actions: its slope is the mean of the slopes, and its height at
    /// π(s) is extrapolated.
    #[test]
    fn the_slope_is_that_of_a_line_through_the_behaviours_actions() {
        for policy in [[0.0, 0.0], [2.0, 1.5]] {
            let beyond = policy[1] - 1.0;
            let left = 2.0 * (1.0 - RIGHT) - 2.0 * SLOPE * beyond;
            let right = RIGHT + SLOPE * beyond;
            let rise = right - left;
            let first = left + rise * (RIGHT + SLOPE * (policy[0] - 1.0));
            let expected = [first, SLOPE * rise, left, -2.0 * SLOPE, right, SLOPE];
            assert_near(&learned(Table::aliased(&[0, 1, 2]), policy), &expected);
        }
        // With the actor's features the two states share one line, and S0 sees no difference between them.
        let share = 3.0 * RIGHT - 2.0;
        let both = (1.0 - RIGHT) * 2.0 * (1.0 - RIGHT) + RIGHT * RIGHT - SLOPE * share;
        assert_near(&learned(Table::aliased(&[0, 1, 1]), [0.0, 0.0]), &[both, 0.0, both, SLOPE * share]);
    }

    /// With a critic that tells the states apart and has learned before the actor starts, learners end where those with the
    /// exact critic do: DPG at the suboptimal end of the aliased action, True-DPGE at the optimum.
    #[test]
    fn learners_end_where_they_do_with_the_exact_critic() {
        let task = Arc::new(ContinuousCounterexample::default());
        let policy = || task.deterministic();
        let critic = || critic(Table::one_hot(3), 0.003, 0.003, 0.003);
        let exact = || ExactCritic::new(task.clone(), &policy()).unwrap();
        for run in 0..3 {
            let mut first = dpg(policy(), critic()).alpha(0.0).build().unwrap();
            for step in task.stream(1, 100 + run).take(20_000) {
                first.step(&step).unwrap();
            }
            let critic_learned = SavedState::without_settings(first.state().unwrap().into_tensors());
            let mut learners: [Box<dyn Learner<f64>>; 4] = [
                Box::new(dpg(policy(), critic()).alpha(0.03).build().unwrap()),
                Box::new(true_dpge(task.clone(), policy(), critic()).alpha(0.03).build().unwrap()),
                Box::new(dpg(policy(), exact()).alpha(0.03).build().unwrap()),
                Box::new(true_dpge(task.clone(), policy(), exact()).alpha(0.03).build().unwrap()),
            ];
            learners[..2].iter_mut().for_each(|learner| learner.restore(&critic_learned).unwrap());
            for step in task.stream(1, run).take(20_000) {
                learners.iter_mut().for_each(|learner| _ = learner.update(&step).unwrap());
            }
            let weights = learners.each_ref().map(|learner| learner.weights());
            let [j, j_emphatic, known, known_emphatic] =
                weights.map(|weights| Exact::new(&*task, &policy(), weights).unwrap().objective());
            assert!((j - known).abs() < 0.05 && weights[0][1] > 0.0, "{j} {known}");
            let (j, known) = (j_emphatic, known_emphatic);
            assert!((j - known).abs() < 0.01 && known > 1.29, "{j} {known}");
        }
    }
}
