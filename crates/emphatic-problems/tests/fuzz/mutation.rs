//! Changes good files at random, and checks that every file is read or refused: without a panic, soon, and with its place.

use emphatic_problems::FileError;
use proptest::prelude::*;
use proptest::sample::Index;
use std::time::{Duration, Instant};

/// Values that replace numbers and, now and then, words.
pub const EXTREMES: [&str; 33] = [
    "0",
    "-0.0",
    "-1",
    "1.5",
    "1e308",
    "1e400",
    "5e-324",
    "nan",
    "inf",
    "-inf",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "99999999999999999999999999999999999999999",
    "1000",
    "2001-01-01",
    "true",
    "null",
    "\"\"",
    "\"\u{1F600}`, expected `\"",
    "\"r1c1\"",
    "\"uniform\"",
    "\"states\"",
    "\"large-grid\"",
    "\\u0041",
    "\\",
    "[]",
    "[[]]",
    "{}",
    "{ A0 = 1 }",
    "[1, [2, 3]]",
];

/// No file of this size may take longer, even on a slow machine.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads a file in the time that it may take. `None` if it is refused, with an error whose place is in the text.
pub fn read_in_time<T>(text: &str, read: impl FnOnce() -> Result<T, FileError>) -> Option<T> {
    let start = Instant::now();
    let outcome = read();
    assert!(start.elapsed() < LONGEST, "{:?} for {text}", start.elapsed());
    outcome
        .map_err(|error| {
            let mut report = String::new();
            let rendered = miette::NarratableReportHandler::new().render_report(&mut report, &error);
            assert!(rendered.is_ok(), "the place of {error:?} is not in {text}");
        })
        .ok()
}

/// Splits a text into words, numbers and quoted texts; every other character is a token of its own.
pub fn tokens(text: &str) -> Vec<String> {
    let part = |c: char| c.is_alphanumeric() || "._-\"".contains(c);
    let mut tokens: Vec<String> = Vec::new();
    let mut inside = false;
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if inside && part(c) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        inside = part(c);
    }
    tokens
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| format!("{line}\n")).collect()
}

fn characters(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

/// A change of a piece of a file.
#[derive(Clone, Debug)]
enum Change {
    Delete,
    Cut,
    Double,
    Swap,
    Replace(usize),
    Insert(String),
}

/// A change of one piece of a file.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// Splits the file into tokens, lines or characters.
    split: fn(&str) -> Vec<String>,
    first: Index,
    second: Index,
    change: Change,
}

/// Any mutation.
pub fn mutation() -> impl Strategy<Value = Mutation> {
    let split = prop::sample::select(vec![
        tokens as fn(&str) -> Vec<String>,
        lines as fn(&str) -> Vec<String>,
        characters as fn(&str) -> Vec<String>,
    ]);
    let change = prop_oneof![
        3 => Just(Change::Delete),
        1 => Just(Change::Cut),
        3 => Just(Change::Double),
        3 => Just(Change::Swap),
        6 => (0..EXTREMES.len()).prop_map(Change::Replace),
        1 => "\\PC{1,4}".prop_map(Change::Insert),
        1 => (0..100u32).prop_map(|x| Change::Insert(x.to_string())),
    ];
    (split, any::<Index>(), any::<Index>(), change).prop_map(|(split, first, second, change)| Mutation {
        split,
        first,
        second,
        change,
    })
}

/// Applies mutations one after the other.
pub fn mutated(text: &str, mutations: &[Mutation]) -> String {
    mutations.iter().fold(text.to_owned(), |text, Mutation { split, first, second, change }| {
        let mut parts = split(&text);
        if parts.is_empty() {
            return text;
        }
        let (first, second) = (first.index(parts.len()), second.index(parts.len()));
        match change {
            Change::Delete => drop(parts.remove(first)),
            Change::Cut => parts.truncate(first),
            Change::Double => parts.insert(second, parts[first].clone()),
            Change::Swap => parts.swap(first, second),
            Change::Replace(k) => parts[first] = EXTREMES[*k].to_owned(),
            Change::Insert(text) => parts.insert(first, text.clone()),
        }
        parts.concat()
    })
}

/// Replaces one token that begins like this after the other by extremes: by all, or by every second one.
pub fn with_extremes(
    good: &str,
    is_replaced: impl Fn(char) -> bool,
    every_second: bool,
    read: impl Fn(&str),
) {
    let tokens = tokens(good);
    let step = if every_second { 2 } else { 1 };
    for k in (0..tokens.len()).filter(|&k| tokens[k].starts_with(&is_replaced)) {
        for extreme in EXTREMES.iter().skip(k % step).step_by(step) {
            let mut changed = tokens.clone();
            changed[k] = (*extreme).to_owned();
            read(&changed.concat());
        }
    }
}

/// This many cases of a property.
pub fn cases(n: u32) -> ProptestConfig {
    // A failure gets a test of its own, not an entry in a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(n) }
}
