//! Tile coding: binary features of a box.

use super::settings::{BasisSetting, BasisSettings, Kind};
use super::{Basis, BasisDeclaration, BasisError, DeclaredBasis, MOST_FEATURES, SIDE_BY_SIDE, checked_count};
use crate::{FeatureError, Isa};
use std::collections::HashMap;

/// Tile coding (Sutton and Barto 2018, section 9.5.4) by several grids, each displaced by a part of a tile.
///
/// `tiles` of them span the box in each dimension, and every tiling has one more, so that it covers the box when displaced. Tiling k is displaced
/// by (k · `displacement` mod `tilings`) / `tilings` of a tile, where the `displacement` of the dimensions is 1, 3, 5, … if it is not given: then tilings do not line up along the
/// diagonal.
///
/// A tile's number is counted as the digits of a number are, the first dimension being the slowest: tiling · ∏(tiles + 1) + Σ_i c_i ∏_{j>i}(tiles_j + 1) with
/// c_i = ⌊(s_i − low_i)/(high_i − low_i) · tiles_i + displacement⌋. The bias unit, if there is one, is the last feature.
///
/// An observation exactly at the upper bound belongs to the last tile, as those just below do. With `edge_tile` it has the tile beyond instead, which in a tiling that is
/// not displaced is active there alone. In a dimension that wraps around it is the same as the lower bound, and there is no additional tile.
///
/// With `memory`, tiles share that many features, by a hash of their coordinates; each tiling has its share of them, so that an observation
/// never has a feature twice.
#[derive(Clone, Debug)]
pub struct TileCoder {
    tilings: usize,
    dimensions: Vec<Dimension>,
    /// How far each tiling is displaced in each dimension, dimension by dimension, and the distance between dimensions in this list.
    displacements: Vec<f64>,
    padded: usize,
    /// The number of features of a tiling.
    per_tiling: usize,
    is_hashed: bool,
    has_bias: bool,
    outside: Outside,
    name: &'static str,
}

/// How many tilings are computed side by side.
const BLOCK: usize = 8;

/// Adding this to a whole number puts it into the lowest bits.
const TWO_POW_52: f64 = 4503599627370496.0;
const MANTISSA: u64 = (1 << 52) - 1;

/// Adding and subtracting this rounds to a whole number.
const ROUND: f64 = 6755399441055744.0; // 1.5 · 2⁵²

/// What happens to observations out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outside {
    /// They are moved to the edge.
    Clip,
    /// They are refused.
    Refuse,
    /// Tiles go on.
    GoOn,
}

#[derive(Clone, Debug)]
struct Dimension {
    low: f64,
    high: f64,
    tiles: f64,
    /// The largest place, in tiles, before displacement.
    most: f64,
    wraps: bool,
    /// The number of tiles of a tiling; the one after the last is the first, where it wraps around.
    side: f64,
    /// The distance between the numbers of neighbouring tiles. (Numbers of tiles are exact in floating point, where they are computed faster.)
    stride: f64,
}

impl DeclaredBasis for TileCoder {
    const DECLARATION: BasisDeclaration = BasisDeclaration {
        name: "tiles",
        class: "TileCoder",
        about: "tile coding: the tiles in which an observation lies, one of each tiling",
        source: "Sutton and Barto 2018, section 9.5.4",
        settings: &[
            BasisSetting::LOW,
            BasisSetting::HIGH,
            BasisSetting {
                name: "tiles",
                kind: Kind::Counts,
                default: None,
                about: "how many tiles span the bounds",
            },
            BasisSetting {
                name: "tilings",
                kind: Kind::Count,
                default: None,
                about: "how many grids, each displaced by a part of a tile",
            },
            BasisSetting::BIAS,
            BasisSetting {
                name: "displacement",
                kind: Kind::Counts,
                default: Some("[1, 3, 5, …]"),
                about: "by how many parts of a tile a tiling is displaced from the one before",
            },
            BasisSetting::WRAPS,
            BasisSetting {
                name: "outside",
                kind: Kind::Word(&["clip", "refuse", "go-on"]),
                default: Some("\"clip\""),
                about: "what happens out of bounds: `clip` moves an observation to the edge, `refuse` is an error, `go-on` has more tiles there (and needs `memory`)",
            },
            BasisSetting {
                name: "edge_tile",
                kind: Kind::Flag,
                default: Some("false"),
                about: "whether an observation exactly at the upper bound has the tile beyond the last",
            },
            BasisSetting {
                name: "memory",
                kind: Kind::Whole,
                default: Some("0"),
                about: "by how many features tiles are represented, through hashing; 0 is one for each tile",
            },
        ],
    };

