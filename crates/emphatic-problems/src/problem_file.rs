//! A problem file, from its text to the problem.
//!
//! ```toml
//! states = ["S0", "S1", "S2"]            # or a number: 3 names them 0, 1, 2
//! actions = ["A0", "A1"]
//! start = "S0"                           # or { S0 = 0.5, S1 = 0.5 }, or "uniform"
//! gamma = 1.0                            # of transitions that do not say
//! behaviour = { A0 = 0.25, A1 = 0.75 }   # or by state: { S0 = { A0 = 1.0 }, ... }, or "uniform"
//! target = { A0 = 0.9, A1 = 0.1 }        # likewise, or { weights = [...] }, or { shortest_path = "S2" }
//! interest = 1.0                         # or { S0 = 1.0, ... }
//! transitions = [
//!   { from = "S0", action = "A0", to = "S1" },
//!   { from = "S0", action = "A1", to = "S2", probability = 1.0, reward = 0.0, gamma = 1.0 },
//!   { from = "S1", action = "A0", reward = 2.0, end = true },
//!   # ...
//! ]
//! [features]
//! actor = { alias = [["S1", "S2"]] }     # or { S0 = [1, 0], S1 = [0, 1], S2 = [0, 1] }; left out: the state itself
//! critic = "states"
//! ```

use crate::features::{FeaturesFile, with_features};
use crate::file_error::{FileError, Mistake, ReadError, ValueError};
use crate::interest::Interest;
use crate::json;
use crate::located::{Located, span};
use crate::names::{Key, Names};
use crate::pattern::{Chain, Grid, Layout, RandomProblem};
use crate::policy::{Behaviour, Target, TargetValue, policy_rows, target, uniform};
use crate::scalar_or_table;
use crate::schema::schema_of;
use crate::shipped;
use crate::suggest::suggest;
use crate::transitions::{
    Dynamics, MOST_TRANSITIONS, NamesValue, Outcome, Transition, listed, place_of, too_many,
};
use crate::values::{Expected, Number};
use emphatic::{KnownProblem, Problem, ProblemError, Task};
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// The largest file that is read. A larger one has millions of lines, for which there are patterns.
const MOST_BYTES: u64 = 100_000_000;

/// A problem file that has been read.
#[derive(Clone, Debug)]
pub struct ProblemFile {
    /// Its name in messages: a path or the name of a problem.
    pub name: String,
    /// The text.
    pub text: String,
    /// The problem with its behaviour and interest.
    pub known: KnownProblem,
    /// The target policy: the one given, or the one that learning starts from.
    pub target: Target,
    /// Whether a target is given.
    pub has_target: bool,
}

impl ProblemFile {
    /// Reads a problem file, or a problem that comes with the program, by its name.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        if let (false, Some(name)) = (path.exists() && !path.is_dir(), path.to_str()) {
            if let Some(shipped) = shipped::find(name) {
                return Ok(Self::parse(shipped.text, shipped.name)?);
            }
            // A name, not a path.
            if !name.contains(['.', '/', '\\']) {
                let help = suggest(name, shipped::SHIPPED.iter().map(|shipped| shipped.name));
                return Err(ReadError::Unknown { name: name.to_owned(), help });
            }
        }
        Ok(Self::parse(&read_text(path)?, &path.display().to_string())?)
    }

    /// Parses the text of a problem file; it is JSON if the name ends in `.json`, else TOML.
    pub fn parse(text: &str, name: &str) -> Result<Self, FileError> {
        Self::from_text(text, name).map_err(|mistake| mistake.in_file(name, text))
    }

    /// Like [`ProblemFile::parse`], for a file that another file names: the caller says in which file a mistake is.
    pub fn from_text(text: &str, name: &str) -> Result<Self, Mistake> {
        let Parsed { known, target, has_target, .. } = parse(text, name)?;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), known, target, has_target })
    }
}

/// The text of a file.
pub fn read_text(path: &Path) -> Result<String, ReadError> {
    let shown = || path.display().to_string();
    let failed = |error| ReadError::Io { path: shown(), error };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(ReadError::TooLarge(shown()));
    }
    // A zero byte is UTF-8, but no text has one.
    let text = String::from_utf8(bytes).ok().filter(|text| !text.contains('\0'));
    text.ok_or_else(|| ReadError::NotText(shown()))
}

