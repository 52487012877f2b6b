//! Panels of lines over a pair of axes.
//!
//! A drawing is a function of the panel alone, so the same panel makes the same bytes. Numbers that are not finite leave a gap.

use crate::area::Area;
use crate::axis::{Axis, Ruler, Scale, Tick};
use crate::document::{LABEL, MIDDLE, SMALL, axis_path, centred, note, tick_label, upright};
use crate::line::{Line, Placed, Point, Position};
use crate::markup::{plain, px, widest, width};
use std::fmt::Write;

/// Lines stay this far from the ends of the horizontal axis, so that their markers have room.
pub(crate) const INSET: f64 = 6.0;

pub(crate) const GRID: &str = "#e4e4e4";

/// Lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Its name in file names and ids: "sensitivity".
    pub name: &'static str,
    /// The title, in the markup of labels.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// One for each method, later ones on top.
    pub lines: Vec<Line>,
    /// A value to compare with.
    pub reference: Option<Reference>,
}

/// A dashed horizontal line.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The place on the vertical axis.
    pub y: f64,
    /// Its label, in the markup of labels: "optimum 1.25".
    pub label: String,
}

impl Panel {
    pub(crate) fn describe(&self) -> String {
        let methods: Vec<&str> = self.lines.iter().map(|line| line.method.as_str()).collect();
        let methods = if methods.is_empty() { "nothing".into() } else { methods.join(", ") };
        let mut text = format!("{} over {}, of {methods}.", plain(&self.y.label), plain(&self.x.label));
        if let Some(reference) = &self.reference {
            let _ = write!(text, " Dashed: {}.", plain(&reference.label));
        }
        text
    }

    pub(crate) fn draw(&self, area: Area) -> String {
        let frame = self.frame(area);
        let (x, y) = self.rulers(frame);
        let (from, to) = (frame.left, frame.right());
        let mut svg = format!("<g class=\"plot\" data-x=\"{}\" data-y=\"{}\">", data(&x), data(&y));
        svg += &grid(&y, from, to);
        svg += &horizontal(&self.x.label, &x, area, frame);
        svg += &upright(&self.y.label, (area.left + LABEL, frame.top + frame.height / 2.0), frame.height);
        let reference =
            self.reference.as_ref().and_then(|reference| Some((reference, y.place(reference.y)?)));
        if let Some((_, at)) = reference {
            let (from, at, to) = (px(from), px(at), px(to));
            let _ = write!(
                svg,
                "<path class=\"reference\" fill=\"none\" stroke=\"#777\" stroke-width=\"0.8\" \
                 stroke-dasharray=\"3 2.5\" d=\"M{from} {at}H{to}\"/>"
            );
        }
        for (index, line) in self.lines.iter().enumerate() {
            svg += &line.draw(&x, &y, Position { index, count: self.lines.len() });
        }
        if let Some((reference, at)) = reference {
            svg += &self.reference_label(&reference.label, at, frame, (&x, &y));
        }
        svg + "</g>"
    }

    /// The area of the lines: the labels around them need the rest.
    pub(crate) fn frame(&self, area: Area) -> Area {
        let mut frame = Area { height: area.height - 30.0, ..area };
        // The widths of the labels depend on the ticks, and the ticks on the height, which is known.
        let ticks = self.rulers(frame).1.ticks(26.0);
        let margin = LABEL + 12.0 + widest(ticks.iter().filter_map(|tick| tick.label.as_ref()), SMALL);
        frame.left += margin;
        frame.width = (area.width - margin - 8.0).max(1.0);
        frame
    }

    fn rulers(&self, frame: Area) -> (Ruler, Ruler) {
        let points = || self.lines.iter().flat_map(|line| &line.points);
        let shown: Vec<&Point> = points().filter(|point| self.has_place(point)).collect();
        let xs: Vec<f64> = points().map(|point| point.x).collect();
        let ys: Vec<f64> =
            shown.iter().filter_map(|point| point.y).chain(self.reference.iter().map(|r| r.y)).collect();
        let bands: Vec<f64> =
            shown.iter().filter_map(|point| point.band()).flat_map(|(low, high)| [low, high]).collect();
        let x = self.x.ruler(&xs, &[], 0.0, (frame.left + INSET, frame.right() - INSET));
        let mut y = self.y.ruler(&ys, &bands, 0.05, (frame.bottom(), frame.top));
        self.make_room_above_reference(&mut y);
        (x, y)
    }

