//! What a learner is made of, as data: the same in Python's dictionaries and in saved files.
//!
//! The structure says which parts there are, the numbers their step-sizes and λ. Learners of one structure can learn side by side in lanes.

use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub(crate) fn json(&self) -> String {
        serde_json::json!(self).to_string()
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

    /// Too large a learner would not raise an error when it is made but end the process.
    pub(crate) fn check_memory(&self, lanes: usize) -> PyResult<()> {
        let outputs = self.policy.outputs();
        let features = self.critic.most_features().max(self.policy.features().len());
        // A weight of the policy for each output; a critic has up to eight numbers for each output, and eight for the value.
        let numbers = (features as u128).saturating_mul(9 * outputs as u128 + 8);
        let bytes = usize::try_from(numbers.saturating_mul(8 * lanes as u128)).unwrap_or(usize::MAX);
        Vec::<u8>::new().try_reserve_exact(bytes).map_err(|_| {
            let message =
                format!("a learner with {features} features and {outputs} outputs does not fit into memory");
            PyMemoryError::new_err(message)
        })
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
