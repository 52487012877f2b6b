//! How an experiment is run: threads, shard, lanes and instruction set. The results do not depend on it.

use crate::table::Unit;
use emphatic::Isa;

/// A part of the units, for one of several processes: number `index` (from 1) of `count`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// The number of this shard, from 1.
    pub index: usize,
    /// The number of shards.
    pub count: usize,
}

impl Shard {
    /// Returns whether a unit belongs to this shard. Neighbouring blocks may take very different times, so that every shard gets some
    /// runs of each.
    pub(crate) fn contains(self, unit: &Unit) -> bool {
        (unit.block as usize + unit.run as usize) % self.count.max(1) + 1 == self.index
    }
}

/// How an experiment is run. The results do not depend on it.
///
/// Start from `Options::default()` and change the fields.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The number of threads.
    pub threads: usize,
    /// Which part of the units is run, if not all.
    pub shard: Option<Shard>,
    /// The number of lanes.
    pub lanes: LaneCount,
    /// The instruction set.
    pub isa: Isa,
}

impl Default for Options {
    /// All cores, all units.
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        Self { threads, shard: None, lanes: LaneCount::default(), isa: Isa::best() }
    }
}

/// The most learners that learn side by side. The results are the same bits; the speed is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneCount {
    /// One at a time.
    One,
    /// Sixteen: the fastest.
    #[default]
    Sixteen,
}
