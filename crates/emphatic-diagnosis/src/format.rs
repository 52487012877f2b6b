//! Numbers, lists and paragraphs as text.

use std::fmt::Write;

/// Lines of text are no longer than this.
const WIDTH: usize = 100;

/// A number with six digits, without trailing zeros.
pub(crate) fn number(x: f64) -> String {
    if x.is_nan() {
        return "–".to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let size = x.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{x:.3e}").replace("e-", "e−").replace('-', "−");
    }
    let decimals = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{x:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.replace('-', "−")
}

/// A table with its numbers aligned to the right.
pub(crate) fn table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    emphatic_text::table(std::iter::once(header).chain(rows).collect(), 1, 2)
}

/// A name, shortened if it is long.
pub(crate) fn name(name: &str) -> String {
    emphatic_text::shortened(name, emphatic_text::LONGEST_CELL)
}

/// A number with a noun, in the plural unless the number is 1.
pub(crate) fn plural(number: impl std::fmt::Display, what: &str) -> String {
    let number = number.to_string();
    if number == "1" { format!("1 {what}") } else { format!("{number} {what}s") }
}

/// A number of steps, rounded up to two digits, at least one.
pub(crate) fn rounded(steps: f64) -> String {
    let unit = 10f64.powf((steps.max(1.0).log10().floor() - 1.0).max(0.0));
    number(((steps / unit).ceil() * unit).max(1.0))
}

/// Numbers separated by commas, as files write them.
pub(crate) fn list(numbers: &[f64]) -> String {
    numbers.iter().map(|x| format!("{x:?}")).collect::<Vec<_>>().join(", ")
}

/// Text broken into lines, with a mark before the first and an indent before the others.
pub(crate) fn paragraph(mark: &str, indent: &str, text: &str) -> String {
    let mut out = String::from(mark);
    let mut width = mark.chars().count();
    for (k, word) in text.split(' ').enumerate() {
        let long = word.chars().count();
        if k > 0 && width + 1 + long > WIDTH {
            let _ = write!(out, "\n{indent}");
            width = indent.chars().count();
        } else if k > 0 {
            out.push(' ');
            width += 1;
        }
        out += word;
        width += long;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown = [1.25, 0.1818181818, -2.0, 1234567.0, 1e-5, -1.5e9, 0.0, f64::NAN, 9.5, 999_999.96];
        let right = ["1.25", "0.181818", "−2", "1234567", "1.000e−5", "−1.500e9", "0", "–", "9.5", "1000000"];
        assert_eq!(shown.map(number), right);
    }
}
