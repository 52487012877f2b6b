//! Bounds on the spectral radius of a sparse non-negative matrix, such as the second-moment operator of the follow-on trace.

use super::elimination::{Chain, Row};
use super::elimination_order::EliminationOrder;
use crate::real::Wide;
use std::sync::Arc;

/// Where Noda's bounds converge, they come this close, relative to themselves.
const NEAR: f64 = 1e-13;
/// Bounds that are farther apart than this are refined by bisection.
const FAR: f64 = 1e-9;
/// Noda's iteration converges quadratically: after this many rounds it is far off, or rounding keeps the bounds apart.
const MOST_ROUNDS: usize = 60;

/// Bounds on the spectral radius of the matrix with these rows, whose entries the order has places for.
///
/// A reducible matrix has the radius of the largest of its irreducible blocks. In a block, for every positive vector x,
/// min (Qx)ᵢ/xᵢ ≤ radius ≤ max (Qx)ᵢ/xᵢ (Collatz, Wielandt), and x ← (max·I − Q)⁻¹ x brings the two together (Noda). Where x is too far
/// off, as in a long chain with a drift, bisection takes over: the radius is below c exactly if the pivots of I − Q/c are
/// positive.
pub(super) fn spectral_radius(order: &Arc<EliminationOrder>, rows: &[Vec<(usize, Wide)>]) -> [f64; 2] {
    let block = &blocks(rows);
    let within = |s: usize| rows[s].iter().filter(move |(t, q)| block[s] == block[*t] && q.is_positive());
    let mut bounds = noda(order, block, &within);
    while bounds[1] - bounds[0] > Wide::new(FAR) * bounds[1] {
        let middle = (bounds[0] * bounds[1]).sqrt();
        let row = |s: usize| {
            let entries: Vec<_> = within(s).map(|(t, q)| (*t, *q / middle)).collect();
            let loss = entries.iter().map(|entry| entry.1).sum();
            Row { entries, gain: Wide::ONE, loss }
        };
        let is_below = Chain::with_pivots(order.clone(), row).1.into_iter().all(Wide::is_positive);
        bounds[usize::from(is_below)] = middle;
    }
    bounds.map(Wide::get)
}

/// Whether powers of the matrix with these rows may grow without bound in the block of each state: whether its radius is at
/// least one. The gain and loss of the rows tell a radius hardly below one from one.
pub(super) fn grows(order: &Arc<EliminationOrder>, rows: &[Row<Wide>]) -> Vec<bool> {
    let block = blocks(rows.iter().map(|row| &row.entries));
    let row = |s: usize| {
        let Row { entries, gain, loss } = &rows[s];
        let (within, left): (Vec<_>, Vec<_>) = entries.iter().partition(|(t, _)| block[s] == block[*t]);
        Row { entries: within, gain: *gain + left.into_iter().map(|(_, q)| q).sum(), loss: *loss }
    };
    let mut block_grows = vec![false; rows.len()];
    for (s, pivot) in Chain::with_pivots(order.clone(), row).1.into_iter().enumerate() {
        block_grows[block[s]] |= !pivot.is_positive();
    }
    block.into_iter().map(|b| block_grows[b]).collect()
}

/// The bounds of Noda's iteration in all blocks at once.
fn noda<'a, I: Iterator<Item = &'a (usize, Wide)>>(
    order: &Arc<EliminationOrder>,
    block: &[usize],
    within: &impl Fn(usize) -> I,
) -> [Wide; 2] {
    let n = block.len();
    let mut x = vec![Wide::ONE; n];
    let mut bounds = Vec::new();
    for _ in 0..MOST_ROUNDS {
        let ratio = |s: usize| within(s).map(|(t, q)| *q * x[*t]).sum::<Wide>() / x[s];
        let ratios: Vec<Wide> = (0..n).map(ratio).collect();
        bounds = vec![None; n];
        for (ratio, &b) in ratios.iter().zip(block) {
            let [low, high] = bounds[b].unwrap_or([*ratio; 2]);
            bounds[b] = Some([low.min(*ratio), high.max(*ratio)]);
        }
        // A block that has converged, or a state that leads nowhere, needs no more rounds.
        let high = |s: usize| {
            bounds[block[s]]
                .filter(|[low, high]| *high - *low > Wide::new(NEAR) * *high)
                .map(|[_, high]| high)
        };
        if !(0..n).any(|s| high(s).is_some()) {
            break;
        }
        let scaled = |s: usize| match high(s) {
            Some(high) => {
                let entries = within(s).map(|(t, q)| (*t, *q * x[*t] / (high * x[s]))).collect();
                Row::leaking(entries, (high - ratios[s]) / high)
            }
            None => Row::empty(),
        };
        let Some(chain) = Chain::leaking(order.clone(), scaled) else { break };
        let growth = chain.solve(&vec![Wide::ONE; n]);
        x.iter_mut().zip(growth).for_each(|(x, growth)| *x *= growth);
    }
    let none = [Wide::ZERO; 2];
    bounds.into_iter().flatten().fold(none, |all, of| [all[0].max(of[0]), all[1].max(of[1])])
}

