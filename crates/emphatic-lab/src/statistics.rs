//! Means, intervals and the choice of the best setting over runs.
//!
//! Nothing here panics, and nothing returned is NaN: a number that does not exist is `None`. Sums run from
//! left to right, so that results are the same to the bit everywhere.

mod best_setting;
mod bootstrap;

pub use best_setting::choose;
pub(crate) use best_setting::rank;
pub use bootstrap::{Bootstrap, Interval};

/// The mean; `None` if there are no values, or if it is not a number.
pub fn mean(values: &[f64]) -> Option<f64> {
    // Without values this is 0 / 0.
    without_overflow(values, |values| number(values.iter().sum::<f64>() / values.len() as f64))
}

/// The standard error of the mean: the sample deviation (over n - 1) divided by √n. `None` if there are fewer than
/// two values, or if it is not a number.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    without_overflow(values, |values| {
        let (mean, n) = (mean(values)?, values.len() as f64);
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        // For a single value this is 0 / 0.
        number((squares / (n - 1.0)).sqrt() / n.sqrt())
    })
}

/// Scales the largest numbers down so far that neither sums nor squares of them overflow. A power of two, so that no digits
/// are lost.
const SMALLER: f64 = f64::from_bits((1023 - 600) << 52);

/// A statistic that scales with its values. If it overflows although they are finite, it is computed from scaled values.
fn without_overflow(values: &[f64], statistic: impl Fn(&[f64]) -> Option<f64>) -> Option<f64> {
    let found = statistic(values);
    if found.is_some_and(f64::is_finite) || !values.iter().all(|x| x.is_finite()) {
        return found;
    }
    let smaller: Vec<f64> = values.iter().map(|x| x * SMALLER).collect();
    statistic(&smaller).map(|x| x / SMALLER)
}

/// The mean of what is left when a quarter of the values, rounded down, is cut from each end: SciPy's
/// `trim_mean(values, 0.25)`, which is rliable's IQM. `None` if there are no values, or if one or the result is NaN.
pub fn interquartile_mean(values: &[f64]) -> Option<f64> {
    // Sorting would put NaN at an end, where the cut hides it.
    let mut sorted = values.iter().map(|&x| number(x)).collect::<Option<Vec<f64>>>()?;
    sorted.sort_unstable_by(f64::total_cmp);
    let cut = sorted.len() / 4;
    mean(&sorted[cut..sorted.len() - cut])
}

/// The quantile `q` of ascending values, linear between neighbours: NumPy's default method, to the bit.
///
/// `None` if there are no values, if one is NaN, if `q` is not in [0, 1], or next to an infinity, where NumPy returns NaN.
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

/// The average height of a curve: its area by the trapezoid rule, divided by the length of its axis. For a single point, its
/// value.
///
/// `None` if there are no points, if the lengths differ, if the points do not ascend, or if anything is not finite.
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
        assert_eq!(Bootstrap::default().best(&scores), [0.0, 1.0, 0.0]);
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
