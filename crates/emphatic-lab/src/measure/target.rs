//! The target policy in a state: the probabilities of its actions, or the mean of a real action.

use super::{Columns, Context, DynMeasure, Kind, Measure, Recorder};
use emphatic::{Composable, ComposeError, KnownProblem, Learner, Real, State};
use emphatic_problems::{ValueError, find_action, find_state};
use std::sync::Arc;

pub(super) const OF_STATE: Kind = Kind {
    pattern: "target.STATE",
    about: "the probability of each action in a state, or the mean of a real action",
    parse: |name, known| name.strip_prefix("target.").map(|place| parse(place, known)),
};

pub(super) const OF_ACTION: Kind = Kind {
    pattern: "target.STATE.ACTION",
    about: "the probability of an action in a state",
    parse: |_, _| None, // `OF_STATE` reads both: names may themselves have dots.
};

/// One of the numbers of π(·|s).
#[derive(Clone, Copy, Debug)]
struct Target {
    state: usize,
    number: usize,
}

/// Reads `STATE` or `STATE.ACTION`.
fn parse(place: &str, known: Option<&KnownProblem>) -> Result<Columns, ValueError> {
    let Some(known) = known else {
        let message = "a target is recorded in a state, and the states of a simulator have no names";
        return Err(ValueError::new(message).help("\"weights\" records the policy as a whole"));
    };
    let (states, actions) = (known.states(), known.actions());
    let column = |state: &str, action: &str, target: Target| {
        (format!("target.{state}.{action}"), Arc::new(target) as Arc<dyn DynMeasure>)
    };
    if let Some(state) = states.iter().position(|known| known == place) {
        return Ok(if actions.is_empty() {
            vec![(format!("target.{place}"), Arc::new(Target { state, number: 0 }))]
        } else {
            let each = actions.iter().enumerate();
            each.map(|(number, name)| column(place, name, Target { state, number })).collect()
        });
    }
    let mut first_error = None;
    for (state, name) in states.iter().enumerate() {
        let action = place.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        match action.map(|action| (action, find_action(known, action))) {
            Some((action, Ok(number))) => return Ok(vec![column(name, action, Target { state, number })]),
            // Another state's name may begin with this one's.
            Some((_, Err(error))) => first_error = first_error.or(Some(error)),
            None => {}
        }
    }
    match first_error {
        Some(error) => Err(error),
        None => find_state(known, place.split('.').next().unwrap_or(place)).map(|_| Vec::new()),
    }
}

impl Measure for Target {
    fn recorder<R: Composable>(&self, _: &Context) -> Result<Box<dyn Recorder<R>>, ComposeError> {
        Ok(Box::new(*self))
    }
}

impl<R: Real> Recorder<R> for Target {
    fn read(&mut self, learner: &mut dyn Learner<R>) -> Vec<R> {
        // A state of the problem has features, so that there is no error.
        let numbers = learner.distribution(State::Number(self.state)).unwrap_or_default();
        vec![numbers.get(self.number).copied().unwrap_or(R::splat(f64::NAN))]
    }
}
