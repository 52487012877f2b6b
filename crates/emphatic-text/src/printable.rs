//! Text without characters that a terminal obeys instead of showing them.

use std::borrow::Cow;

/// Replaces an unprintable character.
const REPLACEMENT: char = '\u{FFFD}';

/// Whether a terminal would not show the character but obey it or hide it: control characters, line separators, invisible characters
/// and those that set the direction of reading. (With the last two, a text can look like another one.)
pub fn is_unprintable(c: char) -> bool {
    let is_invisible =
        matches!(c, '\u{AD}' | '\u{200B}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}');
    let sets_direction =
        matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    c.is_control() || is_invisible || sets_direction || matches!(c, '\u{2028}' | '\u{2029}')
}

fn replaced(text: &str, kept: &[char], with: impl Fn(char) -> char) -> String {
    text.chars().map(|c| if is_unprintable(c) && !kept.contains(&c) { with(c) } else { c }).collect()
}

/// The text in one line, without unprintable characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    match text.contains(is_unprintable) {
        true => replaced(text, &[], |_| REPLACEMENT).into(),
        false => text.into(),
    }
}

/// The text without unprintable characters except line ends.
pub fn printable_lines(text: &str) -> String {
    replaced(text, &['\n'], |_| REPLACEMENT)
}

/// The text without unprintable characters except line ends and tabs. Each is replaced by a character of as many bytes, so that byte
/// positions stay valid.
pub fn printable_same_length(text: &str) -> String {
    replaced(text, &['\n', '\r', '\t'], |c| match c.len_utf8() {
        1 => '?',
        2 => '¿',
        3 => REPLACEMENT,
        _ => '🯄',
    })
}

/// The text in one line, without unprintable characters, and with at most `most` characters; a longer text ends in an ellipsis.
pub fn shortened(text: &str, most: usize) -> String {
    // The text may have megabytes, so only the part that is shown is read.
    let end = |n: usize| text.char_indices().nth(n).map(|(at, _)| at);
    match (end(most), end(most.saturating_sub(1))) {
        (Some(_), Some(end)) => printable(&text[..end]).into_owned() + "…",
        _ => printable(text).into_owned(),
    }
}

/// The same JSON, with unprintable characters as escapes. (In strings, those of ASCII are escaped already; line ends between strings
/// stay.)
pub fn json_escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => text.push(c),
            _ if is_unprintable(c) => {
                let mut halves = [0; 2];
                c.encode_utf16(&mut halves).iter().for_each(|half| text += &format!("\\u{half:04x}"));
            }
            _ => text.push(c),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once raw escape sequences and reversed text from files reached the terminal.
    #[test]
    fn unprintable_characters_are_replaced() {
        for unprintable in
            "\u{1b}\u{7}\u{0}\t\r\n\u{7f}\u{80}\u{9b}\u{9f}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}\u{ad}\u{200b}\u{feff}\u{e0041}".chars()
        {
            let text = format!("a{unprintable}b");
            assert_eq!(printable(&text), "a\u{fffd}b", "{unprintable:?}");
            let same = printable_same_length(&text);
            assert_eq!(same.len(), text.len(), "{unprintable:?}");
            assert_eq!(same == text, ['\t', '\n', '\r'].contains(&unprintable), "{unprintable:?}");
        }
        assert_eq!(printable("S1 → 状態 é 😀"), "S1 → 状態 é 😀");
        assert_eq!(printable_lines("one\ntwo\r\u{1b}[2J"), "one\ntwo\u{fffd}\u{fffd}[2J");
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(shortened("é\u{1b}éé", 3), "é\u{fffd}…");
        assert_eq!(shortened("", 0), "");
        assert_eq!(shortened("ab", 0), "…");
    }

    #[test]
    fn escaped_json_means_the_same() {
        assert_eq!(
            json_escaped("{\n \"a\u{202e}\u{9b}\u{7f}\u{e0041}\": \"é😀\"\n}"),
            "{\n \"a\\u202e\\u009b\\u007f\\udb40\\udc41\": \"é😀\"\n}"
        );
    }
}
