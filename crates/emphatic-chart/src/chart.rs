//! Panels of lines as SVG: one drawing for print, for pixels and for the page.
//!
//! Everything is a function of the panel alone, so the same panel gives the same bytes. What is not finite has
//! no place in a drawing and leaves a gap.

mod axis;
mod contour;
mod diagram;
mod landscape;
mod style;
mod text;

use std::fmt::Write;

pub use axis::{Axis, Scale};
use axis::{Ruler, Tick};
pub use landscape::{Flow, Landscape, Note, ParameterAxis};
pub use style::{Style, style_of, swatch};
pub use text::{escape, html, plain};
use text::{px, spans, width};

/// Lines over one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// For file names and ids: "sensitivity".
    pub name: &'static str,
    /// What it shows, in the markup of labels.
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

/// The results of a method.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name decides its [`Style`].
    pub method: String,
    /// By ascending x.
    pub points: Vec<Point>,
}

/// A result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Where.
    pub x: f64,
    /// `None` if runs diverged: a gap in the line.
    pub y: Option<f64>,
    /// One standard error, the half height of the band.
    pub error: Option<f64>,
}

/// A dashed horizontal line.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// Where.
    pub y: f64,
    /// What it is, in the markup of labels: "optimum 1.25".
    pub label: String,
}

/// What stands in a row of a figure.
#[derive(Clone, Debug, PartialEq)]
pub enum Drawing {
    /// Results.
    Panel(Box<Panel>),
    /// A picture of the problem with two states that look the same.
    Counterexample,
}

/// A part of a drawing, in pixels.
#[derive(Clone, Copy, Debug)]
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

/// One of a paper's two columns, at 96 pixels to the inch, as browsers have it.
const COLUMN: (f64, f64) = (3.3 * 96.0, 2.6 * 96.0);
const PAGE_WIDTH: f64 = 7.0 * 96.0;
const ROW_PANEL_HEIGHT: f64 = 178.0;
const INLINE: (f64, f64) = (288.0, 208.0);
const GAP: f64 = 10.0;

/// 8 and 7 points in print.
const LABEL: f64 = 10.67;
const SMALL: f64 = 9.33;

/// Lines stay this far from the ends of the horizontal axis, so that their markers have room.
const INSET: f64 = 6.0;
const TITLE_HEIGHT: f64 = 20.0;
const LEGEND_LINE: f64 = 14.0;

/// From the middle of a line of text to its baseline, by the size of the font.
const MIDDLE: f64 = 0.35;
const BOLD: u32 = 600;
const REGULAR: u32 = 400;

const INK: &str = "#222";
const AXIS: &str = "#555";
const GRID: &str = "#e4e4e4";

impl From<Panel> for Drawing {
    fn from(panel: Panel) -> Self {
        Drawing::Panel(Box::new(panel))
    }
}

impl Drawing {
    /// For file names and ids.
    pub fn name(&self) -> &'static str {
        match self {
            Drawing::Panel(panel) => panel.name,
            Drawing::Counterexample => diagram::NAME,
        }
    }

    /// A whole document, one column of a paper wide. Ids in it start with the prefix.
    pub fn svg(&self, id_prefix: &str) -> String {
        column(self, id_prefix)
    }

    /// For a page: as wide as its place there, without title and legend. Ids in it start with the prefix.
    pub fn inline(&self, id_prefix: &str) -> String {
        let (width, height) = INLINE;
        let area = Area { left: 0.0, top: 2.0, width, height: height - 4.0 };
        let id = format!("{id_prefix}-{}", self.name());
        let attributes = format!("id=\"{}\" class=\"panel\"", escape(&id));
        document(&attributes, INLINE, &self.about(&id), &self.draw(area))
    }

    /// The title, in the markup of labels.
    pub fn title(&self) -> &str {
        match self {
            Drawing::Panel(panel) => &panel.title,
            Drawing::Counterexample => diagram::TITLE,
        }
    }

    /// The methods drawn, in order.
    pub fn methods(&self) -> Vec<&str> {
        match self {
            Drawing::Panel(panel) => panel.lines.iter().map(|line| line.method.as_str()).collect(),
            Drawing::Counterexample => Vec::new(),
        }
    }

    fn describe(&self) -> String {
        match self {
            Drawing::Panel(panel) => panel.describe(),
            Drawing::Counterexample => diagram::DESCRIPTION.into(),
        }
    }

    /// For those who cannot see the drawing.
    fn about(&self, id: &str) -> About {
        About { id: id.into(), title: plain(self.title()), description: self.describe() }
    }

    fn draw(&self, area: Area) -> String {
        match self {
            Drawing::Panel(panel) => panel.draw(area),
            Drawing::Counterexample => diagram::draw(area),
        }
    }

    /// With its title above.
    fn draw_titled(&self, area: Area, weight: u32) -> String {
        let rest = below(area, TITLE_HEIGHT);
        let over = match self {
            Drawing::Panel(panel) => panel.frame(rest),
            Drawing::Counterexample => rest,
        };
        heading(self.title(), area, over, weight) + &self.draw(rest)
    }
}

