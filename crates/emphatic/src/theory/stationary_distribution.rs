//! The stationary distribution d_μ of the chain that the behaviour drives.

use super::compressed_rows::CompressedRows;
use super::elimination::{Number, all_near, pass_on};
use super::elimination_order::EliminationOrder;
use crate::problem::{Problem, ProblemError};
use crate::real::Wide;

/// d_μ of a behaviour, given by a row of probabilities for each state.
pub(crate) fn stationary_distribution(
    problem: &Problem,
    behaviour: &CompressedRows<f64>,
) -> Result<Vec<Wide>, ProblemError> {
    let n = problem.states.len();
    let reached = reached(problem, behaviour);
    let taken = |s: usize| -> Vec<(usize, Wide)> {
        // A state that is never reached has no share. It leads to the start, so that it is no closed class of its own.
        if !reached[s] {
            return vec![(problem.start[0].0, Wide::ONE)];
        }
        let possible = behaviour.row(s).iter().enumerate().filter(|(_, mu)| **mu > 0.0);
        let outcomes = possible.flat_map(|(a, mu)| problem.transitions(s, a).iter().map(move |t| (mu, t)));
        outcomes.map(|(mu, t)| (t.next, Wide::new(*mu) * Wide::new(t.probability))).collect()
    };
    let successors: Vec<Vec<usize>> =
        (0..n).map(|s| taken(s).into_iter().map(|(t, _)| t).collect()).collect();
    let order = EliminationOrder::new(&successors)?;
    let mut probability = vec![Wide::ZERO; order.successors.len()];
    for s in 0..n {
        let row = order.successors.row(s);
        let first = order.successors.range(s).start;
        for (next, p) in taken(s) {
            probability[first + row.partition_point(|&t| t < next)] += p;
        }
    }
    stationary(&order, &probability)
        .map_err(|(a, b)| ProblemError::Stationary(problem.states[a].clone(), problem.states[b].clone()))
}

/// Whether the behaviour can reach each state from the start.
fn reached(problem: &Problem, behaviour: &CompressedRows<f64>) -> Vec<bool> {
    let mut reached = vec![false; problem.states.len()];
    let mut waiting: Vec<usize> = problem.start.iter().map(|start| start.0).collect();
    while let Some(s) = waiting.pop() {
        if std::mem::replace(&mut reached[s], true) {
            continue;
        }
        let possible = behaviour.row(s).iter().enumerate().filter(|(_, mu)| **mu > 0.0);
        waiting.extend(possible.flat_map(|(a, _)| problem.transitions(s, a)).map(|t| t.next));
    }
    reached
}

/// The stationary distribution of a chain without leaks, or two states of different closed classes.
///
/// Elimination as in [`Chain`](super::elimination::Chain): a state whose pivot is zero is the last of a closed class, since it leads nowhere else.
/// Transient states have probability zero.
fn stationary(order: &EliminationOrder, probability: &[Wide]) -> Result<Vec<Wide>, (usize, usize)> {
    let narrow: Vec<f64> = probability.iter().map(|p| p.narrow()).collect();
    let widened = Closed::new(order, &narrow).ok().and_then(|closed| closed.widened());
    let Closed { passes, last, .. } = widened.map_or_else(|| Closed::new(order, probability), Ok)?;
    let mut weight = vec![Wide::ZERO; order.states()];
    if let Some(last) = last {
        weight[last] = Wide::ONE;
        for k in (0..last).rev() {
            weight[k] =
                order.upper.row(k).iter().map(|entry| passes[entry.twin()] * weight[entry.place()]).sum();
        }
    }
    let total: Wide = weight.iter().copied().sum();
    Ok(order.place.iter().map(|&k| weight[k] / total).collect())
}

/// A chain without leaks, with its states eliminated.
struct Closed<N> {
    passes: Vec<N>,
    onward: Vec<N>,
    leak: Vec<N>,
    /// The last place of the closed class.
    last: Option<usize>,
}

