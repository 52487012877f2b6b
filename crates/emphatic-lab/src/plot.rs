//! Pictures of results: learning curves, and where each run ends.

use crate::experiment::{Cell, Experiment};
use crate::runs::Run;
use crate::statistics::{mean, quantile};
use crate::store::StoreError;
use crate::summary::{self, BestRuns, MethodSummary, label};
use emphatic_chart::{
    Axis, Drawing, Line, Panel, Point, Scale, Strip, Strips, Style, Uncertainty, grid, literal, strips,
};
use emphatic_problems::suggest;
use emphatic_text::shortened;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::path::Path;
use thiserror::Error;

/// The most characters of a problem's name and values in a title.
const LONGEST_TITLE: usize = 90;

/// With more lines than this, a panel needs the width of the page.
const MANY_LINES: usize = 8;

/// What a picture shows of the best setting of each method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlotKind {
    /// The mean over runs along them, with its interval.
    #[default]
    Curves,
    /// The end of each run, as a dot.
    Strips,
}

/// What to draw.
#[derive(Clone, Debug, Default)]
pub struct PlotOptions {
    /// What it shows.
    pub kind: PlotKind,
    /// The recorded quantity; if `None`, the one that settings are judged by.
    pub quantity: Option<String>,
    /// Whether its axis is logarithmic.
    pub log: bool,
    /// The methods to show, as a summary lists them; all if empty.
    pub methods: Vec<String>,
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Plot {
    /// The picture as SVG.
    pub svg: String,
    /// How far the experiment is, if it is not complete.
    pub under_way: Option<String>,
    /// What is wrong with the results.
    pub warnings: Vec<String>,
}

/// Why results could not be drawn.
#[derive(Debug, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum PlotError {
    /// The results cannot be used.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Store(#[from] StoreError),
    /// There is no such method.
    #[error("there is no method `{name}` in these results")]
    NoMethod {
        /// What was asked for.
        name: String,
        /// Which there are.
        #[help]
        help: Option<String>,
    },
    /// No method has a value, or none has a place on a logarithmic axis.
    #[error("there is nothing to draw: {0}")]
    Nothing(String),
}

/// Draws the results in a directory, finished or not.
pub fn plot(dir: &Path, options: &PlotOptions) -> Result<Plot, PlotError> {
    let best = summary::best_runs(dir, options.quantity.as_deref())?;
    if best.summary.methods.is_empty() {
        let warnings = best.summary.warnings.join("; ");
        let none = "no run is there of all settings of a method yet";
        return Err(PlotError::Nothing(if warnings.is_empty() { none.to_owned() } else { warnings }));
    }
    let mut shown = methods(&best);
    for name in &options.methods {
        if !shown.iter().any(|method| method.is_called(name)) {
            let names: BTreeSet<&str> =
                shown.iter().flat_map(|method| [method.label.as_str(), &method.summary.method]).collect();
            return Err(PlotError::NoMethod { name: name.clone(), help: suggest(name, names.into_iter()) });
        }
    }
    if !options.methods.is_empty() {
        shown.retain(|method| options.methods.iter().any(|name| method.is_called(name)));
    }
    let picture = Picture { best: &best, problems: problems(&best.experiment, shown), log: options.log };
    let svg = match options.kind {
        PlotKind::Curves => picture.curves(),
        PlotKind::Strips => picture.strips(),
    };
    let nothing = || match options.log {
        true => {
            format!("no value of `{}` has a place on a logarithmic axis: none is positive", best.quantity)
        }
        false => format!("no run has a value of `{}`: did all diverge?", best.quantity),
    };
    let svg = svg.ok_or_else(|| PlotError::Nothing(nothing()))?;
    Ok(Plot { svg, under_way: best.summary.under_way(), warnings: best.summary.warnings })
}

/// A method in one problem.
struct Method<'a> {
    /// Its name with the values that distinguish it, but not with those of its problem.
    label: String,
    style: Style,
    summary: &'a MethodSummary,
    runs: &'a [Run],
}

impl Method<'_> {
    fn is_called(&self, name: &str) -> bool {
        self.label == name
            || self.summary.method == name
            || label(&self.summary.method, &self.summary.values) == name
    }

    /// How many of its runs diverged, or have no value at their end for another reason; empty if all have one.
    fn missing(&self) -> String {
        let missing = self.runs.iter().filter(|run| run.last().is_none()).count();
        let diverged = self.runs.iter().filter(|run| run.diverged).count();
        match missing {
            0 => String::new(),
            _ if missing == diverged => format!("{missing} of {} diverged", self.runs.len()),
            _ => format!("{missing} of {} without a value", self.runs.len()),
        }
    }
}