impl Panel {
    fn describe(&self) -> String {
        let methods: Vec<&str> = self.lines.iter().map(|line| line.method.as_str()).collect();
        let methods = if methods.is_empty() { "nothing".into() } else { methods.join(", ") };
        let mut text = format!("{} over {}, of {methods}.", plain(&self.y.label), plain(&self.x.label));
        if let Some(reference) = &self.reference {
            let _ = write!(text, " Dashed: {}.", plain(&reference.label));
        }
        text
    }

    fn draw(&self, area: Area) -> String {
        let frame = self.frame(area);
        let (x, y) = self.rulers(frame);
        let (from, to) = (frame.left, frame.left + frame.width);
        let mut svg = format!("<g class=\"plot\" data-x=\"{}\" data-y=\"{}\">", data(&x), data(&y));
        svg += &grid(&y, from, to);
        svg += &self.horizontal(&x, area, frame);
        svg += &self.vertical(area, frame);
        let reference =
            self.reference.as_ref().and_then(|reference| Some((reference, y.place(reference.y)?)));
        if let Some((_, at)) = reference {
            svg += &reference_line(at, from, to);
        }
        for (index, line) in self.lines.iter().enumerate() {
            svg += &line.draw(&x, &y, (index, self.lines.len()));
        }
        if let Some((reference, at)) = reference {
            svg += &self.reference_label(reference, at, frame, (&x, &y));
        }
        svg + "</g>"
    }

    /// Where lines are drawn: what the labels around them leave.
    fn frame(&self, area: Area) -> Area {
        let mut frame = Area { height: area.height - 30.0, ..area };
        // The labels' widths depend on the ticks, these on the height, which is known.
        let ticks = self.rulers(frame).1.ticks(26.0);
        let widest = ticks.iter().filter_map(|tick| tick.label.as_ref()).map(|label| width(label, SMALL));
        let margin = LABEL + 12.0 + widest.fold(0.0, f64::max);
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
        let band = |point: &&Point| Some((point.y?, point.error?.abs()));
        let bands: Vec<f64> = shown.iter().filter_map(band).flat_map(|(y, e)| [y - e, y + e]).collect();
        let x = self.x.ruler(&xs, &[], 0.0, (frame.left + INSET, frame.left + frame.width - INSET));
        let mut y = self.y.ruler(&ys, &bands, 0.05, (frame.top + frame.height, frame.top));
        self.make_room_above_reference(&mut y);
        (x, y)
    }

    fn has_place(&self, point: &Point) -> bool {
        self.x.scale.measure(point.x).is_some() && point.y.is_some_and(|y| self.y.scale.measure(y).is_some())
    }

    /// The label stands on the reference line, where lines seldom are if the reference is an optimum.
    fn make_room_above_reference(&self, y: &mut Ruler) {
        let reference = self.reference.as_ref().and_then(|reference| y.scale.measure(reference.y));
        let part = 1.0 - (SMALL + 4.0) / (y.from - y.to);
        if let Some(reference) = reference.filter(|_| part > 0.5) {
            y.high = y.high.max(y.low + (reference - y.low) / part);
        }
    }

