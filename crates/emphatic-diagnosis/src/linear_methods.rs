//! What linear critics and emphases learn with the critic's features: whether their expected update is stable, where it comes to
//! rest, and how far that is from the truth.

use crate::critic_stability::update_stability;
use crate::format::{number, paragraph, table};
use emphatic::catalogue::Role;
use emphatic::theory::{EmphasisKind, ExpectedUpdate, LearnedEmphasis, LinearActionCritic, LinearCritic};
use emphatic::{Exact, Features, FinitePolicy, PartRecipe, ProblemError, Table, Task};
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
    /// Emphases. One that is not learned has no key matrix.
    pub emphases: Vec<LinearMethod>,
    /// Parts that cannot be computed, each with the reason.
    #[serde(skip)]
    pub refused: Vec<(PartOf, String)>,
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
    let mut method = LinearMethod::new(name, &update, |w| {
        rounded(exact.value_error(features, w, exact.stationary()), size)
    });
    // What is weighted by an emphasis that runs away does not come to rest either.
    if let Some(emphasis) = critic.learned_emphasis() {
        let inside = update_stability(&exact.emphasis_update(emphasis)?);
        method.stable = match inside.map(|inside| inside.stable) {
            Some(Some(false)) => Some(false),
            Some(None) => method.stable.filter(|stable| !stable),
            Some(Some(true)) | None => method.stable,
        };
    }
    Ok(method)
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

/// What a learned emphasis learns. Its error is that of what is read, mixed with interest by λ_a, beside m/d_μ.
pub fn learned_emphasis<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    learned: &LearnedEmphasis,
    lambda_a: f64,
) -> Result<LinearMethod, ProblemError> {
    let update = exact.emphasis_update(learned)?;
    let kind = EmphasisKind::Learned(learned.clone());
    Ok(LinearMethod::new(name, &update, |_| emphasis_error(exact, &kind, lambda_a)))
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// An error, or zero if it is rounding beside numbers of this size; `None` if it is not finite.
fn rounded(error: f64, size: f64) -> Option<f64> {
    error.is_finite().then_some(if error <= ROUNDING * size { 0.0 } else { error })
}

/// What these parts of the catalogue learn with these features; `None` if there are too many features.
pub(crate) fn linear_methods<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    features: &Table,
    parts: &[PartOf],
) -> Option<LinearMethods> {
    let fits = |features: &Table| (1..=MOST_WEIGHTS).contains(&features.len());
    if !parts.iter().any(|of| fits(of.features(features))) {
        return None;
    }
    let mut methods =
        LinearMethods { critics: vec![], action_critics: vec![], emphases: vec![], refused: vec![] };
    for of in parts {
        let PartOf { part, name, .. } = of;
        let features = of.features(features);
        if !fits(features) {
            let reason = format!("it has {} features, and this takes 1 to {MOST_WEIGHTS}", features.len());
            methods.refused.push((of.clone(), reason));
            continue;
        }
        let (list, method) = if of.role == Role::Emphasis {
            (&mut methods.emphases, emphasis(exact, name, part, features))
        } else if let Some(critic) = LinearCritic::of_part(part, features) {
            (&mut methods.critics, linear_critic(exact, name, &critic, features).map_err(|e| e.to_string()))
        } else {
            (&mut methods.action_critics, action_critic(exact, name, part, features))
        };
        match method {
            Ok(method) => list.push(method),
            Err(reason) => methods.refused.push((of.clone(), reason)),
        }
    }
    Some(methods)
}

const UNKNOWN: &str = "the expectation of its update is not known in closed form, or it never learns";

/// What a critic of action-values learns, or why that cannot be computed.
fn action_critic<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    part: &PartRecipe,
    features: &Table,
) -> Result<LinearMethod, String> {
    let critic = LinearActionCritic::of_part(part).ok_or(UNKNOWN)?;
    let weights = features.len() * exact.model().actions();
    if weights > MOST_WEIGHTS {
        return Err(format!("it has {weights} weights, and this takes at most {MOST_WEIGHTS}"));
    }
    linear_action_critic(exact, name, &critic, features).map_err(|error| error.to_string())
}

/// What an emphasis learns, if it does, and how far what is read is from m/d_μ; or why that cannot be computed.
fn emphasis<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    name: &str,
    part: &PartRecipe,
    features: &Table,
) -> Result<LinearMethod, String> {
    // Left out it is 1 here, whatever its default: the question is what F_t tends to.
    let lambda_a = part.numbers.get("lambda_a").copied().unwrap_or(1.0);
    match EmphasisKind::of_part(part, features).ok_or(UNKNOWN)? {
        EmphasisKind::Learned(learned) => {
            learned_emphasis(exact, name, &learned, lambda_a).map_err(|error| error.to_string())
        }
        traced => Ok(LinearMethod {
            name: name.to_owned(),
            stable: None,
            smallest_real_part: None,
            error: emphasis_error(exact, &traced, lambda_a),
            fixed_point: None,
            key_matrix: Vec::new(),
            key_vector: Vec::new(),
        }),
    }
}

