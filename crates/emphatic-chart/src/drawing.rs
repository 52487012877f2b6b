//! Drawings: a panel or the diagram of the counterexample, alone, in a page and in a row.

use crate::area::Area;
use crate::diagram;
use crate::document::{About, BOLD, INCH, REGULAR, TITLE_HEIGHT, document, heading, printed};
use crate::legend::Legend;
use crate::markup::{escape, plain};
use crate::panel::Panel;

/// One column of a paper with two.
const COLUMN: (f64, f64) = (3.3 * INCH, 2.6 * INCH);
const PAGE_WIDTH: f64 = 7.0 * INCH;
const ROW_PANEL_HEIGHT: f64 = 178.0;
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
        let ((width, height), methods) = (COLUMN, self.methods());
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
        let lines = self.panel().map_or(&[][..], |panel| &panel.lines);
        lines.iter().map(|line| line.method.as_str()).collect()
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
    let (count, height) = (drawings.len().max(1) as f64, ROW_PANEL_HEIGHT + TITLE_HEIGHT);
    let (top, wide) = (TITLE_HEIGHT + 4.0, (PAGE_WIDTH - GAP * (count - 1.0)) / count);
    let whole = Area { left: 0.0, top: 0.0, width: PAGE_WIDTH, height: 0.0 };
    let mut body = heading(title, whole, whole, BOLD);
    for (index, drawing) in drawings.iter().enumerate() {
        let left = index as f64 * (wide + GAP);
        body += &drawing.draw_titled(Area { left, top, width: wide, height }, REGULAR);
    }
    let legend_top = top + height + 7.0;
    let legend = Legend::of_methods(&all_methods(drawings), legend_top, PAGE_WIDTH);
    let description = drawings.iter().map(Drawing::describe).collect::<Vec<_>>().join(" ");
    let about = About { id: String::new(), title: plain(title), description };
    printed((PAGE_WIDTH, legend_top + legend.height), &about, &(body + &legend.svg))
}

/// The methods of these drawings, each once, in the order they first appear.
pub fn all_methods(drawings: &[Drawing]) -> Vec<&str> {
    let mut methods = Vec::new();
    for method in drawings.iter().flat_map(Drawing::methods) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
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
