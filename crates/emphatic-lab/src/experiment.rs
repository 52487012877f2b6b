//! Experiments: files, understood.
//!
//! An experiment is a list of grids. The settings of a grid differ in numbers alone, so that they can learn side by side in lanes; they
//! are numbered throughout the experiment and cut into blocks.

mod behaviour;
mod evaluation;
mod fit;
mod grid;
mod identity;
mod memory;
mod method;
mod part;
mod policies;
mod scenario;
mod simulation;
mod warnings;

pub(crate) use behaviour::with_behaviour;
pub(crate) use grid::{OwnInterest, Structure};
pub(crate) use memory::{MOST_BYTES, NUMBER, gigabytes};
pub(crate) use part::AS_ACTOR;
pub(crate) use policies::Policies;
pub use scenario::FindExternal;
pub(crate) use scenario::Scenario;
pub(crate) use simulation::{RolloutPlan, simulator_named};

use crate::experiment_file::{ExperimentFile, MethodFile, Select};
use crate::measure::{self, Goal, Measured};
use crate::one_or_list::{Located, OneOrList};
use crate::source;
use crate::store::Kind;
use emphatic::catalogue::{Catalogue, Role, Signal};
use emphatic::{Features, Random, Recipe, Table};
use emphatic_problems::{
    DrawnFeatures, FileError, Mistake, ReadError, ValueError, Whole, read_text, suggest,
};
use grid::{Axis, Grid, Owner};
use scenario::{ProblemCopy, Scenarios, Surroundings};
use serde_json::{Value, json};
use std::ops::{Range, RangeInclusive};
use std::path::Path;
use thiserror::Error;
use toml::Spanned;

/// More settings than this are surely a mistake.
const MOST_SETTINGS: usize = 10_000_000;

/// More kinds of settings than this, which share no lanes, are surely a mistake.
const MOST_KINDS: usize = 100_000;

/// The most units: each has an entry in the tables' footers, which are held in memory.
const MOST_UNITS: usize = 1_000_000;

/// More runs or evaluations than this are surely a mistake too.
const MOST_RUNS: u64 = 1_000_000;
const MOST_EVALUATIONS: u64 = 1_000_000;

/// The most numbers, roughly, that a unit records; they are held in memory until it is finished.
const NUMBERS_A_UNIT: usize = 1 << 23;

/// About how many updates a unit makes, in a second or so: little is lost when a process is killed. (A unit is never shorter than its
/// run.)
const UPDATES_A_UNIT: f64 = (1 << 24) as f64;

/// A step of an environment that lives elsewhere takes about as long as so many that live here.
const ELSEWHERE: f64 = 64.0;

/// The number of the first run of finalists where they stand beside the runs that all settings have, and of its stream.
pub(crate) const FIRST_FINALIST_RUN: u32 = 1 << 31;

/// The number of the first stream of fresh runs.
const FIRST_FRESH_STREAM: u64 = 1 << 32;

/// Returns the number of the first stream of runs of a kind.
pub(crate) fn first_stream(kind: Kind) -> u64 {
    match kind {
        Kind::Results => 0,
        Kind::Finalists => u64::from(FIRST_FINALIST_RUN),
        Kind::Fresh => FIRST_FRESH_STREAM,
    }
}

/// The number of the first random stream from which features are drawn, beyond those of runs and fresh runs.
const FIRST_FEATURES_STREAM: u64 = 1 << 62;

/// The column with the weights that a policy starts from.
const INITIAL_WEIGHTS: &str = "initial_weights";

/// The least number of settings in a block (they fill the lanes) and the most (they share a stream).
const BLOCK: Range<usize> = 16..256;

/// How long a run lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// In episodes.
    Episodes(u64),
    /// In steps.
    Steps(u64),
}

impl Length {
    /// Returns the number of episodes or steps.
    pub fn count(self) -> u64 {
        match self {
            Self::Episodes(n) | Self::Steps(n) => n,
        }
    }

    /// Returns the unit, which is also the key in files and the axis of curves.
    pub fn word(self) -> &'static str {
        match self {
            Self::Episodes(_) => "episodes",
            Self::Steps(_) => "steps",
        }
    }
}

/// A value in the table of settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A word or name.
    Text(String),
    /// A number.
    Number(f64),
}

impl Cell {
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(x) => json!(x),
        }
    }
}

/// A method of an experiment.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// The settings of which every value is a method of its own.
    pub separate: Vec<String>,
}

/// A recorded quantity that settings are judged by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judged {
    /// Its column.
    pub(crate) column: String,
    pub(crate) goal: Goal,
}

/// How runs are evaluated: those from which settings are chosen, or fresh ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Protocol {
    /// How often, not counting the time before a run begins.
    pub(crate) evaluations: u64,
    /// How policies are tried out in a simulator.
    pub(crate) rollouts: RolloutPlan,
}

