//! The tables of settings on the pages of `docs/methods`.
//!
//! A page has a block for each part that it describes, which names the part by its role and its name in files:
//!
//! ```text
//! <!-- settings of emphasis follow-on -->
//! …
//! <!-- end -->
//! ```
//!
//! What stands between the two lines is written from the catalogue.

use emphatic::catalogue::{Catalogue, Entry, Inner, Role, Setting};
use std::fmt::Write;
use std::path::Path;

/// The directory of the pages, from the root.
const DIRECTORY: &str = "docs/methods";

const BEGIN: &str = "<!-- settings of ";
const END: &str = "<!-- end -->";

/// Returns the path of each page from the root, and its text with current tables.
pub(crate) fn pages(root: &Path, catalogue: &Catalogue) -> Result<Vec<(String, String)>, String> {
    let failed = |error: std::io::Error| format!("{DIRECTORY}: {error}");
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(root.join(DIRECTORY)).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "md") {
            let name = path.file_name().unwrap_or_default().display();
            let page = format!("{DIRECTORY}/{name}");
            let text = std::fs::read_to_string(&path).map_err(|error| format!("{page}: {error}"))?;
            let text = with_tables(&text, catalogue).map_err(|message| format!("{page}: {message}"))?;
            pages.push((page, text));
        }
    }
    pages.sort();
    Ok(pages)
}

/// Returns a page with current tables.
fn with_tables(page: &str, catalogue: &Catalogue) -> Result<String, String> {
    let mut text = String::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let _ = writeln!(text, "{line}");
        let Some(part) = line.strip_prefix(BEGIN) else { continue };
        let part = part.trim_end_matches("-->").trim();
        let entry = find(catalogue, part).ok_or_else(|| format!("there is no part `{part}`"))?;
        text += &table(entry);
        if lines.find(|line| line.starts_with("<!--")) != Some(END) {
            return Err(format!("the settings of `{part}` have no `{END}`"));
        }
        let _ = writeln!(text, "{END}");
    }
    Ok(text)
}

/// Returns the part of this role and name, as in `emphasis follow-on`.
fn find<'a>(catalogue: &'a Catalogue, part: &str) -> Option<&'a Entry> {
    let (role, name) = part.split_once(' ')?;
    let role = Role::ALL.into_iter().find(|known| known.word() == role)?;
    catalogue.find(role, name)
}

/// Returns the table of a part's settings, with the same columns as in `docs/parts.md`; and its features and the parts inside it, as files name them.
fn table(entry: &Entry) -> String {
    let has_features = entry.features && entry.role != Role::Policy;
    if entry.settings.is_empty() && !has_features && entry.inner.is_empty() {
        return "\nIt has no settings.\n\n".to_owned();
    }
    let mut text = "\n| setting | what it is | range | left out |\n|---|---|---|---|\n".to_owned();
    for Setting { name, range, default, about } in entry.settings {
        let default = default.map_or("must be given".to_owned(), |default| default.to_string());
        let _ = writeln!(text, "| `{name}` | {about} | {} | {default} |", range.words());
    }
    if has_features {
        text += "| `features` | what it sees of a state: the features that the problem calls `critic` or `actor`, or the states themselves | `critic`, `actor`, `states` | `critic` |\n";
    }
    for Inner { name, role, default, .. } in entry.inner {
        let _ = writeln!(text, "| `{name}` | the {} inside it | a part | `{default}` |", role.word());
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_in_a_block_is_written_anew() {
        let page = "before\n<!-- settings of emphasis follow-on -->\nold\n<!-- end -->\nafter\n";
        let expected = "before\n<!-- settings of emphasis follow-on -->\n\n\
                        | setting | what it is | range | left out |\n|---|---|---|---|\n\
                        | `lambda_a` | λ_a: 1 is full emphasis, 0 none | 0 to 1 | 0.9 |\n\n\
                        <!-- end -->\nafter\n";
        let once = with_tables(page, Catalogue::standard()).unwrap();
        assert_eq!(once, expected);
        assert_eq!(with_tables(&once, Catalogue::standard()).unwrap(), expected);
        let without = with_tables("<!-- settings of emphasis none -->\n<!-- end -->", Catalogue::standard());
        assert_eq!(
            without.unwrap(),
            "<!-- settings of emphasis none -->\n\nIt has no settings.\n\n<!-- end -->\n"
        );
    }

    #[test]
    fn unknown_parts_and_open_blocks_are_refused() {
        let refused = |page: &str| with_tables(page, Catalogue::standard()).unwrap_err();
        let unknown = "there is no part `critic follow-on`";
        assert_eq!(refused("<!-- settings of critic follow-on -->\n<!-- end -->"), unknown);
        assert_eq!(refused("<!-- settings of follow-on -->\n<!-- end -->"), "there is no part `follow-on`");
        let open = "the settings of `emphasis none` have no `<!-- end -->`";
        assert_eq!(refused("<!-- settings of emphasis none -->\nno end"), open);
        let next = "<!-- settings of emphasis none -->\n<!-- settings of emphasis lc -->\n<!-- end -->";
        assert_eq!(refused(next), open);
    }

    #[test]
    fn every_part_is_described_on_exactly_one_page() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let pages = pages(&root, Catalogue::standard()).unwrap();
        for entry in Catalogue::standard().iter() {
            let block = format!("{BEGIN}{} {} -->", entry.role.word(), entry.name);
            let describes = |(page, text): &(String, String)| {
                text.lines().filter(|line| *line == block).map(|_| page.clone()).collect::<Vec<_>>()
            };
            let described: Vec<String> = pages.iter().flat_map(describes).collect();
            assert_eq!(described.len(), 1, "`{block}` stands on {described:?}");
        }
    }
}
