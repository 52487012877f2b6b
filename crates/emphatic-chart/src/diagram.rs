//! The diagram of the counterexample, in the paper's first figure.

use crate::area::Area;
use crate::document::{AXIS, INK, LABEL, MIDDLE, SMALL};
use crate::markup::{px, spans, width};
use std::fmt::Write;

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
            svg += &note(reward, (end.0 + 28.0, end.1 + MIDDLE * LABEL), LABEL, "middle");
        }
    }
    for (name, place) in [("S0", start), ("S1", upper), ("S2", lower)] {
        svg += &state(name, place);
    }
    let (end, top) = at(END, 0.12);
    svg += &note("end", (end, top), SMALL, "middle");
    svg += &note("reward", (end + 13.0, top), SMALL, "start");
    let (middle, bottom) = at(0.5, 1.0);
    svg += &note("behaviour μ: A0 25 %, A1 75 %", (middle, bottom - 3.0), SMALL, "middle");
    svg + "</g>"
}

/// The dashed outline around the states that look the same.
fn enclosure(upper: (f64, f64), lower: (f64, f64)) -> String {
    let (x, y) = (upper.0 - RADIUS - 7.0, upper.1 - RADIUS - 7.0);
    let (wide, high) = (2.0 * RADIUS + 14.0, lower.1 - upper.1 + 2.0 * RADIUS + 14.0);
    let outline = format!(
        "<rect class=\"axis\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"18\" fill=\"none\" stroke=\"{AXIS}\" \
         stroke-width=\"0.9\" stroke-dasharray=\"3 2.5\"/>",
        px(x),
        px(y),
        px(wide),
        px(high),
    );
    outline + &note("look the same to the actor", (upper.0 - 6.0, y - 11.0), SMALL, "middle")
}

fn state(name: &str, (x, y): (f64, f64)) -> String {
    format!(
        "<circle class=\"state\" cx=\"{}\" cy=\"{}\" r=\"{RADIUS}\" fill=\"#fff\" stroke=\"{INK}\"/>{}",
        px(x),
        px(y),
        note(name, (x, y + MIDDLE * LABEL), LABEL, "middle"),
    )
}

/// The mark of the end of an episode.
fn square((x, y): (f64, f64)) -> String {
    format!(
        "<rect class=\"end\" x=\"{}\" y=\"{}\" width=\"6\" height=\"6\" fill=\"{INK}\"/>",
        px(x - 3.0),
        px(y - 3.0)
    )
}

/// An arrow from the edge of a state to `distance` before `to`, with a name beside its middle.
fn arrow(from: (f64, f64), to: (f64, f64), name: &str, distance: f64) -> String {
    let length = (to.0 - from.0).hypot(to.1 - from.1);
    let (dx, dy) = ((to.0 - from.0) / length, (to.1 - from.1) / length);
    let start = (from.0 + dx * RADIUS, from.1 + dy * RADIUS);
    let tip = (to.0 - dx * (distance + 1.5), to.1 - dy * (distance + 1.5));
    let wing = |side: f64| (tip.0 - 5.0 * dx + side * 2.2 * dy, tip.1 - 5.0 * dy - side * 2.2 * dx);
    let (left, right) = (wing(1.0), wing(-1.0));
    let mut svg = format!(
        "<path class=\"arrow\" fill=\"none\" stroke=\"{INK}\" d=\"M{} {}L{} {}\"/>",
        px(start.0),
        px(start.1),
        px(tip.0 - 3.0 * dx),
        px(tip.1 - 3.0 * dy),
    );
    let _ = write!(
        svg,
        "<path class=\"tip\" fill=\"{INK}\" d=\"M{} {}L{} {}L{} {}Z\"/>",
        px(tip.0),
        px(tip.1),
        px(left.0),
        px(left.1),
        px(right.0),
        px(right.1),
    );
    // Beside the arrow, on the side it leans to, and farther off the steeper it is.
    let off = 5.0 + 0.5 * width(name, SMALL) * dy.abs();
    let place = ((start.0 + tip.0) / 2.0, (start.1 + tip.1) / 2.0 + off.copysign(dy) + MIDDLE * SMALL);
    svg + &note(name, place, SMALL, "middle")
}

fn note(label: &str, (x, y): (f64, f64), size: f64, anchor: &str) -> String {
    format!(
        "<text class=\"label\" x=\"{}\" y=\"{}\" font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
        px(x),
        px(y),
        spans(label, size),
    )
}
