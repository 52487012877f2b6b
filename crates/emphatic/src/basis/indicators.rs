//! One-hot features: one for each value of a whole number.

use super::settings::{BasisSetting, BasisSettings};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis, MOST_FEATURES};
use crate::FeatureError;

/// One feature for each whole number between the bounds, in each dimension: that of the observation is one.
#[derive(Clone, Debug)]
pub struct Indicators {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The number of each dimension's first feature, and the number of all.
    firsts: Vec<usize>,
    has_bias: bool,
}

impl DeclaredBasis for Indicators {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "one-hot",
        class: "OneHotBasis",
        about: "one feature for each value, of an observation of whole numbers",
        source: "",
        settings: &[BasisSetting::LOW, BasisSetting::HIGH, BasisSetting::BIAS],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let (low, high) = (settings.numbers("low")?, settings.numbers("high")?);
        for (name, bounds) in [("low", &low), ("high", &high)] {
            if bounds.iter().any(|x| x.fract() != 0.0) {
                return Err(settings
                    .wrong(name, "the observations of `one-hot` are whole numbers, and so are its bounds"));
            }
        }
        let mut firsts = vec![0];
        for (low, high) in low.iter().zip(&high) {
            let values = high - low + 1.0;
            let all = values + firsts[firsts.len() - 1] as f64;
            if all > MOST_FEATURES as f64 {
                return Err(BasisError::TooMany { count: all, most: MOST_FEATURES });
            }
            firsts.push(all as usize);
        }
        Ok(Self { low, high, firsts, has_bias: settings.flag("bias") })
    }
}

impl Basis for Indicators {
    fn dimensions(&self) -> usize {
        self.low.len()
    }

    fn len(&self) -> usize {
        self.firsts[self.low.len()] + usize::from(self.has_bias)
    }

    fn most_active(&self) -> usize {
        self.low.len() + usize::from(self.has_bias)
    }

    fn is_dense(&self) -> bool {
        false
    }

    fn check(&self, observation: &[f64]) -> Result<(), FeatureError> {
        for (index, x) in observation.iter().enumerate() {
            let (low, high) = (self.low[index], self.high[index]);
            if !(low..=high).contains(x) || x.fract() != 0.0 {
                return Err(FeatureError::NotWhole { index, value: *x, low, high });
            }
        }
        Ok(())
    }

    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        // What was not checked is moved to the nearest value.
        let value = |i: usize, x: f64| (x.clamp(self.low[i], self.high[i]) - self.low[i]).round() as usize;
        row.extend(observation.iter().enumerate().map(|(i, x)| (self.firsts[i] + value(i, *x), 1.0)));
        if self.has_bias {
            row.push((self.firsts[self.low.len()], 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BasisRecipe, State};

    #[test]
    fn each_value_has_a_feature() {
        let features = BasisRecipe::new("one-hot")
            .with("low", [0.0, -1.0])
            .with("high", [2.0, 1.0])
            .with("bias", true)
            .build()
            .unwrap();
        assert_eq!((features.len(), features.most_active()), (7, 3));
        let mut room = features.scratch();
        let row: Vec<_> = features.row(State::Vector(&[2.0, -1.0]), &mut room).iter().collect();
        assert_eq!(row, [(2, 1.0), (3, 1.0), (6, 1.0)]);
        let error = features.check(State::Vector(&[1.0, 0.5])).unwrap_err().to_string();
        assert_eq!(error, "entry 1 of the observation is 0.5; it must be a whole number between -1 and 1");
        assert!(features.check(State::Vector(&[3.0, 0.0])).is_err());
        assert!(BasisRecipe::new("one-hot").with("low", [0.0]).with("high", [2.5]).build().is_err());
    }
}
