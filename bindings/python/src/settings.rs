//! What a learner is made of, as data: the same in Python's dictionaries and in saved files.
//!
//! The structure says which parts there are, the numbers their step-sizes and λ. Learners of one structure can learn side by side in lanes.

use crate::memory;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What JSON takes in memory at most while it is read, in its own length: `[],` is short.
pub(crate) const TEXT_IN_MEMORY: f64 = 40.0;

/// A learner's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The name of the Python class.
    pub(crate) class: String,
    pub(crate) structure: Structure,
    /// Step-sizes and λ, by name.
    pub(crate) numbers: BTreeMap<String, f64>,
}

impl Settings {
    /// From JSON.
    pub(crate) fn parse(json: &str) -> PyResult<Self> {
        memory::ask(TEXT_IN_MEMORY * json.len() as f64, || "what the settings say".to_owned())?;
        let wrong = |error| PyValueError::new_err(format!("the settings make no sense: {error}"));
        serde_json::from_str(json).map_err(wrong)
    }

    pub(crate) fn json(&self) -> PyResult<String> {
        serde_json::to_string(self).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    pub(crate) fn number(&self, name: &str) -> PyResult<f64> {
        let missing = || PyValueError::new_err(format!("the settings have no number `{name}`"));
        self.numbers.get(name).copied().ok_or_else(missing)
    }
}

/// Which parts, and how they are put together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Structure {
    pub(crate) learner: LearnerKind,
    pub(crate) policy: PolicyPart,
    pub(crate) critic: CriticPart,
    pub(crate) emphasis: EmphasisPart,
    /// How many actions are drawn at each step, if not all, and the seed they are drawn by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subset: Option<(usize, u64)>,
}

impl Structure {
    /// Refuses parts of kinds that do not go together.
    pub(crate) fn check(&self) -> PyResult<()> {
        use LearnerKind::{ActorCritic, AllActions, DeterministicActorCritic};
        use PolicyPart::{DeterministicLinear, Gaussian, Softmax};
        let message = match (self.learner, &self.policy, &self.emphasis) {
            (ActorCritic, DeterministicLinear { .. }, _) => {
                "this learner needs a policy that draws its actions: Softmax or Gaussian"
            }
            (AllActions, Gaussian { .. } | DeterministicLinear { .. }, _) => {
                "a learner from all actions needs finitely many: a Softmax policy"
            }
            (DeterministicActorCritic, Softmax { .. } | Gaussian { .. }, _) => {
                "this learner needs a DeterministicLinear policy"
            }
            (DeterministicActorCritic, _, EmphasisPart::FollowOn) => {
                "a deterministic policy has no ratio, so there is no follow-on trace: use NoEmphasis or ExactEmphasis"
            }
            _ if !self.critic.sees(self.policy.features()) => {
                "policy and critic must see the same states: vectors of one length, or tables of as many states"
            }
            _ if self.is_exact() && self.policy.features().sight() != Sight::Number => {
                "ExactCritic and ExactEmphasis know states by their numbers: give the policy OneHot or Table features"
            }
            _ => return Ok(()),
        };
        Err(PyTypeError::new_err(message))
    }

    /// Whether a part knows the problem itself.
    pub(crate) fn is_exact(&self) -> bool {
        self.critic.is_exact() || matches!(self.emphasis, EmphasisPart::Exact { .. })
    }

    /// The size of one learner, or of those in lanes.
    pub(crate) fn size(&self, lanes: usize) -> Size {
        let (features, outputs) = (self.policy.features(), self.policy.outputs() as f64);
        let weights = features.len() as f64 * outputs;
        // One distribution, or the advantages of all actions and a list of them.
        let own = Size::of_numbers(weights, lanes).and(Size::held(4.0 * outputs, lanes));
        let drawn = Size { state: 8.0 * outputs, ..Size::default() };
        own.and(drawn).and(features.size()).and(self.critic.size(outputs, lanes))
    }

    /// Refuses a learner, or learners in lanes, that memory has no room for.
    pub(crate) fn check_memory(&self, lanes: usize) -> PyResult<()> {
        memory::ask(self.size(lanes).learner, || self.to_string())
    }
}

impl std::fmt::Display for Structure {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let features = self.critic.most_features().max(self.policy.features().len());
        write!(f, "a learner with {features} features and {} outputs", self.policy.outputs())
    }
}

/// How many bytes something takes: at most, but for `least`. In floating point, where nothing is too large.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Size {
    /// In memory.
    pub(crate) learner: f64,
    /// Its state.
    pub(crate) state: f64,
    /// Its state while all traces are zero.
    pub(crate) least: f64,
}

impl Size {
    /// Numbers that are part of the state.
    fn of_numbers(count: f64, lanes: usize) -> Self {
        let bytes = 8.0 * count * lanes as f64;
        Self { learner: bytes, state: bytes, least: bytes }
    }

    /// Numbers that are not part of it.
    fn held(count: f64, lanes: usize) -> Self {
        Self { learner: 8.0 * count * lanes as f64, ..Self::default() }
    }

    /// Estimates by gradient TD: weights, second weights and a trace, which lists the features it is not zero for.
    fn of_gradient_td(count: f64, lanes: usize) -> Self {
        let trace = 8.0 * count * lanes as f64;
        let trace = Self { learner: trace + 40.0 * count, state: trace + 8.0 * count, least: 0.0 };
        Self::of_numbers(2.0 * count, lanes).and(trace)
    }

