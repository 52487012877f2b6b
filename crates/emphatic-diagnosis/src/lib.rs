//! What is exactly true of a decision problem, and what it means for learning in it off-policy.
//!
//! ```
//! use emphatic_diagnosis::{Options, diagnose, solve};
//! use emphatic_problems::ProblemFile;
//! use std::ops::ControlFlow;
//!
//! let problem = ProblemFile::open("counterexample".as_ref())?;
//! let solution = solve(&problem, 1.0)?;
//! assert_eq!(solution.objective, 0.6875);
//!
//! let go_on = |_, _| ControlFlow::Continue(()); // It could stop the diagnosis; then there is none.
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
//! | can the emphasis be estimated? | [`emphasis`] |
//! | are linear critics stable? | [`critic`] |
//! | which setting should I start with? | [`suggestion`] |
//! | all of it in words | [`mod@diagnose`], `words` |
//! | all of it in one picture | [`figure`] |

#![forbid(unsafe_code)]

pub mod critic;
pub mod diagnose;
pub mod emphasis;
pub mod figure;
pub mod flows;
pub mod solve;
mod subject;
pub mod suggestion;
mod words;

pub use diagnose::{Diagnosis, Options, diagnose};
pub use solve::{Solution, solve};
