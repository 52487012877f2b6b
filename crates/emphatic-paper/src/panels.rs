//! A figure's panels, from its numbers.

use crate::figures::Figure;
use crate::summary::{FigureSummary, MethodFigure};
use crate::verdict::shown;
use emphatic_chart::{Axis, Drawing, Line, Panel, Point, Reference, Scale, row};

/// A figure's panels: sensitivity to the step-size (figure 1: the problem), learning curves, the policy in the aliased states.
pub fn tiles(figure: &Figure, summary: &FigureSummary) -> Vec<Drawing> {
    let first = match figure.id {
        "fig1" => Drawing::Counterexample,
        _ => sensitivity(summary).into(),
    };
    let others = [curves(summary), policy(figure, summary)];
    std::iter::once(first).chain(others.map(Drawing::from)).collect()
}

/// Every drawing of a figure by its file's name: each panel alone, and all in a row.
pub fn drawings(figure: &Figure, summary: &FigureSummary) -> Vec<(&'static str, String)> {
    let tiles = tiles(figure, summary);
    let mut drawings: Vec<(&'static str, String)> =
        tiles.iter().map(|tile| (tile.name(), tile.svg(figure.id))).collect();
    drawings.push(("figure", row(figure.title, &tiles)));
    drawings
}

fn sensitivity(summary: &FigureSummary) -> Panel {
    // The mean of the runs that did not diverge would be about something else: a gap.
    let point = |size: &crate::summary::StepSize| Point {
        x: size.alpha,
        y: size.final_mean.filter(|_| size.diverged == 0),
        error: size.final_sem,
    };
    panel(
        "sensitivity",
        "Step-size sensitivity",
        Axis { label: "step-size α".to_owned(), scale: Scale::Log, range: None },
        "final J_μ",
        lines(summary, |method| method.sensitivity.iter().map(point).collect()),
        Some(summary.optimum),
    )
}

fn curves(summary: &FigureSummary) -> Panel {
    panel(
        "curves",
        "Learning curves",
        episodes(),
        "J_μ",
        lines(summary, |m| points(&m.best.episodes, &m.best.objective_mean, &m.best.objective_sem)),
        Some(summary.optimum),
    )
}

fn policy(figure: &Figure, summary: &FigureSummary) -> Panel {
    let mut panel = panel(
        "policy",
        "Policy in the aliased states",
        episodes(),
        figure.aliased_label,
        lines(summary, |m| points(&m.best.episodes, &m.best.aliased_mean, &m.best.aliased_sem)),
        None,
    );
    // A probability is seen best between its bounds; a mean action has none.
    panel.y.range = figure.aliased.ends_with(".A0").then_some((0.0, 1.0));
    panel
}

fn panel(name: &'static str, title: &str, x: Axis, y: &str, lines: Vec<Line>, optimum: Option<f64>) -> Panel {
    Panel {
        name,
        title: title.to_owned(),
        x,
        y: Axis { label: y.to_owned(), scale: Scale::Linear, range: None },
        lines,
        reference: optimum.map(|y| Reference { y, label: format!("optimum {}", shown(y)) }),
    }
}

fn episodes() -> Axis {
    Axis { label: "episodes".to_owned(), scale: Scale::Linear, range: None }
}

fn lines(summary: &FigureSummary, points: impl Fn(&MethodFigure) -> Vec<Point>) -> Vec<Line> {
    summary.methods.iter().map(|m| Line { method: m.label(), points: points(m) }).collect()
}

fn points(at: &[u64], mean: &[Option<f64>], error: &[Option<f64>]) -> Vec<Point> {
    let point = |((at, mean), error): ((&u64, &Option<f64>), &Option<f64>)| Point {
        x: *at as f64,
        y: *mean,
        error: *error,
    };
    at.iter().zip(mean).zip(error).map(point).collect()
}
