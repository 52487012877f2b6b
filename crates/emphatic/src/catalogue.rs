//! The catalogue: every part declared once, with its name, its settings and how it is built.
//!
//! The reader of files, the checks of settings, the schema, Python's classes and the documentation are derived from the
//! catalogue, so a new part is one file and one line in [`Catalogue::standard`]. Another crate can add parts:
//! [`Catalogue::with`].

use crate::basis::{BasisEntry, DeclaredBasis, Fourier, Indicators, Monomials, Radial, Scaled, TileCoder};
pub use crate::compose::Build;
use crate::compose::DeclaredBuilder;
pub use crate::settings::{Range, Setting};
use crate::{
    Abtd, ActorTrace, Advantage, Built, Clipped, Compatible, ComposeError, Constant, CopTd, Decayed,
    DeterministicLinear, Direct, Elstd, Etd, ExactCritic, ExactEmphasis, ExpectedTdrc, FollowOn, Gaussian,
    Gem, GeoffPac, Gq, GradientCritic, GradientDice, GradientValues, Gtd, Gtd2, Htd, Ideal, LambdaReturn, Lc,
    Lstd, LstdEmphasis, LstdQ, ModelCritic, ModelEmphasis, ModelGradient, NStep, NoEmphasis, Normalised,
    PartBuilder, PerFeature, Periodic, Polynomial, ProximalGtd2, Real, Retrace, Softmax, Td, Tderc, Tdrc,
    TreeBackup, TrueOnlineEtd, Truncated, VTrace, XEtd,
};
use serde::Serialize;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, OnceLock};
use thiserror::Error;

/// The role of a part in a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// How to act.
    Policy,
    /// How good was it? In one of three forms: see [`Signal`].
    Critic,
    /// How much does a state count?
    Emphasis,
    /// How does the policy learn?
    Actor,
    /// How large is a step?
    Schedule,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 5] = [Self::Policy, Self::Critic, Self::Emphasis, Self::Actor, Self::Schedule];

    /// A heading for the parts of this role.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Policy => "Policies: how to act",
            Self::Critic => "Critics: how good was it?",
            Self::Emphasis => "Emphases: how much does a state count?",
            Self::Actor => "Actors: how does the policy learn?",
            Self::Schedule => "Schedules: how large is a step?",
        }
    }

    /// Its name in files and messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Policy => "policy",
            Self::Critic => "critic",
            Self::Emphasis => "emphasis",
            Self::Actor => "actor",
            Self::Schedule => "schedule",
        }
    }

    /// Its name in messages about several.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Policy => "policies",
            Self::Critic => "critics",
            Self::Emphasis => "emphases",
            Self::Actor => "actors",
            Self::Schedule => "schedules",
        }
    }
}

/// The signal that a critic gives the actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Signal {
    /// δ_t, from v̂.
    Delta,
    /// q̂(s,b) − v̂(s) for every action.
    Advantages,
    /// ∂q/∂a.
    Slope,
}

impl Signal {
    /// Its description in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Delta => "δ, from values of states",
            Self::Advantages => "the advantage of every action",
            Self::Slope => "∂q/∂a",
        }
    }
}

/// How a policy chooses its actions.
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

/// A requirement of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// A problem that is known exactly.
    Problem,
    /// Importance ratios: a policy that draws its actions.
    Ratio,
    /// Finitely many actions.
    Finite,
    /// States with numbers: features that are a table.
    Table,
    /// No emphasis beside it, since it has its own.
    NoEmphasis,
}

impl Need {
    /// Its description in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Problem => "a problem that is known exactly",
            Self::Ratio => "importance ratios, so a policy that draws its actions",
            Self::Finite => "finitely many actions",
            Self::Table => "states with numbers",
            Self::NoEmphasis => "to have no emphasis beside it, since it has its own",
        }
    }
}

