//! States and actions by name or number.

use crate::file_error::{ValueError, suggest};
use crate::values::Key;
use std::collections::HashMap;

/// Finds the number of a name among many.
pub(crate) struct Names<'a> {
    kind: &'static str,
    names: &'a [String],
    numbers: HashMap<&'a str, usize>,
}

impl<'a> Names<'a> {
    /// `kind` is `state` or `action`. Of two equal names the first counts; the problem itself refuses them.
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
                _ => Err(ValueError {
                    message: format!("the problem has no {} number {number}", self.kind),
                    help: Some(format!("they are numbered from 0 to {}", self.names.len().saturating_sub(1))),
                }),
            },
        }
    }

    pub(crate) fn name(&self, number: usize) -> &str {
        &self.names[number]
    }

    fn unknown(&self, name: &str) -> ValueError {
        let real = || {
            let is_real = self.kind == "action" && self.names.is_empty();
            is_real.then(|| "the action of this problem is a real number".to_owned())
        };
        let help = suggest(name, self.names.iter().map(String::as_str)).or_else(real);
        ValueError::new(format!("the problem has no {} `{name}`", self.kind), help)
    }
}
