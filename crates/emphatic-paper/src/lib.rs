//! The paper, reproduced: *An Off-policy Policy Gradient Theorem Using Emphatic Weightings* (Imani, Graves and White 2018).

pub mod claims;
pub mod figures;
pub mod verdict;
