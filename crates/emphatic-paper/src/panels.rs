//! The panels of a figure.

use crate::figure_numbers::{FigureNumbers, MethodNumbers, StepSize};
use crate::figures::Figure;
use crate::verdict::shown;
use emphatic_chart::{Axis, Drawing, Line, Panel, Point, Reference, Scale, Uncertainty, row};

/// The panels: sensitivity to the step-size (figure 1: the problem), learning curves, the policy in the aliased states.
pub fn tiles(figure: &Figure, numbers: &FigureNumbers) -> Vec<Drawing> {
    let first = match figure.id {
        "fig1" => Drawing::Counterexample,
        _ => sensitivity(numbers).into(),
    };
    let others = [curves(numbers), policy(figure, numbers)];
    std::iter::once(first).chain(others.map(Drawing::from)).collect()
}

/// Every drawing of a figure, with the name of its file: each panel alone, and all in a row.
pub fn drawings(figure: &Figure, numbers: &FigureNumbers) -> Vec<(&'static str, String)> {
    let tiles = tiles(figure, numbers);
    let mut drawings: Vec<(&'static str, String)> =
        tiles.iter().map(|tile| (tile.name(), tile.svg(figure.id))).collect();
    drawings.push(("figure", row(figure.title, &tiles)));
    drawings
}

fn sensitivity(numbers: &FigureNumbers) -> Panel {
    // With a diverged run, the mean of the others would be about something else: a gap.
    let point = |size: &StepSize| Point {
        x: size.alpha,
        y: size.final_mean.filter(|_| size.diverged == 0),
        uncertainty: size.final_sem.map(Uncertainty::Error),
    };
    panel(
        "sensitivity",
        "Step-size sensitivity",
        Axis { label: "step-size α".to_owned(), scale: Scale::Log, range: None },
        "final J_μ",
        lines(numbers, |method| method.sensitivity.iter().map(point).collect()),
        Some(numbers.optimum),
    )
}

fn curves(numbers: &FigureNumbers) -> Panel {
    panel(
        "curves",
        "Learning curves",
        episodes(),
        "J_μ",
        lines(numbers, |m| points(&m.best.episodes, &m.best.objective_mean, &m.best.objective_sem)),
        Some(numbers.optimum),
    )
}

fn policy(figure: &Figure, numbers: &FigureNumbers) -> Panel {
    let mut panel = panel(
        "policy",
        "Policy in the aliased states",
        episodes(),
        figure.aliased_label,
        lines(numbers, |m| points(&m.best.episodes, &m.best.aliased_mean, &m.best.aliased_sem)),
        None,
    );
    // A probability is best shown between its bounds; a mean action has no bounds.
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

fn lines(numbers: &FigureNumbers, points: impl Fn(&MethodNumbers) -> Vec<Point>) -> Vec<Line> {
    numbers.methods.iter().map(|m| Line::of_method(m.label(), points(m))).collect()
}

fn points(at: &[u64], mean: &[Option<f64>], error: &[Option<f64>]) -> Vec<Point> {
    let points = at.iter().zip(mean).zip(error);
    let point = |((&at, &y), &error): ((&u64, &Option<f64>), &Option<f64>)| Point {
        x: at as f64,
        y,
        uncertainty: error.map(Uncertainty::Error),
    };
    points.map(point).collect()
}
