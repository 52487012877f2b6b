//! Drawings for print and for pages, as SVG and as PNG. It knows nothing of learners or problems: whoever has numbers can draw them.
//!
//! ```
//! use emphatic_chart::{Axis, Drawing, Line, Panel, Point, Renderer, Scale};
//!
//! let axis = |label: &str| Axis { label: label.into(), scale: Scale::Linear, range: None };
//! let point = |x: f64| Point { x, y: Some(x * x), error: None };
//! let panel = Panel {
//!     name: "square",
//!     title: "A square".into(),
//!     x: axis("x"),
//!     y: axis("x^{2}"),
//!     lines: vec![Line { method: "ACE(1)".into(), points: [0.0, 1.0, 2.0].map(point).to_vec() }],
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
//! | panels of lines, alone and in a row | `chart`, its axes in `axis` |
//! | an objective over two parameters, with flows | `landscape`, its fill in `contour` |
//! | the problem of the paper's first figure | `diagram` |
//! | what every method looks like | `style` |
//! | labels in a tiny markup | `text` |
//! | pixels | `png` |

#![forbid(unsafe_code)]

mod chart;
mod png;

pub use self::png::{RESOLUTION, RenderError, Renderer};
pub use chart::{
    Axis, Drawing, Flow, Landscape, Line, Note, Panel, ParameterAxis, Point, Reference, Scale, Style,
    all_methods, escape, html, plain, row, style_of, swatch,
};
