//! Conditions on fresh runs, and the verdict on a claim that follows from them.

use crate::student::MeanInterval;
use serde::{Serialize, Serializer};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.99;

/// The verdict on a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// Every condition holds.
    #[serde(rename = "confirmed")]
    Confirmed,
    /// Some condition fails.
    #[serde(rename = "refuted")]
    Refuted,
    /// No condition fails, but some are open.
    #[serde(rename = "not decided")]
    NotDecided,
}

impl Verdict {
    /// The verdict that follows from all conditions of a rule.
    pub fn of(conditions: &[Condition]) -> Self {
        let any = |outcome: Outcome| conditions.iter().any(|c| c.outcome == outcome);
        if any(Outcome::Fails) {
            Self::Refuted
        } else if any(Outcome::Open) || conditions.is_empty() {
            Self::NotDecided
        } else {
            Self::Confirmed
        }
    }

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
            Self::NotDecided => "not decided",
        }
    }
}

/// A claim with its verdict.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedClaim {
    /// Its name.
    pub id: &'static str,
    /// What is claimed.
    pub claim: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// How it was judged.
    pub rule: &'static str,
    /// The numbers, one condition after the other.
    #[serde(serialize_with = "joined")]
    pub evidence: Vec<String>,
}

fn joined<S: Serializer>(evidence: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&evidence.join("; "))
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The whole interval is on the right side.
    Holds,
    /// The whole interval is on the wrong side.
    Fails,
    /// The interval contains the threshold, or there is no interval.
    Open,
}

/// One condition of a rule, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The numbers, in words.
    pub finding: String,
    /// Whether they meet it.
    pub outcome: Outcome,
}

/// A mean over runs, with its interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// What the mean is of.
    what: String,
    /// Or the reason why there is no interval.
    interval: Result<MeanInterval, &'static str>,
}

impl Estimate {
    /// The mean of one value for each run. A run without a value (it diverged) leaves every condition open: the mean of the others
    /// would be about something else.
    pub fn of(what: impl Into<String>, values: &[Option<f64>]) -> Self {
        let all: Option<Vec<f64>> = values.iter().copied().collect();
        let interval = match all {
            None => Err("runs diverged"),
            Some(values) => MeanInterval::of(&values, CONFIDENCE).ok_or("too few runs with a value"),
        };
        Self { what: what.into(), interval }
    }

    /// Whether it is above the threshold.
    pub fn above(&self, threshold: f64) -> Condition {
        self.compared(&format!("> {}", shown(threshold)), threshold, f64::INFINITY)
    }

    /// Whether it is below the threshold.
    pub fn below(&self, threshold: f64) -> Condition {
        self.compared(&format!("< {}", shown(threshold)), f64::NEG_INFINITY, threshold)
    }

    /// Whether it is within a distance of a value.
    pub fn near(&self, value: f64, distance: f64) -> Condition {
        let sign = format!("within {} of {}", shown(distance), shown(value));
        self.compared(&sign, value - distance, value + distance)
    }

    /// Holds if the whole interval is between the bounds, fails if the whole interval is outside.
    fn compared(&self, sign: &str, above: f64, below: f64) -> Condition {
        let what = &self.what;
        let (numbers, outcome) = match self.interval {
            Err(why) => (why.to_owned(), Outcome::Open),
            Ok(MeanInterval { mean, reach }) => {
                let (low, high) = (mean - reach, mean + reach);
                let outcome = match () {
                    () if low > above && high < below => Outcome::Holds,
                    () if high <= above || low >= below => Outcome::Fails,
                    () => Outcome::Open,
                };
                (with_error(mean, reach), outcome)
            }
        };
        let finding = match outcome {
            Outcome::Holds => format!("{what} = {numbers}, {sign}"),
            Outcome::Fails => format!("{what} = {numbers}, not {sign}"),
            Outcome::Open => format!("{what} {sign}? {numbers}"),
        };
        Condition { finding, outcome }
    }
}

/// Whether something is so in almost all resamples (it holds), in almost none (it fails), or neither.
pub fn share(what: impl Into<String>, share: Option<f64>) -> Condition {
    let what = what.into();
    let (numbers, outcome) = match share {
        None => ("that cannot be said of so few runs".to_owned(), Outcome::Open),
        Some(share) => {
            let outcome = match share {
                share if share >= CONFIDENCE => Outcome::Holds,
                share if share <= 1.0 - CONFIDENCE => Outcome::Fails,
                _ => Outcome::Open,
            };
            (format!("in {:.1} % of resamples", 100.0 * share), outcome)
        }
    };
    Condition { finding: format!("{what}: {numbers}"), outcome }
}

