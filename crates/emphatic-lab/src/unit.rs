//! Runs one unit: a stream of experience that teaches a block of settings, side by side in lanes.

use crate::experiment::{Experiment, LearnerPlan, Length, Scenario};
use crate::measure::{Context, Recordable, Recorder};
use crate::rows::Rows;
use crate::source::{Chunk, Stream};
use crate::table::TableError;
use emphatic::learner::Watcher;
use emphatic::{
    Action, Catalogue, ComposeError, Isa, KnownProblem, Lanes, LearnError, Learner, ProblemError, Real,
    Recipe, State, StateError, Step, Update,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;

/// The number of steps that all learners are given before the next ones are made: they stay in the cache.
const CHUNK: usize = 2048;

/// The most learners that learn side by side. The results are the same bits; the speed is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneCount {
    /// One at a time.
    One,
    /// Eight.
    Eight,
    /// Sixteen: the fastest.
    #[default]
    Sixteen,
}

/// How units are run. The results do not depend on it.
///
/// Start from `Machine::default()` and change the fields.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Machine {
    /// The number of lanes.
    pub lanes: LaneCount,
    /// The instruction set.
    pub isa: Isa,
}

impl Default for Machine {
    fn default() -> Self {
        Self { lanes: LaneCount::default(), isa: Isa::best() }
    }
}

