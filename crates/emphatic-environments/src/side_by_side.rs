//! Steps in several states side by side, in vector registers.

use crate::Outcome;
use crate::environment::{numbers, numbers_mut};
use emphatic::real::elementary;
use emphatic::{Action, Isa, Lanes, Random, Real};

/// How many states are side by side.
const WIDTH: usize = 8;

/// An environment whose dynamics are stated once, for one state and for several side by side. A state is `STATE` numbers.
pub(crate) trait Dynamics<const STATE: usize, const INPUTS: usize> {
    /// Returns what the next state depends on beside the current one: the action, and what is drawn.
    fn inputs(action: Action, random: &mut Random) -> [f64; INPUTS];

    /// Returns what comes next. It must be inlined always, so that it is compiled for the instruction set at hand.
    fn next<R: Real>(state: [R; STATE], inputs: [R; INPUTS]) -> Next<R, STATE>;
}

/// What comes next.
pub(crate) struct Next<R, const STATE: usize> {
    pub(crate) state: [R; STATE],
    pub(crate) reward: R,
    /// 1 if the episode ends, otherwise 0.
    pub(crate) is_over: R,
}

impl<R: Real, const STATE: usize> Next<R, STATE> {
    /// Writes a lane to where the caller keeps states.
    #[inline(always)]
    fn write(&self, lane: usize, state: &mut [f64; STATE]) -> Outcome {
        *state = self.state.map(|x| x.lane(lane));
        Outcome { reward: self.reward.lane(lane), is_over: self.is_over.lane(lane) == 1.0 }
    }
}

/// [`Environment::step`](crate::Environment::step).
#[inline]
pub(crate) fn step<D: Dynamics<STATE, INPUTS>, const STATE: usize, const INPUTS: usize>(
    state: &mut [f64],
    action: Action,
    random: &mut Random,
) -> Outcome {
    D::next(*numbers(state), D::inputs(action, random)).write(0, numbers_mut(state))
}

/// [`Environment::step_all`](crate::Environment::step_all).
pub(crate) fn step_all<D: Dynamics<STATE, INPUTS>, const STATE: usize, const INPUTS: usize>(
    states: &mut [f64],
    actions: &[Action],
    randoms: &mut [Random],
    outcomes: &mut [Outcome],
) {
    let states = states.as_chunks_mut().0;
    let count = states.len().min(actions.len()).min(randoms.len()).min(outcomes.len());
    let isa = Isa::best();
    for first in (0..count).step_by(WIDTH) {
        let places = first..count.min(first + WIDTH);
        let (mut state, mut inputs) = ([Lanes([0.0; WIDTH]); STATE], [Lanes([0.0; WIDTH]); INPUTS]);
        for (lane, k) in places.clone().enumerate() {
            let alone: &[f64; STATE] = &states[k];
            state.iter_mut().zip(alone).for_each(|(lanes, x)| lanes.0[lane] = *x);
            let alone = D::inputs(actions[k], &mut randoms[k]);
            inputs.iter_mut().zip(alone).for_each(|(lanes, x)| lanes.0[lane] = x);
        }
        let next = isa.run(
            #[inline(always)]
            || D::next(state, inputs),
        );
        for (lane, k) in places.enumerate() {
            outcomes[k] = next.write(lane, &mut states[k]);
        }
    }
}

/// The nearest number of a range; NaN stays.
#[inline(always)]
pub(crate) fn clamp<R: Real>(x: R, low: f64, high: f64) -> R {
    let (low, high) = (R::splat(low), R::splat(high));
    let x = x.if_less(low, low, x);
    high.if_less(x, high, x)
}

/// cos x, lane by lane.
#[inline(always)]
pub(crate) fn cos<R: Real>(x: R) -> R {
    R::from_lanes(
        #[inline(always)]
        |lane| elementary::cos(x.lane(lane % R::LANES)),
    )
}