/// What one setting's learner is made of.
pub(crate) struct LearnerPlan<'a> {
    pub(crate) recipe: Recipe,
    /// The policy's weights at the start.
    pub(crate) weights: &'a [f64],
}

/// An experiment: a file that makes sense.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The seed of all randomness.
    pub seed: u64,
    /// The number of runs.
    pub runs: u32,
    /// The length of a run.
    pub length: Length,
    /// How often quantities are recorded in a run, not counting the time before it begins.
    pub evaluations: u64,
    /// How many settings of each method, the best by the runs, have more of them before the best is chosen; none if it is 0.
    pub finalists: u32,
    /// How many more runs those have.
    pub finalist_runs: u32,
    /// The number of fresh runs on which the best settings are judged.
    pub fresh_runs: u32,
    /// How often quantities are recorded in a fresh run.
    pub fresh_evaluations: u64,
    /// How policies are tried out in a simulator, in runs and in fresh runs.
    rollouts: [RolloutPlan; 2],
    /// The methods.
    pub methods: Vec<Method>,
    pub(crate) select: Select,
    /// The recorded quantities that settings are judged by, each apart; none if nothing that is recorded is better or worse.
    pub(crate) judged_by: Vec<Judged>,
    /// The names of the columns that are recorded.
    pub(crate) record: Vec<String>,
    /// Features of critics that are drawn anew for each run.
    drawn: Option<DrawnFeatures>,
    /// The weights that critics of values start from, if not from zero.
    pub(crate) critic_weights: Option<Vec<f64>>,
    pub(crate) scenarios: Vec<Scenario>,
    grids: Vec<Grid>,
    /// Blocks of settings that are run together: they differ in numbers alone, so that they fit in the lanes of one learner. They
    /// depend on nothing but the file.
    pub(crate) blocks: Vec<Range<usize>>,
    /// The text of the file.
    text: String,
    /// The number of runs in the text, and its place.
    runs_in_text: u32,
    runs_span: Range<usize>,
    problem_copies: Vec<ProblemCopy>,
    policies: Policies,
}

/// More units of work than can be dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the settings make {blocks} blocks, of each of which at most {most} runs are possible: ask for fewer runs, or sweep fewer settings"
)]
#[non_exhaustive]
pub struct TooManyUnits {
    /// The number of blocks of settings.
    pub blocks: usize,
    /// The most runs of them that are possible.
    pub most: usize,
}

