//! The exact solution of a problem for its target policy: `emphatic solve`.

use crate::diagnosable::{Diagnosable, with_policy};
use crate::format::{name, number, table};
use crate::linear_methods::{LinearMethods, PartOf, usual};
use crate::names::weight_names;
use emphatic::{Exact, Policy, ProblemError};
use emphatic_problems::ProblemFile;
use emphatic_text::csv;
use serde::{Serialize, Serializer};
use std::fmt::Write;

/// The number of states and weights that text shows by default.
pub const SHOWN: usize = 20;

/// A quantity in each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name in data: `target.A0`.
    pub name: String,
    /// Its symbol in text: π(A0).
    pub symbol: String,
    /// By state.
    pub values: Vec<f64>,
}

impl Column {
    pub(crate) fn new(name: &str, symbol: &str, values: Vec<f64>) -> Self {
        Self { name: name.to_owned(), symbol: symbol.to_owned(), values }
    }
}

/// The exact solution of a problem for its target policy. As JSON, NaN is null.
#[derive(Clone, Debug, Serialize)]
pub struct Solution {
    /// The problem's name.
    pub problem: String,
    /// The kind of policy: `softmax`, `fixed`, `gaussian` or `deterministic`.
    pub policy: &'static str,
    /// λ_a of the weighting m and of the third gradient.
    pub lambda_a: f64,
    /// J_μ.
    pub objective: f64,
    /// The names of the states.
    pub states: Vec<String>,
    /// d_μ, the interest, the policy, v, q, m and m/d_μ.
    #[serde(serialize_with = "by_name")]
    pub columns: Vec<Column>,
    /// The gradients; `None` for a policy without weights.
    pub gradients: Option<Gradients>,
    /// What linear critics and emphases with the critic's features learn; `None` if there are too many features, or the action is
    /// a real number.
    pub linear_methods: Option<LinearMethods>,
}

fn by_name<S: Serializer>(columns: &[Column], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(columns.iter().map(|column| (&column.name, &column.values)))
}

/// The gradient of J_μ and the semi-gradient.
#[derive(Clone, Debug, Serialize)]
pub struct Gradients {
    /// A name for each weight.
    pub names: Vec<String>,
    /// The weights of the policy.
    pub weights: Vec<f64>,
    /// λ_a = 1: the gradient.
    pub gradient: Vec<f64>,
    /// λ_a = 0: the semi-gradient.
    pub semi_gradient: Vec<f64>,
    /// For the given λ_a, if it is neither 0 nor 1.
    pub with_lambda_a: Option<Vec<f64>>,
    /// The angle between the gradient and the semi-gradient, in degrees; `None` if one of them is zero.
    pub angle: Option<f64>,
    /// The angle between the gradient and the one for the given λ_a.
    pub angle_with_lambda_a: Option<f64>,
}

/// Solves the problem for its target policy. Of linear critics and emphases, it describes the usual ones and those asked for.
pub fn solve(problem: &ProblemFile, lambda_a: f64, asked: &[PartOf]) -> Result<Solution, ProblemError> {
    if !(0.0..=1.0).contains(&lambda_a) {
        let right = "it must lie between 0 and 1";
        return Err(ProblemError::Number { what: "lambda_a".to_owned(), value: lambda_a, right });
    }
    with_policy!(&problem.known, &problem.target, |model, policy, weights| {
        solve_for(problem, model, policy, weights, lambda_a, asked)
    })
}

