//! PNG: drawings in pixels.

use std::sync::Arc;

use png::{BitDepth, ColorType, Encoder, PixelDimensions, Unit};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};

/// Pixels to the inch.
pub const RESOLUTION: f64 = 300.0;

/// There may be no memory for more, and no way to find out.
const MOST_PIXELS: u64 = 100_000_000;

/// Renders SVG with a font of its own, so that a drawing has the same pixels everywhere.
pub struct Renderer {
    options: Options<'static>,
}

/// Why a drawing could not be rendered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// It is not SVG.
    #[error("the drawing is not valid SVG")]
    Svg(#[from] usvg::Error),
    /// It has no size, or too large a one.
    #[error("the drawing cannot be {0} × {1} pixels large")]
    Size(u32, u32),
    /// The pixels could not be written.
    #[error("the pixels could not be written as PNG")]
    Png(#[from] png::EncodingError),
}

impl Default for Renderer {
    fn default() -> Self {
        Self::new()
    }
}

impl Renderer {
    /// Loads the font.
    pub fn new() -> Self {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_data(notosans::REGULAR_TTF.to_vec());
        fonts.load_font_data(notosans::BOLD_TTF.to_vec());
        fonts.set_sans_serif_family("Noto Sans");
        let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
        Self { options }
    }

    /// The drawing at [`RESOLUTION`], on white.
    pub fn png(&self, svg: &str) -> Result<Vec<u8>, RenderError> {
        let tree = Tree::from_str(svg, &self.options)?;
        let scale = (RESOLUTION / f64::from(self.options.dpi)) as f32;
        let pixels = |length: f32| (length * scale).round() as u32;
        let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
        let size = RenderError::Size(width, height);
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            return Err(size);
        }
        let mut pixmap = Pixmap::new(width, height).ok_or(size)?;
        pixmap.fill(Color::WHITE);
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
        encode(&pixmap)
    }
}

fn encode(pixmap: &Pixmap) -> Result<Vec<u8>, RenderError> {
    // The background is opaque, so the stored colours need no correction for transparency.
    let colours: Vec<u8> = pixmap.data().chunks_exact(4).flat_map(|pixel| &pixel[..3]).copied().collect();
    let mut png = Vec::new();
    let mut encoder = Encoder::new(&mut png, pixmap.width(), pixmap.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (RESOLUTION / 0.0254).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }));
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&colours)?;
    writer.finish()?;
    Ok(png)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn text(text: &str) -> Vec<u8> {
        let svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0.5in\" height=\"0.5in\" viewBox=\"0 0 48 48\">";
        let svg = format!(
            "{svg}<text x=\"9\" y=\"30\" font-family=\"Helvetica, sans-serif\" font-size=\"24\">{text}</text></svg>"
        );
        Renderer::new().png(&svg).unwrap()
    }

    #[test]
    fn pixels_have_their_size_and_resolution() {
        let reader = png::Decoder::new(Cursor::new(text("x"))).read_info().unwrap();
        let info = reader.info();
        assert_eq!((info.width, info.height), (150, 150));
        let dimensions = info.pixel_dims.unwrap();
        assert_eq!((dimensions.xppu, dimensions.yppu), (11_811, 11_811));
        assert!(matches!(dimensions.unit, Unit::Meter));
    }

    #[test]
    fn the_font_has_what_labels_need() {
        // Characters that a font lacks would all look the same.
        let mut drawn: Vec<Vec<u8>> = " 0aαβγδλμπρ−-±×→·%|".chars().map(|c| text(&c.to_string())).collect();
        let count = drawn.len();
        drawn.sort();
        drawn.dedup();
        assert_eq!(drawn.len(), count);
    }

    #[test]
    fn what_is_no_drawing_is_an_error() {
        let renderer = Renderer::new();
        assert!(matches!(renderer.png("no drawing"), Err(RenderError::Svg(_))));
        let large = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"9999999\" height=\"9999999\"/>";
        assert!(matches!(renderer.png(large), Err(RenderError::Size(_, _))));
    }
}