/// A number as it is shown: four decimals, and no more zeros than it takes.
pub fn shown(x: f64) -> String {
    let size = match x.abs() {
        small if small > 0.0 && small < 1e-4 => format!("{small:.0e}"),
        large if large >= 1e5 => format!("{large:.3e}"),
        size => format!("{size:.4}").trim_end_matches('0').trim_end_matches('.').to_owned(),
    };
    let sign = if x < 0.0 { "−" } else { "" };
    format!("{sign}{size}")
}

/// A number with its error: as many decimals as two digits of the error need, and at most four.
pub fn with_error(x: f64, error: f64) -> String {
    let decimals = if error > 0.0 { (1.0 - error.log10().floor()).clamp(0.0, 4.0) } else { 4.0 };
    let unit = 10.0_f64.powi(decimals as i32);
    let rounded = |x: f64| if x.is_finite() { (x * unit).round() / unit } else { x };
    // What is smaller than four decimals is shown as it is.
    let error = if error < 1e-4 { error } else { rounded(error) };
    format!("{} ± {}", shown(rounded(x)), shown(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_holds_fails_or_is_open() {
        let known = |x: f64| Some(x);
        // Mean 1, standard error 1/√3, reach 5.73.
        let wide = Estimate::of("x", &[0.0, 1.0, 2.0].map(known));
        assert_eq!(wide.above(-5.0).outcome, Outcome::Holds);
        assert_eq!(wide.above(-4.0).outcome, Outcome::Open);
        assert_eq!(wide.above(6.0).outcome, Outcome::Open);
        assert_eq!(wide.above(7.0).outcome, Outcome::Fails);
        assert_eq!(wide.below(7.0).outcome, Outcome::Holds);
        assert_eq!(wide.below(-5.0).outcome, Outcome::Fails);
        assert_eq!(wide.below(1.0).outcome, Outcome::Open);
        assert_eq!(wide.near(0.0, 7.0).outcome, Outcome::Holds);
        assert_eq!(wide.near(0.0, 6.0).outcome, Outcome::Open);
        assert_eq!(wide.near(9.0, 2.0).outcome, Outcome::Fails);
        assert_eq!(wide.near(-9.0, 4.0).outcome, Outcome::Fails);
        let certain = Estimate::of("x", &[1.0, 1.0].map(known));
        assert_eq!(certain.above(1.0).outcome, Outcome::Fails);
        for missing in [&[][..], &[Some(1.0)], &[Some(1.0), None, Some(1.0)]] {
            assert_eq!(Estimate::of("x", missing).above(0.0).outcome, Outcome::Open);
        }
        assert_eq!(share("x", Some(0.995)).outcome, Outcome::Holds);
        assert_eq!(share("x", Some(0.005)).outcome, Outcome::Fails);
        assert_eq!(share("x", Some(0.5)).outcome, Outcome::Open);
        assert_eq!(share("x", None).outcome, Outcome::Open);
    }

    #[test]
    fn a_verdict_needs_every_condition() {
        let verdict = |outcomes: &[Outcome]| {
            let condition = |outcome: &Outcome| Condition { finding: String::new(), outcome: *outcome };
            Verdict::of(&outcomes.iter().map(condition).collect::<Vec<_>>())
        };
        use Outcome::{Fails, Holds, Open};
        assert_eq!(verdict(&[Holds, Holds]), Verdict::Confirmed);
        assert_eq!(verdict(&[Holds, Open]), Verdict::NotDecided);
        assert_eq!(verdict(&[Holds, Open, Fails]), Verdict::Refuted);
        assert_eq!(verdict(&[]), Verdict::NotDecided);
    }

    #[test]
    fn numbers_are_shown_short() {
        assert_eq!(
            [1.25, 0.0, -0.000_01, 0.871_234, -0.0, 123_456.0, 1e-9].map(shown),
            ["1.25", "0", "−1e-5", "0.8712", "0", "1.235e5", "1e-9"]
        );
    }

    #[test]
    fn errors_say_how_many_decimals_are_worth_showing() {
        let cases = [
            (-325.4865, 95.0873),
            (0.871_234, 0.0123),
            (1.0, 0.0),
            (999.9302, 0.0698),
            (0.5, 1e-6),
            (2.0, f64::NAN),
        ];
        assert_eq!(
            cases.map(|(x, error)| with_error(x, error)),
            ["−325 ± 95", "0.871 ± 0.012", "1 ± 0", "999.93 ± 0.07", "0.5 ± 1e-6", "2 ± NaN"]
        );
    }
}
