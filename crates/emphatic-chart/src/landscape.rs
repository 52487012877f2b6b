//! A landscape: an objective over a square of two parameters, with flows drawn over it.

use crate::area::Area;
use crate::axis::{Axis, Ruler, Scale, Tick};
use crate::contour::{Grid, thinned};
use crate::document::{
    About, BOLD, INCH, INK, LABEL, MIDDLE, SMALL, TITLE_HEIGHT, axis_path, centred, heading, note, polyline,
    printed, tick_label, upright,
};
use crate::flow::{Flow, Path, colour_of, draw_flows, is_finite, label_area, sample};
use crate::legend::Legend;
use crate::markup::{plain, px, widest};
use crate::style::disc;
use std::fmt::Write;

/// A function of two parameters, each between 0 and 1, as filled contours, with flows over it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Landscape {
    /// The title, in the markup of labels.
    pub title: String,
    /// The horizontal parameter.
    pub x: ParameterAxis,
    /// The vertical one.
    pub y: ParameterAxis,
    /// The function at equally spaced points from 0 to 1, row by row from the bottom. A value that is not finite is a
    /// hole.
    pub heights: Vec<Vec<f64>>,
    /// The label of the function, in the markup of labels: "J_μ".
    pub height_label: String,
    /// The names of the kinds of flow, in the legend. There are styles for five; the sixth has that of the first.
    pub kinds: Vec<String>,
    /// The flows.
    pub flows: Vec<Flow>,
    /// Where the main flows start.
    pub start: Option<Note>,
}

/// A parameter's axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ParameterAxis {
    /// The name of the parameter, in the markup of labels.
    pub label: String,
    /// Places between 0 and 1, and their labels.
    pub ticks: Vec<(f64, String)>,
}

/// A marked point.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Note {
    /// Both coordinates between 0 and 1.
    pub at: (f64, f64),
    /// Its label, in the markup of labels.
    pub label: String,
}

const WIDTH: f64 = 4.2 * INCH;
const BAR_GAP: f64 = 12.0;
const BAR_WIDTH: f64 = 11.0;
/// About as many levels as a reader can distinguish.
const LEVELS: f64 = 12.0;
/// Smaller distances cannot be seen, in pixels.
pub(crate) const TOLERANCE: f64 = 0.1;

/// From low to high: equal steps of lightness in Oklab, all so light that flows stand out.
const COLOURS: [[u8; 3]; 6] = [
    [0xa5, 0x9d, 0xcd],
    [0x9d, 0xb7, 0xd8],
    [0xa4, 0xcd, 0xd9],
    [0xb6, 0xe1, 0xd7],
    [0xd3, 0xf1, 0xcf],
    [0xff, 0xfc, 0xc5],
];

impl Landscape {
    /// A whole document. Ids in it start with the prefix.
    pub fn svg(&self, id_prefix: &str) -> String {
        let frame = self.frame();
        let kinds: Vec<&str> = self.kinds.iter().map(String::as_str).collect();
        let legend_top = frame.bottom() + 37.0;
        let legend = Legend::new(&kinds, legend_top, WIDTH, sample);
        let whole = Area { left: 0.0, top: 0.0, width: WIDTH, height: legend_top + legend.height };
        let paths: Vec<Path> = self.flows.iter().map(|flow| Path::new(flow, frame)).collect();
        let flows = draw_flows(&paths) + &self.notes(frame, &paths);
        let body = heading(&self.title, whole, frame, BOLD)
            + &self.fill(frame)
            + &self.axes(frame)
            + &self.bar(frame)
            + &format!("<g class=\"flows\">{flows}</g>")
            + &legend.svg;
        let about = About {
            id: format!("{id_prefix}-landscape"),
            title: plain(&self.title),
            description: self.describe(),
        };
        printed((whole.width, whole.height), &about, &body)
    }

    fn describe(&self) -> String {
        let mut text = format!(
            "{} as filled contours over {} (to the right) and {} (upwards), with flows: {}.",
            plain(&self.height_label),
            plain(&self.x.label),
            plain(&self.y.label),
            if self.kinds.is_empty() { "none".into() } else { self.kinds.join(", ") },
        );
        if let Some(start) = &self.start {
            let _ = write!(text, " Marked: {}.", plain(&start.label));
        }
        for flow in self.flows.iter().filter(|flow| flow.main && !flow.end.is_empty()) {
            let kind = self.kinds.get(flow.kind).map_or("another kind", String::as_str);
            let _ = write!(text, " The main flow of {kind} ends at {}.", plain(&flow.end));
        }
        text
    }

