//! A diagnosis in one picture: `emphatic diagnose --figure`.

use crate::diagnosable::{Diagnosable, with_policy};
use crate::diagnose::{Diagnosis, learning_start};
use crate::flows::{Flows, PathPoint};
use crate::format::number;
use crate::names::feature_names;
use emphatic::real::elementary;
use emphatic::theory::integrate_flow;
use emphatic::{Exact, KnownProblem, Policy, Real};
use emphatic_chart::{
    Axis, Drawing, Flow, Landscape, Line, Note, Panel, ParameterAxis, Point, Reference, Scale,
};
use emphatic_problems::{ProblemFile, Target};
use std::ops::ControlFlow;

/// The names of the flows.
const KINDS: [&str; 2] = ["gradient", "semi-gradient"];

/// The number of points and of flows along each side of a landscape.
const HEIGHTS: usize = 101;
const STARTS: usize = 4;

/// A preference beyond which a probability looks like 0 or 1 in a picture.
const CERTAIN: f64 = 12.0;

/// A flow that takes more steps than this is not drawn to its end.
const MOST_POINTS: usize = 20_000;

/// The number of points of a line in a panel.
const POINTS: usize = 40;

/// The picture as SVG; `None` if flows were not integrated or lead nowhere. If the policy has two free parameters, it shows the
/// objective over them with both flows; otherwise the objective along both flows.
pub fn figure(problem: &ProblemFile, diagnosis: &Diagnosis) -> Option<String> {
    let flows = diagnosis.flows.as_ref().filter(|flows| flows.leads_somewhere())?;
    match Plane::of(problem) {
        Some(plane) => with_policy!(&problem.known, &learning_start(problem), |model, policy, weights| {
            Some(landscape(&plane, model, policy, weights, flows))
        }),
        None => Some(panel(flows)),
    }
}

/// The plane of a policy's two parameters.
struct Plane {
    kind: Parameters,
    sides: [ParameterAxis; 2],
}

#[derive(Clone, Copy)]
enum Parameters {
    /// For two features, the preference of the first of two actions over the second.
    TwoFeatures,
    /// For one feature, the preferences of two actions over the third.
    ThreeActions,
    /// The action itself for two features.
    TwoActions,
}

impl Plane {
    fn of(problem: &ProblemFile) -> Option<Self> {
        let (known, target) = (&problem.known, &problem.target);
        let (features, actions) = (known.actor(), known.actions());
        let alone = (0..features.states()).all(|s| features.active(s).map(|(_, x)| x).eq([1.0]));
        let squashed = |x: f64| 1.0 / (1.0 + (-x).exp());
        let preferences = [-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0].map(|x| (squashed(x), number(x)));
        let probabilities = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|p| (p, number(p)));
        let names = feature_names(features, known.states());
        let in_states = |f: usize| names[f].replace('+', " and ");
        let sides = |label: &dyn Fn(usize) -> String, ticks: &[(f64, String)]| {
            [0, 1].map(|k| ParameterAxis { label: label(k), ticks: ticks.to_vec() })
        };
        let (kind, sides) = match (known, target, features.len(), actions.len()) {
            (KnownProblem::Finite(_), Target::Softmax(_) | Target::Fixed(_), 2, 2) if alone => {
                let label = |f| format!("π({}) in {}", actions[0], in_states(f));
                (Parameters::TwoFeatures, sides(&label, &probabilities))
            }
            (KnownProblem::Finite(_), Target::Softmax(_) | Target::Fixed(_), 2, 2) => {
                let label = |f| format!("preference of {} over {} by feature {f}", actions[0], actions[1]);
                (Parameters::TwoFeatures, sides(&label, &preferences))
            }
            (KnownProblem::Finite(_), Target::Softmax(_) | Target::Fixed(_), 1, 3) => {
                let label = |a: usize| format!("preference of {} over {}", actions[a], actions[2]);
                (Parameters::ThreeActions, sides(&label, &preferences))
            }
            (KnownProblem::Continuous(_), Target::Deterministic(_), 2, _) => {
                let label = |f| format!("action in {}", in_states(f));
                (Parameters::TwoActions, sides(&label, &preferences))
            }
            _ => return None,
        };
        Some(Self { kind, sides })
    }

    /// The point of the unit square that the weights belong to.
    fn place(&self, w: &[f64]) -> (f64, f64) {
        let (x, y) = match self.kind {
            Parameters::TwoFeatures => (w[0] - w[1], w[2] - w[3]),
            Parameters::ThreeActions => (w[0] - w[2], w[1] - w[2]),
            Parameters::TwoActions => (w[0], w[1]),
        };
        (x.sigmoid(), y.sigmoid())
    }

    /// The point at which a flow that ends with these weights is drawn to end: nearly certain probabilities are drawn as certain.
    fn end(&self, weights: &[f64]) -> (f64, f64) {
        let certain = |x: f64| if (1e-4..=1.0 - 1e-4).contains(&x) { x } else { x.round() };
        let (x, y) = self.place(weights);
        (certain(x), certain(y))
    }

    /// Weights that belong to a point of the unit square.
    fn weights(&self, (x, y): (f64, f64)) -> Vec<f64> {
        let logit = |p: f64| elementary::ln(p / (1.0 - p)).clamp(-3.0 * CERTAIN, 3.0 * CERTAIN);
        let (x, y) = (logit(x), logit(y));
        match self.kind {
            Parameters::TwoFeatures => vec![0.5 * x, -0.5 * x, 0.5 * y, -0.5 * y],
            Parameters::ThreeActions => vec![x, y, 0.0],
            Parameters::TwoActions => vec![x, y],
        }
    }
}

