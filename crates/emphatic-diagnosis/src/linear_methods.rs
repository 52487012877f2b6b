//! What linear critics and emphases learn with the critic's features: whether their expected update is stable, where it comes to
//! rest, and how far that is from the truth.

use crate::critic_stability::update_stability;
use crate::format::{number, paragraph, table};
use emphatic::theory::{
    EmphasisKind, EmphasisRead, ExpectedUpdate, LearnedEmphasis, LearningRule, LinearActionCritic,
    LinearCritic,
};
use emphatic::{Exact, FinitePolicy, ProblemError, Table, Task};
use serde::Serialize;

/// The most weights of a critic or an emphasis for which everything is computed: the time grows with the cube.
const MOST_WEIGHTS: usize = 100;

/// An error below this beside the largest value is rounding.
const ROUNDING: f64 = 1e-11;

/// What linear critics and emphases learn.
#[derive(Clone, Debug, Serialize)]
pub struct LinearMethods {
    /// Critics of state values.
    pub critics: Vec<LinearMethod>,
    /// Critics of action-values, with features of their own for each action; empty if these are too many.
    pub action_critics: Vec<LinearMethod>,
    /// Learned emphases.
    pub emphases: Vec<LinearMethod>,
}

/// What a linear method learns.
#[derive(Clone, Debug, Serialize)]
pub struct LinearMethod {
    /// Its name.
    pub name: String,
    /// Whether its expected update is stable; `None` if that was not decided.
    pub stable: Option<bool>,
    /// The smallest real part of an eigenvalue of the matrix that decides it.
    pub smallest_real_part: Option<f64>,
    /// The root of the mean square of the error in its fixed point, weighted by d_μ; `None` if there is no fixed point.
    pub error: Option<f64>,
    /// Its fixed point.
    pub fixed_point: Option<Vec<f64>>,
    /// Its key matrix A, row by row.
    pub key_matrix: Vec<Vec<f64>>,
    /// b: its expected update is in proportion to b − A w.
    pub key_vector: Vec<f64>,
}

impl LinearMethod {
    /// Describes an expected update, given the error of its fixed point.
    fn new(name: &str, update: &ExpectedUpdate, error: impl Fn(&[f64]) -> Option<f64>) -> Self {
        let stability = update_stability(update);
        let fixed_point = update.fixed_point();
        Self {
            name: name.to_owned(),
            stable: stability.as_ref().and_then(|stability| stability.stable),
            smallest_real_part: stability.and_then(|stability| stability.eigenvalues.first().map(|z| z.0)),
            error: fixed_point.as_deref().and_then(error),
            fixed_point,
            key_matrix: update.key_matrix().to_vec(),
            key_vector: update.key_vector().to_vec(),
        }
    }
}

/// What a critic of state values with these features learns.
pub fn linear_critic<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    critic: &LinearCritic,
    features: &Table,
) -> Result<LinearMethod, ProblemError> {
    let update = exact.critic_update(critic, features)?;
    let size = largest(exact.values().iter().copied());
    Ok(LinearMethod::new(name, &update, |w| {
        rounded(exact.value_error(features, w, exact.stationary()), size)
    }))
}

/// What a critic of action-values with these features learns.
pub fn linear_action_critic<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    critic: &LinearActionCritic,
    features: &Table,
) -> Result<LinearMethod, ProblemError> {
    let update = exact.action_critic_update(critic, features)?;
    let size = largest(exact.action_values().into_iter().flatten());
    Ok(LinearMethod::new(name, &update, |w| {
        rounded(exact.action_value_error(features, w, exact.stationary()), size)
    }))
}

/// What a learned emphasis learns. Its error is that of what is read, beside m/d_μ.
pub fn learned_emphasis<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    learned: &LearnedEmphasis,
) -> Result<LinearMethod, ProblemError> {
    let update = exact.emphasis_update(learned)?;
    let error = || {
        let read = exact.emphasis_weighting(&EmphasisKind::Learned(learned.clone()), 1.0).ok()?;
        let (d, m) = (exact.stationary(), exact.emphatic_weighting(1.0));
        let visited = || (0..d.len()).filter(|&s| d[s] > 0.0);
        let square: f64 = visited().map(|s| (read[s] - m[s]).powi(2) / d[s]).sum();
        rounded(square.sqrt(), largest(visited().map(|s| m[s] / d[s])))
    };
    Ok(LinearMethod::new(name, &update, |_| error()))
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// An error, or zero if it is rounding beside numbers of this size; `None` if it is not finite.
fn rounded(error: f64, size: f64) -> Option<f64> {
    error.is_finite().then_some(if error <= ROUNDING * size { 0.0 } else { error })
}

/// What the usual methods learn with these features; `None` if they are too many. A method whose expectation does not exist is left
/// out.
pub(crate) fn linear_methods<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    features: &Table,
) -> Option<LinearMethods> {
    let weights = features.len();
    if weights == 0 || weights > MOST_WEIGHTS {
        return None;
    }
    let critics = critics(exact).into_iter();
    let actions = action_critics().into_iter().filter(|_| weights * exact.model().actions() <= MOST_WEIGHTS);
    let emphases = emphases(features).into_iter();
    Some(LinearMethods {
        critics: critics.filter_map(|(name, of)| linear_critic(exact, name, &of, features).ok()).collect(),
        action_critics: actions
            .filter_map(|(name, of)| linear_action_critic(exact, name, &of, features).ok())
            .collect(),
        emphases: emphases.filter_map(|(name, of)| learned_emphasis(exact, name, &of).ok()).collect(),
    })
}

