//! Schedules: how step-sizes change as a part learns.
//!
//! | schedule | the factor of a step-size |
//! |---|---|
//! | [`Constant`] | 1/k, with k active features |
//! | [`Polynomial`] | max(floor, (1 + t/T)^−p)/k at step t |
//! | [`PerFeature`] | max(floor, n_j^−p)/‖x‖² for feature j, active for the n_j-th time |

use crate::catalogue::{Extent, Role, Size};
use crate::settings::settings;
use crate::{
    Built, ComposeError, Declaration, Declared, Features, Part, PartBuilder, Real, Row, SettingError,
    Settings, StateError, Visitor,
};

/// The same step-size at every step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constant;

impl Declared for Constant {
    const DECLARATION: Declaration = Declaration::new(
        Role::Schedule,
        "constant",
        "Constant",
        "the same step-size at every step, divided by the number of active features",
    );

    fn build<R: Real>(_: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        Ok(Built::Schedule(Box::default()))
    }
}

mod polynomial {
    use super::*;

    settings! {
        Polynomial<R>() => PolynomialBuilder;
        power: Fraction = 0.5, "p: 0 is constant, 1 falls fastest";
        over: Count = 1000.0, "T: after this many steps the step-size has fallen to 2^−p of what it was";
        floor: Fraction = 0.0, "the share of the step-size that is never fallen below";
    }

    impl Declared for Polynomial {
        const DECLARATION: Declaration = Declaration {
            settings: SETTINGS,
            ..Declaration::new(
                Role::Schedule,
                "polynomial",
                "Polynomial",
                "falls with the steps: max(floor, (1 + t/T)^−p), divided by the number of active features",
            )
        };

        fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
            Ok(Built::Schedule(Box::new(Polynomial::new(with.settings())?.into())))
        }
    }

    /// A step-size that falls with the steps: max(floor, (1 + t/T)^−p), where t is 0 at the first.
    #[derive(Clone, Debug)]
    pub struct Polynomial<R = f64> {
        pub(super) settings: Settings<R>,
    }

    impl<R: Real> Polynomial<R> {
        fn new(settings: Settings<R>) -> Result<Self, SettingError> {
            settings.iter().try_for_each(|setting| setting.map(drop))?;
            Ok(Self { settings })
        }
    }
}
pub use polynomial::{Polynomial, PolynomialBuilder};

mod per_feature {
    use super::*;

    settings! {
        PerFeature<R>() => PerFeatureBuilder;
        power: Fraction = 0.5, "p: 0 is constant, 1 is the mean of all that was seen";
        floor: Fraction = 0.02, "the share of the step-size that is never fallen below";
    }

    impl Declared for PerFeature {
        const DECLARATION: Declaration = Declaration {
            settings: SETTINGS,
            ..Declaration::new(
                Role::Schedule,
                "per-feature",
                "PerFeature",
                "falls with how often each feature was active: max(floor, n_j^−p), divided by the square of the features' length",
            )
        };

        fn size(of: &Extent) -> Size {
            Size { in_lanes: of.features, shared: of.features }
        }

        fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
            Ok(Built::Schedule(Box::new(PerFeature::new(with.settings())?.into())))
        }
    }

    /// A step-size for each feature, which falls with how often it was active: max(floor, n_j^−p)/‖x‖².
    #[derive(Clone, Debug)]
    pub struct PerFeature<R = f64> {
        pub(super) settings: Settings<R>,
    }

    impl<R: Real> PerFeature<R> {
        fn new(settings: Settings<R>) -> Result<Self, SettingError> {
            settings.iter().try_for_each(|setting| setting.map(drop))?;
            Ok(Self { settings })
        }
    }
}
pub use per_feature::{PerFeature, PerFeatureBuilder};

