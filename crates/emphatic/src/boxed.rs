//! Parts and learners behind a pointer.
//!
//! A boxed part is not inlined into the loop that was compiled for an instruction set. So the methods that learners call at every step
//! are compiled here for AVX2 and for the plain set, and the right one is chosen when it is called. (AVX-512 would take the compiler as long again, for parts
//! that are mostly bound by memory.) The results are the same bits.

use crate::{
    ActionCritic, ActorInput, ActorRule, AnyPolicy, ComposeError, Critic, Emphasis, Features, Isa, Part,
    Real, Seen, SlopeCritic, State, StateError, Visitor,
};
use std::any::Any;

/// A part to be boxed, whose methods run compiled for an instruction set.
///
/// ```
/// use emphatic::{ActorCritic, Critic, Emphasis, Features, FollowOn, Gtd, Isa, Lanes, Real, Softmax, WithIsa};
/// type Number = Lanes<16>;
/// let number = Number::splat;
/// let isa = Isa::best();
/// let critic = Gtd::builder(Features::dense(3)).alpha_v(number(0.05)).alpha_w(number(1e-4)).build()?;
/// let critic: Box<dyn Critic<Number>> = Box::new(WithIsa { isa, part: critic });
/// let emphasis = FollowOn::builder().lambda_a(number(0.9)).build()?;
/// let emphasis: Box<dyn Emphasis<Number>> = Box::new(WithIsa { isa, part: emphasis });
/// let policy = Softmax { features: Features::dense(3), actions: 2 };
/// let learner = ActorCritic::builder(policy, critic, emphasis).alpha(number(0.1)).build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct WithIsa<T> {
    /// The instruction set that it is run with.
    pub isa: Isa,
    /// The part.
    pub part: T,
}

/// Defines methods of a box that call the same methods of what is in it.
macro_rules! forward {
    ($($receiver:ident $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*) => {
        $($crate::boxed::forward!(@$receiver $name($($argument: $type),*) $(-> $output)?);)*
    };
    (@ref $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $name(&self, $($argument: $type),*) $(-> $output)? {
            (**self).$name($($argument),*)
        }
    };
    (@$receiver:ident $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        #[inline(always)]
        fn $name(&mut self, $($argument: $type),*) $(-> $output)? {
            (**self).$name($($argument),*)
        }
    };
}
pub(crate) use forward;

/// Defines methods of a part [`WithIsa`] that call the same methods of the part. Those marked `isa` are compiled for AVX2 and the plain
/// set; the closure borrows numbers, which would keep wide registers waiting if plain instructions copied them.
macro_rules! forward_with_isa {
    (ref $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        fn $name(&self, $($argument: $type),*) $(-> $output)? {
            self.part.$name($($argument),*)
        }
    };
    (mut $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        fn $name(&mut self, $($argument: $type),*) $(-> $output)? {
            self.part.$name($($argument),*)
        }
    };
    (isa $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?) => {
        fn $name(&mut self, $($argument: $type),*) $(-> $output)? {
            self.isa.run_avx2(#[inline(always)] || self.part.$name($($argument),*))
        }
    };
}

/// Implements a trait of parts for boxes and for parts [`WithIsa`].
macro_rules! boxed {
    ($trait:ident {
        $($receiver:ident $name:ident($($argument:ident: $type:ty),*) $(-> $output:ty)?;)*
    }) => {
        impl<R: Real, T: $trait<R> + ?Sized> $trait<R> for Box<T> {
            forward! { $($receiver $name($($argument: $type),*) $(-> $output)?;)* }
        }

        impl<R: Real, T: $trait<R>> $trait<R> for WithIsa<T> {
            $(forward_with_isa!($receiver $name($($argument: $type),*) $(-> $output)?);)*
        }
    };
}

boxed!(Part {
    ref features() -> Option<&Features>;
    ref all_features() -> Vec<&Features>;
    mut set_policy(policy: &dyn Any) -> Result<(), ComposeError>;
    ref depends_on_policy() -> bool;
    isa policy_changed(weights: &[R], state: Option<State>);
    mut tensors(visitor: &mut Visitor) -> Result<(), StateError>;
});

// Only a critic around this one asks for values: to keep compile times short, they are compiled for the plain set alone.
boxed!(Critic {
    mut value(step: &Seen) -> R;
    mut next_value(step: &Seen) -> R;
    isa update(step: &Seen, rho: R) -> [R; 2];
});

boxed!(ActionCritic {
    ref actions() -> usize;
    ref wants_next() -> bool;
    mut value(step: &Seen, policy: &[R]) -> R;
    isa advantages(step: &Seen, policy: &[R], out: &mut [R]);
    mut next_advantages(step: &Seen, next: &[R], out: &mut [R]);
    isa learn(step: &Seen, policy: &[R], next: &[R], rho: R) -> R;
});

boxed!(SlopeCritic {
    isa slope(step: &Seen, action: R) -> R;
    isa learn(step: &Seen, action: R) -> R;
});

/// An actor whose type is not known is an actor all the same.
impl<R: Real, C: ?Sized, T: ActorRule<R, C> + ?Sized> ActorRule<R, C> for Box<T> {
    forward! {
        ref all_features() -> Vec<&Features>;
        mut set_policy(policy: &dyn AnyPolicy<R>) -> Result<(), ComposeError>;
        mut policy_changed(weights: &[R], state: Option<State>);
        mut learn(input: ActorInput<R>, critic: &mut C) -> [R; 2];
        mut tensors(visitor: &mut Visitor) -> Result<(), StateError>;
    }
}

boxed!(Emphasis {
    isa weigh(step: &Seen, rho: R) -> R;
    ref needs_ratio() -> bool;
    ref learns() -> bool;
    isa learn(step: &Seen, rho: R) -> R;
});