/// A part inside another, as the outer one declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Inner {
    /// Its name, in files and in Python.
    pub name: &'static str,
    /// Its role.
    pub role: Role,
    /// The signal that it must give, if it is a critic.
    #[serde(rename = "tells")]
    pub signal: Option<Signal>,
    /// The name of the part that is taken by default.
    pub default: &'static str,
    /// Its purpose, in a line.
    pub about: &'static str,
}

impl Inner {
    /// A critic of values, GTD(λ) if none is named.
    pub const fn values(about: &'static str) -> Self {
        Self { name: "values", role: Role::Critic, signal: Some(Signal::Delta), default: "gtd", about }
    }

    /// The emphasis of an emphatic critic, the follow-on trace if none is named.
    pub const fn emphasis(about: &'static str) -> Self {
        Self { name: "emphasis", role: Role::Emphasis, signal: None, default: "follow-on", about }
    }

    /// The schedule of the part's step-sizes.
    pub const fn schedule(default: &'static str) -> Self {
        Self {
            name: "schedule",
            role: Role::Schedule,
            signal: None,
            default,
            about: "the schedule that multiplies the step-sizes",
        }
    }

    /// Returns whether a part can be this one.
    pub fn admits(&self, part: &Declaration) -> bool {
        part.role == self.role && self.signal.is_none_or(|signal| part.signals.contains(&signal))
    }
}

/// The declaration of a part.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Declaration {
    /// Its name in files.
    pub name: &'static str,
    /// Its class in Python.
    pub class: &'static str,
    /// Its role.
    pub role: Role,
    /// A description in one line.
    pub about: &'static str,
    /// The publication that it comes from.
    pub source: &'static str,
    /// For a critic: the signals that it can give. For an actor: the one that it needs.
    #[serde(rename = "tells")]
    pub signals: &'static [Signal],
    /// For a policy: how it chooses its actions.
    pub acts: Option<Acts>,
    /// For a policy: the number of weights of each feature; `None` if there is one for each action.
    pub outputs: Option<usize>,
    /// Its settings.
    pub settings: &'static [Setting],
    /// Whether it has features of its own.
    pub features: bool,
    /// The parts inside it.
    pub inner: &'static [Inner],
    /// Its requirements.
    pub needs: &'static [Need],
}

impl Declaration {
    /// A part without settings, features or requirements. Use it with `..` to write out only what a part has.
    pub const fn new(role: Role, name: &'static str, class: &'static str, about: &'static str) -> Self {
        Self {
            name,
            class,
            role,
            about,
            source: "",
            signals: &[],
            acts: None,
            outputs: None,
            settings: &[],
            features: false,
            inner: &[],
            needs: &[],
        }
    }

    /// Its role and name, for messages.
    pub(crate) fn title(&self) -> String {
        format!("the {} `{}`", self.role.word(), self.name)
    }

    /// Returns the setting of a name; `None` if the part has no such setting.
    pub fn setting(&self, name: &str) -> Option<&'static Setting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// What the size of a part depends on.
#[derive(Clone, Copy, Debug)]
pub struct Extent<'a> {
    /// The number of its features.
    pub features: f64,
    /// The number of states that its features are a table of, otherwise 0.
    pub states: f64,
    /// The number of actions, or of outputs of the policy.
    pub actions: f64,
    /// The number of the policy's weights.
    pub weights: f64,
    /// Those of its settings that were set.
    pub numbers: &'a BTreeMap<String, f64>,
}

/// The number of numbers that a part holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// For each learner.
    pub in_lanes: f64,
    /// For all learners in lanes together.
    pub shared: f64,
}

/// A part that declares itself, and can be built in any number type.
pub trait Declared: Send + Sync + 'static {
    /// Its declaration.
    const DECLARATION: Declaration;

    /// Returns how many numbers it holds at most. (In floating point, which does not overflow.)
    fn size(_of: &Extent) -> Size {
        Size::default()
    }

    /// Builds it.
    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError>;
}

