//! A linear system with quadratic costs, in which the value of every linear policy is known.

use crate::environment::{Actions, Description, Environment, Observed, Outcome};
use crate::environment::{between, nearest_real, numbers, numbers_mut};
use emphatic::{Action, Random};

/// A body on a line that a force pushes, against friction and noise: x' = A x + b u + w, where w is normal, and the reward is
/// −(Σ q_k x_k² + r u²), of the state before the step. An episode never ends. Actions are not limited: infinite ones lead to infinite states.
///
/// What nothing else here has: the value of every linear policy is known ([`LinearQuadratic::value_of`]), and so is the best of them, which is
/// the best of all ([`LinearQuadratic::optimum`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearQuadratic {
    /// A: how a position and a velocity become the next ones.
    pub transition: [[f64; 2]; 2],
    /// b: what a unit of force adds to them.
    pub input: [f64; 2],
    /// The standard deviations of the noise, which is independent.
    pub noise: [f64; 2],
    /// q: what the square of each costs.
    pub state_cost: [f64; 2],
    /// r: what the square of the force costs.
    pub action_cost: f64,
}

impl Default for LinearQuadratic {
    /// Steps of 0.2 units of time, and a tenth of the velocity is lost in each.
    fn default() -> Self {
        Self {
            transition: [[1.0, 0.2], [0.0, 0.9]],
            input: [0.0, 0.2],
            noise: [0.05, 0.05],
            state_cost: [1.0, 0.1],
            action_cost: 0.1,
        }
    }
}

/// What it is.
pub(crate) static DESCRIPTION: Description = Description {
    name: "linear-quadratic",
    about: "a body is pushed to the middle of a line; the value of every linear policy is known",
    source: "Bertsekas 2017 (linear systems with quadratic costs)",
    state: 2,
    observations: &[Observed::usual("position", -4.0, 4.0), Observed::usual("velocity", -2.0, 2.0)],
    actions: Actions::Real { low: f64::NEG_INFINITY, high: f64::INFINITY, standard_deviation: 1.0 },
    limit: Some(100),
    gymnasium: None,
};

impl Environment for LinearQuadratic {
    #[inline]
    fn description(&self) -> &Description {
        &DESCRIPTION
    }

    /// Both numbers are uniform on [−1, 1].
    #[inline]
    fn start(&self, state: &mut [f64], random: &mut Random) {
        for number in numbers_mut::<2>(state) {
            *number = between(-1.0, 1.0, random);
        }
    }

    #[inline]
    fn step(&self, state: &mut [f64], action: Action, random: &mut Random) -> Outcome {
        let state: &mut [f64; 2] = numbers_mut(state);
        let [x, y] = *state;
        let force = nearest_real(action, f64::NEG_INFINITY, f64::INFINITY);
        let cost =
            self.state_cost[0] * (x * x) + self.state_cost[1] * (y * y) + self.action_cost * (force * force);
        for (k, number) in state.iter_mut().enumerate() {
            let row = self.transition[k];
            *number = row[0] * x + row[1] * y + self.input[k] * force + self.noise[k] * random.normal();
        }
        Outcome { reward: -cost, is_over: false }
    }

    #[inline]
    fn observe(&self, state: &[f64], observation: &mut [f64]) {
        *numbers_mut::<2>(observation) = *numbers(state);
    }
}

/// The value of a linear policy: v(x) = −xᵀ P x − c.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QuadraticValue {
    /// P, which is symmetric.
    pub matrix: [[f64; 2]; 2],
    /// c: what the noise costs.
    pub constant: f64,
}

impl QuadraticValue {
    /// Returns the value of a state.
    pub fn of(&self, state: [f64; 2]) -> f64 {
        -dot(state, times(self.matrix, state)) - self.constant
    }

    /// Returns the mean value of the states in which episodes begin, which are uniform on [−1, 1]².
    pub fn of_start(&self) -> f64 {
        -(self.matrix[0][0] + self.matrix[1][1]) / 3.0 - self.constant
    }
}

