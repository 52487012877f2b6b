//! The effective sample of the emphasis: how many steps the updates count like.

use crate::{Real, StateError, Visitor};

/// One in so many steps is looked at, which is nearly free. Where the emphasis has a heavy tail, the share of the steps looked at that count is larger than that of
/// all steps: fewer of the largest are among them.
const ONE_IN: u64 = 16;

/// The golden ratio as a fraction of 2⁶⁴. Its multiples visit every residue of the steps alike, so that no phase of episodes is preferred.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Below this share of the steps the emphasis is too uneven to learn from. (With the follow-on trace in simulators 0.1 to 2.5 % count, with the λ-return mostly 4 % and more.)
const TINY: f64 = 0.025;

/// Of fewer steps nothing is said.
const FEW_STEPS: u64 = 2000;

/// (Σ|M|)² / (n Σ M²) over a sample of the n steps at which the actor learned (Kish's effective sample, as a share). It is 1 if all steps count alike, and
/// near 0 if a few count for all: then the mean of the updates is theirs, whatever the other steps say.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EffectiveSample<R> {
    steps: R,
    sum: R,
    squares: R,
}

impl<R: Real> EffectiveSample<R> {
    /// Returns whether the step after so many is looked at.
    #[inline(always)]
    pub(super) fn looks_at(steps: u64) -> bool {
        steps.wrapping_mul(GOLDEN) < u64::MAX / ONE_IN
    }

    /// Looks at M_t, where the actor learns: with a step-size above zero.
    #[inline(always)]
    pub(super) fn add(&mut self, step_size: R, emphasis: R) {
        let (zero, emphasis) = (R::zero(), emphasis.abs());
        self.steps += zero.if_less(step_size, R::one(), zero);
        self.sum += zero.if_less(step_size, emphasis, zero);
        self.squares += zero.if_less(step_size, emphasis * emphasis, zero);
    }

    /// Returns the share in a lane; `None` if no step counted, or the lane has diverged.
    pub(super) fn share(&self, lane: usize) -> Option<f64> {
        let [steps, sum, squares] = [self.steps, self.sum, self.squares].map(|x| x.lane(lane));
        effective_share(steps, sum, squares)
    }

    /// Forgets a lane.
    pub(super) fn make_nan(&mut self, lane: usize) {
        self.sum = self.sum.with_lane(lane, f64::NAN);
        self.squares = self.squares.with_lane(lane, f64::NAN);
    }

    /// Begins anew in lanes that were forgotten.
    pub(super) fn revive(&mut self) {
        let forgotten = self.sum;
        for lane in (0..R::LANES).filter(|lane| forgotten.lane(*lane).is_nan()) {
            for sum in [&mut self.steps, &mut self.sum, &mut self.squares] {
                *sum = sum.with_lane(lane, 0.0);
            }
        }
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        const NAME: &str = "effective_sample";
        if visitor.lacks(NAME) {
            // States were once saved without it.
            *self = Self::default();
            return Ok(());
        }
        visitor.numbers(NAME, [&mut self.steps, &mut self.sum, &mut self.squares].into_iter())
    }
}

/// Returns the effective sample of so many weights, given the sums of their sizes and of their squares, as a share of their number; `None` if all are zero, or one
/// is no number.
pub fn effective_share(count: f64, sum: f64, squares: f64) -> Option<f64> {
    match sum > 0.0 && !squares.is_nan() {
        // Twice by the sum, whose square may overflow.
        true if squares.is_finite() => Some((sum / squares * (sum / count)).min(1.0)),
        true => Some(0.0),
        false => None,
    }
}

/// Returns what to say of an emphasis with this effective sample, if updates are dominated by few of so many steps; `None` if not.
pub fn uneven_emphasis(steps: u64, share: f64) -> Option<String> {
    (steps >= FEW_STEPS && share < TINY).then(|| {
        // Two digits.
        let percent = 100.0 * share;
        let decimals = if percent > 0.0 { (1.0 - percent.log10().floor()).clamp(1.0, 9.0) as usize } else { 0 };
        format!(
            "the emphasis is so uneven that only {percent:.decimals$} % of the steps count: lower lambda_a, or use the learned emphasis `lambda-return` (with a smaller lambda_e, if it is that already)"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lanes;

    #[test]
    fn it_is_the_number_of_steps_that_count_alike() {
        // Ten of a hundred weights are equal and the others zero: they count like ten.
        assert_eq!(effective_share(100.0, 10.0 * 2.0, 10.0 * 4.0), Some(0.1));
        assert_eq!(effective_share(5.0, 5.0, 5.0), Some(1.0));
        assert_eq!(effective_share(5.0, 0.0, 0.0), None);
        assert_eq!(effective_share(5.0, f64::NAN, f64::NAN), None);
        // The sum or the squares have overflowed.
        assert_eq!(effective_share(5.0, 1e200, f64::INFINITY), Some(0.0));
        assert_eq!(effective_share(4.0, 4.0 * 2f64.powi(500), 4.0 * 2f64.powi(1000)), Some(1.0));
    }

    #[test]
    fn lanes_count_where_their_actor_learns() {
        let mut sample = EffectiveSample::<Lanes<2>>::default();
        sample.add(Lanes([1.0, 0.0]), Lanes([-1.0, 1e9]));
        sample.add(Lanes([1.0, 1.0]), Lanes([3.0, 2.0]));
        assert_eq!(sample.share(0), Some(16.0 / 10.0 / 2.0));
        assert_eq!(sample.share(1), Some(1.0));
        sample.make_nan(0);
        assert_eq!((sample.share(0), sample.share(1)), (None, Some(1.0)));
        sample.revive();
        sample.add(Lanes([1.0, 0.0]), Lanes([2.0, 0.0]));
        assert_eq!((sample.share(0), sample.share(1)), (Some(1.0), Some(1.0)));
    }

    /// Episodes of any length are seen in all their phases: a fixed distance would see only some.
    #[test]
    fn every_phase_of_episodes_is_looked_at_alike() {
        let looked: Vec<u64> = (0..160_000).filter(|t| EffectiveSample::<f64>::looks_at(*t)).collect();
        assert!(looked.len().abs_diff(10_000) < 10, "{}", looked.len());
        for length in 1..40 {
            for phase in 0..length {
                let share = looked.iter().filter(|t| *t % length == phase).count() as f64 / 10_000.0;
                assert!((share * length as f64 - 1.0).abs() < 0.1, "{length} {phase} {share}");
            }
        }
    }

    #[test]
    fn only_a_tiny_sample_of_many_steps_is_worth_words() {
        assert_eq!(uneven_emphasis(1999, 0.0), None);
        assert_eq!(uneven_emphasis(1_000_000, 0.025), None);
        let words = uneven_emphasis(100_000, 0.00012).unwrap();
        assert!(
            words.starts_with("the emphasis is so uneven that only 0.012 % of the steps count:"),
            "{words}"
        );
        assert!(uneven_emphasis(3000, 0.0).unwrap().contains("only 0 % of"));
        assert!(uneven_emphasis(3000, 0.0123).unwrap().contains("only 1.2 % of"));
    }
}
