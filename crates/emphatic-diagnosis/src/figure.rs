//! A diagnosis in one picture: `emphatic diagnose --figure`.

use crate::diagnose::{Diagnosis, learned};
use crate::flows::{Flows, Path};
use crate::solve::{feature_names, number};
use crate::subject::{Subject, with_subject};
use emphatic::real::elementary;
use emphatic::theory::follow;
use emphatic::{Exact, Policy, Real};
use emphatic_chart::{
    Axis, Drawing, Flow, Landscape, Line, Note, Panel, ParameterAxis, Point, Reference, Scale,
};
use emphatic_problems::{ProblemFile, Target, World};
use std::ops::ControlFlow;

/// What the flows are called.
const KINDS: [&str; 2] = ["gradient", "semi-gradient"];

/// Points along each side of a landscape, and flows that start along each side.
const HEIGHTS: usize = 101;
const STARTS: usize = 4;

/// Beyond this a probability cannot be told from 0 or 1 in a picture.
const CERTAIN: f64 = 12.0;

/// A flow that takes more steps than this is not drawn to its end.
const MOST_POINTS: usize = 20_000;

/// Points of a line in a panel.
const POINTS: usize = 40;

/// The picture as SVG; nothing if flows were not followed or lead nowhere. If the policy has two free parameters, it is the objective over them with
/// both flows; else the objective along both flows.
pub fn figure(problem: &ProblemFile, diagnosis: &Diagnosis) -> Option<String> {
    let flows = diagnosis.flows.as_ref().filter(|flows| flows.leads_somewhere())?;
    match Plane::of(problem) {
        Some(plane) => with_subject!(&problem.world, &learned(problem), |model, policy, weights| {
            Some(landscape(&plane, model, policy, weights, flows))
        }),
        None => Some(panel(flows)),
    }
}

/// The two parameters that a policy has.
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
        let (features, actions) = (problem.world.actor(), problem.world.actions());
        let names = feature_names(features, problem.world.states());
        let alone = (0..features.states()).all(|s| features.active(s).map(|(_, x)| x).eq([1.0]));
        let probabilities = || [0.0, 0.2, 0.4, 0.6, 0.8, 1.0].map(|p| (p, number(p))).to_vec();
        let squashed = |x: f64| 1.0 / (1.0 + (-x).exp());
        let preferences =
            || [-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0].map(|x| (squashed(x), number(x))).to_vec();
        let in_states = |f: usize| names[f].replace('+', " and ");
        let (kind, sides) = match (&problem.world, &problem.target, features.len(), actions.len()) {
            (World::Finite(_), Target::Softmax(_) | Target::Fixed(_), 2, 2) if alone => {
                let side = |f| ParameterAxis {
                    label: format!("π({}) in {}", actions[0], in_states(f)),
                    ticks: probabilities(),
                };
                (Parameters::TwoFeatures, [side(0), side(1)])
            }
            (World::Finite(_), Target::Softmax(_) | Target::Fixed(_), 2, 2) => {
                let side = |f| ParameterAxis {
                    label: format!("preference of {} over {} by feature {f}", actions[0], actions[1]),
                    ticks: preferences(),
                };
                (Parameters::TwoFeatures, [side(0), side(1)])
            }
            (World::Finite(_), Target::Softmax(_) | Target::Fixed(_), 1, 3) => {
                let side = |a: usize| ParameterAxis {
                    label: format!("preference of {} over {}", actions[a], actions[2]),
                    ticks: preferences(),
                };
                (Parameters::ThreeActions, [side(0), side(1)])
            }
            (World::Continuous(_), Target::Deterministic(_), 2, _) => {
                let side =
                    |f| ParameterAxis { label: format!("action in {}", in_states(f)), ticks: preferences() };
                (Parameters::TwoActions, [side(0), side(1)])
            }
            _ => return None,
        };
        Some(Self { kind, sides })
    }

    /// Where weights lie in the unit square.
    fn place(&self, w: &[f64]) -> (f64, f64) {
        let (x, y) = match self.kind {
            Parameters::TwoFeatures => (w[0] - w[1], w[2] - w[3]),
            Parameters::ThreeActions => (w[0] - w[2], w[1] - w[2]),
            Parameters::TwoActions => (w[0], w[1]),
        };
        (x.sigmoid(), y.sigmoid())
    }

    /// Where a flow that ends with these weights is drawn to end: what is as good as certain is certain, if never quite.
    fn end(&self, weights: &[f64]) -> (f64, f64) {
        let certain = |x: f64| if (1e-4..=1.0 - 1e-4).contains(&x) { x } else { x.round() };
        let (x, y) = self.place(weights);
        (certain(x), certain(y))
    }

    /// Weights that lie there.
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

