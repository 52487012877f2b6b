//! JSON, read as TOML.
//!
//! A JSON object becomes an inline table of TOML when its colons and a few escapes are replaced. So one reader serves both, with the
//! same messages, whose places are mapped back to the JSON text.

use crate::file_error::Mistake;
use serde::de::IgnoredAny;

/// Reads a JSON text as an inline table of TOML. The places of mistakes are those in the JSON text.
pub(crate) fn read<T>(text: &str, read: impl FnOnce(&str) -> Result<T, Mistake>) -> Result<T, Mistake> {
    // TOML allows no space around a value. Some editors begin a file with a byte order mark.
    let value = text.strip_prefix('\u{feff}').unwrap_or(text).trim_ascii_start();
    let before = text.len() - value.len();
    let read = |table: Table| read(&table.toml).map_err(|mistake| moved(mistake, |place| table.place(place)));
    as_toml(value.trim_ascii_end()).and_then(read).map_err(|mistake| moved(mistake, |place| place + before))
}

fn moved(mut mistake: Mistake, place: impl Fn(usize) -> usize) -> Mistake {
    mistake.span = mistake.span.map(|span| place(span.start)..place(span.end));
    mistake
}

/// A JSON text as an inline table.
struct Table {
    toml: String,
    /// After each replacement of another length: the place in the table, and the place in the JSON text.
    places: Vec<(usize, usize)>,
}

impl Table {
    /// The place in the JSON text.
    fn place(&self, place: usize) -> usize {
        let (here, there) = self.places[self.places.partition_point(|(here, _)| *here <= place) - 1];
        there + (place - here)
    }
}

fn as_toml(text: &str) -> Result<Table, Mistake> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| syntax(&error, text))?;
    let mut table = Table { toml: String::with_capacity(text.len()), places: vec![(0, 0)] };
    let (mut in_string, mut copied, mut k) = (false, 0, 0);
    while let Some(&byte) = text.as_bytes().get(k) {
        let replaced = match byte {
            b'"' => {
                in_string = !in_string;
                None
            }
            b':' if !in_string => Some((1, '='.into())),
            // `true` and `false` do not have this letter.
            b'n' if !in_string => {
                return Err(Mistake::at(&(k..k + 4), "null says nothing here").help("leave the key out"));
            }
            b'\\' => escape(text, k)?,
            // TOML has this character only escaped.
            b'\x7f' => Some((1, "\\u007f".to_owned())),
            _ => None,
        };
        let Some((length, instead)) = replaced else {
            // The character after a backslash belongs to the escape.
            k += if byte == b'\\' { 2 } else { 1 };
            continue;
        };
        table.toml += &text[copied..k];
        table.toml += &instead;
        k += length;
        copied = k;
        if instead.len() != length {
            table.places.push((table.toml.len(), k));
        }
    }
    table.toml += &text[copied..];
    Ok(table)
}

/// The length of an escape that TOML does not have, and the character it stands for; `None` for other escapes. JSON may escape a
/// slash, and write a character as two halves (surrogates).
fn escape(text: &str, k: usize) -> Result<Option<(usize, String)>, Mistake> {
    let half = |k: usize| {
        let hex = text.get(k..k + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok().filter(|unit| (0xd800..0xe000).contains(unit))
    };
    if text[k..].starts_with("\\/") {
        return Ok(Some((2, "/".to_owned())));
    }
    let Some(first) = half(k) else { return Ok(None) };
    let whole = half(k + 6).and_then(|second| String::from_utf16(&[first, second]).ok());
    let mistake = || {
        Mistake::at(&(k..k + 6), "this escape is half of a character")
            .help("its two halves stand side by side, as in \\ud83d\\ude00; or write the character itself")
    };
    whole.map(|character| Some((12, character))).ok_or_else(mistake)
}

fn syntax(error: &serde_json::Error, text: &str) -> Mistake {
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let place = (line + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = if message.starts_with("EOF") { "the file ends too early" } else { message };
    Mistake::at(&(place..place), format!("this is not JSON: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_become_equals_signs_but_not_in_strings() {
        let text = "{\"a:b\": [1, {\"c\\\"\": \":\"}],\n\"d\": true}";
        assert_eq!(as_toml(text).unwrap().toml, "{\"a:b\"= [1, {\"c\\\"\"= \":\"}],\n\"d\"= true}");
    }

    #[test]
    fn invalid_json_is_refused_where_it_goes_wrong() {
        let mistake = |text| as_toml(text).err().expect("it is wrong");
        let no_colon = mistake("{\n \"a\" 1}");
        assert_eq!(
            (no_colon.span, no_colon.error.message.as_str()),
            (Some(7..7), "this is not JSON: expected `:`")
        );
        assert_eq!(mistake("{\"a\": null}").span, Some(6..10));
        assert!(as_toml("{\"\\u00e4\": \"ä\"}").is_ok());
    }

    /// Once these were refused, though Python and others write them.
    #[test]
    fn escaped_slashes_and_characters_in_two_halves_are_read() {
        let table = as_toml(r#"{"a\/b": "\\/\ud83d\uDE00", "c": "\\ud83d\u00e4"}"#).unwrap();
        assert_eq!(table.toml, r#"{"a/b"= "\\/😀", "c"= "\\ud83d\u00e4"}"#);
        assert_eq!(as_toml("\"\x7f\"").unwrap().toml, "\"\\u007f\"");
    }

    #[test]
    fn half_a_character_is_refused_where_it_stands() {
        for half in [r"\ud83d", r"\ude00", r"\ud83d\ud83d", r"\ud83d\n", r"\udE00\ud83d", r"\ud83dude00"] {
            let mistake = as_toml(&format!("{{\"ä\": \"{half}\"}}")).err().expect("it is wrong");
            assert_eq!(
                (mistake.span, mistake.error.message.as_str()),
                (Some(8..14), "this escape is half of a character")
            );
        }
    }

    #[test]
    fn places_after_escapes_are_those_of_the_json() {
        let text = "\u{feff} {\"\\/\\/\": \"\\ud83d\\ude00\", \"\x7f\": \"here\"}";
        let mistake = read(text, |table| -> Result<(), Mistake> {
            let start = table.find("\"here\"").expect("it is there");
            Err(Mistake::at(&(start..start + 6), "wrong"))
        });
        assert_eq!(&text[mistake.unwrap_err().span.unwrap()], "\"here\"");
    }
}