/// A declared part that can be built.
#[derive(Clone)]
pub struct Entry {
    /// Its declaration.
    pub declaration: Declaration,
    size: fn(&Extent) -> Size,
    pub(crate) builder: Arc<dyn Build>,
}

impl Entry {
    /// Returns how many numbers it holds at most: see [`Declared::size`].
    pub fn size(&self, of: &Extent) -> Size {
        (self.size)(of)
    }

    /// Returns whether it is this part, not another of the same name.
    pub(crate) fn is<T: Declared>(&self) -> bool {
        let builder: &dyn Any = &*self.builder;
        builder.is::<DeclaredBuilder<T>>()
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

/// A named algorithm: a kind of policy with an emphasis and perhaps an actor.
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
    /// Whether it may have another emphasis in place of that.
    pub takes_emphasis: bool,
    /// Its actor, by name; `None` if it is the policy's own.
    pub actor: Option<&'static str>,
    /// A description in one line.
    pub about: &'static str,
}

impl Algorithm {
    /// OffPAC.
    pub const OFFPAC: Self = Self {
        name: "offpac",
        title: "OffPAC",
        deterministic: false,
        emphasis: "none",
        takes_emphasis: false,
        actor: None,
        about: "stochastic policy, no emphasis: the semi-gradient",
    };

    /// ACE.
    pub const ACE: Self = Self {
        name: "ace",
        title: "ACE",
        deterministic: false,
        emphasis: "lambda-return",
        takes_emphasis: true,
        actor: None,
        about: "stochastic policy, an emphasis that is learned or traced; the paper's is `follow-on`",
    };

    /// True-ACE.
    pub const TRUE_ACE: Self = Self {
        name: "true-ace",
        title: "True-ACE",
        deterministic: false,
        emphasis: "exact",
        takes_emphasis: false,
        actor: None,
        about: "stochastic policy, exact emphasis",
    };

    /// COF-PAC.
    pub const COF_PAC: Self = Self {
        name: "cof-pac",
        title: "COF-PAC",
        deterministic: false,
        emphasis: "gem",
        takes_emphasis: false,
        actor: None,
        about: "stochastic policy, an emphasis learned by GEM (Zhang, Liu, Yao and Whiteson 2020)",
    };

    /// Geoff-PAC.
    pub const GEOFF_PAC: Self = Self {
        name: "geoff-pac",
        title: "Geoff-PAC",
        deterministic: false,
        emphasis: "none",
        takes_emphasis: false,
        actor: Some("geoff-pac"),
        about: "stochastic policy, the counterfactual objective (Zhang, Boehmer and Whiteson 2019)",
    };

    /// DPG.
    pub const DPG: Self = Self {
        name: "dpg",
        title: "DPG",
        deterministic: true,
        emphasis: "none",
        takes_emphasis: false,
        actor: None,
        about: "deterministic policy, no emphasis",
    };