/// The JSON Schema of problem files, for editors.
pub fn schema() -> serde_json::Value {
    schema_of::<File>()
}

/// A decision problem with a behaviour.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A decision problem for emphatic")]
pub(crate) struct File {
    /// The names of the states, or how many there are: they are then named 0, 1, 2 …
    pub(crate) states: Option<Located<NamesValue>>,
    /// The names of the actions, or how many there are. Every action exists in every state.
    pub(crate) actions: Option<Located<NamesValue>>,
    /// How every action can turn out in every state.
    pub(crate) transitions: Option<Located<Vec<Located<Transition>>>>,
    /// Instead of states, actions and transitions: a grid.
    grid: Option<Located<Grid>>,
    /// Instead of states, actions and transitions: a chain.
    chain: Option<Located<Chain>>,
    /// Instead of states, actions and transitions: a random problem.
    random: Option<Located<RandomProblem>>,
    /// Instead of states, actions and transitions: a problem that comes with the program, of which this one is a variant.
    problem: Option<Located<String>>,
    /// Where episodes start: a state, a table of probabilities by state, or `uniform`.
    start: Option<Located<Start>>,
    /// The discount of transitions that do not say. Left out, it is 1.
    gamma: Option<Located<Number>>,
    /// The policy that generates the experience: `uniform`, `{ A0 = 0.25, A1 = 0.75 }` in every state, or
    /// `{ S0 = { A0 = 1.0 } }` by state, where the states left out have all actions alike.
    behaviour: Option<Located<Behaviour>>,
    /// The policy that is asked about, or that learning starts from: likewise, `{ weights = [...] }`, or
    /// `{ shortest_path = "STATE" }`. Left out, all weights are 0.
    target: Option<Located<TargetValue>>,
    /// The interest in each state: a number, or a table by state. Left out, it is 1.
    interest: Option<Located<Interest>>,
    /// What actor and critic see of a state. Left out, it is the state itself.
    #[serde(default)]
    features: FeaturesFile,
}

/// Where episodes start.
#[derive(JsonSchema)]
#[schemars(untagged)]
enum Start {
    State(Key),
    Shares(BTreeMap<String, Number>),
}

impl Expected for Start {
    const EXPECTED: &'static str = "a state, a table of probabilities by state, or `uniform`";
}

scalar_or_table!(Start: Key => Start::State, BTreeMap<String, Number> => Start::Shares);

/// The meaning of a problem file.
pub(crate) struct Parsed {
    pub(crate) known: KnownProblem,
    pub(crate) target: Target,
    pub(crate) has_target: bool,
    pub(crate) layout: Layout,
}

/// Parses the text of a problem file. `name` says whether it is JSON.
pub(crate) fn parse(text: &str, name: &str) -> Result<Parsed, Mistake> {
    check_amount(text)?;
    if name.ends_with(".json") {
        return json::read(text, |table| {
            let value = toml::de::ValueDeserializer::parse(table).and_then(File::deserialize);
            value.map_err(|error| Mistake::toml(&error, table))?.meaning()
        });
    }
    toml::from_str::<File>(text).map_err(|error| Mistake::toml(&error, text))?.meaning()
}

/// Refuses a text with more values than can be read in a few gigabytes. A file that is one long map has few values. A table takes
/// about ten times as much memory as a number.
fn check_amount(text: &str) -> Result<(), Mistake> {
    const MOST: u64 = 40_000_000;
    let weight = |byte| match byte {
        b'{' | b'[' => 10,
        b',' | b'=' | b':' => 1,
        _ => 0,
    };
    if text.bytes().map(weight).sum::<u64>() <= MOST {
        return Ok(());
    }
    let message = format!("at most {MOST} values can be read, where a table or a list counts for ten");
    Err(Mistake::whole_file(message).help(
        "a list in `from`, `action` or `to` stands for many transitions, and a pattern (`grid`, `chain`, `random`) for all",
    ))
}