/// The irreducible block of each state: its strongly connected component (Tarjan), numbered by one of its states.
fn blocks<'a>(rows: impl IntoIterator<Item = &'a Vec<(usize, Wide)>>) -> Vec<usize> {
    let rows: Vec<&Vec<(usize, Wide)>> = rows.into_iter().collect();
    const NEW: usize = usize::MAX;
    let n = rows.len();
    let (mut number, mut low, mut block) = (vec![NEW; n], vec![0; n], vec![NEW; n]);
    let (mut waiting, mut count) = (Vec::new(), 0);
    for root in 0..n {
        let mut path = if number[root] == NEW { vec![(root, 0)] } else { Vec::new() };
        while let Some((s, edge)) = path.pop() {
            if edge == 0 {
                (number[s], low[s]) = (count, count);
                count += 1;
                waiting.push(s);
            } else {
                low[s] = low[s].min(low[rows[s][edge - 1].0]);
            }
            let unseen = (edge..rows[s].len()).find(|&e| {
                let (t, q) = rows[s][e];
                if q.is_positive() && number[t] != NEW && block[t] == NEW {
                    low[s] = low[s].min(number[t]);
                }
                q.is_positive() && number[t] == NEW
            });
            if let Some(e) = unseen {
                path.push((s, e + 1));
                path.push((rows[s][e].0, 0));
            } else if low[s] == number[s] {
                while let Some(t) = waiting.pop() {
                    block[t] = s;
                    if t == s {
                        break;
                    }
                }
            }
        }
    }
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random_stream::Random;

    fn radius(rows: &[Vec<(usize, f64)>]) -> [f64; 2] {
        let successors: Vec<Vec<usize>> = rows.iter().map(|row| row.iter().map(|e| e.0).collect()).collect();
        let wide = |row: &Vec<(usize, f64)>| row.iter().map(|e| (e.0, Wide::new(e.1))).collect();
        let rows: Vec<Vec<(usize, Wide)>> = rows.iter().map(wide).collect();
        spectral_radius(&Arc::new(EliminationOrder::new(&successors).unwrap()), &rows)
    }

    fn near(bounds: [f64; 2], right: f64) {
        let [low, high] = bounds;
        assert!(low <= right * (1.0 + 1e-12) && right <= high * (1.0 + 1e-12), "{bounds:?} {right}");
        assert!(high - low <= 1e-11 * high, "{bounds:?}");
    }

    #[test]
    fn closed_forms() {
        near(radius(&[vec![(0, 2.5)]]), 2.5);
        near(radius(&[vec![(1, 4.0)], vec![(0, 9.0)]]), 6.0); // Periodic.
        near(radius(&[vec![(0, 1.0), (1, 2.0)], vec![(0, 3.0), (1, 4.0)]]), (5.0 + 33f64.sqrt()) / 2.0);
        assert_eq!(radius(&[vec![(1, 9.0), (2, 1e9)], vec![(2, 7.0)], vec![]]), [0.0, 0.0]); // All paths end.
        // Blocks: {0, 1} has 6, {2} has 7, and the links between them do not count.
        near(radius(&[vec![(1, 4.0), (2, 100.0)], vec![(0, 9.0)], vec![(2, 7.0)]]), 7.0);
    }

    #[test]
    fn a_cycle_has_the_geometric_mean_of_its_entries() {
        let weights = [0.5, 2.0, 8.0, 0.125, 3.0];
        let rows: Vec<_> = (0..5).map(|s| vec![((s + 1) % 5, weights[s])]).collect();
        near(radius(&rows), weights.iter().product::<f64>().powf(0.2));
    }

    /// The eigenvector of a long chain with a drift spans more than the range of `f64`; its radius was once taken for infinite.
    #[test]
    fn a_long_chain_with_a_drift() {
        for n in [100usize, 500, 2000] {
            let (left, right): (f64, f64) = (0.1225, 1.225);
            let row = |s: usize| {
                let mut row = Vec::new();
                row.extend((s > 0).then(|| (s - 1, left)));
                row.extend((s + 1 < n).then_some((s + 1, right)));
                row
            };
            let rows: Vec<_> = (0..n).map(row).collect();
            let right = 2.0 * (left * right).sqrt() * (std::f64::consts::PI / (n + 1) as f64).cos();
            let [low, high] = radius(&rows);
            assert!(low <= right * (1.0 + 1e-9) && right <= high * (1.0 + 1e-9), "{n}: {low} {high} {right}");
            assert!(high - low < 1e-8, "{n}: {low} {high}");
        }
    }

    #[test]
    fn random_matrices_grow_as_their_powers_do() {
        let mut random = Random::new(5, 0);
        for _ in 0..50 {
            let n = 2 + random.below(12);
            let rows: Vec<Vec<(usize, f64)>> = (0..n)
                .map(|_| {
                    (0..2 + random.below(3)).map(|_| (random.below(n), 3.0 * random.uniform())).collect()
                })
                .collect();
            let [low, high] = radius(&rows);
            assert!(high - low <= 1e-9 * high, "{low} {high}");
            // ‖Qᵏ‖^(1/k) → radius, from repeated squaring: k = 2²⁰.
            let mut power: Vec<Vec<f64>> = vec![vec![0.0; n]; n];
            rows.iter().enumerate().for_each(|(s, row)| row.iter().for_each(|(t, q)| power[s][*t] += q));
            let mut log = 0.0;
            for k in 0..20 {
                let entry = |i: usize, j: usize| (0..n).map(|l| power[i][l] * power[l][j]).sum::<f64>();
                let mut squared: Vec<Vec<f64>> =
                    (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
                let norm = squared.iter().flatten().copied().fold(0.0, f64::max);
                if norm == 0.0 {
                    assert_eq!(high, 0.0);
                    break;
                }
                squared.iter_mut().flatten().for_each(|x| *x /= norm);
                log += norm.ln() / f64::from(1 << (k + 1));
                power = squared;
            }
            if high > 0.0 {
                assert!((log.exp() / high - 1.0).abs() < 1e-4, "{} {high}", log.exp());
            }
        }
    }
}
