//! Numbers to the last digit.

/// The number to the last digit, with an exponent where it would otherwise have up to three hundred digits.
pub fn exact_number(x: f64) -> String {
    match x.abs() {
        size if size.is_finite() && size != 0.0 && !(1e-7..1e16).contains(&size) => format!("{x:e}"),
        _ => x.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once they had up to 309 digits.
    #[test]
    fn numbers_are_short_and_exact() {
        let numbers = [-1.5, 1e300, 0.0, 1e-7, -1.5e-8, 123456789.25, f64::MAX, f64::NAN, f64::NEG_INFINITY];
        let texts = ["-1.5", "1e300", "0", "0.0000001", "-1.5e-8", "123456789.25", "1.7976931348623157e308"];
        assert_eq!(numbers.map(exact_number), [&texts[..], &["NaN", "-inf"]].concat()[..]);
    }
}
