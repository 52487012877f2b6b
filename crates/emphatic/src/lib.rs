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
//! was it: [`ExactCritic`], [`Gtd`], [`Tdrc`], [`Etd`], [`Gq`] and others, see [`critic`]) and an **emphasis** (how much
//! does this state count: [`NoEmphasis`], [`FollowOn`], [`LambdaReturn`], [`ExactEmphasis`] and others, see [`emphasis`]). A learner is their composition, and the paper's
//! algorithms are names for compositions:
//!
//! | algorithm | policy | emphasis | here |
//! |---|---|---|---|
//! | OffPAC | stochastic | none (λ_a = 0) | [`off_pac`] |
//! | ACE(λ_a) | stochastic | learned through its λ-return | [`ace`] |
//! | ACE(λ_a) of the paper | stochastic | follow-on trace | [`follow_on_ace`] |
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
//! let critic = Gtd::builder(Features::dense(3)).alpha_v(0.05).alpha_w(1e-4).lambda(0.5).build()?;
//! let mut learner = ace(policy, critic).alpha(0.1).build()?;
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
//! let mut learners = ace(policy.clone(), critic).lambda_a(lambda_a).alpha(Lanes::splat(0.05)).build()?;
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
//! # Learners in a service
//!
//! A program that keeps learners of whatever parts holds them as `Box<dyn Learner<f64>>`. One is made from a typed learner,
//! or from a [`Recipe`] by the names in the [`Catalogue`], and is a [`Learner`] itself.
//!
//! ```
//! use emphatic::{
//!     Action, AsState, Catalogue, Composable, ComposeError, Features, Isa, Learner, PartRecipe, Random, Recipe,
//!     RuleKind, Step, StepError,
//! };
//!
//! struct Service {
//!     learner: Box<dyn Learner<f64>>,
//!     random: Random,
//! }
//!
//! impl Service {
//!     fn new(lambda_a: f64) -> Result<Self, ComposeError> {
//!         let policy = PartRecipe::new("softmax").with_features(Features::dense(2));
//!         let critic = PartRecipe::new("gtd").with("alpha_v", 0.05).with("alpha_w", 1e-4);
//!         let emphasis = PartRecipe::new("follow-on").with("lambda_a", lambda_a);
//!         let recipe = Recipe::new(RuleKind::Taken, policy, critic, emphasis, 0.1).with_actions(3);
//!         let learner = f64::compose(Catalogue::current(), &[&recipe], &[], Isa::best())?;
//!         Ok(Self { learner, random: Random::new(1, 0) })
//!     }
//!
//!     /// Returns an action, and the probability with which it was drawn.
//!     fn act(&mut self, state: &[f64]) -> Result<(Action, Option<f64>), StepError> {
//!         let action = self.learner.sample(0, state.as_state(), &mut self.random)?;
//!         Ok((action, self.learner.probability(state.as_state(), action)?))
//!     }
//! }
//!
//! let mut service = Service::new(0.9)?;
//! let (action, mu) = service.act(&[1.0, 0.5])?;
//! let mu = mu.expect("a softmax draws its actions");
//! let (state, next) = ([1.0, 0.5], [0.0, 1.0]);
//! service.learner.step(&Step { state, action, mu, reward: 1.0, next, gamma: 0.0, gamma_next: 0.9, interest: 1.0 })?;
//!
//! let saved = service.learner.state()?;
//! let mut after_restart = Service::new(0.9)?;
//! after_restart.learner.restore(&saved)?;
//! assert_eq!(after_restart.learner.weights(), service.learner.weights());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Saving
//!
//! The whole state of a learner can be saved, and restored to a learner with the same settings: see [`SavedState`].
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
pub mod actor;
pub mod basis;
mod boxed;
pub mod catalogue;
mod compose;
pub mod critic;
pub mod emphasis;
mod expectation_model;
pub mod features;
mod importance_ratio;
mod instruction_set;
pub mod learner;
mod linear_system;
mod part;
pub mod policy;
pub mod problem;
mod random_stream;
pub mod real;
mod recipe;
mod saved_state;
pub mod schedule;
mod settings;
mod step;
pub mod theory;
mod visitor;

pub use action::{Action, Acts};
pub use actor::{ActorInput, ActorRule, ActorTrace, GeoffPac, GradientCritic, GradientValues, ModelGradient};
pub use basis::{Basis, BasisError, BasisRecipe, CodedStates, DeclaredBasis, TileCoder};
pub use boxed::WithIsa;
pub use catalogue::{Catalogue, Declaration, Declared};
pub use compose::{Built, Composable, PartBuilder};
pub use critic::{
    Abtd, ActionCritic, Advantage, Compatible, Critic, Elstd, Etd, ExactCritic, ExpectedTdrc, Gq, Gtd, Gtd2,
    Htd, Lstd, LstdQ, ModelCritic, ProximalGtd2, Retrace, SlopeCritic, Td, Tdrc, TreeBackup, TrueOnlineEtd,
    VTrace,
};
pub use emphasis::{
    Clipped, CopTd, Decayed, Direct, Emphasis, ExactEmphasis, FollowOn, Gem, GradientDice, Ideal,
    LambdaReturn, Lc, LstdEmphasis, ModelEmphasis, NStep, NoEmphasis, Normalised, Periodic, Tderc, Truncated,
    XEtd,
};
pub use features::{AsState, FeatureError, Features, Row, Scratch, State, Table};
pub use instruction_set::Isa;
pub use learner::{
    Ace, ActorCritic, AllActions, ByActor, DeterministicActorCritic, Diverged, Dpg, FollowOnAce, LearnError,
    Learner, LearnerBuilder, OffPac, TimeUnit, TrueAce, TrueDpge, Update, Watcher, WithActionsActor,
    WithActor, ace, dpg, follow_on_ace, off_pac, true_ace, true_dpge,
};
pub use part::{ComposeError, Part, Seen, SeenScratch};
pub use policy::{
    AnyPolicy, DeterministicLinear, DeterministicPolicy, FinitePolicy, Fixed, Gaussian, Normal, Policy,
    Softmax, StochasticPolicy,
};
pub use problem::{
    ContinuousCounterexample, Key, KnownProblem, Problem, ProblemBuilder, ProblemError, Task, Transition,
};
pub use random_stream::{Draw, Random, index_at, normal_of};
pub use real::{Dual, Lanes, Real};
pub use recipe::{PartRecipe, Recipe, RuleKind, Subset};
pub use saved_state::{Numbers, SavedSetting, SavedState, StateError, Tensors};
pub use schedule::{Constant, PerFeature, Polynomial, Schedule};
pub use settings::{Range, SettingError, Settings};
pub use step::{Step, StepError};
pub use theory::{Exact, FollowOnMoments, Limit, Model, best_attainable, limit};
pub use visitor::Visitor;
