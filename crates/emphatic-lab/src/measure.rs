//! What is recorded of a learner.
//!
//! Each measure is a file that declares its name, its columns and how it is recorded; [`MEASURES`] lists them all.

mod critic_weights;
pub(crate) mod effective_sample;
mod emphasis_error;
mod exact_emphasis;
mod external_rollouts;
mod objective;
mod projected_error;
mod rollouts;
mod target;
mod update;
mod value_error;
mod weights;

use emphatic::{
    Action, Composable, ComposeError, Fixed, Isa, KnownProblem, Lanes, Learner, Real, Recipe, State, Step,
    Update,
};
use emphatic_problems::{ValueError, suggest};
pub(crate) use rollouts::{SharedEpisodes, Trials};
use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;
pub(crate) use value_error::Weighting;

/// A kind of measure.
pub(crate) struct Kind {
    /// How it is written in files: a name, or a name followed by places.
    pub(crate) pattern: &'static str,
    /// What it is, in a line.
    pub(crate) about: &'static str,
    /// Returns the measures that a name stands for; `None` if it is not a name of this kind.
    /// The problem is given if it is known exactly.
    parse: fn(&str, Option<&KnownProblem>) -> Parsed,
}

/// The measures that a name stands for, if it is a name of the kind.
type Parsed = Option<Result<Columns, ValueError>>;

/// Measures with the names of their columns.
pub(crate) type Columns = Vec<(String, Arc<dyn DynMeasure>)>;

/// All kinds.
pub(crate) const MEASURES: [Kind; 18] = [
    objective::KIND,
    rollouts::RETURN,
    rollouts::EXCURSIONS,
    rollouts::EPISODE_LENGTH,
    value_error::BY_BEHAVIOUR,
    value_error::BY_TARGET,
    value_error::BY_EMPHASIS,
    value_error::BY_INTEREST,
    projected_error::KIND,
    emphasis_error::KIND,
    update::EMPHASIS,
    effective_sample::KIND,
    exact_emphasis::KIND,
    update::RHO,
    weights::KIND,
    critic_weights::KIND,
    target::OF_STATE,
    target::OF_ACTION,
];

/// Returns the measures that a name stands for.
pub(crate) fn named(name: &str, known: Option<&KnownProblem>) -> Result<Columns, ValueError> {
    match MEASURES.iter().find_map(|kind| (kind.parse)(name, known)) {
        Some(columns) => columns,
        None => {
            let help = suggest(name, MEASURES.iter().map(|kind| kind.pattern));
            Err(ValueError::new(format!("`{name}` cannot be recorded")).maybe_help(help))
        }
    }
}

/// Returns a measure of one column if it has this name.
fn single<M: Measure + 'static>(name: &str, own: &str, measure: M) -> Option<Result<Columns, ValueError>> {
    (name == own).then(|| Ok(vec![(name.to_owned(), Arc::new(measure) as Arc<dyn DynMeasure>)]))
}

/// Which values of a measure are the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goal {
    Largest,
    Smallest,
}

/// The learners that a measure is to be taken of, as a file describes them.
pub(crate) struct Measured<'a> {
    /// The problem, if it is known exactly.
    pub(crate) known: Option<&'a KnownProblem>,
    /// The target, if it is fixed.
    pub(crate) target: Option<&'a Fixed>,
    /// The recipe of one of the learners.
    pub(crate) recipe: &'a Recipe,
    /// Whether the file names the critic, and whether it names the emphasis. A method that evaluates one of them alone has another that nobody asks about.
    pub(crate) has_critic: bool,
    pub(crate) has_emphasis: bool,
}

impl<'a> Measured<'a> {
    /// Returns the problem, or an error if it is not known exactly.
    fn check_known(&self) -> Result<&'a KnownProblem, ValueError> {
        let error = || {
            ValueError::new("it is computed exactly, and nobody can solve a simulator exactly")
                .help("\"return\" and \"excursions_return\" are measured by rollouts")
        };
        self.known.ok_or_else(error)
    }

    /// Returns an error if the learners have no critic that the file names.
    fn check_critic(&self) -> Result<(), ValueError> {
        let error = || ValueError::new("the method has no critic").help("critic = \"td\", or another one");
        self.has_critic.then_some(()).ok_or_else(error)
    }

    /// Returns an error if the learners have no emphasis that the file names.
    fn check_emphasis(&self) -> Result<(), ValueError> {
        let error = || {
            ValueError::new("the method has no emphasis")
                .help("emphasis = \"follow-on\", or another one (that inside a critic is not measured)")
        };
        self.has_emphasis.then_some(()).ok_or_else(error)
    }

    /// Returns an error if the target is fixed, so that what depends on the policy alone never changes.
    fn check_learns(&self) -> Result<(), ValueError> {
        let error = ValueError::new("the target that it evaluates does not change").help(
            "record \"value_error\"; or, for methods that learn a policy, give `algorithm` and `alpha`",
        );
        if self.target.is_none() { Ok(()) } else { Err(error) }
    }

    /// Returns an error if the target is not fixed.
    fn check_target(&self) -> Result<(), ValueError> {
        let error = || ValueError::new("it is computed for a fixed target, and the method learns a policy");
        self.target.map(|_| ()).ok_or_else(error)
    }
}

