//! Which setting is the best: the fewest runs without a value, then the largest mean.

use super::{SMALLER, number};

/// The best setting by `scores[setting][run]`, `None` where the run diverged: of those with the fewest runs
/// without a value, the first with the largest mean over its values.
///
/// NaN, or a run missing at the end of a list, is no value; a mean of opposite infinities counts as -∞.
/// `None` if no setting has a value.
pub fn choose(scores: &[Vec<Option<f64>>]) -> Option<usize> {
    choose_weighted(&counted(scores), &vec![1; run_count(scores)])
}

/// All settings, best first, in the order of [`choose`].
pub(crate) fn rank(scores: &[Vec<Option<f64>>]) -> Vec<usize> {
    let once = vec![1; run_count(scores)];
    let standings: Vec<Standing> = counted(scores).iter().map(|runs| standing(runs, &once)).collect();
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| {
        let (a, b) = (&standings[a], &standings[b]);
        b.values.cmp(&a.values).then(b.mean.total_cmp(&a.mean))
    });
    order
}

/// A score as its number of values, one or zero, and their sum: adding these takes no branches, which
/// with many settings and resamples would often be mispredicted.
#[derive(Clone, Copy)]
pub(super) struct Counted {
    values: u32,
    sum: f64,
}

/// What settings are compared by: the number of values, then their mean.
#[derive(PartialEq, PartialOrd)]
struct Standing {
    values: u32,
    mean: f64,
}

pub(super) fn counted(scores: &[Vec<Option<f64>>]) -> Vec<Vec<Counted>> {
    let finite = scores.iter().flatten().flatten().filter(|x| x.is_finite());
    // Means are only compared, so all may be scaled down before their sums overflow.
    let scale = if finite.fold(0.0, |most: f64, x| most.max(x.abs())) > 1e280 { SMALLER } else { 1.0 };
    let count = |score: &Option<f64>| match score.and_then(number) {
        Some(value) => Counted { values: 1, sum: scale * value },
        None => Counted { values: 0, sum: 0.0 },
    };
    scores.iter().map(|runs| runs.iter().map(count).collect()).collect()
}

/// [`choose`], with every run taken as many times as `times` says.
pub(super) fn choose_weighted(counted: &[Vec<Counted>], times: &[u32]) -> Option<usize> {
    let (mut best, mut highest) = (None, Standing { values: 0, mean: f64::NEG_INFINITY });
    for (setting, runs) in counted.iter().enumerate() {
        let standing = standing(runs, times);
        if standing > highest {
            (best, highest) = (Some(setting), standing);
        }
    }
    best
}

fn standing(runs: &[Counted], times: &[u32]) -> Standing {
    let (mut count, mut total) = (0, 0.0);
    for (&Counted { values, sum }, &times) in runs.iter().zip(times) {
        // Zero times an infinity would be NaN.
        if times > 0 {
            count += times * values;
            total += f64::from(times) * sum;
        }
    }
    let mean = number(total / f64::from(count)).unwrap_or(f64::NEG_INFINITY);
    Standing { values: count, mean }
}

pub(super) fn run_count(scores: &[Vec<Option<f64>>]) -> usize {
    scores.iter().map(Vec::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;
    const INFINITY: f64 = f64::INFINITY;

    #[test]
    fn the_fewest_missing_runs_come_first_then_the_mean() {
        let x = Some;
        assert_eq!(choose(&[vec![x(1.0), x(2.0)], vec![x(2.0), x(2.0)], vec![x(9.0), None]]), Some(1));
        assert_eq!(choose(&[vec![x(9.0), None], vec![None, x(9.5)], vec![None, None]]), Some(1));
        assert_eq!(choose(&[vec![x(9.0), x(NAN)], vec![x(9.0)], vec![x(0.0), x(-1.0)]]), Some(2));
        assert_eq!(choose(&[vec![None], vec![x(-INFINITY)]]), Some(1));
        assert_eq!(choose(&[vec![x(INFINITY), x(-INFINITY)], vec![x(0.0), x(0.0)]]), Some(1));
        assert_eq!(choose(&[vec![x(1.0), x(3.0)], vec![x(2.0), x(2.0)]]), Some(0));
        for scores in [&[][..], &[vec![]], &[vec![None, x(NAN)], vec![]]] {
            assert_eq!(choose(scores), None);
        }
    }
}
