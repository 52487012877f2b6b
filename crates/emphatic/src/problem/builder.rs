//! Builds decision problems, and checks that they are.

use super::{Problem, ProblemError, Transition};
use crate::theory::compressed_rows::CompressedRows;
use std::collections::HashMap;
use std::fmt;

/// How far from one a sum of probabilities may be. Probabilities that are closer are scaled to sum to one; others are
/// probably a mistake.
const SUM_TOLERANCE: f64 = 1e-9;

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

/// A transition before it is checked.
#[derive(Clone, Debug)]
struct Draft {
    state: Key,
    action: Key,
    /// `None` if the episode ends: the start distribution is not known yet.
    next: Option<Key>,
    probability: f64,
    reward: f64,
    gamma: f64,
}

impl Draft {
    fn check(&self, place: impl Fn() -> String) -> Result<(), ProblemError> {
        check_probability(self.probability, || format!("the probability of a transition {}", place()))?;
        let refuse = |what: &str, value: f64, right: &'static str| {
            let what = format!("{what} of a transition {}", place());
            Err(ProblemError::Number { what, value, right })
        };
        if !self.reward.is_finite() {
            return refuse("the reward", self.reward, "rewards must be finite");
        }
        if !(0.0..=1.0).contains(&self.gamma) {
            return refuse("gamma", self.gamma, "it must lie between 0 and 1");
        }
        Ok(())
    }
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
        let (state, action, next) = (state.into(), action.into(), Some(next.into()));
        self.drafts.push(Draft { state, action, next, probability, reward, gamma });
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
        self.drafts.push(Draft { state, action, next: None, probability, reward, gamma: 0.0 });
        self
    }

    /// Checks the parts and returns the problem.
    pub fn build(self) -> Result<Problem, ProblemError> {
        let states = Names::new("state", &self.states)?;
        let actions = Names::new("action", &self.actions)?;
        let start = start_distribution(&states, &self.start)?;

        let mut lists: Vec<Vec<Transition>> = vec![Vec::new(); self.states.len() * self.actions.len()];
        for draft in &self.drafts {
            let (s, a) = (states.find(&draft.state)?, actions.find(&draft.action)?);
            draft.check(|| format!("from '{}' by '{}'", self.states[s], self.actions[a]))?;
            let list = &mut lists[s * self.actions.len() + a];
            let Draft { probability, reward, gamma, .. } = *draft;
            match &draft.next {
                Some(next) => list.push(Transition { next: states.find(next)?, probability, reward, gamma }),
                None => list.extend(start.iter().map(|&(next, share)| Transition {
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
        Ok(Problem {
            states: self.states,
            actions: self.actions,
            start,
            transitions: CompressedRows::new(lists),
        })
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

/// Checks a probability.
pub(super) fn check_probability(value: f64, what: impl FnOnce() -> String) -> Result<(), ProblemError> {
    if value.is_finite() && value >= 0.0 {
        return Ok(());
    }
    Err(ProblemError::Number { what: what(), value, right: "probabilities must be finite and not negative" })
}

/// Checks the interest in each state, given the names of the states.
pub(super) fn check_interest(states: &[String], interest: &[f64]) -> Result<(), ProblemError> {
    let wrong = states.iter().zip(interest).find(|(_, i)| !(**i >= 0.0 && **i < f64::INFINITY));
    wrong.map_or(Ok(()), |(state, &value)| {
        let what = format!("the interest in '{state}'");
        Err(ProblemError::Number { what, value, right: "it must be finite and not negative" })
    })
}

/// Returns the sum of probabilities, which must be one up to rounding.
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

    /// All names, shortened if there are many.
    fn known(&self) -> String {
        let shown: Vec<_> = self.names.iter().take(12).map(|name| format!("'{name}'")).collect();
        let more = self.names.len() - shown.len();
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    }
}
