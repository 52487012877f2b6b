//! A setting to start with, and why.

use crate::diagnosable::{Diagnosable, Solved};
use crate::diagnose::Diagnosis;
use crate::emphasis::Emphasis;
use crate::flows::{Flows, Reached};
use crate::format::number;
use crate::linear_methods::{LinearMethod, LinearMethods, PartOf};
use emphatic::catalogue::{Algorithm, Role};
use emphatic::{Exact, KnownProblem, PartRecipe, Policy, Table};
use emphatic_problems::{ProblemFile, Target};
use serde::{Serialize, Serializer};

/// The number of step-sizes to try.
const STEP_SIZES: usize = 6;

/// With the largest step-size a typical update moves the weights by this much.
pub(crate) const LARGEST_MOVE: f64 = 0.1;

/// A standard deviation of the trace above this many times its mean is a reason for a smaller λ_a.
const LARGE_SPREAD: f64 = 1.0;

/// An estimate that takes more steps than this is out of reach.
const TOO_MANY_STEPS: f64 = 1e7;

/// The bounds on the length of a run.
const SHORTEST_RUN: f64 = 1000.0;
const LONGEST_RUN: f64 = 2e6;

/// While a critic learns, the actor waits for this share of a run: off-policy that costs nothing but its length.
const WARM_UP: f64 = 0.3;

/// λ of the critics to try.
const LAMBDAS: [f64; 2] = [0.0, 0.9];

/// An error of a learned emphasis, in its limit, that is larger than this beside that of no emphasis at all is said.
const SMALL_ERROR: f64 = 0.2;

/// If the values that the critic's features lead to are off by more than this beside the values themselves, another critic is suggested.
const TOO_WRONG: f64 = 0.1;

/// The number of points on the gradient's path at which the size of an update is computed.
const PATH_POINTS: usize = 8;

/// A setting to start with.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// The algorithm.
    #[serde(serialize_with = "name")]
    pub algorithm: Algorithm,
    /// The emphasis, for ACE.
    pub emphasis: Option<EmphasisSuggestion>,
    /// λ_a, for ACE.
    pub lambda_a: Option<f64>,
    /// The range of step-sizes.
    pub alpha: Vec<f64>,
    /// The same for the method that it is compared with: the semi-gradient, or the full gradient.
    pub comparison_alpha: Vec<f64>,
    /// The length of runs, in steps.
    pub steps: u64,
    /// The share of a run for which the actor waits while a critic learns.
    pub warm_up: Option<f64>,
    /// The critic.
    pub critic: CriticSuggestion,
    /// The reason for each choice: what, why.
    pub reasons: Vec<(&'static str, String)>,
}

fn name<S: Serializer>(algorithm: &Algorithm, serializer: S) -> Result<S::Ok, S::Error> {
    algorithm.name.serialize(serializer)
}

/// An emphasis to start with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EmphasisSuggestion {
    /// Its name in the catalogue.
    pub kind: &'static str,
    /// λ_e, of the λ-return.
    pub lambda_e: Option<f64>,
}

impl EmphasisSuggestion {
    const FOLLOW_ON: Self = Self { kind: "follow-on", lambda_e: None };
}

/// A critic to start with.
#[derive(Clone, Debug, Serialize)]
pub struct CriticSuggestion {
    /// Its kind: TDRC(λ) where it is stable, otherwise GTD(λ); or the exact one where a policy is deterministic.
    pub kind: CriticKind,
    /// Step-sizes of the values.
    pub alpha_v: Vec<f64>,
    /// Step-sizes of the second weights, for GTD(λ).
    pub alpha_w: Vec<f64>,
    /// λ of its traces.
    pub lambda: Vec<f64>,
    /// Its features, if not those that the problem names: `states`, where those cannot hold the values.
    pub features: Option<&'static str>,
}

/// A kind of critic, by its name in experiment files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CriticKind {
    /// TDRC(λ).
    Tdrc,
    /// GTD(λ).
    Gtd,
    /// Computed from the problem.
    Exact,
}

