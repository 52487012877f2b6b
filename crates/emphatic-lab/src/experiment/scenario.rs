//! The problems of an experiment: every combination of problem, behaviour and interest.

use super::part::DEFAULT_FEATURES;
use super::policies::{self, Policies};
use super::{Cell, simulation, with_behaviour};
use crate::behaviour_file::{BehaviourFile, MixturePart};
use crate::experiment_file::{ExperimentFile, ProblemValue};
use crate::measure::DynMeasure;
use crate::one_or_list::{Located, OneOrList};
use crate::source::{self, ExternalEnvironment, ExternalError, Simulator, Source};
use crate::store::PROBLEMS;
use emphatic::{ContinuousCounterexample, Exact, Features, Fixed, KnownProblem, Table, Task};
use emphatic_diagnosis::diagnose::uncovered;
use emphatic_problems::{
    Behaviour, Interest, InterestWord, Mistake, ProblemFile, ReadError, SHIPPED, Share, Target, TargetEntry,
    TargetValue, ValueError, Whole, read_text, shipped, suggest,
};
use emphatic_text::exact_number;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The most problems that a file may ask for: each is solved.
const MOST_SCENARIOS: usize = 10_000;

/// The longest chains of the long counterexample that a file may ask for.
const MOST_CHAIN: u64 = 10_000;

/// Finds an environment that lives elsewhere by its name in files.
pub type FindExternal<'a> = dyn Fn(&str) -> Result<Arc<dyn ExternalEnvironment>, ExternalError> + 'a;

/// Where what a file names is looked for.
#[derive(Clone, Copy)]
pub(super) struct Surroundings<'a> {
    /// Problem files.
    pub(super) beside: &'a Path,
    /// Environments that live elsewhere.
    pub(super) find_external: Option<&'a FindExternal<'a>>,
}

/// Where experience comes from.
#[derive(Clone, Debug)]
pub(crate) enum World {
    /// A problem that is known exactly.
    Known(KnownProblem),
    /// A simulator.
    Simulated(Arc<Simulator>),
}

/// A problem with a behaviour and an interest.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    world: World,
    /// The same as a source of experience.
    pub(crate) source: Arc<dyn Source>,
    /// The features that parts may learn from, by name.
    features: Vec<(&'static str, Features)>,
    /// What is recorded, column by column.
    pub(crate) measures: Vec<Arc<dyn DynMeasure>>,
    /// The columns of the table of settings that distinguish it from other scenarios.
    pub(crate) columns: Vec<(String, Cell)>,
    /// The name of its problem, if that is no file.
    pub(super) problem: Option<String>,
    /// The target that the experiment or the problem names.
    target: Option<Target>,
    /// The same by its probabilities, if it is to be evaluated.
    pub(crate) evaluated: Option<Fixed>,
    /// The mean number of steps in an episode, once it is known.
    episode_length: OnceLock<Option<f64>>,
}

impl Scenario {
    pub(super) fn new(world: World, columns: Vec<(String, Cell)>) -> Self {
        let source: Arc<dyn Source> = match &world {
            World::Known(known) => source::of(known),
            World::Simulated(simulator) => simulator.clone(),
        };
        let (measures, problem, target, evaluated) = (Vec::new(), None, None, None);
        let (features, episode_length) = (source.features(), OnceLock::new());
        Self { features, source, world, measures, columns, problem, target, evaluated, episode_length }
    }

    /// Returns the problem, if it is known exactly.
    pub(crate) fn known(&self) -> Option<&KnownProblem> {
        if let World::Known(known) = &self.world { Some(known) } else { None }
    }

    /// Returns the simulator, if it is one.
    pub(crate) fn simulator(&self) -> Option<&Arc<Simulator>> {
        if let World::Simulated(simulator) = &self.world { Some(simulator) } else { None }
    }

