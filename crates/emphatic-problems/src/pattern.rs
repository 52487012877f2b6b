//! Regular problems, whose transitions follow from a few numbers or a map.

mod chain;
mod grid;
mod random;

pub(crate) use chain::Chain;
pub(crate) use grid::Grid;
pub(crate) use random::RandomProblem;

use crate::file_error::Mistake;
use crate::located::Located;
use crate::values::Number;
use std::collections::BTreeMap;

/// How states are arranged, so that neighbours can share a feature.
#[derive(Default)]
pub(crate) enum Layout {
    /// Without an order.
    #[default]
    None,
    /// One after the other.
    Line,
    /// The row and column of each.
    Cells(Vec<(usize, usize)>),
}

impl Layout {
    /// The block of each of `n` states if `size` neighbours (`size` × `size` cells) make a block; `None` without an arrangement.
    pub(crate) fn blocks(&self, n: usize, size: usize) -> Option<Vec<usize>> {
        let place: Box<dyn Fn(usize) -> (usize, usize)> = match self {
            Self::None => return None,
            Self::Line => Box::new(|s| (0, s / size)),
            Self::Cells(cells) => Box::new(|s| (cells[s].0 / size, cells[s].1 / size)),
        };
        let mut numbers = BTreeMap::new();
        let number = |s| {
            let next = numbers.len();
            *numbers.entry(place(s)).or_insert(next)
        };
        Some((0..n).map(number).collect())
    }
}

/// A probability; 0 if it is left out.
fn probability(value: Option<&Located<Number>>, key: &str) -> Result<f64, Mistake> {
    let Some(value) = value else { return Ok(0.0) };
    let Number(x) = value.value;
    if (0.0..=1.0).contains(&x) {
        return Ok(x);
    }
    Err(Mistake::at(&value.span, format!("`{key}` is {x}; a probability lies between 0 and 1")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_make_blocks() {
        let cells = Layout::Cells(vec![(0, 0), (0, 1), (0, 2), (1, 1), (2, 0)]);
        assert_eq!(cells.blocks(5, 2), Some(vec![0, 0, 1, 0, 2]));
        assert_eq!(Layout::Line.blocks(5, 2), Some(vec![0, 0, 1, 1, 2]));
        assert_eq!(Layout::None.blocks(5, 2), None);
    }
}
