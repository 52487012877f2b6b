//! Builds decision problems, and refuses what is not one.

use super::{Problem, Transition};
use crate::features::FeatureError;
use crate::theory::order::Lists;
use emphatic_text::message;
use std::collections::HashMap;
use std::fmt;
use thiserror::Error;

/// How far from one a sum of probabilities may be. What is nearer is scaled to one; what is further was
/// probably meant otherwise.
const SUM_TOLERANCE: f64 = 1e-9;

/// What is not a decision problem, or not one that can be learned in.
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
        /// What was asked for.
        key: Key,
        /// What there is.
        known: String,
    },
    /// A number out of its range.
    #[error("{} is {value}; {right}", message(what))]
    Number {
        /// What it is the value of.
        what: String,
        /// The value.
        value: f64,
        /// What would be right.
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
    /// So many states that lead to so many others that the problem is too large to solve.
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
    /// Weights of another number than the policy has.
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

/// A state or an action, by name or by number.
#[derive(Clone, Debug, PartialEq)]
pub enum Key {
    /// By name.
    Name(String),
    /// By number, from 0, in the order of declaration.
    Number(usize),
}

impl From<&str> for Key {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl From<String> for Key {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl From<usize> for Key {
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "'{name}'"),
            Self::Number(number) => write!(f, "number {number}"),
        }
    }
}

/// Where a transition leads before the start distribution is known.
#[derive(Clone, Debug)]
enum Target {
    State(Key),
    End,
}

#[derive(Clone, Debug)]
struct Draft {
    state: Key,
    action: Key,
    target: Target,
    probability: f64,
    reward: f64,
    gamma: f64,
}

/// Collects a problem's parts; [`ProblemBuilder::build`] checks them.
#[derive(Clone, Debug, Default)]
pub struct ProblemBuilder {
    states: Vec<String>,
    actions: Vec<String>,
    start: Vec<(Key, f64)>,
    drafts: Vec<Draft>,
}

impl ProblemBuilder {
    /// Adds states.
    pub fn states(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.states.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds actions. Every action exists in every state.
    pub fn actions(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.actions.extend(names.into_iter().map(Into::into));
        self
    }

    /// Lets episodes start in a state with this probability.
    pub fn start(mut self, state: impl Into<Key>, probability: f64) -> Self {
        self.start.push((state.into(), probability));
        self
    }

    /// Adds a transition (s, a, s′) with its probability, reward and γ.
    pub fn transition(
        mut self,
        state: impl Into<Key>,
        action: impl Into<Key>,
        next: impl Into<Key>,
        probability: f64,
        reward: f64,
        gamma: f64,
    ) -> Self {
        let target = Target::State(next.into());
        self.drafts.push(Draft {
            state: state.into(),
            action: action.into(),
            target,
            probability,
            reward,
            gamma,
        });
        self
    }

    /// Adds an end of the episode: a transition to the start distribution with γ = 0.
    pub fn end(
        mut self,
        state: impl Into<Key>,
        action: impl Into<Key>,
        probability: f64,
        reward: f64,
    ) -> Self {
        let (state, action) = (state.into(), action.into());
        self.drafts.push(Draft { state, action, target: Target::End, probability, reward, gamma: 0.0 });
        self
    }

    /// The problem, or what is wrong with it.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let states = Names::new("state", &self.states)?;
        let actions = Names::new("action", &self.actions)?;
        let start = start_distribution(&states, &self.start)?;

        let mut lists: Vec<Vec<Transition>> = vec![Vec::new(); self.states.len() * self.actions.len()];
        for draft in &self.drafts {
            let (s, a) = (states.find(&draft.state)?, actions.find(&draft.action)?);
            let place = || format!("from '{}' by '{}'", self.states[s], self.actions[a]);
            check_probability(draft.probability, || format!("the probability of a transition {}", place()))?;
            if !draft.reward.is_finite() {
                let what = format!("the reward of a transition {}", place());
                return Err(ProblemError::Number {
                    what,
                    value: draft.reward,
                    right: "rewards must be finite",
                });
            }
            if !(0.0..=1.0).contains(&draft.gamma) {
                let what = format!("gamma of a transition {}", place());
                return Err(ProblemError::Number {
                    what,
                    value: draft.gamma,
                    right: "it must lie between 0 and 1",
                });
            }
            let list = &mut lists[s * self.actions.len() + a];
            let Draft { probability, reward, gamma, .. } = *draft;
            match &draft.target {
                Target::State(next) => {
                    list.push(Transition { next: states.find(next)?, probability, reward, gamma })
                }
                Target::End => list.extend(start.iter().map(|&(next, share)| Transition {
                    next,
                    probability: probability * share,
                    reward,
                    gamma,
                })),
            }
        }
        for (k, list) in lists.iter_mut().enumerate() {
            let (state, action) =
                (&self.states[k / self.actions.len()], &self.actions[k % self.actions.len()]);
            if list.is_empty() {
                return Err(ProblemError::Missing { state: state.clone(), action: action.clone() });
            }
            let sum = check_sum(list.iter().map(|t| t.probability), || {
                format!("the probabilities of the transitions from '{state}' by '{action}'")
            })?;
            list.retain(|t| t.probability > 0.0);
            list.iter_mut().for_each(|t| t.probability /= sum);
        }
        Ok(Problem { states: self.states, actions: self.actions, start, transitions: Lists::new(lists) })
    }
}