    fn horizontal(&self, ruler: &Ruler, area: Area, frame: Area) -> String {
        let (left, right, bottom) = (frame.left, frame.left + frame.width, frame.top + frame.height);
        let mut marks = format!("M{} {}H{}", px(left), px(bottom), px(right));
        let mut labels = String::new();
        for Tick { at, label } in x_ticks(ruler) {
            let x = px(ruler.clamped(at));
            let length = if label.is_some() { 4 } else { 2 };
            let _ = write!(marks, "M{x} {}v{length}", px(bottom));
            if let Some(label) = label {
                let baseline = px(bottom + 13.5);
                let _ = write!(
                    labels,
                    "<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"middle\">{}</text>",
                    spans(&label, SMALL)
                );
            }
        }
        let middle = (left + right) / 2.0;
        let title = centred(&self.x.label, (middle, area.top + area.height - 3.0), frame.width, "");
        format!(
            "<path class=\"axis\" fill=\"none\" stroke=\"{AXIS}\" stroke-width=\"0.8\" d=\"{marks}\"/>\
             <g class=\"ticks\">{labels}</g>{title}"
        )
    }

    fn vertical(&self, area: Area, frame: Area) -> String {
        let middle = frame.top + frame.height / 2.0;
        upright(&self.y.label, (area.left + LABEL, middle), frame.height)
    }

    /// On the line or under it, left, right or between: where it hides the least.
    fn reference_label(
        &self,
        reference: &Reference,
        at: f64,
        frame: Area,
        rulers: (&Ruler, &Ruler),
    ) -> String {
        let wide = width(&reference.label, SMALL);
        let (left, right) = (frame.left + 3.0, frame.left + frame.width - 3.0);
        // Fonts differ in width: each is anchored where it must not pass.
        let starts = [
            ("end", right, right - wide),
            ("start", left, left),
            ("middle", (left + right) / 2.0, (left + right - wide) / 2.0),
        ];
        let places =
            [at - SMALL - 2.5, at + 2.5].into_iter().flat_map(|top| starts.map(|start| (top, start)));
        let hidden = |&(top, (_, _, left)): &(f64, (&str, f64, f64))| {
            let outside = top < frame.top - 1.0 || top + SMALL > frame.top + frame.height;
            (outside, self.covered(Area { left, top, width: wide, height: SMALL }, rulers))
        };
        let Some((top, (anchor, x, _))) = places.min_by_key(hidden) else { return String::new() };
        format!(
            "<text class=\"note\" x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" fill=\"#555\" stroke=\"#fff\" \
             stroke-width=\"2\" stroke-linejoin=\"round\" paint-order=\"stroke\">{}</text>",
            px(x),
            px(top + 0.82 * SMALL),
            spans(&reference.label, SMALL),
        )
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

impl Area {
    /// About how much of a line through these places lies inside.
    fn passed(&self, places: &[(f64, f64)]) -> usize {
        const STEPS: usize = 16;
        let (right, bottom) = (self.left + self.width, self.top + self.height);
        let inside = |(x, y)| (self.left..right).contains(&x) && (self.top..bottom).contains(&y);
        let between = |pair: &[(f64, f64)]| {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let part = |step: usize| step as f64 / STEPS as f64;
            let place = |step| (x0 + part(step) * (x1 - x0), y0 + part(step) * (y1 - y0));
            (0..STEPS).filter(|&step| inside(place(step))).count()
        };
        places.windows(2).map(between).sum::<usize>() + places.iter().filter(|&&place| inside(place)).count()
    }
}

/// A point in pixels, with its band.
#[derive(Clone, Copy, Debug)]
struct Placed {
    index: usize,
    x: f64,
    y: f64,
    band: Option<(f64, f64)>,
}

impl Placed {
    /// The point itself, and the edges of the band.
    fn edges(&self) -> [(f64, f64); 3] {
        let (top, bottom) = self.band.unwrap_or((self.y, self.y));
        [self.y, top, bottom].map(|y| (self.x, y))
    }
}

impl Line {
    /// The stretches between gaps.
    fn pieces(&self, x: &Ruler, y: &Ruler) -> Vec<Vec<Placed>> {
        let place = |(index, point): (usize, &Point)| {
            let error = point.error.map(f64::abs).filter(|error| error.is_finite());
            let band =
                point.y.zip(error).map(|(value, error)| (y.clamped(value + error), y.clamped(value - error)));
            Some(Placed { index, x: x.place(point.x)?, y: y.place(point.y?)?, band })
        };
        let placed: Vec<Option<Placed>> = self.points.iter().enumerate().map(place).collect();
        let pieces = placed.split(Option::is_none).map(|piece| piece.iter().copied().flatten().collect());
        pieces.filter(|piece: &Vec<Placed>| !piece.is_empty()).collect()
    }

    /// This line, `number` of so many: their markers are set at different points, so that they can be told
    /// apart where lines meet.
    fn draw(&self, x: &Ruler, y: &Ruler, number: (usize, usize)) -> String {
        let (style, pieces) = (style_of(&self.method), self.pieces(x, y));
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
                .filter(move |point| alone(piece) || self.is_marked(point.index, number))
                .map(|point| (point.x, point.y))
        });
        format!(
            "<g class=\"method\" data-method=\"{}\" {}>\
             <path class=\"band\" fill=\"currentColor\" fill-opacity=\"0.18\" stroke=\"none\" d=\"{band}\"/>{}{}</g>",
            escape(&self.method),
            style.attributes(),
            style.line(&path),
            style.marks(marked),
        )
    }