/// Suggests a setting; `None` if flows lead nowhere, or the behaviour never takes an action that the target does.
pub(crate) fn suggest<P: Policy, M: Diagnosable<P>>(
    problem: &ProblemFile,
    start: &Solved<M, P>,
    diagnosis: &Diagnosis,
) -> Option<Suggestion> {
    let nowhere = diagnosis.flows.as_ref().is_some_and(|flows| !flows.leads_somewhere());
    if nowhere || !diagnosis.uncovered.is_empty() {
        return None;
    }
    let deterministic = matches!(problem.target, Target::Deterministic(_));
    let choice = choose_algorithm(diagnosis, deterministic);
    let time = match &diagnosis.flows {
        Some(flows) if choice.is_semi_gradient() => flows.times.semi_gradient,
        Some(flows) => flows.times.gradient,
        None => guessed_time(start.exact)?,
    };
    let active = start.exact.policy().features().most_active() as f64;
    let size = update_size(start, diagnosis.flows.as_ref(), &choice);
    let step_sizes = |size: Option<f64>| match size {
        Some(size) if size > 0.0 => series(LARGEST_MOVE * active / size, STEP_SIZES),
        // The update of a deterministic policy is not sampled: the length of the path decides.
        _ => series(time / SHORTEST_RUN, STEP_SIZES),
    };
    let alpha = step_sizes(size);
    let comparison_alpha = step_sizes(update_size(start, diagnosis.flows.as_ref(), &choice.comparison()));
    // An update of an unusual size has none of its own.
    let comparison_alpha = if comparison_alpha.is_empty() { alpha.clone() } else { comparison_alpha };
    // There are no step-sizes if the policy is so certain that nothing moves.
    let (middle, last) = (*alpha.get(alpha.len() / 2)?, *alpha.last()?);
    // A learned critic takes longer than an exact one.
    let times = if deterministic { 2.0 } else { 5.0 };
    let methods = start_methods(start, choice.emphasis);
    let features = critic_features(diagnosis).filter(|_| !deterministic);
    let kind = match features {
        Some(_) => CriticKind::Tdrc, // With a feature for each state it is stable.
        None => critic_kind(methods.as_ref(), deterministic),
    };
    let warm_up = (kind != CriticKind::Exact).then_some(WARM_UP);
    let learning = 1.0 - warm_up.unwrap_or(0.0);
    let steps = (times * time / middle / learning).clamp(SHORTEST_RUN, LONGEST_RUN) * 2.0;
    let steps = *series(steps, 1).first()? as u64;
    let mut reasons = vec![
        ("algorithm", choice.reason.clone() + &emphasis_caveat(methods.as_ref(), choice.emphasis, diagnosis)),
        ("step-sizes", step_size_reason(size, last, active, deterministic)),
        ("length", length_reason(diagnosis, &choice, time, steps as f64 * learning, middle)),
        ("critic", critic_reason(diagnosis, kind, features)),
    ];
    reasons.extend(warm_up.map(|_| {
        let why = "the policy follows values that are learned first; off-policy, the experience is the same whether or not it waits";
        ("warm-up", why.to_owned())
    }));
    let Choice { algorithm, emphasis, lambda_a, .. } = choice;
    let critic = critic(&problem.known, kind, features);
    Some(Suggestion {
        algorithm,
        emphasis,
        lambda_a,
        alpha,
        comparison_alpha,
        steps,
        warm_up,
        critic,
        reasons,
    })
}

/// An algorithm, its emphasis with λ_a, and why.
struct Choice {
    algorithm: Algorithm,
    emphasis: Option<EmphasisSuggestion>,
    lambda_a: Option<f64>,
    reason: String,
}

impl Choice {
    fn is_semi_gradient(&self) -> bool {
        matches!(self.algorithm, Algorithm::OFFPAC | Algorithm::DPG)
    }

    /// What it is compared with: its updates are as large as those of the semi-gradient, or of the exact emphasis.
    fn comparison(&self) -> Self {
        let algorithm = match self.algorithm {
            Algorithm::OFFPAC => Algorithm::TRUE_ACE,
            Algorithm::DPG => Algorithm::TRUE_DPGE,
            Algorithm::TRUE_DPGE => Algorithm::DPG,
            _ => Algorithm::OFFPAC,
        };
        Self { algorithm, emphasis: None, lambda_a: None, reason: String::new() }
    }
}

