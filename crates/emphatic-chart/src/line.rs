//! A line of results in a panel, with the band of their uncertainty.

use crate::axis::Ruler;
use crate::document::polyline;
use crate::markup::escape;
use crate::style::{Style, style_of};

/// The results of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub method: String,
    /// How it looks.
    pub style: Style,
    /// By ascending x.
    pub points: Vec<Point>,
}

/// A result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The place on the horizontal axis.
    pub x: f64,
    /// `None` if runs diverged: a gap in the line.
    pub y: Option<f64>,
    /// The band around it.
    pub uncertainty: Option<Uncertainty>,
}

/// How certain a result is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Uncertainty {
    /// One standard error: the half height of the band.
    Error(f64),
    /// The ends of an interval.
    Interval(f64, f64),
}

impl Point {
    /// The ends of the band; `None` if it has none, or if they are not finite.
    pub(crate) fn band(&self) -> Option<(f64, f64)> {
        let (low, high) = match self.uncertainty? {
            Uncertainty::Error(error) => (self.y? - error.abs(), self.y? + error.abs()),
            Uncertainty::Interval(low, high) => (low, high),
        };
        (low.is_finite() && high.is_finite()).then_some((low, high))
    }
}

/// A point in pixels, with its band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    index: usize,
    x: f64,
    y: f64,
    pub(crate) band: Option<Band>,
}

/// The edges of the band.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Band {
    pub(crate) top: f64,
    pub(crate) bottom: f64,
}

/// The position of a line among those of its panel.
#[derive(Clone, Copy)]
pub(crate) struct Position {
    pub(crate) index: usize,
    pub(crate) count: usize,
}

impl Placed {
    /// The point itself, and the edges of the band.
    pub(crate) fn edges(&self) -> [(f64, f64); 3] {
        let Band { top, bottom } = self.band.unwrap_or(Band { top: self.y, bottom: self.y });
        [self.y, top, bottom].map(|y| (self.x, y))
    }
}

impl Line {
    /// In the style of the paper's method of this name.
    pub fn of_method(method: String, points: Vec<Point>) -> Self {
        Self { style: style_of(&method), method, points }
    }

    /// The pieces between gaps.
    pub(crate) fn pieces(&self, x: &Ruler, y: &Ruler) -> Vec<Vec<Placed>> {
        let place = |(index, point): (usize, &Point)| {
            let edges = |(low, high)| Band { top: y.clamped(high), bottom: y.clamped(low) };
            let band = point.band().map(edges);
            Some(Placed { index, x: x.place(point.x)?, y: y.place(point.y?)?, band })
        };
        let placed: Vec<Option<Placed>> = self.points.iter().enumerate().map(place).collect();
        let pieces = placed.split(Option::is_none).map(|piece| piece.iter().copied().flatten().collect());
        pieces.filter(|piece: &Vec<Placed>| !piece.is_empty()).collect()
    }

    /// Draws the line. The markers of the lines of a panel are set at different points, so that they can be told apart where lines
    /// meet.
    pub(crate) fn draw(&self, x: &Ruler, y: &Ruler, position: Position) -> String {
        let (style, pieces) = (&self.style, self.pieces(x, y));
        let band: String = pieces
            .iter()
            .flat_map(|piece| piece.chunk_by(|a, b| a.band.is_some() == b.band.is_some()))
            .map(band)
            .collect();
        let path: String =
            pieces.iter().map(|piece| polyline(piece.iter().map(|point| (point.x, point.y)))).collect();
        let alone = |piece: &Vec<Placed>| piece.len() == 1;
        let marked = pieces.iter().flat_map(|piece| {
            piece
                .iter()
                .filter(move |point| alone(piece) || self.is_marked(point.index, position))
                .map(|point| (point.x, point.y))
        });
        format!(
            "<g class=\"method\" data-method=\"{}\" {}>\
             <path class=\"band\" fill=\"currentColor\" fill-opacity=\"{}\" stroke=\"none\" d=\"{band}\"/>{}{}</g>",
            escape(&self.method),
            style.attributes(),
            // Many bands on top of each other would hide the lines.
            if position.count > 8 { 0.08 } else { 0.18 },
            style.line(&path),
            style.marks(marked),
        )
    }

    fn is_marked(&self, index: usize, line: Position) -> bool {
        let every = if self.points.len() <= 16 { 1 } else { self.points.len().div_ceil(7) };
        index % every == (line.index * every / line.count.max(1) + every / 2) % every
    }
}

/// The path of the band of points that all have one, or that all have none.
fn band(points: &[Placed]) -> String {
    let upper = points.iter().filter_map(|point| Some((point.x, point.band?.top)));
    let lower = points.iter().rev().filter_map(|point| Some((point.x, point.band?.bottom)));
    let mut outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    if let [(x, top), (_, bottom)] = outline[..] {
        // A point alone would have a band without width.
        outline = vec![(x - 1.5, top), (x + 1.5, top), (x + 1.5, bottom), (x - 1.5, bottom)];
    }
    if outline.is_empty() { String::new() } else { polyline(outline) + "Z" }
}
