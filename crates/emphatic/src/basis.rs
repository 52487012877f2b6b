//! Bases: features that are computed from an observation, a vector of real numbers.
//!
//! | basis | features |
//! |---|---|
//! | [`TileCoder`] | the tiles in which the observation lies, one of each tiling |
//! | [`Fourier`] | cosines of growing frequency |
//! | [`Radial`] | bumps around the points of a grid |
//! | [`Monomials`] | products of powers |
//! | [`Indicators`] | one for each value of a whole number |
//! | [`Scaled`] | the observation itself, scaled |
//!
//! Each declares itself, as parts do. A [`BasisRecipe`] names one with its settings and becomes [`Features`]: learners then take observations as
//! they are.
//!
//! ```
//! use emphatic::{BasisRecipe, State};
//!
//! let recipe = BasisRecipe::new("tiles").with("low", [-1.2, -0.07]).with("high", [0.6, 0.07]).with("tilings", 8.0).with("tiles", 4.0);
//! let features = recipe.build()?;
//! assert_eq!((features.len(), features.most_active()), (8 * 5 * 5, 8));
//! let mut room = features.scratch();
//! let row = features.row(State::Vector(&[-0.5, 0.0]), &mut room);
//! assert_eq!(row.len(), 8);
//! # Ok::<(), emphatic::BasisError>(())
//! ```

mod coded;
mod fourier;
mod indicators;
mod monomials;
mod radial;
mod scaled;
mod settings;
mod tiles;

pub use coded::{Coded, CodedStates};
pub use fourier::Fourier;
pub use indicators::Indicators;
pub use monomials::Monomials;
pub use radial::Radial;
pub use scaled::Scaled;
pub use settings::{BasisSetting, BasisSettings, BasisValue, Kind};
pub use tiles::TileCoder;

use crate::catalogue::Catalogue;
use crate::{FeatureError, Features, Isa};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::Arc;
use thiserror::Error;

/// The most features of a basis: more are surely a mistake.
pub const MOST_FEATURES: usize = 1 << 28;

/// Computes features of observations.
pub trait Basis: Debug + Send + Sync {
    /// The length of an observation.
    fn dimensions(&self) -> usize;

    /// The number of features.
    fn len(&self) -> usize;

    /// Whether there are no features at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most features that are active at once, by which step-sizes are divided.
    fn most_active(&self) -> usize {
        self.len()
    }

    /// Whether every observation lists all features, in their order.
    fn is_dense(&self) -> bool {
        true
    }

    /// Returns an error if this basis has no features of an observation of the right length, of finite numbers.
    fn check(&self, _observation: &[f64]) -> Result<(), FeatureError> {
        Ok(())
    }

    /// Adds the active features of an observation that has been checked, with their values.
    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>);

    /// [`Basis::write`] for up to [`SIDE_BY_SIDE`] observations, which lie one after the other in a slice: `active[k]` becomes number `k` of
    /// the active features of each of them.
    ///
    /// Returns `false`, and does nothing, unless all observations have as many active features, all of the value one, and the basis has a faster
    /// way than one by one.
    fn write_active(
        &self,
        _observations: &[f64],
        _isa: Isa,
        _active: &mut Vec<[usize; SIDE_BY_SIDE]>,
    ) -> bool {
        false
    }
}

/// How many observations [`Basis::write_active`] takes side by side.
pub const SIDE_BY_SIDE: usize = 16;

/// A basis that declares itself.
pub trait DeclaredBasis: Basis + Sized + 'static {
    /// Its declaration.
    const DECLARATION: BasisDeclaration;

    /// Builds it.
    fn build(settings: &BasisSettings) -> Result<Self, BasisError>;
}

/// The declaration of a basis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BasisDeclaration {
    /// Its name in files.
    pub name: &'static str,
    /// Its class in Python.
    pub class: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The publication that it comes from.
    pub source: &'static str,
    /// Its settings.
    pub settings: &'static [BasisSetting],
}

impl BasisDeclaration {
    /// Returns the setting of a name; `None` if the basis has no such setting.
    pub fn setting(&self, name: &str) -> Option<&'static BasisSetting> {
        self.settings.iter().find(|setting| setting.name == name)
    }
}

