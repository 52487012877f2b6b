//! States and actions by name or number.

use crate::file_error::ValueError;
use crate::suggest::suggest;
use crate::values::forms;
use emphatic::KnownProblem;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::HashMap;

/// A state or an action: its name, or its number from 0.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Key {
    /// By name.
    Name(String),
    /// By number.
    Number(u64),
}

/// One state or action, or a list of them.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum Keys {
    /// One.
    One(Key),
    /// Several.
    Many(Vec<Key>),
}

impl Keys {
    /// All keys.
    pub(crate) fn as_slice(&self) -> &[Key] {
        match self {
            Self::One(key) => std::slice::from_ref(key),
            Self::Many(keys) => keys,
        }
    }
}

forms!(Key, "a name in quotation marks, or a number from 0", text: Key::Name, whole: Key::Number);

forms!(
    Keys,
    "a name in quotation marks, a number from 0, or a list of such",
    text: |name| Keys::One(Key::Name(name)),
    whole: |number| Keys::One(Key::Number(number)),
    list: Keys::Many,
);

/// The number of a state.
pub fn find_state(problem: &KnownProblem, name: &str) -> Result<usize, ValueError> {
    Names::new("state", problem.states()).find(name)
}

/// The number of an action.
pub fn find_action(problem: &KnownProblem, name: &str) -> Result<usize, ValueError> {
    Names::new("action", problem.actions()).find(name)
}

/// The states or the actions of a problem, to be found by name.
pub(crate) struct Names<'a> {
    kind: &'static str,
    names: &'a [String],
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    /// `kind` is `state` or `action`. Of two equal names the first is found; building the problem refuses them.
    pub(crate) fn new(kind: &'static str, names: &'a [String]) -> Self {
        let mut numbers = HashMap::with_capacity(names.len());
        for (number, name) in names.iter().enumerate() {
            numbers.entry(name.as_str()).or_insert(number);
        }
        Self { kind, names, numbers }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.numbers.contains_key(name)
    }

    pub(crate) fn find(&self, name: &str) -> Result<usize, ValueError> {
        self.numbers.get(name).copied().ok_or_else(|| self.unknown(name))
    }

    /// By name, or by number from 0 in the order of declaration.
    pub(crate) fn find_key(&self, key: &Key) -> Result<usize, ValueError> {
        match key {
            Key::Name(name) => self.find(name),
            Key::Number(number) => match usize::try_from(*number) {
                Ok(number) if number < self.names.len() => Ok(number),
                _ => Err(ValueError::new(format!("the problem has no {} number {number}", self.kind))
                    .help(format!("they are numbered from 0 to {}", self.names.len().saturating_sub(1)))),
            },
        }
    }

    pub(crate) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    fn unknown(&self, name: &str) -> ValueError {
        let is_real = self.kind == "action" && self.names.is_empty();
        let real = is_real.then(|| "the action of this problem is a real number".to_owned());
        let help = suggest(name, self.names.iter().map(String::as_str)).or(real);
        ValueError::new(format!("the problem has no {} `{name}`", self.kind)).maybe_help(help)
    }
}
