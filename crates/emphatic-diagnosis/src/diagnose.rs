//! The diagnosis: `emphatic diagnose`.

use crate::critic::{Critics, critics};
use crate::emphasis::{Emphasis, emphasis};
use crate::flows::{Flows, Named, Tell, count, flows};
use crate::solve::angle;
use crate::subject::{Subject, with_subject};
use crate::suggestion::{Suggestion, suggest};
use crate::words;
use emphatic::{Exact, Policy, ProblemError};
use emphatic_problems::{ProblemFile, Target, World};
use serde::Serialize;

/// How much is looked at.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many random starts flows are followed from; nothing lets the size of the problem decide: ten in a small one, none in a
    /// large one, whose flows are not followed at all.
    pub starts: Option<usize>,
    /// What random starts come from.
    pub seed: u64,
    /// How many threads follow flows.
    pub threads: usize,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { starts: None, seed: 1, threads }
    }
}

/// Random starts in a small problem.
const STARTS: usize = 10;

/// Flows times transitions that are followed unless more is asked for: seconds of work, or a quarter of a minute if the flows are stiff.
const WORK: usize = 50_000;

/// What there is to know of learning off-policy in a problem.
#[derive(Clone, Debug, Serialize)]
pub struct Diagnosis {
    /// The problem's name.
    pub problem: String,
    /// How large it is.
    pub size: Size,
    /// Which policy the objective, the trace and the critics are about, in words.
    pub given: &'static str,
    /// J_μ of that policy.
    pub objective: f64,
    /// Which policy flows start from, in words: the given one, or zero weights.
    pub start: &'static str,
    /// The angle between the gradient and the semi-gradient at the policy that flows start from, in degrees.
    pub angle: Option<f64>,
    /// Actions that the target takes and the behaviour never does, in states that the behaviour visits: state, action.
    pub uncovered: Vec<(String, String)>,
    /// Where flows lead; nothing if the problem is too large to follow them, or the objective has no gradient.
    pub flows: Option<Flows>,
    /// The follow-on trace for the given policy; nothing for a deterministic one, which has no ratio.
    pub emphasis: Option<Emphasis>,
    /// The follow-on trace for the policy in which the gradient's flow ends.
    pub emphasis_at_end: Option<Emphasis>,
    /// Linear critics for the given policy.
    pub critics: Critics,
    /// What to start with; nothing if flows lead nowhere.
    pub suggestion: Option<Suggestion>,
    /// The verdict in plain words.
    pub verdict: Vec<String>,
}

/// How large a problem is.
#[derive(Clone, Debug, Serialize)]
pub struct Size {
    /// States.
    pub states: usize,
    /// Actions; nothing if the action is a real number.
    pub actions: Option<usize>,
    /// Transitions.
    pub transitions: usize,
    /// Features that the actor sees.
    pub actor_features: usize,
    /// Weights of the policy.
    pub weights: usize,
}

/// Diagnoses a problem. `tell` hears how many flows have been followed, of how many; nothing comes of it if that says to stop.
pub fn diagnose(
    problem: &ProblemFile,
    options: &Options,
    tell: &Tell,
) -> Result<Option<Diagnosis>, ProblemError> {
    let learned = learned(problem);
    let found = with_subject!(&problem.world, &learned, |model, policy, weights| {
        from_learned(problem, model, policy, weights, options, tell)
    })?;
    let Some(Learned { angle, flows, emphasis_at_end, start, size }) = found else { return Ok(None) };
    // The trace and the critics are asked about for the policy that was given.
    let (objective, critics, emphasis) =
        with_subject!(&problem.world, &problem.target, |model, policy, weights| {
            let exact = Exact::new(model, policy, weights)?;
            let has_ratio = !matches!(problem.target, Target::Deterministic(_));
            let emphasis = has_ratio.then(|| emphasis(&exact, problem.world.states()));
            Ok::<_, ProblemError>((exact.objective(), critics(&exact, &problem.world.critic()), emphasis))
        })?;
    let given = if matches!(problem.target, Target::Fixed(_)) { "the given policy" } else { start };
    let mut diagnosis = Diagnosis {
        problem: problem.name.clone(),
        size,
        given,
        objective,
        start,
        angle,
        uncovered: uncovered(problem),
        flows,
        emphasis,
        emphasis_at_end,
        critics,
        suggestion: None,
        verdict: Vec::new(),
    };
    diagnosis.suggestion = with_subject!(&problem.world, &learned, |model, policy, weights| {
        suggest(problem, model, policy, weights, &diagnosis)
    });
    diagnosis.verdict = words::verdict(&diagnosis);
    Ok(Some(diagnosis))
}

