//! Flows over a landscape: their paths with arrows, and the labels at their ends.

use crate::area::Area;
use crate::contour::thinned;
use crate::document::{SMALL, polyline};
use crate::landscape::{TOLERANCE, place};
use crate::legend::SAMPLE_WIDTH;
use crate::markup::{px, width};
use crate::style::disc;

/// A path from a start to an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flow {
    /// The number of its kind: 0 is the first.
    pub kind: usize,
    /// Both coordinates between 0 and 1. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Whether the picture is about it: it is then drawn thicker, over all others.
    pub main: bool,
    /// The label at its end, in the markup of labels: "1.25"; empty for none.
    pub end: String,
}

/// A flow in pixels.
pub(crate) struct Path<'a> {
    pub(crate) flow: &'a Flow,
    pub(crate) points: Vec<(f64, f64)>,
}

/// The colour and dashes of a kind of flow.
#[derive(Clone, Copy)]
struct KindStyle {
    colour: &'static str,
    dashes: &'static [f64],
}

/// The first two have the colours of ACE(1) and ACE(0) in panels: they are the gradient and the semi-gradient.
const KINDS: [KindStyle; 5] = [
    KindStyle { colour: "#08306B", dashes: &[] },
    KindStyle { colour: "#D55E00", dashes: &[5.0, 1.6] },
    KindStyle { colour: "#00694D", dashes: &[1.6, 1.6] },
    KindStyle { colour: "#A0356F", dashes: &[8.0, 2.0, 1.6, 2.0] },
    KindStyle { colour: "#000000", dashes: &[2.5, 2.5] },
];

const THIN: f64 = 0.8;
const THICK: f64 = 2.6;
/// The longest distance between the arrows of a flow, in pixels.
const ARROWS_APART: f64 = 400.0;

/// How far a label may be from what it names.
const GAPS: [f64; 3] = [6.0, 9.0, 12.0];
/// On which side of it: to the right and downwards.
const SIDES: [(f64, f64); 12] = [
    (0.0, -1.0),
    (0.0, 1.0),
    (1.0, 0.0),
    (-1.0, 0.0),
    (1.0, -0.7),
    (-1.0, -0.7),
    (1.0, 0.7),
    (-1.0, 0.7),
    (1.0, -1.0),
    (-1.0, -1.0),
    (1.0, 1.0),
    (-1.0, 1.0),
];

/// Draws all flows, the main ones on top.
pub(crate) fn draw_flows(paths: &[Path]) -> String {
    let (main, others): (Vec<&Path>, Vec<&Path>) = paths.iter().partition(|path| path.flow.main);
    let mut svg = String::new();
    for (paths, thickness) in [(others, THIN), (main, THICK)] {
        for kind in 0..KINDS.len() {
            let same = |path: &&Path| path.flow.kind % KINDS.len() == kind;
            let of_kind: Vec<&Path> = paths.iter().copied().filter(same).collect();
            svg += &draw_paths(&of_kind, kind, thickness);
        }
    }
    svg
}

impl<'a> Path<'a> {
    pub(crate) fn new(flow: &'a Flow, frame: Area) -> Self {
        let points: Vec<_> =
            flow.points.iter().filter(|at| is_finite(at)).map(|&at| place(frame, at)).collect();
        Path { flow, points: thinned(&points, TOLERANCE) }
    }

    /// A triangle in the middle of the path; several at equal distances if it is long; none if it is very short.
    fn arrows(&self, size: f64) -> String {
        let step = |pair: &[(f64, f64)]| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1);
        let whole: f64 = self.points.windows(2).map(step).sum();
        let part = whole / (whole / ARROWS_APART).ceil();
        let (mut arrows, mut rest) = (String::new(), part / 2.0);
        for pair in self.points.windows(2).filter(|_| whole > 3.0 * size) {
            let (length, (x, y)) = (step(pair), pair[0]);
            let (dx, dy) = ((pair[1].0 - x) / length, (pair[1].1 - y) / length);
            while rest < length {
                arrows += &triangle((x + rest * dx, y + rest * dy), (dx, dy), size);
                rest += part;
            }
            rest -= length;
        }
        arrows
    }
}

