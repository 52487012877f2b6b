//! The exact solution of a decision problem, and what it means for learning in it off-policy.
//!
//! ```
//! use emphatic_diagnosis::{Options, diagnose, solve};
//! use emphatic_problems::ProblemFile;
//! use std::ops::ControlFlow;
//!
//! let problem = ProblemFile::open("counterexample".as_ref())?;
//! let solution = solve(&problem, 1.0, &[])?;
//! assert_eq!(solution.objective, 0.6875);
//!
//! let go_on = |_, _| ControlFlow::Continue(()); // Break would stop the diagnosis.
//! let diagnosis = diagnose(&problem, &Options::default(), &go_on)?.unwrap();
//! let flows = diagnosis.flows.unwrap();
//! assert!((flows.best - 1.25).abs() < 1e-8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | where |
//! |---|---|
//! | what are d_μ, v, q, m, J_μ and its gradients? | [`mod@solve`] |
//! | where do the gradient and the semi-gradient lead? | [`flows`] |
//! | how well does the follow-on trace estimate the emphasis? | [`emphasis`] |
//! | which λ_e suits a learned emphasis, and where does it see too little? | [`lambda_return`], [`aliased_emphasis`] |
//! | are linear critics stable? | [`critic_stability`] |
//! | what do linear critics and emphases learn? | [`linear_methods`] |
//! | which setting should I start with? | [`suggestion`] |
//! | what does a sample of steps tell, where nobody knows the problem? | [`sampled`] |
//! | all of it in words | [`mod@diagnose`], [`Diagnosis::text`] |
//! | all of it in one picture | [`figure`] |

#![forbid(unsafe_code)]

pub mod aliased_emphasis;
pub mod critic_stability;
mod diagnosable;
pub mod diagnose;
pub mod emphasis;
mod experiment;
pub mod figure;
pub mod flows;
mod format;
pub mod lambda_return;
pub mod linear_methods;
mod names;
mod parallel;
mod report;
pub mod sampled;
pub mod solve;
pub mod suggestion;
mod verdict;

pub use diagnose::{Diagnosis, Options, Progress, diagnose};
pub use sampled::{Experience, SampleError, SampledDiagnosis, diagnose_experience};
pub use solve::{Solution, solve};