    fn build(settings: &BasisSettings) -> Result<Self, BasisError> {
        let (low, high, wraps) =
            (settings.numbers("low")?, settings.numbers("high")?, settings.flags("wraps")?);
        let (tiles, tilings) = (settings.counts("tiles")?, settings.count("tilings"));
        let outside = match settings.word("outside") {
            "refuse" => Outside::Refuse,
            "go-on" => Outside::GoOn,
            _ => Outside::Clip,
        };
        let memory = settings.count("memory");
        let sides: Vec<usize> =
            tiles.iter().zip(&wraps).map(|(tiles, wraps)| tiles + usize::from(!wraps)).collect();
        let per_tiling = match memory {
            0 if outside == Outside::GoOn => {
                return Err(settings.wrong(
                    "outside",
                    "tiles that go on need `memory`, the number of features that they share",
                ));
            }
            0 => {
                checked_count(sides.iter().copied().chain([tilings]), MOST_FEATURES)?;
                sides.iter().product()
            }
            _ if memory < tilings => {
                return Err(settings
                    .wrong("memory", format!("it must be 0, or at least the number of tilings, {tilings}")));
            }
            _ => memory / tilings,
        };
        let edge_tile = settings.flag("edge_tile");
        let dimension = |i: usize| {
            let count = tiles[i] as f64;
            // The upper edge belongs to the last tile, unless it has its own.
            let most = if edge_tile { count } else { count.next_down() };
            let stride: usize = if memory == 0 { sides[i + 1..].iter().product() } else { 1 };
            let (side, stride) = (sides[i] as f64, stride as f64);
            Dimension { low: low[i], high: high[i], tiles: count, most, wraps: wraps[i], side, stride }
        };
        let dimensions: Vec<Dimension> = (0..low.len()).map(dimension).collect();
        Ok(Self {
            tilings,
            displacements: displacements(settings, tilings)?,
            padded: tilings.next_multiple_of(BLOCK),
            dimensions,
            per_tiling,
            is_hashed: memory > 0,
            has_bias: settings.flag("bias"),
            outside,
            name: settings.basis(),
        })
    }
}

/// Returns how far each tiling is displaced in each dimension, in tiles.
fn displacements(settings: &BasisSettings, tilings: usize) -> Result<Vec<f64>, BasisError> {
    let given = settings.is_set("displacement").then(|| settings.counts("displacement")).transpose()?;
    let odd = || (0..settings.dimensions()).map(|i| 2 * i + 1).collect();
    let parts: Vec<usize> = given.unwrap_or_else(odd);
    let padded = tilings.next_multiple_of(BLOCK);
    let of = |parts: &usize| {
        (0..padded).map(|k| (k * parts % tilings) as f64 / tilings as f64).collect::<Vec<_>>()
    };
    Ok(parts.iter().flat_map(of).collect())
}

impl Basis for TileCoder {
    fn dimensions(&self) -> usize {
        self.dimensions.len()
    }

    fn len(&self) -> usize {
        self.tilings * self.per_tiling + usize::from(self.has_bias)
    }

    fn most_active(&self) -> usize {
        self.tilings + usize::from(self.has_bias)
    }

    fn is_dense(&self) -> bool {
        false
    }