    fn has_place(&self, point: &Point) -> bool {
        self.x.scale.measure(point.x).is_some() && point.y.is_some_and(|y| self.y.scale.measure(y).is_some())
    }

    /// Makes room for the label, which stands on the reference line: lines are seldom there if the reference is an optimum.
    fn make_room_above_reference(&self, y: &mut Ruler) {
        let reference = self.reference.as_ref().and_then(|reference| y.scale.measure(reference.y));
        let part = 1.0 - (SMALL + 4.0) / (y.from - y.to);
        if let Some(reference) = reference.filter(|_| part > 0.5) {
            y.high = y.high.max(y.low + (reference - y.low) / part);
        }
    }

    /// The label above or below its line, at the left, at the right or in the middle: where it hides the least.
    fn reference_label(&self, label: &str, at: f64, frame: Area, rulers: (&Ruler, &Ruler)) -> String {
        struct Choice {
            /// Fonts differ in width: the label is anchored at the edge that it must not pass.
            anchor: &'static str,
            x: f64,
            area: Area,
        }
        let wide = width(label, SMALL);
        let (left, right) = (frame.left + 3.0, frame.right() - 3.0);
        let choices = [at - SMALL - 2.5, at + 2.5].into_iter().flat_map(|top| {
            let choice =
                |anchor, x, left| Choice { anchor, x, area: Area { left, top, width: wide, height: SMALL } };
            [
                choice("end", right, right - wide),
                choice("start", left, left),
                choice("middle", (left + right) / 2.0, (left + right - wide) / 2.0),
            ]
        });
        let hidden = |choice: &Choice| {
            let Area { top, .. } = choice.area;
            let outside = top < frame.top - 1.0 || top + SMALL > frame.bottom();
            (outside, self.covered(choice.area, rulers))
        };
        let Some(Choice { anchor, x, area }) = choices.min_by_key(hidden) else { return String::new() };
        note(label, x, area, &format!("text-anchor=\"{anchor}\" fill=\"#555\""), 2)
    }

    /// About how much of the lines and of their bands' edges lies in an area.
    fn covered(&self, area: Area, (x, y): (&Ruler, &Ruler)) -> usize {
        let pieces = self.lines.iter().flat_map(|line| line.pieces(x, y));
        let count = |piece: Vec<Placed>| {
            let edge = |number| piece.iter().map(|point| point.edges()[number]).collect::<Vec<_>>();
            (0..3).map(|number| area.passed(&edge(number))).sum::<usize>()
        };
        pieces.map(count).sum()
    }
}

/// The axis below a frame, with its label at the bottom of the area.
pub(crate) fn horizontal(label: &str, ruler: &Ruler, area: Area, frame: Area) -> String {
    let (left, right, bottom) = (frame.left, frame.right(), frame.bottom());
    let mut marks = format!("M{} {}H{}", px(left), px(bottom), px(right));
    let mut labels = String::new();
    for Tick { at, label } in x_ticks(ruler) {
        let x = ruler.clamped(at);
        let length = if label.is_some() { 4 } else { 2 };
        let _ = write!(marks, "M{} {}v{length}", px(x), px(bottom));
        if let Some(label) = label {
            labels += &tick_label(&label, (x, bottom + 13.5), "middle");
        }
    }
    let middle = (left + right) / 2.0;
    let title = centred(label, (middle, area.bottom() - 3.0), frame.width, "");
    format!("{}<g class=\"ticks\">{labels}</g>{title}", axis_path(&marks))
}

/// The ends of an axis as measures and as pixels, and its scale: a page reads them to show the values under the pointer.
pub(crate) fn data(ruler: &Ruler) -> String {
    let scale = match ruler.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    };
    format!("{} {} {} {} {scale}", ruler.low, ruler.high, px(ruler.from), px(ruler.to))
}

