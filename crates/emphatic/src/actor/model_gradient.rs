//! The gradient of the values, solved for from a model.

use super::{Actions, ActorInput, ActorRule, ascend};
use crate::action::number;
use crate::catalogue::{Extent, Need, Role, Signal, Size};
use crate::expectation_model::ExpectationModel;
use crate::linear_system::{Due, eliminate};
use crate::part::SeenScratch;
use crate::settings::settings;
use crate::{
    ActionCritic, AnyPolicy, Built, ComposeError, Declaration, Declared, Features, PartBuilder, Real, Row,
    Seen, SettingError, Settings, State, StateError, Step, Visitor,
};

settings! {
    ModelGradient<R>(features, actions: usize) => ModelGradientBuilder;
    solve_every: Count = 100.0, "after how many steps G is solved for anew; also where an episode starts";
}

impl Declared for ModelGradient {
    const DECLARATION: Declaration = Declaration {
        source: "here",
        settings: SETTINGS,
        features: true,
        signals: &[Signal::Advantages],
        needs: &[Need::Finite, Need::Table],
        ..Declaration::new(
            Role::Actor,
            "model-gradient",
            "ModelGradient",
            "θ follows Ĝ(S_t) = ∇v_π(S_t), solved for from a learned model of γ_{t+1} x_{t+1}, the critic and the current policy, without ratios",
        )
    };

    fn size(of: &Extent) -> Size {
        let (square, weights) = (of.features * of.features, of.weights);
        Size {
            in_lanes: square + of.features * (2.0 * weights + 1.0) + weights + 4.0 * of.actions,
            shared: square * (3.0 + 3.0 * of.actions) + of.features * weights + of.states,
        }
    }

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.actor_by_actions(ModelGradient::new(with.features()?, with.actions()?, with.settings())?)
    }
}

/// The ridge by which G is drawn to 0.
const RIDGE: f64 = 1e-3;

/// θ ← θ + α M_t Ĝ(S_t), where Ĝ(s) = Gᵀx(s) is the gradient of v_π by a model B̂(s,b) = W_b x(s) of E[γ_{t+1} x_{t+1} | S_t = s, A_t = b]:
///
/// ```text
/// Σ_s N(s) x(s) (x(s) − Σ_b π(b|s) B̂(s,b))ᵀ G = Σ_s N(s) x(s) g(s)ᵀ
/// g(s) = Σ_b π(b|s) q̂(s,b) ∇ ln π(b|s)
/// ```
///
/// Here N(s) counts the visits of a state, π is the current policy, and q̂ the critic's. With a feature for each state this is (I − P̂_{π,γ}) G = g: the dual of the model emphasis, with the
/// same expectation and less noise. No ratio enters, and the model does not depend on the policy, so nothing is forgotten. G is solved for where an episode starts
/// and after `solve_every` steps. States need numbers: features of the actor and of the policy must be tables.
#[derive(Clone, Debug)]
pub struct ModelGradient<R = f64> {
    features: Features,
    settings: Settings<R>,
    model: ExpectationModel,
    visits: Vec<f64>,
    /// A row for each feature, as long as the policy's weights.
    g: Vec<R>,
    of_policy: Features,
    due: Due,
    scratch: SeenScratch,
    of_critic: SeenScratch,
    now: Actions<R>,
    next: Actions<R>,
    gradient: Vec<R>,
    /// Room for B̂(s,π), for the equations in lanes, and for those of one lane.
    expected: Vec<R>,
    equations: Vec<R>,
    room: Vec<f64>,
}

impl<R: Real> ModelGradient<R> {
    fn new(features: Features, actions: usize, settings: Settings<R>) -> Result<Self, SettingError> {
        let states = if let Features::Table(table) = &features { table.states() } else { 0 };
        Ok(Self {
            model: ExpectationModel::new(features.len(), actions),
            visits: vec![0.0; states],
            g: Vec::new(),
            of_policy: Features::one_hot(0),
            due: Due::new(&settings)?,
            scratch: SeenScratch::of(&features),
            of_critic: SeenScratch::default(),
            now: Actions::new(actions),
            next: Actions::new(actions),
            gradient: Vec::new(),
            expected: vec![R::zero(); features.len()],
            equations: Vec::new(),
            room: Vec::new(),
            features,
            settings,
        })
    }

    /// The length of an equation: a number for each feature and each weight of the policy.
    fn width(&self) -> usize {
        self.features.len() + self.gradient.len()
    }

    /// Asks for the probabilities and advantages of the actions in S_t.
    #[inline(always)]
    fn ask(
        &mut self,
        policy: &mut dyn AnyPolicy<R>,
        weights: &[R],
        x: Row,
        critic: &mut dyn ActionCritic<R>,
        seen: &Seen,
    ) {
        self.now.ask(policy, weights, x);
        critic.advantages(seen, &self.now.probabilities, &mut self.now.advantages);
    }

