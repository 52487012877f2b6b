//! The paper, reproduced: *An Off-policy Policy Gradient Theorem Using Emphatic Weightings* (Imani, Graves and White 2018).
//!
//! [`reproduce`](reproduce::reproduce) runs its five experiments at full scale, judges each of its claims by a rule that was written
//! down before, and leaves figures and a report.
//!
//! | concept | where |
//! |---|---|
//! | the experiments | [`figures`]; the files themselves lie under `experiments` |
//! | the claims and the rules that judge them | [`claims`], [`theory_claims`], [`verdict`] |
//! | the results: every number in the report | [`figure_numbers`] |
//! | pictures | `panels`; they are drawn by [`emphatic_chart`] |
//! | the report | `report` |
//! | the follow-up study of 2023 | [`study`] |

pub mod claims;
pub mod figure_numbers;
pub mod figures;
mod panels;
mod report;
pub mod reproduce;
mod student;
pub mod study;
pub mod theory_claims;
pub mod verdict;
