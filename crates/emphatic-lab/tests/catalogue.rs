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
            Range::StepSize | Range::Amount => self.given as f64 / 1024.0,
            Range::Fraction | Range::Discount => 1.0 - self.given as f64 / 64.0,
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
            Role::Emphasis | Role::Actor if name == "lambda_a" => name.to_owned(),
            Role::Policy | Role::Emphasis | Role::Actor | Role::Schedule => format!("{word}.{name}"),
        };
        while self.columns.contains_key(&column) {
            column = format!("{word}.{column}");
        }
        self.columns.insert(column, Cell::Number(number));
    }

    /// Returns the table of a part of a learner, with the parts inside it: `inside`, if it is to be one of them, otherwise the default ones.
    fn table(&mut self, part: &Entry, inside: Option<&Entry>) -> String {
        self.table_in(part.role, part.role.word(), part, inside)
    }

    /// Returns the table of a part that lies at this place in the part of this role.
    fn table_in(&mut self, role: Role, place: &str, part: &Entry, inside: Option<&Entry>) -> String {
        let mut keys = vec![format!("kind = \"{}\"", part.name)];
        for declared in part.inner {
            let default =
                Catalogue::standard().find(declared.role, declared.default).expect("it is declared");
            let inner = inside.filter(|inside| declared.admits(inside)).unwrap_or(default);
            let place = format!("{place}_{}", declared.name);
            keys.push(format!("{} = {}", declared.name, self.table_in(role, &place, inner, None)));
            if declared.role != Role::Schedule || inner.name != declared.default {
                self.word(&place, inner.name);
            }
        }
        // An emphasis inside a critic has no λ_a of its own.
        let is_inside = |name: &str| place != role.word() && name == "lambda_a";
        for setting in part.settings.iter().filter(|setting| !is_inside(setting.name)) {
            let number = self.number(setting.range);
            keys.push(format!("{} = {number}", setting.name));
            self.add_number(role, setting.name, number);
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
    actor: Option<&'static Entry>,
}

impl Composition {
    fn makes_sense(&self) -> bool {
        let Self { policy, emphasis, critic, inside, actor, .. } = self;
        let rule = match policy.acts.expect("a policy acts") {
            Acts::Finite => self.signal != Signal::Slope,
            Acts::Real => self.signal == Signal::Delta,
            Acts::Deterministic => self.signal == Signal::Slope,
        };
        let has = |need: &Need| match need {
            Need::Ratio => policy.acts != Some(Acts::Deterministic),
            Need::Finite => policy.acts == Some(Acts::Finite),
            Need::Problem | Need::Table | Need::NoEmphasis => true,
        };
        let fits = |part: &Entry| part.needs.iter().all(has);
        rule && critic.signals.contains(&self.signal)
            && fits(emphasis)
            && fits(critic)
            && inside.is_none_or(fits)
            && actor.is_none_or(fits)
    }

    /// Writes the file, runs it, and checks the table of settings.
    fn check(&self) {
        let Self { policy, emphasis, critic, inside, signal, actor } = *self;
        let problem = match policy.acts {
            Some(Acts::Finite) => "counterexample",
            _ => "continuous-counterexample",
        };
        let mut written = Written::default();
        let alpha = written.number(Range::StepSize);
        written.columns.insert("alpha".to_owned(), Cell::Number(alpha));
        let tables =
            [written.table(policy, None), written.table(emphasis, inside), written.table(critic, inside)];
        for (column, part) in ["policy", "emphasis", "critic"].iter().zip([policy, emphasis, critic]) {
            written.word(column, part.name);
        }
        let last = match actor {
            Some(actor) => {
                written.word("actor", actor.name);
                format!("actor = {}\n", written.table(actor, None))
            }
            None if signal == Signal::Advantages => "actions = \"all\"\n".to_owned(),
            None => String::new(),
        };
        let text = format!(
            "problem = \"{problem}\"\nruns = 1\nsteps = 5\nrecord = [\"rho\", \"weights\"]\n[[method]]\n\
             alpha = {alpha}\npolicy = {}\nemphasis = {}\ncritic = {}\n{last}",
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
                // Every part with the commonest of the other roles, and with every part that may be inside it.
                let common = |part: &Entry| ["exact", "gtd", "gq", "none"].contains(&part.name);
                if !common(critic) && !common(emphasis) {
                    continue;
                }
                let admitted = |part: &&Entry| {
                    let of = |outer: &Entry| outer.inner.iter().any(|inner| inner.admits(part));
                    (of(critic) && common(emphasis)) || (of(emphasis) && common(critic))
                };
                let mut inside = vec![None];
                inside.extend(Catalogue::standard().iter().filter(admitted).map(Some));
                for inside in inside {
                    let one = |&signal: &Signal| Composition {
                        policy,
                        emphasis,
                        critic,
                        inside,
                        signal,
                        actor: None,
                    };
                    compositions.extend(critic.signals.iter().map(one).filter(Composition::makes_sense));
                }
            }
        }
    }
    // Every actor beside the exact critic.
    let exact: Vec<Composition> = compositions.iter().filter(|c| c.critic.name == "exact").copied().collect();
    for actor in all(Role::Actor) {
        let with = |c: &Composition| Composition { actor: Some(actor), signal: actor.signals[0], ..*c };
        let fits = |c: &Composition| c.emphasis.name == "none" && c.makes_sense();
        compositions.extend(exact.iter().map(with).filter(fits).take(2));
    }
    compositions
}

#[test]
fn every_part_is_named_in_a_file_with_all_its_settings_and_run() {
    let compositions = compositions();
    compositions.iter().for_each(Composition::check);
    let parts = |c: &Composition| [Some(c.policy), Some(c.emphasis), Some(c.critic), c.inside, c.actor];
    let name = |part: &Entry| (part.role.word(), part.name);
    let run: BTreeSet<_> = compositions.iter().flat_map(parts).flatten().map(name).collect();
    let all: BTreeSet<_> = Catalogue::standard().iter().map(name).collect();
    assert_eq!(run, all, "parts that make no sense with any others");
}
