//! Second weights that are drawn to zero at every step: the regularisation of TDRC.

use super::traced::Traced;
use crate::{Real, Schedule};

/// h ← (1 − rate) h, without touching every feature at every step: h = `common` h̃, and only `common` shrinks.
///
/// Before `common` gets too small it is multiplied by a power of two and all h̃ are divided by it, which changes no bits of h. Where the rate is so large that `common` would vanish within
/// a few steps, h̃ itself shrinks, and `common` stays 1. Each lane does what it would alone.
#[derive(Clone, Debug)]
pub(super) struct Shrinking<R> {
    pub(super) common: R,
    /// One in lanes in which `common` shrinks, zero in those in which h̃ does.
    is_slow: R,
    all_slow: bool,
}

/// The second weights among the others.
const H: usize = 1;
/// The largest rate at which `common` shrinks.
const FASTEST: f64 = 15.0 / 16.0;
/// 2^−256 and its inverse.
const SMALL: f64 = f64::from_bits((1023 - 256) << 52);
const LARGE: f64 = f64::from_bits((1023 + 256) << 52);

impl<R: Real> Shrinking<R> {
    /// Shrinks at most at this rate.
    pub(super) fn new(rate: R) -> Self {
        let is_slow = R::splat(FASTEST).if_less(rate, R::zero(), R::one());
        Self { common: R::one(), is_slow, all_slow: (R::one() - is_slow).all_zero() }
    }

    /// Draws h to zero at a rate, which is multiplied by the schedule's factor. If each feature has a step-size of its own, this applies to active features alone.
    /// Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    pub(super) fn shrink<const W: usize, const T: usize>(
        &mut self,
        traced: &mut Traced<R, W, T>,
        schedule: &Schedule<R>,
        rate: R,
        x: impl Iterator<Item = (usize, f64)>,
    ) -> R {
        if schedule.is_per_feature() {
            let mut sum = R::zero();
            for (k, x) in x {
                let h = &mut traced.cells[k].weights[H];
                if x != 0.0 {
                    *h -= rate * schedule.factor(k) * *h;
                    sum += h.nan_unless_finite();
                }
            }
            return sum;
        }
        let keep = R::one() - if schedule.is_constant() { rate } else { rate * schedule.factor(0) };
        self.common = R::zero().if_less(self.is_slow, self.common * keep, self.common);
        let is_small = self.common.if_less(R::splat(SMALL), R::one(), R::zero());
        if self.all_slow && is_small.all_zero() {
            return R::zero();
        }
        let own = R::zero().if_less(is_small, R::splat(SMALL), R::one());
        self.common = R::zero().if_less(is_small, self.common * R::splat(LARGE), self.common);
        multiply(traced, R::zero().if_less(self.is_slow, own, keep))
    }
}

/// h̃ ← factor h̃. Returns the sum of [`Real::nan_unless_finite`].
#[inline(always)]
fn multiply<R: Real, const W: usize, const T: usize>(traced: &mut Traced<R, W, T>, factor: R) -> R {
    let mut sum = R::zero();
    for h in traced.weights_mut(H) {
        // −0 becomes 0, as it would where only other lanes trace the feature.
        *h = *h * factor + R::zero();
        sum += h.nan_unless_finite();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lanes;

    /// As if h itself were multiplied at every step, whether slowly or at once, over many powers of two.
    #[test]
    fn what_is_drawn_to_zero_is_what_was_multiplied() {
        let rates = Lanes([0.0, 0.001, 0.4, 0.9375, 0.95, 1.0, 1.5, 1.0 / 3.0]);
        let (mut traced, mut shrinking) = (Traced::<Lanes<8>, 2, 1>::new(2), Shrinking::new(rates));
        let mut expected = [Lanes::splat(0.0); 2];
        let schedule = Schedule::default();
        for t in 0..3000 {
            let changed = shrinking.shrink(&mut traced, &schedule, rates, std::iter::empty());
            assert_eq!(changed, Lanes::splat(0.0));
            traced.cells[t % 2].weights[H] += Lanes::splat(1.0) / shrinking.common;
            for h in &mut expected {
                *h *= Lanes::splat(1.0) - rates;
            }
            expected[t % 2] += Lanes::splat(1.0);
        }
        for (k, expected) in expected.into_iter().enumerate() {
            let h = traced.cells[k].weights[H] * shrinking.common;
            for lane in 0..8 {
                let (h, expected) = (h.lane(lane), expected.lane(lane));
                assert!((h - expected).abs() <= 1e-12 * expected.abs(), "{lane}: {h} {expected}");
            }
        }
    }
}
