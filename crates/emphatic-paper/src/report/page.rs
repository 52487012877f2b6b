//! The report as an HTML page: one file that needs nothing else, and works without a script as well as on paper.

use std::fmt::Write;

use emphatic_chart::{
    Drawing, Line, Panel, Point, Uncertainty, all_methods, escape, html, plain, style_of, swatch,
};
use serde_json::{Value, json};

use crate::verdict::{JudgedClaim, Verdict};

/// What a report says. Prose may set words as `code` between backticks.
#[derive(Debug, Default)]
pub struct Report {
    /// The heading.
    pub title: String,
    /// A paragraph: what this is.
    pub about: String,
    /// Names and values: scale, seed, version.
    pub facts: Vec<(String, String)>,
    /// A paragraph: how claims are judged.
    pub claims_about: String,
    /// The judged claims.
    pub claims: Vec<Claim>,
    /// The figures.
    pub figures: Vec<Figure>,
    /// A paragraph: where the numbers in the differences come from.
    pub differences_about: String,
    /// Titles and texts: the differences from the paper.
    pub differences: Vec<(String, String)>,
}

/// A judged claim of the paper.
#[derive(Debug)]
pub struct Claim {
    /// The claim and its verdict.
    pub judged: JudgedClaim,
    /// The ids of the figures that show it.
    pub figures: Vec<&'static str>,
}

/// A figure of the paper, drawn anew.
#[derive(Debug, Default)]
pub struct Figure {
    /// For links and for the ids in its drawings: "fig2".
    pub id: String,
    /// What links to it say: "Figure 2".
    pub name: String,
    /// What it is about.
    pub title: String,
    /// What it shows.
    pub caption: String,
    /// Its panels.
    pub tiles: Vec<Drawing>,
    /// Names and values of the experiment's settings.
    pub settings: Vec<(String, String)>,
    /// The fresh runs of the best settings.
    pub runs: Table,
    /// What to type to get the figure again.
    pub command: String,
    /// Names and relative addresses.
    pub files: Vec<(String, String)>,
}

/// A table; a first cell that names a method of the figure is shown with its line.
#[derive(Debug, Default)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// The heads of the columns.
    pub columns: Vec<String>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<String>>,
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Tells browsers to fetch nothing from anywhere.
const POLICY: &str =
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The whole page.
pub fn page(report: &Report) -> String {
    let title = escape(&report.title);
    let (claims, differences) = (claims(report), differences(report));
    let figures: String = report.figures.iter().map(figure).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{title}</title>\n<style>\n{STYLE}{}</style>\n</head>\n<body>\n{}\
         <main>\n{claims}{figures}{differences}</main>\n\
         <script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        dark_colours(&report.figures),
        header(report),
        data(&report.figures),
    )
}

