//! Softmax policies over linear preferences.

use super::{FinitePolicy, Policy, StochasticPolicy, add_outputs, any_outputs, outputs};
use crate::catalogue::{self, Role};
use crate::{
    Built, ComposeError, Declaration, Declared, Draw, Features, PartBuilder, Real, Row, RuleKind, StateError,
    StepError, Visitor, index_at,
};

impl Declared for Softmax {
    const DECLARATION: Declaration = Declaration {
        source: "Degris, White and Sutton 2012",
        acts: Some(catalogue::Acts::Finite),
        outputs: None,
        features: true,
        ..Declaration::new(
            Role::Policy,
            "softmax",
            "Softmax",
            "finitely many actions, with probabilities proportional to exp(x·θ_a)",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        let policy = Softmax { features: with.features()?, actions: with.actions()? };
        match with.rule() {
            RuleKind::Taken => match with.fused(&policy)? {
                Some(learner) => Ok(learner),
                None => with.stochastic(policy),
            },
            RuleKind::All => with.finite(policy),
            RuleKind::Deterministic => with.wrong_rule(),
        }
    }
}

/// π(a|s) ∝ exp(Σ_f x_f(s) θ_{f,a}). The weight of feature `f` for action `a` is number `f · actions + a`.
#[derive(Clone, Debug, PartialEq)]
pub struct Softmax {
    /// The features of the policy.
    pub features: Features,
    /// The number of actions.
    pub actions: usize,
}

impl Policy for Softmax {
    type Action = usize;
    /// The probability of each action.
    type Distribution<R: Real> = Vec<R>;

    #[inline(always)]
    fn features(&self) -> &Features {
        &self.features
    }

    fn len(&self) -> usize {
        self.features.len().saturating_mul(self.actions)
    }

    #[inline(always)]
    fn check_action(&self, action: usize) -> Result<(), StepError> {
        if action < self.actions { Ok(()) } else { Err(StepError::Action { action, actions: self.actions }) }
    }

    #[inline(always)]
    fn check_mu(&self, mu: f64) -> Result<(), StepError> {
        if mu <= 1.0 + 1e-9 { Ok(()) } else { Err(StepError::Probability(mu)) }
    }

    fn room<R: Real>(&self) -> Vec<R> {
        vec![R::zero(); self.actions]
    }

    #[inline(always)]
    fn distribution<R: Real>(&self, weights: &[R], x: Row, out: &mut Vec<R>) {
        if let [first, second] = &mut out[..] {
            let [a, b] = outputs(x, weights);
            (*first, *second) = softmax_of_two(a, b);
        } else if let Ok(three) = <&mut [R; 3]>::try_from(&mut out[..]) {
            *three = outputs(x, weights);
            softmax(three);
        } else {
            any_outputs(x, weights, out);
            softmax(out);
        }
    }

    fn numbers<R: Real>(&self, at: &Vec<R>) -> Vec<R> {
        at.clone()
    }

    fn settings(&self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.setting("actions", self.actions as f64)
    }

    fn sample<R: Real>(&self, at: &Vec<R>, lane: usize, draw: &mut dyn Draw) -> usize {
        index_at(draw.uniform(), at.iter().map(|p| p.lane(lane)))
    }
}

impl StochasticPolicy for Softmax {
    #[inline(always)]
    fn probability<R: Real>(&self, at: &Vec<R>, action: usize) -> R {
        at[action]
    }

    #[inline(always)]
    fn add_score<R: Real>(&self, x: Row, at: &Vec<R>, action: usize, scale: R, weights: &mut [R]) -> R {
        // Two and three actions are the commonest; with their number known, all are added at once.
        match self.actions {
            2 => return add_scores::<R, 2>(x, at, action, scale, weights),
            3 => return add_scores::<R, 3>(x, at, action, scale, weights),
            _ => {}
        }
        // One action after the other: otherwise the compiler makes vectors of actions, not of lanes. Two sums, which need not wait for one another.
        let mut sums = [R::zero(); 2];
        let (pairs, last) = x.by_twos();
        for b in 0..self.actions {
            let c = scale * score(b, action, at);
            for [one, other] in pairs {
                sums[0] += self.add(c, *one, b, weights);
                sums[1] += self.add(c, *other, b, weights);
            }
            for one in last {
                sums[0] += self.add(c, *one, b, weights);
            }
        }
        sums[0] + sums[1]
    }
}

impl FinitePolicy for Softmax {
    fn actions(&self) -> usize {
        self.actions
    }

    #[inline(always)]
    fn probabilities<'a, R: Real>(&self, at: &'a Vec<R>) -> &'a [R] {
        at
    }
}

impl Softmax {
    /// θ_{f,b} ← θ_{f,b} + c x_f. Returns its [`Real::nan_unless_finite`].
    #[inline(always)]
    fn add<R: Real>(&self, c: R, (f, x): (usize, f64), b: usize, weights: &mut [R]) -> R {
        let w = &mut weights[f * self.actions + b];
        *w += c * R::splat(x);
        w.nan_unless_finite()
    }

    /// Turns preferences into probabilities, as in [`Policy::distribution`].
    #[inline(always)]
    pub fn probabilities_of<R: Real>(preferences: &mut [R]) {
        if let [first, second] = preferences {
            (*first, *second) = softmax_of_two(*first, *second);
        } else {
            softmax(preferences);
        }
    }
}

