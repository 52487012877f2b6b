//! A unit: one stream of experience teaches a block of settings, side by side in lanes, and each evaluation is recorded as a row.

use crate::experiment::{Experiment, LearnerPlan, Length, OwnInterest, Protocol, Scenario};
use crate::learners::learners;
use crate::measure::{Context, DynMeasure, Recorder, SharedEpisodes, Trials};
use crate::options::{LaneCount, Options};
use crate::source::{Chunk, SourceError, Stream};
use crate::stop::Stop;
use crate::store::StoreError;
use crate::table::{self, EncodedUnit, Unit};
use crate::unevenness::Unevenness;
use arrow_array::builder::{Float64Builder, ListBuilder};
use arrow_array::{ArrayRef, Float64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use emphatic::learner::Watcher;
use emphatic::{
    Action, Composable, ComposeError, Isa, KnownProblem, LearnError, Learner, ProblemError, Real, Recipe,
    State, StateError, Step, Update,
};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// The number of steps that all learners are given before the next ones are made: they stay in the cache.
const CHUNK: usize = 2048;

/// After this many steps learners look whether they are to stop; after fewer where a step takes so long that this many would take longer than anyone waits.
const SLICE: usize = 128;
const LONG: Duration = Duration::from_millis(50);

/// The emphasis that is as even as the interest, whatever becomes of it.
pub(crate) const NO_EMPHASIS: &str = "none";

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
    /// The source does not go on.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A step could not be learned from.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// The results could not be encoded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The results do not make a table.
    #[error("the results of a unit do not make a table: {0}")]
    Rows(#[from] arrow_schema::ArrowError),
}

/// What running units share with one another and with those who watch them.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Set when everything is to stop.
    pub(crate) stop: Stop,
    /// The number of updates made so far.
    pub(crate) updates: AtomicU64,
    /// How uneven the emphasis was in the runs so far.
    pub(crate) unevenness: Unevenness,
}

/// Runs the settings on the stream with this number and returns their rows; `None` if it was asked to stop.
pub(crate) fn run(
    experiment: &Experiment,
    settings: &[usize],
    stream: u64,
    options: &Options,
    shared: &Shared,
) -> Result<Option<Rows>, UnitError> {
    let structure = experiment.structure(settings[0]);
    let scenario = &experiment.scenarios[structure.scenario];
    let plans: Vec<LearnerPlan> = settings.iter().map(|setting| experiment.plan(*setting, stream)).collect();
    let critic_weights = experiment.critic_weights.as_deref();
    let Protocol { evaluations, rollouts } = experiment.protocol(stream);
    let trials = |simulator: &Arc<_>| {
        let needs_visited_states = scenario.measures.iter().any(|measure| measure.needs_visited_states());
        Trials::new(
            simulator,
            rollouts,
            (experiment.seed, stream),
            needs_visited_states,
            options.isa,
            &shared.stop,
        )
    };
    let trials = scenario.simulator().map(trials).transpose()?.map(Rc::new);
    let interest = structure.interest.as_ref();
    let composer = Composer { scenario, interest, critic_weights, trials: trials.clone(), options };
    let mut groups = composer.groups(&plans)?;
    let mut rows = Rows::new(settings.len(), evaluations as usize + 1, &scenario.measures);
    let mut chunk = Chunk::new(scenario.source.bases());
    let stream = scenario.source.stream(experiment.seed, stream);
    let mut experience = Experience { stream, length: experiment.length, episodes: 0, steps: 0 };
    let mut slice = 1;
    for evaluation in 0..=evaluations {
        let end = u128::from(experiment.length.count()) * u128::from(evaluation);
        let end = (end / u128::from(evaluations)) as u64;
        while experience.fill(&mut chunk, end)? {
            // The steps are made once for all groups.
            let steps = chunk.steps();
            for group in &mut groups {
                let mut rest = &*steps;
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(slice.min(rest.len()));
                    let start = Instant::now();
                    group.learn(now)?;
                    if shared.stop.is_stopped() {
                        return Ok(None);
                    }
                    slice = if start.elapsed() > LONG { 1 } else { (2 * slice).min(SLICE) };
                    let updates = now.len() * group.settings();
                    shared.updates.fetch_add(updates as u64, Ordering::Relaxed);
                    rest = later;
                }
            }
        }
        rows.add_evaluation(experience.episodes, experience.steps);
        for group in &mut groups {
            group.evaluate(evaluation as usize, &mut rows);
            trials.as_ref().map_or(Ok(()), |trials| trials.check())?;
            // Rollouts may take long, and end early where they are to stop.
            if shared.stop.is_stopped() {
                return Ok(None);
            }
        }
    }
    if structure.recipe.emphasis.kind != NO_EMPHASIS {
        let shares = groups.iter().flat_map(|group| group.effective_samples());
        for (setting, share) in settings.iter().zip(shares) {
            let method = experiment.method_of(*setting);
            share.into_iter().for_each(|share| shared.unevenness.add(method, experience.steps, share));
        }
    }
    Ok(Some(rows))
}

