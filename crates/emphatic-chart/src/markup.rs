//! Labels in a tiny markup: `_` before a character or `{…}` makes a subscript, `^` before `{…}` a superscript. After `\`, `_`, `^` and
//! `\` are themselves.

use emphatic_text::is_unprintable;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Line,
    Below,
    Above,
}

/// The size of subscripts and superscripts: small, but readable in print.
const SMALL: f64 = 0.76;

/// The text as content or attribute of XML and HTML. Characters that XML cannot hold or that change the direction of reading are
/// left out.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\t' | '\n' => escaped.push(character),
            '\u{fffe}' | '\u{ffff}' => (),
            _ if is_unprintable(character) => (),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// The label that shows this text as it is: names have underscores.
pub fn literal(text: &str) -> String {
    let mut label = String::with_capacity(text.len());
    for character in text.chars() {
        if is_special(character) {
            label.push('\\');
        }
        label.push(character);
    }
    label
}

fn is_special(character: char) -> bool {
    matches!(character, '_' | '^' | '\\')
}

/// The text, cut if it is wider than the room.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(&literal(text), size) <= room {
        return text.to_owned();
    }
    // The ellipsis needs some, too.
    let mut left = room - size;
    let fits = |character: &char| {
        left -= size * em(*character);
        left >= 0.0
    };
    text.chars().take_while(fits).collect::<String>() + "…"
}

/// The label without its markup: "J_μ" is "Jμ".
pub fn plain(label: &str) -> String {
    pieces(label).into_iter().map(|(_, text)| text).collect()
}

/// The label in HTML.
pub fn html(label: &str) -> String {
    let tagged = |(place, text): (Place, String)| match place {
        Place::Line => escape(&text),
        Place::Below => format!("<sub>{}</sub>", escape(&text)),
        Place::Above => format!("<sup>{}</sup>", escape(&text)),
    };
    pieces(label).into_iter().map(tagged).collect()
}

/// The content of an SVG `text` of this font size.
pub(crate) fn spans(label: &str, size: f64) -> String {
    let (mut svg, mut height) = (String::new(), 0.0);
    for (place, text) in pieces(label) {
        let text = escape(&text);
        let (target, font) = match place {
            Place::Line => (0.0, String::new()),
            Place::Below => (0.22 * size, format!(" font-size=\"{}\"", px(SMALL * size))),
            Place::Above => (-0.36 * size, format!(" font-size=\"{}\"", px(SMALL * size))),
        };
        // Not every viewer knows `baseline-shift`; `dy` moves everything after it, so it is taken back.
        let _ = match target - height {
            0.0 => write!(svg, "{text}"),
            dy => write!(svg, "<tspan dy=\"{}\"{font}>{text}</tspan>", px(dy)),
        };
        height = target;
    }
    svg
}

/// The width of a label, about: fonts differ, so this errs on the wide side.
pub(crate) fn width(label: &str, size: f64) -> f64 {
    let wide = |(place, text): &(Place, String)| {
        text.chars().map(em).sum::<f64>() * if *place == Place::Line { size } else { SMALL * size }
    };
    pieces(label).iter().map(wide).sum()
}

/// The width of the widest of these labels.
pub(crate) fn widest<'a>(labels: impl Iterator<Item = &'a String>, size: f64) -> f64 {
    labels.map(|label| width(label, size)).fold(0.0, f64::max)
}

/// A length or coordinate in pixels.
pub(crate) fn px(length: f64) -> String {
    let rounded = (length * 100.0).round() / 100.0;
    // Not "-0".
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}

fn em(character: char) -> f64 {
    match character {
        'i' | 'l' | 'j' | '.' | ',' | '\'' | '|' | ':' | ';' | '!' | 'I' => 0.28,
        '(' | ')' | '[' | ']' | 't' | 'f' | 'r' | ' ' | '-' => 0.35,
        'm' | 'w' | 'M' | 'W' | '%' => 0.86,
        _ if character.is_uppercase() => 0.67,
        _ => 0.57,
    }
}

fn pieces(label: &str) -> Vec<(Place, String)> {
    let (mut pieces, mut rest) = (Vec::new(), label);
    while let Some(character) = rest.chars().next() {
        let (place, text, length) = shifted(rest).or_else(|| escaped(rest)).unwrap_or((
            Place::Line,
            character.into(),
            character.len_utf8(),
        ));
        match pieces.last_mut() {
            Some((last, line)) if *last == place && place == Place::Line => String::push_str(line, &text),
            _ => pieces.push((place, text)),
        }
        rest = &rest[length..];
    }
    pieces
}

/// The character after a backslash at the start, and how many bytes both take.
fn escaped(rest: &str) -> Option<(Place, String, usize)> {
    let character = rest.strip_prefix('\\')?.chars().next().filter(|&character| is_special(character))?;
    Some((Place::Line, character.into(), 2))
}

/// The subscript or superscript at the start, and how many bytes it takes.
fn shifted(rest: &str) -> Option<(Place, String, usize)> {
    let (place, after) = match (rest.strip_prefix('_'), rest.strip_prefix('^')) {
        (Some(after), _) => (Place::Below, after),
        (_, Some(after)) => (Place::Above, after),
        _ => return None,
    };
    if let Some((inside, _)) = after.strip_prefix('{').and_then(|group| group.split_once('}')) {
        return Some((place, inside.into(), inside.len() + 3));
    }
    let character = after.chars().next().filter(|_| place == Place::Below)?;
    Some((place, character.into(), 1 + character.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_set_below_and_above() {
        assert_eq!(plain("J_μ after λ_{ab}, 10^{−2}"), "Jμ after λab, 10−2");
        assert_eq!(html("J_μ<1"), "J<sub>μ</sub>&lt;1");
        assert_eq!(
            spans("J_μ x", 10.0),
            "J<tspan dy=\"2.2\" font-size=\"7.6\">μ</tspan><tspan dy=\"-2.2\"> x</tspan>"
        );
        assert_eq!(spans("10^{2}", 10.0), "10<tspan dy=\"-3.6\" font-size=\"7.6\">2</tspan>");
    }

    #[test]
    fn unfinished_markup_is_text() {
        for label in ["a_", "a^", "a^2"] {
            assert_eq!(plain(label), label);
        }
        assert_eq!(plain("a_{b"), "a{b");
        assert_eq!(plain(""), "");
    }

    #[test]
    fn literal_text_has_no_markup() {
        for text in ["value_error", "a^{2}", "\\_x\\\\", "_", "\\"] {
            assert_eq!(plain(&literal(text)), text);
        }
        assert_eq!(plain("a\\b"), "a\\b");
    }

    #[test]
    fn text_is_cut_only_if_it_must() {
        assert_eq!(fitted("abc", 10.0, 17.2), "abc");
        assert_eq!(fitted("abcdef", 10.0, 25.0), "ab…");
        assert_eq!(fitted("abc", 10.0, 0.0), "…");
    }

    #[test]
    fn escaped_text_is_safe() {
        assert_eq!(escape("<a href=\"x\">'&'\0"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;");
    }

    #[test]
    fn lengths_are_short() {
        assert_eq!([px(1.0), px(0.123_4), px(-0.001), px(-2.5)], ["1", "0.12", "0", "-2.5"]);
    }
}
