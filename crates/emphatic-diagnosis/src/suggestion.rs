//! Which setting to start with, and why.

use crate::diagnose::Diagnosis;
use crate::emphasis::Emphasis;
use crate::flows::{Flows, Reached};
use crate::solve::{name, number};
use crate::subject::Subject;
use crate::words::{list, paragraph};
use emphatic::{Exact, Policy, Trace};
use emphatic_problems::{ProblemFile, Target, World, shipped};
use emphatic_text::json_escaped;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;

/// How many step-sizes are tried.
const STEP_SIZES: usize = 6;

/// A typical update may move the weights by this much with the largest step-size.
const LARGEST_MOVE: f64 = 0.5;

/// A standard deviation of the trace that is more than this many times its mean is a reason for a smaller λ_a.
const LARGE_SPREAD: f64 = 1.0;

/// An estimate that takes more steps than this is taken to be out of reach.
const TOO_MANY_STEPS: f64 = 1e7;

/// The bounds on the length of a run.
const RUN: (f64, f64) = (1000.0, 2e6);

/// A setting to start with.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// The algorithm, as in experiment files.
    pub algorithm: &'static str,
    /// λ_a, for `ace`.
    pub lambda_a: Option<f64>,
    /// The range of step-sizes.
    pub alpha: Vec<f64>,
    /// How long runs should be, in steps.
    pub steps: u64,
    /// The critic.
    pub critic: CriticSuggestion,
    /// Why each was chosen: what, why.
    pub reasons: Vec<(&'static str, String)>,
}

/// A critic to start with.
#[derive(Clone, Debug, Serialize)]
pub struct CriticSuggestion {
    /// Its kind, as in experiment files: `gtd`, or `exact` where a policy is deterministic.
    pub kind: &'static str,
    /// Step-sizes of the values.
    pub alpha_v: Vec<f64>,
    /// Step-sizes of the second weights.
    pub alpha_w: Vec<f64>,
    /// λ of its traces.
    pub lambda: Vec<f64>,
}

/// Suggests a setting; nothing if flows lead nowhere, or what the target does is not in the experience.
pub(crate) fn suggest<P: Policy, M: Subject<P>>(
    problem: &ProblemFile,
    model: &M,
    policy: &P,
    weights: &[f64],
    diagnosis: &Diagnosis,
) -> Option<Suggestion> {
    let nowhere = diagnosis.flows.as_ref().is_some_and(|flows| !flows.leads_somewhere());
    if nowhere || !diagnosis.uncovered.is_empty() {
        return None;
    }
    let deterministic = matches!(problem.target, Target::Deterministic(_));
    let (algorithm, lambda_a, why) = algorithm(diagnosis, deterministic);
    let time = match &diagnosis.flows {
        // Of the flow that it follows.
        Some(flows) => flows.times[usize::from(algorithm == "offpac" || algorithm == "dpg")],
        None => guessed_time(model, policy, weights)?,
    };
    let active = policy.features().most_active() as f64;
    let size = update_size(model, policy, weights, diagnosis, algorithm, lambda_a);
    let largest = match size {
        Some(size) if size > 0.0 => LARGEST_MOVE * active / size,
        // A deterministic policy's update is no sample: what counts is the way it has to go.
        _ => time / RUN.0,
    };
    let alpha = series(largest, STEP_SIZES);
    // There are none where a policy is as certain as can be: nothing moves.
    let middle = *alpha.get(alpha.len() / 2)?;
    // A learned critic must follow.
    let times = if deterministic { 2.0 } else { 5.0 };
    let steps = *series((times * time / middle).clamp(RUN.0, RUN.1) * 2.0, 1).first()? as u64;
    let times = steps as f64 * middle / time;
    let critic = critic(&problem.world, deterministic);
    let mut reasons = vec![("algorithm", why)];
    reasons.push(("step-sizes", match size {
        Some(size) => format!(
            "the root mean square of an update is {} on the way: with the largest step-size a typical update moves the weights by {}",
            number(size),
            number(alpha[alpha.len() - 1] * size / active)
        ),
        None => "an update is not drawn with a ratio: the largest step-size covers the way in a thousand steps".to_owned(),
    }));
    reasons.push(("length", match &diagnosis.flows {
        Some(_) => format!(
            "the flow covers 95 % of its way when α · steps = {}: a run of {steps} steps covers it {times:.1} times with a step-size of {}",
            number(time),
            number(middle)
        ),
        None => "a first guess from the size of the gradient: the flows were not followed".to_owned(),
    }));
    reasons.push(("critic", critic_reason(diagnosis, deterministic)));
    Some(Suggestion { algorithm, lambda_a, alpha, steps, critic, reasons })
}

