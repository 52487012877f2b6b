//! Comma-separated values, for spreadsheets too.

use crate::printable::is_unprintable;

/// A line of cells made by [`text`] and [`number`].
pub fn line(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().collect::<Vec<_>>().join(",") + "\n"
}

/// A cell with a text. If a spreadsheet would run it as a formula, an apostrophe is put before it, which marks it as text; a name that
/// is a number stays as it is. Unprintable characters are escaped, so that different names stay different.
pub fn text(text: &str) -> String {
    let escaped = |c: char| if is_unprintable(c) { c.escape_default().to_string() } else { c.to_string() };
    let text: String = text.chars().map(escaped).collect();
    let is_formula = text.trim_start().starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']);
    let text = if is_formula && text.parse::<f64>().is_err() { format!("'{text}") } else { text };
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text,
    }
}

/// A cell with a number, to the last digit; empty if it is not finite.
pub fn number(x: f64) -> String {
    if x.is_finite() { crate::exact_number(x) } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once `=cmd|…` as a name was a formula in the spreadsheet that opened the file.
    #[test]
    fn names_are_not_formulas() {
        let names = [
            "=1+1",
            "+A1",
            "-A1",
            "@SUM(A1)",
            "=HYPERLINK(\"x\",\"y\")",
            "S1",
            "a,b",
            "a\tb\rc",
            "\n=1",
            "1-2",
            "-2",
        ];
        let cells = [
            "'=1+1",
            "'+A1",
            "'-A1",
            "'@SUM(A1)",
            "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"",
            "S1",
            "\"a,b\"",
            "a\\tb\\rc",
            "\\n=1",
            "1-2",
            "-2",
        ];
        assert_eq!(names.map(text), cells);
        assert_eq!(line([text("a"), number(2.0)]), "a,2\n");
    }

    #[test]
    fn what_is_not_finite_is_empty() {
        assert_eq!([-1.5, f64::NAN, 1e300, f64::INFINITY].map(number), ["-1.5", "", "1e300", ""]);
    }
}
