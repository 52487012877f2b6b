//! The panels of a problem: learning curves and sensitivity to the actor's step-size, for either objective and critic.

use super::numbers::{MethodNumbers, ObjectiveNumbers, ProblemNumbers, StepSize};
use super::{CRITICS, Critic, Objective, StudyProblem};
use emphatic_chart::{Axis, Drawing, Line, Panel, Point, Scale, Uncertainty, grid};

/// How many panels stand side by side.
const COLUMNS: usize = 2;

/// The panels where settings are chosen and judged by one objective.
pub(super) fn tiles(numbers: &ObjectiveNumbers) -> Vec<Drawing> {
    let curves = CRITICS.map(|critic| curves(numbers, critic).into());
    let sensitivity = CRITICS.map(|critic| sensitivity(numbers, critic).into());
    curves.into_iter().chain(sensitivity).collect()
}

/// Every drawing of a problem, with the name of its file.
pub(super) fn drawings(problem: &StudyProblem, numbers: &ProblemNumbers) -> Vec<(String, String)> {
    let mut drawings = Vec::new();
    for of_objective in &numbers.objectives {
        let tiles = tiles(of_objective);
        let objective = of_objective.objective;
        for tile in &tiles {
            drawings.push((format!("{objective}-{}", tile.name()), tile.svg(&id(problem, objective))));
        }
        let title = format!("{}, {objective} objective", problem.title);
        drawings.push((objective.to_string(), grid(&title, &tiles, COLUMNS, "")));
    }
    drawings
}

/// The name of a problem's figure for one objective.
pub(super) fn id(problem: &StudyProblem, objective: Objective) -> String {
    format!("{}-{objective}", problem.id)
}

fn curves(numbers: &ObjectiveNumbers, critic: Critic) -> Panel {
    let points = |method: &MethodNumbers| {
        let fresh = &method.fresh;
        let each = fresh.at.iter().zip(&fresh.curve).zip(&fresh.curve_error);
        each.map(|((at, y), error)| point(*at as f64, *y, *error)).collect()
    };
    Panel {
        name: match critic {
            Critic::Tdrc => "curves-tdrc",
            Critic::Etd => "curves-etd",
        },
        title: format!("Learning curves with {critic}"),
        x: Axis { label: "steps".to_owned(), scale: Scale::Linear, range: None },
        y: returns(numbers),
        lines: lines(numbers, critic, points),
        reference: None,
    }
}

fn sensitivity(numbers: &ObjectiveNumbers, critic: Critic) -> Panel {
    let of_size = |size: &StepSize| point(size.alpha, size.mean, size.error);
    Panel {
        name: match critic {
            Critic::Tdrc => "sensitivity-tdrc",
            Critic::Etd => "sensitivity-etd",
        },
        title: format!("Step-size sensitivity with {critic}"),
        x: Axis { label: "the actor's step-size α".to_owned(), scale: Scale::Log, range: None },
        y: returns(numbers),
        lines: lines(numbers, critic, |method| method.sensitivity.iter().map(of_size).collect()),
        reference: None,
    }
}

fn returns(numbers: &ObjectiveNumbers) -> Axis {
    let label = match numbers.objective {
        Objective::Episodic => "return",
        Objective::Excursions => "return of excursions",
    };
    Axis { label: label.to_owned(), scale: Scale::Linear, range: None }
}

fn lines(
    numbers: &ObjectiveNumbers,
    critic: Critic,
    points: impl Fn(&MethodNumbers) -> Vec<Point>,
) -> Vec<Line> {
    let methods = numbers.methods.iter().filter(|method| method.critic == critic);
    methods.map(|method| Line::of_method(method.method.to_string(), points(method))).collect()
}

fn point(x: f64, y: Option<f64>, error: Option<f64>) -> Point {
    Point { x, y, uncertainty: error.map(Uncertainty::Error) }
}