impl LinearQuadratic {
    /// Returns the value of the policy with actions N(−gain · x, `standard_deviation`²), for rewards that are discounted by `gamma` and
    /// never end. `None` if it is not finite (the policy lets the state grow too fast), or unless 0 ≤ γ < 1.
    pub fn value_of(&self, gain: [f64; 2], standard_deviation: f64, gamma: f64) -> Option<QuadraticValue> {
        if !(0.0..1.0).contains(&gamma) {
            return None;
        }
        // P = Q + r k kᵀ + γ Fᵀ P F with F = A − b kᵀ: the sum of (√γ F)ᵗᵀ (Q + r k kᵀ) (√γ F)ᵗ over t, of which every pass of the loop doubles
        // the number of terms.
        let mut power = self.transition;
        let mut sum = [[0.0; 2]; 2];
        for i in 0..2 {
            for j in 0..2 {
                power[i][j] = gamma.sqrt() * (power[i][j] - self.input[i] * gain[j]);
                sum[i][j] = self.action_cost * gain[i] * gain[j];
            }
            sum[i][i] += self.state_cost[i];
        }
        for _ in 0..64 {
            let more = product(transposed(power), product(sum, power));
            sum = symmetric(std::array::from_fn(|i| std::array::from_fn(|j| sum[i][j] + more[i][j])));
            power = product(power, power);
        }
        let vanished = power.as_flattened().iter().all(|x| x.abs() < 1e-9);

        let variance = standard_deviation * standard_deviation;
        let [p, q] = [sum[0][0] * self.noise[0] * self.noise[0], sum[1][1] * self.noise[1] * self.noise[1]];
        let next = variance * dot(self.input, times(sum, self.input)) + p + q;
        let constant = (self.action_cost * variance + gamma * next) / (1.0 - gamma);
        let is_finite = constant.is_finite() && sum.as_flattened().iter().all(|x| x.is_finite());
        (vanished && is_finite).then_some(QuadraticValue { matrix: sum, constant })
    }

    /// Returns the gain of the best policy, u = −gain · x, and its value. `None` if Riccati's iteration does not converge, or unless
    /// 0 ≤ γ < 1.
    pub fn optimum(&self, gamma: f64) -> Option<([f64; 2], QuadraticValue)> {
        let mut value = [[self.state_cost[0], 0.0], [0.0, self.state_cost[1]]];
        for _ in 0..100_000 {
            let gain = self.greedy(value, gamma);
            // P ← Q + γ Aᵀ P (A − b kᵀ).
            let onward = std::array::from_fn(|i| {
                std::array::from_fn(|j| gamma * (self.transition[i][j] - self.input[i] * gain[j]))
            });
            let mut next = product(transposed(self.transition), product(value, onward));
            for (k, row) in next.iter_mut().enumerate() {
                row[k] += self.state_cost[k];
            }
            let next = symmetric(next);
            let pairs = || next.as_flattened().iter().zip(value.as_flattened());
            let largest = pairs().map(|(x, _)| x.abs()).fold(0.0, f64::max);
            if pairs().all(|(x, y)| (x - y).abs() <= 1e-15 * largest) {
                let gain = self.greedy(next, gamma);
                return Some((gain, self.value_of(gain, 0.0, gamma)?));
            }
            value = next;
        }
        None
    }