/// A declared basis that can be built.
#[derive(Clone, Copy, Debug)]
pub struct BasisEntry {
    /// Its declaration.
    pub declaration: BasisDeclaration,
    build: fn(&BasisSettings) -> Result<Arc<dyn Basis>, BasisError>,
}

impl BasisEntry {
    /// The entry of a basis.
    pub(crate) fn of<T: DeclaredBasis>() -> Self {
        Self { declaration: T::DECLARATION, build: |settings| Ok(Arc::new(T::build(settings)?)) }
    }
}

impl std::ops::Deref for BasisEntry {
    type Target = BasisDeclaration;

    fn deref(&self) -> &BasisDeclaration {
        &self.declaration
    }
}

/// A basis that cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BasisError {
    /// No basis has this name.
    #[error("there is no basis `{0}`")]
    Unknown(String),
    /// The recipe of another basis than was asked for.
    #[error("the basis is `{kind}`; it must be `{right}`")]
    Another {
        /// The basis of the recipe.
        kind: String,
        /// The one that was asked for.
        right: &'static str,
    },
    /// The basis does not have this setting.
    #[error("the basis `{basis}` has no setting `{name}`")]
    UnknownSetting {
        /// The basis.
        basis: &'static str,
        /// The name.
        name: String,
    },
    /// A setting without a default that was not set.
    #[error("the basis `{basis}` needs `{name}`")]
    Missing {
        /// The basis.
        basis: &'static str,
        /// Which setting.
        name: &'static str,
    },
    /// A setting with a wrong value.
    #[error("`{name}` is {value}; {right}")]
    Setting {
        /// Which setting.
        name: &'static str,
        /// Its value.
        value: String,
        /// What would be right.
        right: String,
    },
    /// More features than there may be.
    #[error("there would be {count:.3e} features; at most {most} are possible")]
    TooMany {
        /// How many there would be.
        count: f64,
        /// How many are possible.
        most: usize,
    },
}

impl BasisError {
    /// Returns the name of the setting that is wrong, if one is.
    pub fn setting(&self) -> Option<&str> {
        match self {
            Self::UnknownSetting { name, .. } => Some(name),
            Self::Setting { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// The most features of a basis all of which are active: a row of them is written out at every step.
const MOST_DENSE: usize = 1 << 22;

/// Returns the product of some counts, or an error if there would be more features.
fn checked_count(factors: impl IntoIterator<Item = usize>, most: usize) -> Result<usize, BasisError> {
    // In floating point, which does not overflow.
    let count: f64 = factors.into_iter().map(|factor| factor as f64).product();
    if count <= most as f64 { Ok(count as usize) } else { Err(BasisError::TooMany { count, most }) }
}

/// A basis by its name in the catalogue, with its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BasisRecipe {
    /// Its name.
    pub kind: String,
    /// Its settings by name. Those left out have their defaults.
    #[serde(flatten)]
    pub values: BTreeMap<String, BasisValue>,
}

/// One entry of an observation, as an environment describes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dimension {
    /// The least value that features are to tell apart.
    pub low: f64,
    /// The largest.
    pub high: f64,
    /// Whether `high` is `low` again, as with angles.
    pub wraps: bool,
}

impl BasisRecipe {
    /// A basis of this name, with nothing set.
    pub fn new(kind: impl Into<String>) -> Self {
        Self { kind: kind.into(), values: BTreeMap::new() }
    }

    /// The same with a setting: a number, a list with one for each dimension, a word, or true and false.
    pub fn with(mut self, name: impl Into<String>, value: impl Into<BasisValue>) -> Self {
        self.values.insert(name.into(), value.into());
        self
    }

    /// The same for observations like these: `low`, `high` and `wraps` are set where they are not.
    pub fn within(mut self, space: &[Dimension]) -> Result<Self, BasisError> {
        let declaration = self.entry()?.declaration;
        let mut set = |name: &str, list: BasisValue| {
            if declaration.setting(name).is_some() && !self.values.contains_key(name) {
                self.values.insert(name.to_owned(), list);
            }
        };
        set("low", BasisValue::List(space.iter().map(|dimension| dimension.low).collect()));
        set("high", BasisValue::List(space.iter().map(|dimension| dimension.high).collect()));
        if space.iter().any(|dimension| dimension.wraps) {
            set("wraps", BasisValue::Flags(space.iter().map(|dimension| dimension.wraps).collect()));
        }
        for name in ["low", "high"] {
            match self.values.get(name) {
                // One number stands for all dimensions.
                Some(BasisValue::Number(x)) => {
                    let all = BasisValue::List(vec![*x; space.len()]);
                    self.values.insert(name.to_owned(), all);
                }
                Some(BasisValue::List(list)) if list.len() != space.len() => {
                    let value = BasisValue::List(list.clone()).to_string();
                    let right =
                        format!("it must have one entry for each of {} that are observed", space.len());
                    return Err(BasisError::Setting { name, value, right });
                }
                _ => {}
            }
        }
        Ok(self)
    }

    fn entry(&self) -> Result<&'static BasisEntry, BasisError> {
        Catalogue::current().basis(&self.kind).ok_or_else(|| BasisError::Unknown(self.kind.clone()))
    }

    /// Returns the settings, if the basis has all of them.
    fn settings(&self, declaration: &BasisDeclaration) -> Result<BasisSettings<'_>, BasisError> {
        if let Some(name) = self.values.keys().find(|name| declaration.setting(name).is_none()) {
            return Err(BasisError::UnknownSetting { basis: declaration.name, name: name.clone() });
        }
        BasisSettings::new(declaration, &self.values)
    }