impl Experiment {
    /// Reads an experiment file. Problem files that it names are looked for beside it.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        Self::open_with(path, None)
    }

    /// The same, where environments that live elsewhere are found by this function.
    pub fn open_with(path: &Path, find_external: Option<&FindExternal>) -> Result<Self, ReadError> {
        let text = read_text(path)?;
        let beside = path.parent().unwrap_or(Path::new(""));
        let read = Self::read(&text, Surroundings { beside, find_external });
        Ok(read.map_err(|error| error.in_file(&path.display().to_string(), &text))?)
    }

    /// Reads the text of an experiment file called `name`; problem files are looked for in `beside`.
    pub fn parse(text: &str, name: &str, beside: &Path) -> Result<Self, FileError> {
        let around = Surroundings { beside, find_external: None };
        Self::read(text, around).map_err(|error| error.in_file(name, text))
    }

    fn read(text: &str, around: Surroundings) -> Result<Self, Mistake> {
        let file: ExperimentFile = toml::from_str(text).map_err(|error| Mistake::toml(&error, text))?;
        let mut experiment = Self::without_settings(&file, text)?;
        let Scenarios { all, copies, policies } = Scenarios::read(&file, around)?;
        (experiment.scenarios, experiment.problem_copies, experiment.policies) = (all, copies, policies);
        experiment.check_episodes(&file)?;
        experiment.draw_features()?;
        let evaluates = evaluation::all_evaluate(&file)?;
        if evaluates {
            experiment.evaluate_targets(&file)?;
        }
        let is_simulated = experiment.scenarios.iter().any(|scenario| scenario.simulator().is_some());
        experiment.check_simulation(&file, is_simulated)?;
        let default = default_record(&file, evaluates, is_simulated);
        let places = experiment.read_record(&file, default)?;
        experiment.read_judged(&file)?;
        experiment.read_methods(&file)?;
        experiment.check_measures(&places)?;
        experiment.check_critic_weights(&file)?;
        experiment.check_recorded_memory(&places)?;
        let kinds = experiment.cut_into_blocks();
        experiment.check_runs_of_chosen(&file, kinds)?;
        experiment.check_units().map_err(|error| Mistake::at(&file.runs.span, error.to_string()))?;
        Ok(experiment)
    }

    /// Reads everything but problems, columns and methods.
    fn without_settings(file: &ExperimentFile, text: &str) -> Result<Self, Mistake> {
        let seed = whole(file.seed.as_ref(), "seed", 0..=u64::MAX)?.unwrap_or(0);
        // Fresh streams have numbers beyond these.
        let runs = whole(Some(&file.runs), "runs", 1..=MOST_RUNS)?.unwrap_or(1);
        let fresh_runs = whole(file.fresh_runs.as_ref(), "fresh_runs", 0..=MOST_RUNS)?.unwrap_or(0);
        let (finalists, finalist_runs) = read_finalists(file)?;
        let length = read_length(file)?;
        let most = length.count().min(MOST_EVALUATIONS);
        let reason = format!("a run has {} {}", length.count(), length.word());
        let reason = Some(reason).filter(|_| length.count() < MOST_EVALUATIONS);
        let evaluations = whole(file.evaluations.as_ref(), "evaluations", 1..=most)
            .map_err(|error| error.maybe_help(reason))?;
        let fresh_evaluations = whole(file.fresh_evaluations.as_ref(), "fresh_evaluations", 1..=most)?;
        let select = file.select.as_ref().map(|select| select.single("select")).transpose()?;
        let evaluations = evaluations.unwrap_or(length.count().min(50));
        let rollouts = RolloutPlan::default().read(file.rollouts.as_ref(), "rollouts")?;
        let fresh_rollouts = rollouts.read(file.fresh_rollouts.as_ref(), "fresh_rollouts")?;
        Ok(Self {
            seed,
            runs: runs as u32,
            length,
            evaluations,
            finalists,
            finalist_runs,
            fresh_runs: fresh_runs as u32,
            fresh_evaluations: fresh_evaluations.unwrap_or(evaluations),
            rollouts: [rollouts, fresh_rollouts],
            methods: Vec::new(),
            select: select.map_or(Select::Final, |select| select.value),
            judged_by: Vec::new(),
            record: Vec::new(),
            drawn: file.random_binary.clone(),
            critic_weights: file
                .critic_weights
                .as_ref()
                .map(|list| list.get_ref().iter().map(|weight| weight.0).collect()),
            scenarios: Vec::new(),
            grids: Vec::new(),
            blocks: Vec::new(),
            text: text.to_owned(),
            runs_in_text: runs as u32,
            runs_span: file.runs.span.clone(),
            problem_copies: Vec::new(),
            policies: Policies::default(),
        })
    }

    /// Returns an error if a run is to last some episodes, but episodes never end.
    fn check_episodes(&self, file: &ExperimentFile) -> Result<(), Mistake> {
        let is_endless = |scenario: &&Scenario| scenario.episode_length().is_none();
        if matches!(self.length, Length::Steps(_)) {
            return Ok(());
        }
        let Some(endless) = self.scenarios.iter().find(is_endless) else { return Ok(()) };
        let (message, limit) = match endless.simulator() {
            None => ("episodes of this problem never end under its behaviour".to_owned(), ""),
            Some(simulator) if simulator.elsewhere().is_some() => (
                format!("episodes of `{}` may never end, since they have no limit", simulator.interface.name),
                ", or a limit: problem = { name = …, limit = 1000 }",
            ),
            Some(_) => {
                let steps = source::TRIAL;
                (format!("no episode of this simulator ended in {steps} steps under its behaviour"), "")
            }
        };
        Err(Mistake::at(&file.problem.span, message)
            .help(format!("give `steps` instead of `episodes`{limit}")))
    }

    /// Draws the features of critics as the first run has them, if they are drawn anew for each run.
    fn draw_features(&mut self) -> Result<(), Mistake> {
        for k in 0..self.scenarios.len() {
            if let Some(table) = self.drawn_features(k, 0)? {
                self.scenarios[k].set_critic_features(table);
            }
        }
        Ok(())
    }

    /// Returns the features of critics in the run with this stream; `None` if they are the problem's own.
    fn drawn_features(&self, scenario: usize, stream: u64) -> Result<Option<Table>, Mistake> {
        let states = self.scenarios[scenario].known().map_or(0, |known| known.states().len());
        let mut random = Random::new(self.seed, FIRST_FEATURES_STREAM + stream);
        self.drawn.as_ref().map(|drawn| drawn.table(states, &mut random)).transpose()
    }

    /// Returns an error if something is asked of simulators that they do not have, or of other problems that only simulators have.
    fn check_simulation(&self, file: &ExperimentFile, is_simulated: bool) -> Result<(), Mistake> {
        let rollouts = file.rollouts.as_ref().map(|_| "rollouts");
        let rollouts = rollouts.or(file.fresh_rollouts.as_ref().map(|_| "fresh_rollouts"));
        if let Some(key) = rollouts.filter(|_| !is_simulated) {
            let message = format!("`{key}` are of simulators, and this problem is known exactly");
            return Err(Mistake::at(&file.problem.span, message).help(format!("leave `{key}` out")));
        }
        self.check_recordings(file)?;
        if self.drawn.is_some() && is_simulated {
            let message = "`random_binary` draws features of states that have numbers, and those of a simulator have none";
            return Err(Mistake::at(&file.problem.span, message).help("give `features`"));
        }
        Ok(())
    }

    /// Returns an error if the experience of a run, which is kept where the environment lives elsewhere, takes too much memory.
    fn check_recordings(&self, file: &ExperimentFile) -> Result<(), Mistake> {
        let Some(written) = &file.steps else { return Ok(()) };
        for simulator in self.scenarios.iter().filter_map(Scenario::simulator) {
            let bytes = source::bytes(self.length.count() as f64, simulator.interface.space.len());
            if simulator.elsewhere().is_some() && bytes > MOST_BYTES {
                let message = format!(
                    "the experience of a run of {} steps takes {} of memory; at most {} are possible",
                    self.length.count(),
                    gigabytes(bytes),
                    gigabytes(MOST_BYTES)
                );
                return Err(Mistake::at(&written.span, message).help("give fewer `steps`"));
            }
        }
        Ok(())
    }

    /// Whether policies are tried out, in which case nobody knows how long an evaluation takes.
    pub(crate) fn has_rollouts(&self) -> bool {
        let simulators = self.scenarios.iter().filter(|scenario| scenario.simulator().is_some());
        simulators.flat_map(|scenario| &scenario.measures).any(|measure| measure.trials() > 0)
    }

    /// Whether what happens, happens in Python.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let mut simulators = self.scenarios.iter().filter_map(|scenario| scenario.simulator());
        simulators.any(|simulator| simulator.elsewhere().is_some())
    }

    /// Returns about how many steps an evaluation of the run with this stream takes at most, where policies are tried out, or as many as take the same time.
    pub(crate) fn tried_steps(&self, scenario: usize, stream: u64) -> f64 {
        let Some(simulator) = self.scenarios[scenario].simulator() else { return 0.0 };
        let RolloutPlan { episodes, .. } = self.protocol(stream).rollouts;
        let trials: usize = self.scenarios[scenario].measures.iter().map(|measure| measure.trials()).sum();
        let cap = self.protocol(stream).rollouts.cap_in(simulator);
        let steps = trials as f64 * episodes as f64 * cap as f64;
        if simulator.elsewhere().is_some() { ELSEWHERE * steps } else { steps }
    }

    /// Returns how many steps of the behaviour a unit of the run with this stream makes, on average, to find the states in which excursions begin.
    pub(crate) fn searched_steps(&self, scenario: usize, stream: u64) -> f64 {
        let RolloutPlan { episodes, every, .. } = self.protocol(stream).rollouts;
        let needs_them = self.scenarios[scenario].measures.iter().any(|m| m.needs_visited_states());
        if needs_them { episodes as f64 * every as f64 } else { 0.0 }
    }

    /// Returns the same with evaluations so short that they can be timed, and how much longer those of the file and of fresh runs take.
    pub(crate) fn with_short_rollouts(&self, scenario: usize) -> (Self, [f64; 2]) {
        let mut experiment = self.clone();
        let Some(simulator) = self.scenarios[scenario].simulator() else { return (experiment, [1.0; 2]) };
        let steps = |plan: RolloutPlan| plan.episodes as f64 * plan.cap_in(simulator) as f64;
        let [plan, fresh] = self.rollouts;
        // Of few steps the time would be that of everything else.
        let short = if steps(fresh) > steps(plan) { fresh } else { plan }.shorter(simulator);
        experiment.rollouts = [short; 2];
        (experiment, [plan, fresh].map(|plan| steps(plan) / steps(short)))
    }

    /// Returns how the run with this stream is evaluated.
    pub(crate) fn protocol(&self, stream: u64) -> Protocol {
        match stream >= FIRST_FRESH_STREAM {
            false => Protocol { evaluations: self.evaluations, rollouts: self.rollouts[0] },
            true => Protocol { evaluations: self.fresh_evaluations, rollouts: self.rollouts[1] },
        }
    }

    /// Returns whether the features of critics are drawn anew for each run.
    pub(crate) fn draws_features(&self) -> bool {
        self.drawn.is_some()
    }

    /// Prepares the target of each scenario to be evaluated.
    fn evaluate_targets(&mut self, file: &ExperimentFile) -> Result<(), Mistake> {
        let place = file.target.as_ref().map_or(&file.problem.span, |target| &target.span);
        self.scenarios.iter_mut().try_for_each(|s| s.evaluate_target().map_err(|error| error.at(place)))
    }

    /// Reads what is recorded: the measures of each scenario, and the names of their columns. Returns the place of each column in the file.
    fn read_record(&mut self, file: &ExperimentFile, default: &str) -> Result<Vec<Range<usize>>, Mistake> {
        let by_default = [Spanned::new(0..0, default.to_owned())];
        let names = file.record.as_ref().map_or(&by_default[..], |record| record.get_ref());
        let mut places = Vec::new();
        for name in names {
            let columns = add_measures(name, &mut self.scenarios)?;
            if let Some(twice) = columns.iter().find(|column| self.record.contains(column)) {
                return Err(Mistake::at(&name.span(), format!("`{twice}` is recorded twice")));
            }
            places.extend(columns.iter().map(|_| name.span()));
            self.record.extend(columns);
        }
        match &file.record {
            Some(record) if self.record.is_empty() => {
                let what =
                    if default == "objective" { "the objective".to_owned() } else { format!("`{default}`") };
                Err(Mistake::at(&record.span(), "nothing is recorded")
                    .help(format!("leave `record` out for {what}")))
            }
            _ => Ok(places),
        }
    }

    /// Reads what settings are judged by: what is asked for, the objective, the return, or the first error.
    fn read_judged(&mut self, file: &ExperimentFile) -> Result<(), Mistake> {
        let measures = self.scenarios.first().map_or(&[][..], |scenario| &scenario.measures);
        let goals = || self.record.iter().zip(measures).map(|(column, measure)| (column, measure.goal()));
        let with_goal = |(column, goal): (&String, Option<Goal>)| {
            goal.map(|goal| Judged { column: column.clone(), goal })
        };
        let Some(by) = &file.select_by else {
            let named = |name: &str| goals().find(|(column, _)| *column == name).and_then(with_goal);
            let first = || goals().find_map(with_goal);
            let judged = named("objective").or_else(|| named("return")).or_else(first);
            self.judged_by = judged.into_iter().collect();
            return Ok(());
        };
        let mut judged_by = Vec::new();
        for Located { value: name, span } in by.distinct("select_by")? {
            let Some((column, goal)) = goals().find(|(column, _)| *column == name) else {
                let help = suggest(name, self.record.iter().map(String::as_str));
                return Err(Mistake::at(span, format!("`{name}` is not recorded")).maybe_help(help));
            };
            let Some(judged) = with_goal((column, goal)) else {
                let message = format!("`{column}` does not say which setting is better");
                return Err(Mistake::at(span, message).help("the objective, returns and errors do"));
            };
            judged_by.push(judged);
        }
        self.judged_by = judged_by;
        Ok(())
    }

    /// Returns an error if something that is recorded does not exist of some method.
    fn check_measures(&self, places: &[Range<usize>]) -> Result<(), Mistake> {
        for grid in &self.grids {
            let scenario = &self.scenarios[grid.structure.scenario];
            let recipe = grid.recipe(grid.settings.start, 0, 0);
            let of = Measured {
                known: scenario.known(),
                target: scenario.evaluated.as_ref(),
                recipe: &recipe,
                has_critic: grid.has_critic,
                has_emphasis: grid.has_emphasis,
            };
            let cannot_restore =
                scenario.simulator().is_some_and(|simulator| simulator.elsewhere().is_some());
            for ((measure, column), place) in scenario.measures.iter().zip(&self.record).zip(places) {
                let restored = match cannot_restore && measure.needs_visited_states() {
                    false => Ok(()),
                    true => Err(ValueError::new("its episodes begin in states that the behaviour visits, and an environment of Gymnasium cannot be put into a state")
                        .help("record \"return\", whose episodes begin where the environment begins them")),
                };
                restored.and_then(|()| measure.check(&of)).map_err(|reason| {
                    let method = &self.methods[grid.method].name;
                    let problem = match self.scenarios.len() {
                        1 => String::new(),
                        _ => format!(" in {}", scenario.title()),
                    };
                    let message =
                        format!("`{column}` cannot be recorded of {method}{problem}: {}", reason.message);
                    Mistake::at(place, message).maybe_help(reason.help)
                })?;
            }
        }
        Ok(())
    }

    /// Returns an error if the weights that critics start from do not fit a critic.
    fn check_critic_weights(&self, file: &ExperimentFile) -> Result<(), Mistake> {
        let (Some(written), Some(weights)) = (&file.critic_weights, &self.critic_weights) else {
            return Ok(());
        };
        let wrong = |message: String| Err(Mistake::at(&written.span(), message));
        if let Some(weight) = weights.iter().find(|w| !w.is_finite()) {
            return wrong(format!("a weight is {weight}; weights must be finite"));
        }
        for grid in &self.grids {
            let (critic, method) = (&grid.structure.recipe.critic, &self.methods[grid.method].name);
            let entry = Catalogue::current().find(Role::Critic, &critic.kind);
            if !entry.is_some_and(|entry| entry.features && entry.signals.contains(&Signal::Delta)) {
                return wrong(format!("{method} has no linear critic of values that could start from them"));
            }
            let right = critic.features.as_ref().map_or(0, Features::len);
            if weights.len() != right {
                return wrong(format!(
                    "{} weights for the critic of {method}, which has {right}",
                    weights.len()
                ));
            }
        }
        Ok(())
    }

    fn read_methods(&mut self, file: &ExperimentFile) -> Result<(), Mistake> {
        if file.method.get_ref().is_empty() {
            return Err(
                Mistake::at(&file.method.span(), "there are no methods").help("add a [[method]] table")
            );
        }
        for written in file.method.get_ref() {
            let first = self.grids.len();
            let method =
                method::read(written, self.methods.len(), self.length, &self.scenarios, &mut self.grids)?;
            if self.methods.iter().any(|other| other.name == method.name) {
                let message = format!("there are two methods named `{}`", method.name);
                return Err(Mistake::at(&written.span(), message).help("give each a `name` of its own"));
            }
            self.methods.push(method);
            check_separate(written.get_ref(), &self.grids[first..])?;
        }
        Ok(())
    }

    /// Returns an error if finalists or fresh runs are asked for, but nothing is recorded by which settings are chosen, or if so many of
    /// these kinds of settings are impossible.
    fn check_runs_of_chosen(&self, file: &ExperimentFile, kinds: usize) -> Result<(), Mistake> {
        for (kind, written) in [(Kind::Finalists, &file.finalist_runs), (Kind::Fresh, &file.fresh_runs)] {
            let (what, runs) = (kind.runs(), self.runs_of(kind) as usize);
            let Some(written) = written.as_ref().filter(|_| runs > 0) else { continue };
            if self.judged_by.is_empty() {
                let is_simulated = self.scenarios.iter().any(|scenario| scenario.simulator().is_some());
                let (article, good) = if is_simulated { ("a", "return") } else { ("the", "objective") };
                let message = format!("{what} need {article} {good} or an error, but neither is recorded");
                return Err(Mistake::at(&written.span, message).help(format!(
                    "add \"{good}\" (or \"value_error\") to `record`: by it the best settings are chosen"
                )));
            }
            // Finalists make no more blocks than all settings do.
            let (blocks, things) = match kind {
                Kind::Finalists => (self.blocks.len(), "blocks"),
                _ => (kinds, "kinds"),
            };
            if blocks.saturating_mul(runs) > MOST_UNITS {
                let most = MOST_UNITS / blocks;
                let message = format!("at most {most} {what} are possible of {blocks} {things} of settings");
                return Err(Mistake::at(&written.span, message));
            }
        }
        Ok(())
    }

    /// Returns an error if there are too many units to be held in memory.
    fn check_units(&self) -> Result<(), TooManyUnits> {
        let (blocks, most) = (self.blocks.len(), MOST_UNITS / self.blocks.len().max(1));
        if self.runs as usize <= most { Ok(()) } else { Err(TooManyUnits { blocks, most }) }
    }

    /// Returns the experiment with another number of runs.
    pub fn with_runs(mut self, runs: u32) -> Result<Self, TooManyUnits> {
        self.runs = runs.clamp(1, MOST_RUNS as u32);
        self.check_units()?;
        Ok(self)
    }

    /// Returns the columns in which problems, behaviours and so on differ.
    pub(crate) fn distinguishing_columns(&self) -> Vec<&str> {
        let cell = |scenario: &Scenario, name: &str| {
            scenario.columns.iter().find(|(known, _)| known == name).map(|(_, cell)| cell.clone())
        };
        let differs =
            |name: &&str| self.scenarios.windows(2).any(|two| cell(&two[0], name) != cell(&two[1], name));
        let mut names: Vec<&str> = Vec::new();
        for (name, _) in self.scenarios.iter().flat_map(|scenario| &scenario.columns) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names.into_iter().filter(differs).collect()
    }

    /// Returns the number of settings.
    pub fn settings(&self) -> usize {
        self.grids.last().map_or(0, |grid| grid.settings.end)
    }

    /// Returns how many runs of a kind there are to be.
    pub(crate) fn runs_of(&self, kind: Kind) -> u32 {
        match kind {
            Kind::Results => self.runs,
            Kind::Finalists => self.finalist_runs,
            Kind::Fresh => self.fresh_runs,
        }
    }

    /// Returns the number of units.
    pub fn units(&self) -> usize {
        self.blocks.len() * self.runs as usize
    }

    /// Returns one setting of each kind: the others differ from one of them in numbers alone.
    pub(crate) fn first_of_each_kind(&self) -> impl Iterator<Item = usize> {
        self.grids.iter().map(|grid| grid.settings.start)
    }

    /// Returns about how many steps a run in the scenario has.
    pub(crate) fn expected_steps(&self, scenario: usize) -> f64 {
        match self.length {
            Length::Episodes(n) => n as f64 * self.scenarios[scenario].episode_length().unwrap_or(1.0),
            Length::Steps(n) => n as f64,
        }
    }

    /// Cuts the settings into blocks, and returns the number of kinds of settings, which share no lanes.
    fn cut_into_blocks(&mut self) -> usize {
        let (mut first, mut kinds) = (0, 0);
        while first < self.grids.len() {
            let structure = &self.grids[first].structure;
            let alike = self.grids[first..].iter().take_while(|grid| grid.structure == *structure).count();
            let settings = self.grids[first].settings.start..self.grids[first + alike - 1].settings.end;
            let size = self.most_in_a_block(settings.start);
            let cut = |start: usize| start..(start + size).min(settings.end);
            self.blocks.extend(settings.clone().step_by(size).map(cut));
            first += alike;
            kinds += 1;
        }
        kinds
    }

    /// Returns how many settings like this one make a unit of work that is neither too short nor too large.
    pub(crate) fn most_in_a_block(&self, setting: usize) -> usize {
        let scenario = self.structure(setting).scenario;
        let evaluating = (self.evaluations as f64 + 1.0) * self.tried_steps(scenario, 0);
        let size = UPDATES_A_UNIT / (self.expected_steps(scenario) + evaluating).max(1.0);
        let size = (size as usize).clamp(BLOCK.start, BLOCK.end) / BLOCK.start * BLOCK.start;
        let a_row = self.numbers_a_row(setting);
        let a_setting = a_row.saturating_mul(self.evaluations as usize + 1).max(1);
        let size = size.min(NUMBERS_A_UNIT / a_setting).max(1);
        size.min(self.most_settings_in_memory(setting))
    }

    /// Returns the name of each column that is recorded, and whether its values are lists.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (&str, bool)> {
        // All scenarios have the same columns.
        let measures = self.scenarios.first().map_or(&[][..], |scenario| &scenario.measures);
        self.record.iter().zip(measures).map(|(name, measure)| (name.as_str(), measure.is_list()))
    }

    /// Returns which values of a column are the best; `None` if none are.
    pub(crate) fn goal_of(&self, column: &str) -> Option<Goal> {
        let measures = self.scenarios.first().map_or(&[][..], |scenario| &scenario.measures);
        let place = self.record.iter().position(|name| name == column)?;
        measures.get(place)?.goal()
    }

    /// Returns how many numbers are recorded of a setting at an evaluation.
    pub(crate) fn numbers_a_row(&self, setting: usize) -> usize {
        let Grid { structure, weights, .. } = self.grid(setting);
        let measures = self.scenarios[structure.scenario].measures.iter();
        measures.map(|measure| measure.numbers(&structure.recipe, weights.len())).sum()
    }

    fn grid(&self, setting: usize) -> &Grid {
        let after = self.grids.partition_point(|grid| grid.settings.start <= setting);
        &self.grids[after - 1]
    }

    /// Returns what a setting has in common with others that can share its lanes.
    pub(crate) fn structure(&self, setting: usize) -> &Structure {
        &self.grid(setting).structure
    }

    /// Returns what a setting's learner is made of if it learns from the stream with this number.
    pub(crate) fn plan(&self, setting: usize, stream: u64) -> LearnerPlan<'_> {
        let grid = self.grid(setting);
        let mut recipe = grid.recipe(setting, self.seed, stream);
        // They were drawn when the file was read, so that there is no error.
        if let Ok(Some(table)) = self.drawn_features(grid.structure.scenario, stream) {
            let features = Features::from(table);
            for place in &grid.critic_features {
                place.part(&mut recipe).into_iter().for_each(|part| part.features = Some(features.clone()));
            }
        }
        LearnerPlan { recipe, weights: &grid.weights }
    }

    /// Returns the number of a setting's method.
    pub fn method_of(&self, setting: usize) -> usize {
        self.grid(setting).method
    }

    /// Returns how many values of the same kind stand before a setting's part of this column in its list.
    pub(crate) fn ordinal(&self, setting: usize, column: &str) -> usize {
        let ordinals = &self.grid(setting).ordinals;
        ordinals.iter().find(|(name, _)| name == column).map_or(0, |(_, ordinal)| *ordinal)
    }

    /// Returns the names of a setting's values that belong to the part of this column.
    pub(crate) fn names_in_part(&self, setting: usize, column: &str) -> Vec<&str> {
        let grid = self.grid(setting);
        let is_inside = |place: &str| {
            place.strip_prefix(column).is_some_and(|rest| rest.starts_with('_'))
                || column == Role::Policy.word() && place == INITIAL_WEIGHTS
        };
        let words = grid.columns.iter().map(|(name, _)| name.as_str()).filter(|name| is_inside(name));
        let belongs =
            |axis: &&Axis| axis.owner.column().is_some_and(|place| place == column || is_inside(&place));
        words.chain(grid.axes.iter().filter(belongs).map(|axis| axis.column.as_str())).collect()
    }

    /// Returns all values of a setting by name, as in the table of settings.
    pub fn cells(&self, setting: usize) -> Vec<(&str, Cell)> {
        let grid = self.grid(setting);
        let mut cells = vec![("method", Cell::Text(self.methods[grid.method].name.clone()))];
        let columns = self.scenarios[grid.structure.scenario].columns.iter().chain(&grid.columns);
        cells.extend(columns.map(|(name, cell)| (name.as_str(), cell.clone())));
        cells.extend(grid.numbers(setting).map(|(axis, x)| (axis.column.as_str(), Cell::Number(x))));
        cells
    }
}

