//! Tables of text.

use crate::printable::shortened;

/// The most characters of a cell: longer text is cut. (Names may have millions, and formatting stops at 65,535.)
pub const LONGEST_CELL: usize = 200;

/// The rows as lines of aligned cells, each after `indent` spaces. The first `words` columns are aligned to the left, the others,
/// numbers, to the right. All rows must have as many cells as the first.
pub fn table(rows: Vec<Vec<String>>, words: usize, indent: usize) -> String {
    let cut = |row: Vec<String>| row.iter().map(|cell| shortened(cell, LONGEST_CELL)).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(cut).collect();
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells =
            row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column < words {
                true => format!("{cell:<width$}"),
                false => format!("{cell:>width$}"),
            });
        let line = " ".repeat(indent) + &cells.collect::<Vec<_>>().join("  ");
        text += line.trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_left_and_numbers_right() {
        let rows = [["state", "v"], ["S1", "0.25"], ["", "3"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(table(rows.to_vec(), 1, 2), "  state     v\n  S1     0.25\n            3\n");
    }

    /// Once a cell wider than 65,535 characters was a panic.
    #[test]
    fn no_cell_is_too_wide() {
        let rows = vec![vec!["x".repeat(100_000), "y".repeat(70_000)]];
        let line = table(rows, 1, 0);
        assert_eq!(line.chars().count(), 2 * LONGEST_CELL + 3);
        assert!(line.contains("x…  y") && line.ends_with("y…\n"));
    }

    #[test]
    fn a_cell_cannot_break_its_line() {
        assert_eq!(table(vec![vec!["a\nb\u{1b}[0m".to_owned()]], 1, 0), "a\u{fffd}b\u{fffd}[0m\n");
    }
}
