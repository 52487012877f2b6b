//! Simulators in the lists of `emphatic parts`.

use emphatic_environments::{Actions, Description, ENVIRONMENTS, Observed};
use emphatic_text::{exact_number, table};

const HEADING: &str = "Simulators: environments to act in";

/// Returns a list of all simulators, a line each.
pub(super) fn list() -> String {
    let row = |description: &Description| {
        vec![description.name.to_owned(), gymnasium(description).to_owned(), description.about.to_owned()]
    };
    format!("{HEADING}\n{}\n", table(all().map(row).collect(), 3, 2))
}

/// Returns what all simulators are.
pub(super) fn all() -> impl Iterator<Item = &'static Description> {
    ENVIRONMENTS.iter().map(|listed| listed.description)
}

fn gymnasium(description: &Description) -> &str {
    description.gymnasium.unwrap_or("")
}

/// Returns everything about a simulator.
pub(super) fn explanation(description: &Description) -> String {
    let Description { name, about, source, .. } = description;
    let mut text = format!("{name} (simulator)\n  {about}\n  {source}\n");
    for sentence in sentences(description) {
        text += &format!("\n  {sentence}");
    }
    let heading = ["observed", "from", "to", ""].map(str::to_owned).to_vec();
    let row = |observed: &Observed| {
        let Observed { name, low, high, bounded, .. } = observed;
        let note = if *bounded { "" } else { "as a rule; it may be beyond" };
        vec![(*name).to_owned(), exact_number(*low), exact_number(*high), note.to_owned()]
    };
    let rows = std::iter::once(heading).chain(description.observations.iter().map(row)).collect();
    format!("{text}\n\n{}", table(rows, 4, 2))
}

/// Returns all simulators, as a part of a page of Markdown.
pub(super) fn page() -> String {
    let mut text = format!("\n## {HEADING}\n\n| name | what it is | |\n|---|---|---|\n");
    for description in all() {
        let Description { name, about, source, .. } = description;
        text += &format!("| `{name}` | {about}. *{source}.* | {} |\n", sentences(description).join(" "));
    }
    text
}

/// Returns how one acts, when episodes are cut short, and what is the same in Gymnasium.
fn sentences(description: &Description) -> Vec<String> {
    let mut sentences = vec![match description.actions {
        Actions::Finite(names) => format!("Actions: {}.", names.join(", ")),
        Actions::Real { low, high, .. } if (high - low).is_finite() => {
            format!("A real action between {} and {}.", exact_number(low), exact_number(high))
        }
        Actions::Real { .. } => "A real action.".to_owned(),
    }];
    sentences.extend(description.limit.map(|limit| format!("Episodes are cut short after {limit} steps.")));
    let same = |name: &str| format!("It has the dynamics of Gymnasium's {name}.");
    sentences.extend(description.gymnasium.map(same));
    sentences
}
