//! Warm-up: critic and emphasis learn, the actor waits.

use crate::settings::{Range, Setting};
use crate::{Real, SettingError, StateError, Step, Visitor};
use serde::{Deserialize, Serialize};

/// How long the actor waits.
pub const WARM_UP: Setting = Setting {
    name: "warm_up",
    range: Range::Amount,
    default: Some(0.0),
    about: "how long the actor waits while critic and emphasis learn",
};

/// What a warm-up is counted in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// In steps.
    #[default]
    Steps,
    /// In episodes.
    Episodes,
}

/// The time in which the actor waits. Off-policy it costs nothing: the experience is the same whatever the actor does.
#[derive(Clone, Debug)]
pub(super) struct WarmUp<R> {
    /// How many steps or episodes.
    length: R,
    unit: TimeUnit,
    /// How many have begun.
    begun: u64,
    is_over: bool,
}

impl<R: Real> WarmUp<R> {
    pub(super) fn new(length: R, unit: TimeUnit) -> Result<Self, SettingError> {
        WARM_UP.range.check(WARM_UP.name, length)?;
        Ok(Self { length, unit, begun: 0, is_over: false })
    }

    /// Returns the actor's step-size at this step: zero in the lanes in which it waits.
    #[inline(always)]
    pub(super) fn step_size<S, A>(&mut self, step: &Step<S, A>, step_size: R) -> R {
        // It is counted to the end, so that a lane's count does not depend on how long the others wait.
        if self.unit == TimeUnit::Steps || step.gamma == 0.0 || self.begun == 0 {
            // A saved state may have any number.
            self.begun = self.begun.saturating_add(1);
        }
        if self.is_over { step_size } else { self.wait(step_size) }
    }

    #[inline(never)]
    fn wait(&mut self, step_size: R) -> R {
        let begun = R::splat(self.begun as f64);
        self.is_over = self.length.if_less(begun, R::zero(), R::one()).all_zero();
        self.length.if_less(begun, step_size, R::zero())
    }

    pub(super) fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.setting(WARM_UP.name, self.length)?;
        visitor.text("warm_up_in", if self.unit == TimeUnit::Steps { "steps" } else { "episodes" })?;
        visitor.counts("begun", std::slice::from_mut(&mut self.begun))?;
        if visitor.restores() {
            self.is_over = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lanes;

    #[test]
    fn the_actor_waits_for_as_long_as_it_is_told_in_each_lane() {
        let mut steps = WarmUp::new(Lanes([0.0, 2.0, 3.0]), TimeUnit::Steps).unwrap();
        let mut episodes = WarmUp::new(Lanes([0.0, 1.0, 2.0]), TimeUnit::Episodes).unwrap();
        let right = [[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5; 3], [0.5; 3]];
        for (t, right) in right.into_iter().enumerate() {
            let step = Step::between(0, 0, 0);
            assert_eq!(steps.step_size(&step, Lanes::splat(0.5)), Lanes(right), "{t}");
        }
        // Two episodes of two steps, and a third.
        let right = [[0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.5; 3]];
        for (t, right) in right.into_iter().enumerate() {
            let step = Step { gamma: if t % 2 == 0 { 0.0 } else { 0.9 }, ..Step::between(0, 0, 0) };
            assert_eq!(episodes.step_size(&step, Lanes::splat(0.5)), Lanes(right), "{t}");
        }
        assert!(steps.is_over && episodes.is_over);
        assert_eq!((steps.begun, episodes.begun), (5, 3));
        assert!(WarmUp::new(-1.0, TimeUnit::Steps).is_err());
    }
}