fn choose_algorithm(diagnosis: &Diagnosis, deterministic: bool) -> Choice {
    let safe = diagnosis.flows.as_ref().map(Flows::semi_gradient_is_safe);
    let plain = |algorithm, reason: &str| Choice {
        algorithm,
        emphasis: None,
        lambda_a: None,
        reason: reason.to_owned(),
    };
    match (safe, deterministic) {
        (Some(true), true) => {
            plain(Algorithm::DPG, "the semi-gradient ends as well as the gradient from every start tried")
        }
        (_, true) => plain(
            Algorithm::TRUE_DPGE,
            "the semi-gradient ends below the gradient; a deterministic policy has no ratio, so the emphasis is computed from the problem",
        ),
        (Some(true), false) => plain(
            Algorithm::OFFPAC,
            "the semi-gradient ends as well as the gradient from every start tried, and without emphasis the updates vary least",
        ),
        (_, false) => match trace_trouble(diagnosis) {
            Some(trouble) => choose_lambda_e(diagnosis, &trouble).unwrap_or_else(|| {
                plain(Algorithm::TRUE_ACE, &format!("{trouble}. The ratio has no finite variance, so no estimate from experience has: the emphasis is computed from the problem"))
            }),
            None => {
                let (lambda_a, reason) = choose_lambda_a(diagnosis);
                let emphasis = Some(EmphasisSuggestion::FOLLOW_ON);
                Choice { algorithm: Algorithm::ACE, emphasis, lambda_a: Some(lambda_a), reason }
            }
        },
    }
}

/// The λ-return of a learned emphasis in place of the trace, with a λ_e for which its variance is finite; `None` if there is none.
fn choose_lambda_e(diagnosis: &Diagnosis, trouble: &str) -> Option<Choice> {
    let both = || [&diagnosis.emphasis, &diagnosis.emphasis_at_end].into_iter().flatten();
    let returns: Vec<_> = both().map(|e| e.lambda_return.as_ref()).collect::<Option<_>>()?;
    let smallest = |numbers: &mut dyn Iterator<Item = f64>| numbers.fold(f64::INFINITY, f64::min);
    let lambda_e = smallest(&mut returns.iter().map(|chosen| chosen.lambda_e));
    let largest = smallest(&mut returns.iter().map(|chosen| chosen.largest_lambda_e));
    let spread = both().filter_map(Emphasis::relative_spread_of_lambda_return).fold(0.0, f64::max);
    let reason = format!(
        "{trouble}. The λ-return of a learned emphasis has finite variance for every λ_e below {}: with λ_e = {lambda_e} its standard deviation is up to {} times its mean",
        number(largest),
        number(spread)
    );
    let emphasis = Some(EmphasisSuggestion { kind: "lambda-return", lambda_e: Some(lambda_e) });
    Some(Choice { algorithm: Algorithm::ACE, emphasis, lambda_a: Some(1.0), reason })
}