/// The algorithm, λ_a, and why.
fn algorithm(diagnosis: &Diagnosis, deterministic: bool) -> (&'static str, Option<f64>, String) {
    let safe = diagnosis.flows.as_ref().map(Flows::semi_gradient_is_safe);
    let (lambda_a, reach) = lambda_a(diagnosis);
    match (safe, deterministic) {
        (Some(true), true) => ("dpg", None, "the semi-gradient ends as well as the gradient from every start tried".to_owned()),
        (_, true) => ("true-dpge", None, "the semi-gradient ends below the gradient; a deterministic policy has no ratio, so the emphasis is computed from the problem".to_owned()),
        (Some(true), false) => (
            "offpac",
            None,
            "the semi-gradient ends as well as the gradient from every start tried, and without emphasis the updates vary least".to_owned(),
        ),
        (_, false) => match trace_trouble(diagnosis) {
            None => ("ace", Some(lambda_a), match diagnosis.flows {
                Some(_) => format!("the semi-gradient ends below the gradient, and the follow-on trace can be estimated; {reach}"),
                None => "the flows were not followed; the full gradient is the safe choice, and the follow-on trace can be estimated".to_owned(),
            }),
            Some(trouble) => ("true-ace", None, format!(
                "{trouble}. With the problem at hand the emphasis can be computed instead. Where only experience is at hand, use ace with a small step-size and expect excursions"
            )),
        },
    }
}

/// λ_a, and why: as large as the trace's spread allows, and at least what ends as well as the gradient.
fn lambda_a(diagnosis: &Diagnosis) -> (f64, String) {
    let spreads = [&diagnosis.emphasis, &diagnosis.emphasis_at_end].into_iter().flatten();
    let spread = spreads.map(|e| e.relative_spread().unwrap_or(f64::INFINITY)).fold(0.0, f64::max);
    let Some(flows) = &diagnosis.flows else { return (1.0, String::new()) };
    if spread <= LARGE_SPREAD {
        let why = "it varies little about its mean, so that full emphasis, λ_a = 1, costs little";
        return (1.0, why.to_owned());
    }
    let as_good = |reached: &&Reached| {
        let count = |reached: &Reached| reached.from_random.iter().filter(|x| flows.reaches(**x)).count();
        let least = flows.smallest_lambda_a.unwrap_or(1.0);
        reached.lambda_a >= (least + 0.1).min(1.0) && count(reached) >= count(flows.gradient())
    };
    let lambda_a = flows.reached.iter().find(as_good).map_or(1.0, |reached| reached.lambda_a);
    let why = format!(
        "its standard deviation is up to {} times its mean, and λ_a = {lambda_a} is the smallest that was followed and reaches the best objective from as many starts as the gradient",
        number(spread)
    );
    (lambda_a, why)
}

/// Why the trace is no good estimator here, if it is not.
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

