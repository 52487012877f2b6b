//! Bootstrap intervals over runs.

use super::best_setting::{choose_weighted, counted, run_count};
use super::{mean, number, quantile};
use emphatic::Random;
use serde::Serialize;

/// An interval of numbers.
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
    /// its own: rliable's `StratifiedBootstrap`. With one stratum this is the plain bootstrap.
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
    /// resampled; that of a point is the [`interval`](Self::interval) of the runs' values at it.
    pub fn curve(&self, runs: &[Vec<f64>]) -> Vec<Option<Interval>> {
        let points = runs.iter().map(Vec::len).min().unwrap_or(0);
        let at = |point| runs.iter().map(|run| run[point]).collect::<Vec<f64>>();
        // A resample's indices depend on its number alone: every point sees the same runs drawn.
        (0..points).map(|point| self.interval(&[&at(point)], mean)).collect()
    }

    /// The probability of each setting to be the best: the share of the resamples in which it is the one to
    /// [`choose`](super::choose), among those that have a choice. Every setting has the same runs resampled.
    ///
    /// `scores` are as in [`choose`](super::choose). The shares sum to one, or are all zero if no resample has a choice. A
    /// mean is the sum over runs, in order, of times drawn × score, divided by the sum of times drawn.
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
}
