//! The diagnosis of experience: what a sample of steps tells where nobody knows the problem.
//!
//! | question | where |
//! |---|---|
//! | does the behaviour take the actions that a policy would? | [`overlap`] |
//! | how unevenly do ρ and the follow-on trace weigh the steps? | [`spread`] |
//! | which features are seen, and how large are they? | [`activity`] |
//! | are TD(0) and ETD(0) stable with them? | [`stability`] |
//! | what should I start with? | [`suggestion`] |

pub mod activity;
pub mod blocks;
mod experiment;
pub mod overlap;
mod report;
pub mod spread;
pub mod stability;
pub mod suggestion;
mod verdict;

pub use blocks::Estimate;
pub use experiment::Simulation;

use activity::{Activity, activity};
use emphatic::{Action, FeatureError, Features, State, Step, StepError};
use overlap::{Behaviour, Overlap, behaviour, overlap};
use serde::Serialize;
use spread::{Spread, follow_on, spread};
use stability::{Directions, SampledCritics};
use suggestion::{SampledSuggestion, suggest};
use thiserror::Error;

/// The most actions of which it is asked what always taking them would mean.
const MOST_ACTIONS: usize = 8;

/// The fewest steps that say anything.
pub const FEWEST_STEPS: usize = 100;

/// Steps of a behaviour, in the order in which they happened.
#[derive(Clone, Debug)]
pub struct Experience<'a> {
    /// What they are of, in a few words.
    pub name: String,
    /// The steps.
    pub steps: &'a [Step<State<'a>, Action>],
    /// The features that parts see.
    pub features: &'a Features,
    /// The names of the actions; empty if an action is a real number.
    pub actions: Vec<String>,
    /// π(A_t|S_t) of a target at each step, if there is one.
    pub target: Option<Vec<f64>>,
}

/// Experience that cannot be diagnosed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SampleError {
    /// Too few steps.
    #[error("there are {0} steps; a diagnosis needs at least {FEWEST_STEPS}")]
    TooFew(usize),
    /// A step that makes no sense.
    #[error("step {index} (the first is 0): {source}")]
    Step {
        /// Its place.
        index: usize,
        /// What is wrong with it.
        source: StepError,
    },
    /// A state that has no such features.
    #[error("step {index} (the first is 0): {source}")]
    Features {
        /// Its place.
        index: usize,
        /// What is wrong with it.
        source: FeatureError,
    },
    /// Probabilities of a target at other steps.
    #[error("the target has {got} probabilities; there are {right} steps")]
    TargetLength {
        /// How many there are.
        got: usize,
        /// How many there must be.
        right: usize,
    },
    /// Not a probability, nor a density.
    #[error("the target's probability of the action of step {index} (the first is 0) is {value}; {}", right(*.finite))]
    Target {
        /// The step.
        index: usize,
        /// Its value.
        value: f64,
        /// Whether there are finitely many actions.
        finite: bool,
    },
    /// A target that never does what the behaviour did.
    #[error("the target takes none of the actions of these steps: nothing can be learned about it from them")]
    NoOverlap,
}

fn right(finite: bool) -> &'static str {
    if finite { "it must lie between 0 and 1" } else { "a density is finite and not negative" }
}

/// What a sample of steps tells about learning off-policy from such experience.
#[derive(Clone, Debug, Serialize)]
pub struct SampledDiagnosis {
    /// What the steps are of.
    pub name: String,
    /// How many steps, and how episodes end.
    pub episodes: Episodes,
    /// The discounts' largest.
    pub gamma: f64,
    /// How many actions there are; `None` if an action is a real number.
    pub actions: Option<usize>,
    /// How rare the behaviour's actions are.
    pub behaviour: Behaviour,
    /// The features that are seen.
    pub activity: Activity,
    /// What the steps tell about policies: the target, or, if there is none, the policy that takes all actions alike and those that always take one.
    pub policies: Vec<SampledPolicy>,
    /// Where to start.
    pub suggestion: SampledSuggestion,
    /// The verdict in plain words.
    pub verdict: Vec<String>,
}

/// How many steps there are, and how episodes end in them.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Episodes {
    /// The number of steps.
    pub steps: usize,
    /// How many episodes end.
    pub ended: usize,
    /// How many are cut short.
    pub cut_short: usize,
}

/// What steps tell about a policy.
#[derive(Clone, Debug, Serialize)]
pub struct SampledPolicy {
    /// The policy, in words.
    pub policy: String,
    /// Whether its actions are the behaviour's.
    pub overlap: Overlap,
    /// How unevenly steps are weighed.
    pub spread: Spread,
    /// Linear critics; `None` if too many features are active, or there are no eigenvalues.
    pub critics: Option<SampledCritics>,
}

