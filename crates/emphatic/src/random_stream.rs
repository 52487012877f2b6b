//! Random streams that are the same on every machine.

use crate::Real;

/// A source of random numbers for policies: a [`Random`], or another generator.
pub trait Draw {
    /// Returns a number in [0, 1).
    fn uniform(&mut self) -> f64;

    /// Returns a standard normal number.
    fn normal(&mut self) -> f64;
}

impl Draw for Random {
    fn uniform(&mut self) -> f64 {
        Self::uniform(self)
    }

    fn normal(&mut self) -> f64 {
        Self::normal(self)
    }
}

/// A stream of random numbers, keyed by an experiment's seed and a run's number.
///
/// xoshiro256++ (Blackman and Vigna 2019) with samplers of our own: the numbers never depend on a thread, an order or a platform, and its
/// state is four words that can be saved.
#[derive(Clone, Debug, PartialEq)]
pub struct Random([u64; 4]);

impl Random {
    /// The stream of run number `run` of the experiment with this seed.
    pub fn new(seed: u64, run: u64) -> Self {
        // Mixed before and after the run is added: neighbouring seeds and runs are unrelated, and their roles differ.
        let mut seed = mix(mix(seed).wrapping_add(run));
        Self([(); 4].map(|()| {
            let word = mix(seed);
            seed = seed.wrapping_add(GOLDEN);
            word
        }))
    }

    /// The whole state.
    pub(crate) fn words(&mut self) -> &mut [u64; 4] {
        &mut self.0
    }

    /// Returns 64 random bits: a seed for other streams, for instance.
    #[inline]
    pub fn word(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.0;
        let word = a.wrapping_add(*d).rotate_left(23).wrapping_add(*a);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        word
    }

    /// Returns a number in [0, 1), with 53 random bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Returns a whole number below `n`, every one with the same probability (to 2⁻⁶⁴ · n).
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.word()) * n as u128) >> 64) as usize
    }

    /// Returns a standard normal number, by Marsaglia's polar method.
    pub fn normal(&mut self) -> f64 {
        let [x, square] = self.polar();
        normal_of(x, square)
    }

    /// Draws what [`normal_of`] makes a standard normal number of: a coordinate of a point in the unit disc, and the square of its distance from
    /// the middle. (Drawn one by one, they may become normal numbers side by side.)
    pub fn polar(&mut self) -> [f64; 2] {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return [x, square];
            }
        }
    }

    /// Returns an index drawn with these probabilities. They need not sum to one exactly: rounding falls to the
    /// last index of positive probability.
    pub fn index(&mut self, probabilities: impl IntoIterator<Item = f64>) -> usize {
        index_at(self.uniform(), probabilities)
    }
}

/// Returns the index on which a number of [0, 1) falls if the probabilities are laid out side by side: [`Random::index`] for other
/// generators.
pub fn index_at(uniform: f64, probabilities: impl IntoIterator<Item = f64>) -> usize {
    let mut left = uniform;
    let mut last = 0;
    for (k, p) in probabilities.into_iter().enumerate() {
        if p > 0.0 {
            last = k;
            if left < p {
                break;
            }
            left -= p;
        }
    }
    last
}

/// Returns the standard normal number of [`Random::polar`].
#[inline(always)]
pub fn normal_of<R: Real>(x: R, square: R) -> R {
    x * (R::splat(-2.0) * square.ln() / square).sqrt()
}

/// The golden ratio, by which SplitMix64 counts.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: a bijection in which every input bit reaches every output bit.
fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(GOLDEN);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_everywhere() {
        let mut random = Random::new(1, 2);
        let first: Vec<u64> = (0..3).map(|_| random.word()).collect();
        // From an implementation of SplitMix64 and xoshiro256++ in another language.
        assert_eq!(
            first,
            [13_502_186_381_601_466_101, 14_010_220_477_554_852_104, 6_828_232_781_586_495_118]
        );
    }

    #[test]
    fn streams_of_neighbouring_keys_differ() {
        let mut first: Vec<u64> =
            (0..30).flat_map(|seed| (0..30).map(move |run| Random::new(seed, run).word())).collect();
        // Seeds and runs once could be exchanged by taking complements.
        first.extend((0..30).flat_map(|seed| (0..30).map(move |run| Random::new(!run, !seed).word())));
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), 1800);
    }

    #[test]
    fn moments_are_right() {
        let (mut random, n) = (Random::new(7, 0), 200_000);
        let mut sums = [0.0; 6];
        let mut thirds = [0; 3];
        for _ in 0..n {
            let (u, z) = (random.uniform(), random.normal());
            for (sum, x) in sums.iter_mut().zip([u, u * u, z, z * z, z * z * z, z * z * z * z]) {
                *sum += x / f64::from(n);
            }
            thirds[random.below(3)] += 1;
        }
        // Five standard errors of each mean.
        let expected = [(0.5, 0.289), (1.0 / 3.0, 0.298), (0.0, 1.0), (1.0, 1.414), (0.0, 3.87), (3.0, 9.8)];
        for (sum, (mean, deviation)) in sums.iter().zip(expected) {
            assert!((sum - mean).abs() < 5.0 * deviation / f64::from(n).sqrt(), "{sum} {mean}");
        }
        assert!(thirds.iter().all(|&count| (f64::from(count) - 66_666.7).abs() < 5.0 * 211.0));
    }

    #[test]
    fn an_index_of_probability_zero_is_never_drawn() {
        let mut random = Random::new(3, 0);
        assert!((0..1000).all(|_| random.index([0.0, 0.5, 0.0, 0.5 - 1e-9, 0.0]) % 2 == 1));
    }
}