impl<N: Number + PartialEq> Closed<N> {
    fn new(order: &EliminationOrder, probability: &[N]) -> Result<Self, (usize, usize)> {
        let n = order.states();
        let zero = N::constant(0.0);
        let (mut passes, mut onward) = (vec![zero; order.lower.len()], vec![zero; order.upper.len()]);
        let (mut leak, mut pivot, mut work) = (vec![zero; n], vec![zero; n], vec![zero; n]);
        let mut last = None;
        for i in 0..n {
            let state = order.state[i];
            for (slot, &t) in order.successors.range(state).zip(order.successors.row(state)) {
                work[order.place[t]] = probability[slot];
            }
            for (slot, entry) in order.lower.range(i).zip(order.lower.row(i)) {
                let k = entry.place();
                let into = std::mem::replace(&mut work[k], zero);
                if pivot[k] == zero {
                    leak[i] += into; // A closed class is never left.
                    continue;
                }
                let times = into / pivot[k];
                passes[slot] = times;
                pass_on(order, k, times, &onward, &mut work);
                let leaks = times * leak[k];
                leak[i] += leaks;
            }
            work[i] = zero;
            pivot[i] = leak[i];
            for (slot, entry) in order.upper.range(i).zip(order.upper.row(i)) {
                onward[slot] = std::mem::replace(&mut work[entry.place()], zero);
                let more = onward[slot];
                pivot[i] += more;
            }
            if pivot[i] == zero
                && let Some(other) = last.replace(i)
            {
                return Err((order.state[other], state));
            }
        }
        Ok(Self { passes, onward, leak, last })
    }
}

impl Closed<f64> {
    /// As `Chain::widened`.
    fn widened(self) -> Option<Closed<Wide>> {
        let (onward, leak) = (all_near(&self.onward)?, all_near(&self.leak)?);
        Some(Closed { passes: all_near(&self.passes)?, onward, leak, last: self.last })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stationary(order: &EliminationOrder, probability: &[f64]) -> Result<Vec<f64>, (usize, usize)> {
        let probability: Vec<Wide> = probability.iter().map(|p| Wide::new(*p)).collect();
        Ok(super::stationary(order, &probability)?.into_iter().map(Wide::get).collect())
    }

    fn chain_of(p: &[Vec<f64>]) -> (EliminationOrder, Vec<f64>) {
        let next = |row: &Vec<f64>| (0..row.len()).filter(|&t| row[t] > 0.0).collect();
        let order = EliminationOrder::new(&p.iter().map(next).collect::<Vec<Vec<usize>>>()).unwrap();
        let flat = p.iter().flatten().copied().filter(|&x| x > 0.0).collect();
        (order, flat)
    }

    #[test]
    fn a_stationary_distribution_by_hand() {
        // Flow balance: d = (b, a)/(a + b).
        let (order, p) = chain_of(&[vec![0.9, 0.1], vec![0.3, 0.7]]);
        let d = stationary(&order, &p).unwrap();
        assert!((d[0] - 0.75).abs() < 1e-15 && (d[1] - 0.25).abs() < 1e-15);
    }

    #[test]
    fn transient_states_have_no_weight_wherever_they_are_eliminated() {
        // S0 and S3 are transient; S1 and S2 alternate.
        let (order, p) = chain_of(&[
            vec![0.5, 0.25, 0.0, 0.25],
            vec![0.0, 0.0, 1.0, 0.0],
            vec![0.0, 1.0, 0.0, 0.0],
            vec![0.0, 0.5, 0.5, 0.0],
        ]);
        assert_eq!(stationary(&order, &p), Ok(vec![0.0, 0.5, 0.5, 0.0]));
    }

    /// The weights once overflowed, and d_μ was NaN.
    #[test]
    fn states_that_are_hardly_ever_visited_do_no_harm() {
        let q = 1e-160;
        let (order, p) = chain_of(&[vec![1.0 - q, q, 0.0], vec![1.0 - q, 0.0, q], vec![1.0, 0.0, 0.0]]);
        let d = stationary(&order, &p).unwrap();
        assert!((d[0] - 1.0).abs() < 1e-15 && (d[1] / q - 1.0).abs() < 1e-14 && d[2] < 1e-300, "{d:?}");
    }

    #[test]
    fn two_closed_classes_are_named() {
        let (order, p) = chain_of(&[vec![0.0, 0.5, 0.5], vec![0.0, 1.0, 0.0], vec![0.0, 0.0, 1.0]]);
        let (a, b) = stationary(&order, &p).unwrap_err();
        assert_eq!((a.min(b), a.max(b)), (1, 2));
    }
}