/// The methods in the order of the summary. The same method looks the same in every problem.
fn methods(best: &BestRuns) -> Vec<Method<'_>> {
    let mut methods: Vec<Method> = Vec::new();
    let mut labels: Vec<String> = Vec::new();
    for (summary, runs) in best.summary.methods.iter().zip(&best.runs) {
        let problem = scenario(&best.experiment, summary);
        let columns = &best.experiment.scenarios[problem].columns;
        // With one problem, a summary does not name it.
        let several = best.experiment.scenarios.len() > 1;
        let of_problem = |name: &String| several && columns.iter().any(|(known, _)| known == name);
        let values = summary.values.iter().filter(|(name, _)| !of_problem(name));
        let values: Map<String, Value> = values.map(|(name, value)| (name.clone(), value.clone())).collect();
        let plain = label(&summary.method, &values);
        let is_taken = |label: &str| {
            methods.iter().any(|m| m.label == label && scenario(&best.experiment, m.summary) == problem)
        };
        // Long names and values are cut, so two may look the same.
        let (mut label, mut same) = (plain.clone(), 1);
        while is_taken(&label) {
            same += 1;
            label = format!("{plain} [{same}]");
        }
        let number = labels.iter().position(|known| *known == label).unwrap_or_else(|| {
            labels.push(label.clone());
            labels.len() - 1
        });
        methods.push(Method { label, style: Style::numbered(number), summary, runs });
    }
    methods
}

fn scenario(experiment: &Experiment, method: &MethodSummary) -> usize {
    experiment.structure(method.best).scenario
}

/// Methods by problem, with its name.
fn problems<'a>(experiment: &Experiment, methods: Vec<Method<'a>>) -> Vec<(String, Vec<Method<'a>>)> {
    let mut problems: Vec<(usize, String, Vec<Method>)> = Vec::new();
    for method in methods {
        let number = scenario(experiment, method.summary);
        match problems.iter_mut().find(|(known, ..)| *known == number) {
            Some((_, _, methods)) => methods.push(method),
            None => problems.push((number, problem_title(experiment, method.summary.best), vec![method])),
        }
    }
    problems.into_iter().map(|(_, title, methods)| (title, methods)).collect()
}

/// The problem's name, with the values in which it differs from other problems of the experiment.
fn problem_title(experiment: &Experiment, setting: usize) -> String {
    let is_common = |value: &(String, Cell)| experiment.scenarios.iter().all(|s| s.columns.contains(value));
    let columns = &experiment.scenarios[experiment.structure(setting).scenario].columns;
    let name = columns.iter().find(|(name, _)| name == "problem").map(|(_, cell)| cell.json());
    let name = name.as_ref().and_then(Value::as_str).unwrap_or_default();
    let others = columns.iter().filter(|value| value.0 != "problem" && !is_common(value));
    let title = label(name, &others.map(|(name, cell)| (name.clone(), cell.json())).collect());
    shortened(&title, LONGEST_TITLE)
}

/// What is drawn: methods by problem.
struct Picture<'a> {
    best: &'a BestRuns,
    problems: Vec<(String, Vec<Method<'a>>)>,
    log: bool,
}

