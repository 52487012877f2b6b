//! Features φ(s,a) of a state and an action, which hold the features of s in the place of a: number `f · actions + a` for feature `f`.

use crate::action::number;
use crate::{Real, Row, Seen};

/// φ(s,a).
#[inline(always)]
pub(crate) fn pair(x: Row, actions: usize, action: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
    x.iter().map(move |(f, x)| (f * actions + action, x))
}

/// φ̄ = Σ_b π(b|s) φ(s,b).
#[inline(always)]
pub(crate) fn mean<R: Real>(x: Row, policy: &[R]) -> impl Iterator<Item = (usize, R)> + Clone {
    let actions = policy.len();
    let of = move |(f, x)| (0..actions).map(move |b| (f * actions + b, b, R::splat(x)));
    x.iter().flat_map(of).map(|(k, b, x)| (k, policy[b] * x))
}

/// Returns δ_t = R_{t+1} + γ_{t+1} Σ_b π(b|S_{t+1}) q̂(S_{t+1},b) − q̂(S_t,A_t), given q̂ and π(·|S_{t+1}).
#[inline(always)]
pub(super) fn expected_td_error<R: Real>(step: &Seen, next: &[R], q: impl Fn(Row, usize) -> R) -> R {
    let mut delta = R::splat(step.reward);
    if step.gamma_next > 0.0 {
        for (b, probability) in next.iter().enumerate() {
            delta += R::splat(step.gamma_next) * *probability * q(step.x_next, b);
        }
    }
    delta - q(step.x, number(step.action))
}

/// Returns Σ_b π(b|s) q̂(s,b), given q̂(s,·) and π(·|s).
#[inline(always)]
pub(super) fn expected_value<R: Real>(policy: &[R], q: impl Fn(usize) -> R) -> R {
    let mean = |value, (b, probability): (usize, &R)| value + *probability * q(b);
    policy.iter().enumerate().fold(R::zero(), mean)
}

/// Writes q̂(s,b) − Σ_c π(c|s) q̂(s,c) of every action b to `out`, given q̂(s,·) and π(·|s).
#[inline(always)]
pub(super) fn advantages<R: Real>(policy: &[R], out: &mut [R], q: impl Fn(usize) -> R) {
    let mut value = R::zero();
    for (b, (out, probability)) in out.iter_mut().zip(policy).enumerate() {
        *out = q(b);
        value += *probability * *out;
    }
    out.iter_mut().for_each(|out| *out -= value);
}