/// The root mean square of an update, the largest of a few moments on the gradient's way.
fn update_size<P: Policy, M: Subject<P>>(
    model: &M,
    policy: &P,
    weights: &[f64],
    diagnosis: &Diagnosis,
    algorithm: &str,
    lambda_a: Option<f64>,
) -> Option<f64> {
    const MOMENTS: usize = 8;
    let mut places = vec![weights];
    if let Some(flows) = &diagnosis.flows {
        let way =
            flows.paths[0].moments.iter().filter(|moment| moment.0 <= flows.times[0]).collect::<Vec<_>>();
        places.extend((1..=MOMENTS).filter_map(|k| way.get(k * way.len() / (MOMENTS + 1))).map(|m| &m.1[..]));
    }
    let sizes = places.into_iter().map(|weights| {
        let exact = Exact::new(model, policy, weights).ok()?;
        let (d, i, m) = (exact.stationary(), model.interest(), exact.emphatic_weighting(1.0));
        let second = match algorithm {
            "ace" => Some(Trace::new(&exact)).filter(Trace::is_finite)?.second_moment()?.to_vec(),
            _ => Vec::new(),
        };
        // d_μ E[M²] in each state.
        let square = |s: usize| match (algorithm, lambda_a) {
            ("ace", Some(l)) => {
                (1.0 - l) * (1.0 - l) * i[s] * i[s] * d[s]
                    + 2.0 * l * (1.0 - l) * i[s] * m[s]
                    + l * l * second[s]
            }
            ("true-ace", _) => m[s] * m[s] / d[s],
            _ => i[s] * i[s] * d[s],
        };
        let of = |s: usize| Some(square(s) * model.update_square(policy, weights, s, exact.values())?);
        (0..d.len()).filter(|&s| d[s] > 0.0).map(of).sum::<Option<f64>>().map(f64::sqrt)
    });
    // Where the trace has no second moment any more, what came before must do.
    sizes
        .flatten()
        .filter(|size| size.is_finite())
        .fold(None, |most: Option<f64>, size| Some(most.map_or(size, |m| m.max(size))))
}

/// A guess at how long the gradient takes, from its size alone: until the steepest weight has moved by 5.
fn guessed_time<P: Policy, M: Subject<P>>(model: &M, policy: &P, weights: &[f64]) -> Option<f64> {
    let gradient = Exact::new(model, policy, weights).ok()?.gradient(1.0);
    let largest = gradient.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    (largest > 0.0).then(|| 5.0 / largest * policy.features().most_active() as f64)
}

fn critic(world: &World, deterministic: bool) -> CriticSuggestion {
    if deterministic {
        return CriticSuggestion {
            kind: "exact",
            alpha_v: Vec::new(),
            alpha_w: Vec::new(),
            lambda: Vec::new(),
        };
    }
    let features = world.critic();
    let norm = |s: usize| features.active(s).map(|(_, x)| x * x).sum::<f64>();
    let largest = (0..features.states()).map(norm).fold(1e-300, f64::max);
    let scale = features.most_active() as f64 / largest;
    let scaled = |alpha: f64| series(alpha * scale, 1).first().copied().unwrap_or(alpha);
    CriticSuggestion {
        kind: "gtd",
        alpha_v: [0.02, 0.1, 0.5].map(scaled).to_vec(),
        alpha_w: [1e-4, 1e-2].map(scaled).to_vec(),
        lambda: vec![0.0, 0.9],
    }
}

fn critic_reason(diagnosis: &Diagnosis, deterministic: bool) -> String {
    if deterministic {
        return "the slope of the action-values is computed from the problem".to_owned();
    }
    match diagnosis.critics.td.stable {
        Some(true) => "GTD(λ) is stable off-policy; TD(0) would be, too, for the given policy".to_owned(),
        Some(false) => "GTD(λ) is stable off-policy; TD(0) is not with these features".to_owned(),
        None => "GTD(λ) is stable off-policy whatever the features".to_owned(),
    }
}

/// `count` numbers 1, 2, 5, 10, 20 … up to `largest`, ascending; none if that is no positive number.
fn series(largest: f64, count: usize) -> Vec<f64> {
    if !largest.is_normal() || largest < 0.0 {
        return Vec::new();
    }
    let exponent = largest.log10().floor() as i32;
    let all = (exponent - count as i32..=exponent).flat_map(|e| [1, 2, 5].map(|m| (m, e)));
    // Written and read, so that 0.1 is 0.1.
    let number = |(m, e): (i32, i32)| format!("{m}e{e}").parse::<f64>().unwrap_or(f64::NAN);
    let fitting: Vec<f64> = all.map(number).filter(|x| *x <= largest * (1.0 + 1e-9)).collect();
    fitting[fitting.len().saturating_sub(count)..].to_vec()
}