    /// The square: the labels around it need the rest.
    fn frame(&self) -> Area {
        let levels = self.levels();
        let left = LABEL + 15.0 + widest(self.y.ticks.iter().map(|(_, label)| label), SMALL);
        let right = BAR_GAP + BAR_WIDTH + 14.0 + LABEL;
        let right = right + widest(levels.iter().filter_map(|tick| tick.label.as_ref()), SMALL);
        let side = (WIDTH - left - right).max(1.0);
        Area { left, top: TITLE_HEIGHT, width: side, height: side }
    }

    /// The axis of the colour bar, between these pixels.
    fn ruler(&self, from: f64, to: f64) -> Ruler {
        let axis = Axis { label: String::new(), scale: Scale::Linear, range: None };
        let heights: Vec<f64> = Grid::new(&self.heights).values().collect();
        axis.ruler(&heights, &[], 0.0, (from, to))
    }

    fn levels(&self) -> Vec<Tick> {
        self.ruler(0.0, LEVELS).ticks(1.0)
    }

    /// The lower ends of the bands, from low to high, with their colours.
    fn bands(&self) -> Vec<(f64, String)> {
        let ruler = self.ruler(0.0, 1.0);
        let levels = self.levels().into_iter().map(|tick| tick.at);
        let between = levels.filter(|&level| ruler.low < level && level < ruler.high);
        let lows: Vec<f64> = std::iter::once(ruler.low).chain(between).collect();
        let last = (lows.len() - 1).max(1) as f64;
        lows.iter().enumerate().map(|(index, &low)| (low, colour(index as f64 / last))).collect()
    }

    /// The regions at least as high as each band, one over the other.
    fn fill(&self, frame: Area) -> String {
        let grid = Grid::new(&self.heights);
        let mut svg = String::from("<g class=\"fill\" stroke=\"#fff\" stroke-width=\"0.6\">");
        for (low, colour) in self.bands() {
            let outline = |outline: Vec<(f64, f64)>| {
                let places: Vec<_> = outline.into_iter().map(|at| place(frame, at)).collect();
                polyline(thinned(&places, TOLERANCE)) + "Z"
            };
            let path: String = grid.region(low).into_iter().map(outline).collect();
            let _ = write!(svg, "<path fill=\"{colour}\" d=\"{path}\"/>");
        }
        svg + "</g>"
    }

    fn axes(&self, frame: Area) -> String {
        let (bottom, middle) = (frame.bottom(), frame.left + frame.width / 2.0);
        let mut marks = outline(frame);
        let mut labels = String::new();
        for (at, label) in shown(&self.x.ticks) {
            let (x, _) = place(frame, (*at, 0.0));
            let _ = write!(marks, "M{} {}v4", px(x), px(bottom));
            labels += &tick_label(label, (x, bottom + 13.5), "middle");
        }
        for (at, label) in shown(&self.y.ticks) {
            let (_, y) = place(frame, (0.0, *at));
            let _ = write!(marks, "M{} {}h-4", px(frame.left), px(y));
            labels += &tick_label(label, (frame.left - 7.0, y + MIDDLE * SMALL), "end");
        }
        let titles = centred(&self.x.label, (middle, bottom + 27.0), frame.width, "")
            + &upright(&self.y.label, (LABEL, frame.top + frame.height / 2.0), frame.height);
        format!("{}<g class=\"ticks\">{labels}</g>{titles}", axis_path(&marks))
    }

