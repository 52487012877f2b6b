//! Second weights that are drawn to zero at every step: the regularisation of TDRC.

use super::traced::Traced;
use crate::Real;

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

    /// Draws h to zero at a rate, if all features have the same. Returns by what each h̃ is to be multiplied, if by anything.
    #[inline(always)]
    pub(super) fn shrink(&mut self, rate: R) -> Option<R> {
        let keep = R::one() - rate;
        self.common = R::zero().if_less(self.is_slow, self.common * keep, self.common);
        (!self.all_slow).then(|| R::zero().if_less(self.is_slow, R::one(), keep))
    }

    /// Ends a step: sees to it that `common` does not get too small. Returns the sum of [`Real::nan_unless_finite`] over the weights it changed.
    #[inline(always)]
    pub(super) fn end<const W: usize, const T: usize>(&mut self, traced: &mut Traced<R, W, T>) -> R {
        let is_small = self.common.if_less(R::splat(SMALL), R::one(), R::zero());
        let mut sum = R::zero();
        if !is_small.all_zero() {
            let choose = |small, otherwise| R::zero().if_less(is_small, small, otherwise);
            self.common = choose(self.common * R::splat(LARGE), self.common);
            let factor = choose(R::splat(SMALL), R::one());
            for h in traced.weights_mut(H) {
                *h = shrunk(*h, factor);
                sum += h.nan_unless_finite();
            }
        }
        sum
    }
}

/// A second weight, multiplied. −0 becomes 0, as it would where only other lanes trace the feature.
#[inline(always)]
pub(super) fn shrunk<R: Real>(h: R, factor: R) -> R {
    h * factor + R::zero()
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
        for t in 0..3000 {
            if let Some(factor) = shrinking.shrink(rates) {
                traced.weights_mut(H).for_each(|h| *h = shrunk(*h, factor));
            }
            assert_eq!(shrinking.end(&mut traced), Lanes::splat(0.0));
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
