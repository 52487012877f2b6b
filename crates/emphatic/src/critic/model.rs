//! A one-step model, and the values that follow from it.

use super::ActionCritic;
use super::pairs::{advantages, expected_value};
use crate::action::number;
use crate::catalogue::{Extent, Role, Signal, Size};
use crate::linear_system::{Due, eliminate};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, Seen, SettingError,
    Settings, StateError, Visitor,
};

settings! {
    ModelCritic<R>(features, actions: usize) => ModelCriticBuilder;
    solve_every: Count = 100.0, "after how many steps v is solved for anew; also where an episode starts";
}

impl Declared for ModelCritic {
    const DECLARATION: Declaration = Declaration {
        source: "Sutton, Szepesvári, Geramifard and Bowling 2008; Parr et al. 2008",
        signals: &[Signal::Advantages],
        settings: SETTINGS,
        features: true,
        ..Declaration::new(
            Role::Critic,
            "model",
            "ModelCritic",
            "q̂(s,b) from a learned one-step model, with the policy as it was when a feature was last active: no ratio, no step-size; for one-hot features or tiles",
        )
    };

    fn size(of: &Extent) -> Size {
        let (d, actions) = (of.features, of.actions);
        Size { in_lanes: d * (actions + 1.0), shared: d * (2.0 * d * actions + d + actions + 3.0) }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.action_critic(ModelCritic::new(with.features()?, with.actions()?, with.settings())?)
    }
}

/// The variance of the model's weights before any step, P_0 = 100 I.
const PRIOR: f64 = 100.0;

/// q̂ from a one-step model, linear in the features of the state, and the policy (linear Dyna: Sutton et al. 2008; Parr et al. 2008).
///
/// The model has a regression for each action a, by recursive least squares from the steps on which a was taken:
///
/// ```text
/// r̂(s,a) = r_a·x(s)          B̂(s,a) = B_a x(s), the mean of γ_{t+1} x_{t+1}
/// k = P_a x_t / (1 + x_tᵀ P_a x_t)          P_a ← P_a − k x_tᵀ P_a,  P_a = 100 I at first
/// r_a ← r_a + (R_{t+1} − r̂) k          B_a ← B_a + (γ_{t+1} x_{t+1} − B̂) kᵀ
/// ```
///
/// With one-hot features these are means over the n times that a was taken in s, drawn a little to zero: n + 1/100 takes the place of n. The model does not depend on the policy, so it forgets nothing; learners in lanes
/// share it. The values are those of the policy where each feature j was last active, p_j:
///
/// ```text
/// p_j ← p_j + (π(·|S_t) − p_j) x_j² / |x_t|²
/// v_j = Σ_b p_j(b) (r_b[j] + B_b[·,j]·v)
/// q̂(s,b) = r̂(s,b) + B̂(s,b)·v
/// ```
///
/// v is solved for where an episode starts and after `solve_every` steps, from all steps before, and before it is read. The baseline is v̂(s) = Σ_b π(b|s) q̂(s,b).
///
/// It is meant for features of which one is active, or a few that tell states apart (tile coding): where features are shared by states in which the policy differs much, p_j is a mean. An action that was never taken has r̂ = 0
/// and B̂ = 0. For d features and k actions it costs 2kd² numbers, up to d² operations a step (d where features are one-hot), and d³ a solution.
#[derive(Clone, Debug)]
pub struct ModelCritic<R = f64> {
    features: Features,
    actions: usize,
    settings: Settings<R>,
    models: Vec<Regression>,
    /// p: the probability of action b for feature j is number `j · actions + b`.
    policy: Vec<R>,
    v: Vec<R>,
    due: Due,
    changed: R,
    /// Room for P x and for an error.
    px: Vec<f64>,
    error: Vec<f64>,
    /// Room for the equations of one lane.
    room: Vec<f64>,
}

/// The model of one action.
#[derive(Clone, Debug)]
struct Regression {
    /// P, which is symmetric.
    p: Vec<f64>,
    r: Vec<f64>,
    /// B, column by column: what feature j leads to.
    b: Vec<f64>,
}

impl Regression {
    fn new(len: usize) -> Self {
        let mut p = vec![0.0; len * len];
        (0..len).for_each(|j| p[j * len + j] = PRIOR);
        Self { p, r: vec![0.0; len], b: vec![0.0; len * len] }
    }