/// λ_a and why: as large as the trace's spread allows, and at least the smallest that ends as well as the gradient.
fn choose_lambda_a(diagnosis: &Diagnosis) -> (f64, String) {
    let Some(flows) = &diagnosis.flows else {
        let why = "the flows were not followed; the full gradient is the safe choice, and the follow-on trace can be estimated";
        return (1.0, why.to_owned());
    };
    let spreads = [&diagnosis.emphasis, &diagnosis.emphasis_at_end].into_iter().flatten();
    let spread = spreads.map(|e| e.relative_spread().unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
    let can_be_estimated =
        "the semi-gradient ends below the gradient, and the follow-on trace can be estimated;";
    if spread <= LARGE_SPREAD {
        let why = "it varies little about its mean, so that full emphasis, λ_a = 1, costs little";
        return (1.0, format!("{can_be_estimated} {why}"));
    }
    let as_good = |reached: &&Reached| {
        let count = |reached: &Reached| reached.from_random.iter().filter(|x| flows.reaches(**x)).count();
        let least = flows.smallest_lambda_a.unwrap_or(1.0);
        reached.lambda_a >= (least + 0.1).min(1.0) && count(reached) >= count(flows.gradient())
    };
    let lambda_a = flows.reached.iter().find(as_good).map_or(1.0, |reached| reached.lambda_a);
    let why = format!(
        "{can_be_estimated} its standard deviation is up to {} times its mean, and λ_a = {lambda_a} is the smallest that was followed and reaches the best objective from as many starts as the gradient",
        number(spread)
    );
    (lambda_a, why)
}

/// Why the follow-on trace does not estimate the emphasis well here; `None` if it does.
fn trace_trouble(diagnosis: &Diagnosis) -> Option<String> {
    let trouble = |emphasis: &Emphasis, when: &str| match emphasis.steps {
        _ if !emphasis.finite => Some(format!(
            "the follow-on trace has infinite variance {when}, and a λ_a below 1 makes it smaller, but not its variance finite"
        )),
        Some(steps) if steps > TOO_MANY_STEPS => {
            Some(format!("an estimate of m to 10 % takes {} steps {when}", number(steps)))
        }
        _ => None,
    };
    let given = diagnosis.emphasis.as_ref().and_then(|e| trouble(e, &format!("for {}", diagnosis.given)));
    let end = || {
        diagnosis
            .emphasis_at_end
            .as_ref()
            .and_then(|e| trouble(e, "for the policy that the gradient leads to"))
    };
    given.or_else(end)
}

/// The root mean square of an update: the largest at the start and at a few points on the gradient's path.
fn update_size<P: Policy, M: Diagnosable<P>>(
    start: &Solved<M, P>,
    flows: Option<&Flows>,
    choice: &Choice,
) -> Option<f64> {
    let (model, policy) = (start.exact.model(), start.exact.policy());
    let path: Vec<_> = flows.map_or(Vec::new(), |flows| {
        flows.paths.gradient.iter().filter(|point| point.time <= flows.times.gradient).collect()
    });
    let points = (1..=PATH_POINTS).filter_map(|k| path.get(k * path.len() / (PATH_POINTS + 1)));
    let on_path = points.map(|point| {
        let exact = Exact::new(model, policy, &point.weights).ok()?;
        root_mean_square(&Solved::new(&exact), choice)
    });
    // Points at which the trace has no second moment are left out.
    std::iter::once(root_mean_square(start, choice))
        .chain(on_path)
        .flatten()
        .filter(|size| size.is_finite())
        .fold(None, |most: Option<f64>, size| Some(most.map_or(size, |m| m.max(size))))
}

/// The root mean square of an update of one policy; `None` if the mean is infinite.
fn root_mean_square<P: Policy, M: Diagnosable<P>>(solved: &Solved<M, P>, choice: &Choice) -> Option<f64> {
    let exact = solved.exact;
    let (d, i, m) = (exact.stationary(), exact.model().interest(), exact.emphatic_weighting(1.0));
    let second = match choice.emphasis {
        Some(EmphasisSuggestion { lambda_e: Some(lambda_e), .. }) => {
            let deviations = solved.moments().lambda_return_deviations(lambda_e)?;
            let of = |(s, x): (usize, f64)| if d[s] > 0.0 { d[s] * x * x + m[s] * m[s] / d[s] } else { 0.0 };
            deviations.into_iter().enumerate().map(of).collect()
        }
        Some(_) => Some(solved.moments()).filter(|moments| moments.is_finite())?.second_moment()?,
        None => Vec::new(),
    };
    // d_μ E[M²] in each state.
    let square = |s: usize| match (choice.algorithm, choice.lambda_a) {
        (Algorithm::ACE, Some(l)) => {
            (1.0 - l) * (1.0 - l) * i[s] * i[s] * d[s] + 2.0 * l * (1.0 - l) * i[s] * m[s] + l * l * second[s]
        }
        (Algorithm::TRUE_ACE, _) => m[s] * m[s] / d[s],
        _ => i[s] * i[s] * d[s],
    };
    let of = |s: usize| Some(square(s) * M::update_square(exact, s)?);
    (0..d.len()).filter(|&s| d[s] > 0.0).map(of).sum::<Option<f64>>().map(f64::sqrt)
}

/// A guess at how long the gradient takes, from its size alone: until the steepest weight has moved by 5.
fn guessed_time<P: Policy, M: Diagnosable<P>>(exact: &Exact<f64, M, P>) -> Option<f64> {
    let largest = exact.gradient(1.0).iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    (largest > 0.0).then(|| 5.0 / largest * exact.policy().features().most_active() as f64)
}

fn tdrc(lambda: f64) -> PartRecipe {
    PartRecipe::new("tdrc").with("lambda", lambda)
}

fn emphasis_part(EmphasisSuggestion { kind, lambda_e }: EmphasisSuggestion) -> PartRecipe {
    lambda_e.into_iter().fold(PartRecipe::new(kind), |part, lambda_e| part.with("lambda_e", lambda_e))
}

/// What the suggested parts learn for the policy that learning starts from; `None` if that is not known.
fn start_methods<P: Policy, M: Diagnosable<P>>(
    start: &Solved<M, P>,
    emphasis: Option<EmphasisSuggestion>,
) -> Option<LinearMethods> {
    let mut parts = LAMBDAS.map(|lambda| PartOf::new(Role::Critic, tdrc(lambda))).to_vec();
    let none = emphasis.map(|_| PartRecipe::new("none"));
    let emphases = emphasis.map(emphasis_part).into_iter().chain(none);
    parts.extend(emphases.map(|part| PartOf::new(Role::Emphasis, part)));
    M::linear_methods(start.exact, &parts)
}

fn named<'a>(methods: &'a [LinearMethod], part: &PartRecipe) -> Option<&'a LinearMethod> {
    let name = part.to_string();
    methods.iter().find(|method| method.name == name)
}