    /// The colour bar.
    fn bar(&self, frame: Area) -> String {
        let bar = Area { left: frame.right() + BAR_GAP, width: BAR_WIDTH, ..frame };
        let (right, bottom) = (bar.right(), bar.bottom());
        let ruler = self.ruler(bottom, bar.top);
        let mut svg = String::new();
        for (low, colour) in self.bands() {
            let (left, top, width) = (px(bar.left), px(bar.top), px(bar.width));
            let height = px(ruler.clamped(low) - bar.top);
            let _ = write!(
                svg,
                "<rect x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" fill=\"{colour}\"/>"
            );
        }
        let (mut marks, mut labels) = (outline(bar), String::new());
        for tick in self.levels() {
            let y = ruler.clamped(tick.at);
            let _ = write!(marks, "M{} {}h3", px(right), px(y));
            labels +=
                &tick_label(&tick.label.unwrap_or_default(), (right + 5.0, y + MIDDLE * SMALL), "start");
        }
        let title = upright(&self.height_label, (WIDTH - 6.0, bar.top + bar.height / 2.0), bar.height);
        format!("<g class=\"bar\">{svg}{}<g class=\"ticks\">{labels}</g>{title}</g>", axis_path(&marks))
    }

    /// The labels of the start and of the ends of flows, where they hide the least.
    fn notes(&self, frame: Area, paths: &[Path]) -> String {
        let mut svg = String::new();
        let mut taken = Vec::new();
        let mut put = |label: &str, at, colour: &str| {
            let area = label_area(label, at, frame, paths, &taken);
            taken.push(area);
            let style = format!("text-anchor=\"middle\" fill=\"{colour}\" font-weight=\"{BOLD}\"");
            svg += &note(label, area.left + area.width / 2.0, area, &style, 3);
        };
        for path in paths.iter().filter(|path| !path.flow.end.is_empty()) {
            if let Some(&end) = path.points.last() {
                put(&path.flow.end, end, colour_of(path.flow.kind));
            }
        }
        if let Some(start) = self.start.as_ref().filter(|start| is_finite(&start.at)) {
            let (x, y) = place(frame, start.at);
            put(&start.label, (x, y), INK);
            let disc = disc(x, y, 4.0);
            let _ = write!(
                svg,
                "<path class=\"start\" fill=\"#fff\" stroke=\"{INK}\" stroke-width=\"1.6\" d=\"{disc}\"/>"
            );
        }
        svg
    }
}

