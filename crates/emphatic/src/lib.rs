//! # emphatic

pub mod critic;
pub mod emphasis;
pub mod features;
mod isa;
pub mod learner;
pub mod policy;
pub mod problem;
mod random;
pub mod real;
mod state;
mod step;
pub mod theory;

pub use critic::{ActionCritic, ActionValues, Critic, ExactCritic, Gtd, LearnedAdvantage, SlopeCritic};
pub use emphasis::{Emphasis, ExactEmphasis, FollowOn, NoEmphasis, RatioFree};
pub use features::{Active, Dense, FeatureError, Features, OneHot, Table};
pub use isa::{Isa, Kernel};
pub use learner::{
    ActorCritic, AllActions, DeterministicActorCritic, Diverged, Learner, Update, ace, dpg, off_pac,
    true_ace, true_dpge,
};
pub use policy::{
    DeterministicLinear, DeterministicPolicy, FinitePolicy, Gaussian, Normal, Policy, Softmax,
    StochasticPolicy,
};
pub use problem::{ContinuousCounterexample, Problem, ProblemBuilder, ProblemError, Task, Transition};
pub use random::Random;
pub use real::{Dual, Lanes, Real};
pub use state::{RestoreError, SettingError, Stateful};
pub use step::{Step, StepError};
pub use theory::{Exact, Limit, Model, best_attainable};
