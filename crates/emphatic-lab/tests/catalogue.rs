//! Every part of the catalogue can be named in an experiment file, with all of its settings, and run.

mod common;

use common::{results, settings};
use emphatic::catalogue::{Acts, Catalogue, Entry, Need, Range, Role, Signal};
use emphatic_lab::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// An experiment file while it is written, and the cells that its table of settings must have.
#[derive(Default)]
struct Written {
    given: usize,
    columns: BTreeMap<String, Cell>,
}

impl Written {
    /// Returns a number within a range that no other setting has.
    fn number(&mut self, range: Range) -> f64 {
        self.given += 1;
        let number = match range {
            Range::StepSize => self.given as f64 / 1024.0,
            Range::Fraction => 1.0 - self.given as f64 / 64.0,
            Range::Count => self.given as f64,
        };
        assert!(range.contains(number), "{number} is not {}", range.words());
        number
    }

    /// Adds a number under its column, as the guide to experiments says.
    fn add_number(&mut self, role: Role, name: &str, number: f64) {
        let word = role.word();
        let mut column = match role {
            Role::Critic => name.to_owned(),
            Role::Emphasis if name == "lambda_a" => name.to_owned(),
            Role::Policy | Role::Emphasis => format!("{word}.{name}"),
        };
        while self.columns.contains_key(&column) {
            column = format!("{word}.{column}");
        }
        self.columns.insert(column, Cell::Number(number));
    }

    /// Returns a part's table, with the part inside it.
    fn table(&mut self, part: &Entry, inside: Option<&Entry>) -> String {
        let mut keys = vec![format!("kind = \"{}\"", part.name)];
        if let (Some(declared), Some(inside)) = (part.inner, inside) {
            keys.push(format!("{} = {}", declared.name, self.table(inside, None)));
        }
        for setting in part.settings {
            let number = self.number(setting.range);
            keys.push(format!("{} = {number}", setting.name));
            self.add_number(part.role, setting.name, number);
        }
        format!("{{ {} }}", keys.join(", "))
    }

    fn word(&mut self, column: &str, word: &str) {
        self.columns.insert(column.to_owned(), Cell::Text(word.to_owned()));
    }
}

/// Parts that make a learner.
#[derive(Clone, Copy, Debug)]
struct Composition {
    policy: &'static Entry,
    emphasis: &'static Entry,
    critic: &'static Entry,
    inside: Option<&'static Entry>,
    signal: Signal,
}

impl Composition {
    fn makes_sense(&self) -> bool {
        let Self { policy, emphasis, critic, .. } = self;
        let rule = match policy.acts.expect("a policy acts") {
            Acts::Finite => self.signal != Signal::Slope,
            Acts::Real => self.signal == Signal::Delta,
            Acts::Deterministic => self.signal == Signal::Slope,
        };
        let ratios = policy.acts != Some(Acts::Deterministic);
        let has_ratios = |part: &Entry| ratios || !part.needs.contains(&Need::Ratio);
        rule && critic.signals.contains(&self.signal) && has_ratios(emphasis) && has_ratios(critic)
    }

    /// Writes the file, runs it, and checks the table of settings.
    fn check(&self) {
        let Self { policy, emphasis, critic, inside, signal } = *self;
        let problem = match policy.acts {
            Some(Acts::Finite) => "counterexample",
            _ => "continuous-counterexample",
        };
        let mut written = Written::default();
        let alpha = written.number(Range::StepSize);
        written.columns.insert("alpha".to_owned(), Cell::Number(alpha));
        let tables =
            [written.table(policy, None), written.table(emphasis, None), written.table(critic, inside)];
        let parts = [Some(policy), Some(emphasis), Some(critic), inside];
        for (column, part) in ["policy", "emphasis", "critic", "critic_values"].iter().zip(parts) {
            part.iter().for_each(|part| written.word(column, part.name));
        }
        let all = if signal == Signal::Advantages { "actions = \"all\"\n" } else { "" };
        let text = format!(
            "problem = \"{problem}\"\nruns = 1\nsteps = 5\nrecord = [\"rho\", \"weights\"]\n[[method]]\n\
             alpha = {alpha}\npolicy = {}\nemphasis = {}\ncritic = {}\n{all}",
            tables[0], tables[1], tables[2]
        );
        let dir = results(&text);
        let settings = settings(dir.path());
        assert_eq!(settings.len(), 1, "{text}");
        for (column, cell) in &written.columns {
            assert_eq!(settings[0].get(column), Some(cell), "{column} of {text}");
        }
        let numbers = |cells: &BTreeMap<String, Cell>| {
            cells.values().filter(|cell| matches!(cell, Cell::Number(_))).count()
        };
        assert_eq!(numbers(&settings[0]), numbers(&written.columns), "{:?} of {text}", settings[0]);
    }
}

/// Returns all compositions of the standard parts that make sense.
fn compositions() -> Vec<Composition> {
    let all = |role| Catalogue::standard().of(role);
    let mut compositions = Vec::new();
    for policy in all(Role::Policy) {
        for emphasis in all(Role::Emphasis) {
            for critic in all(Role::Critic) {
                let inside: Vec<Option<&Entry>> = match critic.inner {
                    Some(inner) => all(Role::Critic)
                        .filter(|part| part.signals.contains(&inner.signal))
                        .map(Some)
                        .collect(),
                    None => vec![None],
                };
                for inside in inside {
                    let one = |&signal: &Signal| Composition { policy, emphasis, critic, inside, signal };
                    compositions.extend(critic.signals.iter().map(one).filter(Composition::makes_sense));
                }
            }
        }
    }
    compositions
}

#[test]
fn every_part_is_named_in_a_file_with_all_its_settings_and_run() {
    let compositions = compositions();
    compositions.iter().for_each(Composition::check);
    let parts = |c: &Composition| [Some(c.policy), Some(c.emphasis), Some(c.critic), c.inside];
    let name = |part: &Entry| (part.role.word(), part.name);
    let run: BTreeSet<_> = compositions.iter().flat_map(parts).flatten().map(name).collect();
    let all: BTreeSet<_> = Catalogue::standard().iter().map(name).collect();
    assert_eq!(run, all, "parts that make no sense with any others");
}