    fn is_marked(&self, index: usize, (line, lines): (usize, usize)) -> bool {
        let every = if self.points.len() <= 16 { 1 } else { self.points.len().div_ceil(7) };
        index % every == (line * every / lines.max(1) + every / 2) % every
    }
}

/// The band of neighbours that all have one, or none of which has one.
fn band(points: &[Placed]) -> String {
    let upper = points.iter().filter_map(|point| Some((point.x, point.band?.0)));
    let lower = points.iter().rev().filter_map(|point| Some((point.x, point.band?.1)));
    let mut outline: Vec<(f64, f64)> = upper.chain(lower).collect();
    if let [(x, top), (_, bottom)] = outline[..] {
        // A point alone would have a band without width.
        outline = vec![(x - 1.5, top), (x + 1.5, top), (x + 1.5, bottom), (x - 1.5, bottom)];
    }
    if outline.is_empty() { String::new() } else { polyline(outline.into_iter()) + "Z" }
}

fn polyline(places: impl Iterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (x, y) in places {
        let _ = write!(path, "{}{} {}", if path.is_empty() { 'M' } else { 'L' }, px(x), px(y));
    }
    path
}

/// All in one document as wide as a page, with one legend.
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
    let (legend, legend_height) = legend(&all_methods(drawings), method_sample, legend_top, PAGE_WIDTH);
    let description = drawings.iter().map(Drawing::describe).collect::<Vec<_>>().join(" ");
    let about = About { id: String::new(), title: plain(title), description };
    printed((PAGE_WIDTH, legend_top + legend_height), &about, &(body + &legend))
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

/// A drawing as a document of its own.
fn column(drawing: &Drawing, id_prefix: &str) -> String {
    let ((width, height), methods) = (COLUMN, drawing.methods());
    let legend_top = height - legend(&methods, method_sample, 0.0, width).1;
    let area = Area { left: 0.0, top: 0.0, width, height: legend_top - 5.0 };
    let body = drawing.draw_titled(area, BOLD) + &legend(&methods, method_sample, legend_top, width).0;
    printed(COLUMN, &drawing.about(&format!("{id_prefix}-{}", drawing.name())), &body)
}

/// What a legend shows of the method with this name and number, from a place so far to the right.
type Sample = fn(&str, usize, (f64, f64), f64) -> String;

