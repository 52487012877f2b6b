//! Parts behind a pointer, compiled for every instruction set.
//!
//! A part that is boxed is not inlined into the loop that was compiled for an instruction set. So each of its methods is compiled
//! for every set here, at the leaf, and chosen when it is called. The results are the same bits.

use crate::critic::{ActionCritic, Critic, SlopeCritic};
use crate::emphasis::Emphasis;
use crate::features::{Features, State};
use crate::isa::{Isa, Kernel};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;
use crate::tensors::{StateError, Visitor};
use std::any::Any;

/// A part to be boxed, compiled for every instruction set.
///
/// ```
/// use emphatic::{ActorCritic, Critic, Emphasis, Features, FollowOn, Gtd, Isa, Lanes, Leaf, Real, Softmax};
/// type Number = Lanes<16>;
/// let number = Number::splat;
/// let isa = Isa::best();
/// let critic = Gtd::new(Features::dense(3), number(0.05), number(1e-4), number(0.5))?;
/// let critic: Box<dyn Critic<Number>> = Box::new(Leaf { isa, part: critic });
/// let emphasis: Box<dyn Emphasis<Number>> = Box::new(Leaf { isa, part: FollowOn::new(number(0.9))? });
/// let policy = Softmax { features: Features::dense(3), actions: 2 };
/// let learner = ActorCritic::new(policy, critic, emphasis, number(0.1))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Leaf<T> {
    /// The instruction set that it is run with.
    pub isa: Isa,
    /// The part.
    pub part: T,
}

/// Runs a method as a kernel, so that it is inlined into a function that was compiled for the instruction set. Numbers are handed over by
/// reference: copied by plain instructions, they would keep wide registers waiting.
macro_rules! at_leaf {
    ($self:ident, $trait:path, |$part:ident: $t:ident, $($name:ident: $type:ty),*| -> $output:ty { $body:expr }) => {{
        struct Call<'a, $t, R> {
            part: &'a mut $t,
            $($name: $type,)*
            number: std::marker::PhantomData<R>,
        }
        impl<$t: $trait, R: Real> Kernel for Call<'_, $t, R> {
            type Output = $output;

            #[inline(always)]
            fn run(self) -> $output {
                let Self { part: $part, $($name,)* .. } = self;
                $body
            }
        }
        $self.isa.run(Call { part: &mut $self.part, $($name,)* number: std::marker::PhantomData::<R> })
    }};
}

impl<R: Real, T: Part<R>> Part<R> for Leaf<T> {
    fn features(&self) -> Option<&Features> {
        self.part.features()
    }

    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        self.part.all_features(list);
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        self.part.set_policy(policy)
    }

    fn follows_policy(&self) -> bool {
        self.part.follows_policy()
    }

    fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        at_leaf!(self, Part<R>, |part: T, weights: &'a [R], state: Option<State<'a>>| -> () {
            part.policy_changed(weights, state)
        });
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        self.part.tensors(visitor)
    }
}

impl<R: Real, T: Critic<R>> Critic<R> for Leaf<T> {
    // These are compiled for the plain set alone, to keep the compiler's work small: at every step `update` is called, and the value only
    // by a critic around this one.
    fn value(&mut self, step: &Seen) -> R {
        self.part.value(step)
    }

    fn next_value(&mut self, step: &Seen) -> R {
        self.part.next_value(step)
    }

    fn delta(&mut self, step: &Seen) -> R {
        self.part.delta(step)
    }

    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        self.part.learn(step, rho, delta)
    }

    fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
        let rho = &rho;
        at_leaf!(self, Critic<R>, |part: T, step: &'a Seen<'a>, rho: &'a R| -> [R; 2] {
            part.update(step, *rho)
        })
    }
}

impl<R: Real, T: ActionCritic<R>> ActionCritic<R> for Leaf<T> {
    fn actions(&self) -> usize {
        self.part.actions()
    }

    fn wants_next(&self) -> bool {
        self.part.wants_next()
    }