/// What depends on the policy that learning starts from.
struct Learned {
    angle: Option<f64>,
    flows: Option<Flows>,
    emphasis_at_end: Option<Emphasis>,
    start: &'static str,
    size: Size,
}

/// The policy that learning starts from: the target, or zero weights if it cannot be learned.
pub(crate) fn learned(problem: &ProblemFile) -> Target {
    match (&problem.world, &problem.target) {
        (World::Finite(task), Target::Fixed(_)) => Target::Softmax(vec![0.0; task.softmax().len()]),
        (_, target) => target.clone(),
    }
}

fn from_learned<P: Policy + Sync, M: Subject<P>>(
    problem: &ProblemFile,
    model: &M,
    policy: &P,
    weights: &[f64],
    options: &Options,
    tell: &Tell,
) -> Result<Option<Learned>, ProblemError> {
    let world = &problem.world;
    let exact = Exact::new(model, policy, weights)?;
    let transitions = transitions(world);
    let affordable = WORK / transitions.max(1);
    let starts = options.starts.or_else(|| {
        let most = affordable.checked_sub(count(0))? / (count(1) - count(0));
        Some(most.min(STARTS))
    });
    let named =
        Named { states: world.states(), features: world.actor(), largest_reward: largest_reward(world) };
    let flows = match starts {
        Some(starts) => match flows(model, policy, weights, &named, options, starts, tell)? {
            Some(flows) => Some(flows),
            None => return Ok(None),
        },
        None => None,
    };
    let emphasis_at_end = match &flows {
        Some(flows) if !matches!(problem.target, Target::Deterministic(_)) && flows.leads_somewhere() => {
            // Where the flow ends nowhere, nothing can be said.
            let end = Exact::new(model, policy, &flows.ends[0]);
            end.ok().map(|exact| emphasis(&exact, world.states()))
        }
        _ => None,
    };
    Ok(Some(Learned {
        angle: angle(&exact.gradient(1.0), &exact.gradient(0.0)),
        flows,
        emphasis_at_end,
        start: if weights.iter().any(|w| *w != 0.0) { "the given policy" } else { "zero weights" },
        size: Size {
            states: world.states().len(),
            actions: Some(world.actions().len()).filter(|n| *n > 0),
            transitions,
            actor_features: world.actor().len(),
            weights: weights.len(),
        },
    }))
}

/// The largest reward, whatever its sign: what objectives are measured by.
fn largest_reward(world: &World) -> f64 {
    let World::Finite(task) = world else { return 2.0 };
    let pairs = (0..task.states()).flat_map(|s| (0..task.actions()).map(move |a| (s, a)));
    let rewards = pairs.flat_map(|(s, a)| task.problem().transitions(s, a)).map(|t| t.reward.abs());
    rewards.fold(0.0, f64::max)
}

fn transitions(world: &World) -> usize {
    match world {
        World::Finite(task) => (0..task.states())
            .map(|s| (0..task.actions()).map(|a| task.problem().transitions(s, a).len()).sum::<usize>())
            .sum(),
        World::Continuous(_) => 6,
    }
}

/// What the target does and the behaviour never, where it comes.
fn uncovered(problem: &ProblemFile) -> Vec<(String, String)> {
    let World::Finite(task) = &problem.world else { return Vec::new() };
    let taken = |s: usize, a: usize| match &problem.target {
        Target::Fixed(fixed) => crate::subject::at(fixed, &[], s)[a] > 0.0,
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
    /// The verdict, the numbers under it and the suggestion.
    pub fn text(&self) -> String {
        words::text(self)
    }

    /// Why there is no suggestion.
    pub fn why_nothing(&self) -> &'static str {
        match &self.flows {
            _ if !self.uncovered.is_empty() => "the behaviour never takes an action that the target does",
            Some(flows) if flows.unbounded => "the objective has no bound",
            Some(flows) if flows.is_flat() => "no policy does better than another",
            _ => "the expected update is zero at this policy",
        }
    }
}