/// ∂ ln π(a) by the preference of b.
#[inline(always)]
fn score<R: Real>(b: usize, action: usize, at: &[R]) -> R {
    R::splat(f64::from(u8::from(b == action))) - at[b]
}

/// Adds scale · ∂ ln π(a)/∂θ to the weights of K actions.
#[inline(always)]
fn add_scores<R: Real, const K: usize>(x: Row, at: &[R], action: usize, scale: R, weights: &mut [R]) -> R {
    let mut c = [R::zero(); K];
    for (b, c) in c.iter_mut().enumerate() {
        *c = scale * score(b, action, at);
    }
    add_outputs(x, c, weights)
}

/// The two-action case with one exp: e^{−|x−y|} is the smaller probability's share.
#[inline(always)]
fn softmax_of_two<R: Real>(x: R, y: R) -> (R, R) {
    let difference = x - y;
    let share = (-difference.abs()).exp();
    let larger = R::one() / (R::one() + share);
    let smaller = share * larger;
    let negative = |then, otherwise| difference.if_less(R::zero(), then, otherwise);
    (negative(smaller, larger), negative(larger, smaller))
}

#[inline(always)]
fn softmax<R: Real>(preferences: &mut [R]) {
    let mut most = R::splat(f64::NEG_INFINITY);
    for x in &*preferences {
        most = x.larger(most);
    }
    let mut sum = R::zero();
    for x in &mut *preferences {
        *x = (*x - most).exp();
        sum += *x;
    }
    let inverse = R::one() / sum;
    for x in preferences {
        *x *= inverse;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsState, Random};

    /// What is written for a known number of actions is what is written for any.
    #[test]
    fn numbers_of_actions_do_not_matter() {
        for actions in 2..=6 {
            let policy = Softmax { features: Features::dense(3), actions };
            let weights: Vec<f64> = (0..3 * actions).map(|k| (k as f64 * 0.7).sin()).collect();
            let mut scratch = crate::Scratch::default();
            let x = policy.features.row([1.0, -0.3, 2.5].as_state(), &mut scratch);
            let at = policy.distribution_at(&weights, x);
            let mut right = vec![0.0; actions];
            for (k, weight) in weights.iter().enumerate() {
                right[k % actions] += [1.0, -0.3, 2.5][k / actions] * weight;
            }
            Softmax::probabilities_of(&mut right);
            assert_eq!(at, right);
            let mut changed = weights.clone();
            policy.add_score(x, &at, 1, 0.4, &mut changed);
            for (k, (changed, weight)) in changed.iter().zip(&weights).enumerate() {
                let (f, b) = (k / actions, k % actions);
                let taken = f64::from(u8::from(b == 1));
                assert_eq!(*changed, weight + 0.4 * (taken - at[b]) * [1.0, -0.3, 2.5][f]);
            }
        }
    }

    #[test]
    fn probabilities_and_score_by_hand() {
        // Preferences ln 1, ln 2, ln 5 for x = (1, 2): split as θ_0 + 2 θ_1.
        let policy = Softmax { features: Features::dense(2), actions: 3 };
        let logs = [1f64, 2.0, 5.0].map(f64::ln);
        let mut weights = vec![logs[0] - 2.0, logs[1] + 4.0, logs[2], 1.0, -2.0, 0.0];
        let mut scratch = crate::Scratch::default();
        let x = policy.features.row([1.0, 2.0].as_state(), &mut scratch);
        let at = policy.distribution_at(&weights, x);
        for (p, expected) in at.iter().zip([0.125, 0.25, 0.625]) {
            assert!((p - expected).abs() < 1e-15);
        }
        weights.fill(0.0);
        policy.add_score(x, &at, 1, 10.0, &mut weights);
        for (w, expected) in weights.iter().zip([-1.25, 7.5, -6.25, -2.5, 15.0, -12.5]) {
            assert!((w - expected).abs() < 1e-13);
        }
    }

    #[test]
    fn two_actions_agree_with_the_general_form() {
        let policy = Softmax { features: Features::one_hot(1), actions: 2 };
        for (x, y) in [(0.0, 0.0), (3.0, -1.0), (-700.0, 700.0), (1e300, 0.0), (5.0, 5.5)] {
            let at = policy.distribution_at(&[x, y], policy.features.of_number(0));
            let mut general = [x, y];
            softmax(&mut general);
            for (p, q) in at.iter().zip(general) {
                assert!((p - q).abs() <= 4.0 * f64::EPSILON * q, "{x} {y}: {p} {q}");
            }
        }
    }

    #[test]
    fn large_preferences_do_not_overflow() {
        let policy = Softmax { features: Features::one_hot(1), actions: 3 };
        let at = policy.distribution_at(&[1e308, -1e308, 1e308], policy.features.of_number(0));
        assert_eq!(at, [0.5, 0.0, 0.5]);
    }

    #[test]
    fn actions_are_drawn_as_often_as_they_should() {
        let policy = Softmax { features: Features::one_hot(1), actions: 2 };
        let mut random = Random::new(11, 0);
        let n = 100_000;
        let first = (0..n).filter(|_| policy.sample(&vec![0.3, 0.7], 0, &mut random) == 0).count();
        assert!((first as f64 / f64::from(n) - 0.3).abs() < 5.0 * (0.21 / f64::from(n)).sqrt());
    }
}
