//! A setting to start with, by a sample of steps, and why.

use super::activity::Activity;
use super::spread::LAMBDAS;
use super::verdict::short;
use super::{Experience, SampledPolicy};
use crate::format::number;
use crate::suggestion::{EmphasisSuggestion, LARGEST_MOVE, series};
use serde::Serialize;

/// If at least this share of the steps counts, the follow-on trace may be used as it is.
const EVEN: f64 = 0.5;

/// If at least this share of the steps counts, learning with this λ_a is worth a try.
const ENOUGH: f64 = 0.1;

/// An error of this share of the reward is none.
const ROUNDING: f64 = 1e-6;

/// The number of step-sizes to try: of the actor, and of the critic.
const STEP_SIZES: usize = 6;
const CRITIC_STEP_SIZES: usize = 3;

/// With the largest step-size of the critic, an update moves the value of a state by this share of its error.
const LARGEST_SHARE: f64 = 0.5;

/// λ_e of the emphasis λ-return, unless its variance is too large.
const LAMBDA_E: f64 = 0.5;

/// λ_e² times the growth of F² in a step is at most this.
const MOST_GROWTH: f64 = 0.5;

/// A setting to start with.
#[derive(Clone, Debug, Serialize)]
pub struct SampledSuggestion {
    /// The algorithm.
    pub algorithm: &'static str,
    /// The emphasis.
    pub emphasis: EmphasisSuggestion,
    /// λ_a of it.
    pub lambda_a: f64,
    /// The largest λ_a with which the follow-on trace lets enough steps count, for comparison.
    pub follow_on_lambda_a: f64,
    /// Step-sizes of the actor.
    pub alpha: Vec<f64>,
    /// The same for the follow-on trace with its λ_a, whose emphasis is smaller.
    pub follow_on_alpha: Vec<f64>,
    /// The same without an emphasis.
    pub semi_gradient_alpha: Vec<f64>,
    /// The critic.
    pub critic: &'static str,
    /// Step-sizes of the critic.
    pub alpha_v: Vec<f64>,
    /// The reason for each choice: what, why.
    pub reasons: Vec<(&'static str, String)>,
}

pub(super) fn suggest(
    experience: &Experience,
    activity: &Activity,
    policies: &[SampledPolicy],
) -> SampledSuggestion {
    let least = |lambda_a: f64| {
        policies.iter().map(|p| p.spread.effective_sample(lambda_a)).fold(f64::INFINITY, f64::min)
    };
    let follow_on_lambda_a = LAMBDAS.into_iter().find(|l| least(*l) >= ENOUGH).unwrap_or(0.0);
    let growth = policies.iter().map(|p| p.spread.growth.value).fold(0.0, f64::max);
    let share = |x: f64| format!("{} %", short(100.0 * x));
    let (emphasis, why) = match least(1.0) >= EVEN {
        true => {
            let why = format!("the follow-on trace is even: {} of the steps count", share(least(1.0)));
            (EmphasisSuggestion { kind: "follow-on", lambda_e: None }, why)
        }
        false => {
            let lambda_e = lambda_e(growth);
            let with_the_trace = match follow_on_lambda_a > 0.0 {
                true => format!(
                    "λ_a = {follow_on_lambda_a} is the largest of {} for which",
                    LAMBDAS.map(number).join(", ")
                ),
                false => "there is no λ_a above 0 for which".to_owned(),
            };
            let why = format!(
                "with the follow-on trace only {} of the steps would count; a learned emphasis does not add up the past, but looks back to what it has learned, with λ_e = {lambda_e}. With the trace, {with_the_trace} {} of the steps count for every policy that was asked about",
                share(least(1.0)),
                share(ENOUGH)
            );
            (EmphasisSuggestion { kind: "lambda-return", lambda_e: Some(lambda_e) }, why)
        }
    };
    let mut reasons = vec![("emphasis", why)];
    let alphas = |lambda_a| step_sizes(experience, activity, policies, lambda_a);
    let (alpha, why) = alphas(1.0);
    let (follow_on_alpha, semi_gradient_alpha) = (alphas(follow_on_lambda_a).0, alphas(0.0).0);
    reasons.push(("step-sizes", why));
    reasons.push(("critic", critic_reason(policies)));
    let norm = activity.mean_square_norm;
    let alpha_v = match norm > 0.0 {
        true => series(LARGEST_SHARE * activity.most_active as f64 / norm, CRITIC_STEP_SIZES),
        false => Vec::new(),
    };
    if let Some(largest) = alpha_v.last() {
        let move_ = largest * norm / activity.most_active as f64;
        reasons.push((
            "its step-sizes",
            format!(
                "‖x‖² is {} on average, and step-sizes are divided by {}: with {} an update moves the value of a state by {} of its error",
                short(norm), activity.most_active, number(*largest), share(move_)
            ),
        ));
    }
    let (algorithm, critic) = ("ace", "tdrc");
    SampledSuggestion {
        algorithm,
        emphasis,
        lambda_a: 1.0,
        follow_on_lambda_a,
        alpha,
        follow_on_alpha,
        semi_gradient_alpha,
        critic,
        alpha_v,
        reasons,
    }
}

/// λ_e for which the variance of the return is small beside that of one step, rounded down to two digits.
fn lambda_e(growth: f64) -> f64 {
    let largest = (MOST_GROWTH / growth).sqrt();
    if largest >= LAMBDA_E { LAMBDA_E } else { (100.0 * largest).floor() / 100.0 }
}

/// Step-sizes of the actor with this λ_a, and why.
fn step_sizes(
    experience: &Experience,
    activity: &Activity,
    policies: &[SampledPolicy],
    lambda_a: f64,
) -> (Vec<f64>, String) {
    // The first is the target, or where learning starts.
    let Some(first) = policies.first() else { return (Vec::new(), String::new()) };
    let rewards = experience.steps.iter().map(|step| step.reward * step.reward).sum::<f64>();
    let reward = (rewards / experience.steps.len() as f64).sqrt();
    let fitted = first.critics.as_ref().and_then(|critics| critics.error_size);
    let (error, of) = match fitted {
        // Where every reward is the same and nothing ends, values explain all but rounding.
        Some(size) if size <= ROUNDING * reward => (0.0, ""),
        Some(size) => (size, "ρδ, with the values in which TD(0) comes to rest, is"),
        None => (reward, "the reward is"),
    };
    let interest =
        experience.steps.iter().map(|step| step.interest).sum::<f64>() / experience.steps.len() as f64;
    let emphasis = (1.0 - lambda_a) * interest + lambda_a * first.spread.mean_follow_on.value;
    let size = error * emphasis * activity.mean_square_norm.sqrt();
    let active = activity.most_active as f64;
    let alpha = series(LARGEST_MOVE * active / size, STEP_SIZES);
    let Some(largest) = alpha.last() else {
        return (
            vec![0.001, 0.01, 0.1],
            match size.is_finite() {
                true => "these steps have no errors to measure them by: every reward is the same, and no episode ends; more steps may tell".to_owned(),
                false => "the follow-on trace leaves the finite numbers, so that there is nothing to measure them by".to_owned(),
            },
        );
    };
    let why = format!(
        "the root mean square of {of} {}, the mean of the emphasis {}: with the largest step-size a typical update moves the weights by {}",
        short(error),
        short(emphasis),
        short(largest / active * size)
    );
    (alpha, why)
}

fn critic_reason(policies: &[SampledPolicy]) -> String {
    let stable = |p: &SampledPolicy| p.critics.as_ref().map(|critics| critics.td.stable);
    let found: Vec<_> = policies.iter().filter_map(stable).collect();
    let why = match (found.is_empty(), found.iter().all(|stable| *stable == Some(true))) {
        (true, _) => "whether TD(0) is stable was not computed",
        (_, true) => "TD(0) is stable here, as far as the steps tell",
        _ if found.contains(&Some(false)) => "TD(0) is not stable here for every policy",
        _ => "the steps do not tell whether TD(0) is stable for every policy",
    };
    format!("{why}; TDRC is stable where TD(0) is and beyond, and has no second step-size to choose")
}
