//! What a learner is made of, as data: read from the parts' Python objects or from the JSON of files and pickles.
//!
//! It is a [`Recipe`] with the name of a Python class. Each part has its own numbers, so that equal names of different parts do not
//! collide.

use crate::basis::BuiltBasis;
use crate::error::wrong_value;
use crate::problem::Problem;
use crate::{memory, python_emphasis};
use emphatic::catalogue::{Acts, Entry, Inner, Need, Range, Role};
use emphatic::{Catalogue, Features, PartRecipe, Recipe, RuleKind, Subset, Table, TimeUnit};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The settings of a learner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Settings {
    /// The name of the Python class.
    pub(crate) class: String,
    pub(crate) rule: RuleKind,
    pub(crate) policy: Part,
    /// The number of actions, if the policy has finitely many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) actions: Option<usize>,
    pub(crate) critic: Part,
    pub(crate) emphasis: Part,
    /// `None` for the rule's own actor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) actor: Option<Part>,
    pub(crate) alpha: f64,
    /// In how many steps the actor waits while critic and emphasis learn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) warm_up: u64,
    /// How many actions are drawn at each step instead of all, and the seed they are drawn by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) subset: Option<(usize, u64)>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // As serde calls it.
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A part, by its name in the catalogue.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    pub(crate) kind: String,
    /// The class of a part that is written in Python.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) class: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) numbers: BTreeMap<String, f64>,
    /// `None` for the policy's features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) features: Option<FeaturesPart>,
    /// The parts inside it, by the names of its declaration. Those left out are the default ones.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty", deserialize_with = "parts_inside")]
    pub(crate) inner: BTreeMap<String, Part>,
    /// The index of a problem in the learner's list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<usize>,
}

/// The name of the critic of values inside another critic.
pub(crate) const VALUES: &str = "values";

/// The setting of emphases that is 1 inside a critic, and cannot be given there.
const LAMBDA_A: &str = "lambda_a";

/// Reads the parts inside a part. In files of before there could be several, it is one part: the `values` of a critic.
fn parts_inside<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Part>, D::Error> {
    struct Parts;

    impl<'de> Visitor<'de> for Parts {
        type Value = BTreeMap<String, Part>;

        fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
            f.write_str("parts by their names")
        }

        // Nothing is kept aside while it is read: a file may be large.
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let (mut parts, mut one, mut is_one) = (BTreeMap::new(), Part::default(), false);
            while let Some(key) = map.next_key::<String>()? {
                is_one |= Part::KEYS.contains(&key.as_str());
                match key.as_str() {
                    "kind" => one.kind = map.next_value()?,
                    "class" => one.class = map.next_value()?,
                    "numbers" => one.numbers = map.next_value()?,
                    "features" => one.features = map.next_value()?,
                    "inner" => one.inner = map.next_value::<Inside>()?.0,
                    "problem" => one.problem = map.next_value()?,
                    _ => {
                        let part = map.next_value()?;
                        parts.insert(key, part);
                    }
                }
            }
            if !is_one {
                return Ok(parts);
            }
            if let Some(name) = parts.keys().next() {
                return Err(A::Error::unknown_field(name, &Part::KEYS));
            }
            if one.kind.is_empty() {
                return Err(A::Error::missing_field("kind"));
            }
            Ok(BTreeMap::from([(VALUES.to_owned(), one)]))
        }
    }

    #[derive(Deserialize)]
    struct Inside(#[serde(deserialize_with = "parts_inside")] BTreeMap<String, Part>);

    from.deserialize_map(Parts)
}

/// The features of a part. Python's classes are told apart by their attributes, so the order of the variants matters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, FromPyObject)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum FeaturesPart {
    /// Of observations, by a basis.
    Observed {
        #[pyo3(attribute("_basis"))]
        basis: BuiltBasis,
    },
    Active {
        len: usize,
        most_active: usize,
    },
    /// The active features of each state and their values.
    Table {
        len: usize,
        #[pyo3(attribute("_rows"))]
        rows: Vec<Vec<(usize, f64)>>,
    },
    OneHot {
        states: usize,
    },
    Dense {
        len: usize,
    },
}

/// The form in which a state is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StateForm {
    /// A vector of features, or an observation.
    Vector,
    /// A list of active features.
    Active,
    /// The state's number.
    Number,
}