    fn check(&self, observation: &[f64]) -> Result<(), FeatureError> {
        if self.outside != Outside::Refuse {
            return Ok(());
        }
        let is_outside = |(x, d): &(&f64, &Dimension)| !d.wraps && !(d.low..=d.high).contains(*x);
        match observation.iter().zip(&self.dimensions).position(|pair| is_outside(&pair)) {
            Some(index) => {
                let Dimension { low, high, .. } = self.dimensions[index];
                Err(FeatureError::Outside { index, value: observation[index], low, high, basis: self.name })
            }
            None => Ok(()),
        }
    }

    #[inline]
    fn write(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        if self.is_hashed {
            self.write_hashed(observation, row);
        } else {
            self.write_counted(observation, row);
        }
        if self.has_bias {
            row.push((self.tilings * self.per_tiling, 1.0));
        }
    }

    fn write_active(&self, observations: &[f64], isa: Isa, active: &mut Vec<[usize; SIDE_BY_SIDE]>) -> bool {
        if !self.is_hashed {
            isa.run(
                #[inline(always)]
                || self.count_side_by_side(observations, active),
            );
        }
        !self.is_hashed
    }
}

impl Dimension {
    /// Returns the place of a value in tiles, before displacement.
    #[inline(always)]
    fn place(&self, x: f64, goes_on: bool) -> f64 {
        if self.wraps {
            let share = (x - self.low) / (self.high - self.low);
            let place = (share - share.floor()) * self.tiles;
            return if place < self.tiles { place } else { 0.0 };
        }
        let x = if !goes_on && x < self.low { self.low } else { x };
        let x = if !goes_on && x > self.high { self.high } else { x };
        let place = (x - self.low) / (self.high - self.low) * self.tiles;
        if goes_on || place < self.most { place } else { self.most }
    }
}

impl TileCoder {
    #[inline(always)]
    fn write_counted(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        // Some tilings at a time, without a branch for each: they are computed side by side.
        for first in (0..self.tilings).step_by(BLOCK) {
            let count = BLOCK.min(self.tilings - first);
            let mut numbers = [0.0; BLOCK];
            for (i, (dimension, x)) in self.dimensions.iter().zip(observation).enumerate() {
                let place = dimension.place(*x, false);
                let displacements = &self.displacements[i * self.padded + first..][..BLOCK];
                for (number, displacement) in numbers.iter_mut().zip(displacements) {
                    let tile = floor(place + displacement);
                    let tile = if tile < dimension.side { tile } else { 0.0 };
                    *number += tile * dimension.stride;
                }
            }
            let whole = numbers.map(whole);
            row.extend(
                (first..).zip(&whole[..count]).map(|(tiling, tile)| (tiling * self.per_tiling + tile, 1.0)),
            );
        }
    }

    /// [`TileCoder::write_counted`] for several observations, side by side.
    #[inline(always)]
    fn count_side_by_side(&self, observations: &[f64], active: &mut Vec<[usize; SIDE_BY_SIDE]>) {
        active.clear();
        let tilings = self.tilings + usize::from(self.has_bias);
        active.extend((0..tilings).map(|tiling| [tiling * self.per_tiling; SIDE_BY_SIDE]));
        for (i, dimension) in self.dimensions.iter().enumerate() {
            let mut places = [0.0; SIDE_BY_SIDE];
            for (place, observation) in
                places.iter_mut().zip(observations.chunks_exact(self.dimensions.len()))
            {
                *place = observation[i];
            }
            for place in &mut places {
                *place = dimension.place(*place, false);
            }
            let displacements = &self.displacements[i * self.padded..][..self.tilings];
            for (numbers, displacement) in active.iter_mut().zip(displacements) {
                for (number, place) in numbers.iter_mut().zip(&places) {
                    let tile = floor(place + displacement);
                    let tile = if tile < dimension.side { tile } else { 0.0 };
                    *number += whole(tile * dimension.stride);
                }
            }
        }
    }

