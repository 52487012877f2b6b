//! Experiments: files, understood.

mod method;
mod part;
mod variant;

pub(crate) use variant::Structure;

use crate::file::{ExperimentFile, ProblemValue, Select};
use crate::measure::{self, Measure};
use crate::source::{self, Sights, Source};
use crate::store::{PROBLEMS, fingerprint};
use crate::sweep::{Located, Sweep};
use emphatic::{ContinuousCounterexample, Recipe, Task};
use emphatic_problems::{
    Behaviour, FileError, Interest, Mistake, Number, ProblemFile, ReadError, SHIPPED, Share, ValueError,
    Whole, World, read_text, shipped, suggest,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;
use toml::Spanned;
use variant::Variant;

/// More settings than this are surely a mistake.
const MOST_SETTINGS: usize = 10_000_000;

/// More kinds of settings than this, which share no lanes, are surely a mistake.
const MOST_KINDS: usize = 100_000;

/// The most problems that a file may ask for: each is solved.
const MOST_SCENARIOS: usize = 10_000;

/// The longest chains of the long counterexample that a file may ask for.
const MOST_CHAIN: u64 = 10_000;

/// The most units: each has an entry in the tables' footers, which are held in memory.
const MOST_UNITS: usize = 1_000_000;

/// More runs or evaluations than this are surely a mistake too.
const MOST_RUNS: u64 = 1_000_000;
const MOST_EVALUATIONS: u64 = 1_000_000;

/// A unit has at most about so many numbers to record; they are held in memory until it is finished.
const NUMBERS_A_UNIT: usize = 1 << 23;

/// A unit is about this many updates, a second or so, so that little is lost when a process is killed. (Where a run alone is
/// longer than that, a unit is as long as its run.)
const UPDATES_A_UNIT: f64 = (1 << 24) as f64;

/// How many settings a block has at least (they fill the lanes) and at most (they share a stream).
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
    /// The number.
    pub fn count(self) -> u64 {
        match self {
            Self::Episodes(n) | Self::Steps(n) => n,
        }
    }

    /// The unit: also the key in files and the axis of curves.
    pub fn word(self) -> &'static str {
        match self {
            Self::Episodes(_) => "episodes",
            Self::Steps(_) => "steps",
        }
    }
}

/// What an experiment's settings differ in.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A word or name.
    Text(String),
    /// A number.
    Number(f64),
}

/// A problem with a behaviour and an interest. Several if any of them is swept.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    pub(crate) world: World,
    /// The same as a source of experience.
    pub(crate) source: Arc<dyn Source>,
    /// What parts may look at.
    pub(crate) sights: Sights,
    /// What is recorded, column by column.
    pub(crate) measures: Vec<Arc<dyn Measure>>,
    /// What tells it from other scenarios, for the table of settings.
    pub(crate) columns: Vec<(&'static str, Cell)>,
}

impl Scenario {
    fn new(world: World, columns: Vec<(&'static str, Cell)>) -> Self {
        let source = source::of(&world);
        Self { sights: Sights::of(&*source), source, world, measures: Vec::new(), columns }
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

/// An experiment: a file that makes sense.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// What all randomness comes from.
    pub seed: u64,
    /// How many runs.
    pub runs: u32,
    /// How long a run lasts.
    pub length: Length,
    /// How often quantities are recorded in a run, not counting the time before it begins.
    pub evaluations: u64,
    /// On how many fresh runs the best settings are judged.
    pub fresh_runs: u32,
    /// The methods.
    pub methods: Vec<Method>,
    pub(crate) select: Select,
    pub(crate) record: Vec<String>,
    pub(crate) scenarios: Vec<Scenario>,
    variants: Vec<Variant>,
    blocks: Vec<Range<usize>>,
    /// The file, and a problem file it names.
    text: String,
    runs_span: Range<usize>,
    problem_files: Vec<KeptFile>,
}

/// More units of work than can be dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the settings make {blocks} blocks, of each of which at most {most} runs are possible: ask for fewer runs, or sweep fewer settings"
)]
pub struct TooManyUnits {
    /// How many blocks of settings there are.
    pub blocks: usize,
    /// How many runs of them there may be.
    pub most: usize,
}

/// A problem file that an experiment names.
#[derive(Clone, Debug)]
struct KeptFile {
    text: String,
    span: Range<usize>,
    /// Its name beside the results.
    name: String,
}

