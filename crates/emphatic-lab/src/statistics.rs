//! Means, intervals and choices over runs.
//!
//! Nothing here panics, and nothing returned is NaN: a number that does not exist is `None`. Sums run from
//! left to right, so that results are the same to the bit everywhere.

use emphatic::Random;
use serde::Serialize;

/// The mean; `None` of no values, or if it is not a number.
pub fn mean(values: &[f64]) -> Option<f64> {
    // No values give 0 / 0.
    without_overflow(values, |values| number(values.iter().sum::<f64>() / values.len() as f64))
}

/// The standard error of the mean: the sample deviation (over n - 1) by √n. `None` of fewer than two values,
/// or if it is not a number.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    without_overflow(values, |values| {
        let (mean, n) = (mean(values)?, values.len() as f64);
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        // A single value gives 0 / 0.
        number((squares / (n - 1.0)).sqrt() / n.sqrt())
    })
}

/// Makes numbers near the largest so small that neither sums nor squares of them overflow; a power of two, so that all their digits
/// stay.
const SMALLER: f64 = f64::from_bits((1023 - 600) << 52);

/// A statistic in the unit of its values. If it overflows though they do not, it is that of smaller values, made larger again.
fn without_overflow(values: &[f64], statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    let found = statistic(values);
    if found.is_some_and(f64::is_finite) || !values.iter().all(|x| x.is_finite()) {
        return found;
    }
    let smaller: Vec<f64> = values.iter().map(|x| x * SMALLER).collect();
    statistic(&smaller).map(|x| x / SMALLER)
}

/// The mean of what is left when a quarter of the values, rounded down, is cut from each end: SciPy's
/// `trim_mean(values, 0.25)`, which is rliable's IQM. `None` of no values, or if one or the result is NaN.
pub fn interquartile_mean(values: &[f64]) -> Option<f64> {
    // Sorting would put NaN at an end, where the cut hides it.
    let mut sorted = values.iter().map(|&x| number(x)).collect::<Option<Vec<f64>>>()?;
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// The quantile `q` of ascending values, linear between neighbours: NumPy's default method, to the bit.
///
/// `None` of no values, if one is NaN, if `q` is not in [0, 1], or next to an infinity, where NumPy gives NaN.
pub fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    if sorted.iter().any(|x| x.is_nan()) || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let last = sorted.len().checked_sub(1)?;
    let place = q * last as f64;
    let below = place as usize;
    let (low, high, part) = (sorted[below], sorted[last.min(below + 1)], place - below as f64);
    if low.is_finite() && high.is_finite() && !(high - low).is_finite() {
        return number(low * (1.0 - part) + high * part);
    }
    // From the nearer neighbour, as NumPy does: either end is then exact.
    number(if part < 0.5 { low + (high - low) * part } else { high - (high - low) * (1.0 - part) })
}

/// What lies from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// The percentile bootstrap.
///
/// Resample number r takes its indices from `Random::new(seed, r)`: one call of `Random::below(n)` for each
/// element drawn from n, strata in order. Nothing else is random, so any implementation can repeat it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bootstrap {
    /// How many resamples are drawn.
    pub resamples: usize,
    /// The probability of an interval, in [0, 1].
    pub confidence: f64,
    /// The key of the random indices.
    pub seed: u64,
}

impl Default for Bootstrap {
    /// 2000 resamples for 95 % intervals, from seed 0.
    fn default() -> Self {
        Self { resamples: 2000, confidence: 0.95, seed: 0 }
    }
}