/// Samples of the methods' lines with their names, in columns and as few lines as they need; and the height.
fn legend(methods: &[&str], sample: Sample, top: f64, room: f64) -> (String, f64) {
    const SAMPLE: f64 = 20.0;
    const APART: f64 = 14.0;
    let cell = |method: &&str| SAMPLE + 4.0 + width(method, SMALL) + APART;
    let widths = |columns: usize| -> Vec<f64> {
        let widest = |column| methods.iter().skip(column).step_by(columns).map(cell).fold(0.0, f64::max);
        (0..columns).map(widest).collect()
    };
    let fits = |columns: &usize| widths(*columns).iter().sum::<f64>() - APART <= room;
    // As many in every line as the fewest lines need.
    let lines =
        (1..methods.len()).find(|lines| fits(&methods.len().div_ceil(*lines))).unwrap_or(methods.len());
    let widths = widths(methods.len().div_ceil(lines.max(1)));
    let start = (room - widths.iter().sum::<f64>() + APART) / 2.0;
    let mut svg = String::from("<g class=\"legend\">");
    for (index, method) in methods.iter().enumerate() {
        let (line, column) = (index / widths.len(), index % widths.len());
        let x = start + widths[..column].iter().sum::<f64>();
        let y = top + (line as f64 + 0.5) * LEGEND_LINE;
        svg += &sample(method, index, (x, y), SAMPLE);
        let (x, baseline) = (px(x + SAMPLE + 4.0), px(y + MIDDLE * SMALL));
        let _ = write!(svg, "<text x=\"{x}\" y=\"{baseline}\">{}</text>", escape(method));
    }
    (svg + "</g>", lines as f64 * LEGEND_LINE)
}

fn method_sample(method: &str, _: usize, (x, y): (f64, f64), length: f64) -> String {
    let style = style_of(method);
    format!("<g {}>{}</g>", style.attributes(), style.sample(x, y, length))
}

/// The place of the axis in a page, for its pointer: measures of the ends, their pixels, and the scale.
fn data(ruler: &Ruler) -> String {
    let scale = match ruler.scale {
        Scale::Linear => "linear",
        Scale::Log => "log",
    };
    format!("{} {} {} {} {scale}", ruler.low, ruler.high, px(ruler.from), px(ruler.to))
}

/// As many as their labels leave room for.
fn x_ticks(ruler: &Ruler) -> Vec<Tick> {
    let widest = |ticks: &[Tick]| {
        ticks
            .iter()
            .filter_map(|tick| tick.label.as_ref())
            .map(|label| width(label, SMALL))
            .fold(0.0, f64::max)
    };
    let closest = |ticks: &[Tick]| {
        let labelled = ticks.iter().filter(|tick| tick.label.is_some());
        let places: Vec<f64> = labelled.map(|tick| ruler.clamped(tick.at)).collect();
        places.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min)
    };
    let tries = [24.0, 34.0, 44.0, 56.0, 72.0].map(|distance| ruler.ticks(distance));
    let fits = |ticks: &&Vec<Tick>| closest(ticks) >= widest(ticks) + 6.0;
    tries.iter().find(fits).unwrap_or(&tries[4]).clone()
}

fn grid(y: &Ruler, from: f64, to: f64) -> String {
    let (mut lines, mut labels) = (String::new(), String::new());
    for Tick { at, label } in y.ticks(26.0) {
        let Some(label) = label else { continue };
        let height = y.clamped(at);
        let _ = write!(lines, "M{} {}H{}", px(from), px(height), px(to));
        let (x, baseline) = (px(from - 5.0), px(height + MIDDLE * SMALL));
        let _ = write!(
            labels,
            "<text x=\"{x}\" y=\"{baseline}\" text-anchor=\"end\">{}</text>",
            spans(&label, SMALL)
        );
    }
    format!(
        "<path class=\"grid\" fill=\"none\" stroke=\"{GRID}\" stroke-width=\"0.8\" d=\"{lines}\"/><g class=\"ticks\">{labels}</g>"
    )
}

