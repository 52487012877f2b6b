"""The statistics of a summary, from their definitions, with NumPy and SciPy.

`scores[setting][run]` is None (or NaN) where the run has no value.
"""

import numpy as np
from scipy import stats

WORD = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mean(values):
    return float(np.mean(values))


def standard_error(values):
    return float(stats.sem(values))


def iqm(values):
    return float(stats.trim_mean(values, 0.25))


def area(points, values):
    """The average height of a curve."""
    if len(points) == 1:
        return float(values[0])
    return float(np.trapezoid(values, points) / (points[-1] - points[0]))


def choose(scores):
    """The setting with the fewest missing runs, then the largest mean; ties go to the first."""
    scores = np.array(scores, dtype=float)
    return best_setting(scores, np.ones(scores.shape[1], dtype=int)) if scores.size else None


def best_setting(scores, times):
    """`choose`, with run r taken times[r] times."""
    has_value = ~np.isnan(scores)
    values = has_value @ times
    if not values.any():
        return None
    # Run by run: the order of this sum is part of the definition, because it decides near ties.
    total = np.zeros(len(scores))
    for run in np.flatnonzero(times):
        total += np.where(has_value[:, run], times[run] * scores[:, run], 0.0)
    candidates = np.flatnonzero(values == values.max())
    return int(candidates[np.argmax(total[candidates] / values.max())])


def split_mix(state):
    """SplitMix64: the output for a state. Its next state is larger by GOLDEN."""
    z = (state + GOLDEN) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def rotate_left(x, bits):
    return ((x << bits) | (x >> (64 - bits))) & WORD


class Random:
    """xoshiro256++, keyed by a seed and a run."""

    def __init__(self, seed, run):
        start = split_mix((split_mix(seed) + run) & WORD)
        self.state = [split_mix((start + k * GOLDEN) & WORD) for k in range(4)]

    def word(self):
        a, b, c, d = self.state
        output = (rotate_left((a + d) & WORD, 23) + a) & WORD
        c, d, shifted = c ^ a, d ^ b, (b << 17) & WORD
        b, a = b ^ c, a ^ d
        self.state = [a, b, c ^ shifted, rotate_left(d, 45)]
        return output

    def below(self, n):
        return (self.word() * n) >> 64

    def indices(self, n):
        """n numbers below n: one resample of n things."""
        return [self.below(n) for _ in range(n)]


def percentiles(statistics, confidence):
    tail = (1 - confidence) / 2
    return np.quantile(statistics, [tail, 1 - tail], axis=0)


def bootstrap_interval(strata, statistic, resamples=2000, confidence=0.95, seed=0):
    """The (low, high) of a statistic of all values together, each stratum resampled on its own."""
    strata = [np.asarray(stratum, dtype=float) for stratum in strata]
    statistics = []
    for resample in range(resamples):
        random = Random(seed, resample)
        drawn = [stratum[random.indices(len(stratum))] for stratum in strata]
        statistics.append(statistic(np.concatenate(drawn)))
    return tuple(percentiles(statistics, confidence).tolist())


def bootstrap_curve(runs, resamples=2000, confidence=0.95, seed=0):
    """The (low, high) of the mean at each point, whole runs resampled."""
    runs = np.asarray(runs, dtype=float)
    means = [runs[Random(seed, resample).indices(len(runs))].mean(axis=0) for resample in range(resamples)]
    return [tuple(interval) for interval in percentiles(means, confidence).T.tolist()]


def probability_best(scores, resamples=2000, seed=0):
    """Each setting's share of the resamples that have a choice, the same runs drawn for every setting."""
    scores = np.array(scores, dtype=float)
    settings, runs = scores.shape
    chosen = np.zeros(settings)
    for resample in range(resamples):
        times = np.bincount(Random(seed, resample).indices(runs), minlength=runs)
        setting = best_setting(scores, times)
        if setting is not None:
            chosen[setting] += 1
    return (chosen / max(chosen.sum(), 1)).tolist()