    /// Learns from a step. `px` and `error` are room. Returns the sum of [`Real::nan_unless_finite`] over what it changed.
    fn learn(&mut self, step: &Seen, px: &mut [f64], error: &mut [f64]) -> f64 {
        let len = px.len();
        px.fill(0.0);
        error.fill(0.0);
        let mut reward = step.reward;
        for (j, x) in step.x.iter() {
            for (px, p) in px.iter_mut().zip(&self.p[j * len..]) {
                *px += p * x;
            }
            for (error, b) in error.iter_mut().zip(&self.b[j * len..]) {
                *error -= b * x;
            }
            reward -= self.r[j] * x;
        }
        // The next state lists no features where an episode ends.
        for (j, x) in step.x_next.iter() {
            error[j] += step.gamma_next * x;
        }
        let mut spread = 1.0;
        for (j, x) in step.x.iter() {
            spread += px[j] * x;
        }
        let mut sum = 0.0;
        for (j, of_j) in px.iter().enumerate().filter(|(_, px)| **px != 0.0) {
            let k = of_j / spread;
            for (p, px) in self.p[j * len..].iter_mut().zip(&*px) {
                *p -= k * px;
            }
            for (b, error) in self.b[j * len..].iter_mut().zip(&*error) {
                *b += error * k;
                sum += b.nan_unless_finite();
            }
            self.r[j] += reward * k;
            sum += self.r[j].nan_unless_finite();
        }
        sum
    }
}

impl<R: Real> ModelCritic<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        let len = features.len();
        Ok(Self {
            models: vec![Regression::new(len); actions],
            policy: vec![R::one() / R::splat(actions as f64); len * actions],
            v: vec![R::zero(); len],
            due: Due::new(&settings)?,
            changed: R::zero(),
            px: vec![0.0; len],
            error: vec![0.0; len],
            room: vec![0.0; len * (len + 1)],
            features,
            actions,
            settings,
        })
    }

    /// A copy of v: the value of each feature.
    pub fn values(&self) -> Vec<R> {
        self.v.clone()
    }

    #[inline(always)]
    fn solve_if_due(&mut self, step: &Seen) {
        if self.due.is_now(step) {
            self.solve();
        }
    }

    /// Solves for v. Where there is no solution, it stays as it is.
    #[inline(never)]
    fn solve(&mut self) {
        let len = self.v.len();
        for lane in 0..R::LANES {
            for (j, row) in self.room.chunks_exact_mut(len + 1).enumerate() {
                row.fill(0.0);
                for (model, p) in self.models.iter().zip(&self.policy[j * self.actions..]) {
                    let p = p.lane(lane);
                    for (cell, b) in row.iter_mut().zip(&model.b[j * len..][..len]) {
                        *cell -= p * b;
                    }
                    row[len] += p * model.r[j];
                }
                row[j] += 1.0;
            }
            if eliminate(&mut self.room, len + 1) {
                for (v, row) in self.v.iter_mut().zip(self.room.chunks_exact(len + 1)) {
                    *v = v.with_lane(lane, row[len]);
                }
            }
        }
        self.v.iter().for_each(|v| self.changed += v.nan_unless_finite());
    }

    /// q̂(s,a).
    #[inline(always)]
    fn estimate(&self, x: Row, action: usize) -> R {
        let model = &self.models[action];
        let mut sum = R::zero();
        for (j, x) in x.iter() {
            let mut of_j = R::splat(model.r[j]);
            for (b, v) in model.b[j * self.v.len()..].iter().zip(&self.v) {
                of_j += R::splat(*b) * *v;
            }
            sum += of_j * R::splat(x);
        }
        sum
    }
}

impl<R: Real> Part<R> for ModelCritic<R> {
    fn features(&self) -> Option<&Features> {
        Some(&self.features)
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        visitor.estimate("v", self.v.iter_mut())?;
        visitor.numbers("policy", self.policy.iter_mut())?;
        for (action, model) in self.models.iter_mut().enumerate() {
            visitor.numbers(&format!("p.{action}"), model.p.iter_mut())?;
            visitor.numbers(&format!("r.{action}"), model.r.iter_mut())?;
            visitor.numbers(&format!("b.{action}"), model.b.iter_mut())?;
        }
        self.due.tensors(visitor)
    }
}

impl<R: Real> ActionCritic<R> for ModelCritic<R> {
    fn actions(&self) -> usize {
        self.actions
    }

