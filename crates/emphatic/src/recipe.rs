//! Recipes: what a learner is made of, as data.

use crate::Features;
use crate::catalogue::{Catalogue, Range, Role};
use crate::learner::TimeUnit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A part, by its name in the catalogue, with its settings.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct PartRecipe {
    /// Its name.
    pub kind: String,
    /// Its settings by name. Those left out have their defaults.
    pub numbers: BTreeMap<String, f64>,
    /// The features it looks at; `None` if they are the policy's.
    pub features: Option<Features>,
    /// The parts inside it, by the names that its declaration gives them. Those left out are the default ones.
    pub inner: BTreeMap<String, PartRecipe>,
    /// The index of the problem that it is computed from.
    pub problem: usize,
}

impl PartRecipe {
    /// A part of this name, with nothing set.
    pub fn new(kind: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            numbers: BTreeMap::new(),
            features: None,
            inner: BTreeMap::new(),
            problem: 0,
        }
    }

    /// The same with a setting.
    pub fn with(mut self, name: impl Into<String>, number: f64) -> Self {
        self.numbers.insert(name.into(), number);
        self
    }

    /// The same with features of its own.
    pub fn with_features(mut self, features: impl Into<Features>) -> Self {
        self.features = Some(features.into());
        self
    }

    /// The same with a part inside it.
    pub fn with_inner(mut self, name: impl Into<String>, inner: Self) -> Self {
        self.inner.insert(name.into(), inner);
        self
    }

    /// Writes its settings, and the parts inside it, each name after this prefix.
    fn write_settings(&self, f: &mut std::fmt::Formatter, prefix: &str) -> std::fmt::Result {
        self.numbers.iter().try_for_each(|(name, number)| write!(f, ", {prefix}{name} = {number}"))?;
        self.inner.iter().try_for_each(|(name, inner)| {
            write!(f, ", {prefix}{name} = {}", inner.kind)?;
            inner.write_settings(f, &format!("{prefix}{name}."))
        })
    }

    /// Returns whether another differs in numbers alone, and not in numbers that lanes share.
    fn is_like(&self, other: &Self, role: Role, catalogue: &Catalogue) -> bool {
        let entry = catalogue.find(role, &self.kind);
        let setting = |name: &str| entry.and_then(|entry| entry.setting(name));
        let is_shared = |name: &str| setting(name).is_some_and(|setting| setting.range == Range::Count);
        let role_of = |name: &str| {
            let inner = entry.and_then(|entry| entry.inner.iter().find(|inner| inner.name == name));
            inner.map_or(Role::Critic, |inner| inner.role)
        };
        (&self.kind, &self.features, self.problem) == (&other.kind, &other.features, other.problem)
            && self.numbers.keys().eq(other.numbers.keys())
            && self.numbers.iter().all(|(name, x)| !is_shared(name) || other.numbers[name] == *x)
            && self.inner.keys().eq(other.inner.keys())
            && self
                .inner
                .iter()
                .all(|(name, part)| part.is_like(&other.inner[name], role_of(name), catalogue))
    }
}

/// Its name and its settings: `etd, lambda = 0.5, emphasis = truncated, emphasis.n = 3`.
impl std::fmt::Display for PartRecipe {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str(&self.kind)?;
        self.write_settings(f, "")
    }
}

/// The rule by which the actor learns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// From the action taken: [`ActorCritic`](crate::ActorCritic).
    Taken,
    /// From all actions, or some: [`AllActions`](crate::AllActions).
    All,
    /// From ∂q/∂a: [`DeterministicActorCritic`](crate::DeterministicActorCritic).
    Deterministic,
}

/// Some actions in place of all: how many are drawn at each step, and by which random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subset {
    /// How many.
    pub count: usize,
    /// The seed of the random stream.
    pub seed: u64,
    /// The run of the random stream.
    pub run: u64,
}

/// The recipe of a learner. Recipes that differ in numbers alone can be composed side by side in lanes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Recipe {
    /// The rule by which the actor learns.
    pub rule: RuleKind,
    /// The policy. Its features must be given.
    pub policy: PartRecipe,
    /// The number of actions of the policy, if they are finitely many.
    pub actions: Option<usize>,
    /// The critic.
    pub critic: PartRecipe,
    /// The emphasis.
    pub emphasis: PartRecipe,
    /// The actor; `None` if it is the rule's own.
    pub actor: Option<PartRecipe>,
    /// The actor's step-size, which is divided by the number of active features.
    pub alpha: f64,
    /// How long the actor waits while critic and emphasis learn, and in what this is counted.
    pub warm_up: Option<(f64, TimeUnit)>,
    /// Some actions in place of all.
    pub subset: Option<Subset>,
}

impl Recipe {
    /// A learner of these parts.
    pub fn new(
        rule: RuleKind,
        policy: PartRecipe,
        critic: PartRecipe,
        emphasis: PartRecipe,
        alpha: f64,
    ) -> Self {
        Self {
            rule,
            policy,
            actions: None,
            critic,
            emphasis,
            actor: None,
            alpha,
            warm_up: None,
            subset: None,
        }
    }

    /// The same with a policy of this number of actions.
    pub fn with_actions(mut self, actions: usize) -> Self {
        self.actions = Some(actions);
        self
    }

    /// The same with this actor, in place of the rule's own.
    pub fn with_actor(mut self, actor: PartRecipe) -> Self {
        self.actor = Some(actor);
        self
    }

    /// The same with an actor that waits for so long.
    pub fn with_warm_up(mut self, length: f64, unit: TimeUnit) -> Self {
        self.warm_up = Some((length, unit));
        self
    }

    /// The same with some actions in place of all.
    pub fn with_subset(mut self, subset: Subset) -> Self {
        self.subset = Some(subset);
        self
    }

    /// Returns whether another differs in numbers alone, so that both fit in lanes side by side. (Whole numbers such as the length of
    /// a memory are the same in all lanes.)
    pub fn is_like(&self, other: &Self, catalogue: &Catalogue) -> bool {
        let unit = |recipe: &Self| recipe.warm_up.map(|(_, unit)| unit);
        let actors_are_alike = match (&self.actor, &other.actor) {
            (Some(actor), Some(other)) => actor.is_like(other, Role::Actor, catalogue),
            (actor, other) => actor.is_none() && other.is_none(),
        };
        (self.rule, self.actions, self.subset) == (other.rule, other.actions, other.subset)
            && unit(self) == unit(other)
            && actors_are_alike
            && self.policy.is_like(&other.policy, Role::Policy, catalogue)
            && self.critic.is_like(&other.critic, Role::Critic, catalogue)
            && self.emphasis.is_like(&other.emphasis, Role::Emphasis, catalogue)
    }
}
