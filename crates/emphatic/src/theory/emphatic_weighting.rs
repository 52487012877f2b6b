//! The emphatic weighting m, and the emphatic density m/d_μ.

use super::{Exact, Model, ModelStates};
use crate::policy::Policy;
use crate::real::{Real, Wide};

impl<R: Real, P: Policy, M: Model<P>> Exact<'_, R, M, P> {
    /// m_{λ_a} = (1 − λ_a) i + λ_a m, which equals iᵀ(I − P)⁻¹(I − (1 − λ_a)P) since mᵀP = mᵀ − iᵀ. (Here, as in
    /// the paper's equation, i stands for d_μ · i.)
    ///
    /// λ_a = 1 is the emphatic weighting m, λ_a = 0 is d_μ · i.
    pub fn emphatic_weighting(&self, lambda_a: f64) -> Vec<R> {
        self.weighting_in_units(lambda_a).into_iter().map(|m| self.unit.times(m)).collect()
    }

    pub(super) fn weighting_in_units(&self, lambda_a: f64) -> Vec<R> {
        let interests = self.stationary.iter().zip(self.model.interest());
        let mix =
            |((d, i), m): ((&f64, &f64), &R)| R::splat((1.0 - lambda_a) * d * i) + R::splat(lambda_a) * *m;
        interests.zip(&self.weighting).map(mix).collect()
    }
}

impl<P: Policy, M: Model<P>> Exact<'_, f64, M, P> {
    /// m_{λ_a}/d_μ, also where both underflow. NaN in states that are never visited.
    pub fn emphatic_density(&self, lambda_a: f64) -> Vec<f64> {
        let (mix, rest) = (Wide::new(lambda_a), Wide::new(1.0 - lambda_a));
        let stationary = self.model.wide_stationary();
        let interest = || stationary.iter().zip(self.model.interest()).map(|(d, i)| (*d, Wide::new(*i)));
        let weightings =
            self.chain.wide().solve_transposed(&interest().map(|(d, i)| d * i).collect::<Vec<_>>());
        let density = |((d, i), m): ((Wide, Wide), Wide)| match d.is_positive() {
            true => ((rest * d * i + mix * m) / d).get(),
            false => f64::NAN,
        };
        interest().zip(weightings).map(density).collect()
    }
}

/// A power of two, represented by its square root since it may underflow itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unit(f64);

impl Unit {
    pub(super) fn times<R: Real>(self, x: R) -> R {
        x * R::splat(self.0) * R::splat(self.0)
    }
}

/// d_μ where there is interest, and its unit: one, unless all states of interest are visited so rarely that d_μ underflows.
pub(super) fn stationary_in_units(model: &impl ModelStates) -> (Vec<f64>, Unit) {
    let is_common = |(d, i): (&f64, &f64)| *i > 0.0 && Wide::near(*d).is_some_and(Wide::is_positive);
    if model.stationary().iter().zip(model.interest()).any(is_common) {
        return (model.stationary().to_vec(), Unit(1.0));
    }
    let of_interest = |(d, i): (Wide, &f64)| if *i > 0.0 { d } else { Wide::ZERO };
    let stationary: Vec<Wide> =
        model.wide_stationary().into_iter().zip(model.interest()).map(of_interest).collect();
    let unit = stationary.iter().fold(Wide::ZERO, |most, d| most.max(*d)).unit();
    (stationary.into_iter().map(|d| (d / unit).get()).collect(), Unit(unit.sqrt().get()))
}
