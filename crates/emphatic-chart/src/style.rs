//! The colour, marker and dashes of each method, the same in every drawing.

use crate::document::polyline;
use crate::markup::{escape, px};

/// The colour, marker and dashes of a method.
///
/// The colours are those of Okabe and Ito, with a dark blue and black. Some look alike in grey or to a
/// colour-blind reader: markers and dashes distinguish them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// The colour on white.
    pub colour: &'static str,
    /// The colour on a dark page.
    pub dark: &'static str,
    marker: Marker,
    dashes: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Marker {
    Circle,
    Square,
    Diamond,
    Up,
    Down,
    OpenCircle,
    OpenSquare,
    OpenDiamond,
    Cross,
}

use Marker::*;

const METHODS: [(&str, Style); 15] = [
    ("ACE(0)", solid("#D55E00", "#F0803C", Circle)),
    ("ACE(0.25)", solid("#E69F00", "#F0B429", Up)),
    ("ACE(0.5)", solid("#56B4E9", "#56B4E9", OpenSquare)),
    ("ACE(0.75)", solid("#0072B2", "#2F93D8", Diamond)),
    ("ACE(1)", solid("#08306B", "#B7CDF7", Down)),
    ("True-ACE", dashed("#009E73", "#1FBF92", OpenCircle)),
    ("DPG", solid("#CC79A7", "#DE94BD", Cross)),
    ("True-DPGE", dashed("#000000", "#F4F4F4", OpenDiamond)),
    // The follow-up study: a colour for each estimate of the emphasis, dashes for an interest in starts alone.
    ("OffPAC", solid("#D55E00", "#F0803C", Circle)),
    ("direct", solid("#0072B2", "#2F93D8", Diamond)),
    ("direct, start", dashed("#56B4E9", "#56B4E9", OpenDiamond)),
    ("trace", solid("#CC79A7", "#DE94BD", Square)),
    ("trace, start", dashed("#E69F00", "#F0B429", OpenSquare)),
    ("ideal", solid("#009E73", "#1FBF92", Up)),
    ("ideal, start", dashed("#000000", "#F4F4F4", OpenCircle)),
];

/// Flows have the colours of the methods that follow them.
const FLOWS: [(&str, Style); 2] = [
    ("gradient", solid("#08306B", "#B7CDF7", Down)),
    ("semi-gradient", dashed("#D55E00", "#F0803C", Circle)),
];

/// The colours, on white and on a dark page, and markers of methods that have only a number. Neighbours differ most.
const NUMBERED: [(&str, &str, Marker); 8] = [
    ("#0072B2", "#2F93D8", Circle),
    ("#D55E00", "#F0803C", Square),
    ("#009E73", "#1FBF92", Up),
    ("#CC79A7", "#DE94BD", Diamond),
    ("#E69F00", "#F0B429", OpenCircle),
    ("#56B4E9", "#56B4E9", Down),
    ("#000000", "#F4F4F4", OpenSquare),
    ("#08306B", "#B7CDF7", OpenDiamond),
];

/// Where colours are used up, dashes distinguish lines.
const DASHES: [&str; 3] = ["", DASHED, " stroke-dasharray=\"1.4 1.6\""];
const DASHED: &str = " stroke-dasharray=\"5 1.6\"";

/// The style of any other name.
const OTHER: Style = solid("#777777", "#A0A0A0", Square);

const fn solid(colour: &'static str, dark: &'static str, marker: Marker) -> Style {
    Style { colour, dark, marker, dashes: "" }
}

const fn dashed(colour: &'static str, dark: &'static str, marker: Marker) -> Style {
    Style { colour, dark, marker, dashes: DASHED }
}

/// The style of a method. It depends on the name alone, so that figures agree.
pub fn style_of(method: &str) -> Style {
    METHODS.iter().chain(&FLOWS).find(|(name, _)| *name == method).map_or(OTHER, |(_, style)| *style)
}

/// A piece of the method's line with its marker: a small SVG for a legend in a page.
pub fn swatch(method: &str) -> String {
    let style = style_of(method);
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 24 12\" width=\"24\" height=\"12\" aria-hidden=\"true\">\
         <g class=\"method\" data-method=\"{}\" {}>{}</g></svg>",
        escape(method),
        style.attributes(),
        style.sample(0.0, 6.0, 24.0),
    )
}

