//! What several tests share.

#![allow(dead_code, reason = "each test file uses its own part of this")]

use emphatic::{Policy, Random};

/// Weights that prefer some actions without making any certain.
pub fn random_weights<P: Policy>(random: &mut Random, policy: &P) -> Vec<f64> {
    (0..policy.len()).map(|_| random.normal()).collect()
}
