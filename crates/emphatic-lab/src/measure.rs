//! What is recorded of a learner.
//!
//! Each measure is a file that declares its name, its columns and how it is taken; [`MEASURES`] lists them all.

mod exact_emphasis;
mod objective;
mod target;
mod update;
mod weights;

use emphatic::{Action, ComposeError, Isa, KnownProblem, Lanes, Learner, Real, Recipe, State, Step, Update};
use emphatic_problems::{ValueError, World, suggest};
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of measure.
pub(crate) struct Kind {
    /// How it is written in files: a name, or a name followed by places.
    pub(crate) pattern: &'static str,
    /// What it is, in a line.
    pub(crate) about: &'static str,
    /// The measures that a name stands for, with the names of their columns; `None` if it is no name of this kind.
    parse: fn(&str, &World) -> Option<Result<Columns, ValueError>>,
}

/// Measures with the names of their columns.
pub(crate) type Columns = Vec<(String, Arc<dyn Measure>)>;

/// All kinds.
pub(crate) const MEASURES: [Kind; 7] = [
    objective::KIND,
    update::EMPHASIS,
    exact_emphasis::KIND,
    update::RHO,
    weights::KIND,
    target::OF_STATE,
    target::OF_ACTION,
];

/// The measures that a name stands for.
pub(crate) fn named(name: &str, world: &World) -> Result<Columns, ValueError> {
    match MEASURES.iter().find_map(|kind| (kind.parse)(name, world)) {
        Some(columns) => columns,
        None => {
            let help = suggest(name, MEASURES.iter().map(|kind| kind.pattern));
            Err(ValueError::new(format!("`{name}` cannot be recorded")).maybe_help(help))
        }
    }
}

/// Parses a measure that is its name and nothing else.
fn plain<M: Measure + 'static>(name: &str, own: &str, measure: M) -> Option<Result<Columns, ValueError>> {
    (name == own).then(|| Ok(vec![(name.to_owned(), Arc::new(measure) as Arc<dyn Measure>)]))
}

/// What a measure is taken of.
pub(crate) struct Subject<'a> {
    /// The problem in which the learner is judged.
    pub(crate) judged: Option<&'a KnownProblem>,
    /// The problem as the learner takes it, with an interest of its own.
    pub(crate) own: Option<&'a KnownProblem>,
    /// What each learner is made of.
    pub(crate) recipes: &'a [Recipe],
    /// The form of their policy.
    pub(crate) policy: &'a dyn std::any::Any,
    pub(crate) isa: Isa,
}

/// The problem that an exact measure is computed from.
fn known<'a>(problem: Option<&'a KnownProblem>, what: &str) -> Result<&'a KnownProblem, ComposeError> {
    let unknown =
        || ComposeError::Incompatible(format!("only a problem that is known exactly has an exact {what}"));
    problem.ok_or_else(unknown)
}

/// Something that can be recorded of learners in every number type.
pub(crate) trait Measure: Debug + Send + Sync {
    /// Whether it is a list of numbers.
    fn is_list(&self) -> bool {
        false
    }

    fn one(&self, of: &Subject) -> Result<Box<dyn Meter<f64>>, ComposeError>;
    fn eight(&self, of: &Subject) -> Result<Box<dyn Meter<Lanes<8>>>, ComposeError>;
    fn sixteen(&self, of: &Subject) -> Result<Box<dyn Meter<Lanes<16>>>, ComposeError>;
}

/// Takes a measure of learners while they learn.
pub(crate) trait Meter<R: Real> {
    /// Whether it must see every step.
    fn watches(&self) -> bool {
        false
    }

    /// Sees a step before it is learned from.
    fn before(&mut self, _step: &Step<State, Action>) {}

    /// Sees what a step did.
    fn after(&mut self, _step: &Step<State, Action>, _update: &Update<R>, _learner: &dyn Learner<R>) {}

    /// The numbers at an evaluation: one, or the list.
    fn read(&mut self, learner: &dyn Learner<R>) -> Vec<R>;
}

/// The meters of a measure in each number type, from one function that is generic in it.
macro_rules! meters {
    ($meter:path) => {
        fn one(&self, of: &Subject) -> Result<Box<dyn Meter<f64>>, ComposeError> {
            $meter(self, of)
        }

        fn eight(&self, of: &Subject) -> Result<Box<dyn Meter<emphatic::Lanes<8>>>, ComposeError> {
            $meter(self, of)
        }

        fn sixteen(&self, of: &Subject) -> Result<Box<dyn Meter<emphatic::Lanes<16>>>, ComposeError> {
            $meter(self, of)
        }
    };
}
use meters;

/// The mean of a number over the steps since the last evaluation.
struct Mean<R> {
    sum: R,
    steps: f64,
}

impl<R: Real> Default for Mean<R> {
    fn default() -> Self {
        Self { sum: R::zero(), steps: 0.0 }
    }
}

impl<R: Real> Mean<R> {
    fn add(&mut self, number: R) {
        self.sum += number;
        self.steps += 1.0;
    }

    /// The mean, and starts afresh. Before the first step there is none: 0/0.
    fn take(&mut self) -> R {
        let Self { sum, steps } = std::mem::take(self);
        sum / R::splat(steps)
    }
}
