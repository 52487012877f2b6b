//! Off-policy actor-critic learning that follows the true gradient.
//!
//! An off-policy learner improves a *target* policy π from experience that a *behaviour* policy μ generated. The usual
//! methods (OffPAC, DPG and what is built on them) weight states by how often the behaviour visits them, d_μ. That is a
//! semi-gradient: it can walk away from a near-optimal policy. The gradient of the objective
//! J_μ = Σ_s d_μ(s) i(s) v_π(s) weights states by the *emphatic weighting* mᵀ = iᵀ(I − P_{π,γ})⁻¹ instead
//! (Imani, Graves and White 2018, *An Off-policy Policy Gradient Theorem Using Emphatic Weightings*).
//!
//! # Three parts
//!
//! An actor-critic is a **policy** (how to act: [`Softmax`], [`Gaussian`], [`DeterministicLinear`]), a **critic** (how good
//! was it: [`ExactCritic`], [`Gtd`], [`Gq`], [`Advantage`], [`Compatible`]) and an **emphasis** (how much
//! does this state count: [`NoEmphasis`], [`FollowOn`], [`ExactEmphasis`]). A learner is their composition, and the paper's
//! algorithms are names for compositions:
//!
//! | algorithm | policy | emphasis | here |
//! |---|---|---|---|
//! | OffPAC | stochastic | none (λ_a = 0) | [`off_pac`] |
//! | ACE(λ_a) | stochastic | follow-on trace | [`ace`] |
//! | True-ACE | stochastic | exact | [`true_ace`] |
//! | DPG | deterministic | none | [`dpg`] |
//! | True-DPGE | deterministic | exact | [`true_dpge`] |
//!
//! Each part sees the state through [`Features`] of its own: vectors, lists of active features (tile coding), or the rows of a
//! [`Table`] for states that come as numbers. The caller drives the loop:
//!
//! ```
//! use emphatic::{Features, Gtd, Learner, Softmax, Step, ace};
//!
//! // Two actions, states seen as three numbers.
//! let policy = Softmax { features: Features::dense(3), actions: 2 };
//! let critic = Gtd::new(Features::dense(3), 0.05, 1e-4, 0.5)?; // α_v, α_w, λ
//! let mut learner = ace(policy, critic, 0.9, 0.1)?; // λ_a, α
//!
//! let update = learner.step(&Step {
//!     state: [1.0, 0.2, 0.0],
//!     action: 1,
//!     mu: 0.75,        // with what probability the behaviour took it
//!     reward: 2.0,
//!     next: [1.0, 0.0, 0.4],
//!     gamma: 0.0,      // into this state: an episode starts
//!     gamma_next: 0.9, // out of it; 0 would end the episode
//!     interest: 1.0,
//! })?;
//! assert_eq!((update.rho, update.emphasis, update.delta), (0.5 / 0.75, 1.0, 2.0));
//! learner.check()?; // an error, had the weights left the finite numbers
//! let probabilities = learner.actor().distribution([1.0, 0.0, 0.4])?; // how it would act now
//! assert!(probabilities[1] > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # One stream, many learners
//!
//! Off-policy learners do not influence their data, so one stream can teach any number of them. Every algorithm is
//! written once over the number type [`Real`]: `f64` is one learner, [`Lanes`] are several side by side, each with its own
//! settings (every one of them `Lanes`), to the bit what each would be alone.
//!
//! ```
//! use emphatic::{Exact, ExactCritic, Isa, Lanes, Learner, Real, Task, ace};
//! use std::sync::Arc;
//!
//! let task = Arc::new(Task::counterexample());
//! let policy = task.softmax();
//! let critic = ExactCritic::new(task.clone(), &policy)?;
//! let lambda_a = Lanes([0.0, 0.25, 0.5, 1.0]);
//! let mut learners = ace(policy.clone(), critic, lambda_a, Lanes::splat(0.05))?;
//!
//! let steps: Vec<_> = task.stream(1, 0).take(4000).collect(); // seed, run
//! learners.learn(Isa::best(), &steps)?;
//!
//! // The larger λ_a, the better: the objective is exact, not sampled.
//! let objectives = Exact::new(&*task, &policy, learners.weights())?.objective();
//! assert!(objectives.0.is_sorted());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Exact theory
//!
//! For a finite problem everything in the paper can be computed: see [`theory`] and [`Exact`].
//!
//! ```
//! use emphatic::{Exact, Problem, Task};
//! let problem = Problem::builder()
//!     .states(["near", "far"])
//!     .actions(["stay", "leave"])
//!     .start("near", 1.0)
//!     .transition("near", "stay", "near", 1.0, 0.1, 0.9) // probability, reward, γ
//!     .transition("near", "leave", "far", 1.0, 0.0, 0.9)
//!     .end("far", "stay", 1.0, 1.0)
//!     .end("far", "leave", 1.0, 0.0)
//!     .build()?;
//! let task = Task::new(problem, &[vec![0.5, 0.5], vec![0.5, 0.5]])?; // the behaviour
//! let policy = task.softmax();
//! let exact = Exact::new(&task, &policy, &[0.0; 4])?;
//! println!("J = {}, gradient {:?}", exact.objective(), exact.gradient(1.0));
//! # Ok::<(), emphatic::ProblemError>(())
//! ```
//!
//! # Saving
//!
//! The whole state of a learner can be saved and restored: see [`Tensors`].
//!
//! # Conventions
//!
//! Time suffixes as in the paper: nothing for t, `_next` for t+1. F_t uses ρ_{t−1} and the discount *into* S_t; a trace
//! uses ρ_t and the discount *into* S_t; δ_t uses the discount *out of* S_t. An episode ends by γ = 0. A time limit is not
//! an end: see [`Step`]. λ_a = 1 is full emphasis. Step-sizes are divided by the number of active features.
//!
//! The determinism contract: results are the same bits for any number of lanes, any instruction set, interrupted or not.
//! (What a learner's weights become once it has diverged is not part of it; when it diverged is.)

