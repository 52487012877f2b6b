//! Radial basis functions: bumps around the points of a grid.

use super::settings::{BasisSetting, BasisSettings, Kind};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis, MOST_DENSE, checked_count};
use crate::real::elementary::exp;

/// exp(−½ ‖s − c‖²/width²) for every point c of a grid across the bounds, where distances are counted in those of neighbouring points
/// (Sutton and Barto 2018, section 9.5.5).
#[derive(Clone, Debug)]
pub struct Radial {
    axes: Vec<Axis>,
    len: usize,
    width: f64,
    is_normalised: bool,
    has_bias: bool,
}

#[derive(Clone, Debug)]
struct Axis {
    low: f64,
    high: f64,
    centres: usize,
    wraps: bool,
}

impl DeclaredBasis for Radial {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "radial",
        class: "RadialBasis",
        about: "radial basis functions: Gaussian bumps around the points of a grid",
        source: "Sutton and Barto 2018, section 9.5.5",
        settings: &[
            BasisSetting::LOW,
            BasisSetting::HIGH,
            BasisSetting {
                name: "centres",
                kind: Kind::Counts,
                default: None,
                about: "how many centres each dimension has, the first and the last at its bounds",
            },
            BasisSetting {
                name: "width",
                kind: Kind::Positive,
                default: Some("1"),
                about: "the standard deviation of a bump, in distances between centres",
            },
            BasisSetting {
                name: "normalised",
                kind: Kind::Flag,
                default: Some("false"),
                about: "whether the bumps are divided by their sum",
            },
            BasisSetting::BIAS,
            BasisSetting::WRAPS,
        ],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let (low, high) = (settings.numbers("low")?, settings.numbers("high")?);
        let (centres, wraps) = (settings.counts("centres")?, settings.flags("wraps")?);
        let len = checked_count(centres.iter().copied(), MOST_DENSE)?;
        let axis = |i: usize| Axis { low: low[i], high: high[i], centres: centres[i], wraps: wraps[i] };
        Ok(Self {
            axes: (0..low.len()).map(axis).collect(),
            len,
            width: settings.number("width"),
            is_normalised: settings.flag("normalised"),
            has_bias: settings.flag("bias"),
        })
    }
}

impl Axis {
    /// Returns the distance of a value to a centre, in distances between centres.
    fn distance(&self, x: f64, centre: usize) -> f64 {
        let share = (x - self.low) / (self.high - self.low);
        if self.wraps {
            let around = self.centres as f64;
            let between = ((share - share.floor()) * around - centre as f64).abs();
            return if between > around / 2.0 { around - between } else { between };
        }
        match self.centres {
            1 => share.clamp(0.0, 1.0) - 0.5,
            n => share.clamp(0.0, 1.0) * (n - 1) as f64 - centre as f64,
        }
    }
}

impl Basis for Radial {
    fn dimensions(&self) -> usize {
        self.axes.len()
    }

    fn len(&self) -> usize {
        self.len + usize::from(self.has_bias)
    }

    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        let start = row.len();
        let mut sum = 0.0;
        for feature in 0..self.len {
            let (mut rest, mut square) = (feature, 0.0);
            for (axis, x) in self.axes.iter().zip(observation).rev() {
                let distance = axis.distance(*x, rest % axis.centres) / self.width;
                square += distance * distance;
                rest /= axis.centres;
            }
            let bump = exp(-0.5 * square);
            sum += bump;
            row.push((feature, bump));
        }
        // Far from all centres the sum underflows; there the features stay as they are.
        if self.is_normalised && sum > 0.0 {
            row[start..].iter_mut().for_each(|(_, bump)| *bump /= sum);
        }
        if self.has_bias {
            row.push((self.len, 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BasisRecipe, State};

    fn row(recipe: BasisRecipe, observation: &[f64]) -> Vec<f64> {
        let features = recipe.build().unwrap();
        let mut room = features.scratch();
        features.row(State::Vector(observation), &mut room).iter().map(|(_, x)| x).collect()
    }

    #[test]
    fn bumps_by_hand() {
        let line = BasisRecipe::new("radial").with("low", [0.0]).with("high", [2.0]).with("centres", 3.0);
        let bumps = row(line.clone(), &[1.0]);
        let right = [(-0.5_f64).exp(), 1.0, (-0.5_f64).exp()];
        assert!(bumps.iter().zip(right).all(|(x, right)| (x - right).abs() < 1e-15));
        let normalised = row(line.clone().with("normalised", true).with("bias", true), &[0.3]);
        assert!((normalised[..3].iter().sum::<f64>() - 1.0).abs() < 1e-15 && normalised[3] == 1.0);
        // A plane: the product of two lines, the last dimension fastest.
        let plane = BasisRecipe::new("radial")
            .with("low", [0.0, 0.0])
            .with("high", [2.0, 2.0])
            .with("centres", [3.0, 2.0]);
        let (bumps, one) = (row(plane, &[1.0, 0.0]), (-0.5_f64).exp());
        let right = [one, one * one, 1.0, one, one, one * one];
        assert!(bumps.iter().zip(right).all(|(x, right)| (x - right).abs() < 1e-15), "{bumps:?}");
    }

    #[test]
    fn a_circle_has_no_seam() {
        let circle = BasisRecipe::new("radial")
            .with("low", [0.0])
            .with("high", [4.0])
            .with("centres", 4.0)
            .with("wraps", true);
        let (below, above) = (row(circle.clone(), &[3.999_999]), row(circle, &[0.000_001]));
        assert!(below.iter().zip(&above).all(|(x, y)| (x - y).abs() < 1e-5), "{below:?} {above:?}");
    }
}