    /// Builds the basis itself, for what only a basis of this type can do.
    pub fn build_as<T: DeclaredBasis>(&self) -> Result<T, BasisError> {
        if self.kind != T::DECLARATION.name {
            return Err(BasisError::Another { kind: self.kind.clone(), right: T::DECLARATION.name });
        }
        T::build(&self.settings(&T::DECLARATION)?)
    }

    /// Builds the features of this basis.
    pub fn build(&self) -> Result<Features, BasisError> {
        let entry = self.entry()?;
        let basis = (entry.build)(&self.settings(&entry.declaration)?)?;
        Ok(Features::Observed(Observed {
            recipe: Arc::new(self.clone()),
            len: basis.len(),
            is_dense: basis.is_dense(),
            basis,
            view: 0,
        }))
    }
}

/// Its name and its settings: `tiles, high = [1, 1], low = [0, 0], tiles = 4, tilings = 8`.
impl fmt::Display for BasisRecipe {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.kind)?;
        self.values.iter().try_for_each(|(name, value)| write!(f, ", {name} = {value}"))
    }
}

/// Features of observations, by a basis.
#[derive(Clone, Debug)]
pub struct Observed {
    recipe: Arc<BasisRecipe>,
    basis: Arc<dyn Basis>,
    /// The basis's answers that every step needs.
    len: usize,
    is_dense: bool,
    /// The place of the basis in states of which the features have been computed: see [`CodedStates`].
    view: usize,
}

impl Observed {
    /// The recipe of the basis.
    pub fn recipe(&self) -> &BasisRecipe {
        &self.recipe
    }

    /// The basis.
    #[inline(always)]
    pub fn basis(&self) -> &dyn Basis {
        &*self.basis
    }

    /// The same as number `view` of the bases of [`CodedStates`].
    pub fn at(self, view: usize) -> Self {
        Self { view, ..self }
    }

    /// The number of features.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether every state lists all features, in their order.
    #[inline(always)]
    pub(crate) fn is_dense(&self) -> bool {
        self.is_dense
    }

    #[inline(always)]
    pub(crate) fn view(&self) -> usize {
        self.view
    }
}