mod action;
pub mod catalogue;
mod compose;
pub mod critic;
pub mod emphasis;
pub mod features;
mod isa;
mod leaf;
pub mod learner;
mod part;
pub mod policy;
pub mod problem;
mod random;
pub mod real;
mod recipe;
mod setting;
mod step;
mod tensors;
pub mod theory;

pub use action::{Action, Acts};
pub use catalogue::{Catalogue, Declaration, Declared};
pub use compose::{Built, Composable, PartBuilder};
pub use critic::{ActionCritic, Advantage, Compatible, Critic, ExactCritic, Gq, Gtd, SlopeCritic};
pub use emphasis::{Emphasis, ExactEmphasis, FollowOn, NoEmphasis};
pub use features::{AsState, FeatureError, Features, Row, Scratch, State, Table};
pub use isa::{Isa, Kernel};
pub use leaf::Leaf;
pub use learner::{
    Ace, ActorCritic, AllActions, DeterministicActorCritic, Diverged, Dpg, LearnError, Learner, OffPac,
    TrueAce, TrueDpge, Update, Watcher, ace, dpg, off_pac, true_ace, true_dpge,
};
pub use part::{ComposeError, Part, Seen, SeenScratch};
pub use policy::{
    DeterministicLinear, DeterministicPolicy, FinitePolicy, Fixed, Gaussian, Normal, Policy, Softmax,
    StochasticPolicy,
};
pub use problem::{
    ContinuousCounterexample, Key, KnownProblem, Problem, ProblemBuilder, ProblemError, Task, Transition,
};
pub use random::{Draw, Random, index_at};
pub use real::{Dual, Lanes, Real};
pub use recipe::{PartRecipe, Recipe, RuleKind, Subset};
pub use setting::{Range, SettingError};
pub use step::{Step, StepError};
pub use tensors::{Numbers, StateError, Tensors, Visitor};
pub use theory::{Exact, FollowOnMoments, Limit, Model, best_attainable, limit};