/// What measures may need to know of the learners that they are taken of.
pub(crate) struct Context<'a> {
    /// The problem, if it is known exactly, with the interest that the objective has.
    pub(crate) problem: Option<&'a KnownProblem>,
    /// The same with the interest that the learners have.
    pub(crate) learners_problem: Option<&'a KnownProblem>,
    /// The recipe of each learner.
    pub(crate) recipes: &'a [Recipe],
    /// How policies are tried out, in a simulator, and the episodes that these learners share.
    pub(crate) trials: Option<Rc<Trials>>,
    pub(crate) shared_episodes: Rc<RefCell<SharedEpisodes>>,
    /// The form of their policy.
    pub(crate) policy: &'a dyn std::any::Any,
    pub(crate) isa: Isa,
}

/// Returns the problem that an exact measure is computed from, or an error if it is not known exactly.
fn require_known<'a>(
    problem: Option<&'a KnownProblem>,
    what: &str,
) -> Result<&'a KnownProblem, ComposeError> {
    let unknown =
        || ComposeError::Incompatible(format!("only a problem that is known exactly has an exact {what}"));
    problem.ok_or_else(unknown)
}

/// A quantity that can be recorded of learners in every number type.
pub(crate) trait Measure: Debug + Send + Sync {
    /// Returns whether it is a list of numbers.
    fn is_list(&self) -> bool {
        false
    }

    /// Returns how many numbers it is of such learners, whose policy has so many weights.
    fn numbers(&self, _recipe: &Recipe, _weights: usize) -> usize {
        1
    }

    /// Returns how many numbers its recorder holds for each of such learners, if they are many.
    fn held(&self, _recipe: &Recipe) -> f64 {
        0.0
    }

    /// Returns which of its values are the best; `None` if none are.
    fn goal(&self) -> Option<Goal> {
        None
    }

    /// Returns whether, in a simulator, it begins in states that the behaviour visits.
    fn needs_visited_states(&self) -> bool {
        false
    }

    /// Returns how often, in a simulator, all episodes of an evaluation are gone through for it.
    fn trials(&self) -> usize {
        0
    }

    /// Returns the reason if it does not exist of these learners.
    fn check(&self, _of: &Measured) -> Result<(), ValueError> {
        Ok(())
    }

    /// Returns a recorder of it.
    fn recorder<R: Composable>(&self, context: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError>;
}

/// Any [`Measure`].
pub(crate) trait DynMeasure: Debug + Send + Sync {
    fn is_list(&self) -> bool;
    fn numbers(&self, recipe: &Recipe, weights: usize) -> usize;
    fn held(&self, recipe: &Recipe) -> f64;
    fn goal(&self) -> Option<Goal>;
    fn needs_visited_states(&self) -> bool;
    fn trials(&self) -> usize;
    fn check(&self, of: &Measured) -> Result<(), ValueError>;
    fn recorder_f64(&self, context: &Context) -> Result<Box<dyn Recorder<f64>>, ComposeError>;
    fn recorder_16(&self, context: &Context) -> Result<Box<dyn Recorder<Lanes<16>>>, ComposeError>;
}

impl<M: Measure> DynMeasure for M {
    fn is_list(&self) -> bool {
        Measure::is_list(self)
    }

    fn numbers(&self, recipe: &Recipe, weights: usize) -> usize {
        Measure::numbers(self, recipe, weights)
    }

    fn held(&self, recipe: &Recipe) -> f64 {
        Measure::held(self, recipe)
    }

    fn goal(&self) -> Option<Goal> {
        Measure::goal(self)
    }

    fn needs_visited_states(&self) -> bool {
        Measure::needs_visited_states(self)
    }

    fn trials(&self) -> usize {
        Measure::trials(self)
    }

    fn check(&self, of: &Measured) -> Result<(), ValueError> {
        Measure::check(self, of)
    }

    fn recorder_f64(&self, context: &Context) -> Result<Box<dyn Recorder<f64>>, ComposeError> {
        self.recorder(context)
    }

    fn recorder_16(&self, context: &Context) -> Result<Box<dyn Recorder<Lanes<16>>>, ComposeError> {
        self.recorder(context)
    }
}

/// Records a measure of learners while they learn.
pub(crate) trait Recorder<R: Real> {
    /// Returns whether it must see every step.
    fn needs_steps(&self) -> bool {
        false
    }

    /// Sees a step before it is learned from.
    fn before(&mut self, _step: &Step<State, Action>) {}

    /// Sees a step and what it did.
    fn after(&mut self, _step: &Step<State, Action>, _update: &Update<R>, _learner: &dyn Learner<R>) {}

    /// Returns the numbers at an evaluation: one, or the list.
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R>;
}

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

    /// Returns the mean and starts anew. Before the first step it is NaN.
    fn take(&mut self) -> R {
        let Self { sum, steps } = std::mem::take(self);
        sum / R::splat(steps)
    }
}
