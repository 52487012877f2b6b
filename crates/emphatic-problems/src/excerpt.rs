//! The part of a file that a message shows.

use emphatic_text::{printable, printable_same_length};
use miette::{MietteError, MietteSpanContents, NamedSource, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;

/// The most bytes of a place that are marked, and that are shown before and after it in a long line.
const MARKED: usize = 200;
const AROUND: usize = 60;

/// The most bytes of lines that are shown whole. Some programs write a file in one line.
const LONG: usize = 3000;

/// The text of a file. Long lines are shown in part.
#[derive(Debug)]
pub(crate) struct Excerpt(NamedSource<String>);

impl Excerpt {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        // Unprintable characters are replaced by others of the same length, so that places stay valid.
        Self(NamedSource::new(printable(name), printable_same_length(text)).with_language("toml"))
    }

    /// The text around a place in its line, and the column where it begins.
    fn around(&self, span: &SourceSpan) -> (Range<usize>, usize) {
        let text = self.0.inner();
        let start = text.floor_char_boundary(span.offset());
        let end = text.ceil_char_boundary(span.offset() + span.len());
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = text[end..].find('\n').map_or(text.len(), |newline| end + newline);
        let first = text.floor_char_boundary(start.saturating_sub(AROUND));
        let last = text.ceil_char_boundary(end + AROUND);
        let first = first.max(line);
        (first..last.min(line_end), first - line)
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let lines = self.0.read_span(span, before, after)?;
        if lines.data().len() <= LONG {
            return Ok(lines);
        }
        let place = self.0.read_span(span, 0, 0)?;
        let (around, column) = self.around(span);
        let text = self.0.inner()[around.clone()].as_bytes();
        let contents = MietteSpanContents::new_named(
            self.0.name().to_owned(),
            text,
            around.into(),
            place.line(),
            column,
            place.line_count(),
        );
        Ok(Box::new(contents.with_language("toml")))
    }
}

/// The part of a place that is marked: a list may have thousands of lines, and a line thousands of characters.
pub(crate) fn first_line(span: Range<usize>, text: &str) -> Range<usize> {
    let (start, end) = (text.floor_char_boundary(span.start), text.ceil_char_boundary(span.end));
    let line = text.get(start..end).and_then(|marked| marked.lines().next());
    let end = line.map_or(end, |line| start + line.len());
    start..end.min(text.ceil_char_boundary(start + MARKED))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once a message about a file in one line showed all of the file.
    #[test]
    fn a_long_line_is_shown_in_part() {
        let text = format!("first\n{}here{}\nlast\n", "ä".repeat(30_000), "ö".repeat(30_000));
        let start = text.find("here").expect("it is there");
        let excerpt = Excerpt::new("p.toml", &text);
        let shown = excerpt.read_span(&(start..start + 4).into(), 1, 1).expect("it is within the text");
        let right = format!("{}here{}", "ä".repeat(30), "ö".repeat(30));
        assert_eq!(std::str::from_utf8(shown.data()), Ok(right.as_str()));
        assert_eq!((shown.line(), shown.column()), (1, 60_000 - 60));
        assert_eq!(shown.span().offset(), start - 60);
        // A short line is shown with its neighbours.
        let shown = excerpt.read_span(&(0..5).into(), 0, 0).expect("it is within the text");
        assert_eq!(shown.data(), b"first");
    }

    /// Once the text around the place began before its line, since miette ends a line at a carriage return too.
    #[test]
    fn a_carriage_return_within_a_long_line_does_no_harm() {
        let text = format!("{{\r \"states\" 1, \"x\": \"{}\"}}", "x".repeat(4000));
        let excerpt = Excerpt::new("p.json", &text);
        let shown = excerpt.read_span(&(11..12).into(), 1, 1).expect("it is within the text");
        assert_eq!((shown.span().offset(), shown.column()), (0, 0));
    }

    #[test]
    fn the_beginning_of_a_place_is_marked() {
        assert_eq!(first_line(2..9, "[[\na = 1"), 2..2);
        assert_eq!(first_line(0..500, &"ä".repeat(250)), 0..MARKED);
        assert_eq!(first_line(5..9, "abc"), 3..3);
    }
}