/// A stream, and how far it has come.
struct Experience<'a> {
    stream: Box<dyn Stream + 'a>,
    length: Length,
    episodes: u64,
    steps: u64,
}

impl Experience<'_> {
    /// Fills a chunk with the next steps before the `end`, in episodes or steps. Returns false if there are none.
    fn fill(&mut self, chunk: &mut Chunk, end: u64) -> Result<bool, SourceError> {
        chunk.clear();
        while chunk.len() < CHUNK && !chunk.is_full() {
            let reached = match self.length {
                Length::Episodes(_) => self.episodes,
                Length::Steps(_) => self.steps,
            };
            if reached >= end {
                break;
            }
            let Some(step) = self.stream.next()? else { break };
            chunk.push(&step)?;
            self.episodes += u64::from(self.stream.has_ended());
            self.steps += 1;
        }
        Ok(chunk.len() > 0)
    }
}

/// Learners side by side, in any number of lanes.
trait Group {
    /// Learns from some steps.
    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError>;

    /// Records the measures.
    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows);

    /// Returns how many settings learn in it.
    fn settings(&self) -> usize;

    /// Returns the effective sample of each setting's emphasis, if it has one.
    fn effective_samples(&self) -> Vec<Option<f64>>;
}

/// Composes the groups of a unit.
struct Composer<'a> {
    scenario: &'a Scenario,
    /// The method's own interest.
    interest: Option<&'a OwnInterest>,
    /// The weights that the critic starts from.
    critic_weights: Option<&'a [f64]>,
    /// How policies are tried out, in a simulator.
    trials: Option<Rc<Trials>>,
    options: &'a Options,
}