    /// Returns an action that the behaviour never takes in a simulator, whatever is observed.
    pub(super) fn never_taken(&self) -> Vec<&str> {
        let Some(simulator) = self.simulator() else { return Vec::new() };
        let (source::Actions::Finite(names), source::Behaviour::Fixed(shares)) =
            (&simulator.interface.actions, &simulator.behaviour)
        else {
            return Vec::new();
        };
        let never = names.iter().zip(shares).filter(|(_, share)| **share == 0.0);
        never.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the mean number of steps in an episode of the behaviour; `None` if episodes never end.
    pub(super) fn episode_length(&self) -> Option<f64> {
        // In a simulator it takes a trial.
        *self.episode_length.get_or_init(|| match &self.world {
            World::Known(known) => known.episode_length(),
            World::Simulated(simulator) => simulator.episode_length(),
        })
    }

    /// The same in another world.
    pub(super) fn with_world(&self, world: World) -> Self {
        let (problem, target) = (self.problem.clone(), self.target.clone());
        Self { problem, target, ..Self::new(world, self.columns.clone()) }
    }

    /// The same with another behaviour.
    fn with_behaviour(&self, behaviour: &BehaviourFile, policies: &Policies) -> Result<Self, ValueError> {
        Ok(self.with_world(match (&self.world, behaviour) {
            (World::Known(known), BehaviourFile::Plain(behaviour)) => {
                World::Known(behaviour.applied_to(known)?)
            }
            (World::Known(_), _) => {
                let message =
                    "saved policies and mixtures act in simulators, and this problem is known exactly";
                return Err(ValueError::new(message)
                    .help("give the probabilities of its actions, by state if need be"));
            }
            (World::Simulated(simulator), _) => {
                World::Simulated(with_behaviour(simulator, behaviour, policies)?)
            }
        }))
    }

    /// The same with another interest.
    fn with_interest(&self, interest: &Interest) -> Result<Self, ValueError> {
        Ok(self.with_world(match &self.world {
            World::Known(known) => World::Known(interest.applied_to(known)?),
            World::Simulated(simulator) => {
                let interest = simulation::interest(interest)?;
                World::Simulated(Arc::new(Simulator { interest, ..(**simulator).clone() }))
            }
        }))
    }

    /// The same with another target.
    fn with_target(&self, value: &TargetValue) -> Result<Self, ValueError> {
        let Some(known) = self.known() else {
            let message = "a simulator has no states in which a target could be given";
            return Err(
                ValueError::new(message).help("give methods that learn a policy: `algorithm` and `alpha`")
            );
        };
        Ok(Self { target: Some(value.in_problem(known)?), ..self.clone() })
    }

    /// Replaces the features that critics see.
    pub(super) fn set_critic_features(&mut self, table: Table) {
        let critic = self.features.iter_mut().find(|(name, _)| *name == DEFAULT_FEATURES);
        critic.into_iter().for_each(|(_, features)| *features = (&table).into());
    }

    /// Prepares the target to be evaluated, or returns the reason why it cannot be.
    pub(super) fn evaluate_target(&mut self) -> Result<(), ValueError> {
        let World::Known(KnownProblem::Finite(task)) = &self.world else {
            let message = match &self.world {
                World::Known(_) => {
                    "the action of this problem is a real number, and a target that is evaluated has finitely many actions"
                }
                World::Simulated(_) => {
                    "a target is evaluated in problems that are known exactly, not in a simulator"
                }
            };
            return Err(
                ValueError::new(message).help("give methods that learn a policy: `algorithm` and `alpha`")
            );
        };
        let Some(fixed) = self.target.as_ref().and_then(|target| target.fixed(task)) else {
            let actions = task.problem().actions();
            let first = format!("target = {{ {} = 1 }}", actions.first().map_or("A0", String::as_str));
            let message = "these methods learn no policy, but neither the experiment nor the problem has a `target` that they could evaluate";
            return Err(ValueError::new(message)
                .help(format!("{first}; or, for methods that learn a policy, `algorithm` and `alpha`")));
        };
        let fixed = fixed?;
        Exact::<f64, _, _>::new(&**task, &fixed, &[])?; // Its values exist.
        self.evaluated = Some(fixed);
        Ok(())
    }

    /// Returns a state and an action that the target takes there and the behaviour never does, if the target is evaluated.
    pub(super) fn uncovered(&self) -> Option<(String, String)> {
        self.evaluated.as_ref()?;
        uncovered(self.known()?, self.target.as_ref()?).into_iter().next()
    }

    /// Returns what distinguishes it from other scenarios, in words.
    pub(super) fn title(&self) -> String {
        let text = |(name, cell): &(String, Cell)| match cell {
            Cell::Text(text) if name == "problem" => format!("`{text}`"),
            Cell::Text(text) => format!("{name} = {text}"),
            Cell::Number(x) => format!("{name} = {}", exact_number(*x)),
        };
        self.columns.iter().map(text).collect::<Vec<_>>().join(", ")
    }

    /// Returns the features of this name, or which names would be right.
    pub(super) fn features(&self, name: &str) -> Result<&Features, ValueError> {
        let found = self.features.iter().find(|(known, _)| *known == name);
        found.map(|(_, features)| features).ok_or_else(|| {
            ValueError::new(format!("there are no features `{name}`"))
                .maybe_help(suggest(name, self.features.iter().map(|(known, _)| *known)))
        })
    }
}

/// A problem file that an experiment names. A copy of it is kept beside the results.
#[derive(Clone, Debug)]
pub(super) struct ProblemCopy {
    pub(super) text: String,
    /// Where the experiment file names it, and whether that is in a table.
    pub(super) span: Range<usize>,
    in_table: bool,
    /// The name of the copy.
    name: String,
    /// What it is called in tables, if neither the copy's name nor the file tells.
    label: Option<String>,
}

impl ProblemCopy {
    /// Returns the path of the copy, relative to the results.
    pub(super) fn path(&self) -> String {
        format!("{PROBLEMS}/{}", self.name)
    }