impl Bootstrap {
    /// The interval of a statistic of all values together, each stratum (the runs of one task) resampled on
    /// its own: rliable's `StratifiedBootstrap`. One stratum gives the plain bootstrap.
    ///
    /// `None` if any resample's statistic is `None` or NaN, without resamples, if an end lies next to an
    /// infinity, or if `confidence` is not in [0, 1].
    pub fn interval(&self, strata: &[&[f64]], statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<Interval> {
        let mut drawn = Vec::new();
        let resampled = |resample| {
            drawn.clear();
            let mut random = self.random(resample);
            for stratum in strata {
                drawn.extend(stratum.iter().map(|_| stratum[random.below(stratum.len())]));
            }
            statistic(&drawn).and_then(number)
        };
        self.percentiles((0..self.resamples).map(resampled).collect::<Option<_>>()?)
    }

    /// The interval of the mean at each point of these curves, up to the end of the shortest. Whole runs are
    /// resampled; each point's is the [`interval`](Self::interval) of the runs' values there.
    pub fn curve(&self, runs: &[Vec<f64>]) -> Vec<Option<Interval>> {
        let points = runs.iter().map(Vec::len).min().unwrap_or(0);
        let at = |point| runs.iter().map(|run| run[point]).collect::<Vec<f64>>();
        // A resample's indices depend on its number alone: every point sees the same runs drawn.
        (0..points).map(|point| self.interval(&[&at(point)], mean)).collect()
    }

    /// How often each setting is the one to [`choose`] when runs are resampled, the same runs for every
    /// setting: its share of the resamples that have a choice.
    ///
    /// `scores` are as in [`choose`]. The shares sum to one, or are all zero if no resample has a choice. A
    /// mean is the sum over runs, in order, of times drawn × score, by the sum of times drawn.
    pub fn best(&self, scores: &[Vec<Option<f64>>]) -> Vec<f64> {
        let (counted, runs) = (counted(scores), run_count(scores));
        let mut chosen = vec![0_usize; scores.len()];
        for resample in 0..self.resamples {
            if let Some(setting) = choose_weighted(&counted, &self.times_drawn(resample, runs)) {
                chosen[setting] += 1;
            }
        }
        let choices = chosen.iter().sum::<usize>().max(1);
        chosen.iter().map(|&times| times as f64 / choices as f64).collect()
    }

    fn random(&self, resample: usize) -> Random {
        Random::new(self.seed, resample as u64)
    }

    fn times_drawn(&self, resample: usize, runs: usize) -> Vec<u32> {
        let (mut random, mut times) = (self.random(resample), vec![0; runs]);
        for _ in 0..runs {
            times[random.below(runs)] += 1;
        }
        times
    }

    fn percentiles(&self, mut statistics: Vec<f64>) -> Option<Interval> {
        statistics.sort_unstable_by(f64::total_cmp);
        let tail = (1.0 - self.confidence) / 2.0;
        let (low, high) = (quantile(&statistics, tail)?, quantile(&statistics, 1.0 - tail)?);
        // A negative confidence would exchange the ends.
        (tail <= 0.5).then_some(Interval { low, high })
    }
}

/// The best setting by `scores[setting][run]`, `None` where the run diverged: of those with the fewest runs
/// without a value, the first with the largest mean over its values.
///
/// NaN, or a run missing at the end of a list, is no value; a mean of opposite infinities counts as -∞.
/// `None` if no setting has a value.
pub fn choose(scores: &[Vec<Option<f64>>]) -> Option<usize> {
    choose_weighted(&counted(scores), &vec![1; run_count(scores)])
}

/// Every score as its number of values, one or none, and their sum: adding these takes no branches, which
/// with many settings and resamples would often be mispredicted.
fn counted(scores: &[Vec<Option<f64>>]) -> Vec<Vec<(u32, f64)>> {
    let finite = scores.iter().flatten().flatten().filter(|x| x.is_finite());
    // Means are only compared, so all may be made smaller before their sums overflow.
    let scale = if finite.fold(0.0, |most: f64, x| most.max(x.abs())) > 1e280 { SMALLER } else { 1.0 };
    let count = |score: &Option<f64>| score.and_then(number).map_or((0, 0.0), |value| (1, scale * value));
    scores.iter().map(|runs| runs.iter().map(count).collect()).collect()
}

/// [`choose`], with every run taken as many times as `times` says.
fn choose_weighted(counted: &[Vec<(u32, f64)>], times: &[u32]) -> Option<usize> {
    let (mut best, mut highest) = (None, (0, f64::NEG_INFINITY));
    for (setting, runs) in counted.iter().enumerate() {
        let standing = standing(runs, times);
        if standing > highest {
            (best, highest) = (Some(setting), standing);
        }
    }
    best
}

/// What settings are compared by: the number of values, then their mean.
fn standing(runs: &[(u32, f64)], times: &[u32]) -> (u32, f64) {
    let (mut count, mut sum) = (0, 0.0);
    for (&(values, value), &times) in runs.iter().zip(times) {
        // Zero times an infinity would be NaN.
        if times > 0 {
            count += times * values;
            sum += f64::from(times) * value;
        }
    }
    (count, number(sum / f64::from(count)).unwrap_or(f64::NEG_INFINITY))
}

fn run_count(scores: &[Vec<Option<f64>>]) -> usize {
    scores.iter().map(Vec::len).max().unwrap_or(0)
}

/// The average height of a curve: its area by the trapezoid rule, by the length of its axis. A single point
/// gives its value.
///
/// `None` of no points, if the lengths differ, if the points do not ascend, or if anything is not finite.
pub fn area(points: &[f64], values: &[f64]) -> Option<f64> {
    let finite = points.iter().chain(values).all(|x| x.is_finite());
    if points.len() != values.len() || !finite || !points.is_sorted_by(|a, b| a < b) {
        return None;
    }
    if let [value] = values {
        return Some(*value);
    }
    let trapezoid = |(x, y): (&[f64], &[f64])| (x[1] - x[0]) * (y[0] + y[1]) / 2.0;
    let length = points.last()? - points.first()?;
    let height = |values: &[f64]| {
        let area: f64 = points.windows(2).zip(values.windows(2)).map(trapezoid).sum();
        number(area / length)
    };
    without_overflow(values, height).filter(|height| height.is_finite())
}

fn number(x: f64) -> Option<f64> {
    (!x.is_nan()).then_some(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;
    const INFINITY: f64 = f64::INFINITY;

    // Seed 1 draws [0, 1, 0], [1, 2, 0], [2, 2, 1], [1, 0, 1], [2, 2, 0] of three, and then [0, 0], [1, 0],
    // [0, 1], [0, 1], [1, 0] of two; or [0, 0], [0, 1], [1, 1], [1, 0], [1, 1] of two from the start. From
    // the generator in Python.
    const FIVE: Bootstrap = Bootstrap { resamples: 5, confidence: 0.5, seed: 1 };

    fn close(x: Option<f64>, expected: f64) -> bool {
        x.is_some_and(|x| (x - expected).abs() < 1e-14)
    }

    #[test]
    fn means_and_their_errors() {
        assert!(close(mean(&[1.0, 2.0, 4.0]), 7.0 / 3.0));
        assert_eq!(mean(&[1.0, INFINITY]), Some(INFINITY));
        for values in [&[][..], &[NAN], &[1.0, NAN], &[INFINITY, -INFINITY]] {
            assert_eq!(mean(values), None);
        }
        // From SciPy's sem.
        assert!(close(standard_error(&[1.0, 2.0, 4.0]), 0.881_917_103_688_196_9));
        assert_eq!(standard_error(&[3.0, 3.0]), Some(0.0));
        for values in [&[][..], &[1.0], &[1.0, NAN], &[1.0, INFINITY]] {
            assert_eq!(standard_error(values), None);
        }
    }

    /// Once sums of large numbers made their mean infinite, and the choice between them the first.
    #[test]
    fn statistics_of_large_numbers_do_not_overflow() {
        let large = [1e308, 1.5e308, 1.7e308, 1.2e308];
        assert!((mean(&large).unwrap() / 1.35e308 - 1.0).abs() < 1e-15);
        assert!((interquartile_mean(&large).unwrap() / 1.35e308 - 1.0).abs() < 1e-15);
        let small = large.map(|x| x / 1e308);
        assert!(
            (standard_error(&large).unwrap() / 1e308 / standard_error(&small).unwrap() - 1.0).abs() < 1e-14
        );
        assert_eq!(area(&[0.0, 10.0, 20.0], &[1.5e308; 3]), Some(1.5e308));
        assert_eq!(area(&[0.0, 1.0, 2.0, 3.0], &[1.5e308, 1.5e308, -1.5e308, -1.5e308]), Some(0.0));
        assert_eq!(quantile(&[-1.5e308, 1.5e308], 0.5), Some(0.0));
        let scores = [vec![Some(1e308); 3], vec![Some(1.5e308); 3], vec![Some(-1e308); 3]];
        assert_eq!(choose(&scores), Some(1));
        assert_eq!(FIVE.best(&scores), [0.0, 1.0, 0.0]);
        assert_eq!(mean(&[1e308, INFINITY]), Some(INFINITY));
    }

    #[test]
    fn an_interquartile_mean_cuts_whole_values() {
        assert_eq!(interquartile_mean(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(interquartile_mean(&[8.0, 1.0, 2.0, 4.0]), Some(3.0));
        assert!(close(interquartile_mean(&[100.0, 1.0, 2.0, 4.0, 8.0]), 14.0 / 3.0));
        assert_eq!(interquartile_mean(&[0.0, 7.0, 1.0, 6.0, 2.0, 5.0, 3.0, 40.0]), Some(4.0));
        assert_eq!(interquartile_mean(&[INFINITY, 1.0, 3.0, -INFINITY]), Some(2.0));
        assert_eq!(interquartile_mean(&[]), None);
        assert_eq!(interquartile_mean(&[1.0, 2.0, 3.0, NAN]), None);
    }

    #[test]
    fn quantiles_are_those_of_numpy() {
        let at = [0.0, 0.1, 0.25, 0.5, 0.6, 0.9, 1.0];
        let expected = [1.0, 1.3, 1.75, 3.0, 3.599_999_999_999_999_6, 6.800_000_000_000_001, 8.0];
        assert_eq!(at.map(|q| quantile(&[1.0, 2.0, 4.0, 8.0], q)), expected.map(Some));
        assert_eq!(quantile(&[5.0], 0.3), Some(5.0));
        assert_eq!([0.0, 0.5, 1.0].map(|q| quantile(&[1.0, 2.0, INFINITY], q)), [Some(1.0), None, None]);
        assert_eq!([-0.1, 1.1, NAN].map(|q| quantile(&[1.0, 2.0], q)), [None; 3]);
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0, 2.0, 3.0, NAN], 0.0), None);
    }

    #[test]
    fn an_interval_is_of_the_documented_draws() {
        // The means are 4/3, 7/3, 10/3, 5/3 and 3.
        let plain = FIVE.interval(&[&[1.0, 2.0, 4.0]], mean).unwrap();
        assert!(close(Some(plain.low), 5.0 / 3.0) && close(Some(plain.high), 3.0));
        // The means are 4.8, 7.4, 8, 7 and 7.8.
        let stratified = FIVE.interval(&[&[1.0, 2.0, 4.0], &[10.0, 20.0]], mean);
        assert_eq!(stratified, Some(Interval { low: 7.0, high: 7.8 }));
        assert_eq!(FIVE.interval(&[&[1.0, 2.0, 4.0], &[], &[10.0, 20.0]], mean), stratified);
    }

    #[test]
    fn an_interval_may_not_exist() {
        assert_eq!(FIVE.interval(&[], mean), None);
        assert_eq!(FIVE.interval(&[&[]], mean), None);
        assert_eq!(FIVE.interval(&[&[1.0, NAN]], mean), None);
        assert_eq!(FIVE.interval(&[&[INFINITY]], mean), None);
        assert_eq!(FIVE.interval(&[&[1.0]], |_| Some(NAN)), None);
        assert_eq!(Bootstrap { resamples: 0, ..FIVE }.interval(&[&[1.0]], mean), None);
        for confidence in [-0.5, 1.5, NAN] {
            assert_eq!(Bootstrap { confidence, ..FIVE }.interval(&[&[1.0, 2.0]], mean), None);
        }
    }

    #[test]
    fn a_curve_resamples_whole_runs() {
        // The first point has means 1, 2, 3, 2 and 3, the second their negatives.
        let runs = [vec![1.0, -1.0, NAN], vec![3.0, -3.0, 0.0, 0.0]];
        let intervals =
            [Some(Interval { low: 2.0, high: 3.0 }), Some(Interval { low: -3.0, high: -2.0 }), None];
        assert_eq!(FIVE.curve(&runs), intervals);
        assert_eq!(FIVE.curve(&[]), []);
        assert_eq!(FIVE.curve(&[vec![1.0], vec![]]), []);
    }

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

    #[test]
    fn settings_are_the_best_in_shares_of_the_same_draws() {
        let x = Some;
        // Chosen in turn: 1, 0, 0, 1 and, where the second run is not drawn, 2.
        let scores =
            [vec![x(1.0), x(2.0), x(6.0)], vec![x(3.0), x(3.0), x(2.5)], vec![x(2.0), None, x(9.0)], vec![]];
        assert_eq!(FIVE.best(&scores), [0.4, 0.4, 0.2, 0.0]);
        // The first draw is of the run that has no value.
        assert_eq!(FIVE.best(&[vec![None, x(1.0)], vec![None, x(INFINITY)]]), [0.0, 1.0]);
        assert_eq!(FIVE.best(&[vec![x(1.0), x(2.0)], vec![x(1.0), x(2.0)]]), [1.0, 0.0]);
        assert_eq!(FIVE.best(&[vec![None], vec![]]), [0.0, 0.0]);
        assert!(FIVE.best(&[]).is_empty());
        assert_eq!(Bootstrap { resamples: 0, ..FIVE }.best(&scores), [0.0; 4]);
    }

    #[test]
    fn an_area_is_an_average_height() {
        assert!(close(area(&[0.0, 1.0, 3.0], &[2.0, 4.0, 0.0]), 7.0 / 3.0));
        assert_eq!(area(&[5.0], &[2.0]), Some(2.0));
        assert_eq!(area(&[], &[]), None);
        assert_eq!(area(&[0.0, 1.0], &[1.0]), None);
        assert_eq!(area(&[0.0, 0.0], &[1.0, 2.0]), None);
        assert_eq!(area(&[1.0, 0.0], &[1.0, 2.0]), None);
        assert_eq!(area(&[0.0, 1.0], &[1.0, NAN]), None);
        assert_eq!(area(&[0.0, INFINITY], &[1.0, 1.0]), None);
        assert_eq!(area(&[0.0, 1.0], &[f64::MAX, f64::MAX]), Some(f64::MAX));
    }
}