impl Suggestion {
    /// An experiment file that tries it, to be written to `path`.
    pub fn experiment(&self, problem: &ProblemFile, path: &Path) -> String {
        let (policy, critic) = (start_of_policy(&problem.target), &self.critic);
        let gtd = format!(
            "{{ kind = \"gtd\", alpha_v = [{}], alpha_w = [{}], lambda = [{}] }}",
            list(&critic.alpha_v),
            list(&critic.alpha_w),
            list(&critic.lambda)
        );
        let method = |name: &str, algorithm: &str, lambda_a: Option<f64>, critic: &str| {
            let lambda_a = lambda_a.map_or(String::new(), |l| format!("lambda_a = {l:?}\n"));
            format!(
                "\n[[method]]\nname = \"{name}\"\nalgorithm = \"{algorithm}\"\n{lambda_a}alpha = [{}]\ncritic = {critic}\n{policy}",
                list(&self.alpha)
            )
        };
        let learned = if critic.kind == "exact" { "\"exact\"" } else { &gtd };
        let (algorithm, lambda_a) = (self.algorithm, self.lambda_a);
        let mut text =
            format!("# A first experiment in {}, written by `emphatic diagnose`.\n", name(&problem.name));
        for (what, why) in &self.reasons {
            text += &paragraph("# ", "#   ", &format!("{what}: {why}."));
        }
        // What JSON escapes, TOML reads; DEL too has to be.
        let of_problem = json_escaped(&Value::from(reference(problem, path)).to_string());
        text += &format!(
            "\nproblem = {of_problem}\nseed = 1\nruns = 10\nsteps = {}\nfresh_runs = 30\n",
            self.steps
        );
        text += "\n# The suggestion.";
        text += &method("suggestion", algorithm, lambda_a, learned);
        if critic.kind != "exact" {
            text += "\n# The same with values computed from the problem: what a better critic could gain.";
            text += &method("suggestion, exact critic", algorithm, lambda_a, "\"exact\"");
        }
        // What the suggestion is to be compared with.
        let (other, name) = match algorithm {
            "offpac" => ("ace", "full gradient"),
            "dpg" => ("true-dpge", "full gradient"),
            "true-dpge" => ("dpg", "semi-gradient"),
            _ => ("offpac", "semi-gradient"),
        };
        text += "\n# For comparison.";
        text += &method(name, other, (other == "ace").then_some(1.0), learned);
        text
    }
}

/// Where the policy starts, if not from zero weights.
fn start_of_policy(target: &Target) -> String {
    match target {
        Target::Softmax(weights) | Target::Gaussian(weights) | Target::Deterministic(weights)
            if weights.iter().any(|w| *w != 0.0) =>
        {
            format!("policy.weights = {weights:?}\n")
        }
        _ => String::new(),
    }
}

/// What an experiment file at `path` calls the problem.
fn reference(problem: &ProblemFile, path: &Path) -> String {
    let file = Path::new(&problem.name);
    if shipped::find(&problem.name).is_some() && !file.exists() {
        return problem.name.clone();
    }
    // Directories are compared as they are, not as they are called: `..` and links lead elsewhere.
    let directory = |path: &Path| {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::canonicalize(parent).unwrap_or_else(|_| parent.to_owned())
    };
    let (from, to) = (directory(path), directory(file));
    let (from, to): (Vec<_>, Vec<_>) = (from.components().collect(), to.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| std::ffi::OsStr::new(".."));
    let down = to[common..].iter().map(|c| c.as_os_str()).chain(file.file_name());
    up.chain(down).collect::<std::path::PathBuf>().display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use emphatic::{ExactCritic, Learner, Task, ace};
    use std::sync::Arc;

    /// The mean square of the updates that a learner makes whose step-size is too small to change anything.
    fn sampled(task: &Arc<Task>, weights: &[f64], lambda_a: f64) -> f64 {
        const ALPHA: f64 = 1e-9;
        let policy = task.softmax();
        let critic = ExactCritic::new(task.clone(), &policy).unwrap();
        let learner = ace(policy, critic).lambda_a(lambda_a).alpha(ALPHA).build().unwrap();
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
        for lambda_a in [0.0, 0.5, 1.0] {
            let problem = ProblemFile::open("counterexample".as_ref()).unwrap();
            let options = crate::Options { starts: Some(0), ..Default::default() };
            let go_on = |_: usize, _: usize| std::ops::ControlFlow::Continue(());
            let mut diagnosis = crate::diagnose(&problem, &options, &go_on).unwrap().unwrap();
            diagnosis.flows = None; // At these weights alone.
            let policy = task.softmax();
            let size = update_size(&*task, &policy, &weights, &diagnosis, "ace", Some(lambda_a)).unwrap();
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
