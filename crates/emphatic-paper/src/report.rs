//! The report of a reproduction.

pub(crate) mod page;

use crate::figure_numbers::{FigureNumbers, Fresh, MethodNumbers};
use crate::figures::Figure;
use crate::panels;
use crate::reproduce::{Options, Reproduction, SEED};
use crate::verdict::{JudgedClaim, shown, with_error};
use page::Table;
use serde_json::{Map, Value};

const ABOUT: &str = "The experiments of “An Off-policy Policy Gradient Theorem Using Emphatic Weightings” (Imani, Graves and White, 2018), run again, and each of its claims judged by a rule that was written down before it was first run. Panels show the runs by which each method's best setting was chosen, as in the paper; tables and claims are about fresh runs of that setting. In panels and tables ± is one standard error. “Certainty” is the share of resamples of the runs in which the chosen setting is the best of its grid.";

const VERDICTS: &str = "A claim is confirmed if all conditions of its rule hold, refuted if one fails, and not decided otherwise. A condition compares a mean over fresh runs with a threshold: it holds if the whole 99 % interval (here ± is half of it) lies on the right side, fails if the whole interval lies on the wrong side, and is open otherwise or if a run diverged. The gap in the rules is the best attainable J_μ minus that to which the semi-gradient leads. The intervals hold for the settings that were chosen: other seeds choose others.";

/// The numbered differences from the paper, as they are in the documentation.
const DIFFERENCES: &str = include_str!("../../../docs/differences.md");

/// The whole page.
pub(crate) fn page(reproduction: &Reproduction, asked: &[&Figure], options: &Options) -> String {
    let figures = asked.iter().zip(&reproduction.figures);
    page::page(&page::Report {
        title: "The off-policy policy gradient, reproduced".to_owned(),
        about: ABOUT.to_owned(),
        claims_about: VERDICTS.to_owned(),
        facts: facts(&command(asked.iter().copied(), options), "as in the paper", SEED, options),
        claims: reproduction.claims.iter().map(|claim| judged(claim, &reproduction.figures)).collect(),
        figures: figures.map(|(figure, numbers)| drawn(figure, numbers, options)).collect(),
        differences_about: preamble(DIFFERENCES),
        differences: differences(DIFFERENCES),
    })
}

pub(crate) fn facts(command: &str, whole: &str, seed: u64, options: &Options) -> Vec<(String, String)> {
    let scale = match (options.quick, options.runs) {
        (true, _) => "few runs, for a first look".to_owned(),
        (_, Some(runs)) => format!("{runs} runs"),
        _ => whole.to_owned(),
    };
    let facts = [
        ("scale", scale),
        ("seed", options.seed.unwrap_or(seed).to_string()),
        ("version", format!("emphatic {}", env!("CARGO_PKG_VERSION"))),
        ("command", command.to_owned()),
    ];
    facts.map(|(name, value)| (name.to_owned(), value)).into()
}

/// The command that makes these figures again.
fn command<'a>(figures: impl Iterator<Item = &'a Figure>, options: &Options) -> String {
    let ids: Vec<&str> = figures.map(|figure| figure.id).collect();
    let all = ids.len() == crate::figures::FIGURES.len();
    command_of(if all { &[] } else { &ids }, options)
}

/// The command that makes these parts again.
pub(crate) fn command_of(ids: &[&str], options: &Options) -> String {
    let ids: String = ids.iter().map(|id| format!(" {id}")).collect();
    let quick = if options.quick { " --quick" } else { "" };
    let runs = options.runs.map_or_else(String::new, |runs| format!(" --runs {runs}"));
    let seed = options.seed.map_or_else(String::new, |seed| format!(" --seed {seed}"));
    format!("emphatic reproduce{ids}{quick}{runs}{seed}")
}

fn judged(claim: &JudgedClaim, figures: &[FigureNumbers]) -> page::Claim {
    let about = figures.iter().filter(|figure| figure.claims.iter().any(|c| c.id == claim.id));
    page::Claim { judged: claim.clone(), figures: about.map(|figure| figure.figure).collect() }
}