/// Any schedule. A part multiplies its step-sizes by what it says.
#[derive(Clone, Debug)]
pub struct Schedule<R = f64> {
    kind: Kind,
    settings: Settings<R>,
    power: Power<R>,
    floor: R,
    /// T.
    over: f64,
    /// One over the number of active features.
    share: R,
    /// How many steps there have been.
    steps: u64,
    /// n_j, and max(floor, n_j^−p).
    counts: Vec<u64>,
    shares: Vec<R>,
    /// What all features have in common at this step.
    common: R,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Constant,
    Polynomial,
    PerFeature,
}

impl<R: Real> Default for Schedule<R> {
    fn default() -> Self {
        Self::new(Kind::Constant, Settings::new(Constant::DECLARATION))
    }
}

impl<R: Real> From<Constant> for Schedule<R> {
    fn from(_: Constant) -> Self {
        Self::default()
    }
}

impl<R: Real> From<Polynomial<R>> for Schedule<R> {
    fn from(polynomial: Polynomial<R>) -> Self {
        Self::new(Kind::Polynomial, polynomial.settings)
    }
}

impl<R: Real> From<PerFeature<R>> for Schedule<R> {
    fn from(per_feature: PerFeature<R>) -> Self {
        Self::new(Kind::PerFeature, per_feature.settings)
    }
}

impl<R: Real> Schedule<R> {
    /// A schedule by its settings, which have been checked.
    fn new(kind: Kind, settings: Settings<R>) -> Self {
        let number = |name: &str, otherwise: f64| settings.number(name).unwrap_or(R::splat(otherwise));
        Self {
            kind,
            power: Power::new(number("power", 0.0)),
            floor: number("floor", 0.0),
            over: number("over", 1.0).lane(0),
            settings,
            share: R::one(),
            steps: 0,
            counts: Vec::new(),
            shares: Vec::new(),
            common: R::one(),
        }
    }

    /// The same for a part that looks at these features.
    pub(crate) fn of(self, features: &Features) -> Self {
        self.of_pairs(features, 1)
    }

    /// The same for a part that looks at these features together with one of so many actions.
    pub(crate) fn of_pairs(mut self, features: &Features, actions: usize) -> Self {
        self.share = R::one() / R::splat(features.most_active() as f64);
        self.common = self.share;
        if self.kind == Kind::PerFeature {
            self.counts = vec![0; features.len() * actions];
            self.shares = vec![R::one(); features.len() * actions];
        }
        self
    }

    /// Whether step-sizes stay as they are.
    #[inline(always)]
    pub(crate) fn is_constant(&self) -> bool {
        self.kind == Kind::Constant
    }

    /// Whether each feature has a step-size of its own.
    #[inline(always)]
    pub(crate) fn is_per_feature(&self) -> bool {
        self.kind == Kind::PerFeature
    }

    /// Begins a step in which these features are active.
    #[inline(always)]
    pub(crate) fn begin(&mut self, x: Row) {
        self.begin_at(x.iter());
    }

    /// Begins a step in which these features are active, each with its value.
    #[inline(always)]
    pub(crate) fn begin_at(&mut self, x: impl Iterator<Item = (usize, f64)>) {
        match self.kind {
            Kind::Constant => {}
            Kind::Polynomial => {
                let fallen = self.power.of(1.0 + self.steps as f64 / self.over);
                self.common = fallen.larger(self.floor) * self.share;
                self.steps = self.steps.saturating_add(1);
            }
            Kind::PerFeature => self.count(x),
        }
    }

    #[inline(always)]
    fn count(&mut self, x: impl Iterator<Item = (usize, f64)>) {
        let mut square = 0.0;
        for (j, x) in x {
            if x != 0.0 {
                square += x * x;
                self.counts[j] = self.counts[j].saturating_add(1);
                self.shares[j] = self.power.of(self.counts[j] as f64).larger(self.floor);
            }
        }
        self.common = R::splat(if square > 0.0 { 1.0 / square } else { 0.0 });
    }

    /// Returns by what a step-size is multiplied for feature j at this step.
    #[inline(always)]
    pub(crate) fn factor(&self, j: usize) -> R {
        match self.kind {
            Kind::PerFeature => self.shares[j] * self.common,
            Kind::Constant | Kind::Polynomial => self.common,
        }
    }
}

