//! SVG documents, their labels and their measures.

use crate::area::Area;
use crate::markup::{escape, literal, px, spans, width};
use std::fmt::Write;

/// Pixels to the inch, as browsers have it.
pub(crate) const INCH: f64 = 96.0;

/// A page without its margins.
pub(crate) const PAGE_WIDTH: f64 = 7.0 * INCH;

/// Font sizes: 8 and 7 points in print.
pub(crate) const LABEL: f64 = 10.67;
pub(crate) const SMALL: f64 = 9.33;

/// From the middle of a line of text to its baseline, in font sizes.
pub(crate) const MIDDLE: f64 = 0.35;
pub(crate) const BOLD: u32 = 600;
pub(crate) const REGULAR: u32 = 400;
pub(crate) const TITLE_HEIGHT: f64 = 20.0;

pub(crate) const INK: &str = "#222";
pub(crate) const AXIS: &str = "#555";

/// The title and description of a drawing, for those who cannot see it.
pub(crate) struct About {
    /// The prefix of their ids; empty for none.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) description: String,
}

/// A document on white, with a size in print.
pub(crate) fn printed((width, height): (f64, f64), about: &About, body: &str) -> String {
    let size = format!("width=\"{}in\" height=\"{}in\"", px(width / INCH), px(height / INCH));
    let paper = format!("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>", px(width), px(height));
    document(&size, (width, height), about, &(paper + body))
}

pub(crate) fn document(attributes: &str, (width, height): (f64, f64), about: &About, body: &str) -> String {
    let (id, title, description) = (escape(&about.id), escape(&about.title), escape(&about.description));
    let (width, height) = (px(width), px(height));
    let (named, title_id, description_id) = match id.as_str() {
        "" => Default::default(),
        id => (
            format!(" aria-labelledby=\"{id}-title {id}-desc\""),
            format!(" id=\"{id}-title\""),
            format!(" id=\"{id}-desc\""),
        ),
    };
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {attributes} viewBox=\"0 0 {width} {height}\" role=\"img\"{named} \
         font-family=\"Helvetica Neue, Helvetica, Arial, sans-serif\" font-size=\"{SMALL}\" fill=\"{INK}\">\
         <title{title_id}>{title}</title><desc{description_id}>{description}</desc>{body}</svg>\n"
    )
}

/// A title at the top of an area, centred over a part of it if there is room.
pub(crate) fn heading(title: &str, area: Area, over: Area, weight: u32) -> String {
    let half = (width(title, LABEL) / 2.0).min(area.width / 2.0);
    let x = (over.left + over.width / 2.0).min(area.right() - half).max(area.left + half);
    centred(title, (x, area.top + 11.0), area.width, &format!(" font-weight=\"{weight}\""))
}

/// A label centred at a point, made smaller if it would not fit.
pub(crate) fn centred(label: &str, (x, y): (f64, f64), room: f64, attributes: &str) -> String {
    let size = LABEL * (room / width(label, LABEL).max(1.0)).clamp(0.6, 1.0);
    let (x, y, font) = (px(x), px(y), px(size));
    format!(
        "<text class=\"label\" x=\"{x}\" y=\"{y}\" font-size=\"{font}\" text-anchor=\"middle\"{attributes}>{}</text>",
        spans(label, size)
    )
}

/// A label that is read from bottom to top.
pub(crate) fn upright(label: &str, (x, y): (f64, f64), room: f64) -> String {
    centred(label, (x, y), room, &format!(" transform=\"rotate(-90 {} {})\"", px(x), px(y)))
}

/// A text in lines below `top`, and their height.
pub(crate) fn paragraph(text: &str, top: f64, room: f64) -> (String, f64) {
    const LINE_HEIGHT: f64 = 12.5;
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&literal(&format!("{line} {word}")), SMALL) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    if lines.is_empty() {
        return (String::new(), 0.0);
    }
    let baseline = |number: usize| px(top + (number as f64 + 0.5) * LINE_HEIGHT + MIDDLE * SMALL);
    let line = |(number, line): (usize, &String)| {
        format!("<text x=\"0\" y=\"{}\">{}</text>", baseline(number), escape(line))
    };
    let svg: String = lines.iter().enumerate().map(line).collect();
    (format!("<g class=\"caption\" fill=\"{AXIS}\">{svg}</g>"), lines.len() as f64 * LINE_HEIGHT)
}

/// A number or a name beside an axis.
pub(crate) fn tick_label(label: &str, (x, baseline): (f64, f64), anchor: &str) -> String {
    let (x, baseline, spans) = (px(x), px(baseline), spans(label, SMALL));
    format!("<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"{anchor}\">{spans}</text>")
}

/// A label over lines: white around its letters hides them. `style` has its anchor and colour.
pub(crate) fn note(label: &str, x: f64, area: Area, style: &str, halo: u32) -> String {
    format!(
        "<text class=\"note\" x=\"{}\" y=\"{}\" {style} stroke=\"#fff\" stroke-width=\"{halo}\" \
         stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>",
        px(x),
        px(area.top + 0.82 * SMALL),
        spans(label, SMALL),
    )
}

/// An axis with its tick marks.
pub(crate) fn axis_path(marks: &str) -> String {
    format!("<path class=\"axis\" fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"0.8\" d=\"{marks}\"/>")
}

/// A path through these points.
pub(crate) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in points {
        let _ = write!(path, "{}{} {}", if path.is_empty() { 'M' } else { 'L' }, px(x), px(y));
    }
    path
}
