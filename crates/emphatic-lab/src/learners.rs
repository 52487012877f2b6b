//! The catalogue from which learners are composed.

use emphatic::{Catalogue, Fixed};
use std::sync::LazyLock;

/// Returns the parts that files may name, and the fixed policy of a target that is evaluated, which they may not: it is the experiment's.
pub(crate) fn learners() -> &'static Catalogue {
    static LEARNERS: LazyLock<Catalogue> = LazyLock::new(|| Catalogue::current().clone().with::<Fixed>());
    &LEARNERS
}
