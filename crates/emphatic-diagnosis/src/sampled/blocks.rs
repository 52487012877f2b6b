//! Estimates from steps that depend on one another: standard errors from blocks of them.

use serde::Serialize;

/// In how many blocks the steps are cut. Within a block they may depend on one another as they like.
pub(super) const BLOCKS: usize = 20;

/// An estimate with its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its standard error, by the jackknife over blocks of steps.
    pub standard_error: f64,
}

impl Estimate {
    /// Two standard errors below and above.
    pub(crate) fn range(&self) -> [f64; 2] {
        [self.value - 2.0 * self.standard_error, self.value + 2.0 * self.standard_error]
    }
}

/// Returns the block of a step.
pub(super) fn block_of(step: usize, steps: usize) -> usize {
    step * BLOCKS / steps
}

/// Estimates a function of sums, given the sums of each block: by all of them, and with one block left out at a time.
pub(super) fn jackknife<const N: usize>(blocks: &[[f64; N]], of_sums: impl Fn(&[f64; N]) -> f64) -> Estimate {
    let without = |left_out: Option<usize>| {
        let mut sums = [0.0; N];
        for (_, block) in blocks.iter().enumerate().filter(|(k, _)| Some(*k) != left_out) {
            sums.iter_mut().zip(block).for_each(|(sum, x)| *sum += x);
        }
        of_sums(&sums)
    };
    let left_out: Vec<f64> = (0..blocks.len()).map(|k| without(Some(k))).collect();
    Estimate { value: without(None), standard_error: standard_error(&left_out) }
}

/// The standard error of an estimate, given what it is with each block left out.
pub(super) fn standard_error(left_out: &[f64]) -> f64 {
    let count = left_out.len() as f64;
    let mean = left_out.iter().sum::<f64>() / count;
    let squares: f64 = left_out.iter().map(|x| (x - mean) * (x - mean)).sum();
    (squares * (count - 1.0) / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a mean the jackknife is the standard error of the blocks' means.
    #[test]
    fn the_error_of_a_mean_is_that_of_the_blocks() {
        let blocks: Vec<[f64; 2]> = (0..BLOCKS).map(|k| [5.0, (k * k % 7) as f64]).collect();
        let found = jackknife(&blocks, |[count, sum]| sum / count);
        let means: Vec<f64> = blocks.iter().map(|[count, sum]| sum / count).collect();
        let mean = means.iter().sum::<f64>() / BLOCKS as f64;
        let variance = means.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (BLOCKS as f64 - 1.0);
        assert!((found.value - mean).abs() < 1e-14);
        assert!((found.standard_error - (variance / BLOCKS as f64).sqrt()).abs() < 1e-14);
    }
}