    /// Returns what takes the place of its name in the text of the experiment, so that the copy is read, and is called as the file was.
    pub(super) fn replacement(&self, text: &str) -> String {
        let path = toml_text(&self.path());
        let Some(label) = self.label.as_deref().map(toml_text) else { return path };
        if !self.in_table {
            return format!("{{ name = {path}, label = {label} }}");
        }
        let line = text[..self.span.start].rsplit('\n').next().unwrap_or_default();
        let key = line.trim_end().strip_suffix('=').map(str::trim_end);
        match key.and_then(|key| key.strip_suffix("name")) {
            // Of an inline table, or of one that is written line by line.
            Some(before) if before.trim_end().ends_with(['{', ',']) => format!("{path}, label = {label}"),
            Some(before) => format!("{path}\n{before}label = {label}"),
            None => path,
        }
    }
}

/// Returns a text as TOML writes it. JSON leaves DEL as it is, which TOML does not allow.
fn toml_text(text: &str) -> String {
    Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

/// Returns a name for the copy of a file that every file system accepts, even with something before and behind it.
pub(super) fn portable(name: &str) -> String {
    const LONGEST: usize = 100;
    let plain = |c: char| if c.is_alphanumeric() || ".-_ ".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, "toml"));
    format!("{}.{extension}", &stem[..stem.floor_char_boundary(LONGEST)])
}

/// The scenarios of an experiment, and the problem files that they come from.
#[derive(Default)]
pub(super) struct Scenarios {
    pub(super) all: Vec<Scenario>,
    pub(super) copies: Vec<ProblemCopy>,
    pub(super) policies: Policies,
}

impl Scenarios {
    /// Reads all combinations of problem, behaviour and interest.
    pub(super) fn read(file: &ExperimentFile, around: Surroundings) -> Result<Self, Mistake> {
        let mut scenarios = Self::default();
        let problems = file.problem.non_empty("problem")?;
        for problem in problems {
            let first = scenarios.all.len();
            let label = label_of(&problem.value, problems);
            scenarios.add(problem, &label, around)?;
            scenarios.check_labels(first, problem)?;
        }
        scenarios.read_simulation(file)?;
        if let Some(behaviours) = &file.behaviour {
            let policies = Policies::read(behaviours, around.beside)?;
            let with =
                |scenario: &Scenario, written: &BehaviourFile| scenario.with_behaviour(written, &policies);
            scenarios.spread(behaviours, "behaviour", at(with), behaviour_text)?;
            scenarios.policies = policies;
        }
        if let Some(interests) = &file.interest {
            scenarios.spread(interests, "interest", at(Scenario::with_interest), interest_text)?;
        }
        if let Some(targets) = &file.target {
            scenarios.spread(targets, "target", at(Scenario::with_target), target_text)?;
        }
        Ok(scenarios)
    }