/// Diagnoses experience.
pub fn diagnose_experience(experience: &Experience) -> Result<SampledDiagnosis, SampleError> {
    check(experience)?;
    let activity = activity(experience);
    let directions = Directions::new(experience, &activity);
    let policy = |(policy, probabilities): (String, Vec<f64>)| {
        let ratios: Vec<f64> =
            probabilities.iter().zip(experience.steps).map(|(pi, step)| pi / step.mu).collect();
        let trace = follow_on(experience, &ratios);
        SampledPolicy {
            policy,
            overlap: overlap(&ratios),
            spread: spread(experience, &ratios, &trace),
            critics: directions.as_ref().and_then(|directions| directions.critics(&ratios, &trace)),
        }
    };
    let policies: Vec<SampledPolicy> = policies(experience).into_iter().map(policy).collect();
    let mut diagnosis = SampledDiagnosis {
        name: experience.name.clone(),
        episodes: episodes(experience),
        gamma: experience.steps.iter().map(|step| step.gamma_next).fold(0.0, f64::max),
        actions: Some(experience.actions.len()).filter(|actions| *actions > 0),
        behaviour: behaviour(experience),
        suggestion: suggest(experience, &activity, &policies),
        activity,
        policies,
        verdict: Vec::new(),
    };
    diagnosis.verdict = verdict::verdict(&diagnosis);
    Ok(diagnosis)
}

fn check(experience: &Experience) -> Result<(), SampleError> {
    let Experience { steps, features, actions, target, .. } = experience;
    if steps.len() < FEWEST_STEPS {
        return Err(SampleError::TooFew(steps.len()));
    }
    let finite = !actions.is_empty();
    for (index, step) in steps.iter().enumerate() {
        step.check().map_err(|source| SampleError::Step { index, source })?;
        let wrong_action = match step.action {
            Action::Number(action) if finite && action < actions.len() => None,
            Action::Number(action) if finite => Some(StepError::Action { action, actions: actions.len() }),
            Action::Real(_) if !finite => None,
            Action::Number(_) => Some(StepError::ActionKind("the number of an action", "a real number")),
            Action::Real(_) => {
                Some(StepError::ActionKind("a real number", "the number of one of its actions"))
            }
        };
        wrong_action.map_or(Ok(()), |source| Err(SampleError::Step { index, source }))?;
        if finite && step.mu > 1.0 + 1e-9 {
            return Err(SampleError::Step { index, source: StepError::Probability(step.mu) });
        }
        let next = (step.gamma_next > 0.0).then_some(step.next);
        for state in std::iter::once(step.state).chain(next) {
            features.check(state).map_err(|source| SampleError::Features { index, source })?;
        }
    }
    let Some(target) = target else { return Ok(()) };
    if target.len() != steps.len() {
        return Err(SampleError::TargetLength { got: target.len(), right: steps.len() });
    }
    let most = if finite { 1.0 + 1e-9 } else { f64::MAX };
    if let Some(index) = target.iter().position(|pi| !(0.0..=most).contains(pi)) {
        return Err(SampleError::Target { index, value: target[index], finite });
    }
    if target.iter().all(|pi| *pi == 0.0) { Err(SampleError::NoOverlap) } else { Ok(()) }
}

/// The policies to ask about, each with its probability of the action of each step.
fn policies(experience: &Experience) -> Vec<(String, Vec<f64>)> {
    let Experience { steps, actions, target, .. } = experience;
    if let Some(target) = target {
        return vec![("the target".to_owned(), target.clone())];
    }
    if actions.is_empty() {
        return vec![("the behaviour itself".to_owned(), steps.iter().map(|step| step.mu).collect())];
    }
    let alike = vec![1.0 / actions.len() as f64; steps.len()];
    let takes = |step: &Step<State, Action>, action: usize| {
        f64::from(u8::from(step.action == Action::Number(action)))
    };
    let always = |(action, name): (usize, &String)| {
        let probabilities: Vec<f64> = steps.iter().map(|step| takes(step, action)).collect();
        let is_taken = probabilities.iter().any(|pi| *pi > 0.0);
        is_taken.then(|| (format!("always {}", crate::format::name(name)), probabilities))
    };
    let each = actions.iter().enumerate().take(MOST_ACTIONS).filter_map(always);
    std::iter::once(("all actions alike".to_owned(), alike)).chain(each).collect()
}

fn episodes(experience: &Experience) -> Episodes {
    let steps = experience.steps;
    let ended = steps.iter().filter(|step| step.gamma_next == 0.0).count();
    let is_cut = |pair: &&[Step<State, Action>]| pair[0].gamma_next > 0.0 && pair[1].gamma == 0.0;
    Episodes { steps: steps.len(), ended, cut_short: steps.windows(2).filter(is_cut).count() }
}