/// Returns the index of a problem in a learner's list, and adds it if it is new.
fn problem_index(problem: &Bound<'_, PyAny>, problems: &mut Vec<Py<Problem>>) -> PyResult<usize> {
    let Ok(problem) = problem.cast::<Problem>() else {
        let message = format!("the problem is {}; it must be a Problem", problem.repr()?);
        return Err(PyTypeError::new_err(message));
    };
    let known = problems.iter().position(|known| known.as_ptr() == problem.as_ptr());
    Ok(known.unwrap_or_else(|| {
        problems.push(problem.clone().unbind());
        problems.len() - 1
    }))
}

impl Settings {
    /// Parses JSON.
    pub(crate) fn parse(json: &str) -> PyResult<Self> {
        memory::check(memory::PARSED_JSON * json.len() as f64, || "what the settings say".to_owned())?;
        let wrong = |error| PyValueError::new_err(format!("the settings make no sense: {error}"));
        serde_json::from_str(json).map_err(wrong)
    }

    pub(crate) fn json(&self) -> PyResult<String> {
        serde_json::to_string(self).map_err(wrong_value)
    }

    /// How the policy chooses an action.
    pub(crate) fn acts(&self) -> Option<Acts> {
        self.policy.entry(Role::Policy).and_then(|entry| entry.acts)
    }

    /// The policy's features.
    pub(crate) fn features(&self) -> PyResult<&FeaturesPart> {
        self.policy.features.as_ref().ok_or_else(|| PyTypeError::new_err("the policy needs features"))
    }

    /// Returns the recipe, if the parts' features are of the same states and memory has room for the learner. (All other
    /// requirements are checked when the learner is composed.)
    pub(crate) fn recipe(&self, problems: &[Py<Problem>]) -> PyResult<Recipe> {
        let features = self.features()?;
        self.critic.check(Role::Critic, features, problems)?;
        self.emphasis.check(Role::Emphasis, features, problems)?;
        if let Some(actor) = &self.actor {
            actor.check(Role::Actor, features, problems)?;
        }
        memory::check(self.bytes(1).learner, || self.to_string())?;
        let (policy, critic, emphasis) =
            (self.policy.recipe()?, self.critic.recipe()?, self.emphasis.recipe()?);
        let mut recipe = Recipe::new(self.rule, policy, critic, emphasis, self.alpha);
        recipe.actor = self.actor.as_ref().map(Part::recipe).transpose()?;
        recipe.actions = self.actions;
        recipe.warm_up = (self.warm_up > 0).then_some((self.warm_up as f64, TimeUnit::Steps));
        recipe.subset = self.subset.map(|(count, seed)| Subset { count, seed, run: 0 });
        Ok(recipe)
    }

    /// The features of all parts, with those of the parts inside them.
    pub(crate) fn all_features(&self) -> impl Iterator<Item = &FeaturesPart> {
        let mut parts = vec![&self.policy, &self.critic, &self.emphasis];
        parts.extend(&self.actor);
        let mut next = 0;
        while let Some(part) = parts.get(next) {
            parts.extend(part.inner.values());
            next += 1;
        }
        parts.into_iter().filter_map(|part| part.features.as_ref())
    }

    /// The number of the policy's weights for each feature.
    pub(crate) fn outputs(&self) -> usize {
        let declared = self.policy.entry(Role::Policy).and_then(|entry| entry.outputs);
        declared.or(self.actions).unwrap_or(1)
    }
}

impl std::fmt::Display for Settings {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let features = self.all_features().map(FeaturesPart::len).max().unwrap_or(0);
        write!(f, "a learner with {features} features and {} outputs", self.outputs())
    }
}

impl Part {
    /// The keys of its JSON.
    const KEYS: [&str; 6] = ["kind", "class", "numbers", "features", "inner", "problem"];