fn whole(
    written: Option<&OneOrList<Whole>>,
    key: &str,
    range: RangeInclusive<u64>,
) -> Result<Option<u64>, Mistake> {
    let Some(written) = written else { return Ok(None) };
    let Located { value: Whole(x), span } = written.single(key)?;
    if range.contains(x) {
        return Ok(Some(*x));
    }
    let (least, most) = range.into_inner();
    Err(Mistake::at(span, format!("`{key}` is {x}; it must lie between {least} and {most}")))
}

/// Returns how many finalists there are, and how many runs they have: neither, or both.
fn read_finalists(file: &ExperimentFile) -> Result<(u32, u32), Mistake> {
    let finalists = whole(file.finalists.as_ref(), "finalists", 1..=MOST_SETTINGS as u64)?;
    let runs = whole(file.finalist_runs.as_ref(), "finalist_runs", 1..=MOST_RUNS)?;
    match (&file.finalists, &file.finalist_runs) {
        (Some(written), None) => Err(Mistake::at(&written.span, "how many more runs do the finalists have?")
            .help("add `finalist_runs`: finalist_runs = 10")),
        (None, Some(written)) => Err(Mistake::at(&written.span, "`finalist_runs` without `finalists`")
            .help("add how many settings of each method are tried out on these runs: finalists = 20")),
        _ => Ok((finalists.unwrap_or(0) as u32, runs.unwrap_or(0) as u32)),
    }
}

