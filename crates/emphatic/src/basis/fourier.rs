//! The Fourier basis: cosines of growing frequency.

use super::settings::{BasisSetting, BasisSettings, Kind};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis, MOST_DENSE, checked_count};
use crate::real::elementary::cos;
use std::f64::consts::PI;

/// cos(π c·s), for all vectors c of whole numbers up to the order, of the observation scaled to [0, 1] (Konidaris, Osentoski and Thomas 2011). The first
/// feature is constant.
#[derive(Clone, Debug)]
pub struct Fourier {
    low: Vec<f64>,
    high: Vec<f64>,
    /// The vectors c, one after the other.
    frequencies: Vec<f64>,
}

impl DeclaredBasis for Fourier {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "fourier",
        class: "FourierBasis",
        about: "cosines of growing frequency, of the observation scaled to [0, 1]",
        source: "Konidaris, Osentoski and Thomas 2011",
        settings: &[
            BasisSetting::LOW,
            BasisSetting::HIGH,
            BasisSetting {
                name: "order",
                kind: Kind::Count,
                default: None,
                about: "the largest frequency, in half waves across the bounds",
            },
            BasisSetting {
                name: "coupled",
                kind: Kind::Flag,
                default: Some("true"),
                about: "whether a cosine may depend on several dimensions at once",
            },
        ],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let (order, dimensions) = (settings.count("order"), settings.dimensions());
        let frequencies = if settings.flag("coupled") {
            let len = checked_count(vec![order + 1; dimensions], MOST_DENSE)?;
            let digit = |k: usize, i: usize| k / (order + 1).pow((dimensions - 1 - i) as u32) % (order + 1);
            (0..len).flat_map(|k| (0..dimensions).map(move |i| digit(k, i) as f64)).collect()
        } else {
            checked_count([order, dimensions], MOST_DENSE / dimensions)?;
            let one = |i: usize, c: usize| (0..dimensions).map(move |j| if i == j { c as f64 } else { 0.0 });
            let constant = vec![0.0; dimensions].into_iter();
            constant.chain((0..dimensions).flat_map(|i| (1..=order).flat_map(move |c| one(i, c)))).collect()
        };
        Ok(Self { low: settings.numbers("low")?, high: settings.numbers("high")?, frequencies })
    }
}

impl Basis for Fourier {
    fn dimensions(&self) -> usize {
        self.low.len()
    }

    fn len(&self) -> usize {
        self.frequencies.len() / self.low.len()
    }

    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        for (feature, frequencies) in self.frequencies.chunks_exact(self.low.len()).enumerate() {
            let scaled = |i: usize| {
                (observation[i].clamp(self.low[i], self.high[i]) - self.low[i]) / (self.high[i] - self.low[i])
            };
            let phase: f64 = frequencies.iter().enumerate().map(|(i, c)| c * scaled(i)).sum();
            row.push((feature, cos(PI * phase)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BasisRecipe, State};

    fn row(recipe: BasisRecipe, observation: &[f64]) -> Vec<f64> {
        let features = recipe.with("low", [-1.0, 0.0]).with("high", [1.0, 2.0]).build().unwrap();
        let mut room = features.scratch();
        features.row(State::Vector(observation), &mut room).iter().map(|(_, x)| x).collect()
    }

    #[test]
    fn cosines_by_hand() {
        let coupled = row(BasisRecipe::new("fourier").with("order", 1.0), &[0.0, 0.5]);
        // (0,0), (0,1), (1,0), (1,1) of (1/2, 1/4).
        let right = [1.0, (PI / 4.0).cos(), 0.0, (0.75 * PI).cos()];
        assert!(coupled.iter().zip(right).all(|(x, right)| (x - right).abs() < 1e-15), "{coupled:?}");
        let apart = row(BasisRecipe::new("fourier").with("order", 2.0).with("coupled", false), &[0.0, 0.5]);
        let right = [1.0, 0.0, -1.0, (PI / 4.0).cos(), 0.0];
        assert!(
            apart.len() == 5 && apart.iter().zip(right).all(|(x, right)| (x - right).abs() < 1e-15),
            "{apart:?}"
        );
    }
}
