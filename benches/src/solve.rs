//! The exact solution of a grid: d_μ, v and m, by `emphatic` and by dense elimination.
//!
//! A move succeeds with probability 2/3 and slips to each other side with 1/9. Episodes lead from one corner to the opposite one.

use crate::write_numbers;
use emphatic::{Exact, Problem, Softmax, Table, Task};
use std::error::Error;
use std::io::Write;
use std::time::Instant;

const GAMMA: f64 = 0.99;
/// The same preferences in every state.
const WEIGHTS: [f64; 4] = [0.5, 0.25, 0.0, 0.0];

struct Solution {
    stationary: Vec<f64>,
    values: Vec<f64>,
    weighting: Vec<f64>,
}

/// Solves a grid by `emphatic`, prints a line of JSON and writes v and m to a file for a peer to compare.
pub(crate) fn sparse(width: usize, height: usize, path: &str, out: impl Write) -> Result<(), Box<dyn Error>> {
    let (problem, behaviour) = (grid(width, height)?, vec![vec![0.25; 4]; width * height]);
    let start = Instant::now();
    let solution = solve_sparse(problem, &behaviour)?;
    print("emphatic", &solution, start.elapsed().as_secs_f64(), out)?;
    write_numbers(path, [solution.values, solution.weighting].concat())?;
    Ok(())
}

/// Solves a grid by dense elimination, and prints a line of JSON.
pub(crate) fn dense(width: usize, height: usize, out: impl Write) -> Result<(), Box<dyn Error>> {
    let problem = grid(width, height)?;
    let start = Instant::now();
    let solution = solve_dense(&problem);
    print("dense", &solution, start.elapsed().as_secs_f64(), out)
}

fn print(by: &str, solution: &Solution, seconds: f64, mut out: impl Write) -> Result<(), Box<dyn Error>> {
    let Solution { stationary, values, weighting } = solution;
    let n = values.len();
    let objective: f64 = stationary.iter().zip(values).map(|(d, v)| d * v).sum();
    let [first, middle] = [0, n / 2].map(|s| format!("[{}, {}]", values[s], weighting[s]));
    writeln!(
        out,
        "{{\"workload\": \"a grid of {n} states\", \"by\": \"{by}\", \"time\": {seconds}, \"megabytes\": {}, \
         \"probe\": {{\"J\": {objective}, \"0\": {first}, \"{}\": {middle}}}}}",
        peak_megabytes().map_or("null".to_owned(), |peak| peak.to_string()),
        n / 2
    )?;
    Ok(())
}

fn grid(width: usize, height: usize) -> Result<Problem, Box<dyn Error>> {
    let n = width * height;
    let mut builder = Problem::builder()
        .states((0..n).map(|s| s.to_string()))
        .actions(["right", "down", "left", "up"])
        .start(0, 1.0);
    for s in 0..n {
        let (x, y) = (s % width, s / width);
        let at = |x: usize, y: usize| y * width + x;
        let near = [
            at((x + 1).min(width - 1), y),
            at(x, (y + 1).min(height - 1)),
            at(x.max(1) - 1, y),
            at(x, y.max(1) - 1),
        ];
        for a in 0..4 {
            if s + 1 == n {
                builder = builder.end(s, a, 1.0, 1.0);
                continue;
            }
            for (k, next) in near.into_iter().enumerate() {
                let p = if k == a { 2.0 / 3.0 } else { 1.0 / 9.0 };
                builder = builder.transition(s, a, next, p, 0.1 * ((x + 2 * y) % 5) as f64, GAMMA);
            }
        }
    }
    Ok(builder.build()?)
}

fn solve_sparse(problem: Problem, behaviour: &[Vec<f64>]) -> Result<Solution, Box<dyn Error>> {
    let alike = Table::aliased(&vec![0; behaviour.len()]);
    let task = Task::new(problem, behaviour)?.with_actor(alike)?;
    let policy: Softmax = task.softmax();
    let exact = Exact::new(&task, &policy, &WEIGHTS)?;
    Ok(Solution {
        stationary: task.stationary().to_vec(),
        values: exact.values().to_vec(),
        weighting: exact.emphatic_weighting(1.0),
    })
}

/// By two full matrices, eliminated without regard to zeros.
fn solve_dense(problem: &Problem) -> Solution {
    let n = problem.states().len();
    let sum: f64 = WEIGHTS.iter().map(|w| w.exp()).sum();
    let pi = WEIGHTS.map(|w| w.exp() / sum);
    let (mut target, mut behaviour) = (identity(n), identity(n));
    let mut values = vec![0.0; n];
    for s in 0..n {
        for (a, pi) in pi.into_iter().enumerate() {
            for t in problem.transitions(s, a) {
                target[s * n + t.next] -= pi * t.probability * t.gamma;
                behaviour[t.next * n + s] -= 0.25 * t.probability;
                values[s] += pi * t.probability * t.reward;
            }
        }
    }
    // The flow into a state equals the flow out of it. One of these equations follows from the others: the sum of d_μ replaces it.
    behaviour[(n - 1) * n..].fill(1.0);
    let mut stationary = vec![0.0; n];
    stationary[n - 1] = 1.0;
    eliminate(&mut behaviour, n);
    solve_with(&behaviour, &mut stationary);
    eliminate(&mut target, n);
    solve_with(&target, &mut values);
    let mut weighting = stationary.clone();
    solve_transposed(&target, &mut weighting);
    Solution { stationary, values, weighting }
}

fn identity(n: usize) -> Vec<f64> {
    (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect()
}

/// A ← L U in place, without pivoting: the matrices are diagonally dominant.
fn eliminate(a: &mut [f64], n: usize) {
    for k in 0..n {
        let (above, below) = a.split_at_mut((k + 1) * n);
        let pivot = &above[k * n..];
        for row in below.chunks_exact_mut(n) {
            row[k] /= pivot[k];
            let factor = row[k];
            for (x, y) in row[k + 1..].iter_mut().zip(&pivot[k + 1..]) {
                *x -= factor * y;
            }
        }
    }
}

/// b ← (L U)⁻¹ b.
fn solve_with(lu: &[f64], b: &mut [f64]) {
    let n = b.len();
    let product = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    for i in 0..n {
        b[i] -= product(&lu[i * n..i * n + i], &b[..i]);
    }
    for i in (0..n).rev() {
        b[i] = (b[i] - product(&lu[i * n + i + 1..(i + 1) * n], &b[i + 1..])) / lu[i * n + i];
    }
}

/// b ← (L U)⁻ᵀ b.
fn solve_transposed(lu: &[f64], b: &mut [f64]) {
    let n = b.len();
    for i in 0..n {
        b[i] /= lu[i * n + i];
        for j in i + 1..n {
            b[j] -= lu[i * n + j] * b[i];
        }
    }
    for i in (0..n).rev() {
        for j in 0..i {
            b[j] -= lu[i * n + j] * b[i];
        }
    }
}

/// The peak memory of this process; `None` if the system does not report it.
fn peak_megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_grid_is_solved_alike() {
        let problem = || grid(7, 5).unwrap();
        let both = [solve_sparse(problem(), &vec![vec![0.25; 4]; 35]).unwrap(), solve_dense(&problem())]
            .map(|solution| [solution.stationary, solution.values, solution.weighting].concat());
        for (x, y) in both[0].iter().zip(&both[1]) {
            assert!((x - y).abs() <= 1e-12 * y.abs(), "{x} is not {y}");
        }
    }
}