impl KeptFile {
    /// Where it is kept, seen from the results.
    fn path(&self) -> String {
        format!("{PROBLEMS}/{}", self.name)
    }
}

/// The name that a file of this name is kept under: one that every file system takes, with room for what is put before and behind it.
fn keepable(name: &str) -> String {
    const LONGEST: usize = 100;
    let plain = |c: char| if c.is_alphanumeric() || ".-_ ".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "toml"));
    format!("{}.{extension}", &stem[..stem.floor_char_boundary(LONGEST)])
}

impl Experiment {
    /// Reads an experiment file. Problem files it names are looked for beside it.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        let text = read_text(path)?;
        let beside = path.parent().unwrap_or(Path::new(""));
        Ok(Self::parse(&text, &path.display().to_string(), beside)?)
    }

    /// Understands the text of an experiment file called `name`; problem files are looked for in `beside`.
    pub fn parse(text: &str, name: &str, beside: &Path) -> Result<Self, FileError> {
        Self::understand(text, beside).map_err(|wrong| wrong.in_file(name, text))
    }

    fn understand(text: &str, beside: &Path) -> Result<Self, Mistake> {
        let file: ExperimentFile = toml::from_str(text).map_err(|error| Mistake::toml(&error, text))?;
        let seed = whole(file.seed.as_ref(), "seed", 0..=u64::MAX)?.unwrap_or(0);
        // Fresh streams have numbers beyond these.
        let runs = whole(Some(&file.runs), "runs", 1..=MOST_RUNS)?.unwrap_or(1);
        let fresh_runs = whole(file.fresh_runs.as_ref(), "fresh_runs", 0..=MOST_RUNS)?.unwrap_or(0);
        let length = length(&file)?;
        let evaluations =
            whole(file.evaluations.as_ref(), "evaluations", 1..=length.count().min(MOST_EVALUATIONS))
                .map_err(|wrong| {
                    wrong.maybe_help(Some(format!("a run has {} {}", length.count(), length.word())))
                })?;
        let select = match &file.select {
            Some(select) => select.single("select")?.value,
            None => Select::Final,
        };

        let mut problem_files = Vec::new();
        let mut scenarios = scenarios(&file, beside, &mut problem_files)?;
        if let Length::Episodes(_) = length
            && scenarios.iter().any(|s| s.world.episode_length().is_none())
        {
            return Err(Mistake::at(
                &file.problem.span,
                "episodes of this problem never end under its behaviour",
            )
            .help("give `steps` instead of `episodes`"));
        }
        let record = record(&file, &mut scenarios)?;
        let mut variants: Vec<Variant> = Vec::new();
        let mut methods: Vec<Method> = Vec::new();
        if file.method.get_ref().is_empty() {
            return Err(
                Mistake::at(&file.method.span(), "there are no methods").help("add a [[method]] table")
            );
        }
        for method in file.method.get_ref() {
            let first = variants.len();
            let method_number = methods.len();
            methods.push(method::method(method, method_number, &scenarios, &mut variants)?);
            if let Some(twin) =
                methods[..method_number].iter().find(|m| m.name == methods[method_number].name)
            {
                let message = format!("there are two methods named `{}`", twin.name);
                return Err(Mistake::at(&method.span(), message).help("give each a `name` of its own"));
            }
            check_separate(method.get_ref(), &variants[first..])?;
        }
        if let Some(fresh) = &file.fresh_runs
            && fresh_runs > 0
            && !record.iter().any(|name| name == "objective")
        {
            return Err(Mistake::at(&fresh.span, "fresh runs need the objective, but it is not recorded")
                .help("add \"objective\" to `record`: by it the best settings are chosen"));
        }
        let mut experiment = Self {
            seed,
            runs: runs as u32,
            length,
            evaluations: evaluations.unwrap_or(length.count().min(50)),
            fresh_runs: fresh_runs as u32,
            methods,
            select,
            record,
            scenarios,
            variants,
            blocks: Vec::new(),
            text: text.to_owned(),
            runs_span: file.runs.span.clone(),
            problem_files,
        };
        let kinds = experiment.cut_into_blocks();
        experiment.check_units().map_err(|error| Mistake::at(&file.runs.span, error.to_string()))?;
        if kinds.saturating_mul(experiment.fresh_runs as usize) > MOST_UNITS {
            let span = file.fresh_runs.as_ref().map_or(&file.runs.span, |fresh| &fresh.span);
            let most = MOST_UNITS / kinds;
            let message = format!("at most {most} fresh runs are possible of {kinds} kinds of settings");
            return Err(Mistake::at(span, message));
        }
        Ok(experiment)
    }

    /// Whether its units can be held in memory.
    fn check_units(&self) -> Result<(), TooManyUnits> {
        let (blocks, most) = (self.blocks.len(), MOST_UNITS / self.blocks.len().max(1));
        if self.runs as usize <= most { Ok(()) } else { Err(TooManyUnits { blocks, most }) }
    }

    /// The same with another number of runs.
    pub fn with_runs(mut self, runs: u32) -> Result<Self, TooManyUnits> {
        let runs = runs.clamp(1, MOST_RUNS as u32);
        self.runs = runs;
        self.check_units()?;
        let text = runs.to_string();
        let grown = text.len() as isize - self.runs_span.len() as isize;
        self.text.replace_range(self.runs_span.clone(), &text);
        for file in self.problem_files.iter_mut().filter(|file| file.span.start > self.runs_span.start) {
            file.span = file.span.start.wrapping_add_signed(grown)..file.span.end.wrapping_add_signed(grown);
        }
        self.runs_span.end = self.runs_span.start + text.len();
        Ok(self)
    }

    /// The files that belong to it: `experiment.toml` as run, and the problem files it names, under names that
    /// `experiment.toml` has for them.
    pub fn files(&self) -> Vec<(String, String)> {
        let mut text = self.text.clone();
        let mut files: Vec<&KeptFile> = self.problem_files.iter().collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.span.start));
        for file in &files {
            text.replace_range(file.span.clone(), &Value::from(file.path()).to_string());
        }
        let mut all = vec![("experiment.toml".to_owned(), text)];
        all.extend(files.into_iter().map(|file| (file.path(), file.text.clone())));
        all
    }

    /// What its results depend on. The number of runs is not part of it, since more can be added.
    pub fn identity(&self) -> Value {
        let cells = |columns: &[(&'static str, Cell)]| -> Value {
            columns.iter().map(|(name, cell)| ((*name).to_owned(), cell.json())).collect()
        };
        let variant = |v: &Variant| {
            json!({
                "method": self.methods[v.method].name,
                "scenario": v.structure.scenario,
                "values": cells(&v.columns),
                "weights": v.weights,
                "grid": v.axes.iter().map(|a| (a.column.clone(), json!(a.values))).collect::<Value>(),
            })
        };
        // A problem file is known by what it says, not by where it lies.
        let by_name = |(name, cell): &&(&'static str, Cell)| {
            !(*name == "problem"
                && matches!(cell, Cell::Text(path) if path.ends_with(".toml") || path.ends_with(".json")))
        };
        let problem = |s: &Scenario| cells(&s.columns.iter().filter(by_name).cloned().collect::<Vec<_>>());
        json!({
            "seed": self.seed,
            self.length.word(): self.length.count(),
            "evaluations": self.evaluations,
            "record": self.record,
            "problems": self.scenarios.iter().map(problem).collect::<Vec<_>>(),
            "problem_files": self.problem_files.iter().map(|f| fingerprint(&json!(f.text))).collect::<Vec<_>>(),
            "methods": self.variants.iter().map(variant).collect::<Vec<_>>(),
        })
    }

    /// How many settings there are.
    pub fn settings(&self) -> usize {
        self.variants.last().map_or(0, |v| v.settings.end)
    }

    /// How many units there are.
    pub fn units(&self) -> usize {
        self.blocks.len() * self.runs as usize
    }

    /// One setting of each kind: the others differ from one of them in numbers alone.
    pub(crate) fn first_of_each_kind(&self) -> impl Iterator<Item = usize> {
        self.variants.iter().map(|v| v.settings.start)
    }

    /// About how many steps a run in the scenario has.
    pub(crate) fn expected_steps(&self, scenario: usize) -> f64 {
        let per_episode = self.scenarios[scenario].world.episode_length().unwrap_or(1.0);
        match self.length {
            Length::Episodes(n) => n as f64 * per_episode,
            Length::Steps(n) => n as f64,
        }
    }

    /// About how many updates all its runs make.
    pub fn expected_updates(&self) -> f64 {
        let of = |v: &Variant| v.settings.len() as f64 * self.expected_steps(v.structure.scenario);
        self.variants.iter().map(of).sum::<f64>() * f64::from(self.runs)
    }

    /// The blocks that settings are cut into: lists of settings that differ in numbers alone, so that they fit in the
    /// lanes of one learner. They depend on nothing but the file.
    pub(crate) fn blocks(&self) -> &[Range<usize>] {
        &self.blocks
    }

    /// Gives the number of kinds of settings, which share no lanes.
    fn cut_into_blocks(&mut self) -> usize {
        let (mut first, mut kinds) = (0, 0);
        while first < self.variants.len() {
            let structure = &self.variants[first].structure;
            let alike = self.variants[first..].iter().take_while(|v| v.structure == *structure).count();
            let settings = self.variants[first].settings.start..self.variants[first + alike - 1].settings.end;
            let size = UPDATES_A_UNIT / self.expected_steps(structure.scenario).max(1.0);
            let size = (size as usize).clamp(BLOCK.start, BLOCK.end) / BLOCK.start * BLOCK.start;
            let a_row = self.numbers_a_row(settings.start);
            let a_setting = a_row.saturating_mul(self.evaluations as usize + 1).max(1);
            let size = size.min(NUMBERS_A_UNIT / a_setting).max(1);
            let cut = |start: usize| start..(start + size).min(settings.end);
            self.blocks.extend(settings.clone().step_by(size).map(cut));
            first += alike;
            kinds += 1;
        }
        kinds
    }

    /// What is recorded: the name of each column, and whether its values are lists.
    pub(crate) fn measured(&self) -> impl Iterator<Item = (&str, bool)> {
        // It is the same in all scenarios.
        let measures = self.scenarios.first().map_or(&[][..], |scenario| &scenario.measures);
        self.record.iter().zip(measures).map(|(name, measure)| (name.as_str(), measure.is_list()))
    }

    /// How many numbers are recorded of a setting at an evaluation.
    pub(crate) fn numbers_a_row(&self, setting: usize) -> usize {
        let weights = self.weights(setting).len();
        self.measured().map(|(_, is_list)| if is_list { weights } else { 1 }).sum()
    }

    fn variant(&self, setting: usize) -> &Variant {
        let after = self.variants.partition_point(|v| v.settings.start <= setting);
        &self.variants[after - 1]
    }

    /// What a setting has in common with others that can share its lanes.
    pub(crate) fn structure(&self, setting: usize) -> &Structure {
        &self.variant(setting).structure
    }

    /// What a setting's learner is made of, if it learns from the stream with this number.
    pub(crate) fn recipe(&self, setting: usize, stream: u64) -> Recipe {
        self.variant(setting).recipe(setting, self.seed, stream)
    }

    /// The policy's weights at the start.
    pub(crate) fn weights(&self, setting: usize) -> &[f64] {
        &self.variant(setting).weights
    }

    /// The number of a setting's method.
    pub fn method_of(&self, setting: usize) -> usize {
        self.variant(setting).method
    }

    /// All of a setting's values by name, as in the table of settings.
    pub fn cells(&self, setting: usize) -> Vec<(&str, Cell)> {
        let variant = self.variant(setting);
        let mut cells = vec![("method", Cell::Text(self.methods[variant.method].name.clone()))];
        cells.extend(self.scenarios[variant.structure.scenario].columns.iter().cloned());
        cells.extend(variant.columns.iter().cloned());
        cells.extend(variant.numbers(setting).map(|(axis, x)| (axis.column.as_str(), Cell::Number(x))));
        cells
    }
}

