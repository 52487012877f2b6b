//! The directions in which features vary.

/// A vector is taken to lie in the span of others if what is left of it is smaller than this beside the largest.
const NOTHING_LEFT: f64 = 1e-12;

/// An orthonormal basis of the span of vectors: Gram and Schmidt, the largest that is left first, each made orthogonal twice since
/// once loses digits.
pub(super) fn feature_span(mut vectors: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let largest = vectors.iter().map(|x| norm(x)).fold(0.0, f64::max);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let rank = vectors.first().map_or(0, Vec::len).min(vectors.len());
    while basis.len() < rank {
        let (longest, length) = longest(&vectors);
        if !(length.is_finite() && length > NOTHING_LEFT * largest) {
            break;
        }
        let mut direction = vectors.swap_remove(longest);
        scale(&mut direction, 1.0 / length);
        basis.iter().for_each(|other| remove(&mut direction, other));
        let length = norm(&direction);
        scale(&mut direction, 1.0 / length);
        vectors.iter_mut().for_each(|x| remove(x, &direction));
        basis.push(direction);
    }
    basis
}

fn longest(vectors: &[Vec<f64>]) -> (usize, f64) {
    let lengths = vectors.iter().map(|x| norm(x)).enumerate();
    lengths.fold((0, 0.0), |most, of| if of.1 > most.1 { of } else { most })
}

/// Removes the part of x that lies in a direction of length one.
fn remove(x: &mut [f64], direction: &[f64]) {
    let share = dot(x, direction);
    if share != 0.0 {
        x.iter_mut().zip(direction).for_each(|(x, y)| *x -= share * y);
    }
}

fn scale(x: &mut [f64], by: f64) {
    x.iter_mut().for_each(|x| *x *= by);
}

fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// x·y.
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;

    #[test]
    fn the_basis_is_orthonormal_and_spans_the_vectors() {
        let mut random = Random::new(3, 1);
        for (count, len, rank) in [(5, 3, 3), (3, 5, 3), (8, 8, 8), (9, 6, 2), (4, 4, 0)] {
            let mut vector = |len: usize| (0..len).map(|_| random.normal()).collect::<Vec<f64>>();
            // Products of matrices of this rank.
            let factors: Vec<Vec<f64>> = (0..rank).map(|_| vector(len)).collect();
            let combine = |shares: Vec<f64>| {
                let entry = |f: usize| shares.iter().zip(&factors).map(|(share, x)| share * x[f]).sum();
                (0..len).map(entry).collect::<Vec<f64>>()
            };
            let vectors: Vec<Vec<f64>> = (0..count).map(|_| combine(vector(rank))).collect();
            let basis = feature_span(vectors.clone());
            assert_eq!(basis.len(), rank);
            for (k, x) in basis.iter().enumerate() {
                for (l, y) in basis.iter().enumerate() {
                    assert!((dot(x, y) - f64::from(u8::from(k == l))).abs() < 1e-13);
                }
            }
            for mut x in vectors {
                basis.iter().for_each(|direction| remove(&mut x, direction));
                assert!(norm(&x) < 1e-12);
            }
        }
    }

    #[test]
    fn what_is_not_finite_spans_nothing() {
        assert!(feature_span(vec![vec![f64::INFINITY, 1.0]]).is_empty());
        assert!(feature_span(Vec::new()).is_empty());
    }
}