    /// Solves for G. Returns the sum of [`Real::nan_unless_finite`] over what it changed.
    #[inline(never)]
    fn solve(&mut self, policy: &mut dyn AnyPolicy<R>, weights: &[R], critic: &mut dyn ActionCritic<R>) -> R {
        self.model.solve();
        let (len, width) = (self.features.len(), self.width());
        self.equations.fill(R::zero());
        for state in 0..self.visits.len() {
            if self.visits[state] > 0.0 {
                self.add_state(state, policy, weights, critic);
            }
        }
        for lane in 0..R::LANES {
            self.room.iter_mut().zip(&self.equations).for_each(|(room, x)| *room = x.lane(lane));
            (0..len).for_each(|k| self.room[k * width + k] += RIDGE);
            if eliminate(&mut self.room, width) {
                let solved = self.room.chunks_exact(width).flat_map(|row| &row[len..]);
                self.g.iter_mut().zip(solved).for_each(|(g, x)| *g = g.with_lane(lane, *x));
            }
        }
        let mut sum = R::zero();
        self.g.iter().for_each(|g| sum += g.nan_unless_finite());
        sum
    }

    /// Adds what a state contributes to the equations.
    fn add_state(
        &mut self,
        state: usize,
        policy: &mut dyn AnyPolicy<R>,
        weights: &[R],
        critic: &mut dyn ActionCritic<R>,
    ) {
        let (len, width) = (self.features.len(), self.width());
        let x_policy = self.of_policy.of_number(state);
        let step = Step::in_state(State::Number(state));
        let features = critic.features().cloned();
        let seen = Seen::new(&step, features.as_ref(), &mut self.of_critic);
        self.now.ask(policy, weights, x_policy);
        critic.advantages(&seen, &self.now.probabilities, &mut self.now.advantages);
        self.gradient.fill(R::zero());
        self.now.add_gradient(policy, x_policy, R::one(), &mut self.gradient);
        let x = self.features.of_number(state);
        self.model.expect(x, self.now.probabilities.iter().copied(), &mut self.expected);
        for (j, y) in x.iter() {
            let scale = R::splat(self.visits[state] * y);
            let row = &mut self.equations[j * width..][..width];
            x.iter().for_each(|(k, x)| row[k] += scale * R::splat(x));
            let (matrix, rhs) = row.split_at_mut(len);
            matrix.iter_mut().zip(&self.expected).for_each(|(cell, b)| *cell -= scale * *b);
            rhs.iter_mut().zip(&self.gradient).for_each(|(cell, g)| *cell += scale * *g);
        }
    }
}

impl<R: Real> ActorRule<R, dyn ActionCritic<R>> for ModelGradient<R> {
    fn all_features(&self) -> Vec<&Features> {
        vec![&self.features]
    }

    fn set_policy(&mut self, policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError> {
        let (Features::Table(own), Features::Table(of_policy)) = (&self.features, policy.features()) else {
            let message = "the actor `model-gradient` needs states with numbers: features that are a table";
            return Err(ComposeError::Incompatible(message.to_owned()));
        };
        if own.states() != of_policy.states() {
            return Err(ComposeError::Policy);
        }
        let (len, weights) = (self.features.len(), policy.weights());
        self.g = vec![R::zero(); len * weights];
        self.gradient = vec![R::zero(); weights];
        let width = self.width();
        self.equations = vec![R::zero(); len * width];
        self.room = vec![0.0; len * width];
        self.of_policy = policy.features().clone();
        Ok(())
    }

    fn learn(&mut self, input: ActorInput<R>, critic: &mut (dyn ActionCritic<R> + 'static)) -> [R; 2] {
        let ActorInput { policy, weights, step_size, x, x_next, step, seen, rho, emphasis } = input;
        let mut changed = R::zero();
        // Asked about this very step first, a critic that solves for its values does so now, before G is solved for from them.
        self.ask(policy, weights, x, critic, &seen);
        if self.due.is_now(&seen) {
            changed += self.solve(policy, weights, critic);
            self.ask(policy, weights, x, critic, &seen);
        }
        self.due.count();
        if step.gamma_next > 0.0 {
            self.next.ask(policy, weights, x_next);
        }
        changed += critic.learn(&seen, &self.now.probabilities, &self.next.probabilities, rho);
        let own = Seen::new(step, Some(&self.features), &mut self.scratch);
        self.model.observe(&own);
        self.visits[own.number()] += 1.0;
        self.gradient.fill(R::zero());
        for (k, x) in own.x.iter() {
            let x = R::splat(x);
            let row = &self.g[k * self.gradient.len()..];
            self.gradient.iter_mut().zip(row).for_each(|(out, g)| *out += x * *g);
        }
        changed += ascend(weights, step_size, emphasis, &self.gradient);
        [self.now.advantages[number(step.action)], changed]
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.features(&self.features)?;
        visitor.settings(&self.settings)?;
        visitor.estimate("g", self.g.iter_mut())?;
        visitor.shared("visits", &mut self.visits)?;
        self.model.tensors(visitor)?;
        self.due.tensors(visitor)
    }
}