    #[inline(always)]
    fn value(&mut self, step: &Seen, policy: &[R]) -> R {
        self.solve_if_due(step);
        expected_value(policy, |b| self.estimate(step.x, b))
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, policy: &[R], out: &mut [R]) {
        self.solve_if_due(step);
        advantages(policy, out, |b| self.estimate(step.x, b));
    }

    #[inline(always)]
    fn next_advantages(&mut self, step: &Seen, next: &[R], out: &mut [R]) {
        self.solve_if_due(step);
        advantages(next, out, |b| self.estimate(step.x_next, b));
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, policy: &[R], _next: &[R], _rho: R) -> R {
        self.solve_if_due(step);
        let Self { models, px, error, .. } = self;
        let sum = R::splat(models[number(step.action)].learn(step, px, error)) + self.changed;
        let square: f64 = step.x.iter().map(|(_, x)| x * x).sum();
        for (j, x) in step.x.iter().filter(|(_, x)| *x != 0.0) {
            let share = R::splat(x * x / square);
            for (p, pi) in self.policy[j * self.actions..].iter_mut().zip(policy) {
                *p += (*pi - *p) * share;
            }
        }
        self.changed = R::zero();
        self.due.count();
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::critic::testing::{Row, assert_near, episodes, learn_actions};

    use crate::{Action, LstdQ, Step};

    fn row(state: usize, action: usize, reward: f64, next: Option<usize>, gamma: f64) -> Row {
        let one_hot = |s: usize| (0..3).map(|j| f64::from(u8::from(j == s))).collect::<Vec<f64>>();
        let step = Step {
            state: one_hot(state),
            action: Action::Number(action),
            mu: 0.5,
            reward,
            next: one_hot(next.unwrap_or(0)),
            gamma,
            gamma_next: if next.is_some() { 0.5 } else { 0.0 },
            interest: 1.0,
        };
        Row { step, rho: 1.0, policy: [vec![0.25, 0.75], vec![0.25, 0.75]] }
    }

    #[test]
    fn by_hand() {
        let mut critic = ModelCritic::builder(Features::one_hot(3), 2).build().unwrap();
        let one_of = |n: f64| n / (n + 0.01);
        // From state 0 both actions lead to state 1, where action 0 pays 2 and action 1 ends with 4 and with 0.
        let rows = [
            row(0, 0, 1.0, Some(1), 0.0),
            row(1, 1, 4.0, None, 0.5),
            row(0, 1, 0.0, Some(1), 0.0),
            row(1, 0, 2.0, None, 0.5),
            row(0, 0, 1.0, Some(1), 0.0),
            row(1, 1, 0.0, None, 0.5),
            row(0, 0, 1.0, Some(1), 0.0),
        ];
        let advantages = learn_actions(&mut critic, &rows);
        let v_1 = 0.25 * 2.0 * one_of(1.0) + 0.75 * 2.0 * one_of(2.0);
        let q = [one_of(2.0) * (1.0 + 0.5 * v_1), one_of(1.0) * 0.5 * v_1];
        let v_0 = 0.25 * q[0] + 0.75 * q[1];
        assert_near(&critic.values(), &[v_0, v_1, 0.0], 1e-14);
        assert_near(&advantages[6], &[q[0] - v_0, q[1] - v_0], 1e-14);
    }

    /// With a feature for each state, and for a policy that stays, it is LSTD-Q, but for the ridge.
    #[test]
    fn for_a_fixed_policy_it_is_least_squares() {
        let features = Features::one_hot(4);
        let mut model = ModelCritic::builder(features.clone(), 2).build().unwrap();
        let mut lstd = LstdQ::builder(features.clone(), 2).build().unwrap();
        let mut last = (vec![], vec![]);
        for mut episode in episodes(&features, 400, 2.0) {
            for row in &mut episode {
                let of = |x: &[f64]| {
                    let p = 0.2 + 0.2 * x.iter().position(|x| *x == 1.0).unwrap() as f64;
                    vec![p, 1.0 - p]
                };
                row.policy = [of(&row.step.state), of(&row.step.next)];
            }
            last = (learn_actions(&mut model, &episode), learn_actions(&mut lstd, &episode));
        }
        // Both have just been solved for where an episode starts; after that the model goes on.
        assert_near(&last.0[0], &last.1[0], 1e-3);
    }
}
