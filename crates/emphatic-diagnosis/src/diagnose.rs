//! The diagnosis: `emphatic diagnose`.

use crate::critic_stability::{Critics, critic_stability};
use crate::diagnosable::{Diagnosable, Solved, with_policy};
use crate::emphasis::{Emphasis, emphasis};
use crate::flows::{Flows, count, flows};
use crate::solve::angle;
use crate::suggestion::{Suggestion, suggest};
use crate::verdict::verdict;
use emphatic::{Exact, KnownProblem, Policy, ProblemError};
use emphatic_problems::{ProblemFile, Target};
use serde::Serialize;
use std::ops::ControlFlow;

/// Settings of a diagnosis.
#[derive(Clone, Debug)]
pub struct Options {
    /// The number of random starts of flows. `None` lets the size of the problem decide: ten in a small one, none in a
    /// large one, whose flows are not integrated at all.
    pub starts: Option<usize>,
    /// The seed of the random starts.
    pub seed: u64,
    /// The number of threads that integrate flows.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { starts: None, seed: 1, threads }
    }
}

/// Called with the number of flows that are done and of all flows; `Break` stops the diagnosis.
pub type Progress<'a> = dyn Fn(usize, usize) -> ControlFlow<()> + Sync + 'a;

/// The number of random starts in a small problem.
const STARTS: usize = 10;

/// Flows times transitions that are integrated by default: seconds of work, or a quarter of a minute if the flows are stiff.
const WORK: usize = 50_000;

/// Everything that matters for learning off-policy in a problem.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The problem's name.
    pub problem: String,
    /// The problem's size.
    pub size: Size,
    /// The policy that the objective, the trace and the critics are about, in words.
    pub given: &'static str,
    /// J_μ of that policy.
    pub objective: f64,
    /// The policy that flows start from, in words: the given one, or zero weights.
    pub start: &'static str,
    /// The angle between the gradient and the semi-gradient at the policy that flows start from, in degrees.
    pub angle: Option<f64>,
    /// Actions that the target takes and the behaviour never does, in states that the behaviour visits: state, action.
    pub uncovered: Vec<(String, String)>,
    /// Where flows lead; `None` if the problem is too large to integrate them.
    pub flows: Option<Flows>,
    /// The follow-on trace for the given policy; `None` for a deterministic one, which has no ratio.
    pub emphasis: Option<Emphasis>,
    /// The follow-on trace for the policy in which the gradient's flow ends.
    pub emphasis_at_end: Option<Emphasis>,
    /// Linear critics for the given policy.
    pub critics: Critics,
    /// Linear critics for the policy in which the gradient's flow ends.
    pub critics_at_end: Option<Critics>,
    /// A setting to start with; `None` if flows lead nowhere.
    pub suggestion: Option<Suggestion>,
    /// The verdict in plain words.
    pub verdict: Vec<String>,
}

/// The size of a problem.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// States.
    pub states: usize,
    /// Actions; `None` if the action is a real number.
    pub actions: Option<usize>,
    /// Transitions.
    pub transitions: usize,
    /// The actor's features.
    pub actor_features: usize,
    /// Weights of the policy.
    pub weights: usize,
}

/// Diagnoses a problem. Returns `None` if `progress` returned `Break`.
pub fn diagnose(
    problem: &ProblemFile,
    options: &Options,
    progress: &Progress,
) -> Result<Option<Diagnosis>, ProblemError> {
    with_policy!(&problem.known, &learning_start(problem), |model, policy, weights| {
        let exact = Exact::new(model, policy, weights)?;
        diagnose_from(problem, &Solved::new(&exact), weights, options, progress)
    })
}

/// The policy that learning starts from: the target, or zero weights if it has none.
pub(crate) fn learning_start(problem: &ProblemFile) -> Target {
    match (&problem.known, &problem.target) {
        (KnownProblem::Finite(task), Target::Fixed(_)) => Target::Softmax(vec![0.0; task.softmax().len()]),
        (_, target) => target.clone(),
    }
}

