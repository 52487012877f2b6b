//! The values of runs as dots, a row for each method: where a mean hides that some runs end in one place and some in another, this shows it.

use crate::area::Area;
use crate::axis::{Axis, Ruler};
use crate::document::{
    About, BOLD, INK, MIDDLE, PAGE_WIDTH, REGULAR, SMALL, TITLE_HEIGHT, heading, paragraph, polyline,
    printed, tick_label,
};
use crate::markup::{escape, fitted, literal, plain, px, widest};
use crate::panel::{GRID, INSET, data, horizontal, x_ticks};
use crate::style::Style;
use std::fmt::Write;

const ROW_HEIGHT: f64 = 20.0;
/// The height over which the dots of a row are spread.
const SPREAD: f64 = 13.0;
/// Half the height of the mark of the median.
const MEDIAN: f64 = 8.0;
/// The axis below the rows with its label.
const AXIS_HEIGHT: f64 = 30.0;
/// The longest names take this share of the width.
const LONGEST_NAME: f64 = 0.38 * PAGE_WIDTH;
const GAP: f64 = 6.0;

/// Rows of dots over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Strips {
    /// The title, in the markup of labels.
    pub title: String,
    /// The axis of the values.
    pub x: Axis,
    /// From top to bottom.
    pub rows: Vec<Strip>,
}

/// The runs of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// Its name.
    pub method: String,
    /// Its colour.
    pub style: Style,
    /// The value of each run.
    pub values: Vec<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// Their median.
    pub median: Option<f64>,
    /// A remark beside the row: "2 of 30 diverged".
    pub note: String,
}

/// All of these, one below the other, in one document as wide as a page, with text below.
pub fn strips(title: &str, all: &[Strips], caption: &str) -> String {
    let rows = || all.iter().flat_map(|strips| &strips.rows);
    let names: Vec<String> = rows().map(|row| literal(&fitted(&row.method, SMALL, LONGEST_NAME))).collect();
    let notes: Vec<String> = rows().map(|row| literal(&row.note)).collect();
    // Fonts differ in width, and short names err more.
    let room = |labels: &[String]| 1.05 * widest(labels.iter(), SMALL) + 2.0 * GAP;
    let (left, right) = (room(&names), PAGE_WIDTH - room(&notes));
    let whole = Area { left: 0.0, top: 0.0, width: PAGE_WIDTH, height: 0.0 };
    let mut body = heading(title, whole, whole, BOLD);
    let mut end = TITLE_HEIGHT + 4.0;
    for strips in all {
        let height = strips.rows.len() as f64 * ROW_HEIGHT;
        let frame = Area { left, top: end + TITLE_HEIGHT, width: right - left, height };
        body += &heading(&strips.title, whole.below(end), frame, REGULAR);
        body += &strips.draw(frame);
        end = frame.bottom() + AXIS_HEIGHT + 9.0;
    }
    body += &key((left + right) / 2.0, end + 6.0);
    end += 16.0;
    let (text, height) = paragraph(caption, end + 5.0, PAGE_WIDTH);
    let methods: Vec<&str> = rows().map(|row| row.method.as_str()).collect();
    let description = format!("The value of each run, its mean and its median, of {}.", methods.join(", "));
    let about = About { id: String::new(), title: plain(title), description };
    printed((PAGE_WIDTH, end + 5.0 + height), &about, &(body + &text))
}

impl Strips {
    fn draw(&self, frame: Area) -> String {
        let values = self.rows.iter().flat_map(|row| row.values.iter().copied().chain(row.mean));
        let ruler =
            self.x.ruler(&values.collect::<Vec<_>>(), &[], 0.02, (frame.left + INSET, frame.right() - INSET));
        let mut svg = format!("<g class=\"plot\" data-x=\"{}\">", data(&ruler));
        svg += &self.grid(&ruler, frame);
        let area = Area { height: frame.height + AXIS_HEIGHT, ..frame };
        svg += &horizontal(&self.x.label, &ruler, area, frame);
        for (number, row) in self.rows.iter().enumerate() {
            svg += &row.draw(&ruler, frame, frame.top + (number as f64 + 0.5) * ROW_HEIGHT);
        }
        svg + "</g>"
    }

    /// Lines up from the numbers of the axis, and along each row.
    fn grid(&self, ruler: &Ruler, frame: Area) -> String {
        let mut lines = String::new();
        for tick in x_ticks(ruler).into_iter().filter(|tick| tick.label.is_some()) {
            let _ = write!(lines, "M{} {}V{}", px(ruler.clamped(tick.at)), px(frame.top), px(frame.bottom()));
        }
        for number in 0..self.rows.len() {
            let y = frame.top + (number as f64 + 0.5) * ROW_HEIGHT;
            let _ = write!(lines, "M{} {}H{}", px(frame.left), px(y), px(frame.right()));
        }
        format!("<path class=\"grid\" fill=\"none\" stroke=\"{GRID}\" stroke-width=\"0.8\" d=\"{lines}\"/>")
    }
}

