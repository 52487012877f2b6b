//! No emphasis.

use super::Emphasis;
use crate::catalogue::Role;
use crate::{Built, ComposeError, Declaration, Declared, Part, PartBuilder, Real, Seen, StateError, Visitor};

impl Declared for NoEmphasis {
    const DECLARATION: Declaration = Declaration {
        source: "Degris, White and Sutton 2012",
        ..Declaration::new(
            Role::Emphasis,
            "none",
            "NoEmphasis",
            "every state counts by its interest: the semi-gradient of OffPAC and DPG",
        )
    };

    fn build<R: Real>(with: &PartBuilder<R>) -> Result<Built<R>, ComposeError> {
        with.emphasis(NoEmphasis)
    }
}

/// Every state counts by its interest: the semi-gradient of OffPAC and DPG.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NoEmphasis;

impl<R: Real> Part<R> for NoEmphasis {
    fn tensors(&mut self, visitor: &mut Visitor) -> Result<(), StateError> {
        visitor.kind(NoEmphasis::DECLARATION.name)
    }
}

impl<R: Real> Emphasis<R> for NoEmphasis {
    #[inline(always)]
    fn weigh(&mut self, step: &Seen, _rho: R) -> R {
        R::splat(step.interest)
    }

    fn needs_ratio(&self) -> bool {
        false
    }

    fn learns(&self) -> bool {
        false
    }
}
