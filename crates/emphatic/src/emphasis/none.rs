//! No emphasis.

use super::Emphasis;
use crate::catalogue::{Declaration, Declared, Role};
use crate::compose::{Built, PartBuilder};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;
use crate::saved_state::StateError;
use crate::visitor::Visitor;

/// Declares [`NoEmphasis`] to the catalogue.
#[derive(Debug)]
pub struct NoEmphasisDeclaration;

impl Declared for NoEmphasisDeclaration {
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
        visitor.kind(NoEmphasisDeclaration::DECLARATION.name)
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
