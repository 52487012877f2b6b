//! Numbers and times for people, rounded.

/// Returns a number with about three digits, and a letter for its magnitude.
pub fn short(x: f64) -> String {
    let scales = [(1e15, " P"), (1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")];
    match scales.iter().find(|(scale, _)| x >= *scale) {
        Some((scale, letter)) => {
            let x = x / scale;
            let digits = if x >= 100.0 { 0 } else { 1 };
            format!("{x:.digits$}{letter}")
        }
        None => format!("{x:.0} "),
    }
    .trim_end()
    .to_owned()
}

/// Returns a time in a unit that suits it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} days", s / 86400.0),
    }
}