    /// Returns the gain of the policy that is best if the costs of the states to come are xᵀ P x.
    fn greedy(&self, matrix: [[f64; 2]; 2], gamma: f64) -> [f64; 2] {
        let onward = times(matrix, self.input);
        let scale = gamma / (self.action_cost + gamma * dot(self.input, onward));
        times(transposed(self.transition), onward).map(|x| scale * x)
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn times(a: [[f64; 2]; 2], x: [f64; 2]) -> [f64; 2] {
    a.map(|row| dot(row, x))
}

fn transposed(a: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    [[a[0][0], a[1][0]], [a[0][1], a[1][1]]]
}

fn product(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let columns = transposed(b);
    a.map(|row| columns.map(|column| dot(row, column)))
}

/// Rounding must not make a symmetric matrix less so.
fn symmetric(a: [[f64; 2]; 2]) -> [[f64; 2]; 2] {
    let side = 0.5 * (a[0][1] + a[1][0]);
    [[a[0][0], side], [side, a[1][1]]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// The mean discounted return of a policy from a state, and its standard error.
    fn rollouts(gain: [f64; 2], deviation: f64, gamma: f64, from: [f64; 2]) -> (f64, f64) {
        let (system, n) = (LinearQuadratic::default(), 4000);
        let (mut sum, mut squares) = (0.0, 0.0);
        for run in 0..n {
            let (mut random, mut state) = (Random::new(3, run), from);
            let (mut total, mut discount) = (0.0, 1.0);
            while discount > 1e-6 {
                let action = Action::Real(deviation * random.normal() - dot(gain, state));
                total += discount * system.step(&mut state, action, &mut random).reward;
                discount *= gamma;
            }
            sum += total;
            squares += total * total;
        }
        let n = n as f64;
        let mean = sum / n;
        (mean, ((squares / n - mean * mean) / n).sqrt())
    }

    #[test]
    fn values_by_rollouts() {
        let system = LinearQuadratic::default();
        let gamma = 0.9;
        let (best, _) = system.optimum(gamma).unwrap();
        for (gain, deviation, from) in [
            (best, 0.0, [1.0, -0.5]),
            (best, 0.7, [-0.3, 0.8]),
            ([0.0, 0.0], 1.0, [0.5, 0.5]),
            ([1.0, 0.2], 0.3, [-1.0, 1.0]),
        ] {
            let value = system.value_of(gain, deviation, gamma).unwrap().of(from);
            let (mean, error) = rollouts(gain, deviation, gamma, from);
            assert!((mean - value).abs() < 4.0 * error + 1e-4, "{gain:?}: {mean} ± {error}, {value}");
        }
    }

    #[test]
    fn a_policy_by_hand() {
        // x' = x / 2 + w, nothing costs but x²: P = 1 + γ P / 4, and c = γ P σ² / (1 − γ).
        let system = LinearQuadratic {
            transition: [[0.5, 0.0], [0.0, 0.0]],
            input: [0.0, 0.0],
            noise: [0.1, 0.0],
            state_cost: [1.0, 0.0],
            action_cost: 0.0,
        };
        let value = system.value_of([0.0, 0.0], 1.0, 0.8).unwrap();
        assert!((value.matrix[0][0] - 1.25).abs() < 1e-15 && value.matrix[0][1] == 0.0);
        assert!((value.constant - 0.05).abs() < 1e-15);
        assert!((value.of([2.0, 7.0]) + 5.05).abs() < 1e-14);
        assert!((value.of_start() + 1.25 / 3.0 + 0.05).abs() < 1e-15);
    }

    #[test]
    fn the_optimum_is_the_best() {
        let system = LinearQuadratic::default();
        for gamma in [0.0, 0.5, 0.9, 0.95, 0.99, 0.999] {
            let (gain, value) = system.optimum(gamma).unwrap();
            // It satisfies Riccati's equation: its own greedy policy is itself.
            let greedy = system.greedy(value.matrix, gamma);
            assert!((0..2).all(|k| (gain[k] - greedy[k]).abs() < 1e-11), "{gamma} {gain:?} {greedy:?}");
            for change in [[0.1, 0.0], [-0.1, 0.0], [0.0, 0.1], [0.0, -0.1], [0.05, 0.05]] {
                let other = [gain[0] + change[0], gain[1] + change[1]];
                let other = system.value_of(other, 0.0, gamma).unwrap();
                assert!(other.of_start() < value.of_start(), "{gamma} {change:?}");
                for state in [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0]] {
                    assert!(other.of(state) <= value.of(state) + 1e-12, "{gamma} {change:?} {state:?}");
                }
            }
            let noisy = system.value_of(gain, 0.1, gamma).unwrap();
            assert!(noisy.constant > value.constant && noisy.matrix == value.matrix);
        }
    }

    #[test]
    fn what_is_not_finite_is_refused() {
        let system = LinearQuadratic::default();
        assert_eq!(system.value_of([-50.0, 0.0], 0.0, 0.9), None);
        for gamma in [1.0, -0.1, f64::NAN, 2.0] {
            assert_eq!(system.value_of([0.5, 0.5], 0.0, gamma), None);
            assert_eq!(system.optimum(gamma), None);
        }
        assert_eq!(system.value_of([f64::NAN, 0.0], 0.0, 0.9), None);
        let out_of_reach =
            LinearQuadratic { transition: [[2.0, 0.0], [0.0, 0.5]], input: [0.0, 1.0], ..system };
        assert_eq!(out_of_reach.optimum(0.9), None);
    }

    #[test]
    fn stays_finite() {
        testing::steps(
            &LinearQuadratic::default(),
            |random| vec![between(-4.0, 4.0, random), between(-2.0, 2.0, random)],
            |_, _, reward, is_over| assert!(reward <= 0.0 && !is_over),
        );
    }
}
