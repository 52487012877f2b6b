//! Drawings for print and for pages, as SVG and as PNG. This crate does not depend on learners or problems.
//!
//! ```
//! use emphatic_chart::{Axis, Drawing, Line, Panel, Point, Renderer, Scale};
//!
//! let axis = |label: &str| Axis { label: label.into(), scale: Scale::Linear, range: None };
//! let point = |x: f64| Point { x, y: Some(x * x), uncertainty: None };
//! let panel = Panel {
//!     name: "square",
//!     title: "A square".into(),
//!     x: axis("x"),
//!     y: axis("x^{2}"),
//!     lines: vec![Line::of_method("ACE(1)".into(), [0.0, 1.0, 2.0].map(point).to_vec())],
//!     reference: None,
//! };
//! let svg = Drawing::from(panel).svg("example");
//! assert!(svg.contains("<title id=\"example-square-title\">A square</title>"));
//! let png = Renderer::new().png(&svg)?;
//! # Ok::<(), emphatic_chart::RenderError>(())
//! ```
//!
//! | concept | where |
//! |---|---|
//! | panels of lines | `panel`, their axes in `axis`, each line in `line` |
//! | the values of runs as dots, a row for each method | `strips` |
//! | an objective over two parameters, with flows | `landscape`, its fill in `contour`, `flow` |
//! | the diagram of the counterexample | `diagram` |
//! | a drawing alone, in a page and in rows | `drawing`, `document`, `legend` |
//! | the colour, marker and dashes of each method | `style` |
//! | labels in a tiny markup | `markup` |
//! | pixels | `png` |

#![forbid(unsafe_code)]

mod area;
mod axis;
mod contour;
mod diagram;
mod document;
mod drawing;
mod flow;
mod landscape;
mod legend;
mod line;
mod markup;
mod panel;
mod png;
mod strips;
mod style;

pub use self::png::{RESOLUTION, RenderError, Renderer};
pub use axis::{Axis, Scale};
pub use drawing::{Drawing, all_methods, grid, row};
pub use flow::Flow;
pub use landscape::{Landscape, Note, ParameterAxis};
pub use line::{Line, Point, Uncertainty};
pub use markup::{escape, html, literal, plain};
pub use panel::{Panel, Reference};
pub use strips::{Strip, Strips, strips};
pub use style::{Style, style_of, swatch};