    #[inline(always)]
    fn write_hashed(&self, observation: &[f64], row: &mut Vec<(usize, f64)>) {
        for tiling in 0..self.tilings {
            let hash =
                self.tile(observation, tiling).fold(tiling as u64, |hash, tile| mix(hash, tile as u64));
            row.push((tiling * self.per_tiling + (hash % self.per_tiling as u64) as usize, 1.0));
        }
    }

    /// Returns the coordinates of the tile of a tiling in which an observation lies.
    fn tile(&self, observation: &[f64], tiling: usize) -> impl Iterator<Item = i64> {
        let goes_on = self.outside == Outside::GoOn;
        self.dimensions.iter().zip(observation).enumerate().map(move |(i, (dimension, x))| {
            let tile = (dimension.place(*x, goes_on) + self.displacements[i * self.padded + tiling]).floor();
            if dimension.wraps && tile >= dimension.tiles { 0 } else { tile as i64 }
        })
    }

    /// Returns how many tiles these observations lie in, and how many of them share their feature with another.
    pub fn collisions<'a>(&self, observations: impl IntoIterator<Item = &'a [f64]>) -> (usize, usize) {
        let mut tiles: HashMap<(usize, Vec<i64>), usize> = HashMap::new();
        let mut row = Vec::new();
        for observation in observations {
            row.clear();
            self.write(observation, &mut row);
            for (tiling, (feature, _)) in row.iter().take(self.tilings).enumerate() {
                tiles.entry((tiling, self.tile(observation, tiling).collect())).or_insert(*feature);
            }
        }
        let mut users: HashMap<usize, usize> = HashMap::new();
        tiles.values().for_each(|feature| *users.entry(*feature).or_default() += 1);
        (tiles.len(), users.values().filter(|count| **count > 1).sum())
    }
}

/// Returns the floor of a number between −2⁵¹ and 2⁵¹, which every instruction set has instructions for.
#[inline(always)]
fn floor(x: f64) -> f64 {
    let rounded = (x + ROUND) - ROUND;
    if rounded > x { rounded - 1.0 } else { rounded }
}

/// Returns a number between 0 and 2⁵² as an integer, which every instruction set has instructions for.
#[inline(always)]
fn whole(x: f64) -> usize {
    ((x + TWO_POW_52).to_bits() & MANTISSA) as usize
}

