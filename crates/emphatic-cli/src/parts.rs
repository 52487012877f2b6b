//! `emphatic parts`: lists the parts that methods are made of, the bases of features and the simulators, or explains one.

mod bases;
mod simulators;

use crate::output::{print, print_json};
use clap::Args;
use emphatic::catalogue::{ALGORITHMS, Algorithm, Catalogue, Entry, Inner, Role};
use emphatic_problems::suggest;
use emphatic_text::table;
use miette::miette;

pub(crate) const EXAMPLES: &str = "\
Examples:
  emphatic parts
  emphatic parts gtd
  emphatic parts exact
  emphatic parts tiles
  emphatic parts mountain-car
  emphatic parts --json > parts.json";

#[derive(Args)]
pub(crate) struct PartsArguments {
    /// Its name in files, or its class in Python; left out, everything is listed
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// As JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// All of them as a page of Markdown
    #[arg(long, conflicts_with = "name")]
    markdown: bool,
}

pub(crate) fn parts(arguments: &PartsArguments) -> miette::Result<()> {
    let catalogue = Catalogue::current();
    if arguments.markdown {
        return print(&page(catalogue));
    }
    let asked = arguments.name.as_deref();
    let is_asked = |entry: &&Entry| asked.is_none_or(|name| entry.name == name || entry.class == name);
    let found: Vec<&Entry> = catalogue.iter().filter(is_asked).collect();
    if let Some(name) = asked
        && found.is_empty()
    {
        if let Some(basis) = catalogue.bases().find(|entry| entry.name == name || entry.class == name) {
            return match arguments.json {
                true => print_json(&[basis.declaration]),
                false => print(&bases::explanation(basis)),
            };
        }
        if let Some(simulator) =
            simulators::all().find(|known| known.name == name).filter(|_| !arguments.json)
        {
            return print(&simulators::explanation(simulator));
        }
        if let Some(algorithm) = ALGORITHMS.iter().find(|known| known.name == name || known.title == name) {
            return match arguments.json {
                true => print_json(&[algorithm]),
                false => print(&algorithm_explanation(algorithm)),
            };
        }
        let mut known: Vec<&str> = catalogue.iter().map(|entry| entry.name).collect();
        known.extend(ALGORITHMS.iter().map(|known| known.name));
        known.extend(catalogue.bases().map(|basis| basis.name));
        known.extend(simulators::all().map(|known| known.name));
        known.sort_unstable();
        known.dedup();
        let help =
            suggest(name, known.into_iter()).unwrap_or_else(|| "`emphatic parts` lists them all".to_owned());
        return Err(miette!(help = help, "there is no part `{name}`"));
    }
    if arguments.json {
        return print_json(&found.iter().map(|entry| entry.declaration).collect::<Vec<_>>());
    }
    match asked {
        None => print(&list(catalogue)),
        Some(name) => {
            // An algorithm may be called like its actor.
            let algorithms = ALGORITHMS.iter().filter(|known| known.name == name);
            // And a basis like a schedule.
            let bases = catalogue.bases().filter(|entry| entry.name == name);
            let texts = found.into_iter().map(explanation).chain(algorithms.map(algorithm_explanation));
            print(&texts.chain(bases.map(bases::explanation)).collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Returns a list of all parts, a line each.
fn list(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    for role in Role::ALL {
        text += &format!("{}\n", role.heading());
        let row = |entry: &Entry| vec![entry.name.to_owned(), entry.class.to_owned(), entry.about.to_owned()];
        text += &table(catalogue.of(role).map(row).collect(), 3, 2);
        text.push('\n');
    }
    text += &bases::list(catalogue);
    text += &simulators::list();
    text += "Algorithms: names for a policy and an emphasis\n";
    let row = |known: &Algorithm| vec![known.name.to_owned(), known.title.to_owned(), known.about.to_owned()];
    text += &table(ALGORITHMS.iter().map(row).collect(), 3, 2);
    text += "\nThe first column is the name in files, the second the class in Python (of an algorithm, its name in print; of a simulator, its name in Gymnasium).\n";
    text += "`emphatic parts NAME` tells all that is to be known of one.\n";
    text
}

/// Returns everything about a part.
fn explanation(entry: &Entry) -> String {
    let mut text = format!("{} ({}, {} in Python)\n", entry.name, entry.role.word(), entry.class);
    text += &format!("  {}\n  {}\n", entry.about, entry.source);
    let more = sentences(entry);
    if !more.is_empty() {
        text += &format!("\n {}\n", more.replace(". ", ".\n  "));
    }
    if !entry.settings.is_empty() {
        let heading = ["setting", "range", "left out", ""].map(str::to_owned).to_vec();
        let row = |setting: &emphatic::catalogue::Setting| {
            let default = setting.default.map_or("must be given".to_owned(), |default| default.to_string());
            vec![setting.name.to_owned(), setting.range.words().to_owned(), default, setting.about.to_owned()]
        };
        let rows = std::iter::once(heading).chain(entry.settings.iter().map(row)).collect();
        text += &format!("\n{}", table(rows, 4, 2));
    }
    text
}

/// Returns everything about an algorithm.
fn algorithm_explanation(algorithm: &Algorithm) -> String {
    let Algorithm { name, title, about, emphasis, deterministic, .. } = algorithm;
    let policy = if *deterministic { "that computes its action" } else { "that draws its actions" };
    format!(
        "{name} (algorithm, {title} in print)\n  {about}\n\n  A policy {policy}, and the emphasis `{emphasis}`.\n"
    )
}

/// Returns everything about all parts, as a page of the documentation.
fn page(catalogue: &Catalogue) -> String {
    let mut text = "# Parts\n\nA learner is a policy, a critic and an emphasis, put together. This page is what `emphatic parts --markdown` prints: \
                    the names in files, the classes in Python, and their settings with what they are if left out. (Python writes `lambda_` for `lambda`, and wants the \
                    part inside another to be given.) [`conventions.md`](conventions.md) has the symbols and the time indices, [`methods`](methods/README.md) explains each part. A step-size is finite and not \
                    negative, and is divided by the number of active features.\n\n\
                    What a critic tells the actor decides how the actor learns:\n\n\
                    | the critic tells | the actor learns from | in Python | policies |\n|---|---|---|---|\n\
                    | δ | the action taken | `ActorCritic` | that draw their actions |\n\
                    | advantages | all actions, or some (`actions = \"all\"` in files) | `AllActions` | of finitely many actions |\n\
                    | ∂q/∂a | the slope at its own action | `DeterministicActorCritic` | that compute their action |\n"
        .to_owned();
    for role in Role::ALL {
        text += &format!("\n## {}\n", role.heading());
        for entry in catalogue.of(role) {
            text += &format!("\n### `{}` ({} in Python)\n\n", entry.name, entry.class);
            text += &format!("{}.", entry.about);
            if !entry.source.is_empty() {
                text += &format!(" *{}.*", entry.source);
            }
            text += &sentences(entry);
            text.push('\n');
            if entry.settings.is_empty() {
                continue;
            }
            text += "\n| setting | what it is | range | left out |\n|---|---|---|---|\n";
            for setting in entry.settings {
                let default =
                    setting.default.map_or("must be given".to_owned(), |default| default.to_string());
                let (name, about, range) = (setting.name, setting.about, setting.range.words());
                text += &format!("| `{name}` | {about} | {range} | {default} |\n");
            }
        }
    }
    text += &bases::page(catalogue);
    text += &simulators::page();
    text += "\n## Algorithms: names for a policy and an emphasis\n\n";
    text += "| name | in print | what it is |\n|---|---|---|\n";
    for algorithm in &ALGORITHMS {
        text += &format!("| `{}` | {} | {} |\n", algorithm.name, algorithm.title, algorithm.about);
    }
    text
}

/// Returns what else there is to say about a part, in sentences that follow others.
fn sentences(entry: &Entry) -> String {
    let mut text = String::new();
    if !entry.signals.is_empty() {
        let signals: Vec<&str> = entry.signals.iter().map(|signal| signal.words()).collect();
        let verb = if entry.role == Role::Actor { "learns from" } else { "tells the actor" };
        text += &format!(" It {verb} {}.", signals.join("; or "));
    }
    if !entry.needs.is_empty() {
        let needs: Vec<&str> = entry.needs.iter().map(|need| need.words()).collect();
        text += &format!(" It needs {}.", needs.join(" and "));
    }
    if entry.features && entry.role != Role::Policy {
        text += " It looks at features of its own (`features`).";
    }
    for inner in entry.inner {
        let Inner { name, about, default, .. } = inner;
        text += &format!(
            " `{name}` is {about}; left out of a file, it is `{default}`, whose settings stand beside."
        );
    }
    text
}