/// Colours made for white paper, on a dark screen.
fn dark_colours(figures: &[Figure]) -> String {
    let mut rules = Vec::new();
    for method in figures.iter().flat_map(|figure| all_methods(&figure.tiles)) {
        let style = style_of(method);
        let rule = format!("[color=\"{}\"]{{color:{}}}\n", style.colour, style.dark);
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    format!("@media screen and (prefers-color-scheme: dark) {{\n{}}}\n", rules.concat())
}

fn header(report: &Report) -> String {
    let figure = |figure: &Figure| (figure.id.clone(), figure.name.clone());
    let claims = (!report.claims.is_empty()).then(|| ("claims".into(), "Claims".into()));
    let differences = (!report.differences.is_empty())
        .then(|| ("differences".into(), "Differences from the original".into()));
    let links = claims.into_iter().chain(report.figures.iter().map(figure)).chain(differences);
    let links: String =
        links.map(|(id, name): (String, String)| format!("<li>{}</li>", link(&id, &name))).collect();
    format!(
        "<header>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n{}\
         <nav aria-label=\"Contents\"><ul>{links}</ul></nav>\n</header>\n",
        escape(&report.title),
        prose(&report.about),
        facts(&report.facts),
    )
}

fn facts(facts: &[(String, String)]) -> String {
    let fact = |(name, value): &(String, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", html(name), html(value))
    };
    format!("<dl class=\"facts\">{}</dl>\n", facts.iter().map(fact).collect::<String>())
}

fn claims(report: &Report) -> String {
    if report.claims.is_empty() {
        return String::new();
    }
    let rows: String = report.claims.iter().map(|claim| claim_row(claim, &report.figures)).collect();
    // The roles are repeated, since the layout for narrow windows may lose them.
    format!(
        "<section id=\"claims\" aria-labelledby=\"claims-title\">\n<h2 id=\"claims-title\">Claims</h2>\n\
         <p>{} {}</p>\n<table class=\"claims\" role=\"table\">\n<thead role=\"rowgroup\"><tr role=\"row\">\
         <th scope=\"col\" role=\"columnheader\"><span class=\"unseen\">Name</span></th>\
         <th scope=\"col\" role=\"columnheader\">Claim</th><th scope=\"col\" role=\"columnheader\">Verdict</th>\
         <th scope=\"col\" role=\"columnheader\">Evidence</th></tr></thead>\n\
         <tbody role=\"rowgroup\">\n{rows}</tbody>\n</table>\n</section>\n",
        tally(&report.claims),
        prose(&report.claims_about),
    )
}

fn tally(claims: &[Claim]) -> String {
    let count = |verdict: Verdict| {
        let count = claims.iter().filter(|claim| claim.judged.verdict == verdict).count();
        format!("{count} {}", verdict.word())
    };
    let verdicts = [Verdict::Confirmed, Verdict::Refuted, Verdict::NotDecided].map(count);
    format!("Of {} claims: {}.", claims.len(), verdicts.join(", "))
}

fn claim_row(claim: &Claim, figures: &[Figure]) -> String {
    let JudgedClaim { id, claim: text, verdict, rule, evidence } = &claim.judged;
    let (class, sign) = match verdict {
        Verdict::Confirmed => ("confirmed", "✓"),
        Verdict::Refuted => ("refuted", "✗"),
        Verdict::NotDecided => ("undecided", "?"),
    };
    let shown = figures.iter().filter(|figure| claim.figures.contains(&&*figure.id));
    let links: Vec<String> = shown.map(|figure| link(&figure.id, &figure.name)).collect();
    let links = match &links[..] {
        [] => String::new(),
        links => format!(" <span class=\"see\">{}</span>", links.join(", ")),
    };
    format!(
        "<tr role=\"row\" id=\"claim-{id}\"><th scope=\"row\" role=\"rowheader\">{id}</th><td role=\"cell\">{}{links}</td>\
         <td role=\"cell\"><span class=\"verdict {class}\"><span aria-hidden=\"true\">{sign}</span> {word}</span></td>\
         <td role=\"cell\">{}<details><summary>Rule</summary><p>{}</p></details></td></tr>\n",
        prose(text),
        evidence.iter().map(|finding| format!("<p>{}</p>", prose(finding))).collect::<String>(),
        prose(rule),
        id = escape(id),
        word = verdict.word(),
    )
}

fn figure(figure: &Figure) -> String {
    let id = escape(&figure.id);
    let tile = |tile: &Drawing| {
        format!(
            "<figure><figcaption>{}</figcaption>{}</figure>\n",
            html(tile.title()),
            tile.inline(&figure.id)
        )
    };
    let tiles: String = figure.tiles.iter().map(tile).collect();
    format!(
        "<section class=\"figure\" id=\"{id}\" aria-labelledby=\"{id}-heading\">\n<div class=\"shown\">\n<h2 id=\"{id}-heading\">{}: {}</h2>\n\
         <p class=\"caption\">{}</p>\n{}<div class=\"panels\">\n{tiles}</div>\n</div>\n{}</section>\n",
        escape(&figure.name),
        html(&figure.title),
        prose(&figure.caption),
        legend(figure),
        particulars(figure),
    )
}

/// Buttons that the script enables; without it, a plain legend.
fn legend(figure: &Figure) -> String {
    let button = |method: &&str| {
        let name = escape(method);
        format!(
            "<button type=\"button\" data-method=\"{name}\" aria-pressed=\"true\" disabled>{}{name}</button>",
            swatch(method)
        )
    };
    let buttons: String = all_methods(&figure.tiles).iter().map(button).collect();
    format!(
        "<div class=\"legend\" role=\"group\" aria-label=\"Methods shown in {}\">{buttons}</div>\n",
        escape(&figure.name)
    )
}

fn particulars(figure: &Figure) -> String {
    let methods = all_methods(&figure.tiles);
    let mut parts = table(&figure.runs, &methods, &figure.name);
    parts += &facts(&figure.settings);
    if !figure.command.is_empty() {
        let _ = write!(
            parts,
            "<div class=\"again\">\n<p>To get this figure again:</p>\n<pre tabindex=\"0\"><code>{}</code></pre>\n</div>\n",
            escape(&figure.command)
        );
    }
    let file = |(name, address): &(String, String)| {
        format!("<li><a href=\"{}\">{}</a></li>", escape(address), escape(name))
    };
    let files: String = figure.files.iter().map(file).collect();
    if !files.is_empty() {
        let _ = writeln!(
            parts,
            "<ul class=\"files\" aria-label=\"Files of {}\">{files}</ul>",
            escape(&figure.name)
        );
    }
    parts
}

/// In a box of its own, which scrolls if the window is too narrow.
fn table(table: &Table, methods: &[&str], of: &str) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let head: String =
        table.columns.iter().map(|name| format!("<th scope=\"col\">{}</th>", html(name))).collect();
    let rows: String = table.rows.iter().map(|row| table_row(row, methods)).collect();
    let (caption, label) = (html(&table.caption), escape(&plain(&table.caption)));
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{label}, {}\">\n<table>\n\
         <caption>{caption}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
        escape(of),
    )
}

