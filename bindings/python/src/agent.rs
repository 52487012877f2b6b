//! A learner whose kind is known only when the program runs.

use crate::columns::{Action, Columns, OneAction, Seen, State, Typed};
use crate::error::OrRaise;
use crate::form::{Node, Writable};
use emphatic::learner::{ActionOf, SeenBy};
use emphatic::{
    ActionValues, Compatible, Either, ExactCritic, Gtd, InLanes, Isa, Kernel, LearnError, LearnedAdvantage,
    Learner, Normal, Policy, Real, Step, StochasticPolicy, Update,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;

/// Learns from batches; one learner, or several in lanes.
pub(crate) trait Trainee: Send {
    /// Learns from some of the steps.
    fn learn(&mut self, columns: Columns, range: Range<usize>) -> PyResult<()>;

    /// The states of the learners in the first lanes.
    fn lanes(&self, count: usize) -> Vec<LaneState>;
}

/// The state of one learner, of a type that such a learner knows.
pub(crate) type LaneState = Box<dyn Any + Send>;

/// One learner.
pub(crate) trait Agent: Trainee {
    fn boxed_clone(&self) -> Box<dyn Agent>;

    fn step(&mut self, step: &Step<Seen, OneAction>) -> PyResult<Update<f64>>;

    /// The probabilities of a softmax, the mean and the deviation of a Gaussian, or the action.
    fn distribution(&self, state: Seen) -> PyResult<Vec<f64>>;

    /// π(a|s).
    fn probability(&self, state: Seen, action: OneAction) -> PyResult<f64>;

    fn weights(&self) -> &[f64];

    fn set_weights(&mut self, weights: Vec<f64>) -> PyResult<()>;

    /// What the critic has learned, by name.
    fn critic_weights(&self) -> Named<f64>;

    fn steps(&self) -> u64;

    fn diverged(&self) -> Option<u64>;

    /// The whole state, with γ of the next step.
    fn state(&self, gamma: f64) -> Box<dyn Writable>;

    /// Goes on from the state of a learner that was in a lane.
    fn take(&mut self, state: LaneState) -> PyResult<()>;

    fn restore(&mut self, state: Node) -> PyResult<()>;
}

/// A learner of a kind that is known.
pub(crate) struct Held<R, L> {
    learner: L,
    number: PhantomData<R>,
}

impl<R, L> Held<R, L> {
    pub(crate) fn new(learner: L) -> Self {
        Self { learner, number: PhantomData }
    }
}

/// Some steps as one piece of work.
struct Teach<'a, L: Learner>
where
    SeenBy<L>: State,
{
    learner: &'a mut L,
    columns: Typed<'a, SeenBy<L>, ActionOf<L>>,
    range: Range<usize>,
}

impl<L: Learner<Policy: Policy<State: State, Action: Action>>> Kernel for Teach<'_, L> {
    type Output = Result<(), LearnError>;

    #[inline(always)]
    fn run(self) -> Self::Output {
        for index in self.range {
            let step = self.columns.step(index);
            self.learner.step(&step).map_err(|source| LearnError { index, source })?;
        }
        Ok(())
    }
}

/// What every composition of parts can do.
pub(crate) trait Composition<R>:
    Learner<
        Number = R,
        Policy: Acting<State: State, Action: Action>,
        Critic: Estimates<R>,
        State: InLanes<One: Send + 'static> + Send + 'static,
    > + Clone
    + Send
    + 'static
{
}

impl<R, L> Composition<R> for L where
    L: Learner<
            Number = R,
            Policy: Acting<State: State, Action: Action>,
            Critic: Estimates<R>,
            State: InLanes<One: Send + 'static> + Send + 'static,
        > + Clone
        + Send
        + 'static
{
}

impl<R: Real, L: Composition<R>> Trainee for Held<R, L> {
    fn learn(&mut self, columns: Columns, range: Range<usize>) -> PyResult<()> {
        let columns = Typed::new(columns)?;
        Isa::best().run(Teach { learner: &mut self.learner, columns, range }).or_raise()
    }

    fn lanes(&self, count: usize) -> Vec<LaneState> {
        let state = self.learner.state();
        (0..count).map(|lane| Box::new(state.lane(lane)) as LaneState).collect()
    }
}

impl<L: Composition<f64>> Agent for Held<f64, L> {
    fn boxed_clone(&self) -> Box<dyn Agent> {
        Box::new(Held::new(self.learner.clone()))
    }

    fn step(&mut self, step: &Step<Seen, OneAction>) -> PyResult<Update<f64>> {
        let state = <SeenBy<L>>::one(step.state).ok_or_else(other_kind)?;
        let step = Step {
            state,
            action: <ActionOf<L>>::one(step.action).ok_or_else(other_kind)?,
            mu: step.mu,
            reward: step.reward,
            next: <SeenBy<L>>::one(step.next).ok_or_else(other_kind)?,
            gamma: step.gamma,
            gamma_next: step.gamma_next,
            interest: step.interest,
        };
        self.learner.step(&step).or_raise()
    }

    fn distribution(&self, state: Seen) -> PyResult<Vec<f64>> {
        let state = <SeenBy<L>>::one(state).ok_or_else(other_kind)?;
        Ok(<L::Policy as Acting>::numbers(self.learner.actor().distribution(state).or_raise()?))
    }