/// TDRC(λ), which has no second step-size to choose, unless it is not stable for the policy that learning starts from.
fn critic_kind(methods: Option<&LinearMethods>, deterministic: bool) -> CriticKind {
    if deterministic {
        return CriticKind::Exact;
    }
    let is_stable = |lambda: f64| {
        methods.and_then(|methods| named(&methods.critics, &tdrc(lambda))?.stable) == Some(true)
    };
    if LAMBDAS.into_iter().all(is_stable) { CriticKind::Tdrc } else { CriticKind::Gtd }
}

/// What the features of the suggested emphasis keep it from, as a further sentence; empty if that is little, or not known.
fn emphasis_caveat(
    methods: Option<&LinearMethods>,
    emphasis: Option<EmphasisSuggestion>,
    diagnosis: &Diagnosis,
) -> String {
    let caveat = || {
        let emphases = &methods?.emphases;
        let learned = named(emphases, &emphasis_part(emphasis.filter(|e| e.lambda_e.is_some())?))?;
        let none = named(emphases, &PartRecipe::new("none"))?.error?;
        let start = diagnosis.start;
        match (learned.stable, learned.error) {
            (Some(false), _) => Some(format!(
                ". With the critic's features its expected update is not stable for {start}: give it other features, or rely on its guard"
            )),
            (_, Some(error)) if error > SMALL_ERROR * none => Some(format!(
                ". With the critic's features it comes to rest {} from m/d_μ (root mean square, for {start}), where no emphasis at all is {} from it: finer features would help",
                number(error),
                number(none)
            )),
            _ => None,
        }
    };
    caveat().unwrap_or_default()
}

/// The states themselves, if the critic's features cannot hold the values.
fn critic_features(diagnosis: &Diagnosis) -> Option<&'static str> {
    let (limit, _) = diagnosis.wrong_values()?;
    (limit.error > TOO_WRONG * limit.size).then_some("states")
}

fn critic(known: &KnownProblem, kind: CriticKind, features: Option<&'static str>) -> CriticSuggestion {
    if kind == CriticKind::Exact {
        let [alpha_v, alpha_w, lambda] = [const { Vec::new() }; 3];
        return CriticSuggestion { kind, alpha_v, alpha_w, lambda, features };
    }
    let scale = if features.is_some() { 1.0 } else { step_size_scale(&known.critic()) };
    let scaled = |alpha: f64| series(alpha * scale, 1).first().copied().unwrap_or(alpha);
    CriticSuggestion {
        kind,
        alpha_v: [0.02, 0.1, 0.5].map(scaled).to_vec(),
        alpha_w: if kind == CriticKind::Gtd { [0.1, 0.5].map(scaled).to_vec() } else { Vec::new() },
        lambda: LAMBDAS.to_vec(),
        features,
    }
}

/// By how much a step-size may be larger than with one feature that is one.
fn step_size_scale(features: &Table) -> f64 {
    let norm = |s: usize| features.active(s).map(|(_, x)| x * x).sum::<f64>();
    let largest = (0..features.states()).map(norm).fold(1e-300, f64::max);
    features.most_active() as f64 / largest
}

fn step_size_reason(size: Option<f64>, largest: f64, active: f64, deterministic: bool) -> String {
    match size {
        Some(size) => format!(
            "the root mean square of an update is {} on the way: with the largest step-size a typical update moves the weights by {}",
            number(size),
            number(largest * size / active)
        ),
        None if deterministic => {
            "an update is not drawn with a ratio: the largest step-size covers the way in a thousand steps"
                .to_owned()
        }
        None => "how large updates are is not known, since the policy takes actions that the behaviour never does, or large ratios are too common: the largest step-size covers the way in a thousand steps".to_owned(),
    }
}

/// Why runs are that long, of which the actor learns for so many steps.
fn length_reason(diagnosis: &Diagnosis, choice: &Choice, time: f64, steps: f64, middle: f64) -> String {
    let flow = if choice.is_semi_gradient() { "semi-gradient" } else { "gradient" };
    match &diagnosis.flows {
        Some(_) => format!(
            "the flow of the {flow} covers 95 % of its way when α · steps = {}: in {steps} steps the actor covers it {:.1} times with a step-size of {}",
            number(time),
            steps * middle / time,
            number(middle)
        ),
        None => "a first guess from the size of the gradient: the flows were not followed".to_owned(),
    }
}

