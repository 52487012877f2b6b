//! JSON, read as TOML.
//!
//! A JSON object is an inline table of TOML but for its colons. They are replaced by equals signs, so that every value
//! keeps its place and one reader serves both, with the same messages.

use crate::file_error::Wrong;
use serde::de::IgnoredAny;

/// Reads the inline table that a JSON text is. What is wrong with it is wrong at the same place of the text.
pub(crate) fn read<T>(text: &str, read: impl FnOnce(&str) -> Result<T, Wrong>) -> Result<T, Wrong> {
    // A value of TOML has nothing around it. Some editors begin a file with a byte order mark.
    let value = text.strip_prefix('\u{feff}').unwrap_or(text).trim_ascii_start();
    let before = text.len() - value.len();
    as_toml(value.trim_ascii_end()).and_then(|table| read(&table)).map_err(|mut wrong| {
        wrong.span = wrong.span.map(|span| span.start + before..span.end + before);
        wrong
    })
}

/// The inline table that this JSON text is, byte for byte at the same places.
fn as_toml(text: &str) -> Result<String, Wrong> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| syntax(&error, text))?;
    if let Some(place) = find_null(text) {
        return Err(Wrong::at(&(place..place + 4), "null says nothing here").help("leave the key out"));
    }
    let mut bytes = text.as_bytes().to_vec();
    let mut in_string = false;
    let mut k = 0;
    while k < bytes.len() {
        match bytes[k] {
            b'"' => in_string = !in_string,
            // What follows belongs to the escape. JSON may escape a slash and write one character as two.
            b'\\' if bytes.get(k + 1) == Some(&b'/') || is_half(&bytes[k..]) => {
                let message = "this escape is not understood here";
                return Err(Wrong::at(&(k..k + 2), message).help("write the character itself"));
            }
            b'\\' => k += 1,
            b':' if !in_string => bytes[k] = b'=',
            _ => {}
        }
        k += 1;
    }
    // Only bytes of ASCII were exchanged for others.
    String::from_utf8(bytes).map_err(|_| Wrong::anywhere("this is not UTF-8"))
}

/// Whether an escape is half of a character (a surrogate).
fn is_half(escape: &[u8]) -> bool {
    matches!(escape, [b'\\', b'u', b'd' | b'D', b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F', ..])
}

/// Where a `null` stands in valid JSON.
fn find_null(text: &str) -> Option<usize> {
    let mut in_string = false;
    let mut escaped = false;
    text.bytes().position(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => in_string = !in_string,
            // No other word of JSON has this letter first or outside a string before it: `false` and `true` do not.
            b'n' if !in_string => return true,
            _ => {}
        }
        false
    })
}

fn syntax(error: &serde_json::Error, text: &str) -> Wrong {
    let line = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum::<usize>();
    let place = (line + error.column().saturating_sub(1)).min(text.len());
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = if message.starts_with("EOF") { "the file ends too early" } else { message };
    Wrong::at(&(place..place), format!("this is not JSON: {message}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colons_become_equals_signs_but_not_in_strings() {
        let text = "{\"a:b\": [1, {\"c\\\"\": \":\"}],\n\"d\": true}";
        assert_eq!(as_toml(text).unwrap(), "{\"a:b\"= [1, {\"c\\\"\"= \":\"}],\n\"d\"= true}");
    }

    #[test]
    fn what_is_no_json_is_refused_where_it_goes_wrong() {
        let wrong = as_toml("{\n \"a\" 1}").unwrap_err();
        assert_eq!((wrong.span, wrong.message.as_str()), (Some(7..7), "this is not JSON: expected `:`"));
        assert_eq!(as_toml("{\"a\": null}").unwrap_err().span, Some(6..10));
        assert!(as_toml("{\"a\": \"\\ud83d\\ude00\"}").is_err());
        assert!(as_toml("{\"\\u00e4\": \"ä\"}").is_ok());
    }
}