/// Mixes a coordinate into a hash, so that every bit of it reaches every bit of the result.
#[inline(always)]
fn mix(hash: u64, coordinate: u64) -> u64 {
    let x = (hash ^ coordinate).wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::BasisValue;
    use std::collections::BTreeMap;

    fn coder(settings: &[(&str, BasisValue)]) -> Result<TileCoder, BasisError> {
        let values: BTreeMap<String, BasisValue> =
            settings.iter().map(|(name, x)| ((*name).to_owned(), x.clone())).collect();
        TileCoder::build(&BasisSettings::new(&TileCoder::DECLARATION, &values)?)
    }

    fn of_box(
        low: [f64; 2],
        high: [f64; 2],
        tiles: f64,
        tilings: f64,
        more: &[(&str, BasisValue)],
    ) -> TileCoder {
        let mut settings: Vec<(&str, BasisValue)> = vec![
            ("low", low.into()),
            ("high", high.into()),
            ("tiles", tiles.into()),
            ("tilings", tilings.into()),
        ];
        settings.extend(more.iter().cloned());
        coder(&settings).unwrap()
    }

    fn active(coder: &TileCoder, observation: &[f64]) -> Vec<usize> {
        let mut row = Vec::new();
        coder.write(observation, &mut row);
        assert!(row.iter().all(|(f, x)| *x == 1.0 && *f < coder.len()));
        row.into_iter().map(|(f, _)| f).collect()
    }

    /// The documentation of Python's class has the same numbers, from NumPy.
    #[test]
    fn mountain_car() {
        let coder = of_box([-1.2, -0.07], [0.6, 0.07], 8.0, 8.0, &[]);
        assert_eq!(coder.len(), 648);
        assert_eq!(active(&coder, &[-0.4, 0.01]), [31, 112, 194, 274, 365, 446, 526, 608]);
    }

    #[test]
    fn observations_side_by_side_have_the_tiles_of_each_alone() {
        let bias = BasisValue::Flag(true);
        let wraps = BasisValue::Flags(vec![false, true]);
        let coders = [
            of_box([-1.2, -0.07], [0.6, 0.07], 4.0, 8.0, &[("bias", bias.clone())]),
            of_box([-1.0; 2], [1.0; 2], 5.0, 11.0, &[("wraps", wraps)]),
            of_box([0.0; 2], [0.5; 2], 3.0, 1.0, &[("edge_tile", bias)]),
        ];
        // Some of them are on edges and beyond.
        let observations: Vec<f64> = (0..2 * SIDE_BY_SIDE).map(|k| (k as f64 - 16.0) / 10.0).collect();
        for coder in coders {
            for (isa, count) in Isa::ALL.into_iter().zip([SIDE_BY_SIDE, 5, 1]) {
                let mut numbers = vec![[7; SIDE_BY_SIDE]; 3];
                assert!(coder.write_active(&observations[..2 * count], isa, &mut numbers));
                for (lane, observation) in observations.chunks_exact(2).take(count).enumerate() {
                    let in_lane: Vec<usize> = numbers.iter().map(|numbers| numbers[lane]).collect();
                    assert_eq!(in_lane, active(&coder, observation));
                }
            }
        }
        let hashed = of_box([0.0; 2], [1.0; 2], 3.0, 4.0, &[("memory", BasisValue::Number(40.0))]);
        assert!(!hashed.write_active(&observations, Isa::Plain, &mut Vec::new()));
    }

    #[test]
    fn by_hand_in_one_dimension() {
        // Two tilings of [0, 4) by four tiles: the second is displaced by half a tile.
        let settings =
            [("low", [0.0].into()), ("high", [4.0].into()), ("tiles", 4.0.into()), ("tilings", 2.0.into())];
        let coder = coder(&settings).unwrap();
        assert_eq!(coder.len(), 10);
        for (x, first, second) in
            [(0.0, 0, 5), (0.4, 0, 5), (0.5, 0, 6), (1.0, 1, 6), (3.6, 3, 9), (4.0, 3, 9)]
        {
            assert_eq!(active(&coder, &[x]), [first, second], "{x}");
        }
    }

    #[test]
    fn the_upper_bound_has_the_last_tile_or_one_of_its_own() {
        let edge = [("edge_tile", BasisValue::Flag(true))];
        let (plain, own) =
            (of_box([0.0; 2], [1.0; 2], 2.0, 1.0, &[]), of_box([0.0; 2], [1.0; 2], 2.0, 1.0, &edge));
        assert_eq!(active(&plain, &[1.0, 0.0]), [3]);
        assert_eq!(active(&own, &[1.0, 0.0]), [6]);
        // Just below it there is no difference.
        let below = [1.0_f64.next_down(), 0.0];
        assert_eq!(active(&plain, &below), active(&own, &below));
    }

    #[test]
    fn what_is_outside_is_moved_to_the_edge_or_refused_or_has_its_own_tiles() {
        let clip = of_box([0.0; 2], [1.0; 2], 3.0, 4.0, &[]);
        assert_eq!(active(&clip, &[-5.0, 9.0]), active(&clip, &[0.0, 1.0]));
        let refuse = of_box([0.0; 2], [1.0; 2], 3.0, 4.0, &[("outside", "refuse".into())]);
        assert!(refuse.check(&[0.0, 1.0]).is_ok());
        let error = refuse.check(&[0.0, 1.5]).unwrap_err().to_string();
        assert_eq!(error, "entry 1 of the observation is 1.5, outside of the bounds 0 to 1 of `tiles`");
        let more = [("outside", "go-on".into()), ("memory", BasisValue::Number(4000.0))];
        let on = of_box([0.0; 2], [1.0; 2], 3.0, 4.0, &more);
        assert_ne!(active(&on, &[-5.0, 9.0]), active(&on, &[0.0, 1.0]));
        let error = coder(&[
            ("low", [0.0].into()),
            ("high", [1.0].into()),
            ("tiles", 2.0.into()),
            ("tilings", 2.0.into()),
            ("outside", "go-on".into()),
        ]);
        assert!(error.unwrap_err().to_string().contains("need `memory`"));
    }

    #[test]
    fn a_dimension_that_wraps_around_has_no_seam() {
        let wraps = [("wraps", BasisValue::Flags(vec![true, false]))];
        let coder = of_box([-1.0, 0.0], [1.0, 1.0], 4.0, 8.0, &wraps);
        assert_eq!(coder.len(), 8 * 4 * 5);
        assert_eq!(active(&coder, &[-1.0, 0.3]), active(&coder, &[1.0, 0.3]));
        assert_eq!(active(&coder, &[-0.9, 0.3]), active(&coder, &[1.1, 0.3]));
        // Near the seam most tiles are shared.
        let (below, above) = (active(&coder, &[0.99, 0.3]), active(&coder, &[-0.99, 0.3]));
        assert!(below.iter().filter(|tile| above.contains(tile)).count() >= 6);
    }

    #[test]
    fn a_bias_unit_is_the_last_feature() {
        let coder = of_box([0.0; 2], [1.0; 2], 4.0, 8.0, &[("bias", true.into())]);
        assert_eq!((coder.len(), coder.most_active()), (201, 9));
        assert_eq!(active(&coder, &[0.2, 0.2])[8], 200);
    }

    #[test]
    fn displacements_may_be_chosen() {
        let coder = of_box([0.0; 2], [1.0; 2], 4.0, 4.0, &[("displacement", BasisValue::Number(1.0))]);
        // Along the diagonal all tilings are displaced alike.
        assert_eq!(
            [0, 1, 2, 3, 8, 9, 10, 11].map(|k| coder.displacements[k]),
            [0.0, 0.25, 0.5, 0.75, 0.0, 0.25, 0.5, 0.75]
        );
        let odd = of_box([0.0; 2], [1.0; 2], 4.0, 4.0, &[]);
        assert_eq!(
            [0, 1, 2, 3, 8, 9, 10, 11].map(|k| odd.displacements[k]),
            [0.0, 0.25, 0.5, 0.75, 0.0, 0.75, 0.5, 0.25]
        );
    }

    #[test]
    fn collisions_are_counted() {
        let observations: Vec<[f64; 2]> =
            (0..400).map(|k| [f64::from(k % 20) / 20.0, f64::from(k / 20) / 20.0]).collect();
        let count = |coder: &TileCoder| coder.collisions(observations.iter().map(|x| &x[..]));
        let plain = of_box([0.0; 2], [1.0; 2], 9.0, 2.0, &[]);
        let (tiles, shared) = count(&plain);
        assert_eq!(shared, 0);
        let small = of_box([0.0; 2], [1.0; 2], 9.0, 2.0, &[("memory", 50.0.into())]);
        let (hashed_tiles, shared) = count(&small);
        assert_eq!(hashed_tiles, tiles);
        // Some 180 tiles in 50 places: nearly all share one.
        assert!(shared > tiles * 8 / 10, "{shared} of {tiles}");
        let large = of_box([0.0; 2], [1.0; 2], 9.0, 2.0, &[("memory", 2e6.into())]);
        assert_eq!(count(&large), (tiles, 0));
        // An observation never has a feature twice.
        for x in &observations {
            let tiles = active(&small, x);
            assert_ne!(tiles[0], tiles[1]);
        }
    }

    #[test]
    fn too_many_tiles_are_refused() {
        let error = coder(&[
            ("low", vec![0.0; 40].into()),
            ("high", vec![1.0; 40].into()),
            ("tiles", 8.0.into()),
            ("tilings", 8.0.into()),
        ]);
        assert!(matches!(error, Err(BasisError::TooMany { .. })));
    }
}
