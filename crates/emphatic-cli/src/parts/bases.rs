//! Bases in the lists of `emphatic parts`.

use emphatic::basis::{BasisEntry, BasisSetting, Kind};
use emphatic::catalogue::Catalogue;
use emphatic_text::table;

const HEADING: &str = "Bases: features of what a simulator shows";

/// Returns a list of all bases, a line each.
pub(super) fn list(catalogue: &Catalogue) -> String {
    let row =
        |entry: &BasisEntry| vec![entry.name.to_owned(), entry.class.to_owned(), entry.about.to_owned()];
    format!("{HEADING}\n{}\n", table(catalogue.bases().map(row).collect(), 3, 2))
}

/// Returns everything about a basis.
pub(super) fn explanation(entry: &BasisEntry) -> String {
    let mut text = format!("{} (basis, {} in Python)\n  {}\n", entry.name, entry.class, entry.about);
    if !entry.source.is_empty() {
        text += &format!("  {}\n", entry.source);
    }
    let heading = ["setting", "range", "left out", ""].map(str::to_owned).to_vec();
    let row = |setting: &BasisSetting| {
        let BasisSetting { name, about, .. } = setting;
        vec![(*name).to_owned(), words(setting.kind), default(setting), (*about).to_owned()]
    };
    let rows = std::iter::once(heading).chain(entry.settings.iter().map(row)).collect();
    format!("{text}\n{}", table(rows, 4, 2))
}

/// Returns everything about all bases, as a part of a page of Markdown.
pub(super) fn page(catalogue: &Catalogue) -> String {
    let mut text = format!("\n## {HEADING}\n");
    for entry in catalogue.bases() {
        text += &format!("\n### `{}` ({} in Python)\n\n{}.", entry.name, entry.class, entry.about);
        if !entry.source.is_empty() {
            text += &format!(" *{}.*", entry.source);
        }
        text += "\n\n| setting | what it is | range | left out |\n|---|---|---|---|\n";
        for setting in entry.settings {
            let BasisSetting { name, about, .. } = setting;
            text += &format!("| `{name}` | {about} | {} | {} |\n", words(setting.kind), default(setting));
        }
    }
    text
}

fn default(setting: &BasisSetting) -> String {
    let by_simulator = [BasisSetting::LOW.name, BasisSetting::HIGH.name].contains(&setting.name);
    let otherwise = if by_simulator { "the simulator's" } else { "must be given" };
    setting.default.unwrap_or(otherwise).to_owned()
}

/// Returns what a setting may be, in a few words.
fn words(kind: Kind) -> String {
    match kind {
        Kind::Count => "a whole number".to_owned(),
        Kind::Counts => "a whole number, or one for each dimension".to_owned(),
        Kind::Whole => "a whole number, or 0".to_owned(),
        Kind::Positive => "above 0".to_owned(),
        Kind::Numbers => "a number for each dimension".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Flags => "true or false, or one for each dimension".to_owned(),
        Kind::Word(words) => words.join(", "),
    }
}
