//! Legends.

use crate::document::{MIDDLE, SMALL};
use crate::markup::{escape, fitted, literal, px, width};
use crate::style::Style;
use std::fmt::Write;

const LINE_HEIGHT: f64 = 14.0;
pub(crate) const SAMPLE_WIDTH: f64 = 20.0;
/// Between two columns.
const GAP: f64 = 14.0;

pub(crate) struct Legend {
    pub(crate) svg: String,
    pub(crate) height: f64,
}

impl Legend {
    /// Samples of lines with their names, in columns and as few rows as they need. `sample` draws the line of this number, from a
    /// point to the right over [`SAMPLE_WIDTH`].
    pub(crate) fn new(
        names: &[&str],
        top: f64,
        room: f64,
        sample: impl Fn(usize, (f64, f64)) -> String,
    ) -> Self {
        let longest = room - SAMPLE_WIDTH - 4.0;
        let shown: Vec<String> = names.iter().map(|name| fitted(name, SMALL, longest)).collect();
        let cell = |name: &String| SAMPLE_WIDTH + 4.0 + width(&literal(name), SMALL) + GAP;
        let widths = |columns: usize| -> Vec<f64> {
            let widest = |column| shown.iter().skip(column).step_by(columns).map(cell).fold(0.0, f64::max);
            (0..columns).map(widest).collect()
        };
        let fits = |columns: &usize| widths(*columns).iter().sum::<f64>() - GAP <= room;
        // As many in every row as the fewest rows need.
        let rows = (1..names.len()).find(|rows| fits(&names.len().div_ceil(*rows))).unwrap_or(names.len());
        let widths = widths(names.len().div_ceil(rows.max(1)));
        let start = (room - widths.iter().sum::<f64>() + GAP) / 2.0;
        let mut svg = String::from("<g class=\"legend\">");
        for (index, name) in shown.iter().enumerate() {
            let (row, column) = (index / widths.len(), index % widths.len());
            let x = start + widths[..column].iter().sum::<f64>();
            let y = top + (row as f64 + 0.5) * LINE_HEIGHT;
            svg += &sample(index, (x, y));
            let (x, baseline) = (px(x + SAMPLE_WIDTH + 4.0), px(y + MIDDLE * SMALL));
            let _ = write!(svg, "<text x=\"{x}\" y=\"{baseline}\">{}</text>", escape(name));
        }
        Self { svg: svg + "</g>", height: rows as f64 * LINE_HEIGHT }
    }

    /// For methods, each with its own style.
    pub(crate) fn of_methods(methods: &[(&str, Style)], top: f64, room: f64) -> Self {
        let names: Vec<&str> = methods.iter().map(|(name, _)| *name).collect();
        Self::new(&names, top, room, |index, (x, y)| {
            let (_, style) = methods[index];
            format!("<g {}>{}</g>", style.attributes(), style.sample(x, y, SAMPLE_WIDTH))
        })
    }
}