fn landscape<P: Policy, M: Subject<P>>(
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
    for (kind, lambda_a) in [1.0, 0.0].into_iter().enumerate() {
        for k in 0..STARTS * STARTS {
            let from = plane.weights((middle(k % STARTS), middle(k / STARTS)));
            flows.push(Flow {
                kind,
                points: flow(plane, model, policy, &from, lambda_a),
                main: false,
                end: String::new(),
            });
        }
        let reached = if kind == 0 { followed.gradient() } else { followed.semi_gradient() };
        let way = followed.paths[kind].moments.iter().map(|moment| plane.place(&moment.1));
        let points = std::iter::once(plane.place(weights))
            .chain(way)
            .chain([plane.end(&followed.ends[kind])])
            .collect();
        flows.push(Flow { kind, points, main: true, end: reached.objective.map_or(String::new(), shown) });
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

/// Four digits are enough for a picture.
fn shown(x: f64) -> String {
    number(format!("{x:.3e}").parse().unwrap_or(x))
}

/// Where a flow goes in the unit square.
fn flow<P: Policy, M: Subject<P>>(
    plane: &Plane,
    model: &M,
    policy: &P,
    from: &[f64],
    lambda_a: f64,
) -> Vec<(f64, f64)> {
    let mut points = vec![plane.place(from)];
    let limit = follow(model, policy, from, lambda_a, &mut |moment| {
        points.push(plane.place(moment.weights));
        // Where the objective has no bound, there is no end.
        if points.len() < MOST_POINTS { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    points.extend(limit.ok().map(|limit| plane.end(&limit.weights)));
    points
}

/// The objective along both flows from the given policy.
fn panel(flows: &Flows) -> String {
    let lines = flows
        .paths
        .iter()
        .zip(KINDS)
        .map(|(path, kind)| Line { method: kind.to_owned(), points: points(path) });
    let panel = Panel {
        name: "flows",
        title: "The objective along both flows".to_owned(),
        x: Axis { label: "α · steps".to_owned(), scale: Scale::Log, range: None },
        y: Axis { label: "J_μ".to_owned(), scale: Scale::Linear, range: None },
        lines: lines.collect(),
        reference: Some(Reference { y: flows.best, label: format!("best found {}", shown(flows.best)) }),
    };
    Drawing::from(panel).svg("diagnosis")
}

/// Moments of a flow at about equal ratios of time, from when something happens until nothing does.
fn points(path: &Path) -> Vec<Point> {
    let (Some(first), Some(last)) = (path.moments.first(), path.moments.last()) else { return Vec::new() };
    let range = path.moments.iter().fold((first.2, first.2), |(low, high), m| (low.min(m.2), high.max(m.2)));
    let little = 1e-3 * (range.1 - range.0);
    let begin = path.moments.iter().position(|m| (m.2 - first.2).abs() > little).unwrap_or(0);
    let end = path.moments.iter().rposition(|m| (m.2 - last.2).abs() > little).map_or(begin, |end| end + 1);
    let (from, to) =
        (path.moments[begin.saturating_sub(1)].0, path.moments[end.min(path.moments.len() - 1)].0);
    let ratio = (to / from).powf(1.0 / POINTS as f64);
    let mut points: Vec<Point> = Vec::new();
    for moment in path.moments.iter().filter(|m| (from..=to).contains(&m.0)) {
        if points.last().is_none_or(|point| moment.0 >= point.x * ratio) {
            points.push(Point { x: moment.0, y: Some(moment.2), error: None });
        }
    }
    points
}