    /// What a copy of the state takes while it is made: traces are lists that grow.
    pub(crate) fn copy(&self) -> f64 {
        self.state + 2.0 * (self.state - self.least)
    }

    fn and(self, other: Self) -> Self {
        Self {
            learner: self.learner + other.learner,
            state: self.state + other.state,
            least: self.least + other.least,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LearnerKind {
    ActorCritic,
    AllActions,
    DeterministicActorCritic,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum PolicyPart {
    Softmax { features: FeaturesPart, actions: usize },
    Gaussian { features: FeaturesPart },
    DeterministicLinear { features: FeaturesPart },
}

impl PolicyPart {
    pub(crate) fn features(&self) -> &FeaturesPart {
        match self {
            Self::Softmax { features, .. }
            | Self::Gaussian { features }
            | Self::DeterministicLinear { features } => features,
        }
    }

    /// Weights for each feature.
    pub(crate) fn outputs(&self) -> usize {
        match self {
            Self::Softmax { actions, .. } => *actions,
            Self::Gaussian { .. } => 2,
            Self::DeterministicLinear { .. } => 1,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FeaturesPart {
    Dense {
        len: usize,
    },
    Active {
        len: usize,
        most_active: usize,
    },
    /// For each state its active features and their values.
    Table {
        len: usize,
        rows: Vec<Vec<(usize, f64)>>,
    },
    OneHot {
        states: usize,
    },
}

impl FeaturesPart {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense { len } | Self::Active { len, .. } | Self::Table { len, .. } => *len,
            Self::OneHot { states } => *states,
        }
    }

    /// The table, and what it is made from.
    fn size(&self) -> Size {
        let numbers = match self {
            Self::Dense { .. } | Self::Active { .. } => 0.0,
            Self::OneHot { states } => 4.0 * *states as f64,
            // A list may have room for twice as many.
            Self::Table { rows, .. } => rows.iter().map(|row| 2.0 + 4.0 * row.len() as f64).sum(),
        };
        Size::held(numbers, 1)
    }

    /// The length of vectors, or the number of states; active features may be of any number.
    pub(crate) fn extent(&self) -> Option<usize> {
        match self {
            Self::Dense { len } => Some(*len),
            Self::Table { rows, .. } => Some(rows.len()),
            Self::OneHot { states } => Some(*states),
            Self::Active { .. } => None,
        }
    }

    /// Whether these are features of the states that others are of. (Whether both take a state in the same form is seen when they are
    /// put together.)
    fn sees(&self, other: &Self) -> bool {
        self.sight() != other.sight() || self.extent() == other.extent()
    }

    /// How such a state is written.
    pub(crate) fn sight(&self) -> Sight {
        match self {
            Self::Dense { .. } => Sight::Vector,
            Self::Active { .. } => Sight::Active,
            Self::Table { .. } | Self::OneHot { .. } => Sight::Number,
        }
    }
}

/// What is seen of a state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sight {
    /// A vector of features.
    Vector,
    /// A list of active features.
    Active,
    /// The state's number.
    Number,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum CriticPart {
    Gtd {
        features: FeaturesPart,
    },
    ActionValues {
        features: FeaturesPart,
        values: Box<CriticPart>,
    },
    LearnedAdvantage {
        features: FeaturesPart,
        values: Box<CriticPart>,
    },
    Compatible {
        features: FeaturesPart,
    },
    /// The number of a problem in the learner's list.
    Exact {
        problem: usize,
    },
}

impl CriticPart {
    fn is_exact(&self) -> bool {
        match self {
            Self::Exact { .. } => true,
            Self::ActionValues { values, .. } | Self::LearnedAdvantage { values, .. } => values.is_exact(),
            Self::Gtd { .. } | Self::Compatible { .. } => false,
        }
    }

    /// Whether all its features are of states that these features are of, too.
    fn sees(&self, other: &FeaturesPart) -> bool {
        match self {
            Self::Exact { .. } => true,
            Self::Gtd { features } | Self::Compatible { features } => features.sees(other),
            Self::ActionValues { features, values } | Self::LearnedAdvantage { features, values } => {
                features.sees(other) && values.sees(other)
            }
        }
    }

    fn size(&self, outputs: f64, lanes: usize) -> Size {
        let all = |features: &FeaturesPart| features.len() as f64 * outputs;
        match self {
            Self::Exact { .. } => Size::default(),
            Self::Gtd { features } => Size::of_gradient_td(features.len() as f64, lanes).and(features.size()),
            Self::ActionValues { features, values } => {
                let own = Size::of_gradient_td(all(features), lanes).and(features.size());
                own.and(values.size(outputs, lanes))
            }
            Self::LearnedAdvantage { features, values } => {
                let own = Size::of_numbers(all(features), lanes).and(features.size());
                own.and(values.size(outputs, lanes))
            }
            Self::Compatible { features } => {
                Size::of_numbers(4.0 * features.len() as f64, lanes).and(features.size())
            }
        }
    }

    fn most_features(&self) -> usize {
        match self {
            Self::Exact { .. } => 0,
            Self::Gtd { features } | Self::Compatible { features } => features.len(),
            Self::ActionValues { features, values } | Self::LearnedAdvantage { features, values } => {
                features.len().max(values.most_features())
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum EmphasisPart {
    None,
    FollowOn,
    Exact { problem: usize },
}