/// Returns the recorder of a measure in one number type.
type MakeRecorder<R> =
    fn(&(dyn DynMeasure + 'static), &Context) -> Result<Box<dyn Recorder<R>>, ComposeError>;

impl Composer<'_> {
    /// Composes groups that fill the lanes. A setting that is left over learns alone.
    fn groups(&self, plans: &[LearnerPlan]) -> Result<Vec<Box<dyn Group>>, UnitError> {
        let most = match self.options.lanes {
            LaneCount::One => 1,
            LaneCount::Sixteen => 16,
        };
        let group = |(k, plans): (usize, &[LearnerPlan])| match plans.len() {
            1 => self.group(plans, k * most, <dyn DynMeasure>::recorder_f64),
            _ => self.group(plans, k * most, <dyn DynMeasure>::recorder_16),
        };
        plans.chunks(most).enumerate().map(group).collect()
    }

    /// Composes a group. `first` is the place of its first setting in the unit.
    fn group<R: Composable>(
        &self,
        plans: &[LearnerPlan],
        first: usize,
        recorder: MakeRecorder<R>,
    ) -> Result<Box<dyn Group>, UnitError> {
        let Self { scenario, interest, critic_weights, options: &Options { isa, .. }, .. } = *self;
        let problem = scenario.source.clone().known();
        // In a simulator the stream has the method's interest.
        let learners_problem = match (&problem, interest) {
            (Some(known), Some(OwnInterest::ByState(interest))) => {
                Some(known.with_interest(interest.clone())?)
            }
            _ => problem.clone(),
        };
        let recipes: Vec<Recipe> = plans.iter().map(|plan| plan.recipe.clone()).collect();
        let known: Vec<KnownProblem> = learners_problem.clone().into_iter().collect();
        let mut learner = R::compose(learners(), &recipes.iter().collect::<Vec<_>>(), &known, isa)?;
        learner.set_weights(first_weights(plans))?;
        if let Some(weights) = critic_weights {
            learner.set_estimate("critic.v", weights)?;
        }
        let context = Context {
            problem: problem.as_ref(),
            learners_problem: learners_problem.as_ref(),
            recipes: &recipes,
            trials: self.trials.clone(),
            shared_episodes: Rc::<RefCell<SharedEpisodes>>::default(),
            policy: learner.policy(),
            isa,
        };
        let recorders = scenario.measures.iter().map(|measure| recorder(&**measure, &context));
        let recorders = Recorders(recorders.collect::<Result<_, ComposeError>>()?);
        let interest = interest.cloned();
        Ok(Box::new(InLanes { learner, recorders, interest, settings: plans.len(), first, isa }))
    }
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
    interest: Option<OwnInterest>,
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
    fn learn(&mut self, steps: &[Step<State, Action>]) -> Result<(), LearnError> {
        let Some(interest) = &self.interest else { return self.learn_watched(steps) };
        let own = |step: &Step<State<'_>, Action>| match (interest, step.state) {
            (OwnInterest::ByState(interest), State::Number(state)) => interest[state],
            (OwnInterest::ByState(_), _) => step.interest,
            (OwnInterest::Simulated(interest), _) => interest.at(step.gamma),
        };
        let steps: Vec<_> = steps.iter().map(|step| Step { interest: own(step), ..*step }).collect();
        self.learn_watched(&steps)
    }

    fn settings(&self) -> usize {
        self.settings
    }

    fn effective_samples(&self) -> Vec<Option<f64>> {
        (0..self.settings).map(|lane| self.learner.effective_sample(lane)).collect()
    }

    fn evaluate(&mut self, evaluation: usize, rows: &mut Rows) {
        let lanes = self.first..self.first + self.settings;
        for (lane, setting) in lanes.clone().enumerate() {
            rows.set_diverged(setting, evaluation, self.learner.diverged(lane));
        }
        for (column, recorder) in self.recorders.0.iter_mut().enumerate() {
            let numbers = recorder.read(&mut *self.learner);
            for (lane, setting) in lanes.clone().enumerate() {
                rows.set(column, setting, evaluation, numbers.iter().map(|number| number.lane(lane)));
            }
        }
    }
}

/// A row for each setting of a unit and each evaluation: settings in their order, evaluations within.
///
/// Numbers that are not finite are left empty, and so is everything of a run from where it has diverged.
pub(crate) struct Rows {
    evaluations: usize,
    /// The number of episodes that had ended, and of steps made, at each evaluation.
    episodes: Vec<u64>,
    steps: Vec<u64>,
    /// The step at which each run had diverged, if it had.
    diverged: Vec<Option<u64>>,
    columns: Vec<Values>,
}

/// The values of a column, row by row.
enum Values {
    Numbers(Vec<f64>),
    Lists(Vec<Vec<f64>>),
}

impl Rows {
    /// Makes room for this many settings and evaluations of these measures.
    fn new(settings: usize, evaluations: usize, measures: &[Arc<dyn DynMeasure>]) -> Self {
        let rows = settings * evaluations;
        let values = |measure: &Arc<dyn DynMeasure>| match measure.is_list() {
            true => Values::Lists(vec![Vec::new(); rows]),
            false => Values::Numbers(vec![f64::NAN; rows]),
        };
        Self {
            evaluations,
            episodes: Vec::with_capacity(evaluations),
            steps: Vec::with_capacity(evaluations),
            diverged: vec![None; rows],
            columns: measures.iter().map(values).collect(),
        }
    }

