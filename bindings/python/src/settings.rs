//! What a learner is made of, as data: the same between Python and here, and in saved files.
//!
//! It is a [`Recipe`] with the name of a Python class. Each part has its own numbers, so that names of different parts never meet.

use crate::{in_python, memory};
use emphatic::catalogue::{Acts, Entry, Extent, Need, Role};
use emphatic::{Catalogue, Features, KnownProblem, PartRecipe, Recipe, RuleKind, Subset, Table};
use emphatic_problems::{ProblemFile, World};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What JSON takes in memory at most while it is read, in its own length: `[],` is short.
pub(crate) const TEXT_IN_MEMORY: f64 = 40.0;

/// The parts that there are.
pub(crate) fn catalogue() -> &'static Catalogue {
    Catalogue::standard()
}

/// A learner's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The name of the Python class.
    pub(crate) class: String,
    pub(crate) rule: Rule,
    pub(crate) policy: Part,
    /// How many actions the policy has, if they are finitely many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) actions: Option<usize>,
    pub(crate) critic: Part,
    pub(crate) emphasis: Part,
    pub(crate) alpha: f64,
    /// How many actions are drawn at each step, if not all, and the seed they are drawn by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subset: Option<(usize, u64)>,
}

/// By which rule the actor learns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Rule {
    Taken,
    All,
    Deterministic,
}

/// A part, by its name in the catalogue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) kind: String,
    /// The class of a part that is written in Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) numbers: BTreeMap<String, f64>,
    /// Left out, they are the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) features: Option<FeaturesPart>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) inner: Option<Box<Part>>,
    /// The number of a problem in the learner's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<usize>,
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

    /// What the policy does.
    pub(crate) fn acts(&self) -> Option<Acts> {
        self.policy.entry(Role::Policy).and_then(|entry| entry.acts)
    }

    /// What the policy sees of a state.
    pub(crate) fn features(&self) -> PyResult<&FeaturesPart> {
        self.policy.features.as_ref().ok_or_else(|| PyTypeError::new_err("the policy needs features"))
    }

    /// The recipe, if its parts see the same states and memory has room for the learner. (Whether the parts go together in all else, whoever
    /// composes them says.)
    pub(crate) fn recipe(&self, problems: &[Arc<ProblemFile>]) -> PyResult<Recipe> {
        let seen = self.features()?;
        self.critic.check(Role::Critic, seen, problems)?;
        self.emphasis.check(Role::Emphasis, seen, problems)?;
        self.check_memory(1)?;
        let rule = match self.rule {
            Rule::Taken => RuleKind::Taken,
            Rule::All => RuleKind::All,
            Rule::Deterministic => RuleKind::Deterministic,
        };
        let (policy, critic, emphasis) =
            (self.policy.recipe()?, self.critic.recipe()?, self.emphasis.recipe()?);
        let mut recipe = Recipe::new(rule, policy, critic, emphasis, self.alpha);
        recipe.actions = self.actions;
        recipe.subset = self.subset.map(|(count, seed)| Subset { count, seed, run: 0 });
        Ok(recipe)
    }

    /// Weights of the policy for each feature.
    pub(crate) fn outputs(&self) -> usize {
        let declared = self.policy.entry(Role::Policy).and_then(|entry| entry.outputs);
        declared.or(self.actions).unwrap_or(1)
    }

    /// The size of one learner, or of those in lanes.
    pub(crate) fn size(&self, lanes: usize) -> Size {
        let len = self.policy.features.as_ref().map_or(0.0, |features| features.len() as f64);
        let (lanes, outputs) = (lanes as f64, self.outputs() as f64);
        let weights = len * outputs;
        let [critic, emphasis] = [(Role::Critic, &self.critic), (Role::Emphasis, &self.emphasis)]
            .map(|(role, part)| part.size(role, len, outputs));
        let in_lanes = lanes * (critic.in_lanes + emphasis.in_lanes);
        let shared = critic.shared + emphasis.shared;
        let tables = self.policy.tables() + self.critic.tables() + self.emphasis.tables();
        // Distributions, the advantages of all actions, and a list of them.
        let beside = (4.0 * lanes + 1.0) * outputs;
        // A trace lists its features.
        let state = lanes * weights + in_lanes + shared.min(in_lanes / lanes) + outputs;
        Size {
            learner: 8.0 * (lanes * weights + in_lanes + shared + beside + tables),
            state: 8.0 * state,
            // Traces are collected first.
            copy: 8.0 * (state + in_lanes),
            weights: 8.0 * lanes * weights,
            least: 8.0 * weights,
        }
    }

    /// Refuses a learner, or learners in lanes, that memory has no room for.
    pub(crate) fn check_memory(&self, lanes: usize) -> PyResult<()> {
        memory::ask(self.size(lanes).learner, || self.to_string())
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let features = self.policy.most_features().max(self.critic.most_features());
        let features = features.max(self.emphasis.most_features());
        write!(f, "a learner with {features} features and {} outputs", self.outputs())
    }
}

/// How many bytes something takes: at most, but for `least`. In floating point, where nothing is too large.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// In memory.
    pub(crate) learner: f64,
    /// Its state.
    pub(crate) state: f64,
    /// What a copy of the state takes while it is made.
    pub(crate) copy: f64,
    /// The policy's weights.
    pub(crate) weights: f64,
    /// The state of one learner, at least.
    pub(crate) least: f64,
}

