//! Actions.

use std::fmt::Debug;

/// An action of any kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// One of finitely many, by its number.
    Number(usize),
    /// A real number.
    Real(f64),
}

impl From<usize> for Action {
    #[inline(always)]
    fn from(number: usize) -> Self {
        Self::Number(number)
    }
}

impl From<f64> for Action {
    #[inline(always)]
    fn from(real: f64) -> Self {
        Self::Real(real)
    }
}

/// The types of actions that policies have.
pub trait Acts: Copy + Debug + Into<Action> + Send + Sync + 'static {
    /// Returns the action if it is of this kind; `None` if not.
    fn of(action: Action) -> Option<Self>;
}

impl Acts for usize {
    #[inline(always)]
    fn of(action: Action) -> Option<Self> {
        if let Action::Number(number) = action { Some(number) } else { None }
    }
}

impl Acts for f64 {
    #[inline(always)]
    fn of(action: Action) -> Option<Self> {
        if let Action::Real(real) = action { Some(real) } else { None }
    }
}

/// Returns the number of an action, which has been checked to be one.
#[inline(always)]
pub(crate) fn number(action: Action) -> usize {
    usize::of(action).unwrap_or(0)
}