    /// Adds an evaluation after this many episodes and steps.
    fn add_evaluation(&mut self, episodes: u64, steps: u64) {
        self.episodes.push(episodes);
        self.steps.push(steps);
    }

    /// Records at which step a run diverged, if it did. This comes before its values.
    fn set_diverged(&mut self, setting: usize, evaluation: usize, step: Option<u64>) {
        self.diverged[setting * self.evaluations + evaluation] = step;
    }

    /// Records the value of a column: one number, or a list. A run that has diverged has none.
    fn set(
        &mut self,
        column: usize,
        setting: usize,
        evaluation: usize,
        mut numbers: impl Iterator<Item = f64>,
    ) {
        let row = setting * self.evaluations + evaluation;
        if self.diverged[row].is_some() {
            return;
        }
        match &mut self.columns[column] {
            Values::Numbers(values) => values[row] = numbers.next().unwrap_or(f64::NAN),
            Values::Lists(lists) => lists[row].extend(numbers),
        }
    }

    /// Returns how many settings had diverged at the end.
    fn diverged_runs(&self) -> u32 {
        self.diverged.iter().skip(self.evaluations - 1).step_by(self.evaluations).flatten().count() as u32
    }

    /// Encodes the rows of a unit of these settings for the store.
    pub(crate) fn encode(
        self,
        experiment: &Experiment,
        unit: Unit,
        settings: &[usize],
    ) -> Result<EncodedUnit, UnitError> {
        let (evaluations, diverged) = (self.evaluations, self.diverged_runs());
        let each_row = || settings.iter().flat_map(move |s| (0..evaluations).map(move |e| (*s as u32, e)));
        let rows = settings.len() * evaluations;
        let mut columns: Vec<ArrayRef> = vec![
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(setting, _)| setting))),
            Arc::new(UInt32Array::from_value(unit.run, rows)),
            Arc::new(UInt32Array::from_iter_values(each_row().map(|(_, e)| e as u32))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.episodes[e]))),
            Arc::new(UInt64Array::from_iter_values(each_row().map(|(_, e)| self.steps[e]))),
            Arc::new(UInt64Array::from(self.diverged)),
        ];
        columns.extend(self.columns.into_iter().map(Values::finish));
        Ok(table::encode(unit, diverged, &RecordBatch::try_new(columns_of(experiment), columns)?)?)
    }
}

impl Values {
    fn finish(self) -> ArrayRef {
        match self {
            Self::Numbers(values) => {
                let finite = values.into_iter().map(|x| x.is_finite().then_some(x));
                Arc::new(finite.collect::<Float64Array>())
            }
            Self::Lists(values) => {
                let mut lists = ListBuilder::new(Float64Builder::new());
                for numbers in &values {
                    lists.values().append_slice(numbers);
                    lists.append(!numbers.is_empty());
                }
                Arc::new(lists.finish())
            }
        }
    }
}

/// Returns the columns of the tables of an experiment's results.
pub(crate) fn columns_of(experiment: &Experiment) -> SchemaRef {
    let counts = [
        ("setting", DataType::UInt32, false),
        ("run", DataType::UInt32, false),
        ("evaluation", DataType::UInt32, false),
        ("episode", DataType::UInt64, false),
        ("step", DataType::UInt64, false),
        ("diverged_step", DataType::UInt64, true),
    ];
    let mut fields: Vec<Field> =
        counts.into_iter().map(|(name, kind, empty)| Field::new(name, kind, empty)).collect();
    let list = DataType::List(Arc::new(Field::new_list_field(DataType::Float64, true)));
    let kind = |is_list: bool| if is_list { list.clone() } else { DataType::Float64 };
    fields.extend(experiment.measured().map(|(name, is_list)| Field::new(name, kind(is_list), true)));
    Arc::new(Schema::new(fields))
}
