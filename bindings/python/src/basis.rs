//! Bases: features that are computed from observations.

use crate::error::wrong_value;
use crate::interrupts::Chunks;
use crate::memory;
use emphatic::basis::{BasisValue, Observed, TileCoder};
use emphatic::{BasisError, BasisRecipe, FeatureError, Features, State};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

/// A basis in the settings of a learner: a recipe in files, built when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "BasisRecipe", into = "BasisRecipe")]
pub(crate) struct BuiltBasis(Observed);

impl TryFrom<BasisRecipe> for BuiltBasis {
    type Error = BasisError;

    fn try_from(recipe: BasisRecipe) -> Result<Self, BasisError> {
        match recipe.build()? {
            Features::Observed(observed) => Ok(Self(observed)),
            _ => Err(BasisError::Unknown(recipe.kind)),
        }
    }
}

impl From<BuiltBasis> for BasisRecipe {
    fn from(BuiltBasis(observed): BuiltBasis) -> Self {
        observed.recipe().clone()
    }
}

impl FromPyObject<'_, '_> for BuiltBasis {
    type Error = PyErr;

    fn extract(basis: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        Ok(basis.cast::<Basis>()?.get().built.clone())
    }
}

impl BuiltBasis {
    pub(crate) fn features(&self) -> Features {
        Features::Observed(self.0.clone())
    }

    /// The length of an observation.
    pub(crate) fn dimensions(&self) -> usize {
        self.0.basis().dimensions()
    }

    /// The recipe as JSON.
    pub(crate) fn json(&self) -> PyResult<String> {
        serde_json::to_string(self.0.recipe()).map_err(wrong_value)
    }

    /// The dimensions in which observations are moved to the edge, however far outside they are.
    fn clips(&self) -> Vec<bool> {
        let BasisRecipe { kind, values, .. } = self.0.recipe();
        let clips = kind == "tiles" && values.get("outside").is_none_or(|word| *word == "clip".into());
        let wraps = |i: usize| match values.get("wraps") {
            Some(BasisValue::Flags(all)) => all.get(i) == Some(&true),
            Some(BasisValue::Flag(all)) => *all,
            _ => false,
        };
        (0..self.dimensions()).map(|i| clips && !wraps(i)).collect()
    }
}

/// The native half of every basis in Python.
#[pyclass(frozen, module = "emphatic._native")]
pub(crate) struct Basis {
    built: BuiltBasis,
    features: Features,
    clips: Vec<bool>,
}

#[pymethods]
impl Basis {
    /// Builds a basis of its recipe as JSON: its name in files as `kind`, and its settings.
    #[new]
    fn new(py: Python<'_>, recipe: &str) -> PyResult<Self> {
        let recipe: BasisRecipe = serde_json::from_str(recipe).map_err(wrong_value)?;
        let built = py.detach(|| BuiltBasis::try_from(recipe)).map_err(wrong_value)?;
        Ok(Self { features: built.features(), clips: built.clips(), built })
    }

    /// The number of features.
    #[getter]
    fn len(&self) -> usize {
        self.features.len()
    }

    /// The most features that are active at once.
    #[getter]
    fn most_active(&self) -> usize {
        self.features.most_active()
    }

    /// Returns the numbers of the active features of observations [..., dimensions].
    fn active<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<i64>>> {
        let observations = self.read(observations)?;
        let width = self.most_active();
        let numbers = observations.numbers()?;
        let mut all = memory::zeros(numbers.len() / self.clips.len(), width)?;
        self.each(py, numbers, |t, row| {
            let places = all[t * width..].iter_mut();
            places.zip(row).for_each(|(place, (feature, _))| *place = *feature as i64);
        })?;
        shaped(py, all, observations.shape(), width)
    }

    /// Returns all features of observations [..., dimensions].
    fn values<'py>(
        &self,
        py: Python<'py>,
        observations: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let observations = self.read(observations)?;
        let width = self.len();
        let numbers = observations.numbers()?;
        let mut all = memory::zeros(numbers.len() / self.clips.len(), width)?;
        self.each(py, numbers, |t, row| {
            row.iter().for_each(|(feature, value)| all[t * width + feature] = *value);
        })?;
        shaped(py, all, observations.shape(), width)
    }

    /// Returns how many tiles these observations lie in, and how many of them share their feature with another.
    fn collisions(&self, py: Python<'_>, observations: &Bound<'_, PyAny>) -> PyResult<(usize, usize)> {
        let coder: TileCoder = self.built.0.recipe().build_as().map_err(wrong_value)?;
        let observations = self.read(observations)?;
        let rows = observations.numbers()?;
        self.each(py, rows, |_, _| {})?;
        py.detach(|| {
            // Those that are infinite, as they are moved to the edge.
            let finite: Vec<f64> = rows.iter().map(|x| x.clamp(f64::MIN, f64::MAX)).collect();
            Ok(coder.collisions(finite.chunks_exact(self.clips.len())))
        })
    }
}

