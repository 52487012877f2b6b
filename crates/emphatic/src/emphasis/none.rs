//! No emphasis.

use super::Emphasis;
use crate::catalogue::{Declaration, Declared, Role};
use crate::compose::{Built, PartBuilder};
use crate::part::{ComposeError, Part, Seen};
use crate::real::Real;

/// [`NoEmphasis`] in the catalogue.
#[derive(Debug)]
pub struct InCatalogue;

impl Declared for InCatalogue {
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

impl<R: Real> Part<R> for NoEmphasis {}

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