impl File {
    fn meaning(&self) -> Result<Parsed, Mistake> {
        let (mut known, base, layout) = match &self.problem {
            Some(name) => {
                let Parsed { known, target, has_target, layout } = self.variant(name)?;
                (known, Some((target, has_target)), layout)
            }
            None => {
                let (problem, layout) = self.problem()?;
                (KnownProblem::Finite(Arc::new(self.task(problem)?)), None, layout)
            }
        };
        if let Some(interest) = &self.interest {
            known = interest.value.applied_to(&known).map_err(|error| interest.refuse(error))?;
        }
        if let KnownProblem::Finite(task) = &known {
            known =
                KnownProblem::Finite(Arc::new(with_features(&self.features, Task::clone(task), &layout)?));
        } else if let Some(features) = span(&self.features.actor).or(span(&self.features.critic)) {
            return Err(Mistake::at(&features, "the features of this problem cannot be changed"));
        }
        // A variant has the target of its problem, unless the actor's features are others.
        let (target, has_target) = match (base, &self.target, &self.features.actor) {
            (Some(base), None, None) => base,
            _ => (target(self.target.as_ref(), &known)?, self.target.is_some()),
        };
        Ok(Parsed { known, target, has_target, layout })
    }

    /// The problem that this one is a variant of, with the behaviour of the variant.
    fn variant(&self, name: &Located<String>) -> Result<Parsed, Mistake> {
        let excluded = [
            ("states", span(&self.states)),
            ("actions", span(&self.actions)),
            ("transitions", span(&self.transitions)),
            ("grid", span(&self.grid)),
            ("chain", span(&self.chain)),
            ("random", span(&self.random)),
            ("start", span(&self.start)),
            ("gamma", span(&self.gamma)),
        ];
        if let Some((key, span)) = excluded.into_iter().find_map(|(key, span)| Some((key, span?))) {
            let message = format!("`{key}` does not go together with `problem`");
            return Err(Mistake::at(&span, message).help(
                "a variant of a problem changes its `behaviour`, `interest`, `target` or `features`; `emphatic new` writes a copy to change all of it",
            ));
        }
        let mut parsed = shipped::problem(&name.value).ok_or_else(|| {
            let help = suggest(&name.value, shipped::SHIPPED.iter().map(|shipped| shipped.name));
            Mistake::at(&name.span, format!("there is no problem `{}`", name.value)).maybe_help(help)
        })?;
        if let Some(behaviour) = &self.behaviour {
            parsed.known =
                behaviour.value.applied_to(&parsed.known).map_err(|error| behaviour.refuse(error))?;
        }
        Ok(parsed)
    }

    /// The problem with its behaviour.
    fn task(&self, problem: Problem) -> Result<Task, Mistake> {
        let Some(behaviour) = &self.behaviour else { return Err(Mistake::missing("behaviour")) };
        let alike = uniform(problem.actions().len());
        let rows = policy_rows(&problem, &behaviour.value, |_| alike.clone())
            .map_err(|error| behaviour.refuse(error))?;
        Task::new(problem, &rows).map_err(|error| match (&error, self.place_of_transitions()) {
            (ProblemError::Fill { .. }, Some(place)) => Mistake::at(&place, error.to_string()),
            _ => behaviour.refuse(error),
        })
    }

    /// The decision problem, and how its states are arranged.
    fn problem(&self) -> Result<(Problem, Layout), Mistake> {
        let dynamics = self.dynamics()?;
        let start = self.start(&dynamics)?;
        // An end is a transition to each state of the start.
        let transitions = |outcome: &Outcome| if outcome.to.is_some() { 1 } else { start.len() as u64 };
        let transitions: u64 = dynamics.outcomes.iter().map(transitions).sum();
        if transitions > MOST_TRANSITIONS {
            let place = span(&self.start).or_else(|| self.place_of_transitions());
            return Err(too_many(&place.unwrap_or_default(), transitions.into()));
        }
        let gamma = self.gamma()?;
        let mut builder = Problem::builder().states(&dynamics.states).actions(&dynamics.actions);
        for &Outcome { from, action, to, probability, reward, gamma: own } in &dynamics.outcomes {
            builder = match to {
                Some(to) => builder.transition(from, action, to, probability, reward, own.unwrap_or(gamma)),
                None => builder.end(from, action, probability, reward),
            };
        }
        let builder =
            start.iter().fold(builder, |b, &(s, share)| b.start(dynamics.states[s].as_str(), share));
        let problem = builder.build().map_err(|error| self.mistake(error))?;
        Ok((problem, dynamics.layout))
    }