fn reference_line(at: f64, from: f64, to: f64) -> String {
    format!(
        "<path class=\"reference\" fill=\"none\" stroke=\"#777\" stroke-width=\"0.8\" stroke-dasharray=\"3 2.5\" \
         d=\"M{} {}H{}\"/>",
        px(from),
        px(at),
        px(to),
    )
}

/// A title in an area, in the middle over a part of it if that has room enough.
fn heading(title: &str, area: Area, over: Area, weight: u32) -> String {
    let half = (width(title, LABEL) / 2.0).min(area.width / 2.0);
    let x = (over.left + over.width / 2.0).min(area.left + area.width - half).max(area.left + half);
    centred(title, (x, area.top + 11.0), area.width, &format!(" font-weight=\"{weight}\""))
}

/// A label, made smaller if it would not fit.
fn centred(label: &str, (x, y): (f64, f64), room: f64, attributes: &str) -> String {
    let size = LABEL * (room / width(label, LABEL).max(1.0)).clamp(0.6, 1.0);
    let (x, y, font) = (px(x), px(y), px(size));
    format!(
        "<text class=\"label\" x=\"{x}\" y=\"{y}\" font-size=\"{font}\" text-anchor=\"middle\"{attributes}>{}</text>",
        spans(label, size)
    )
}

/// A label to be read from below to above.
fn upright(label: &str, (x, y): (f64, f64), room: f64) -> String {
    centred(label, (x, y), room, &format!(" transform=\"rotate(-90 {} {})\"", px(x), px(y)))
}

fn below(area: Area, height: f64) -> Area {
    Area { top: area.top + height, height: area.height - height, ..area }
}

/// What is said of a drawing to those who cannot see it.
struct About {
    id: String,
    title: String,
    description: String,
}

/// A document with a size in print, on white.
fn printed((width, height): (f64, f64), about: &About, body: &str) -> String {
    let size = format!("width=\"{}in\" height=\"{}in\"", px(width / 96.0), px(height / 96.0));
    let paper = format!("<rect width=\"{}\" height=\"{}\" fill=\"#fff\"/>", px(width), px(height));
    document(&size, (width, height), about, &(paper + body))
}

fn document(attributes: &str, (width, height): (f64, f64), about: &About, body: &str) -> String {
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

#[cfg(test)]
mod tests {
    use resvg::usvg::roxmltree::{Document, Node};

    use super::*;

    fn axis(scale: Scale) -> Axis {
        Axis { label: "J_μ".into(), scale, range: None }
    }

    fn line(method: &str, ys: &[Option<f64>]) -> Line {
        let point = |(index, &y): (usize, &Option<f64>)| Point { x: 0.5 + index as f64, y, error: Some(0.1) };
        Line { method: method.into(), points: ys.iter().enumerate().map(point).collect() }
    }

    fn panel(lines: Vec<Line>) -> Panel {
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

    fn some(count: usize) -> Vec<Option<f64>> {
        (0..count).map(|index| Some((index as f64).sin())).collect()
    }

    fn drawings(panel: &Panel) -> [String; 3] {
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
                let point = |x, y, error| Point { x, y: Some(y), error: Some(error) };
                let points = vec![point(value, 1.0, 0.1), point(1.0, value, 0.1), point(2.0, 2.0, value)];
                panel.lines = vec![Line { method: "ACE(0)".into(), points }];
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
        assert_eq!(band.0, frame.top);
    }

    #[test]
    fn the_reference_and_the_bands_are_in_sight() {
        let mut panel = panel(vec![line("ACE(0)", &[Some(0.5), Some(0.6)])]);
        panel.reference = Some(Reference { y: -7.0, label: "low".into() });
        let (_, y) = panel.rulers(Area { left: 0.0, top: 0.0, width: 300.0, height: 200.0 });
        assert!(y.low < -7.0 && y.high > 0.7);
        assert!(y.place(0.7).is_some_and(|top| top > 5.0));
    }

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
