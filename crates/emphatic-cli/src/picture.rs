//! Pictures in files: SVG, or PNG.

use crate::output::{self, say};
use emphatic_chart::Renderer;
use miette::{IntoDiagnostic, miette};
use std::path::{Path, PathBuf};

/// Reads the name of a picture from the arguments.
pub(crate) fn picture_name(text: &str) -> Result<PathBuf, String> {
    match Path::new(text).extension().and_then(|extension| extension.to_str()) {
        Some("svg" | "png") => Ok(text.into()),
        _ => Err("a picture's name ends in .svg or .png".to_owned()),
    }
}

/// Writes a picture in the format that its name asks for, and says so.
pub(crate) fn write_picture(path: &Path, svg: String) -> miette::Result<()> {
    let is_png = path.extension().is_some_and(|extension| extension == "png");
    let bytes = if is_png { Renderer::new().png(&svg).into_diagnostic()? } else { svg.into_bytes() };
    std::fs::write(path, bytes).map_err(|error| miette!("{} cannot be written: {error}", path.display()))?;
    say(&format!("{} is drawn.", output::path(path)));
    Ok(())
}