/// The colour at a fraction of the way from low to high.
fn colour(part: f64) -> String {
    let at = part.clamp(0.0, 1.0) * (COLOURS.len() - 1) as f64;
    let below = (at as usize).min(COLOURS.len() - 2);
    let (low, high, rest) = (COLOURS[below], COLOURS[below + 1], at - below as f64);
    let mix = |channel: usize| {
        let (low, high) = (f64::from(low[channel]), f64::from(high[channel]));
        (low + rest * (high - low)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// A point in pixels. Beyond the square it is moved to the edge.
pub(crate) fn place(frame: Area, (x, y): (f64, f64)) -> (f64, f64) {
    let (x, y) = (x.clamp(0.0, 1.0), y.clamp(0.0, 1.0));
    (frame.left + x * frame.width, frame.top + (1.0 - y) * frame.height)
}

/// The ticks between 0 and 1.
fn shown(ticks: &[(f64, String)]) -> impl Iterator<Item = &(f64, String)> {
    ticks.iter().filter(|(at, _)| (0.0..=1.0).contains(at))
}

fn outline(area: Area) -> String {
    let (left, top, width, height) = (px(area.left), px(area.top), px(area.width), px(area.height));
    format!("M{left} {top}h{width}v{height}h-{width}Z")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contour::tests::grid as heights;
    use resvg::usvg::roxmltree::Document;

    /// Half around the middle, farther and farther.
    fn spiral(kind: usize, turn: f64) -> Flow {
        let point = |index: i32| {
            let (angle, radius) = (turn + 0.006 * f64::from(index), 0.001 * f64::from(index));
            (0.5 + radius * angle.cos(), 0.5 + radius * angle.sin())
        };
        Flow { kind, points: (0..500).map(point).collect(), ..Flow::default() }
    }

    fn landscape() -> Landscape {
        let ticks = || vec![(0.0, "0".into()), (0.5, "0.5".into()), (1.0, "1".into())];
        let main = |kind, end: (f64, f64), label: &str| Flow {
            kind,
            points: vec![(0.9, 0.9), end],
            main: true,
            end: label.into(),
        };
        let turns = (0..25).map(f64::from);
        let spirals = turns.flat_map(|turn| [spiral(0, turn), spiral(1, turn)]);
        Landscape {
            title: "Where flows lead".into(),
            x: ParameterAxis { label: "π(A0) in S0".into(), ticks: ticks() },
            y: ParameterAxis { label: "π(A0) in S1".into(), ticks: ticks() },
            heights: heights(101, |x, y| x + y * y),
            height_label: "J_μ".into(),
            kinds: vec!["gradient".into(), "semi-gradient".into()],
            flows: spirals.chain([main(0, (1.0, 1.0), "1.25"), main(1, (0.0, 0.0), "0.875")]).collect(),
            start: Some(Note { at: (0.9, 0.9), label: "start".into() }),
        }
    }

    #[test]
    fn the_same_landscape_gives_the_same_bytes_and_not_many() {
        let svg = landscape().svg("p");
        assert_eq!(svg, landscape().svg("p"));
        assert!(svg.len() < 150_000, "{} bytes", svg.len());
    }

    #[test]
    fn a_document_has_its_size_and_says_what_it_shows() {
        let svg = landscape().svg("p");
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("width"), Some("4.2in"));
        assert_eq!(root.attribute("aria-labelledby"), Some("p-landscape-title p-landscape-desc"));
        let description = root.children().find(|node| node.has_tag_name("desc")).unwrap();
        assert_eq!(
            description.text(),
            Some(
                "Jμ as filled contours over π(A0) in S0 (to the right) and π(A0) in S1 (upwards), with flows: \
                 gradient, semi-gradient. Marked: start. The main flow of gradient ends at 1.25. The main flow of \
                 semi-gradient ends at 0.875."
            )
        );
        for text in ["Where flows lead", "1.25", "0.875", "start", "gradient", "semi-gradient"] {
            assert_eq!(svg.matches(&format!(">{text}</text>")).count(), 1, "{text}");
        }
    }

    #[test]
    fn bands_have_round_steps_and_all_colours() {
        let bands = Landscape { heights: heights(5, |x, _| 0.25 + x), ..landscape() }.bands();
        let lows: Vec<String> = bands.iter().map(|(low, _)| format!("{low:.2}")).collect();
        let round = ["0.30", "0.40", "0.50", "0.60", "0.70", "0.80", "0.90", "1.00", "1.10", "1.20"];
        assert_eq!(lows[0], "0.25");
        assert_eq!(lows[1..], round);
        assert_eq!((&*bands[0].1, &*bands[5].1, &*bands[10].1), ("#a59dcd", "#add7d8", "#fffcc5"));
    }

    #[track_caller]
    fn assert_drawn(landscape: &Landscape) {
        let svg = landscape.svg("p");
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(Document::parse(&svg).is_ok());
    }

    #[test]
    fn odd_landscapes_are_drawn() {
        let hole = |x: f64, y: f64| if x == 0.5 && y == 0.5 { f64::NAN } else { x * y };
        let odd = [
            heights(101, |_, _| 0.875),
            heights(3, |_, _| 0.0),
            heights(5, hole),
            heights(3, |_, _| f64::NAN),
            heights(3, |x, _| if x > 0.0 { f64::MAX } else { f64::INFINITY }),
            heights(1, |_, _| 1.0),
            vec![],
            vec![vec![]],
            vec![vec![1.0, 2.0], vec![1.0]],
        ];
        for heights in odd {
            assert_drawn(&Landscape { heights, ..landscape() });
        }
        assert!(Document::parse(&Landscape::default().svg("")).is_ok());
    }

    #[test]
    fn odd_flows_are_drawn() {
        let odd = [f64::NAN, f64::INFINITY, -7.0, 7.0, 0.5];
        let pairs: Vec<_> = odd.iter().flat_map(|&x| odd.map(|y| (x, y))).collect();
        let start = |at| Some(Note { at, label: "<start>".into() });
        for points in [vec![], vec![(0.5, 0.5)], vec![(0.5, 0.5); 3], pairs.clone()] {
            let flow = Flow { kind: usize::MAX, points, main: true, end: "&".into() };
            let drawing = Landscape { flows: vec![flow], ..landscape() };
            for &at in &pairs {
                assert_drawn(&Landscape { start: start(at), ..drawing.clone() });
            }
        }
    }
}