fn table_row(cells: &[String], methods: &[&str]) -> String {
    let cell = |(column, text): (usize, &String)| match column {
        0 if methods.contains(&text.as_str()) => {
            format!("<th scope=\"row\">{}{}</th>", swatch(text), escape(text))
        }
        0 => format!("<th scope=\"row\">{}</th>", html(text)),
        _ => format!("<td>{}</td>", html(text)),
    };
    let cells: String = cells.iter().enumerate().map(cell).collect();
    format!("<tr>{cells}</tr>\n")
}

fn differences(report: &Report) -> String {
    if report.differences.is_empty() {
        return String::new();
    }
    let item =
        |(title, text): &(String, String)| format!("<dt>{}</dt>\n<dd>{}</dd>\n", prose(title), prose(text));
    let items: String = report.differences.iter().map(item).collect();
    let about = prose(&report.differences_about);
    format!(
        "<section id=\"differences\" aria-labelledby=\"differences-title\">\n\
         <h2 id=\"differences-title\">Differences from the original</h2>\n<p>{about}</p>\n<dl class=\"differences\">\n{items}</dl>\n</section>\n"
    )
}

fn link(id: &str, name: &str) -> String {
    format!("<a href=\"#{}\">{}</a>", escape(id), escape(name))
}

/// Text in the markup of labels, in which backticks enclose code.
fn prose(text: &str) -> String {
    let last = text.matches('`').count();
    let part = |(index, part): (usize, &str)| match index % 2 {
        // A backtick without another is only a backtick.
        1 if index == last => format!("`{}", escape(part)),
        1 => format!("<code>{}</code>", escape(part)),
        _ => html(part),
    };
    text.split('`').enumerate().map(part).collect()
}

