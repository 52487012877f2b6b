//! The observation itself, scaled.

use super::settings::{BasisSetting, BasisSettings, Kind};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis};

/// The observation itself: scaled to [−1, 1] by its bounds, to a length of one, or as it is.
#[derive(Clone, Debug)]
pub struct Scaled {
    low: Vec<f64>,
    high: Vec<f64>,
    scale: Scale,
    has_bias: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    Range,
    Norm,
    None,
}

impl DeclaredBasis for Scaled {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "observation",
        class: "ObservationBasis",
        about: "the observation itself, scaled",
        source: "",
        settings: &[
            BasisSetting::LOW,
            BasisSetting::HIGH,
            BasisSetting {
                name: "scale",
                kind: Kind::Word(&["range", "norm", "none"]),
                default: Some("\"range\""),
                about: "`range` scales the bounds to −1 and 1, `norm` the whole observation to a length of one, `none` leaves it as it is",
            },
            BasisSetting::BIAS,
        ],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let scale = match settings.word("scale") {
            "norm" => Scale::Norm,
            "none" => Scale::None,
            _ => Scale::Range,
        };
        let (low, high) = (settings.numbers("low")?, settings.numbers("high")?);
        Ok(Self { low, high, scale, has_bias: settings.flag("bias") })
    }
}

impl Basis for Scaled {
    fn dimensions(&self) -> usize {
        self.low.len()
    }

    fn len(&self) -> usize {
        self.low.len() + usize::from(self.has_bias)
    }

    /// What is zero in the observation is zero in the features, too, unless it is moved: then it need not be listed.
    fn is_dense(&self) -> bool {
        self.scale == Scale::Range
    }

    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        let norm = match self.scale {
            Scale::Norm => observation.iter().map(|x| x * x).sum::<f64>().sqrt(),
            _ => 1.0,
        };
        // An observation of zeros has no direction, and stays as it is.
        let norm = if norm > 0.0 { norm } else { 1.0 };
        let ranges = self.low.iter().zip(&self.high);
        let scaled = |(x, (low, high)): (&f64, (&f64, &f64))| match self.scale {
            Scale::Range => 2.0 * ((x - low) / (high - low)) - 1.0,
            Scale::Norm | Scale::None => x / norm,
        };
        let scaled = observation.iter().zip(ranges).map(scaled).enumerate();
        match self.is_dense() {
            true => row.extend(scaled),
            false => row.extend(scaled.filter(|(_, x)| *x != 0.0)),
        }
        if self.has_bias {
            row.push((self.low.len(), 1.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BasisRecipe, State};

    #[test]
    fn observations_are_scaled() {
        let row = |scale: &str, observation: [f64; 2]| -> Vec<(usize, f64)> {
            let recipe = BasisRecipe::new("observation").with("low", [0.0, -2.0]).with("high", [4.0, 2.0]);
            let features = recipe.with("scale", scale).with("bias", true).build().unwrap();
            let mut room = features.scratch();
            features.row(State::Vector(&observation), &mut room).iter().collect()
        };
        assert_eq!(row("range", [3.0, -2.0]), [(0, 0.5), (1, -1.0), (2, 1.0)]);
        assert_eq!(row("range", [2.0, 0.0]), [(0, 0.0), (1, 0.0), (2, 1.0)]);
        assert_eq!(row("norm", [3.0, 4.0]), [(0, 0.6), (1, 0.8), (2, 1.0)]);
        assert_eq!(row("norm", [0.0, 0.0]), [(2, 1.0)]);
        assert_eq!(row("none", [0.0, -2.0]), [(1, -2.0), (2, 1.0)]);
    }
}