    /// True-DPGE.
    pub const TRUE_DPGE: Self = Self {
        name: "true-dpge",
        title: "True-DPGE",
        deterministic: true,
        emphasis: "exact",
        takes_emphasis: false,
        actor: None,
        about: "deterministic policy, exact emphasis",
    };
}

/// The paper's algorithms, and others that have names.
pub const ALGORITHMS: [Algorithm; 7] = [
    Algorithm::OFFPAC,
    Algorithm::ACE,
    Algorithm::TRUE_ACE,
    Algorithm::COF_PAC,
    Algorithm::GEOFF_PAC,
    Algorithm::DPG,
    Algorithm::TRUE_DPGE,
];

/// A catalogue that was installed too late: another one is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
#[error("the catalogue is in use already: install one before anything is read or composed")]
pub struct InUse;

/// The catalogue of this process.
static CURRENT: OnceLock<Catalogue> = OnceLock::new();

/// Declared parts, by role and name, and declared bases.
#[derive(Clone, Debug)]
pub struct Catalogue {
    entries: Vec<Entry>,
    bases: Vec<BasisEntry>,
}

impl Catalogue {
    /// The parts of this library.
    pub fn standard() -> &'static Self {
        static STANDARD: LazyLock<Catalogue> = LazyLock::new(|| {
            let none = Catalogue { entries: Vec::new(), bases: Vec::new() };
            none.with::<Softmax>()
                .with::<Gaussian>()
                .with::<DeterministicLinear>()
                .with::<ExactCritic>()
                .with::<Td>()
                .with::<Gtd>()
                .with::<Gtd2>()
                .with::<ProximalGtd2>()
                .with::<Tdrc>()
                .with::<Htd>()
                .with::<VTrace>()
                .with::<TreeBackup>()
                .with::<Abtd>()
                .with::<Etd>()
                .with::<TrueOnlineEtd>()
                .with::<Lstd>()
                .with::<Elstd>()
                .with::<Gq>()
                .with::<Advantage>()
                .with::<Retrace>()
                .with::<ExpectedTdrc>()
                .with::<LstdQ>()
                .with::<ModelCritic>()
                .with::<Compatible>()
                .with::<NoEmphasis>()
                .with::<FollowOn>()
                .with::<Ideal>()
                .with::<Normalised>()
                .with::<Truncated>()
                .with::<Periodic>()
                .with::<NStep>()
                .with::<Decayed>()
                .with::<Lc>()
                .with::<Clipped>()
                .with::<LambdaReturn>()
                .with::<Direct>()
                .with::<Tderc>()
                .with::<Gem>()
                .with::<LstdEmphasis>()
                .with::<XEtd>()
                .with::<ModelEmphasis>()
                .with::<GradientDice>()
                .with::<CopTd>()
                .with::<ExactEmphasis>()
                .with::<ActorTrace>()
                .with::<GradientCritic>()
                .with::<GradientValues>()
                .with::<ModelGradient>()
                .with::<GeoffPac>()
                .with::<Constant>()
                .with::<Polynomial>()
                .with::<PerFeature>()
                .with_basis::<TileCoder>()
                .with_basis::<Fourier>()
                .with_basis::<Radial>()
                .with_basis::<Monomials>()
                .with_basis::<Indicators>()
                .with_basis::<Scaled>()
        });
        &STANDARD
    }

    /// The catalogue of this process: the one that was installed, or the standard one.
    pub fn current() -> &'static Self {
        CURRENT.get_or_init(|| Self::standard().clone())
    }

    /// Makes it the catalogue of this process: files may name its parts from now on. It must be installed once, before
    /// anything is read.
    pub fn install(self) -> Result<(), InUse> {
        CURRENT.set(self).map_err(|_| InUse)
    }

    /// The same with one more part, in place of one of the same role and name.
    pub fn with<T: Declared>(self) -> Self {
        self.with_builder(T::DECLARATION, T::size, DeclaredBuilder::<T>::default())
    }

    /// The same with one more part, which is built by a value rather than a type, in place of one of the same role and name.
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

    /// The same with one more basis, in place of one of the same name.
    pub fn with_basis<T: DeclaredBasis>(mut self) -> Self {
        self.bases.retain(|entry| entry.name != T::DECLARATION.name);
        self.bases.push(BasisEntry::of::<T>());
        self
    }

    /// All bases.
    pub fn bases(&self) -> impl Iterator<Item = &BasisEntry> {
        self.bases.iter()
    }

    /// Returns the basis of a name; `None` if there is none.
    pub fn basis(&self, name: &str) -> Option<&BasisEntry> {
        self.bases.iter().find(|entry| entry.name == name)
    }

    /// All parts.
    pub fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The parts of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.role == role)
    }

    /// Returns the part of a role and name; `None` if there is none.
    pub fn find(&self, role: Role, name: &str) -> Option<&Entry> {
        self.of(role).find(|entry| entry.name == name)
    }
}