fn start_distribution(states: &Names, start: &[(Key, f64)]) -> Result<Vec<(usize, f64)>, ProblemError> {
    let mut shares: Vec<(usize, f64)> = Vec::new();
    let mut known: Vec<Option<usize>> = vec![None; states.names.len()];
    for (key, probability) in start {
        let s = states.find(key)?;
        check_probability(*probability, || format!("the start probability of {key}"))?;
        match known[s] {
            Some(k) => shares[k].1 += probability,
            None => {
                known[s] = Some(shares.len());
                shares.push((s, *probability));
            }
        }
    }
    shares.retain(|&(_, share)| share > 0.0);
    if shares.is_empty() {
        return Err(ProblemError::NoStart);
    }
    let sum = check_sum(shares.iter().map(|s| s.1), || "the start probabilities".to_owned())?;
    shares.iter_mut().for_each(|(_, share)| *share /= sum);
    Ok(shares)
}

/// Refuses what is not a probability.
pub(super) fn check_probability(value: f64, what: impl FnOnce() -> String) -> Result<(), ProblemError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ProblemError::Number { what: what(), value, right: "probabilities must be finite and not negative" })
}

/// Refuses what is not an interest, given the names of the states.
pub(super) fn check_interest(states: &[impl AsRef<str>], interest: &[f64]) -> Result<(), ProblemError> {
    let wrong = states.iter().zip(interest).find(|(_, i)| !(**i >= 0.0 && **i < f64::INFINITY));
    wrong.map_or(Ok(()), |(state, &value)| {
        let what = format!("the interest in '{}'", state.as_ref());
        Err(ProblemError::Number { what, value, right: "it must be finite and not negative" })
    })
}

/// The sum of probabilities, which must be one but for rounding.
pub(super) fn check_sum(
    probabilities: impl Iterator<Item = f64>,
    what: impl FnOnce() -> String,
) -> Result<f64, ProblemError> {
    let sum: f64 = probabilities.sum();
    if (sum - 1.0).abs() <= SUM_TOLERANCE { Ok(sum) } else { Err(ProblemError::Sum { what: what(), sum }) }
}

/// Finds states or actions by name or number.
struct Names<'a> {
    kind: &'static str,
    names: &'a [String],
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    fn new(kind: &'static str, names: &'a [String]) -> Result<Self, ProblemError> {
        if names.is_empty() {
            return Err(ProblemError::Nothing(kind));
        }
        let mut numbers = HashMap::with_capacity(names.len());
        for (k, name) in names.iter().enumerate() {
            if numbers.insert(name.as_str(), k).is_some() {
                return Err(ProblemError::Twice { kind, name: name.clone() });
            }
        }
        Ok(Self { kind, names, numbers })
    }

    fn find(&self, key: &Key) -> Result<usize, ProblemError> {
        let found = match key {
            Key::Name(name) => self.numbers.get(name.as_str()).copied(),
            Key::Number(number) => (*number < self.names.len()).then_some(*number),
        };
        found.ok_or_else(|| ProblemError::Unknown { kind: self.kind, key: key.clone(), known: self.known() })
    }

    /// What there is, shortened if it is much.
    fn known(&self) -> String {
        let shown: Vec<_> = self.names.iter().take(12).map(|name| format!("'{name}'")).collect();
        let more = self.names.len() - shown.len();
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    }
}
