//! The follow-up study: *Off-Policy Actor-Critic with Emphatic Weightings* (Graves, Imani, Kumaraswamy and White, JMLR 2023).
//!
//! Three simulators, two critics, two interests, and the emphasis by the trace, learned directly or recomputed, each over the study's whole grid
//! of settings. [`reproduce`] runs it, judges what the study says by rules that were written down before, and puts its numbers beside
//! the published ones.

pub mod claims;
pub mod numbers;
mod panels;
mod published;
mod report;
mod reproduce;

pub use reproduce::{StudyReproduction, experiment, reproduce};

use published::Published;
use std::fmt;

/// One of the study's problems.
#[derive(Debug)]
pub struct StudyProblem {
    /// Its name: of its directory, and of its file under `experiments`.
    pub id: &'static str,
    /// What it is called.
    pub title: &'static str,
    /// What is special about it.
    pub caption: &'static str,
    /// Its experiment file.
    pub experiment: &'static str,
    /// What the study reports.
    published: &'static [Published],
}

macro_rules! experiment {
    ($id:literal) => {
        include_str!(concat!("../../../experiments/", $id, ".toml"))
    };
}

/// The seed of the experiment files.
const SEED: u64 = 2;

/// The problems of the study.
pub static PROBLEMS: [StudyProblem; 3] = [
    StudyProblem {
        id: "jmlr-mountain-car",
        title: "Mountain Car",
        caption: "A uniform behaviour reaches the goal two or three times in a run of 100,000 steps. 8 tilings of 4 × 4 tiles and a bias. Returns are not discounted; episodes of evaluations are cut after 1,000 steps.",
        experiment: experiment!("jmlr-mountain-car"),
        published: &published::MOUNTAIN_CAR,
    },
    StudyProblem {
        id: "jmlr-puddle-world",
        title: "Puddle World",
        caption: "Coarse features on purpose: 2 tilings of 2 × 2 tiles and a bias, so that the policy is the same in places that differ. Episodes start inside a puddle. Those of evaluations are cut after 100 steps; where the study cuts them is not known.",
        experiment: experiment!("jmlr-puddle-world"),
        published: &published::PUDDLE_WORLD,
    },
    StudyProblem {
        id: "jmlr-virtual-office",
        title: "Virtual Office",
        caption: "Rooms that look alike, of which one has the better goal: what the behaviour visits most is not what the policy should be good at.",
        experiment: experiment!("jmlr-virtual-office"),
        published: &published::VIRTUAL_OFFICE,
    },
];

/// What policies are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// The return from where episodes start.
    Episodic,
    /// The return from where the behaviour is.
    Excursions,
}

/// Both objectives.
pub const OBJECTIVES: [Objective; 2] = [Objective::Episodic, Objective::Excursions];

impl Objective {
    /// The column that it is recorded in.
    pub fn column(self) -> &'static str {
        match self {
            Self::Episodic => "return",
            Self::Excursions => "excursions_return",
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Episodic => "episodic",
            Self::Excursions => "excursions",
        })
    }
}

/// The critic beside an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Critic {
    /// TDRC(λ).
    Tdrc,
    /// ETD(λ), weighted by the actor's emphasis.
    Etd,
}

/// Both critics.
pub const CRITICS: [Critic; 2] = [Critic::Tdrc, Critic::Etd];

impl fmt::Display for Critic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Self::Tdrc => "TDRC",
            Self::Etd => "ETD",
        })
    }
}

/// A method of the study: how the emphasis is estimated, and for which interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Method {
    /// No emphasis.
    OffPac,
    /// The follow-on trace.
    Trace(Interest),
    /// Learned, F̂(s) = u·x(s).
    Direct(Interest),
    /// The trace, recomputed at every step with the current policy.
    Ideal(Interest),
}

/// The interest in states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Interest {
    /// One everywhere.
    All,
    /// One where an episode starts, zero elsewhere.
    Start,
}

/// All methods, in the order of tables.
pub const METHODS: [Method; 7] = {
    use Interest::{All, Start};
    use Method::{Direct, Ideal, OffPac, Trace};
    [OffPac, Direct(All), Direct(Start), Trace(All), Trace(Start), Ideal(All), Ideal(Start)]
};

impl fmt::Display for Method {
    /// Its name in figures: the emphasis, and the interest if that is not everywhere.
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (name, interest) = match self {
            Self::OffPac => ("OffPAC", Interest::All),
            Self::Trace(interest) => ("trace", *interest),
            Self::Direct(interest) => ("direct", *interest),
            Self::Ideal(interest) => ("ideal", *interest),
        };
        let interest = if interest == Interest::Start { ", start" } else { "" };
        write!(f, "{name}{interest}")
    }
}
