//! The diagram of the counterexample, in the paper's first figure.

use crate::area::Area;
use crate::document::{AXIS, INK, LABEL, MIDDLE, SMALL, polyline};
use crate::markup::{px, spans, width};

pub(crate) const NAME: &str = "problem";
pub(crate) const TITLE: &str = "The problem";
pub(crate) const DESCRIPTION: &str = "In S0, A0 leads to S1 and A1 to S2, without reward. In S1, A0 gives 2 and A1 \
    gives 0; in S2, A0 gives 0 and A1 gives 1; both end the episode. S1 and S2 look the same to the actor. The \
    behaviour takes A0 with 25 % and A1 with 75 %.";

const RADIUS: f64 = 13.0;
/// Where episodes end, as a fraction of the width.
const END: f64 = 0.78;

pub(crate) fn draw(area: Area) -> String {
    let at = |x: f64, y: f64| (area.left + x * area.width, area.top + y * area.height);
    let (start, upper, lower) = (at(0.1, 0.5), at(0.44, 0.32), at(0.44, 0.7));
    let mut svg = String::from("<g class=\"diagram\">");
    svg += &enclosure(upper, lower);
    svg += &arrow(start, upper, "A0", RADIUS);
    svg += &arrow(start, lower, "A1", RADIUS);
    for ((x, y), rewards) in [(upper, ["2", "0"]), (lower, ["0", "1"])] {
        for ((action, reward), side) in ["A0", "A1"].into_iter().zip(rewards).zip([-1.0, 1.0]) {
            let end = (area.left + END * area.width, y + side * 0.1 * area.height);
            svg += &arrow((x, y), end, action, 4.0);
            svg += &square(end);
            svg += &text(reward, (end.0 + 28.0, end.1 + MIDDLE * LABEL), LABEL, "middle");
        }
    }
    for (name, place) in [("S0", start), ("S1", upper), ("S2", lower)] {
        svg += &state(name, place);
    }
    let (end, top) = at(END, 0.12);
    svg += &text("end", (end, top), SMALL, "middle");
    svg += &text("reward", (end + 13.0, top), SMALL, "start");
    let (middle, bottom) = at(0.5, 1.0);
    svg += &text("behaviour μ: A0 25 %, A1 75 %", (middle, bottom - 3.0), SMALL, "middle");
    svg + "</g>"
}

/// The dashed outline around the states that look the same.
fn enclosure(upper: (f64, f64), lower: (f64, f64)) -> String {
    let top = upper.1 - RADIUS - 7.0;
    let (wide, high) = (2.0 * RADIUS + 14.0, lower.1 - upper.1 + 2.0 * RADIUS + 14.0);
    let [x, y, wide, high] = [upper.0 - RADIUS - 7.0, top, wide, high].map(px);
    let outline = format!(
        "<rect class=\"axis\" x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"18\" fill=\"none\" \
         stroke=\"{AXIS}\" stroke-width=\"0.9\" stroke-dasharray=\"3 2.5\"/>"
    );
    outline + &text("look the same to the actor", (upper.0 - 6.0, top - 11.0), SMALL, "middle")
}

fn state(name: &str, (x, y): (f64, f64)) -> String {
    let name = text(name, (x, y + MIDDLE * LABEL), LABEL, "middle");
    let (x, y) = (px(x), px(y));
    format!(
        "<circle class=\"state\" cx=\"{x}\" cy=\"{y}\" r=\"{RADIUS}\" fill=\"#fff\" stroke=\"{INK}\"/>{name}"
    )
}

/// The mark of the end of an episode.
fn square((x, y): (f64, f64)) -> String {
    let [x, y] = [x - 3.0, y - 3.0].map(px);
    format!("<rect class=\"end\" x=\"{x}\" y=\"{y}\" width=\"6\" height=\"6\" fill=\"{INK}\"/>")
}

/// An arrow from the edge of a state to `distance` before `to`, with a name beside its middle.
fn arrow(from: (f64, f64), to: (f64, f64), name: &str, distance: f64) -> String {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let start = (from.0 + dx * RADIUS, from.1 + dy * RADIUS);
    let tip = (to.0 - dx * (distance + 1.5), to.1 - dy * (distance + 1.5));
    let wing = |side: f64| (tip.0 - 5.0 * dx + side * 2.2 * dy, tip.1 - 5.0 * dy - side * 2.2 * dx);
    let line = polyline([start, (tip.0 - 3.0 * dx, tip.1 - 3.0 * dy)]);
    let head = polyline([tip, wing(1.0), wing(-1.0)]);
    let svg = format!(
        "<path class=\"arrow\" fill=\"none\" stroke=\"{INK}\" d=\"{line}\"/>\
         <path class=\"tip\" fill=\"{INK}\" d=\"{head}Z\"/>"
    );
    // Beside the arrow, on the side it leans to, and farther off the steeper it is.
    let off = 5.0 + 0.5 * width(name, SMALL) * dy.abs();
    let place = ((start.0 + tip.0) / 2.0, (start.1 + tip.1) / 2.0 + off.copysign(dy) + MIDDLE * SMALL);
    svg + &text(name, place, SMALL, "middle")
}

fn text(label: &str, (x, y): (f64, f64), size: f64, anchor: &str) -> String {
    let (x, y, spans) = (px(x), px(y), spans(label, size));
    format!(
        "<text class=\"label\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{spans}</text>"
    )
}
