//! `emphatic parts`.

use crate::arguments::PartsArguments;
use crate::output::{print, print_json};
use emphatic::catalogue::{ALGORITHMS, Catalogue, Entry, Role};
use emphatic_problems::suggest;
use emphatic_text::table;
use miette::miette;

pub(crate) fn parts(arguments: &PartsArguments) -> miette::Result<()> {
    let catalogue = Catalogue::current();
    let Some(name) = &arguments.name else {
        if arguments.json {
            return print_json(&catalogue.iter().map(|entry| entry.declaration).collect::<Vec<_>>());
        }
        return print(&list(catalogue));
    };
    let found: Vec<&Entry> =
        catalogue.iter().filter(|entry| entry.name == name || entry.class == name).collect();
    if found.is_empty() {
        let known = catalogue.iter().map(|entry| entry.name);
        let help = suggest(name, known).unwrap_or_else(|| "`emphatic parts` lists them all".to_owned());
        return Err(miette!(help = help, "there is no part `{name}`"));
    }
    if arguments.json {
        return print_json(&found.iter().map(|entry| entry.declaration).collect::<Vec<_>>());
    }
    print(&found.into_iter().map(explanation).collect::<Vec<_>>().join("\n"))
}

/// All parts, a line each.
fn list(catalogue: &Catalogue) -> String {
    let mut text = String::new();
    for role in Role::ALL {
        text += &format!("{}\n", role.heading());
        let row = |entry: &Entry| vec![entry.name.to_owned(), entry.class.to_owned(), entry.about.to_owned()];
        text += &table(catalogue.of(role).map(row).collect(), 3, 2);
        text.push('\n');
    }
    text += "Algorithms: names for a policy and an emphasis\n";
    let row = |known: &emphatic::catalogue::Algorithm| {
        vec![known.name.to_owned(), known.title.to_owned(), known.about.to_owned()]
    };
    text += &table(ALGORITHMS.iter().map(row).collect(), 3, 2);
    text += "\nThe first column is the name in files, the second the class in Python.\n";
    text += "`emphatic parts NAME` tells all that is to be known of one.\n";
    text
}

/// All that is to be known of a part.
fn explanation(entry: &Entry) -> String {
    let mut text = format!("{} ({}, {} in Python)\n", entry.name, entry.role.word(), entry.class);
    text += &format!("  {}\n  {}\n", entry.about, entry.source);
    if !entry.tells.is_empty() {
        let tells: Vec<&str> = entry.tells.iter().map(|tells| tells.words()).collect();
        text += &format!("\n  It tells the actor {}.\n", tells.join("; or "));
    }
    if !entry.needs.is_empty() {
        let needs: Vec<&str> = entry.needs.iter().map(|need| need.words()).collect();
        text += &format!("\n  It needs {}.\n", needs.join(" and "));
    }
    if entry.features {
        text += "\n  It looks at features of the state: `features`.\n";
    }
    if let Some(inner) = &entry.inner {
        let (name, about, default) = (inner.name, inner.about, inner.default);
        text += &format!("\n  `{name}`: {about}. Left out, it is `{default}`.\n");
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