    pub(crate) fn entry(&self, role: Role) -> Option<&'static Entry> {
        Catalogue::standard().find(role, &self.kind)
    }

    /// Whether the part is written in Python.
    pub(crate) fn is_python(&self) -> bool {
        self.kind == python_emphasis::KIND
    }

    /// The name of its class if it is written in Python.
    pub(crate) fn python_class(&self) -> Option<String> {
        self.is_python().then(|| self.class.clone().unwrap_or_default())
    }

    /// The parts inside it that are given, with their declarations. (Others are refused when the learner is composed.)
    fn inside(&self, role: Role) -> impl Iterator<Item = (&'static Inner, &Self)> {
        let declared = self.entry(role).map_or(&[][..], |entry| entry.inner);
        declared.iter().filter_map(|inner| Some((inner, self.inner.get(inner.name)?)))
    }

    /// Reads a part from its Python object. The problem that it needs is added to the learner's list.
    pub(crate) fn read(
        part: &Bound<'_, PyAny>,
        role: Role,
        problems: &mut Vec<Py<Problem>>,
    ) -> PyResult<Self> {
        let mut read = Self { kind: part.getattr("_kind")?.extract()?, ..Self::default() };
        let mut names = Vec::new();
        if let Some(entry) = read.entry(role) {
            names.extend(entry.settings.iter().map(|setting| setting.name.to_owned()));
            for inner in entry.inner {
                let mut inside = Self::read(&part.getattr(inner.name)?, inner.role, problems)?;
                if inner.role == Role::Emphasis {
                    inside.numbers.remove(LAMBDA_A);
                }
                read.inner.insert(inner.name.to_owned(), inside);
            }
            if entry.needs.contains(&Need::Problem) {
                read.problem = Some(problem_index(&part.getattr("problem")?, problems)?);
            }
        } else {
            read.class = Some(part.get_type().name()?.extract()?);
            names = part.call_method0("_setting_names")?.extract()?;
        }
        for name in names {
            let number: f64 = part.getattr(&*python_name(part.py(), &name)?)?.extract()?;
            if !number.is_finite() {
                return Err(PyValueError::new_err(format!("{name} is {number}; it must be finite")));
            }
            read.numbers.insert(name, number);
        }
        if let Some(features) = part.getattr_opt("features")?.filter(|features| !features.is_none()) {
            read.features = Some(FeaturesPart::read(&features)?);
        }
        Ok(read)
    }

    /// Makes the part's Python object. `actions` is the policy's number of actions.
    pub(crate) fn object<'py>(
        &self,
        py: Python<'py>,
        role: Role,
        problems: &[Py<Problem>],
        actions: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(entry) = self.entry(role) else {
            return Err(PyValueError::new_err(format!("there is no {} `{}`", role.word(), self.kind)));
        };
        let values = PyDict::new(py);
        for (name, number) in &self.numbers {
            let field = python_name(py, name)?;
            match entry.setting(name).map(|setting| setting.range) {
                Some(Range::Count) => values.set_item(&*field, *number as u64)?,
                _ => values.set_item(&*field, number)?,
            }
        }
        if let Some(actions) = actions {
            values.set_item("actions", actions)?;
        }
        if let Some(features) = &self.features {
            values.set_item("features", features.object(py)?)?;
        }
        for (inner, part) in self.inside(role) {
            values.set_item(inner.name, part.object(py, inner.role, problems, None)?)?;
        }
        if entry.needs.contains(&Need::Problem) {
            values.set_item("problem", problems.get(self.problem.unwrap_or(0)))?;
        }
        py.import("emphatic.catalogue")?.getattr(entry.class)?.call((), Some(&values))
    }

    /// Makes the object of a part that is written in Python, of this class.
    pub(crate) fn python_object(&self, class: &Bound<'_, PyType>) -> PyResult<Py<PyAny>> {
        let features = self.features.as_ref().map(|features| features.object(class.py())).transpose()?;
        Ok(class.call_method1("_restored", (self.numbers.clone(), features))?.unbind())
    }

    /// Refuses features of other states than the policy's, in this part and in those inside it.
    fn check(&self, role: Role, policys: &FeaturesPart, problems: &[Py<Problem>]) -> PyResult<()> {
        if let Some(features) = &self.features {
            if features.form() != policys.form() {
                return Err(PyTypeError::new_err(
                    "all parts of a learner must see the state in the same form: vectors, active features, or numbers",
                ));
            }
            if features.extent() != policys.extent() {
                return Err(PyTypeError::new_err(format!(
                    "policy and {} must see the same states: vectors of one length, or tables of as many states",
                    role.word()
                )));
            }
        }
        if let Some(entry) = self.entry(role) {
            self.check_needs(entry, policys, problems)?;
        }
        self.inside(role).try_for_each(|(inner, part)| part.check(inner.role, policys, problems))
    }

    fn check_needs(&self, entry: &Entry, policys: &FeaturesPart, problems: &[Py<Problem>]) -> PyResult<()> {
        let has = |need| entry.needs.contains(&need);
        if (has(Need::Problem) || has(Need::Table)) && policys.form() != StateForm::Number {
            return Err(PyTypeError::new_err(format!(
                "{} knows states by their numbers: give the policy OneHot or Table features",
                entry.class
            )));
        }
        if !has(Need::Problem) {
            return Ok(());
        }
        let index = self.problem.unwrap_or(0);
        let missing =
            || PyTypeError::new_err(format!("the settings name problem {index}, which was not given"));
        let states = problems.get(index).ok_or_else(missing)?.get().file.known.states().len();
        let extent = policys.extent().unwrap_or(0);
        if extent == states {
            return Ok(());
        }
        let message = format!("the policy's features are of {extent} states; the problem has {states}");
        Err(PyValueError::new_err(message))
    }

    fn recipe(&self) -> PyResult<PartRecipe> {
        let mut recipe = PartRecipe::new(self.kind.clone());
        // A part in Python reads its numbers itself.
        if !self.is_python() {
            recipe.numbers = self.numbers.clone();
        }
        recipe.features = self.features.as_ref().map(FeaturesPart::features).transpose()?;
        for (name, part) in &self.inner {
            recipe.inner.insert(name.clone(), part.recipe()?);
        }
        recipe.problem = self.problem.unwrap_or(0);
        Ok(recipe)
    }
}