impl Picture<'_> {
    /// A panel of curves for each problem; `None` if nothing has a place on the axis.
    fn curves(&self) -> Option<String> {
        let panel = |(title, methods): &(String, Vec<Method>)| Panel {
            name: "curves",
            title: literal(title),
            x: Axis { label: self.best.summary.axis.to_owned(), scale: Scale::Linear, range: None },
            y: self.axis(""),
            lines: methods.iter().map(line).collect(),
            reference: None,
        };
        let panels: Vec<Panel> = self.problems.iter().map(panel).collect();
        let points = || panels.iter().flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let mut caption = format!("Each method's best setting: means over {}", self.which_runs());
        if points().any(|point| point.uncertainty.is_some()) {
            caption += ", with 95 % bootstrap intervals";
        }
        caption += ". ";
        let missing: Vec<String> = self
            .all()
            .filter_map(|(problem, method)| {
                let missing = Some(method.missing()).filter(|missing| !missing.is_empty())?;
                let place = if self.problems.len() > 1 { format!(" in {problem}") } else { String::new() };
                Some(format!("{}{place}, {missing}", method.label))
            })
            .collect();
        if !missing.is_empty() {
            caption += &format!("Means are over the runs that have a value: {}. ", missing.join("; "));
        }
        let hidden = points().filter_map(|point| point.y).filter(|y| self.log && *y <= 0.0).count();
        if points().filter(|point| point.y.is_some()).count() == hidden {
            return None;
        }
        if hidden > 0 {
            caption += "Means that are not positive have no place on the logarithmic axis. ";
        }
        caption += &self.remarks();
        let many = panels.iter().any(|panel| panel.lines.len() > MANY_LINES);
        let columns = match panels.len() {
            _ if many => 1,
            4 => 2,
            count => count.min(3),
        };
        let panels: Vec<Drawing> = panels.into_iter().map(Drawing::from).collect();
        Some(grid("Learning curves", &panels, columns, &caption))
    }

    /// A row of dots for each method; `None` if nothing has a place on the axis.
    fn strips(&self) -> Option<String> {
        let of_problem = |(title, methods): &(String, Vec<Method>)| Strips {
            title: literal(title),
            x: self.axis(" at the end"),
            rows: methods.iter().map(|method| self.strip(method)).collect(),
        };
        let all: Vec<Strips> = self.problems.iter().map(of_problem).collect();
        let values = || all.iter().flat_map(|strips| &strips.rows).flat_map(|row| &row.values);
        if values().all(|value| self.log && *value <= 0.0) {
            return None;
        }
        let mut caption = format!("Each method's best setting: the ends of {}. ", self.which_runs());
        caption += &self.remarks();
        Some(strips("Where runs end", &all, &caption))
    }

    fn strip(&self, method: &Method) -> Strip {
        let values: Vec<f64> = method.runs.iter().filter_map(Run::last).collect();
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let hidden = values.iter().filter(|value| self.log && **value <= 0.0).count();
        let hidden = if hidden > 0 { format!("{hidden} not positive") } else { String::new() };
        let notes: Vec<String> =
            [method.missing(), hidden].into_iter().filter(|note| !note.is_empty()).collect();
        Strip {
            method: method.label.clone(),
            style: method.style,
            mean: mean(&values),
            median: quantile(&sorted, 0.5),
            values,
            note: notes.join(", "),
        }
    }

    /// What is to be known about the results, wherever the picture goes.
    fn remarks(&self) -> String {
        let summary = &self.best.summary;
        let warnings = summary.warnings.iter().map(|warning| format!("Warning: {warning}."));
        summary.under_way().into_iter().chain(warnings).collect::<Vec<_>>().join(" ")
    }

    fn axis(&self, after: &str) -> Axis {
        let name = match self.best.quantity.as_str() {
            "objective" => "objective J_μ".to_owned(),
            other => literal(other),
        };
        let scale = if self.log { Scale::Log } else { Scale::Linear };
        Axis { label: name + after, scale, range: None }
    }

    /// Every method with the name of its problem.
    fn all(&self) -> impl Iterator<Item = (&str, &Method<'_>)> {
        self.problems
            .iter()
            .flat_map(|(problem, methods)| methods.iter().map(move |method| (problem.as_str(), method)))
    }

    /// Which runs are drawn, and how many.
    fn which_runs(&self) -> String {
        let counts = || self.all().map(|(_, method)| method.runs.len());
        let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let count = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
        let fresh = self.all().filter(|(_, method)| method.summary.fresh.is_some()).count();
        match fresh {
            0 => format!("the {count} runs that it was chosen by"),
            _ if fresh == self.all().count() => format!("{count} fresh runs"),
            _ => format!("{count} runs (fresh ones where there are any)"),
        }
    }
}

/// The learning curve of a method.
fn line(method: &Method) -> Line {
    let point = |point: summary::Point| Point {
        x: point.at as f64,
        y: point.mean,
        // A single run says nothing about others.
        uncertainty: point
            .interval
            .filter(|_| point.runs > 1)
            .map(|interval| Uncertainty::Interval(interval.low, interval.high)),
    };
    let points = summary::curve(method.runs, true).into_iter().map(point).collect();
    Line { method: method.label.clone(), style: method.style, points }
}