fn landscape<P: Policy, M: Diagnosable<P>>(
    plane: &Plane,
    model: &M,
    policy: &P,
    weights: &[f64],
    followed: &Flows,
) -> String {
    let at = |k: usize| k as f64 / (HEIGHTS - 1) as f64;
    let height = |x: f64, y: f64| {
        Exact::new(model, policy, &plane.weights((x, y))).map_or(f64::NAN, |exact| exact.objective())
    };
    let heights =
        (0..HEIGHTS).map(|row| (0..HEIGHTS).map(|column| height(at(column), at(row))).collect()).collect();
    let middle = |k: usize| (k as f64 + 0.5) / STARTS as f64;
    let mut flows = Vec::new();
    let reached = [followed.gradient(), followed.semi_gradient()];
    let (paths, ends) = (followed.paths.each(), followed.ends.each());
    for (kind, lambda_a) in [1.0, 0.0].into_iter().enumerate() {
        for k in 0..STARTS * STARTS {
            let from = plane.weights((middle(k % STARTS), middle(k / STARTS)));
            let points = flow(plane, model, policy, &from, lambda_a);
            flows.push(Flow { kind, points, main: false, end: String::new() });
        }
        let path = paths[kind].iter().map(|point| plane.place(&point.weights));
        let points =
            std::iter::once(plane.place(weights)).chain(path).chain([plane.end(ends[kind])]).collect();
        let end = reached[kind].objective.map_or(String::new(), shown);
        flows.push(Flow { kind, points, main: true, end });
    }
    let [x, y] = plane.sides.clone();
    let landscape = Landscape {
        title: "Where the gradient and the semi-gradient lead".to_owned(),
        x,
        y,
        heights,
        height_label: "J_μ".to_owned(),
        kinds: KINDS.map(str::to_owned).to_vec(),
        flows,
        start: Some(Note { at: plane.place(weights), label: format!("start {}", shown(followed.start)) }),
    };
    landscape.svg("diagnosis")
}

/// A number with the four digits that a picture shows.
fn shown(x: f64) -> String {
    number(format!("{x:.3e}").parse().unwrap_or(x))
}

/// The points of a flow in the unit square.
fn flow<P: Policy, M: Diagnosable<P>>(
    plane: &Plane,
    model: &M,
    policy: &P,
    from: &[f64],
    lambda_a: f64,
) -> Vec<(f64, f64)> {
    let mut points = vec![plane.place(from)];
    let limit = integrate_flow(model, policy, from, lambda_a, &mut |moment| {
        points.push(plane.place(moment.weights));
        // A flow whose objective is unbounded has no end.
        if points.len() < MOST_POINTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    points.extend(limit.ok().map(|limit| plane.end(&limit.weights)));
    points
}

/// A panel of the objective along both flows from the given policy.
fn panel(flows: &Flows) -> String {
    let line = |(path, kind): (&Vec<PathPoint>, &str)| Line::of_method(kind.to_owned(), points(path));
    let panel = Panel {
        name: "flows",
        title: "The objective along both flows".to_owned(),
        x: Axis { label: "α · steps".to_owned(), scale: Scale::Log, range: None },
        y: Axis { label: "J_μ".to_owned(), scale: Scale::Linear, range: None },
        lines: flows.paths.each().into_iter().zip(KINDS).map(line).collect(),
        reference: Some(Reference { y: flows.best, label: format!("best found {}", shown(flows.best)) }),
    };
    Drawing::from(panel).svg("diagnosis")
}

/// Points of a flow at about equal ratios of time, from where the objective begins to move to where it stops.
fn points(path: &[PathPoint]) -> Vec<Point> {
    let (Some(first), Some(last)) = (path.first(), path.last()) else { return Vec::new() };
    let objectives = || path.iter().map(|point| point.objective);
    let (low, high) =
        (objectives().fold(first.objective, f64::min), objectives().fold(first.objective, f64::max));
    let little = 1e-3 * (high - low);
    let begin = path.iter().position(|p| (p.objective - first.objective).abs() > little).unwrap_or(0);
    let end = path.iter().rposition(|p| (p.objective - last.objective).abs() > little);
    let end = end.map_or(begin, |end| end + 1).min(path.len() - 1);
    let (from, to) = (path[begin.saturating_sub(1)].time, path[end].time);
    let ratio = (to / from).powf(1.0 / POINTS as f64);
    let mut points: Vec<Point> = Vec::new();
    for PathPoint { time, objective, .. } in path.iter().filter(|p| (from..=to).contains(&p.time)) {
        if points.last().is_none_or(|point| *time >= point.x * ratio) {
            points.push(Point { x: *time, y: Some(*objective), uncertainty: None });
        }
    }
    points
}