    fn probability(&self, state: Seen, action: OneAction) -> PyResult<f64> {
        let state = <SeenBy<L>>::one(state).ok_or_else(other_kind)?;
        let action = <ActionOf<L>>::one(action).ok_or_else(other_kind)?;
        let actor = self.learner.actor();
        actor.policy().check_action(action).or_raise()?;
        let at = actor.distribution(state).or_raise()?;
        actor.policy().probability_of(&at, action)
    }

    fn weights(&self) -> &[f64] {
        self.learner.weights()
    }

    fn set_weights(&mut self, weights: Vec<f64>) -> PyResult<()> {
        // Weights that do not fit would take the learner with them.
        self.learner = self.learner.clone().with_weights(weights).or_raise()?;
        Ok(())
    }

    fn critic_weights(&self) -> Named<f64> {
        self.learner.critic().estimates()
    }

    fn steps(&self) -> u64 {
        self.learner.steps()
    }

    fn diverged(&self) -> Option<u64> {
        self.learner.diverged(0)
    }

    fn state(&self, gamma: f64) -> Box<dyn Writable> {
        Box::new(Whole { gamma, learner: self.learner.state() })
    }

    fn take(&mut self, state: LaneState) -> PyResult<()> {
        let state = state.downcast::<L::State>().map_err(|_| other_kind())?;
        self.learner.restore(*state).or_raise()
    }

    fn restore(&mut self, state: Node) -> PyResult<()> {
        let unread =
            |error| PyValueError::new_err(format!("this is not the state of such a learner: {error}"));
        self.learner.restore(L::State::deserialize(state).map_err(unread)?).or_raise()
    }
}

/// All of a learner that changes.
#[derive(Serialize)]
struct Whole<S> {
    gamma: f64,
    learner: S,
}

fn other_kind() -> PyErr {
    PyTypeError::new_err("the state or the action is of another kind than the learner's")
}

/// Policies that can be asked how they act.
pub(crate) trait Acting: Policy {
    fn numbers(at: Self::Distribution<f64>) -> Vec<f64>;

    /// π(a|s), if the policy has one.
    fn probability_of(&self, at: &Self::Distribution<f64>, action: Self::Action) -> PyResult<f64>;
}

impl<F: emphatic::Features> Acting for emphatic::Softmax<F> {
    fn numbers(at: Vec<f64>) -> Vec<f64> {
        at
    }

    fn probability_of(&self, at: &Vec<f64>, action: usize) -> PyResult<f64> {
        Ok(self.probability(at, action))
    }
}

impl<F: emphatic::Features> Acting for emphatic::Gaussian<F> {
    fn numbers(at: Normal<f64>) -> Vec<f64> {
        vec![at.mean, at.standard_deviation]
    }

    fn probability_of(&self, at: &Normal<f64>, action: f64) -> PyResult<f64> {
        Ok(self.probability(at, action))
    }
}

impl<F: emphatic::Features> Acting for emphatic::DeterministicLinear<F> {
    fn numbers(at: f64) -> Vec<f64> {
        vec![at]
    }

    fn probability_of(&self, _: &f64, _: f64) -> PyResult<f64> {
        Err(PyTypeError::new_err("a deterministic policy has no probabilities; `action(x)` is what it does"))
    }
}

/// What a critic has learned, by the names of the equations.
pub(crate) type Named<R> = Vec<(&'static str, Vec<R>)>;

/// Critics whose weights can be looked at.
pub(crate) trait Estimates<R> {
    fn estimates(&self) -> Named<R>;
}

impl<R: Real, F: emphatic::Features> Estimates<R> for Gtd<R, F> {
    fn estimates(&self) -> Named<R> {
        vec![("v", self.weights())]
    }
}

impl<R: Real, F: emphatic::Features, V: Estimates<R>> Estimates<R> for ActionValues<R, F, V> {
    fn estimates(&self) -> Named<R> {
        let mut all = vec![("q", self.weights())];
        all.extend(self.baseline().estimates());
        all
    }
}

impl<R: Real, F: emphatic::Features, V: Estimates<R>> Estimates<R> for LearnedAdvantage<R, F, V> {
    fn estimates(&self) -> Named<R> {
        let mut all = vec![("u", self.weights())];
        all.extend(self.values().estimates());
        all
    }
}

impl<R: Real, F: emphatic::Features> Estimates<R> for Compatible<R, F> {
    fn estimates(&self) -> Named<R> {
        let pairs = self.weights();
        let every_second = |first: usize| pairs.iter().skip(first).step_by(2).copied().collect();
        vec![("v", every_second(0)), ("u", every_second(1))]
    }
}

impl<R: Real, M, P: Policy> Estimates<R> for ExactCritic<R, M, P> {
    fn estimates(&self) -> Named<R> {
        Vec::new()
    }
}

impl<R, A: Estimates<R>, B: Estimates<R>> Estimates<R> for Either<A, B> {
    fn estimates(&self) -> Named<R> {
        match self {
            Self::First(critic) => critic.estimates(),
            Self::Second(critic) => critic.estimates(),
        }
    }
}