    fn advantages(&mut self, step: &Seen, out: &mut [R]) {
        at_leaf!(self, ActionCritic<R>, |part: T, step: &'a Seen<'a>, out: &'a mut [R]| -> () {
            part.advantages(step, out)
        });
    }

    fn learn(&mut self, step: &Seen, next: &[R], rho: R) -> R {
        let rho = &rho;
        at_leaf!(self, ActionCritic<R>, |part: T, step: &'a Seen<'a>, next: &'a [R], rho: &'a R| -> R {
            part.learn(step, next, *rho)
        })
    }
}

impl<R: Real, T: SlopeCritic<R>> SlopeCritic<R> for Leaf<T> {
    fn slope(&mut self, step: &Seen, action: R) -> R {
        let action = &action;
        at_leaf!(self, SlopeCritic<R>, |part: T, step: &'a Seen<'a>, action: &'a R| -> R {
            part.slope(step, *action)
        })
    }

    fn learn(&mut self, step: &Seen, action: R) -> R {
        let action = &action;
        at_leaf!(self, SlopeCritic<R>, |part: T, step: &'a Seen<'a>, action: &'a R| -> R {
            part.learn(step, *action)
        })
    }
}

impl<R: Real, T: Emphasis<R>> Emphasis<R> for Leaf<T> {
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        let rho = &rho;
        at_leaf!(self, Emphasis<R>, |part: T, step: &'a Seen<'a>, rho: &'a R| -> R { part.weigh(step, *rho) })
    }

    fn needs_ratio(&self) -> bool {
        self.part.needs_ratio()
    }

    fn learns(&self) -> bool {
        self.part.learns()
    }

    fn learn(&mut self, step: &Seen, rho: R) -> R {
        let rho = &rho;
        at_leaf!(self, Emphasis<R>, |part: T, step: &'a Seen<'a>, rho: &'a R| -> R { part.learn(step, *rho) })
    }
}

impl<R: Real, T: Part<R> + ?Sized> Part<R> for Box<T> {
    #[inline(always)]
    fn features(&self) -> Option<&Features> {
        (**self).features()
    }

    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        (**self).all_features(list);
    }

    fn set_policy(&mut self, policy: &dyn Any) -> Result<(), ComposeError> {
        (**self).set_policy(policy)
    }

    fn follows_policy(&self) -> bool {
        (**self).follows_policy()
    }

    #[inline(always)]
    fn policy_changed(&mut self, weights: &[R], state: Option<State>) {
        (**self).policy_changed(weights, state);
    }

    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        (**self).tensors(visitor)
    }
}

impl<R: Real, T: Critic<R> + ?Sized> Critic<R> for Box<T> {
    #[inline(always)]
    fn value(&mut self, step: &Seen) -> R {
        (**self).value(step)
    }

    #[inline(always)]
    fn next_value(&mut self, step: &Seen) -> R {
        (**self).next_value(step)
    }

    #[inline(always)]
    fn delta(&mut self, step: &Seen) -> R {
        (**self).delta(step)
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R, delta: R) -> R {
        (**self).learn(step, rho, delta)
    }

    #[inline(always)]
    fn update(&mut self, step: &Seen, rho: R) -> [R; 2] {
        (**self).update(step, rho)
    }
}

impl<R: Real, T: ActionCritic<R> + ?Sized> ActionCritic<R> for Box<T> {
    fn actions(&self) -> usize {
        (**self).actions()
    }

    fn wants_next(&self) -> bool {
        (**self).wants_next()
    }

    #[inline(always)]
    fn advantages(&mut self, step: &Seen, out: &mut [R]) {
        (**self).advantages(step, out);
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, next: &[R], rho: R) -> R {
        (**self).learn(step, next, rho)
    }
}

impl<R: Real, T: SlopeCritic<R> + ?Sized> SlopeCritic<R> for Box<T> {
    #[inline(always)]
    fn slope(&mut self, step: &Seen, action: R) -> R {
        (**self).slope(step, action)
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, action: R) -> R {
        (**self).learn(step, action)
    }
}

impl<R: Real, T: Emphasis<R> + ?Sized> Emphasis<R> for Box<T> {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, rho: R) -> R {
        (**self).weigh(step, rho)
    }

    fn needs_ratio(&self) -> bool {
        (**self).needs_ratio()
    }

    fn learns(&self) -> bool {
        (**self).learns()
    }

    #[inline(always)]
    fn learn(&mut self, step: &Seen, rho: R) -> R {
        (**self).learn(step, rho)
    }
}