/// Draws paths of one kind, with their arrows and ends.
fn draw_paths(paths: &[&Path], kind: usize, thickness: f64) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let KindStyle { colour, dashes } = KINDS[kind % KINDS.len()];
    let dashes: Vec<String> = dashes.iter().map(|dash| px(dash * (0.7 + 0.35 * thickness))).collect();
    let line: String = paths.iter().map(|path| polyline(path.points.iter().copied())).collect();
    let arrows: String = paths.iter().map(|path| path.arrows(3.2 + 2.1 * thickness)).collect();
    let ends = paths.iter().filter_map(|path| path.points.last());
    let ends: String = ends.map(|&(x, y)| disc(x, y, 1.2 + 1.2 * thickness)).collect();
    let dashes = if dashes.is_empty() { "none".into() } else { dashes.join(" ") };
    let halo = px(thickness + 1.2);
    format!(
        "<g fill=\"none\" stroke-linejoin=\"round\">\
         <path class=\"halo\" stroke=\"#fff\" stroke-opacity=\"0.6\" stroke-width=\"{halo}\" d=\"{line}\"/>\
         <path class=\"flow\" stroke=\"{colour}\" stroke-width=\"{thickness}\" stroke-dasharray=\"{dashes}\" d=\"{line}\"/>\
         <path class=\"tip\" fill=\"{colour}\" d=\"{arrows}\"/>\
         <path class=\"end\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"0.8\" d=\"{ends}\"/></g>"
    )
}

/// A short flow for the legend.
pub(crate) fn sample(kind: usize, (x, y): (f64, f64)) -> String {
    let flow = Flow::default();
    // The disc at its end needs room too.
    let points = vec![(x, y), (x + SAMPLE_WIDTH - 3.0, y)];
    draw_paths(&[&Path { flow: &flow, points }], kind, 1.6)
}

pub(crate) fn colour_of(kind: usize) -> &'static str {
    KINDS[kind % KINDS.len()].colour
}

pub(crate) fn is_finite(point: &(f64, f64)) -> bool {
    point.0.is_finite() && point.1.is_finite()
}

/// A triangle around a point, in a direction of length 1.
fn triangle((x, y): (f64, f64), (dx, dy): (f64, f64), size: f64) -> String {
    let corner =
        |along: f64, aside: f64| (x + size * (along * dx - aside * dy), y + size * (along * dy + aside * dx));
    polyline([corner(0.6, 0.0), corner(-0.5, 0.45), corner(-0.5, -0.45)]) + "Z"
}

/// The area for a label near a point: in the frame, where it hides the least.
pub(crate) fn label_area(label: &str, at: (f64, f64), frame: Area, paths: &[Path], taken: &[Area]) -> Area {
    let (wide, high) = (width(label, SMALL), SMALL);
    let around = |gap: f64, (right, down): (f64, f64)| Area {
        left: at.0 - wide / 2.0 + right * (gap + wide / 2.0),
        top: at.1 - high / 2.0 + down * (gap + high / 2.0),
        width: wide,
        height: high,
    };
    let hidden = |area: &Area| {
        let area = area.grown(2.0);
        let lines = |path: &Path| area.passed(&path.points) * if path.flow.main { 10 } else { 1 };
        let covered = paths.iter().map(lines).sum::<usize>();
        (!area.is_within(&frame), taken.iter().any(|other| area.overlaps(other)), covered)
    };
    let areas = GAPS.iter().flat_map(|&gap| SIDES.map(|side| around(gap, side)));
    areas.min_by_key(hidden).unwrap_or_else(|| around(GAPS[0], SIDES[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_keeps_its_ends_and_has_an_arrow_in_the_middle() {
        let flow = Flow { points: vec![(0.0, 0.0), (0.5, 0.0), (1.0, 0.0)], ..Flow::default() };
        let path = Path::new(&flow, Area { left: 10.0, top: 0.0, width: 200.0, height: 100.0 });
        assert_eq!(path.points, [(10.0, 100.0), (210.0, 100.0)]);
        assert_eq!(path.arrows(10.0), "M116 100L105 104.5L105 95.5Z");
        let long = Path::new(&flow, Area { left: 0.0, top: 0.0, width: 800.0, height: 100.0 });
        assert_eq!(long.arrows(10.0), "M206 100L195 104.5L195 95.5ZM606 100L595 104.5L595 95.5Z");
        assert_eq!(path.arrows(100.0), "");
    }

    #[test]
    fn labels_are_in_the_frame_and_apart() {
        let frame = Area { left: 0.0, top: 0.0, width: 100.0, height: 100.0 };
        for at in [(0.0, 0.0), (100.0, 0.0), (0.0, 100.0), (100.0, 100.0), (50.0, 50.0)] {
            assert!(label_area("0.875", at, frame, &[], &[]).is_within(&frame));
        }
        let one = label_area("0.875", (50.0, 50.0), frame, &[], &[]);
        let two = label_area("start", (50.0, 50.0), frame, &[], &[one]);
        assert!(!one.overlaps(&two));
    }
}