/// A unit that could not be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UnitError {
    /// The parts do not fit together. (Reading a file refuses all known cases of this.)
    #[error(transparent)]
    Compose(#[from] ComposeError),
    /// The method's interest does not fit the problem.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The weights do not fit the policy.
    #[error(transparent)]
    Weights(#[from] StateError),
    /// A step could not be learned from.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The results could not be encoded.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The results do not make a table.
    #[error("the results of a unit do not make a table: {0}")]
    Rows(#[from] arrow_schema::ArrowError),
}

/// What running units share with one another and with those who watch them.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Set when everything is to stop.
    pub(crate) stop: Arc<AtomicBool>,
    /// The number of updates made so far.
    pub(crate) updates: AtomicU64,
}

impl Shared {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs the settings on the stream with this number and returns their rows; `None` if it was asked to stop.
pub(crate) fn run(
    experiment: &Experiment,
    settings: &[usize],
    stream: u64,
    machine: Machine,
    shared: &Shared,
) -> Result<Option<Rows>, UnitError> {
    let structure = experiment.structure(settings[0]);
    let scenario = &experiment.scenarios[structure.scenario];
    let plans: Vec<LearnerPlan> = settings.iter().map(|setting| experiment.plan(*setting, stream)).collect();
    let mut groups = groups(&plans, scenario, structure.interest.as_deref(), machine)?;
    let schedule = Schedule { length: experiment.length, evaluations: experiment.evaluations };
    let mut rows = Rows::new(settings.len(), experiment.evaluations as usize + 1, &scenario.measures);
    let mut stream = scenario.source.stream(experiment.seed, stream);
    let finished = teach(&mut *stream, &mut groups, schedule, &mut rows, shared)?;
    Ok(finished.then_some(rows))
}

/// When a run is evaluated.
#[derive(Clone, Copy)]
struct Schedule {
    length: Length,
    evaluations: u64,
}

impl Schedule {
    /// Returns the number of episodes or steps before evaluation number `k`.
    fn at(self, k: u64) -> u64 {
        (u128::from(self.length.count()) * u128::from(k) / u128::from(self.evaluations)) as u64
    }
}

/// How far a stream has come.
#[derive(Clone, Copy, Default)]
struct Position {
    episodes: u64,
    steps: u64,
}

/// Teaches all groups from one stream, which is made once for all of them. Returns false if it was asked to stop.
fn teach(
    stream: &mut dyn Stream,
    groups: &mut [Box<dyn Group>],
    schedule: Schedule,
    rows: &mut Rows,
    shared: &Shared,
) -> Result<bool, LearnError> {
    let settings: usize = groups.iter().map(|group| group.len()).sum();
    let mut position = Position::default();
    let mut chunk = Chunk::default();
    for evaluation in 0..=schedule.evaluations {
        loop {
            fill(&mut chunk, stream, schedule, evaluation, &mut position);
            if chunk.len() == 0 {
                break;
            }
            let steps = chunk.steps();
            for group in groups.iter_mut() {
                group.learn(&steps)?;
                if shared.is_stopped() {
                    return Ok(false);
                }
            }
            shared.updates.fetch_add((chunk.len() * settings) as u64, Ordering::Relaxed);
        }
        rows.add_evaluation(position.episodes, position.steps);
        for group in groups.iter_mut() {
            group.evaluate(evaluation as usize, rows);
        }
    }
    Ok(true)
}

/// Fills a chunk with the next steps of a stream before an evaluation.
fn fill(
    chunk: &mut Chunk,
    stream: &mut dyn Stream,
    schedule: Schedule,
    evaluation: u64,
    position: &mut Position,
) {
    let goal = schedule.at(evaluation);
    chunk.clear();
    while chunk.len() < CHUNK {
        let reached = match schedule.length {
            Length::Episodes(_) => position.episodes,
            Length::Steps(_) => position.steps,
        };
        if reached >= goal {
            break;
        }
        let Some(step) = stream.next() else { break };
        position.episodes += u64::from(step.gamma_next == 0.0);
        position.steps += 1;
        chunk.push(&step);
    }
}

/// Learners side by side, in any number of lanes.
trait Group {
    /// Returns the number of settings.
    fn len(&self) -> usize;

    /// Learns from some steps.
    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError>;

    /// Records the measures.
    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows);
}

/// Composes groups that fill the lanes. If few settings are left over, they stand in fewer lanes.
fn groups(
    plans: &[LearnerPlan],
    scenario: &Scenario,
    interest: Option<&[f64]>,
    machine: Machine,
) -> Result<Vec<Box<dyn Group>>, UnitError> {
    let most = match machine.lanes {
        LaneCount::One => 1,
        LaneCount::Eight => 8,
        LaneCount::Sixteen => 16,
    };
    let group = |(k, plans): (usize, &[LearnerPlan])| match plans.len() {
        1 => compose::<f64>(plans, k * most, scenario, interest, machine.isa),
        2..=8 => compose::<Lanes<8>>(plans, k * most, scenario, interest, machine.isa),
        _ => compose::<Lanes<16>>(plans, k * most, scenario, interest, machine.isa),
    };
    plans.chunks(most).enumerate().map(group).collect()
}

/// Composes a group. `first` is the place of its first setting in the unit.
fn compose<R: Recordable>(
    plans: &[LearnerPlan],
    first: usize,
    scenario: &Scenario,
    interest: Option<&[f64]>,
    isa: Isa,
) -> Result<Box<dyn Group>, UnitError> {
    let problem = scenario.source.clone().known();
    let learners_problem = match interest {
        Some(interest) => scenario.source.with_interest(interest.to_vec())?.known(),
        None => problem.clone(),
    };
    let recipes: Vec<Recipe> = plans.iter().map(|plan| plan.recipe.clone()).collect();
    let known: Vec<KnownProblem> = learners_problem.clone().into_iter().collect();
    let mut learner = R::compose(Catalogue::current(), &recipes.iter().collect::<Vec<_>>(), &known, isa)?;
    learner.set_weights(first_weights(plans))?;
    let context = Context {
        problem: problem.as_ref(),
        learners_problem: learners_problem.as_ref(),
        recipes: &recipes,
        policy: learner.policy(),
        isa,
    };
    let recorders = scenario.measures.iter().map(|measure| R::recorder(&**measure, &context));
    let recorders = Recorders(recorders.collect::<Result<_, ComposeError>>()?);
    let interest = interest.map(<[f64]>::to_vec);
    Ok(Box::new(InLanes { learner, recorders, interest, settings: plans.len(), first, isa }))
}

/// Returns the policy's weights at the start. Lanes without a setting have those of the first.
fn first_weights<R: Real>(plans: &[LearnerPlan]) -> Vec<R> {
    let weight = |k: usize| R::from_lanes(|lane| plans.get(lane).unwrap_or(&plans[0]).weights[k]);
    (0..plans[0].weights.len()).map(weight).collect()
}

/// A group in the lanes of one number type.
struct InLanes<R> {
    learner: Box<dyn Learner<R>>,
    recorders: Recorders<R>,
    /// The method's own interest, in place of that of the steps.
    interest: Option<Vec<f64>>,
    settings: usize,
    /// The place of its first setting in the unit.
    first: usize,
    isa: Isa,
}

/// The recorder of each column.
struct Recorders<R>(Vec<Box<dyn Recorder<R>>>);

impl<R: Real> Watcher<R> for Recorders<R> {
    fn before(&mut self, step: &Step<State, Action>) {
        self.0.iter_mut().for_each(|recorder| recorder.before(step));
    }

    fn after(&mut self, step: &Step<State, Action>, update: &Update<R>, learner: &dyn Learner<R>) {
        self.0.iter_mut().for_each(|recorder| recorder.after(step, update, learner));
    }
}

impl<R: Real> InLanes<R> {
    fn learn_watched(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        let is_watched = self.recorders.0.iter().any(|recorder| recorder.needs_steps());
        let watcher: Option<&mut dyn Watcher<R>> = if is_watched { Some(&mut self.recorders) } else { None };
        self.learner.learn_watched(self.isa, steps, watcher)
    }
}

impl<R: Real> Group for InLanes<R> {
    fn len(&self) -> usize {
        self.settings
    }

    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        let Some(interest) = &self.interest else { return self.learn_watched(steps) };
        let own = |step: &Step<State<'_>, Action>| match step.state {
            State::Number(state) => interest[state],
            State::Vector(_) | State::Active(_) => step.interest,
        };
        let steps: Vec<_> = steps.iter().map(|step| Step { interest: own(step), ..*step }).collect();
        self.learn_watched(&steps)
    }

    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows) {
        let lanes = self.first..self.first + self.settings;
        for (lane, setting) in lanes.clone().enumerate() {
            rows.set_diverged(setting, evaluation, self.learner.diverged(lane));
        }
        for (column, recorder) in self.recorders.0.iter_mut().enumerate() {
            let numbers = recorder.read(&*self.learner);
            for (lane, setting) in lanes.clone().enumerate() {
                rows.set(column, setting, evaluation, numbers.iter().map(|number| number.lane(lane)));
            }
        }
    }
}