fn solve_for<P: Policy, M: Diagnosable<P>>(
    problem: &ProblemFile,
    model: &M,
    policy: &P,
    weights: &[f64],
    lambda_a: f64,
    asked: &[PartOf],
) -> Result<Solution, ProblemError> {
    let exact = Exact::new(model, policy, weights)?;
    let (d, m) = (exact.stationary(), exact.emphatic_weighting(lambda_a));
    let others = usual().into_iter().filter(|part| !asked.contains(part));
    let parts: Vec<PartOf> = asked.iter().cloned().chain(others).collect();
    let mut columns = vec![
        Column::new("stationary", "d_μ", d.to_vec()),
        Column::new("interest", "interest", model.interest().to_vec()),
    ];
    columns.extend(model.policy_columns(policy, weights));
    columns.push(Column::new("value", "v", exact.values().to_vec()));
    columns.extend(M::value_columns(&exact));
    columns.push(Column::new("emphatic_weighting", "m", m));
    columns.push(Column::new("emphatic_density", "m/d_μ", exact.emphatic_density(lambda_a)));
    Ok(Solution {
        problem: problem.name.clone(),
        policy: problem.target.kind(),
        lambda_a,
        states: problem.known.states().to_vec(),
        columns,
        objective: exact.objective(),
        gradients: (!policy.is_empty()).then(|| gradients(problem, &exact, weights, lambda_a)),
        linear_methods: M::linear_methods(&exact, &parts),
    })
}

fn gradients<P: Policy, M: Diagnosable<P>>(
    problem: &ProblemFile,
    exact: &Exact<f64, M, P>,
    weights: &[f64],
    lambda_a: f64,
) -> Gradients {
    let (gradient, semi_gradient) = (exact.gradient(1.0), exact.gradient(0.0));
    let with_lambda_a = (lambda_a != 0.0 && lambda_a != 1.0).then(|| exact.gradient(lambda_a));
    Gradients {
        names: weight_names(&problem.known, weights.len()),
        weights: weights.to_vec(),
        angle: angle(&gradient, &semi_gradient),
        angle_with_lambda_a: with_lambda_a.as_ref().and_then(|other| angle(&gradient, other)),
        gradient,
        semi_gradient,
        with_lambda_a,
    }
}

/// The angle between two vectors in degrees; `None` if one of them is zero.
pub(crate) fn angle(x: &[f64], y: &[f64]) -> Option<f64> {
    let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let (x_scale, y_scale) = (largest(x), largest(y));
    if x_scale == 0.0 || y_scale == 0.0 {
        return None;
    }
    // Half the angle from the sum and the difference of the unit vectors: accurate for small angles, too.
    let unit = |x: &[f64], scale: f64| -> Vec<f64> {
        let norm = x.iter().map(|x| (x / scale).powi(2)).sum::<f64>().sqrt();
        x.iter().map(|x| x / scale / norm).collect()
    };
    let (x, y) = (unit(x, x_scale), unit(y, y_scale));
    let length = |sign: f64| x.iter().zip(&y).map(|(x, y)| (x + sign * y).powi(2)).sum::<f64>().sqrt();
    Some(2.0 * length(-1.0).atan2(length(1.0)).to_degrees())
}

impl Solution {
    /// Tables of the states and weights with the largest entries, `most` of each at most.
    pub fn text(&self, most: usize) -> String {
        let (states, objective) = (self.states.len(), number(self.objective));
        let mut text = format!(
            "{}: {states} states, {} policy\n\nJ_μ = {objective}\n",
            name(&self.problem),
            self.policy
        );
        if self.lambda_a != 1.0 {
            let _ = writeln!(text, "λ_a = {}: m below is (1 − λ_a) d_μ i + λ_a m", self.lambda_a);
        }
        let m = self.columns.iter().find(|column| column.name == "emphatic_weighting");
        let shown = largest(m.map_or(&[], |m| &m.values), most);
        text += &heading("states", self.states.len(), shown.len(), "m");
        let header = std::iter::once("state".to_owned()).chain(self.columns.iter().map(|c| c.symbol.clone()));
        let row = |s: usize| {
            let numbers = self.columns.iter().map(move |column| number(column.values[s]));
            std::iter::once(self.states[s].clone()).chain(numbers).collect()
        };
        text += &table(header.collect(), shown.into_iter().map(row));
        match &self.gradients {
            Some(gradients) => text += &gradients.text(self.lambda_a, most),
            None => {
                text +=
                    "\nThe policy has no weights (its probabilities are given), so there is no gradient.\n"
            }
        }
        text + &self.linear_methods.as_ref().map_or(String::new(), LinearMethods::text)
    }

