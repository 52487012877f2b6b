//! What each part costs: every part of the catalogue, in a learner that is otherwise the same.
//!
//! That learner has a softmax policy, the critic `td` and no emphasis, in the paper's long counterexample. A critic of actions, or an actor that needs one, is in a learner
//! from all actions, whose critic is `retrace`. A part for real actions is in the continuous counterexample, and one of deterministic policies is beside `compatible`. So no part is left out.
//!
//! A part has its default settings, but each λ is ½: with 0, which is the default of some, traces would cost nothing.

use crate::{Bench, Experience, Numbers};
use emphatic::catalogue::{Acts, Catalogue, Entry, Range, Role, Signal};
use emphatic::{ContinuousCounterexample, Features, KnownProblem, PartRecipe, Recipe, RuleKind, Task};
use std::error::Error;
use std::io::Write;
use std::sync::Arc;

pub(crate) const STEPS: usize = 2000;

/// Measures every part in every kind of learner that it serves in.
pub(crate) fn run(mut bench: Bench<impl Write>, steps: usize) -> Result<(), Box<dyn Error>> {
    let [finite, real] = [
        Place::finite(Arc::new(Task::long_counterexample(5)), steps),
        Place::real(Arc::new(ContinuousCounterexample::default()), steps),
    ];
    let numbers = |k: u32| {
        let alpha_v = f64::from(k) / 160.0;
        Numbers { alpha: alpha_v / 100.0, alpha_v, ..Numbers::default() }
    };
    let settings: Vec<Numbers> = (1..=16).map(numbers).collect();
    for part in Catalogue::standard().iter() {
        for &signal in signals(part) {
            let policy = match (part.role, signal) {
                (Role::Policy, _) => part.name,
                (_, Signal::Slope) => "deterministic",
                _ => "softmax",
            };
            let place = if policy == "softmax" { &finite } else { &real };
            let role = if part.role == Role::Critic { of(signal) } else { part.role.word() };
            let name = format!("{role}: {}", part.name);
            bench.measure_composed(&name, &settings, &place.steps, &place.problem, |numbers| {
                place.learner(part, policy, signal, numbers)
            })?;
        }
    }
    Ok(())
}

/// The signals of critics in the learners that a part serves in.
fn signals(part: &Entry) -> &'static [Signal] {
    match (part.role, part.acts) {
        (Role::Critic | Role::Actor, _) => part.signals,
        (_, Some(Acts::Deterministic)) => &[Signal::Slope],
        _ => &[Signal::Delta],
    }
}

/// The role of a critic that gives this signal.
fn of(signal: Signal) -> &'static str {
    match signal {
        Signal::Delta => "critic of values",
        Signal::Advantages => "critic of actions",
        Signal::Slope => "critic of slopes",
    }
}

/// A problem, and what learners need of it.
struct Place {
    problem: KnownProblem,
    steps: Vec<Experience>,
    /// The features of the policy, and those of all other parts.
    actor: Features,
    features: Features,
    actions: Option<usize>,
}

impl Place {
    fn finite(task: Arc<Task>, steps: usize) -> Self {
        Self {
            steps: task.stream(1, 0).take(steps).collect(),
            actor: task.actor().into(),
            features: task.critic().into(),
            actions: Some(task.actions()),
            problem: KnownProblem::Finite(task),
        }
    }

    fn real(problem: Arc<ContinuousCounterexample>, steps: usize) -> Self {
        Self {
            steps: problem.stream(1, 0).take(steps).collect(),
            actor: problem.actor().into(),
            features: Features::one_hot(3),
            actions: None,
            problem: KnownProblem::Continuous(problem),
        }
    }

    /// A learner that has the part, and is otherwise the simplest whose critic gives this signal.
    fn learner(&self, part: &Entry, policy: &str, signal: Signal, numbers: &Numbers) -> Recipe {
        let (rule, critic) = match signal {
            Signal::Delta => (RuleKind::Taken, "td"),
            Signal::Advantages => (RuleKind::All, "retrace"),
            Signal::Slope => (RuleKind::Deterministic, "compatible"),
        };
        let named = |role, name| if part.role == role { part.name } else { name };
        let make = |role, name| self.part(role, named(role, name), numbers);
        let mut critic = make(Role::Critic, critic);
        if part.role == Role::Schedule {
            critic = critic.with_inner("schedule", make(Role::Schedule, part.name));
        }
        let policy = PartRecipe::new(policy).with_features(self.actor.clone());
        let mut recipe = Recipe::new(rule, policy, critic, make(Role::Emphasis, "none"), numbers.alpha);
        recipe.actions = self.actions;
        if part.role == Role::Actor { recipe.with_actor(make(Role::Actor, part.name)) } else { recipe }
    }

    /// A part of the catalogue with its settings. It is in the catalogue.
    fn part(&self, role: Role, name: &str, numbers: &Numbers) -> PartRecipe {
        let mut part = PartRecipe::new(name);
        let Some(entry) = Catalogue::standard().find(role, name) else { return part };
        for setting in entry.settings {
            let number = match (setting.range, setting.default) {
                _ if setting.name.starts_with("lambda") => 0.5,
                (_, Some(default)) => default,
                (Range::StepSize, _) => numbers.alpha_v,
                (Range::Count, _) => 5.0,
                _ => 0.5,
            };
            part = part.with(setting.name, number);
        }
        if entry.features {
            part = part.with_features(self.features.clone());
        }
        // The other parts inside need no settings.
        for inner in entry.inner.iter().filter(|inner| inner.role == Role::Critic) {
            part = part.with_inner(inner.name, self.part(inner.role, inner.default, numbers));
        }
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_measured_and_has_the_same_bits_in_lanes() {
        let mut out = Vec::new();
        run(Bench { repeats: 1, only: None, out: &mut out }, 60).unwrap();
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for part in Catalogue::standard().iter() {
            assert!(text.contains(&format!(": {}\"", part.name)), "{} is not measured", part.name);
        }
        let probe = |line: &str| line.split_once("\"probe\": ").unwrap().1.to_owned();
        for pair in lines.chunks_exact(2) {
            assert_eq!(probe(pair[0]), probe(pair[1]), "{}", pair[0]);
            assert!(!probe(pair[0]).contains("null"), "{}", pair[0]);
        }
    }
}
