//! Parts behind a pointer, compiled for every instruction set.
//!
//! A boxed part is not inlined into the loop that was compiled for an instruction set. So each of its methods is compiled here
//! for every set, and the right one is chosen when it is called. The results are the same bits.

use crate::critic::{ActionCritic, Critic, SlopeCritic};
use crate::emphasis::Emphasis;
use crate::features::{Features, State};
use crate::instruction_set::{Isa, Kernel};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;
use crate::saved_state::StateError;
use crate::visitor::Visitor;
use std::any::Any;

/// A part to be boxed, compiled for every instruction set.
///
/// ```
/// use emphatic::{ActorCritic, Critic, Emphasis, Features, FollowOn, Gtd, Isa, Lanes, Leaf, Real, Softmax};
/// type Number = Lanes<16>;
/// let number = Number::splat;
/// let isa = Isa::best();
/// let critic = Gtd::builder(Features::dense(3)).alpha_v(number(0.05)).alpha_w(number(1e-4)).build()?;
/// let critic: Box<dyn Critic<Number>> = Box::new(Leaf { isa, part: critic });
/// let emphasis = FollowOn::builder().lambda_a(number(0.9)).build()?;
/// let emphasis: Box<dyn Emphasis<Number>> = Box::new(Leaf { isa, part: emphasis });
/// let policy = Softmax { features: Features::dense(3), actions: 2 };
/// let learner = ActorCritic::builder(policy, critic, emphasis).alpha(number(0.1)).build()?;
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

    fn depends_on_policy(&self) -> bool {
        self.part.depends_on_policy()
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
    // Compiled for the plain set alone, to keep compile times short: a step calls `update`, and only a critic around this one
    // calls the others.
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

/// Defines methods of a box that call the same methods of what is in it.
macro_rules! forward {
    ($($receiver:tt $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {
        $($crate::leaf::forward!(@$receiver $name($($argument: $type),*) $(-> $output)?);)*
    };
    (@ref $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $name(&self, $($argument: $type),*) $(-> $output)? {
            (**self).$name($($argument),*)
        }
    };
    (@mut $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $name(&mut self, $($argument: $type),*) $(-> $output)? {
            (**self).$name($($argument),*)
        }
    };
}
pub(crate) use forward;

impl<R: Real, T: Part<R> + ?Sized> Part<R> for Box<T> {
    fn all_features<'a>(&'a self, list: &mut Vec<&'a Features>) {
        (**self).all_features(list);
    }

    forward! {
        ref features() -> Option<&Features>;
        mut set_policy(policy: &dyn Any) -> Result<(), ComposeError>;
        ref depends_on_policy() -> bool;
        mut policy_changed(weights: &[R], state: Option<State>);
        mut tensors(visitor: &mut Visitor) -> Result<(), StateError>;
    }
}

impl<R: Real, T: Critic<R> + ?Sized> Critic<R> for Box<T> {
    forward! {
        mut value(step: &Seen) -> R;
        mut next_value(step: &Seen) -> R;
        mut delta(step: &Seen) -> R;
        mut learn(step: &Seen, rho: R, delta: R) -> R;
        mut update(step: &Seen, rho: R) -> [R; 2];
    }
}

impl<R: Real, T: ActionCritic<R> + ?Sized> ActionCritic<R> for Box<T> {
    forward! {
        ref actions() -> usize;
        ref wants_next() -> bool;
        mut advantages(step: &Seen, out: &mut [R]);
        mut learn(step: &Seen, next: &[R], rho: R) -> R;
    }
}

impl<R: Real, T: SlopeCritic<R> + ?Sized> SlopeCritic<R> for Box<T> {
    forward! {
        mut slope(step: &Seen, action: R) -> R;
        mut learn(step: &Seen, action: R) -> R;
    }
}

impl<R: Real, T: Emphasis<R> + ?Sized> Emphasis<R> for Box<T> {
    forward! {
        mut weigh(step: &Seen, rho: R) -> R;
        ref needs_ratio() -> bool;
        ref learns() -> bool;
        mut learn(step: &Seen, rho: R) -> R;
    }
}
