//! What the target policy does in a state.

use super::{Columns, Kind, Measure, Meter, Subject, meters};
use emphatic::{ComposeError, Learner, Real, State};
use emphatic_problems::{ValueError, World};
use std::sync::Arc;

pub(super) const OF_STATE: Kind = Kind {
    pattern: "target.STATE",
    about: "the probability of each action in a state, or the mean of a real action",
    parse: |name, world| name.strip_prefix("target.").map(|place| parse(place, world)),
};

pub(super) const OF_ACTION: Kind = Kind {
    pattern: "target.STATE.ACTION",
    about: "the probability of an action in a state",
    parse: |_, _| None, // As that of a state: names may themselves have dots.
};

/// One of the numbers of π(·|s).
#[derive(Clone, Copy, Debug)]
struct Target {
    state: usize,
    number: usize,
}

/// `STATE` or `STATE.ACTION`; names may themselves have dots.
fn parse(place: &str, world: &World) -> Result<Columns, ValueError> {
    let (states, actions) = (world.states(), world.actions());
    let column = |state: &str, action: &str, target: Target| {
        (format!("target.{state}.{action}"), Arc::new(target) as Arc<dyn Measure>)
    };
    if let Some(state) = states.iter().position(|known| known == place) {
        return Ok(if actions.is_empty() {
            vec![(format!("target.{place}"), Arc::new(Target { state, number: 0 }))]
        } else {
            let each = actions.iter().enumerate();
            each.map(|(number, name)| column(place, name, Target { state, number })).collect()
        });
    }
    let mut wrong = None;
    for (state, name) in states.iter().enumerate() {
        let action = place.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'));
        match action.map(|action| (action, world.action(action))) {
            Some((action, Ok(number))) => return Ok(vec![column(name, action, Target { state, number })]),
            // Another state's name may begin with this one's.
            Some((_, Err(unfit))) => wrong = wrong.or(Some(unfit)),
            None => {}
        }
    }
    match wrong {
        Some(unfit) => Err(unfit),
        None => world.state(place.split('.').next().unwrap_or(place)).map(|_| Vec::new()),
    }
}

impl Measure for Target {
    meters!(meter);
}

fn meter<R: Real>(target: &Target, _: &Subject) -> Result<Box<dyn Meter<R>>, ComposeError> {
    Ok(Box::new(*target))
}

impl<R: Real> Meter<R> for Target {
    fn read(&mut self, learner: &dyn Learner<R>) -> Vec<R> {
        // A state of the problem can be described.
        let numbers = learner.distribution(State::Number(self.state)).unwrap_or_default();
        vec![numbers.get(self.number).copied().unwrap_or(R::splat(f64::NAN))]
    }
}
