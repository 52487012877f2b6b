//! Why a problem, a policy in it or its solution is refused.

use super::Key;
use crate::features::FeatureError;
use emphatic_text::message;
use thiserror::Error;

/// Why something is not a decision problem, or not one that can be solved or learned in.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ProblemError {
    /// No states or no actions.
    #[error("a problem needs at least one {0}")]
    Nothing(&'static str),
    /// Two states or two actions of the same name.
    #[error("there are two {kind}s named '{}'", message(name))]
    Twice {
        /// `state` or `action`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A state or action that was not declared.
    #[error("{}", message(&format!("there is no {kind} {key}; there are {known}")))]
    Unknown {
        /// `state` or `action`.
        kind: &'static str,
        /// The name or number that was given.
        key: Key,
        /// The names that there are.
        known: String,
    },
    /// A number out of its range.
    #[error("{} is {value}; {right}", message(what))]
    Number {
        /// What it is the value of.
        what: String,
        /// The value.
        value: f64,
        /// The values that are allowed.
        right: &'static str,
    },
    /// Probabilities that do not sum to one.
    #[error("{} sum to {sum}; they must sum to 1", message(what))]
    Sum {
        /// What they are the probabilities of.
        what: String,
        /// Their sum.
        sum: f64,
    },
    /// An action that leads nowhere.
    #[error("action '{}' is missing in state '{}': it has no transition", message(action), message(state))]
    Missing {
        /// The state.
        state: String,
        /// The action.
        action: String,
    },
    /// No start state.
    #[error("the problem has no start: give at least one state a start probability")]
    NoStart,
    /// A table that does not have one row for each state, or one column for each action.
    #[error("{} has length {got}; it must have length {right}", message(what))]
    Shape {
        /// Which table.
        what: String,
        /// Its length.
        got: usize,
        /// The right length.
        right: usize,
    },
    /// The behaviour's stationary distribution depends on where it starts.
    #[error(
        "the behaviour has more than one stationary distribution: once in '{}' it never comes to '{}', and the other way round",
        message(.0),
        message(.1)
    )]
    Stationary(String, String),
    /// The target policy never ends and is not discounted, so values are infinite or undefined.
    #[error(
        "under the target policy, I − P_{{π,γ}} is singular: from '{}' an episode never ends and nothing is discounted",
        message(.0)
    )]
    NeverEnds(String),
    /// The target's stationary distribution depends on where it starts.
    #[error(
        "the target has more than one stationary distribution: once in '{}' it never comes to '{}', and the other way round",
        message(.0),
        message(.1)
    )]
    TargetStationary(String, String),
    /// A trace that does not fade, so that it has no limit.
    #[error("a trace that starts in '{}' never fades: no episode ends, and nothing is discounted", message(.0))]
    NeverFades(String),
    /// A trace that fades so slowly that it cannot be summed up.
    #[error("a trace that starts in '{}' fades too slowly to be summed up: episodes are too long", message(.0))]
    FadesSlowly(String),
    /// A target that cannot be followed through the behaviour's experience.
    #[error("in '{}' the target takes an action that the behaviour never does", message(.0))]
    Unobserved(String),
    /// A linear system without a unique solution.
    #[error("the key matrix of {0} is singular: its expected update has no fixed point, or many")]
    Singular(&'static str),
    /// An estimate of the emphasis that is negative in some state, where it is read through a return that looks further back than one step.
    #[error(
        "û is negative in some state, where F_t is read as the interest: its mean is known only for λ_e = 0 and 1"
    )]
    NegativeEmphasis,
    /// A model of features whose values are not known here.
    #[error(
        "what the critic `model` learns is known only if each state has one feature, and the target is the same in states that share it"
    )]
    ModelOfFeatures,
    /// Too many states that lead to too many others for the problem to be solved.
    #[error(
        "eliminating the {states} states one by one would fill more than {most} entries of a matrix: too many lead to too many others"
    )]
    Fill {
        /// How many states there are.
        states: usize,
        /// How many entries may be filled, on either side of the diagonal.
        most: usize,
    },
    /// Numbers too large to compute with.
    #[error("the value or the emphatic weighting of '{}' is too large to compute with", message(.0))]
    NotFinite(String),
    /// A number of weights that is not the policy's.
    #[error("{got} weights for a policy that has {right}")]
    Weights {
        /// How many were given.
        got: usize,
        /// How many the policy has.
        right: usize,
    },
    /// A weight that is not a number.
    #[error("weight {index} is {value}; weights must be finite")]
    Weight {
        /// Which weight.
        index: usize,
        /// Its value.
        value: f64,
    },
    /// A policy whose number of actions is not the problem's.
    #[error("the policy has {got} actions; the problem has {right}")]
    Actions {
        /// The policy's.
        got: usize,
        /// The problem's.
        right: usize,
    },
    /// Features that do not fit.
    #[error(transparent)]
    Features(#[from] FeatureError),
}