fn drawn(figure: &Figure, numbers: &FigureNumbers, options: &Options) -> page::Figure {
    let tiles = panels::tiles(figure, numbers);
    let (name, title) = figure.title.split_once(": ").unwrap_or((figure.title, ""));
    let mut files: Vec<(String, String)> = vec![
        ("every number (JSON)".to_owned(), format!("{}/summary.json", figure.id)),
        ("experiment file".to_owned(), format!("{}/results/experiment.toml", figure.id)),
    ];
    for drawing in tiles.iter().map(|tile| tile.name()).chain(["figure"]) {
        for kind in ["svg", "png"] {
            files.push((format!("{drawing}.{kind}"), format!("{}/{drawing}.{kind}", figure.id)));
        }
    }
    page::Figure {
        id: figure.id.to_owned(),
        name: name.to_owned(),
        title: title.to_owned(),
        caption: figure.caption.to_owned(),
        settings: settings(numbers),
        runs: fresh_table(figure, numbers),
        command: format!("{} --out {}", command(std::iter::once(figure), options), figure.id),
        tiles,
        files,
    }
}

fn settings(numbers: &FigureNumbers) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> =
        numbers.settings.iter().map(|(key, value)| (key.replace('_', " "), text(value))).collect();
    rows.push(("best attainable J_μ".to_owned(), format!("{:.6}", numbers.optimum)));
    rows.push(("J_μ where the semi-gradient leads".to_owned(), format!("{:.6}", numbers.semi_gradient)));
    if let Some(start) = numbers.start {
        rows.push(("J_μ to start from".to_owned(), format!("{start:.6}")));
    }
    rows
}

fn fresh_table(figure: &Figure, numbers: &FigureNumbers) -> Table {
    let aliased =
        if figure.aliased.ends_with(".A0") { "π(A0) if aliased" } else { "mean action if aliased" };
    let columns = [
        "method",
        "step-size α",
        "critic",
        "certainty",
        "runs",
        "final J_μ",
        "5 %",
        "median",
        "95 %",
        aliased,
        "diverged",
    ];
    let runs = numbers.settings.get("fresh_runs").map_or_else(String::new, Value::to_string);
    Table {
        caption: format!("The best settings on {runs} fresh runs"),
        columns: columns.map(str::to_owned).into(),
        rows: numbers.methods.iter().filter_map(|m| Some(fresh_row(m, m.fresh.as_ref()?))).collect(),
    }
}

/// A number that may be missing.
pub(crate) fn known(x: Option<f64>) -> String {
    x.map_or_else(|| "–".to_owned(), shown)
}

/// The same with its error, if there is one.
pub(crate) fn known_with_error(mean: Option<f64>, error: Option<f64>) -> String {
    match (mean, error) {
        (Some(mean), Some(error)) => with_error(mean, error),
        _ => known(mean),
    }
}

fn fresh_row(method: &MethodNumbers, fresh: &Fresh) -> Vec<String> {
    let quantile = |percent: &str| known(fresh.final_quantiles.get(percent).and_then(Value::as_f64));
    vec![
        method.label(),
        number(method.best.alpha),
        critic(&method.best.critic),
        method.best.probability_best.map_or_else(|| "–".to_owned(), |p| format!("{:.0} %", 100.0 * p)),
        fresh.runs.to_string(),
        known_with_error(fresh.final_mean, fresh.final_sem),
        quantile("5"),
        quantile("50"),
        quantile("95"),
        known_with_error(fresh.aliased_mean, fresh.aliased_sem),
        fresh.diverged.to_string(),
    ]
}

/// A critic in a few words: gtd, α_v 0.1, α_w 1e-8, λ 0.
fn critic(critic: &Map<String, Value>) -> String {
    let name = |key: &str| match key {
        "alpha_v" => "α_v ",
        "alpha_w" => "α_w ",
        "lambda" => "λ ",
        _ => "",
    };
    let words: Vec<String> = critic
        .iter()
        .filter(|(key, _)| *key != "features")
        .map(|(k, v)| format!("{}{}", name(k), text(v)))
        .collect();
    words.join(", ")
}

/// A setting: as it would be written.
pub(crate) fn number(x: f64) -> String {
    if x != 0.0 && x.abs() < 1e-3 { format!("{x:e}") } else { x.to_string() }
}

pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(x) if x.is_f64() => x.as_f64().map_or_else(|| x.to_string(), number),
        other => other.to_string(),
    }
}

/// The text between the title and the first heading of the second level.
pub(crate) fn preamble(markdown: &str) -> String {
    let before = markdown.split("\n## ").next().unwrap_or("");
    before.split_once('\n').map_or("", |(_, text)| text).trim().to_owned()
}

/// Titles and texts: each heading of the second level with what follows it.
pub(crate) fn differences(markdown: &str) -> Vec<(String, String)> {
    let entry = |part: &str| {
        let (title, text) = part.split_once('\n').unwrap_or((part, ""));
        (title.trim().to_owned(), text.trim().to_owned())
    };
    markdown.split("\n## ").skip(1).map(entry).collect()
}
