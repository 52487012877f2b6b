//! Messages with names of any length.

use crate::printable::printable;

/// The most characters of a word, and of a message.
const WORD: usize = 200;
const MESSAGE: usize = 1000;

/// The message in one line, without unprintable characters. The middle of very long words is left out, and then the middle of the
/// message if it is still very long.
pub fn message(text: &str) -> String {
    let text = printable(text);
    let words: Vec<String> = text.split(' ').map(|word| cut(word, WORD)).collect();
    cut(&words.join(" "), MESSAGE)
}

fn cut(text: &str, most: usize) -> String {
    let left_out = text.chars().count().saturating_sub(most);
    if left_out == 0 {
        return text.to_owned();
    }
    let end = most / 4;
    let begin = text.chars().take(most - end - 1);
    begin.chain(['…']).chain(text.chars().skip(most + left_out - end)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_words_and_messages_lose_their_middle() {
        assert_eq!(message("the state 'ä' is  missing"), "the state 'ä' is  missing");
        let word = message(&format!("there is no '{}b' here", "ä".repeat(30_000)));
        assert!(word.starts_with("there is no 'äää") && word.ends_with("äääb' here"), "{word}");
        assert_eq!(word.chars().count(), "there is no  here".len() + WORD);
        let many = message(&"state ".repeat(30_000));
        assert_eq!(many.chars().count(), MESSAGE);
        assert!(many.starts_with("state state ") && many.ends_with(" state state "), "{many}");
    }
}