impl<R: Real> Part<R> for Schedule<R> {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.settings(&self.settings)?;
        match self.kind {
            Kind::Constant => Ok(()),
            Kind::Polynomial => visitor.counts("steps", std::slice::from_mut(&mut self.steps)),
            Kind::PerFeature => {
                visitor.counts("n", &mut self.counts)?;
                if visitor.restores() {
                    for (share, count) in self.shares.iter_mut().zip(&self.counts) {
                        *share = self.power.of((*count).max(1) as f64).larger(self.floor);
                    }
                }
                Ok(())
            }
        }
    }
}

/// x^−p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Power<R> {
    power: R,
    /// One where p is ½.
    is_half: R,
    all_half: bool,
}

impl<R: Real> Power<R> {
    pub(crate) fn new(power: R) -> Self {
        let is_half = R::from_lanes(|lane| if power.lane(lane) == 0.5 { 1.0 } else { 0.0 });
        Self { power, is_half, all_half: (R::one() - is_half).all_zero() }
    }

    /// Returns x^−p. A square root is quicker than exp and ln, and is what each lane with p = ½ has, whatever the others have.
    #[inline(always)]
    pub(crate) fn of(&self, x: f64) -> R {
        let root = R::splat(1.0 / x.sqrt());
        if self.all_half {
            return root;
        }
        let power = (-self.power * R::splat(x).ln()).exp();
        R::zero().if_less(self.is_half, root, power)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AsState, Lanes, Scratch};

    fn factors<R: Real>(schedule: &mut Schedule<R>, features: &Features, state: &[f64]) -> Vec<R> {
        let mut scratch = Scratch::default();
        schedule.begin(features.row(state.as_state(), &mut scratch));
        (0..features.len()).map(|j| schedule.factor(j)).collect()
    }

    #[test]
    fn by_hand() {
        let features = Features::dense(2);
        let constant = &mut Schedule::<f64>::from(Constant).of(&features);
        let polynomial = Polynomial::builder().power(1.0).over(2.0).floor(0.6).build().unwrap();
        let polynomial = &mut Schedule::from(polynomial).of(&features);
        let per_feature = PerFeature::builder().floor(0.6).build().unwrap();
        let per_feature = &mut Schedule::from(per_feature).of(&features);
        for common in [0.5, 1.0 / 3.0, 0.3, 0.3] {
            assert_eq!(factors(constant, &features, &[1.0, 2.0]), [0.5, 0.5]);
            for factor in factors(polynomial, &features, &[1.0, 2.0]) {
                assert!((factor - common).abs() < 1e-15, "{factor} {common}");
            }
        }
        assert_eq!(factors(per_feature, &features, &[1.0, 0.0]), [1.0, 1.0]);
        assert_eq!(factors(per_feature, &features, &[0.0, 2.0]), [0.25, 0.25]);
        assert_eq!(factors(per_feature, &features, &[2.0, 0.0]), [0.25 / 2f64.sqrt(), 0.25]);
        assert_eq!(factors(per_feature, &features, &[1.0, 0.0]), [0.6, 1.0]);
        assert_eq!(factors(per_feature, &features, &[0.0, 0.0]), [0.0, 0.0]);
    }

    #[test]
    fn a_lane_has_the_bits_that_it_would_have_alone() {
        let features = Features::one_hot(1);
        let powers = [0.5, 0.3, 1.0, 0.0];
        let lanes = PerFeature::builder().power(Lanes(powers)).floor(Lanes([0.0; 4])).build().unwrap();
        let mut lanes = Schedule::from(lanes).of(&features);
        let alone = |power| PerFeature::builder().power(power).floor(0.0).build().unwrap();
        let mut alone = powers.map(|power| Schedule::from(alone(power)).of(&features));
        for _ in 0..50 {
            let x = features.of_number(0);
            lanes.begin(x);
            for (lane, alone) in alone.iter_mut().enumerate() {
                alone.begin(x);
                assert_eq!(alone.factor(0).to_bits(), lanes.factor(0).lane(lane).to_bits());
            }
        }
    }
}
