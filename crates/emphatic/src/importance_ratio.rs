//! The importance ratio ρ_t = π(A_t|S_t) / μ(A_t|S_t).

use crate::Real;

/// Returns ρ, given the target's probability (or density) of the action taken and the behaviour's.
#[inline(always)]
pub(crate) fn importance_ratio<R: Real>(pi: R, mu: f64) -> R {
    pi * R::splat(1.0 / mu)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lanes;

    #[test]
    fn by_hand() {
        assert_eq!(importance_ratio(0.5, 0.25), 2.0);
        assert_eq!(importance_ratio(Lanes([0.0, 0.75]), 0.5), Lanes([0.0, 1.5]));
    }
}
