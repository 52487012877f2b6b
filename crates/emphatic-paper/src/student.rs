//! Student's distribution: intervals of means.

use emphatic_lab::statistics::{mean, standard_error};

/// A mean, and how far its interval reaches on either side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MeanInterval {
    pub(crate) mean: f64,
    pub(crate) reach: f64,
}

impl MeanInterval {
    /// The interval that contains the true mean with this probability. `None` if there are fewer than two values.
    pub(crate) fn of(values: &[f64], confidence: f64) -> Option<Self> {
        let reach = quantile(values.len().checked_sub(1)?, confidence)? * standard_error(values)?;
        Some(Self { mean: mean(values)?, reach })
    }
}

/// The t with P(|T| ≤ t) = `confidence`, for Student's distribution. `None` without degrees of freedom.
fn quantile(freedom: usize, confidence: f64) -> Option<f64> {
    if freedom == 0 {
        return None;
    }
    let (mut low, mut high) = (0.0, 1e3);
    while high - low > 1e-12 * high {
        let middle = 0.5 * (low + high);
        if probability(middle, freedom) < confidence {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high)
}

/// P(|T| ≤ t): the finite series for a whole number of degrees of freedom (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn probability(t: f64, freedom: usize) -> f64 {
    let n = freedom as f64;
    let (sine, square) = (t / (n + t * t).sqrt(), n / (n + t * t));
    let odd = freedom % 2;
    let (mut term, mut sum) = (if odd == 1 { square.sqrt() } else { 1.0 }, 0.0);
    for k in 0..freedom / 2 {
        sum += term;
        let k = (2 * k + odd) as f64;
        term *= square * (k + 1.0) / (k + 2.0);
    }
    match odd {
        1 => ((t / n.sqrt()).atan() + sine * sum) * std::f64::consts::FRAC_2_PI,
        _ => sine * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // scipy.stats.t.ppf(0.995, n).
        let tables = [
            (1, 63.656_741_162_873_99),
            (2, 9.924_843_200_918_07),
            (9, 3.249_835_541_592_125_4),
            (10, 3.169_272_672_616_95),
            (29, 2.756_385_903_670_335),
            (99, 2.626_405_457_280_827_5),
            (999, 2.580_759_637_267_628),
        ];
        for (freedom, t) in tables {
            let got = quantile(freedom, 0.99).unwrap();
            assert!((got - t).abs() < 1e-9 * t, "{freedom}: {got} is not {t}");
        }
        assert_eq!(quantile(0, 0.99), None);
    }
}