impl Style {
    /// The style of the method of this number among others. The first 24 differ in colour or dashes, and the others in markers.
    pub fn numbered(number: usize) -> Self {
        let (round, place) = (number / NUMBERED.len(), number % NUMBERED.len());
        let (colour, dark, _) = NUMBERED[place];
        let (_, _, marker) = NUMBERED[(place + round) % NUMBERED.len()];
        Self { colour, dark, marker, dashes: DASHES[round % DASHES.len()] }
    }

    /// The attributes of the group that holds everything drawn for a method.
    pub(crate) fn attributes(&self) -> String {
        format!("color=\"{}\" stroke=\"currentColor\" stroke-width=\"1.4\" fill=\"none\"", self.colour)
    }

    pub(crate) fn line(&self, path: &str) -> String {
        format!("<path class=\"line\" stroke-linejoin=\"round\"{} d=\"{path}\"/>", self.dashes)
    }

    /// The markers at these places, as one path.
    pub(crate) fn marks(&self, places: impl IntoIterator<Item = (f64, f64)>) -> String {
        let path: String = places.into_iter().map(|(x, y)| self.mark(x, y)).collect();
        let style = match self.marker {
            // White inside hides the line, in white as on any page that sets it.
            OpenCircle | OpenSquare | OpenDiamond => "fill=\"#fff\" stroke-width=\"1.1\"",
            Cross => "stroke-width=\"1.3\"",
            _ => "fill=\"currentColor\" stroke=\"none\"",
        };
        format!("<path class=\"mark\" {style} d=\"{path}\"/>")
    }

    /// A short line with a marker.
    pub(crate) fn sample(&self, x: f64, y: f64, width: f64) -> String {
        self.line(&polyline([(x, y), (x + width, y)])) + &self.marks([(x + width / 2.0, y)])
    }

    fn mark(&self, x: f64, y: f64) -> String {
        let corners: &[(f64, f64)] = match self.marker {
            Circle => return disc(x, y, 2.7),
            OpenCircle => return disc(x, y, 2.5),
            Square => &[(-2.4, -2.4), (2.4, -2.4), (2.4, 2.4), (-2.4, 2.4)],
            OpenSquare => &[(-2.2, -2.2), (2.2, -2.2), (2.2, 2.2), (-2.2, 2.2)],
            Diamond => &[(0.0, -3.5), (3.0, 0.0), (0.0, 3.5), (-3.0, 0.0)],
            OpenDiamond => &[(0.0, -3.3), (2.8, 0.0), (0.0, 3.3), (-2.8, 0.0)],
            Up => &[(0.0, -3.3), (3.1, 2.2), (-3.1, 2.2)],
            Down => &[(0.0, 3.3), (3.1, -2.2), (-3.1, -2.2)],
            Cross => return cross(x, y, 2.4),
        };
        polyline(corners.iter().map(|(dx, dy)| (x + dx, y + dy))) + "Z"
    }
}

pub(crate) fn disc(x: f64, y: f64, radius: f64) -> String {
    let (r, d) = (px(radius), px(2.0 * radius));
    format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", px(x - radius), px(y))
}

fn cross(x: f64, y: f64, r: f64) -> String {
    polyline([(x - r, y - r), (x + r, y + r)]) + &polyline([(x - r, y + r), (x + r, y - r)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbered_methods_differ_in_colour_or_dashes() {
        for number in 0..64 {
            for other in 0..number {
                let (one, two) = (Style::numbered(number), Style::numbered(other));
                assert_ne!(one, two, "{number} {other}");
                let look_alike = (one.colour, one.dashes) == (two.colour, two.dashes);
                assert!(number >= 24 || !look_alike, "{number} {other}");
            }
        }
    }

    #[test]
    fn no_two_methods_look_the_same() {
        for (i, (_, one)) in METHODS.iter().enumerate() {
            for (_, two) in &METHODS[..i] {
                assert!(one.colour != two.colour && one.dark != two.dark && one.marker != two.marker);
            }
        }
    }
}