/// As many ticks as their labels have room for, and not many more than ten.
pub(crate) fn x_ticks(ruler: &Ruler) -> Vec<Tick> {
    let fits = |ticks: &Vec<Tick>| {
        let (places, labels): (Vec<f64>, Vec<&String>) =
            ticks.iter().filter_map(|tick| Some((ruler.clamped(tick.at), tick.label.as_ref()?))).unzip();
        let closest = places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        closest >= widest(labels.into_iter(), SMALL) + 6.0
    };
    let least = (ruler.to - ruler.from).abs() / 12.0;
    let mut tries = [24.0, 34.0, 44.0, 56.0].into_iter().map(|distance| ruler.ticks(least.max(distance)));
    tries.find(fits).unwrap_or_else(|| ruler.ticks(72.0))
}

fn grid(y: &Ruler, from: f64, to: f64) -> String {
    let (mut lines, mut labels) = (String::new(), String::new());
    for Tick { at, label } in y.ticks(26.0) {
        let Some(label) = label else { continue };
        let height = y.clamped(at);
        let _ = write!(lines, "M{} {}H{}", px(from), px(height), px(to));
        labels += &tick_label(&label, (from - 5.0, height + MIDDLE * SMALL), "end");
    }
    format!(
        "<path class=\"grid\" fill=\"none\" stroke=\"{GRID}\" stroke-width=\"0.8\" d=\"{lines}\"/><g class=\"ticks\">{labels}</g>"
    )
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::drawing::{Drawing, row};
    use crate::line::Uncertainty;
    use resvg::usvg::roxmltree::{Document, Node};

    fn axis(scale: Scale) -> Axis {
        Axis { label: "J_μ".into(), scale, range: None }
    }

    pub(crate) fn line(method: &str, ys: &[Option<f64>]) -> Line {
        let point = |(index, &y): (usize, &Option<f64>)| Point {
            x: 0.5 + index as f64,
            y,
            uncertainty: Some(Uncertainty::Error(0.1)),
        };
        Line::of_method(method.into(), ys.iter().enumerate().map(point).collect())
    }

    pub(crate) fn panel(lines: Vec<Line>) -> Panel {
        let reference = Some(Reference { y: 1.25, label: "optimum 1.25".into() });
        Panel {
            name: "curves",
            title: "Curves".into(),
            x: axis(Scale::Linear),
            y: axis(Scale::Linear),
            lines,
            reference,
        }
    }

    pub(crate) fn some(count: usize) -> Vec<Option<f64>> {
        (0..count).map(|index| Some((index as f64).sin())).collect()
    }

    pub(crate) fn drawings(panel: &Panel) -> [String; 3] {
        let drawing = Drawing::from(panel.clone());
        [drawing.svg("p"), drawing.inline("p"), row("Row", &[drawing, Drawing::Counterexample])]
    }

    fn with_class<'a>(node: Node<'a, 'a>, class: &str) -> Vec<Node<'a, 'a>> {
        node.descendants().filter(|node| node.attribute("class") == Some(class)).collect()
    }

    /// The path of a class in the group of a method.
    fn path(svg: &str, method: &str, class: &str) -> String {
        let document = Document::parse(svg).unwrap();
        let groups = with_class(document.root(), "method");
        let group = groups.iter().find(|group| group.attribute("data-method") == Some(method)).unwrap();
        with_class(*group, class)[0].attribute("d").unwrap().into()
    }

    fn count(path: &str, commands: &[char]) -> usize {
        path.matches(commands).count()
    }

    #[test]
    fn every_line_is_drawn_with_every_point() {
        let panel =
            panel(vec![line("ACE(0)", &some(51)), line("True-ACE", &some(9)), line("Other", &some(1))]);
        for svg in drawings(&panel) {
            for (method, points) in [("ACE(0)", 51), ("True-ACE", 9), ("Other", 1)] {
                assert_eq!(count(&path(&svg, method, "line"), &['M', 'L']), points);
            }
            assert_eq!(count(&path(&svg, "True-ACE", "band"), &['M', 'L']), 18);
        }
    }

    #[test]
    fn a_long_line_has_few_markers_and_a_short_one_all() {
        let panel = panel(vec![line("ACE(0)", &some(51)), line("ACE(1)", &some(9))]);
        let [svg, ..] = drawings(&panel);
        assert!((5..=8).contains(&count(&path(&svg, "ACE(0)", "mark"), &['M'])));
        assert_eq!(count(&path(&svg, "ACE(1)", "mark"), &['M']), 9);
    }

    #[test]
    fn what_diverged_leaves_a_gap() {
        let mut ys = some(51);
        // A point is left alone at 11.
        for index in [10, 12, 50] {
            ys[index] = None;
        }
        let [svg, ..] = drawings(&panel(vec![line("ACE(0)", &ys)]));
        let path_of = |class| path(&svg, "ACE(0)", class);
        assert_eq!((count(&path_of("line"), &['M']), count(&path_of("line"), &['M', 'L'])), (3, 48));
        assert_eq!(count(&path_of("band"), &['Z']), 3);
        // It has no line, so it must have a marker: in a line of its own it would be seen.
        let alone = path_of("line").split('M').nth(2).unwrap().to_string();
        let (x, y) = alone.split_once(' ').unwrap();
        assert!(path_of("mark").contains(&format!("M{} {y}", px(x.parse::<f64>().unwrap() - 2.7))));
    }

    #[test]
    fn nothing_that_is_not_finite_is_drawn() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN, 0.0, -1.0, 1e-320];
        for (x_scale, y_scale) in [(Scale::Linear, Scale::Log), (Scale::Log, Scale::Linear)] {
            let mut panel = panel(Vec::new());
            (panel.x.scale, panel.y.scale) = (x_scale, y_scale);
            for &value in &odd {
                let point =
                    |x, y, error| Point { x, y: Some(y), uncertainty: Some(Uncertainty::Error(error)) };
                let points = vec![point(value, 1.0, 0.1), point(1.0, value, 0.1), point(2.0, 2.0, value)];
                panel.lines = vec![Line::of_method("ACE(0)".into(), points)];
                for reference in odd {
                    panel.reference = Some(Reference { y: reference, label: "odd".into() });
                    for svg in drawings(&panel) {
                        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{value} {reference}: {svg}");
                    }
                }
            }
        }
    }

    #[test]
    fn an_empty_panel_has_axes() {
        for lines in [vec![], vec![line("ACE(0)", &[])], vec![line("ACE(0)", &[None, None])]] {
            let panel = Panel { reference: None, ..panel(lines) };
            for svg in drawings(&panel) {
                let document = Document::parse(&svg).unwrap();
                assert!(!with_class(document.root(), "axis").is_empty());
                assert!(with_class(document.root(), "ticks").iter().all(|ticks| ticks.has_children()));
            }
        }
    }

    #[test]
    fn text_is_escaped() {
        let odd = "<b x=\"1\">&'\u{1}";
        let mut panel = panel(vec![line(odd, &some(3))]);
        panel.title = odd.into();
        panel.x.label = odd.into();
        panel.reference = Some(Reference { y: 0.0, label: odd.into() });
        for svg in drawings(&panel) {
            let document = Document::parse(&svg).unwrap();
            let group = with_class(document.root(), "method")[0];
            assert_eq!(group.attribute("data-method"), Some("<b x=\"1\">&'"));
            assert!(document.descendants().all(|node| !node.has_tag_name("b")));
        }
    }

    #[test]
    fn a_line_beyond_the_range_widens_it_and_a_band_does_not() {
        let mut panel = panel(vec![line("ACE(0)", &[Some(0.5), Some(0.98)])]);
        panel.reference = None;
        panel.y.range = Some((0.0, 1.0));
        let frame = panel.frame(Area { left: 0.0, top: 0.0, width: 300.0, height: 200.0 });
        let (_, y) = panel.rulers(frame);
        assert_eq!((y.low, y.high), (0.0, 1.0));
        panel.lines[0].points[1].y = Some(3.0);
        let (x, y) = panel.rulers(frame);
        assert_eq!((y.low, y.high), (0.0, 3.0));
        let band = panel.lines[0].pieces(&x, &y)[0][1].band.unwrap();
        assert_eq!(band.top, frame.top);
    }

    #[test]
    fn the_reference_and_the_bands_are_in_sight() {
        let mut panel = panel(vec![line("ACE(0)", &[Some(0.5), Some(0.6)])]);
        panel.reference = Some(Reference { y: -7.0, label: "low".into() });
        let (_, y) = panel.rulers(Area { left: 0.0, top: 0.0, width: 300.0, height: 200.0 });
        assert!(y.low < -7.0 && y.high > 0.7);
        assert!(y.place(0.7).is_some_and(|top| top > 5.0));
    }
}