/// Returns what is recorded if the file does not say.
fn default_record(file: &ExperimentFile, evaluates: bool, is_simulated: bool) -> &'static str {
    match (evaluates, evaluation::all_have_critics(file)) {
        (false, _) if is_simulated => "return",
        (false, _) => "objective",
        (true, true) => "value_error",
        (true, false) => "emphasis_error",
    }
}

fn read_length(file: &ExperimentFile) -> Result<Length, Mistake> {
    // Above this, `f64` cannot represent every number of steps.
    let range = 1..=1 << 53;
    match (&file.episodes, &file.steps) {
        (Some(n), None) => Ok(Length::Episodes(whole(Some(n), "episodes", range)?.unwrap_or(1))),
        (None, Some(n)) => Ok(Length::Steps(whole(Some(n), "steps", range)?.unwrap_or(1))),
        (Some(_), Some(n)) => {
            Err(Mistake::at(&n.span, "a run lasts some `episodes` or some `steps`, not both"))
        }
        (None, None) => {
            Err(Mistake::whole_file("how long does a run last?").help("give `episodes` or `steps`"))
        }
    }
}

/// Adds the measures of a name to every scenario, and returns the names of their columns, which must be the same in all.
fn add_measures(name: &Spanned<String>, scenarios: &mut [Scenario]) -> Result<Vec<String>, Mistake> {
    let mut columns = Vec::new();
    for scenario in scenarios {
        let found =
            measure::named(name.get_ref(), scenario.known()).map_err(|error| error.at(&name.span()))?;
        let (names, measures): (Vec<String>, Vec<_>) = found.into_iter().unzip();
        scenario.measures.extend(measures);
        if !columns.is_empty() && columns != names {
            let message = format!("`{}` is not the same in all problems of this experiment", name.get_ref());
            return Err(Mistake::at(&name.span(), message).help("name an action that all of them have"));
        }
        columns = names;
    }
    Ok(columns)
}

/// Returns an error if a method is to be separated by something that is not one of its settings.
fn check_separate(file: &MethodFile, grids: &[Grid]) -> Result<(), Mistake> {
    for key in file.separate.iter().flatten() {
        let words = grids.iter().flat_map(|grid| &grid.columns).map(|(name, _)| name.as_str());
        let numbers = grids.iter().flat_map(|grid| &grid.axes).map(|axis| axis.column.as_str());
        let mut known: Vec<&str> = words.chain(numbers).collect();
        if !known.contains(&key.get_ref().as_str()) {
            let message = format!("the method has no setting `{}`", key.get_ref());
            known.sort_unstable();
            known.dedup();
            return Err(
                Mistake::at(&key.span(), message).maybe_help(suggest(key.get_ref(), known.into_iter()))
            );
        }
    }
    Ok(())
}
