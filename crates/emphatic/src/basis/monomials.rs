//! The polynomial basis: products of powers.

use super::settings::{BasisSetting, BasisSettings, Kind};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis, MOST_DENSE, checked_count};

/// All products of powers of total degree up to `degree`, of the observation scaled to [−1, 1]. The first feature is constant.
#[derive(Clone, Debug)]
pub struct Monomials {
    low: Vec<f64>,
    high: Vec<f64>,
    /// Each feature is an earlier one times an entry of the observation.
    factors: Vec<(usize, usize)>,
}

impl DeclaredBasis for Monomials {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "polynomial",
        class: "PolynomialBasis",
        about: "products of powers up to a degree, of the observation scaled to [−1, 1]",
        source: "Sutton and Barto 2018, section 9.5.1",
        settings: &[
            BasisSetting::LOW,
            BasisSetting::HIGH,
            BasisSetting {
                name: "degree",
                kind: Kind::Count,
                default: None,
                about: "the largest sum of the exponents",
            },
        ],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let (degree, dimensions) = (settings.count("degree"), settings.dimensions());
        // The binomial coefficient of dimensions + degree over degree.
        let count: f64 = (1..=dimensions).map(|i| (degree + i) as f64 / i as f64).product();
        checked_count([count as usize], MOST_DENSE)?;
        let mut factors = Vec::new();
        // The products of one degree more: each times an entry that is not before its last one, so that none occurs twice.
        let mut last: Vec<(usize, usize)> = vec![(0, 0)];
        for _ in 0..degree {
            let mut next = Vec::new();
            for (feature, from) in last {
                for i in from..dimensions {
                    factors.push((feature, i));
                    next.push((factors.len(), i));
                }
            }
            last = next;
        }
        Ok(Self { low: settings.numbers("low")?, high: settings.numbers("high")?, factors })
    }
}

impl Basis for Monomials {
    fn dimensions(&self) -> usize {
        self.low.len()
    }

    fn len(&self) -> usize {
        self.factors.len() + 1
    }

    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        let start = row.len();
        row.push((0, 1.0));
        for (k, (feature, i)) in self.factors.iter().enumerate() {
            let share = (observation[*i].clamp(self.low[*i], self.high[*i]) - self.low[*i])
                / (self.high[*i] - self.low[*i]);
            row.push((k + 1, row[start + feature].1 * (2.0 * share - 1.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{BasisRecipe, State};

    #[test]
    fn products_by_hand() {
        let recipe = BasisRecipe::new("polynomial")
            .with("low", [0.0, 0.0])
            .with("high", [4.0, 4.0])
            .with("degree", 2.0);
        let features = recipe.build().unwrap();
        let mut room = features.scratch();
        // (3, 1) becomes (1/2, −1/2): 1, x, y, xx, xy, yy.
        let row: Vec<f64> =
            features.row(State::Vector(&[3.0, 1.0]), &mut room).iter().map(|(_, x)| x).collect();
        assert_eq!(row, [1.0, 0.5, -0.5, 0.25, -0.25, 0.25]);
        // In three dimensions and to the third degree there are 20.
        let recipe =
            BasisRecipe::new("polynomial").with("low", [0.0; 3]).with("high", [1.0; 3]).with("degree", 3.0);
        assert_eq!(recipe.build().unwrap().len(), 20);
    }
}