impl Cell {
    pub(crate) fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(x) => json!(x),
        }
    }
}

fn whole(
    sweep: Option<&Sweep<Whole>>,
    key: &str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u64>, Mistake> {
    let Some(sweep) = sweep else { return Ok(None) };
    let Located { value: Whole(x), span } = sweep.single(key)?;
    if range.contains(x) {
        return Ok(Some(*x));
    }
    let (least, most) = range.into_inner();
    Err(Mistake::at(span, format!("`{key}` is {x}; it must lie between {least} and {most}")))
}

fn length(file: &ExperimentFile) -> Result<Length, Mistake> {
    // Beyond this a number of steps could not be told from its neighbours.
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

/// What was recorded is what the columns are called.
fn record(file: &ExperimentFile, scenarios: &mut [Scenario]) -> Result<Vec<String>, Mistake> {
    let objective = [Spanned::new(0..0, "objective".to_owned())];
    let wanted = file.record.as_ref().map_or(&objective[..], |record| record.get_ref());
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let mut in_first = Vec::new();
        for scenario in &mut *scenarios {
            let these =
                measure::named(name.get_ref(), &scenario.world).map_err(|error| error.at(&name.span()))?;
            let (these, measures): (Vec<String>, Vec<_>) = these.into_iter().unzip();
            scenario.measures.extend(measures);
            if !in_first.is_empty() && in_first != these {
                let message =
                    format!("`{}` is not the same in all problems of this experiment", name.get_ref());
                return Err(Mistake::at(&name.span(), message).help("name an action that all of them have"));
            }
            in_first = these;
        }
        for column in in_first {
            if names.contains(&column) {
                return Err(Mistake::at(&name.span(), format!("`{column}` is recorded twice")));
            }
            names.push(column);
        }
    }
    if let (Some(record), true) = (&file.record, names.is_empty()) {
        return Err(
            Mistake::at(&record.span(), "nothing is recorded").help("leave `record` out for the objective")
        );
    }
    Ok(names)
}

fn check_separate(file: &crate::file::MethodFile, variants: &[Variant]) -> Result<(), Mistake> {
    for key in file.separate.iter().flatten() {
        let texts = variants.iter().flat_map(|v| &v.columns).map(|(name, _)| *name);
        let numbers = variants.iter().flat_map(|v| &v.axes).map(|axis| axis.column.as_str());
        let known: Vec<&str> = texts.chain(numbers).collect();
        if !known.contains(&key.get_ref().as_str()) {
            let message = format!("the method has no setting `{}`", key.get_ref());
            let mut once = known;
            once.sort_unstable();
            once.dedup();
            return Err(
                Mistake::at(&key.span(), message).maybe_help(suggest(key.get_ref(), once.into_iter()))
            );
        }
    }
    Ok(())
}

/// All combinations of problem, behaviour and interest.
fn scenarios(
    file: &ExperimentFile,
    beside: &Path,
    problem_files: &mut Vec<KeptFile>,
) -> Result<Vec<Scenario>, Mistake> {
    let mut scenarios = Vec::new();
    for problem in file.problem.several("problem")? {
        scenarios.extend(problems(problem, beside, problem_files)?);
    }
    if let Some(behaviours) = &file.behaviour {
        let with = |s: &Scenario, b: &Behaviour| s.world.with_behaviour(b);
        scenarios = each(&scenarios, behaviours, "behaviour", with, behaviour_text)?;
    }
    if let Some(interests) = &file.interest {
        let with = |s: &Scenario, i: &Interest| s.world.with_interest(i);
        scenarios = each(&scenarios, interests, "interest", with, interest_text)?;
    }
    Ok(scenarios)
}

fn each<T>(
    scenarios: &[Scenario],
    sweep: &Sweep<T>,
    key: &'static str,
    with: impl Fn(&Scenario, &T) -> Result<World, ValueError>,
    text: impl Fn(&T) -> String,
) -> Result<Vec<Scenario>, Mistake> {
    let values = sweep.several(key)?;
    let count = scenarios.len().saturating_mul(values.len());
    if count > MOST_SCENARIOS {
        let message = format!("the lists make {count} problems; at most {MOST_SCENARIOS} are possible");
        return Err(Mistake::at(&sweep.span, message).help("shorten some lists"));
    }
    let mut all = Vec::new();
    for scenario in scenarios {
        for Located { value, span } in values {
            let world = with(scenario, value).map_err(|error| error.at(span))?;
            let mut columns = scenario.columns.clone();
            columns.push((key, Cell::Text(text(value))));
            all.push(Scenario::new(world, columns));
        }
    }
    Ok(all)
}

fn behaviour_text(behaviour: &Behaviour) -> String {
    let table = match behaviour {
        Behaviour::Word(_) => return "uniform".to_owned(),
        Behaviour::Table(table) => table,
    };
    let share = |share: &Share| match share {
        Share::Number(x) => x.0.to_string(),
        Share::InState(table) => table_text(table),
    };
    let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", share(value))).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn table_text(table: &BTreeMap<String, Number>) -> String {
    let entries: Vec<String> = table.iter().map(|(key, x)| format!("{key} = {}", x.0)).collect();
    format!("{{ {} }}", entries.join(", "))
}

fn interest_text(interest: &Interest) -> String {
    match interest {
        Interest::Everywhere(x) => x.0.to_string(),
        Interest::ByState(table) => table_text(table),
    }
}

fn problems(
    problem: &Located<ProblemValue>,
    beside: &Path,
    problem_files: &mut Vec<KeptFile>,
) -> Result<Vec<Scenario>, Mistake> {
    let (name, span, steps) = match &problem.value {
        ProblemValue::Name(name) => (name, problem.span.clone(), None),
        ProblemValue::Table(table) => (table.name.get_ref(), table.name.span(), table.steps.as_ref()),
    };
    let scenario = |world: World| Scenario::new(world, vec![("problem", Cell::Text(name.clone()))]);
    if let Some(steps) = steps
        && name != "long-counterexample"
    {
        let message = format!("the problem `{name}` has no `steps`");
        return Err(
            Mistake::at(&steps.span, message).help("only `long-counterexample` has chains of some length")
        );
    }
    match name.as_str() {
        "counterexample" => Ok(vec![scenario(World::Finite(Arc::new(Task::counterexample())))]),
        "continuous-counterexample" => {
            Ok(vec![scenario(World::Continuous(Arc::new(ContinuousCounterexample::default())))])
        }
        "long-counterexample" => {
            let lengths = match steps {
                Some(sweep) => sweep.several("steps")?,
                None => &[Located { value: Whole(5), span: span.clone() }],
            };
            let mut all = Vec::new();
            for Located { value: Whole(steps), span } in lengths {
                if !(1..=MOST_CHAIN).contains(steps) {
                    let message = format!("`steps` is {steps}; it must lie between 1 and {MOST_CHAIN}");
                    return Err(Mistake::at(span, message));
                }
                let mut one = scenario(World::Finite(Arc::new(Task::long_counterexample(*steps as usize))));
                one.columns.push(("problem_steps", Cell::Number(*steps as f64)));
                all.push(one);
            }
            Ok(all)
        }
        path if path.ends_with(".toml") || path.ends_with(".json") => {
            let full = beside.join(path);
            let text = read_text(&full).map_err(|error| {
                let help = "the path of a problem file is relative to the experiment file";
                let is_path = matches!(error, ReadError::Io { .. });
                Mistake::at(&span, error.to_string()).maybe_help(is_path.then(|| help.to_owned()))
            })?;
            let base =
                Path::new(path).file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
            from_file(&text, &full.display().to_string(), base, span, problem_files)
        }
        _ => match shipped::find(name) {
            Some(shipped) => from_file(shipped.text, name, format!("{name}.toml"), span, problem_files),
            None => {
                let help = suggest(name, SHIPPED.iter().map(|shipped| shipped.name));
                let help = help.map(|help| format!("{help} (a problem file's path ends in .toml or .json)"));
                Err(Mistake::at(&span, format!("there is no problem `{name}`")).maybe_help(help))
            }
        },
    }
}

/// The problem of this text, which is kept beside the results under a name that no other has.
fn from_file(
    text: &str,
    full: &str,
    base: String,
    span: Range<usize>,
    problem_files: &mut Vec<KeptFile>,
) -> Result<Vec<Scenario>, Mistake> {
    let file =
        ProblemFile::from_text(text, full).map_err(|wrong| wrong.in_other_file(full.to_owned(), text))?;
    // Some file systems do not tell capital letters from small ones.
    let taken = |name: &str| problem_files.iter().any(|f| f.name.to_lowercase() == name.to_lowercase());
    let base = keepable(&base);
    let numbered = (1..).map(|k| keepable(&format!("{k}-{base}")));
    let own = std::iter::once(base.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(base);
    problem_files.push(KeptFile { text: text.to_owned(), span, name: own.clone() });
    Ok(vec![Scenario::new(file.world, vec![("problem", Cell::Text(own))])])
}
