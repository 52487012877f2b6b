//! Every part there is, declared once: its name, its settings, how it is built.
//!
//! What reads files, checks settings, writes schemas, makes Python's classes and prints documentation asks the catalogue, so
//! a new part is one file and one line in [`Catalogue::standard`]. A crate of one's own can add to it:
//! [`Catalogue::with`].

pub use crate::compose::Build;
use crate::compose::{Built, Of, PartBuilder};
use crate::part::ComposeError;
use crate::real::Real;
pub use crate::setting::Range;
use crate::{critic, emphasis, policy};
use serde::Serialize;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};
use thiserror::Error;

/// What a part is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// How to act.
    Policy,
    /// How good was it? In one of the three ways in which an actor may ask.
    Critic,
    /// How much does a state count?
    Emphasis,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 3] = [Self::Policy, Self::Critic, Self::Emphasis];

    /// What parts of this role are, as a heading.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Policy => "Policies: how to act",
            Self::Critic => "Critics: how good was it?",
            Self::Emphasis => "Emphases: how much does a state count?",
        }
    }

    /// The word for it, in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Critic => "critic",
            Self::Emphasis => "emphasis",
        }
    }
}

/// What a critic tells the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tells {
    /// δ_t, from v̂.
    Delta,
    /// q̂(s,b) − v̂(s) for every action.
    Advantages,
    /// ∂q/∂a.
    Slope,
}

impl Tells {
    /// What it is in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Delta => "δ, from values of states",
            Self::Advantages => "the advantage of every action",
            Self::Slope => "∂q/∂a",
        }
    }
}

/// What a policy does with its weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Acts {
    /// Draws one of finitely many actions.
    Finite,
    /// Draws a real action.
    Real,
    /// Computes a real action.
    Deterministic,
}

/// What a part cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A problem that is known exactly.
    Problem,
    /// Importance ratios: a policy that draws its actions.
    Ratio,
}

impl Need {
    /// What it is in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Problem => "a problem that is known exactly",
            Self::Ratio => "importance ratios, so a policy that draws its actions",
        }
    }
}

/// A number that a part is set by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// Its name, in files and in Python.
    pub name: &'static str,
    /// What it must be.
    pub range: Range,
    /// What it is if nothing is said; `None` if something must be said.
    pub default: Option<f64>,
    /// What it is, in a line.
    pub about: &'static str,
}

/// A part inside another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Inner {
    /// Its name, in files and in Python.
    pub name: &'static str,
    /// What it must tell.
    pub tells: Tells,
    /// Which part it is if nothing is said.
    pub default: &'static str,
    /// What it is there for, in a line.
    pub about: &'static str,
}

/// What is to be known of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Declaration {
    /// Its name in files.
    pub name: &'static str,
    /// Its class in Python.
    pub class: &'static str,
    /// What it is there for.
    pub role: Role,
    /// What it is, in a line.
    pub about: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// For a critic: what it can tell.
    pub tells: &'static [Tells],
    /// For a policy: what it does.
    pub acts: Option<Acts>,
    /// For a policy: how many weights each feature has; `None` if it is one for each action.
    pub outputs: Option<usize>,
    /// The numbers it is set by.
    pub settings: &'static [Setting],
    /// Whether it looks at features of its own.
    pub features: bool,
    /// The part inside it.
    pub inner: Option<Inner>,
    /// What it cannot do without.
    pub needs: &'static [Need],
}

impl Declaration {
    /// A part without settings, features or needs: what is written out for a part is what it has.
    pub const fn new(role: Role, name: &'static str, class: &'static str, about: &'static str) -> Self {
        Self {
            name,
            class,
            role,
            about,
            source: "",
            tells: &[],
            acts: None,
            outputs: None,
            settings: &[],
            features: false,
            inner: None,
            needs: &[],
        }
    }

    /// The setting of a name.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// What the size of a part depends on.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// How many features it looks at.
    pub features: f64,
    /// How many actions there are, or how many outputs the policy has.
    pub actions: f64,
    /// Its settings that are given.
    pub numbers: &'a BTreeMap<String, f64>,
}

/// How many numbers something holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// For each learner.
    pub in_lanes: f64,
    /// For all learners in lanes together.
    pub shared: f64,
}

/// A part that declares itself, and can be built in any number type.
pub trait Declared: Send + Sync + 'static {
    /// What is to be known of it.
    const DECLARATION: Declaration;

    /// How many numbers it holds at most. (In floating point, where nothing is too large.)
    fn size(_of: &Extent) -> Size {
        Size::default()
    }

    /// Builds it.
    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError>;
}

/// A declared part that can be built.
#[derive(Clone)]
pub struct Entry {
    /// What is to be known of it.
    pub declaration: Declaration,
    size: fn(&Extent) -> Size,
    pub(crate) builder: Arc<dyn Build>,
}