impl Strip {
    fn draw(&self, ruler: &Ruler, frame: Area, y: f64) -> String {
        let name = literal(&fitted(&self.method, SMALL, LONGEST_NAME));
        let baseline = y + MIDDLE * SMALL;
        let mut svg = format!(
            "<g class=\"method\" data-method=\"{}\"><title>{}</title>",
            escape(&self.method),
            escape(&self.method)
        );
        svg += &tick_label(&name, (frame.left - GAP, baseline), "end");
        svg += &tick_label(&literal(&self.note), (frame.right() + GAP, baseline), "start");
        let _ = write!(svg, "<g class=\"runs\" fill=\"{}\" fill-opacity=\"0.5\">", self.style.colour);
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        for (number, value) in values.into_iter().enumerate() {
            if let Some(x) = ruler.place(value) {
                svg += &dot(x, y + SPREAD * (apart(number) - 0.5));
            }
        }
        svg += "</g>";
        svg += &self.median.and_then(|value| ruler.place(value)).map_or_else(String::new, |x| median(x, y));
        svg += &self.mean.and_then(|value| ruler.place(value)).map_or_else(String::new, |x| mean(x, y));
        svg + "</g>"
    }
}

/// A place in [0, 1) for each number. Neighbours are far apart, by the golden ratio, so that equal values are seen as many.
fn apart(number: usize) -> f64 {
    (0.5 + number as f64 * 0.618_033_988_749_894_9).fract()
}

fn dot(x: f64, y: f64) -> String {
    format!("<circle cx=\"{}\" cy=\"{}\" r=\"2.2\"/>", px(x), px(y))
}

fn median(x: f64, y: f64) -> String {
    format!(
        "<path class=\"median\" stroke=\"{INK}\" stroke-width=\"1.3\" d=\"{}\"/>",
        polyline([(x, y - MEDIAN), (x, y + MEDIAN)])
    )
}

fn mean(x: f64, y: f64) -> String {
    let path = polyline([(x, y - 3.4), (x + 2.8, y), (x, y + 3.4), (x - 2.8, y)]);
    format!("<path class=\"mean\" fill=\"{INK}\" stroke=\"#fff\" stroke-width=\"0.5\" d=\"{path}Z\"/>")
}

/// What the marks mean, around a place.
fn key(middle: f64, y: f64) -> String {
    let (first, second, third) = (middle - 70.0, middle - 14.0, middle + 38.0);
    let text = |label: &str, x: f64| tick_label(label, (x + 7.0, y + MIDDLE * SMALL), "start");
    format!(
        "<g class=\"legend\"><g fill-opacity=\"0.5\">{}</g>{}{}{}{}{}</g>",
        dot(first, y),
        text("a run", first),
        mean(second, y),
        text("mean", second),
        median(third, y),
        text("median", third),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Scale;

    fn strip(values: Vec<f64>) -> Strip {
        let (mean, median) = (values.first().copied(), values.last().copied());
        Strip {
            method: "<a_b>".into(),
            style: Style::numbered(0),
            values,
            mean,
            median,
            note: "1 of 2 diverged".into(),
        }
    }

    fn drawn(scale: Scale, rows: Vec<Strip>) -> String {
        let x = Axis { label: "x".into(), scale, range: None };
        strips("Runs", &[Strips { title: "A problem".into(), x, rows }], "A caption")
    }

    #[test]
    fn every_run_is_a_dot_also_if_all_are_equal() {
        let svg = drawn(Scale::Linear, vec![strip(vec![1.0; 100])]);
        let mut dots: Vec<&str> = svg.split("<circle").skip(1).take(100).collect();
        dots.sort_unstable();
        dots.dedup();
        assert_eq!(dots.len(), 100);
        assert!(svg.contains("&lt;a_b&gt;</text>") && svg.contains(">1 of 2 diverged</text>"), "{svg}");
    }

    #[test]
    fn height_grows_with_rows() {
        let height = |rows| {
            let svg = drawn(Scale::Linear, vec![strip(vec![1.0]); rows]);
            let (_, rest) = svg.split_once("viewBox=\"0 0 672 ").unwrap();
            rest.split_once('"').unwrap().0.parse::<f64>().unwrap()
        };
        assert!((height(25) - height(1) - 24.0 * ROW_HEIGHT).abs() < 0.1);
    }

    #[test]
    fn what_has_no_place_is_not_drawn() {
        for values in [vec![], vec![0.0], vec![-1.0, f64::INFINITY, f64::NAN], vec![f64::MAX, f64::MIN]] {
            for scale in [Scale::Linear, Scale::Log] {
                let svg = drawn(scale, vec![strip(values.clone()), strip(vec![1.0])]);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{values:?}: {svg}");
            }
        }
    }
}