/// The root of the mean square of the difference between what an emphasis with this λ_a tends to and m/d_μ.
fn emphasis_error<P: FinitePolicy>(
    exact: &Exact<f64, Task, P>,
    kind: &EmphasisKind,
    lambda_a: f64,
) -> Option<f64> {
    let read = exact.emphasis_weighting(kind, lambda_a).ok()?;
    let (d, m) = (exact.stationary(), exact.emphatic_weighting(1.0));
    let visited = || (0..d.len()).filter(|&s| d[s] > 0.0);
    let square: f64 = visited().map(|s| (read[s] - m[s]).powi(2) / d[s]).sum();
    rounded(square.sqrt(), largest(visited().map(|s| m[s] / d[s])))
}

const FOOTNOTE: &str = "Stable: all eigenvalues of the matrix of the expected update, in the span of the features, have positive real parts, and so have those of an emphasis inside. Second weights learn as fast as the first, unless both step-sizes are given. Errors are root mean squares, weighted by d_μ; `normalised` and `periodic` estimate m/d_μ up to a factor. The bias of an emphasis is that of its mean, about which it varies: `emphatic diagnose` shows by how much, and `emphasis_error` of an experiment has both.";

/// A part of the catalogue in a role.
#[derive(Clone, Debug, PartialEq)]
pub struct PartOf {
    /// A critic or an emphasis.
    pub role: Role,
    /// The part. It sees the critic's features of the problem, unless it has its own.
    pub part: PartRecipe,
    /// What it is called.
    pub name: String,
}

impl PartOf {
    /// A part that is called by its kind and its settings.
    pub fn new(role: Role, part: PartRecipe) -> Self {
        Self { role, name: part.to_string(), part }
    }

    /// The features that it sees, if not these.
    fn features<'a>(&'a self, default: &'a Table) -> &'a Table {
        if let Some(Features::Table(own)) = &self.part.features { own } else { default }
    }
}

/// The usual parts.
pub(crate) fn usual() -> Vec<PartOf> {
    let part = |kind: &str| PartRecipe::new(kind);
    let td = |kind: &str| [part(kind), part(kind).with("lambda", 0.9)];
    let inside = |emphasis: PartRecipe| part("etd").with_inner("emphasis", emphasis);
    let critics = [
        td("td").to_vec(),
        td("gtd").to_vec(),
        vec![part("gtd2")],
        td("tdrc").to_vec(),
        vec![part("htd"), part("v-trace").with("lambda", 0.9)],
        vec![part("tree-backup").with("lambda", 0.9), part("abtd").with("zeta", 0.5)],
        td("etd").to_vec(),
        vec![inside(part("truncated").with("n", 4.0)), inside(part("decayed").with("beta", 0.5))],
        vec![part("gq"), part("expected-tdrc"), part("retrace").with("lambda_q", 0.9)],
    ]
    .concat();
    let emphases = [
        vec![part("none"), part("follow-on"), part("normalised"), part("truncated").with("n", 4.0)],
        vec![part("periodic").with("period", 4.0), part("n-step").with("n", 2.0)],
        vec![part("decayed").with("beta", 0.5), part("clipped"), part("lambda-return")],
        vec![
            part("direct").with("lambda_e", 0.0).with("read", 0.0),
            part("tderc"),
            part("gem"),
            part("model"),
        ],
    ]
    .concat();
    let of = |role: Role| move |part: PartRecipe| PartOf::new(role, part);
    critics.into_iter().map(of(Role::Critic)).chain(emphases.into_iter().map(of(Role::Emphasis))).collect()
}

impl LinearMethods {
    /// A table of each kind.
    pub(crate) fn text(&self) -> String {
        let kinds = [
            ("Linear critics with the critic's features", "error in the limit", &self.critics),
            ("Of action-values", "error in the limit", &self.action_critics),
            ("Emphases", "bias in the limit", &self.emphases),
        ];
        let row = |method: &LinearMethod| {
            let stable = match method.stable {
                Some(true) => "stable",
                Some(false) => "not stable",
                None if method.key_matrix.is_empty() => "not learned",
                None if method.smallest_real_part.is_none() => "solved for",
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
        for (what, limit, methods) in kinds.into_iter().filter(|(.., methods)| !methods.is_empty()) {
            let header = [what, "", "smallest real part", limit].map(str::to_owned);
            text += "\n";
            text += &table(header.to_vec(), methods.iter().map(row));
        }
        text + "\n" + &paragraph("  ", "  ", FOOTNOTE)
    }
}
