//! Drawings: a panel or the diagram of the counterexample, alone, in a page and in rows.

use crate::area::Area;
use crate::diagram;
use crate::document::{
    About, BOLD, INCH, PAGE_WIDTH, REGULAR, TITLE_HEIGHT, document, heading, paragraph, printed,
};
use crate::legend::Legend;
use crate::markup::{escape, plain};
use crate::panel::Panel;
use crate::style::Style;

/// One column of a paper with two.
const COLUMN: (f64, f64) = (3.3 * INCH, 2.6 * INCH);
/// The least height of a panel in a row, and the least share of its width.
const ROW_PANEL_HEIGHT: f64 = 178.0;
const ROW_PANEL_SHARE: f64 = 0.45;
const INLINE: (f64, f64) = (288.0, 208.0);
const GAP: f64 = 10.0;

/// A part of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Results.
    Panel(Box<Panel>),
    /// The diagram of the counterexample, with two states that look the same.
    Counterexample,
}

impl From<Panel> for Drawing {
    fn from(panel: Panel) -> Self {
        Drawing::Panel(Box::new(panel))
    }
}

impl Drawing {
    /// The panel, if it is one.
    pub fn panel(&self) -> Option<&Panel> {
        if let Drawing::Panel(panel) = self { Some(panel) } else { None }
    }

    /// Its name in file names and ids.
    pub fn name(&self) -> &'static str {
        self.panel().map_or(diagram::NAME, |panel| panel.name)
    }

    /// A whole document, one column of a paper wide. Ids in it start with the prefix.
    pub fn svg(&self, id_prefix: &str) -> String {
        let ((width, height), methods) = (COLUMN, self.styles().collect::<Vec<_>>());
        let legend_top = height - Legend::of_methods(&methods, 0.0, width).height;
        let area = Area { left: 0.0, top: 0.0, width, height: legend_top - 5.0 };
        let body = self.draw_titled(area, BOLD) + &Legend::of_methods(&methods, legend_top, width).svg;
        printed(COLUMN, &self.about(&format!("{id_prefix}-{}", self.name())), &body)
    }

    /// A drawing for a page: as wide as its place there, without title and legend. Ids in it start with the prefix.
    pub fn inline(&self, id_prefix: &str) -> String {
        let (width, height) = INLINE;
        let area = Area { left: 0.0, top: 2.0, width, height: height - 4.0 };
        let id = format!("{id_prefix}-{}", self.name());
        let attributes = format!("id=\"{}\" class=\"panel\"", escape(&id));
        document(&attributes, INLINE, &self.about(&id), &self.draw(area))
    }

    /// The title, in the markup of labels.
    pub fn title(&self) -> &str {
        self.panel().map_or(diagram::TITLE, |panel| &panel.title)
    }

    /// The methods that are drawn, in order.
    pub fn methods(&self) -> Vec<&str> {
        self.styles().map(|(method, _)| method).collect()
    }

    fn styles(&self) -> impl Iterator<Item = (&str, Style)> {
        let lines = self.panel().map_or(&[][..], |panel| &panel.lines);
        lines.iter().map(|line| (line.method.as_str(), line.style))
    }

    fn describe(&self) -> String {
        self.panel().map_or_else(|| diagram::DESCRIPTION.into(), Panel::describe)
    }

    /// The title and description, for those who cannot see the drawing.
    fn about(&self, id: &str) -> About {
        About { id: id.into(), title: plain(self.title()), description: self.describe() }
    }

    fn draw(&self, area: Area) -> String {
        self.panel().map_or_else(|| diagram::draw(area), |panel| panel.draw(area))
    }

    /// Draws it with its title above.
    fn draw_titled(&self, area: Area, weight: u32) -> String {
        let rest = area.below(TITLE_HEIGHT);
        let over = self.panel().map_or(rest, |panel| panel.frame(rest));
        heading(self.title(), area, over, weight) + &self.draw(rest)
    }
}

/// The drawings side by side in one document as wide as a page, with one legend.
pub fn row(title: &str, drawings: &[Drawing]) -> String {
    grid(title, drawings, drawings.len(), "")
}

/// The drawings in rows of so many in one document as wide as a page, with one legend, and text below.
pub fn grid(title: &str, drawings: &[Drawing], columns: usize, caption: &str) -> String {
    let columns = columns.max(1);
    let wide = (PAGE_WIDTH - GAP * (columns as f64 - 1.0)) / columns as f64;
    let height = ROW_PANEL_HEIGHT.max(ROW_PANEL_SHARE * wide) + TITLE_HEIGHT;
    let whole = Area { left: 0.0, top: 0.0, width: PAGE_WIDTH, height: 0.0 };
    let mut body = heading(title, whole, whole, BOLD);
    let mut end = TITLE_HEIGHT + 4.0;
    for row in drawings.chunks(columns) {
        let top = end;
        for (column, drawing) in row.iter().enumerate() {
            let left = column as f64 * (wide + GAP);
            body += &drawing.draw_titled(Area { left, top, width: wide, height }, REGULAR);
        }
        end += height + 7.0;
    }
    let legend = Legend::of_methods(&all_styles(drawings), end, PAGE_WIDTH);
    end += legend.height;
    let (text, text_height) = paragraph(caption, end + 5.0, PAGE_WIDTH);
    if text_height > 0.0 {
        end += text_height + 5.0;
    }
    let description = drawings.iter().map(Drawing::describe).collect::<Vec<_>>().join(" ");
    let about = About { id: String::new(), title: plain(title), description };
    printed((PAGE_WIDTH, end), &about, &(body + &legend.svg + &text))
}

/// The methods of these drawings, each once, in the order they first appear.
pub fn all_methods(drawings: &[Drawing]) -> Vec<&str> {
    all_styles(drawings).into_iter().map(|(method, _)| method).collect()
}

fn all_styles(drawings: &[Drawing]) -> Vec<(&str, Style)> {
    let mut all: Vec<(&str, Style)> = Vec::new();
    for (method, style) in drawings.iter().flat_map(Drawing::styles) {
        if !all.iter().any(|(known, _)| *known == method) {
            all.push((method, style));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::{drawings, line, panel, some};

    #[test]
    fn documents_have_their_size_and_ids() {
        let [column, inline, row] = drawings(&panel(vec![line("ACE(0)", &some(3))]));
        assert!(column.contains("width=\"3.3in\" height=\"2.6in\" viewBox=\"0 0 316.8 249.6\""));
        assert!(row.contains("width=\"7in\""));
        assert!(inline.contains("id=\"p-curves\" class=\"panel\" viewBox") && !inline.contains("in\" "));
        assert!(inline.contains("<title id=\"p-curves-title\">Curves</title><desc id=\"p-curves-desc\">"));
        assert!(Drawing::Counterexample.svg("p").contains("look the same to the actor"));
    }

    #[test]
    fn a_legend_names_every_method_once() {
        let drawings = [
            panel(vec![line("ACE(0)", &some(3))]),
            panel(vec![line("ACE(1)", &some(3)), line("ACE(0)", &some(2))]),
        ];
        let drawings = drawings.map(Drawing::from);
        assert_eq!(all_methods(&drawings), ["ACE(0)", "ACE(1)"]);
        assert_eq!(row("Row", &drawings).matches(">ACE(0)</text>").count(), 1);
        assert!(!drawings[0].inline("p").contains("class=\"legend\""));
    }
}