fn diagnose_from<P: Policy + Sync, M: Diagnosable<P>>(
    problem: &ProblemFile,
    start: &Solved<M, P>,
    weights: &[f64],
    options: &Options,
    progress: &Progress,
) -> Result<Option<Diagnosis>, ProblemError> {
    let (known, exact) = (&problem.known, start.exact);
    // A fixed target has no weights, so learning starts from another policy.
    let given = match (known, &problem.target) {
        (KnownProblem::Finite(task), Target::Fixed(fixed)) => {
            Given::new(problem, &Solved::new(&Exact::new(&**task, fixed, &[])?))
        }
        _ => Given::new(problem, start),
    };
    let size = Size {
        states: known.states().len(),
        actions: Some(known.actions().len()).filter(|n| *n > 0),
        transitions: match known {
            KnownProblem::Finite(task) => task.problem().all_transitions().len(),
            KnownProblem::Continuous(_) => 6,
        },
        actor_features: known.actor().len(),
        weights: weights.len(),
    };
    let flows = match options.starts.or_else(|| affordable_starts(size.transitions)) {
        Some(starts) => {
            let Some(flows) = flows(exact, weights, known, options, starts, progress) else {
                return Ok(None);
            };
            Some(flows)
        }
        None => None,
    };
    let start_name = if weights.iter().any(|w| *w != 0.0) { "the given policy" } else { "zero weights" };
    let is_fixed = matches!(problem.target, Target::Fixed(_));
    let mut diagnosis = Diagnosis {
        problem: problem.name.clone(),
        size,
        given: if is_fixed { "the given policy" } else { start_name },
        objective: given.objective,
        start: start_name,
        angle: angle(&exact.gradient(1.0), &exact.gradient(0.0)),
        uncovered: uncovered(&problem.known, &problem.target),
        emphasis_at_end: None,
        critics_at_end: None,
        flows,
        emphasis: given.emphasis,
        critics: given.critics,
        suggestion: None,
        verdict: Vec::new(),
    };
    if let Some(flows) = diagnosis.flows.as_ref().filter(|flows| flows.leads_somewhere())
        && let Ok(end) = Exact::new(exact.model(), exact.policy(), &flows.ends.gradient)
    {
        let end = Given::new(problem, &Solved::new(&end));
        (diagnosis.emphasis_at_end, diagnosis.critics_at_end) = (end.emphasis, Some(end.critics));
    }
    diagnosis.suggestion = suggest(problem, start, &diagnosis);
    diagnosis.verdict = verdict(&diagnosis);
    Ok(Some(diagnosis))
}

/// The part of a diagnosis that is about one policy.
struct Given {
    objective: f64,
    emphasis: Option<Emphasis>,
    critics: Critics,
}

impl Given {
    fn new<P: Policy, M: Diagnosable<P>>(problem: &ProblemFile, given: &Solved<M, P>) -> Self {
        Self {
            objective: given.exact.objective(),
            emphasis: has_ratio(problem).then(|| emphasis(given, &problem.known)),
            critics: critic_stability(given.exact, &problem.known.critic()),
        }
    }
}

/// Whether the target has a ratio to the behaviour.
fn has_ratio(problem: &ProblemFile) -> bool {
    !matches!(problem.target, Target::Deterministic(_))
}

/// As many random starts as the size of the problem allows; `None` if not even the flows from the given policy.
fn affordable_starts(transitions: usize) -> Option<usize> {
    let affordable = WORK / transitions.max(1);
    let most = affordable.checked_sub(count(0))? / (count(1) - count(0));
    Some(most.min(STARTS))
}

/// The actions that the target takes and the behaviour never does, in the states that the behaviour visits.
pub fn uncovered(known: &KnownProblem, target: &Target) -> Vec<(String, String)> {
    let KnownProblem::Finite(task) = known else { return Vec::new() };
    let taken = |s: usize, a: usize| match target {
        Target::Fixed(fixed) => crate::diagnosable::distribution(fixed, &[], s)[a] > 0.0,
        _ => true, // A softmax takes every action.
    };
    let (states, actions) = (task.problem().states(), task.problem().actions());
    let of_state = |s: usize| {
        let never = move |a: &usize| task.behaviour(s)[*a] == 0.0 && taken(s, *a);
        (0..actions.len()).filter(never).map(move |a| (states[s].clone(), actions[a].clone()))
    };
    (0..states.len()).filter(|&s| task.stationary()[s] > 0.0).flat_map(of_state).collect()
}

impl Diagnosis {
    /// Why there is no suggestion.
    pub fn why_no_suggestion(&self) -> &'static str {
        match &self.flows {
            _ if !self.uncovered.is_empty() => "the behaviour never takes an action that the target does",
            Some(flows) if flows.unbounded => "the objective has no bound",
            Some(flows) if flows.is_flat() => "no policy does better than another",
            _ => "the expected update is zero at this policy",
        }
    }
}