    /// Replaces every scenario by one for each value of a key.
    pub(super) fn spread<T>(
        &mut self,
        list: &OneOrList<T>,
        key: &'static str,
        with: impl Fn(&Scenario, &Located<T>) -> Result<Scenario, Mistake>,
        text: impl Fn(&T) -> String,
    ) -> Result<(), Mistake> {
        let values = list.non_empty(key)?;
        let count = self.all.len().saturating_mul(values.len());
        if count > MOST_SCENARIOS {
            let message = format!("the lists make {count} problems; at most {MOST_SCENARIOS} are possible");
            return Err(Mistake::at(&list.span, message).help("shorten some lists"));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = values.iter().find(|value| !seen.insert(text(&value.value))) {
            return Err(twice.twice(key));
        }
        let mut all = Vec::new();
        for scenario in &self.all {
            for value in values {
                let mut scenario = with(scenario, value)?;
                scenario.columns.push((key.to_owned(), Cell::Text(text(&value.value))));
                all.push(scenario);
            }
        }
        self.all = all;
        Ok(())
    }

    /// Returns an error if a scenario of a problem, from this one on, is called as another is.
    fn check_labels(&self, first: usize, problem: &Located<ProblemValue>) -> Result<(), Mistake> {
        let is_taken = |k: usize| self.all[..k].iter().any(|other| other.columns == self.all[k].columns);
        if !(first..self.all.len()).any(is_taken) {
            return Ok(());
        }
        match &problem.value {
            ProblemValue::Table(table) if let Some(label) = &table.label => {
                let message = format!("two problems have the label `{}`", label.get_ref());
                Err(Mistake::at(&label.span(), message).help("give each a label of its own"))
            }
            ProblemValue::Table(table) if table.limit.is_some() => {
                Err(problem.twice("problem").help("with another `limit` it needs a `label` of its own"))
            }
            _ => Err(problem.twice("problem")),
        }
    }

    /// Adds the scenarios of one problem, which is called by this label.
    fn add(
        &mut self,
        problem: &Located<ProblemValue>,
        label: &str,
        around: Surroundings,
    ) -> Result<(), Mistake> {
        let (name, span, steps, limit) = match &problem.value {
            ProblemValue::Name(name) => (name, problem.span.clone(), None, None),
            ProblemValue::Table(table) => {
                (table.name.get_ref(), table.name.span(), table.steps.as_ref(), table.limit.as_ref())
            }
        };
        if let ProblemValue::Table(table) = &problem.value
            && let Some(empty) = table.label.as_ref().filter(|label| label.get_ref().trim().is_empty())
        {
            return Err(Mistake::at(&empty.span(), "the label is empty"));
        }
        if let Some(steps) = steps
            && name != "long-counterexample"
        {
            let message = format!("the problem `{name}` has no `steps`");
            return Err(Mistake::at(&steps.span, message)
                .help("only `long-counterexample` has chains of some length"));
        }
        let columns = vec![("problem".to_owned(), Cell::Text(label.to_owned()))];
        if let Some(environment) = simulation::environment(name, &span, around.find_external)? {
            let simulator = simulation::simulator(environment, limit)?;
            let scenario = Scenario::new(World::Simulated(Arc::new(simulator)), columns);
            self.all.push(Scenario { problem: Some(name.to_owned()), ..scenario });
            return Ok(());
        }
        if let Some(limit) = limit {
            let message = format!("the problem `{name}` has no `limit`");
            return Err(Mistake::at(&limit.span, message).help("only simulators have one"));
        }
        match name.as_str() {
            "counterexample" => {
                self.add_known(KnownProblem::Finite(Arc::new(Task::counterexample())), name, columns)
            }
            "continuous-counterexample" => {
                let problem = ContinuousCounterexample::default();
                self.add_known(KnownProblem::Continuous(Arc::new(problem)), name, columns);
            }
            "long-counterexample" => self.add_chains(steps, &span, &columns)?,
            path if path.ends_with(".toml") || path.ends_with(".json") => {
                let full = around.beside.join(path);
                let text = read_text(&full).map_err(|error| {
                    let help = "the path of a problem file is relative to the experiment file";
                    let is_path = matches!(error, ReadError::Io { .. });
                    Mistake::at(&span, error.to_string()).maybe_help(is_path.then(|| help.to_owned()))
                })?;
                let file_name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
                self.add_file(&text, &full.display().to_string(), &file_name, problem, label)?;
            }
            _ => match shipped::find(name) {
                Some(shipped) => {
                    self.add_file(shipped.text, name, &format!("{name}.toml"), problem, label)?;
                }
                None => return Err(unknown_problem(name, &span)),
            },
        }
        Ok(())
    }

    /// Adds a problem that is no file.
    fn add_known(&mut self, known: KnownProblem, name: &str, columns: Vec<(String, Cell)>) {
        let scenario = Scenario::new(World::Known(known), columns);
        self.all.push(Scenario { problem: Some(name.to_owned()), ..scenario });
    }

    /// Adds long counterexamples with chains of these lengths.
    fn add_chains(
        &mut self,
        steps: Option<&OneOrList<Whole>>,
        span: &Range<usize>,
        columns: &[(String, Cell)],
    ) -> Result<(), Mistake> {
        let default = [Located { value: Whole(5), span: span.clone() }];
        let lengths = steps.map_or(Ok(&default[..]), |steps| steps.distinct("steps"))?;
        for Located { value: Whole(steps), span } in lengths {
            if !(1..=MOST_CHAIN).contains(steps) {
                let message = format!("`steps` is {steps}; it must lie between 1 and {MOST_CHAIN}");
                return Err(Mistake::at(span, message));
            }
            let mut columns = columns.to_vec();
            columns.push(("problem_steps".to_owned(), Cell::Number(*steps as f64)));
            let task = Task::long_counterexample(*steps as usize);
            self.add_known(KnownProblem::Finite(Arc::new(task)), "long-counterexample", columns);
        }
        Ok(())
    }

    /// Adds the problem of a file's text, of which a copy is kept under a name that no other has.
    fn add_file(
        &mut self,
        text: &str,
        path: &str,
        file_name: &str,
        problem: &Located<ProblemValue>,
        label: &str,
    ) -> Result<(), Mistake> {
        let file =
            ProblemFile::from_text(text, path).map_err(|error| error.in_other_file(path.to_owned(), text))?;
        // Some file systems do not distinguish capital letters from small ones.
        let is_taken = |name: &str| self.copies.iter().any(|f| f.name.to_lowercase() == name.to_lowercase());
        let plain = portable(file_name);
        let mut name = plain.clone();
        for k in 1.. {
            if !is_taken(&name) {
                break;
            }
            name = portable(&format!("{k}-{plain}"));
        }
        let (span, in_table, has_label) = match &problem.value {
            ProblemValue::Name(_) => (problem.span.clone(), false, false),
            ProblemValue::Table(table) => (table.name.span(), true, table.label.is_some()),
        };
        let kept = (!has_label && name != label).then(|| label.to_owned());
        self.copies.push(ProblemCopy { text: text.to_owned(), span, in_table, name, label: kept });
        let columns = vec![("problem".to_owned(), Cell::Text(label.to_owned()))];
        let scenario = Scenario::new(World::Known(file.known), columns);
        self.all.push(Scenario { target: file.has_target.then_some(file.target), ..scenario });
        Ok(())
    }
}

/// Returns a function of a value that reports errors at its place.
fn at<T>(
    with: impl Fn(&Scenario, &T) -> Result<Scenario, ValueError>,
) -> impl Fn(&Scenario, &Located<T>) -> Result<Scenario, Mistake> {
    move |scenario, value| with(scenario, &value.value).map_err(|error| error.at(&value.span))
}

/// Returns the error of a problem that does not exist.
fn unknown_problem(name: &str, span: &Range<usize>) -> Mistake {
    let simulators = || emphatic_environments::ENVIRONMENTS.iter().map(|listed| listed.description);
    let gymnasium = match is_gymnasium_id(name) {
        true => format!("`gymnasium:{name}` is Gymnasium's environment, if it is run from Python: "),
        false => String::new(),
    };
    let same = simulators().find(|simulator| simulator.gymnasium == Some(name));
    let help = match same {
        Some(same) => Some(format!("the same dynamics are `{}`, which needs no Python", same.name)),
        None => suggest(
            name,
            SHIPPED.iter().map(|shipped| shipped.name).chain(simulators().map(|simulator| simulator.name)),
        ),
    };
    let others = "a problem file's path ends in .toml or .json; an environment of Gymnasium is `gymnasium:NAME`, and is run from Python";
    let help = help.map(|help| format!("{gymnasium}{help} ({others})"));
    Mistake::at(span, format!("there is no problem `{name}`")).maybe_help(help)
}

/// Returns whether a name ends in a version, as Gymnasium's do.
fn is_gymnasium_id(name: &str) -> bool {
    let version = name.rsplit_once("-v").map_or("", |(_, version)| version);
    !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns what a problem is called in tables: its label; the name of its file, or its path if another file has the same name; or its name.
fn label_of(problem: &ProblemValue, all: &[Located<ProblemValue>]) -> String {
    let path = |problem: &ProblemValue| match problem {
        ProblemValue::Name(name) => name.clone(),
        ProblemValue::Table(table) => table.name.get_ref().clone(),
    };
    if let ProblemValue::Table(table) = problem
        && let Some(label) = &table.label
    {
        return label.get_ref().clone();
    }
    let own = path(problem);
    if own.starts_with(simulation::GYMNASIUM) {
        return own;
    }
    let file_name =
        |path: &str| Path::new(path).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_same = |other: &Located<ProblemValue>| {
        let other = path(&other.value);
        other != own && file_name(&other) == file_name(&own)
    };
    if all.iter().any(is_same) { own } else { file_name(&own) }
}

fn behaviour_text(behaviour: &BehaviourFile) -> String {
    match behaviour {
        BehaviourFile::Plain(Behaviour::Word(_)) => "uniform".to_owned(),
        BehaviourFile::Plain(Behaviour::Table(table)) => table_text(table, share_text),
        BehaviourFile::Saved(saved) => {
            let name = policies::name_of(saved.policy.get_ref());
            // A policy may be called like another behaviour.
            let name = name.strip_suffix(".safetensors").filter(|name| *name != "uniform").unwrap_or(&name);
            saved.epsilon.map_or(name.to_owned(), |epsilon| format!("ε = {} of {name}", epsilon.0))
        }
        BehaviourFile::Mixture { mixture } => {
            let part =
                |part: &MixturePart| format!("{} of {}", part.share.0, behaviour_text(&part.behaviour));
            mixture.iter().map(part).collect::<Vec<_>>().join(" + ")
        }
    }
}

fn target_text(target: &TargetValue) -> String {
    let TargetValue::Table(table) = target else { return "uniform".to_owned() };
    table_text(table, |entry| match entry {
        TargetEntry::Share(share) => share_text(share),
        TargetEntry::Weights(weights) => format!("{:?}", weights.iter().map(|x| x.0).collect::<Vec<_>>()),
        TargetEntry::Text(text) => text.clone(),
    })
}

fn share_text(share: &Share) -> String {
    match share {
        Share::Number(x) => x.0.to_string(),
        Share::InState(table) => table_text(table, |x| x.0.to_string()),
    }
}

fn table_text<T>(table: &BTreeMap<String, T>, text: impl Fn(&T) -> String) -> String {
    let entries: Vec<String> = table.iter().map(|(key, value)| format!("{key} = {}", text(value))).collect();
    format!("{{ {} }}", entries.join(", "))
}

pub(super) fn interest_text(interest: &Interest) -> String {
    match interest {
        Interest::Everywhere(x) => x.0.to_string(),
        Interest::Word(InterestWord::All) => "all".to_owned(),
        Interest::Word(InterestWord::Start) => "start".to_owned(),
        Interest::ByState(table) => table_text(table, |x| x.0.to_string()),
    }
}