/// Observations [..., dimensions].
enum Observations<'py> {
    Read(PyReadonlyArrayDyn<'py, f64>),
    /// Their numbers and their shape.
    Converted(Vec<f64>, Vec<usize>),
}

impl Observations<'_> {
    fn numbers(&self) -> PyResult<&[f64]> {
        match self {
            Self::Read(array) => Ok(array.as_slice()?),
            Self::Converted(numbers, _) => Ok(numbers),
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Self::Read(array) => array.shape(),
            Self::Converted(_, shape) => shape,
        }
    }
}

impl Basis {
    /// Returns observations as they are if they can be read, else converted.
    fn read<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Observations<'py>> {
        if let Some(array) = self.readable::<f64>(x)? {
            return Ok(Observations::Read(array));
        }
        // As most environments of Gymnasium have them.
        if let Some(array) = self.readable::<f32>(x)? {
            let numbers = array.as_slice()?.iter().map(|x| f64::from(*x)).collect();
            return Ok(Observations::Converted(numbers, array.shape().to_vec()));
        }
        let convert = x.py().import("emphatic.convert")?;
        let converted = convert.call_method1("observations", (x, self.clips.len()))?;
        Ok(Observations::Read(converted.extract()?))
    }

    /// Returns an array of numbers of this type and of the right shape; `None` if it is not one.
    fn readable<'py, T: numpy::Element>(
        &self,
        x: &Bound<'py, PyAny>,
    ) -> PyResult<Option<PyReadonlyArrayDyn<'py, T>>> {
        // No subclass: a masked array is not all numbers.
        let Ok(array) = x.cast_exact::<PyArrayDyn<T>>() else { return Ok(None) };
        if array.shape().last() != Some(&self.clips.len()) || !array.is_c_contiguous() {
            return Ok(None);
        }
        let array = array.try_readonly()?;
        // It may not be aligned.
        let is_readable = array.as_slice().is_ok();
        Ok(is_readable.then_some(array))
    }

    /// Calls a function with the number and the active features of every observation, while other Python threads run.
    fn each(
        &self,
        py: Python<'_>,
        observations: &[f64],
        mut use_row: impl FnMut(usize, &[(usize, f64)]) + Send,
    ) -> PyResult<()> {
        let (dimensions, mut row) = (self.clips.len(), Vec::new());
        let count = observations.len() / dimensions;
        for mut chunk in Chunks::new(count) {
            let (row, use_row) = (&mut row, &mut use_row);
            let wrong = py.detach(move || {
                chunk.try_for_each(|t| {
                    row.clear();
                    let observation = &observations[t * dimensions..(t + 1) * dimensions];
                    self.write(observation, row).map_err(|error| (t, error))?;
                    use_row(t, row);
                    Ok(())
                })
            });
            wrong.map_err(|(t, error): (usize, FeatureError)| {
                let which = if count > 1 { format!("observation {t}: ") } else { String::new() };
                PyValueError::new_err(format!("{which}{error}"))
            })?;
            py.check_signals()?;
        }
        Ok(())
    }

    /// Adds the active features of an observation.
    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) -> Result<(), FeatureError> {
        let basis = self.built.0.basis();
        match self.features.check(State::Vector(observation)) {
            Ok(()) => basis.write(observation, row),
            Err(error) => basis.write(&self.made_finite(observation).ok_or(error)?, row),
        }
        Ok(())
    }

    /// Returns an observation with large numbers instead of infinite ones, where both are moved to the edge; `None` if it is wrong even so.
    #[cold]
    fn made_finite(&self, observation: &[f64]) -> Option<Vec<f64>> {
        let moved = observation.iter().zip(&self.clips);
        let finite: Vec<f64> =
            moved.map(|(x, clips)| if *clips { x.clamp(f64::MIN, f64::MAX) } else { *x }).collect();
        self.features.check(State::Vector(&finite)).is_ok().then_some(finite)
    }
}

/// Returns features as an array with the leading dimensions of the observations.
fn shaped<'py, T: numpy::Element>(
    py: Python<'py>,
    features: Vec<T>,
    observations: &[usize],
    width: usize,
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let leading = &observations[..observations.len() - 1];
    PyArray1::from_vec(py, features).reshape([leading, &[width]].concat())
}