/// The numbers that the script shows, as JSON that may stand in a page: exact to the bit, and `null` if they are not finite.
fn data(figures: &[Figure]) -> String {
    // Columns, since they are shorter than points.
    let error = |point: &Point| match point.uncertainty {
        Some(Uncertainty::Error(error)) => Some(error),
        _ => None,
    };
    let line = |Line { method, points, .. }: &Line| {
        let x: Vec<f64> = points.iter().map(|point| point.x).collect();
        let y: Vec<Option<f64>> = points.iter().map(|point| point.y).collect();
        let error: Vec<Option<f64>> = points.iter().map(error).collect();
        json!({ "method": method, "x": x, "y": y, "error": error })
    };
    let panel = |panel: &Panel| {
        let lines: Value = panel.lines.iter().map(line).collect();
        json!({ "name": panel.name, "label": plain(&panel.x.label), "lines": lines })
    };
    let figure = |figure: &Figure| {
        let panels: Value = figure.tiles.iter().filter_map(Drawing::panel).map(panel).collect();
        json!({ "id": figure.id, "panels": panels })
    };
    let figures: Value = figures.iter().map(figure).collect();
    // A `<` could begin the end of the script.
    figures.to_string().replace('<', "\\u003c")
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic_chart::{Axis, Reference, Scale};

    fn report(method: &'static str, ys: &[Option<f64>]) -> Report {
        let point = |(index, &y): (usize, &Option<f64>)| Point {
            x: 0.1 * index as f64,
            y,
            uncertainty: y.map(|y| Uncertainty::Error(y / 3.0)),
        };
        let axis = |label: &str| Axis { label: label.into(), scale: Scale::Linear, range: None };
        let panel = Panel {
            name: "curves",
            title: "J_μ".into(),
            x: axis("episodes"),
            y: axis("J_μ"),
            lines: vec![Line::of_method(method.into(), ys.iter().enumerate().map(point).collect())],
            reference: Some(Reference { y: 1.25, label: "optimum".into() }),
        };
        let judged = JudgedClaim {
            id: "C1",
            claim: method,
            verdict: Verdict::Refuted,
            rule: "a rule",
            evidence: vec!["`x` <= 1".into()],
        };
        let claim = Claim { judged, figures: vec!["fig2"] };
        let figure = Figure {
            id: "fig2".into(),
            name: "Figure 2".into(),
            tiles: vec![Drawing::Counterexample, panel.into()],
            runs: Table {
                caption: "Runs".into(),
                columns: vec!["Method".into()],
                rows: vec![vec![method.into()]],
            },
            files: vec![("all".into(), "fig2.svg".into())],
            ..Figure::default()
        };
        Report { claims: vec![claim], figures: vec![figure], ..Report::default() }
    }

    fn embedded(page: &str) -> Value {
        let (_, rest) = page.split_once("id=\"data\">").unwrap();
        serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
    }

    #[test]
    fn numbers_are_embedded_to_the_bit_and_once() {
        let ys = [Some(0.1 + 0.7), None, Some(f64::NAN), Some(1e-300)];
        let page = page(&report("ACE(0)", &ys));
        let line = &embedded(&page)[0]["panels"][0]["lines"][0];
        assert_eq!(line["y"].to_string(), "[0.7999999999999999,null,null,1e-300]");
        assert_eq!(line["x"][3].as_f64(), Some(0.1 * 3.0));
        assert_eq!(page.matches("0.7999999999999999").count(), 1);
    }

    #[test]
    fn text_cannot_end_a_script_or_add_a_tag() {
        let odd = "</script><img src=x>";
        let page = page(&report(odd, &[Some(1.0)]));
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img"));
        assert_eq!(embedded(&page)[0]["panels"][0]["lines"][0]["method"], odd);
    }

    #[test]
    fn the_page_refers_to_nothing_outside() {
        let page = page(&report("ACE(0)", &[Some(1.0)]));
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "src=", "url(", "@import", "//"] {
            let script = SCRIPT.matches(outside).count();
            assert_eq!(
                page.matches(outside).count(),
                if outside == "//" { script - 1 } else { 0 },
                "{outside}"
            );
        }
    }

    #[test]
    fn a_page_has_all_its_parts() {
        let page = page(&report("ACE(0)", &[Some(1.0)]));
        for part in [
            "Of 1 claims: 0 confirmed, 1 refuted, 0 not decided.",
            "✗</span> refuted",
            "<a href=\"#fig2\">Figure 2</a>",
            "<code>x</code> &lt;= 1",
            "<details><summary>Rule</summary><p>a rule</p></details>",
            "id=\"fig2-curves\"",
            "id=\"fig2-problem\"",
            "<figcaption>J<sub>μ</sub></figcaption>",
            "data-method=\"ACE(0)\" aria-pressed=\"true\"",
            "<a href=\"fig2.svg\">all</a>",
            "[color=\"#D55E00\"]{color:#F0803C}",
        ] {
            assert!(page.contains(part), "{part}");
        }
        assert!(super::page(&Report::default()).contains("<main>\n</main>"));
    }

    #[test]
    fn backticks_enclose_code() {
        assert_eq!(prose("a `b<` c"), "a <code>b&lt;</code> c");
        assert_eq!(prose("a `b"), "a `b");
        assert_eq!(prose("`a` `b"), "<code>a</code> `b");
    }
}