fn critic_reason(diagnosis: &Diagnosis, kind: CriticKind, features: Option<&str>) -> String {
    if let (Some(_), Some((limit, policy))) = (features, diagnosis.wrong_values()) {
        return format!(
            "the problem's features of the critic cannot hold the values (for {policy} they are off by {}, where the values are {}), so it sees the states themselves; TDRC(λ) is stable then, and has no second step-size to choose",
            number(limit.error),
            number(limit.size)
        );
    }
    let start = diagnosis.start;
    let td = match diagnosis.critics.td.stable.filter(|_| diagnosis.given == start) {
        Some(true) => "; TD(0) would be, too",
        Some(false) => "; TD(0) is not",
        None => "",
    };
    match kind {
        CriticKind::Exact => "the slope of the action-values is computed from the problem".to_owned(),
        CriticKind::Tdrc => {
            format!(
                "TDRC(λ) is stable for {start} with these features, and has no second step-size to choose{td}"
            )
        }
        CriticKind::Gtd => format!(
            "GTD(λ) is stable off-policy whatever the features, if its second weights learn fast enough{td}"
        ),
    }
}

/// The `count` largest of the numbers 1, 2, 5, 10, 20 … up to `largest`, ascending; empty if that is not a positive number.
pub(crate) fn series(largest: f64, count: usize) -> Vec<f64> {
    if !largest.is_normal() || largest < 0.0 {
        return Vec::new();
    }
    let exponent = largest.log10().floor() as i32;
    let all = (exponent - count as i32..=exponent).flat_map(|e| [1, 2, 5].map(|m| (m, e)));
    // By way of text, so that 0.1 is the nearest number to 0.1.
    let number = |(m, e): (i32, i32)| format!("{m}e{e}").parse::<f64>().unwrap_or(f64::NAN);
    let fitting: Vec<f64> = all.map(number).filter(|x| *x <= largest * (1.0 + 1e-9)).collect();
    fitting[fitting.len().saturating_sub(count)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic::{ExactCritic, Learner, Task, follow_on_ace};
    use std::sync::Arc;

    /// The mean square of the updates that a learner makes whose step-size is too small to change anything.
    fn sampled(task: &Arc<Task>, weights: &[f64], lambda_a: f64) -> f64 {
        const ALPHA: f64 = 1e-9;
        let policy = task.softmax();
        let critic = ExactCritic::new(task.clone(), &policy).unwrap();
        let learner = follow_on_ace(policy, critic).lambda_a(lambda_a).alpha(ALPHA).build().unwrap();
        let mut learner = learner.with_weights(weights.to_vec()).unwrap();
        let steps = 400_000;
        let mut sum = 0.0;
        let mut before = weights.to_vec();
        for step in task.stream(7, 0).take(steps) {
            learner.step(&step).unwrap();
            let moved = learner.weights().iter().zip(&before).map(|(new, old)| (new - old) / ALPHA);
            sum += moved.map(|x| x * x).sum::<f64>();
            before.copy_from_slice(learner.weights());
        }
        sum / steps as f64
    }

    #[test]
    fn the_size_of_an_update_is_what_a_learner_makes() {
        let task = Arc::new(Task::counterexample());
        let weights = [0.3, 0.0, -0.5, 0.0];
        let policy = task.softmax();
        let exact = Exact::new(&*task, &policy, &weights).unwrap();
        for lambda_a in [0.0, 0.5, 1.0] {
            let choice = Choice {
                algorithm: Algorithm::ACE,
                emphasis: Some(EmphasisSuggestion::FOLLOW_ON),
                lambda_a: Some(lambda_a),
                reason: String::new(),
            };
            let size = update_size(&Solved::new(&exact), None, &choice).unwrap();
            let sampled = sampled(&task, &weights, lambda_a);
            assert!((size * size / sampled - 1.0).abs() < 0.02, "{lambda_a}: {} {sampled}", size * size);
        }
    }

    #[test]
    fn a_series_of_round_numbers_ends_at_the_largest() {
        assert_eq!(series(0.3, 4), [0.02, 0.05, 0.1, 0.2]);
        assert_eq!(series(1.0, 2), [0.5, 1.0]);
        assert_eq!(series(7e-9, 1), [5e-9]);
        assert!([0.0, -1.0, f64::INFINITY, f64::NAN].iter().all(|x| series(*x, 3).is_empty()));
    }
}