const FOOTNOTE: &str = "Stable if all eigenvalues of the matrix of the expected update have positive real parts (with second weights of the same step-size). Errors are root mean squares, weighted by d_μ.";

/// η of all rules with second weights.
const ETA: f64 = 1.0;

fn critics<P: FinitePolicy>(exact: &Exact<f64, Task, P>) -> Vec<(&'static str, LinearCritic)> {
    let gradient = |lambda: f64, rule| LinearCritic::Td { lambda, rule };
    vec![
        ("TD(0)", LinearCritic::td(0.0)),
        ("TD(0.9)", LinearCritic::td(0.9)),
        ("GTD(0)", gradient(0.0, LearningRule::Gtd { eta: ETA })),
        ("GTD(0.9)", gradient(0.9, LearningRule::Gtd { eta: ETA })),
        ("GTD2(0)", gradient(0.0, LearningRule::Gtd2 { eta: ETA })),
        ("TDRC(0)", gradient(0.0, LearningRule::Tdrc { eta: ETA, beta: 1.0 })),
        ("HTD(0)", LinearCritic::Hybrid { lambda: 0.0, eta: ETA }),
        ("V-trace(0.9)", LinearCritic::VTrace { lambda: 0.9, rho_max: 1.0, c_max: 1.0 }),
        ("tree backup(0.9)", LinearCritic::TreeBackup { lambda: 0.9 }),
        ("ABTD(0.5)", LinearCritic::abtd(0.5, exact.abtd_range())),
        ("ETD(0)", LinearCritic::etd(0.0)),
        ("ETD(0.9)", LinearCritic::etd(0.9)),
    ]
}

fn action_critics() -> Vec<(&'static str, LinearActionCritic)> {
    let expected = |rule| LinearActionCritic::Expected { lambda: 0.0, rule };
    vec![
        ("expected TD(0)", expected(LearningRule::SemiGradient)),
        ("GQ(0)", expected(LearningRule::Gtd { eta: ETA })),
        ("Retrace(0.9)", LinearActionCritic::Retrace { lambda: 0.9 }),
    ]
}

fn emphases(features: &Table) -> Vec<(&'static str, LearnedEmphasis)> {
    let learned =
        |lambda_e: f64, rule, read| LearnedEmphasis { features: features.clone(), lambda_e, rule, read };
    let (direct, tderc) = (LearningRule::SemiGradient, LearningRule::Tdrc { eta: ETA, beta: 1.0 });
    let (estimate, look_back) = (EmphasisRead::Estimate, EmphasisRead::Return);
    vec![
        ("direct(0), û", learned(0.0, direct, estimate)),
        ("direct(0.5), û", learned(0.5, direct, estimate)),
        ("direct(0.5), F^λ", learned(0.5, direct, look_back)),
        ("GEM, û", learned(0.0, LearningRule::Gtd2 { eta: ETA }, estimate)),
        ("TDERC(0), F^λ", learned(0.0, tderc, look_back)),
    ]
}

impl LinearMethods {
    /// A table of each kind.
    pub(crate) fn text(&self) -> String {
        let kinds = [
            ("Linear critics with the critic's features", &self.critics),
            ("Of action-values", &self.action_critics),
            ("Learned emphases", &self.emphases),
        ];
        let row = |method: &LinearMethod| {
            let stable = match method.stable {
                Some(true) => "stable",
                Some(false) => "not stable",
                None => "not decided",
            };
            let shown = |x: Option<f64>| x.map_or("–".to_owned(), number);
            vec![
                method.name.clone(),
                stable.to_owned(),
                shown(method.smallest_real_part),
                shown(method.error),
            ]
        };
        let mut text = String::new();
        for (what, methods) in kinds.into_iter().filter(|(_, methods)| !methods.is_empty()) {
            let header = [what, "", "smallest real part", "error of its fixed point"].map(str::to_owned);
            text += "\n";
            text += &table(header.to_vec(), methods.iter().map(row));
        }
        text + "\n" + &paragraph("  ", "  ", FOOTNOTE)
    }
}
