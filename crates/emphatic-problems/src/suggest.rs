//! The nearest right word, for one that was misspelt.

/// "did you mean …?" if one word is nearer than all others; otherwise the words there are, or `None` if there are none.
pub fn suggest<'a>(wrong: &str, right: impl Iterator<Item = &'a str>) -> Option<String> {
    const MOST: usize = 20;
    let right: Vec<&str> = right.collect();
    if let Some(word) = nearest(wrong, &right) {
        return Some(format!("did you mean `{word}`?"));
    }
    match right.len() {
        0 => None,
        1 => Some(format!("there is only `{}`", right[0])),
        n if n > MOST => Some(format!("there are {} and {} more", right[..MOST].join(", "), n - MOST)),
        _ => Some(format!("there are {}", right.join(", "))),
    }
}

/// The word that is nearer than all others, if there is one. Comparing two words takes time proportional to the product of their
/// lengths, so only words of a usual length are compared, with words of about the same length, and not with too many.
fn nearest<'a>(wrong: &str, right: &[&'a str]) -> Option<&'a str> {
    const LONGEST: usize = 40;
    const MOST: usize = 100_000;
    let length = |word: &str| word.chars().take(LONGEST + 1).count();
    let wrong_length = length(wrong);
    if wrong_length > LONGEST {
        return None;
    }
    let wrong = wrong.to_lowercase();
    let mut longer = right.iter().filter(|word| wrong.len() > 2 && word.starts_with(&wrong));
    if let (Some(word), None) = (longer.next(), longer.next()) {
        return Some(word);
    }
    let off = |length: usize| if length < 4 { 1 } else { 2.max(length / 3) };
    let is_like = |word: &&&str| {
        let length = length(word);
        length <= LONGEST && length.abs_diff(wrong_length) <= off(length)
    };
    let like: Vec<&&str> = right.iter().filter(is_like).take(MOST + 1).collect();
    if like.len() > MOST {
        return None;
    }
    let distance = |word: &str| strsim::damerau_levenshtein(&wrong, &word.to_lowercase());
    let distances: Vec<usize> = like.iter().map(|word| distance(word)).collect();
    let least = *distances.iter().min()?;
    let mut nearest = like.iter().zip(&distances).filter(|(_, distance)| **distance == least);
    match (nearest.next(), nearest.next()) {
        (Some((word, _)), None) if least <= off(length(word)) => Some(word),
        _ => None,
    }
}