/// Returns the Python field of a setting: a keyword such as `lambda` is followed by an underscore.
fn python_name<'a>(py: Python<'_>, name: &'a str) -> PyResult<std::borrow::Cow<'a, str>> {
    let keyword: bool = py.import("keyword")?.call_method1("iskeyword", (name,))?.extract()?;
    Ok(if keyword { format!("{name}_").into() } else { name.into() })
}

impl FeaturesPart {
    /// Reads features from their Python object, if memory has room for the table.
    pub(crate) fn read(features: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Some(rows) = features.getattr_opt("_rows")? {
            let mut bytes = 0.0;
            for row in rows.try_iter()? {
                bytes += 32.0 * (1 + row?.len()?) as f64;
            }
            memory::check(bytes, || "a table of features".to_owned())?;
        }
        features.extract::<Self>().or_else(|_| {
            let right = "they must be Dense, Active, OneHot, Table or a basis such as TileCoder";
            Err(PyTypeError::new_err(format!("features are {}; {right}", features.repr()?)))
        })
    }

    /// Makes the Python object.
    fn object<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let parts = py.import("emphatic.parts")?;
        match self {
            Self::Dense { len } => parts.call_method1("Dense", (len,)),
            Self::Active { len, most_active } => parts.call_method1("Active", (len, most_active)),
            Self::OneHot { states } => parts.call_method1("OneHot", (states,)),
            Self::Table { len, rows } => parts.getattr("Table")?.call_method1("_sparse", (len, rows)),
            Self::Observed { basis } => {
                py.import("emphatic.bases")?.call_method1("restored", (basis.json()?,))
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Dense { len } | Self::Active { len, .. } | Self::Table { len, .. } => *len,
            Self::OneHot { states } => *states,
            Self::Observed { basis } => basis.features().len(),
        }
    }

    /// The length of vectors, or the number of states; `None` for active features, which may be of any number.
    fn extent(&self) -> Option<usize> {
        match self {
            Self::Active { .. } => None,
            Self::Table { rows, .. } => Some(rows.len()),
            Self::Dense { .. } | Self::OneHot { .. } => Some(self.len()),
            Self::Observed { basis } => Some(basis.dimensions()),
        }
    }

    /// The form in which states are given.
    pub(crate) fn form(&self) -> StateForm {
        match self {
            Self::Dense { .. } | Self::Observed { .. } => StateForm::Vector,
            Self::Active { .. } => StateForm::Active,
            Self::Table { .. } | Self::OneHot { .. } => StateForm::Number,
        }
    }

    pub(crate) fn features(&self) -> PyResult<Features> {
        Ok(match self {
            Self::Dense { len } => Features::dense(*len),
            Self::Active { len, most_active } => Features::active(*len, *most_active),
            Self::OneHot { states } => Features::one_hot(*states),
            // An index out of range is a wrong value here, not an `IndexError`.
            Self::Table { len, rows } => Table::new(*len, rows).map_err(wrong_value)?.into(),
            Self::Observed { basis } => basis.features(),
        })
    }
}