impl Entry {
    /// How many numbers it holds at most: see [`Declared::size`].
    pub fn size(&self, of: &Extent) -> Size {
        (self.size)(of)
    }

    /// Whether it is this part, not another of its name.
    pub(crate) fn is<T: Declared>(&self) -> bool {
        let builder: &dyn Any = &*self.builder;
        builder.is::<Of<T>>()
    }
}

impl std::fmt::Debug for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.declaration.fmt(f)
    }
}

impl std::ops::Deref for Entry {
    type Target = Declaration;

    fn deref(&self) -> &Declaration {
        &self.declaration
    }
}

/// A name for a policy and an emphasis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Algorithm {
    /// Its name in files.
    pub name: &'static str,
    /// Its name in print.
    pub title: &'static str,
    /// Whether its policy computes its action rather than drawing it.
    pub deterministic: bool,
    /// Its emphasis, by name.
    pub emphasis: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
}

impl Algorithm {
    /// OffPAC.
    pub const OFFPAC: Self = Self {
        name: "offpac",
        title: "OffPAC",
        deterministic: false,
        emphasis: "none",
        about: "stochastic policy, no emphasis: the semi-gradient",
    };

    /// ACE.
    pub const ACE: Self = Self {
        name: "ace",
        title: "ACE",
        deterministic: false,
        emphasis: "follow-on",
        about: "stochastic policy, follow-on trace with λ_a",
    };

    /// True-ACE.
    pub const TRUE_ACE: Self = Self {
        name: "true-ace",
        title: "True-ACE",
        deterministic: false,
        emphasis: "exact",
        about: "stochastic policy, exact emphasis",
    };

    /// DPG.
    pub const DPG: Self = Self {
        name: "dpg",
        title: "DPG",
        deterministic: true,
        emphasis: "none",
        about: "deterministic policy, no emphasis",
    };

    /// True-DPGE.
    pub const TRUE_DPGE: Self = Self {
        name: "true-dpge",
        title: "True-DPGE",
        deterministic: true,
        emphasis: "exact",
        about: "deterministic policy, exact emphasis",
    };
}

/// The paper's algorithms.
pub const ALGORITHMS: [Algorithm; 5] =
    [Algorithm::OFFPAC, Algorithm::ACE, Algorithm::TRUE_ACE, Algorithm::DPG, Algorithm::TRUE_DPGE];

/// Somebody has asked for the catalogue before it was installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the catalogue is in use already: install one before anything is read or composed")]
pub struct InUse;

/// The catalogue of this process.
static CURRENT: OnceLock<Catalogue> = OnceLock::new();

/// Declared parts, by role and name.
#[derive(Clone, Debug)]
pub struct Catalogue {
    entries: Vec<Entry>,
}

impl Catalogue {
    /// The parts that come with this library.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Catalogue> = LazyLock::new(|| {
            let none = Catalogue { entries: Vec::new() };
            none.with::<policy::softmax::InCatalogue>()
                .with::<policy::gaussian::InCatalogue>()
                .with::<policy::deterministic::InCatalogue>()
                .with::<critic::exact::InCatalogue>()
                .with::<critic::gtd::InCatalogue>()
                .with::<critic::gq::InCatalogue>()
                .with::<critic::advantage::InCatalogue>()
                .with::<critic::compatible::InCatalogue>()
                .with::<emphasis::none::InCatalogue>()
                .with::<emphasis::follow_on::InCatalogue>()
                .with::<emphasis::exact::InCatalogue>()
        });
        &STANDARD
    }

    /// The catalogue of this process: the one that was installed, or the standard one.
    pub fn current() -> &'static Self {
        CURRENT.get_or_init(|| Self::standard().clone())
    }

    /// Makes it the catalogue of this process: files may name its parts from now on. Once, and before anything is read.
    pub fn install(self) -> Result<(), InUse> {
        CURRENT.set(self).map_err(|_| InUse)
    }

    /// The same with one more part, in place of one of the same role and name.
    pub fn with<T: Declared>(self) -> Self {
        self.with_builder(T::DECLARATION, T::size, Of::<T>::default())
    }

    /// The same with one more part that is no type of its own, in place of one of the same role and name.
    pub fn with_builder(
        mut self,
        declaration: Declaration,
        size: fn(&Extent) -> Size,
        builder: impl Build,
    ) -> Self {
        self.entries.retain(|entry| (entry.role, entry.name) != (declaration.role, declaration.name));
        self.entries.push(Entry { declaration, size, builder: Arc::new(builder) });
        self
    }

    /// All parts.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The parts of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.role == role)
    }

    /// The part of a role and name.
    pub fn find(&self, role: Role, name: &str) -> Option<&Entry> {
        self.of(role).find(|entry| entry.name == name)
    }
}