impl Part {
    pub(crate) fn entry(&self, role: Role) -> Option<&'static Entry> {
        catalogue().find(role, &self.kind)
    }

    /// Refuses features of other states than the policy's, in this part and in those inside it.
    fn check(&self, role: Role, seen: &FeaturesPart, problems: &[Arc<ProblemFile>]) -> PyResult<()> {
        if let Some(features) = &self.features {
            if features.sight() != seen.sight() {
                return Err(PyTypeError::new_err(
                    "all parts of a learner must see the state in the same form: vectors, active features, or numbers",
                ));
            }
            if features.extent() != seen.extent() {
                return Err(PyTypeError::new_err(format!(
                    "policy and {} must see the same states: vectors of one length, or tables of as many states",
                    role.word()
                )));
            }
        }
        if let Some(entry) = self.entry(role).filter(|entry| entry.needs.contains(&Need::Problem)) {
            self.check_problem(entry.class, seen, problems)?;
        }
        self.inner.as_ref().map_or(Ok(()), |inner| inner.check(Role::Critic, seen, problems))
    }

    fn check_problem(&self, class: &str, seen: &FeaturesPart, problems: &[Arc<ProblemFile>]) -> PyResult<()> {
        if seen.sight() != Sight::Number {
            return Err(PyTypeError::new_err(format!(
                "{class} knows states by their numbers: give the policy OneHot or Table features"
            )));
        }
        let number = self.problem.unwrap_or(0);
        let missing =
            || PyTypeError::new_err(format!("the settings name problem {number}, which was not given"));
        let states = problems.get(number).ok_or_else(missing)?.world.states().len();
        match seen.extent().unwrap_or(0) {
            seen if seen != states => Err(PyValueError::new_err(format!(
                "the policy's features are of {seen} states; the problem has {states}"
            ))),
            _ => Ok(()),
        }
    }

    fn recipe(&self) -> PyResult<PartRecipe> {
        let mut recipe = PartRecipe::new(self.kind.clone());
        // Those of a part in Python are its own affair.
        if self.kind != in_python::KIND {
            recipe.numbers = self.numbers.clone();
        }
        recipe.features = self.features.as_ref().map(FeaturesPart::made).transpose()?;
        recipe.inner = self.inner.as_ref().map(|inner| inner.recipe().map(Box::new)).transpose()?;
        recipe.problem = self.problem.unwrap_or(0);
        Ok(recipe)
    }

    /// How many numbers it holds with the parts inside it, if the policy has `len` features.
    fn size(&self, role: Role, len: f64, outputs: f64) -> emphatic::catalogue::Size {
        let features = self.features.as_ref().map_or(len, |features| features.len() as f64);
        let extent = Extent { features, actions: outputs, numbers: &self.numbers };
        let own = self.entry(role).map_or_else(Default::default, |entry| entry.size(&extent));
        let Some(inner) = &self.inner else { return own };
        let inner = inner.size(Role::Critic, len, outputs);
        emphatic::catalogue::Size {
            in_lanes: own.in_lanes + inner.in_lanes,
            shared: own.shared + inner.shared,
        }
    }

    /// The numbers in its tables, and in those of the parts inside it.
    fn tables(&self) -> f64 {
        let own = self.features.as_ref().map_or(0.0, FeaturesPart::size);
        own + self.inner.as_ref().map_or(0.0, |inner| inner.tables())
    }

    fn most_features(&self) -> usize {
        let own = self.features.as_ref().map_or(0, FeaturesPart::len);
        own.max(self.inner.as_ref().map_or(0, |inner| inner.most_features()))
    }
}

impl FeaturesPart {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense { len } | Self::Active { len, .. } | Self::Table { len, .. } => *len,
            Self::OneHot { states } => *states,
        }
    }

    /// How many numbers the table has, with what it is made from.
    fn size(&self) -> f64 {
        match self {
            Self::Dense { .. } | Self::Active { .. } => 0.0,
            Self::OneHot { states } => 4.0 * *states as f64,
            // A list may have room for twice as many.
            Self::Table { rows, .. } => rows.iter().map(|row| 2.0 + 4.0 * row.len() as f64).sum(),
        }
    }

    /// The length of vectors, or the number of states; active features may be of any number.
    fn extent(&self) -> Option<usize> {
        match self {
            Self::Dense { len } => Some(*len),
            Self::Table { rows, .. } => Some(rows.len()),
            Self::OneHot { states } => Some(*states),
            Self::Active { .. } => None,
        }
    }

    /// How such a state is written.
    pub(crate) fn sight(&self) -> Sight {
        match self {
            Self::Dense { .. } => Sight::Vector,
            Self::Active { .. } => Sight::Active,
            Self::Table { .. } | Self::OneHot { .. } => Sight::Number,
        }
    }

    fn made(&self) -> PyResult<Features> {
        Ok(match self {
            Self::Dense { len } => Features::dense(*len),
            Self::Active { len, most_active } => Features::active(*len, *most_active),
            Self::OneHot { states } => Features::one_hot(*states),
            // What does not exist under its number is here a wrong value like any other.
            Self::Table { len, rows } => {
                Table::new(*len, rows).map_err(|error| PyValueError::new_err(error.to_string()))?.into()
            }
        })
    }
}

/// The problems, for those who compose.
pub(crate) fn known(problems: &[Arc<ProblemFile>]) -> Vec<KnownProblem> {
    let known = |problem: &Arc<ProblemFile>| match &problem.world {
        World::Finite(task) => KnownProblem::Finite(task.clone()),
        World::Continuous(problem) => KnownProblem::Continuous(problem.clone()),
    };
    problems.iter().map(known).collect()
}