    /// A line for each state.
    pub fn csv(&self) -> String {
        let names = std::iter::once("state").chain(self.columns.iter().map(|column| column.name.as_str()));
        let mut text = csv::line(names.map(csv::text));
        for (s, state) in self.states.iter().enumerate() {
            let numbers = self.columns.iter().map(|column| csv::number(column.values[s]));
            text += &csv::line(std::iter::once(csv::text(state)).chain(numbers));
        }
        text
    }

    /// A line for each weight; only the header for a policy without weights.
    pub fn weights_csv(&self) -> String {
        let mut header = ["weight", "value", "gradient", "semi_gradient"].map(str::to_owned).to_vec();
        let Some(gradients) = &self.gradients else { return csv::line(header) };
        header.extend(gradients.with_lambda_a.as_ref().map(|_| format!("gradient({})", self.lambda_a)));
        let mut text = csv::line(header);
        for (k, name) in gradients.names.iter().enumerate() {
            text += &csv::line(std::iter::once(csv::text(name)).chain(gradients.of(k).map(csv::number)));
        }
        text
    }
}

impl Gradients {
    /// A weight and its slopes.
    fn of(&self, k: usize) -> impl Iterator<Item = f64> {
        let own = self.with_lambda_a.as_ref().map(|own| own[k]);
        [self.weights[k], self.gradient[k], self.semi_gradient[k]].into_iter().chain(own)
    }

    fn text(&self, lambda_a: f64, most: usize) -> String {
        let sizes: Vec<f64> = self.gradient.iter().map(|x| x.abs()).collect();
        let shown = largest(&sizes, most);
        let mut text = heading("weights", self.names.len(), shown.len(), "the gradient");
        let mut header = ["weight", "value", "gradient", "semi-gradient"].map(str::to_owned).to_vec();
        header.extend(self.with_lambda_a.as_ref().map(|_| format!("λ_a = {lambda_a}")));
        let row = |k: usize| std::iter::once(self.names[k].clone()).chain(self.of(k).map(number)).collect();
        text += &table(header, shown.into_iter().map(row));
        let degrees = |angle: Option<f64>| match angle {
            Some(angle) => format!("{angle:.2}°"),
            None => "undefined: one of them is zero".to_owned(),
        };
        let _ = write!(text, "\nangle between gradient and semi-gradient: {}\n", degrees(self.angle));
        if self.with_lambda_a.is_some() {
            let own = degrees(self.angle_with_lambda_a);
            let _ = writeln!(text, "angle between gradient and λ_a = {lambda_a}: {own}");
        }
        text
    }
}

fn heading(what: &str, all: usize, shown: usize, by: &str) -> String {
    match shown < all {
        true => format!(
            "\nThe {shown} of {all} {what} in which {by} is largest (--top N shows more, --csv and --json all):\n\n"
        ),
        false => "\n".to_owned(),
    }
}

/// The indices of the `most` largest entries, or all indices in order if there are no more.
fn largest(values: &[f64], most: usize) -> Vec<usize> {
    let mut places: Vec<usize> = (0..values.len()).collect();
    if places.len() > most {
        places.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        places.truncate(most);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles() {
        assert_eq!(angle(&[1.0, 0.0], &[0.0, 2.0]), Some(90.0));
        assert_eq!(angle(&[1e-200, 0.0], &[-3.0, 0.0]), Some(180.0));
        assert_eq!(angle(&[1.0], &[0.0]), None);
        assert!(angle(&[1e306, -1.6e308], &[5e305, -8e307]).unwrap() < 1e-5);
        let small = angle(&[1.0, 0.0], &[1.0, 1e-10]).unwrap();
        assert!((small.to_radians() / 1e-10 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_largest_come_first_and_all_keep_their_order() {
        assert_eq!(largest(&[1.0, 3.0, 2.0], 2), [1, 2]);
        assert_eq!(largest(&[1.0, 3.0, 2.0], 3), [0, 1, 2]);
    }
}