    /// The states, actions and transitions, as listed or from a pattern.
    fn dynamics(&self) -> Result<Dynamics, Mistake> {
        let pattern = match (&self.grid, &self.chain, &self.random) {
            (None, None, None) => return listed(self),
            (Some(grid), None, None) => grid.value.dynamics(&grid.span)?,
            (None, Some(chain), None) => chain.value.dynamics()?,
            (None, None, Some(random)) => random.value.dynamics(self.gamma()?)?,
            (grid, chain, random) => {
                let chain = span(chain).filter(|_| grid.is_some());
                let second = chain.or(span(random)).unwrap_or_default();
                return Err(Mistake::at(&second, "this is a second pattern")
                    .help("a problem follows one pattern: `grid`, `chain` or `random`"));
            }
        };
        match span(&self.states).or(span(&self.actions)).or(span(&self.transitions)) {
            Some(listed) => {
                Err(Mistake::at(&listed, "states, actions and transitions follow from the pattern")
                    .help("leave them out, or leave the pattern out"))
            }
            None => Ok(pattern),
        }
    }

    /// The discount of transitions without one.
    fn gamma(&self) -> Result<f64, Mistake> {
        let Some(gamma) = &self.gamma else { return Ok(1.0) };
        let Number(x) = gamma.value;
        if (0.0..=1.0).contains(&x) {
            return Ok(x);
        }
        Err(Mistake::at(&gamma.span, format!("`gamma` is {x}; it must lie between 0 and 1")))
    }

    /// The states in which episodes start, with their probabilities.
    fn start(&self, dynamics: &Dynamics) -> Result<Vec<(usize, f64)>, Mistake> {
        let alike = |states: &[usize]| {
            let share = 1.0 / states.len() as f64;
            states.iter().map(|&s| (s, share)).collect()
        };
        let Some(start) = &self.start else {
            if dynamics.start.is_empty() {
                let help = match self.grid {
                    Some(_) => "give a `start`, or put an `S` in the grid",
                    None => "start = \"S0\", or { S0 = 0.5, S1 = 0.5 }, or \"uniform\"",
                };
                return Err(Mistake::missing("start").help(help));
            }
            return Ok(alike(&dynamics.start));
        };
        let (n, names) = (dynamics.states.len(), Names::new("state", &dynamics.states));
        match &start.value {
            // Building the problem refuses an empty list of states.
            _ if n == 0 => Ok(Vec::new()),
            // A state of that name comes first.
            Start::State(Key::Name(name)) if name == "uniform" && !names.has(name) => {
                Ok(alike(&(0..n).collect::<Vec<_>>()))
            }
            Start::State(key) => Ok(vec![(names.find_key(key).map_err(|error| start.refuse(error))?, 1.0)]),
            Start::Shares(shares) => {
                let share = |(state, share): (&String, &Number)| Ok((names.find(state)?, share.0));
                shares
                    .iter()
                    .map(share)
                    .collect::<Result<_, ValueError>>()
                    .map_err(|error| start.refuse(error))
            }
        }
    }

    /// An error of the problem itself, at its place.
    fn mistake(&self, error: ProblemError) -> Mistake {
        let place = self.place(&error);
        let error = ValueError::from(error);
        match place {
            Some(span) => error.at(&span),
            None => Mistake::whole_file(error.message).maybe_help(error.help),
        }
    }

    fn place(&self, error: &ProblemError) -> Option<Range<usize>> {
        match error {
            ProblemError::Nothing("state") | ProblemError::Twice { kind: "state", .. } => span(&self.states),
            ProblemError::Nothing(_) | ProblemError::Twice { .. } => span(&self.actions),
            ProblemError::NoStart | ProblemError::Unknown { .. } => span(&self.start),
            ProblemError::Number { what, .. } | ProblemError::Sum { what, .. }
                if what.starts_with("the start") =>
            {
                span(&self.start)
            }
            ProblemError::Number { what, value, .. } => {
                place_of(self, what, Some(*value)).or_else(|| self.place_of_transitions())
            }
            ProblemError::Sum { what, .. } => {
                place_of(self, what, None).or_else(|| self.place_of_transitions())
            }
            _ => self.place_of_transitions(),
        }
    }

    /// The place of the transitions, or of the pattern that they follow from.
    fn place_of_transitions(&self) -> Option<Range<usize>> {
        span(&self.transitions).or(span(&self.grid)).or(span(&self.chain)).or(span(&self.random))
    }
}