/// Equal recipes are equal bases; where their features stand in states does not matter.
impl PartialEq for Observed {
    fn eq(&self, other: &Self) -> bool {
        self.recipe == other.recipe
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;

    fn features_of(recipe: &BasisRecipe, observation: &[f64]) -> Vec<(usize, f64)> {
        let features = recipe.build().unwrap();
        features.check(State::Vector(observation)).unwrap();
        let mut room = features.scratch();
        features.row(State::Vector(observation), &mut room).iter().collect()
    }

    /// Every basis of the catalogue, of two dimensions, with as little set as it needs.
    fn all() -> Vec<BasisRecipe> {
        let needed = [("tiles", 4.0), ("tilings", 2.0), ("order", 2.0), ("degree", 2.0), ("centres", 3.0)];
        let space = [Dimension { low: 0.0, high: 3.0, wraps: false }; 2];
        let with_needed = |entry: &BasisEntry| {
            let set = needed.into_iter().filter(|(name, _)| entry.setting(name).is_some());
            set.fold(BasisRecipe::new(entry.name), |recipe, (name, x)| recipe.with(name, x))
        };
        Catalogue::standard().bases().map(|entry| with_needed(entry).within(&space).unwrap()).collect()
    }

    #[test]
    fn every_basis_lists_finite_features_that_exist_within_and_beyond_the_bounds() {
        for recipe in all() {
            let features = recipe.build().unwrap();
            let observations = [[0.0, 0.0], [3.0, 3.0], [1.0, 2.0], [-7.0, 1e9]];
            for observation in observations.iter().filter(|x| features.check(State::Vector(&x[..])).is_ok()) {
                let row = features_of(&recipe, observation);
                assert!(row.len() <= features.most_active(), "{recipe}");
                assert!(row.iter().all(|(f, x)| *f < features.len() && x.is_finite()), "{recipe}: {row:?}");
                if let Features::Observed(observed) = &features
                    && observed.basis().is_dense()
                {
                    assert!(row.iter().map(|(f, _)| *f).eq(0..features.len()), "{recipe}");
                }
            }
        }
    }

    #[test]
    fn every_basis_refuses_what_it_cannot_describe_and_settings_that_it_does_not_have() {
        for recipe in all() {
            let features = recipe.build().unwrap();
            let error = |state| features.check(state).unwrap_err().to_string();
            assert_eq!(error(State::Vector(&[1.0])), "an observation has 1 entries; it must have 2");
            let nan = "entry 1 of the observation is NaN; it must be finite";
            assert_eq!(error(State::Vector(&[1.0, f64::NAN])), nan);
            assert!(features.check(State::Number(0)).is_err());
            let error = recipe.clone().with("colour", 1.0).build().unwrap_err();
            assert_eq!(error.to_string(), format!("the basis `{}` has no setting `colour`", recipe.kind));
            assert!(recipe.clone().with("low", [0.0, 5.0]).build().is_err());
            // For observations of two entries, of which one number speaks of both.
            let space = [Dimension { low: 0.0, high: 3.0, wraps: false }; 2];
            let error = recipe.clone().with("low", [0.0; 3]).within(&space).unwrap_err().to_string();
            assert_eq!(error, "`low` is [0, 0, 0]; it must have one entry for each of 2 that are observed");
            let one = recipe.with("low", -1.0).within(&space).unwrap().build().unwrap();
            assert!(one.check(State::Vector(&[1.0, 2.0])).is_ok());
        }
        let error = BasisRecipe::new("tile").build().unwrap_err();
        assert_eq!(error.to_string(), "there is no basis `tile`");
    }

    #[test]
    fn a_recipe_is_built_by_its_own_type_alone() {
        let recipe = all().into_iter().find(|recipe| recipe.kind == "tiles").unwrap();
        let coder: TileCoder = recipe.build_as().unwrap();
        assert_eq!(coder.len(), recipe.build().unwrap().len());
        let error = recipe.build_as::<Fourier>().unwrap_err();
        assert_eq!(error.to_string(), "the basis is `tiles`; it must be `fourier`");
        assert!(recipe.with("colour", 1.0).build_as::<TileCoder>().is_err());
    }

    #[test]
    fn recipes_are_written_and_read_as_they_are() {
        for recipe in all() {
            let text = serde_json::to_string(&recipe).unwrap();
            assert_eq!(serde_json::from_str::<BasisRecipe>(&text).unwrap(), recipe, "{text}");
        }
    }
}
