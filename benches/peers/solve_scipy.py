"""The exact solution of the grid of benches/src/solve.rs by SciPy's sparse LU: d_mu, v and m.

`solve_scipy.py WIDTH HEIGHT FILE VARIANT` compares v and m with those in FILE and prints one line of JSON. The plain variant
leaves SciPy's defaults; the tuned one has it order by minimum degree and not look for pivots, which these matrices
do not need.
"""

import argparse
import json
import resource
import time
from pathlib import Path

import numpy as np
import scipy
from scipy.sparse import csc_matrix, identity
from scipy.sparse.linalg import splu

GAMMA = 0.99
WEIGHTS = np.array([0.5, 0.25, 0.0, 0.0])
VARIANTS = {
    "plain": {},
    "tuned": {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}},
}


def grid(width, height):
    """The transitions of a grid: state, action, next state, probability, reward, gamma."""
    n = width * height
    x, y = np.arange(n) % width, np.arange(n) // width
    near = (
        y * width + np.minimum(x + 1, width - 1),
        np.minimum(y + 1, height - 1) * width + x,
        y * width + np.maximum(x - 1, 0),
        np.maximum(y - 1, 0) * width + x,
    )
    s, a, k = (index.ravel() for index in np.meshgrid(np.arange(n), np.arange(4), np.arange(4), indexing="ij"))
    last = s == n - 1
    following = np.where(last, 0, np.array(near)[k, s])
    probability = np.where(last, 0.25, np.where(a == k, 2 / 3, 1 / 9))
    reward = np.where(last, 1.0, 0.1 * ((x + 2 * y) % 5)[s])
    return n, s, a, following, probability, reward, np.where(last, 0.0, GAMMA)


def solve(settings, n, s, a, following, probability, reward, gamma):
    """d_mu, v and m, with these settings of the LU."""
    pi = np.exp(WEIGHTS) / np.exp(WEIGHTS).sum()
    # d_mu relative to state 0: what enters each other state is what leaves it.
    p = csc_matrix((0.25 * probability, (s, following)), shape=(n, n))
    others = (identity(n - 1) - p[1:, 1:]).tocsc()
    d = np.concatenate(([1.0], splu(others, **settings).solve(p[0, 1:].toarray().ravel(), trans="T")))
    d /= d.sum()
    system = (identity(n) - csc_matrix((pi[a] * probability * gamma, (s, following)), shape=(n, n))).tocsc()
    factors = splu(system, **settings)
    v = factors.solve(np.bincount(s, pi[a] * probability * reward, n))
    m = factors.solve(d, trans="T")
    return d, v, m


def main():
    parser = argparse.ArgumentParser(prog="solve_scipy.py")
    parser.add_argument("width", metavar="WIDTH", type=int)
    parser.add_argument("height", metavar="HEIGHT", type=int)
    parser.add_argument("file", metavar="FILE", help="v and m as little-endian float64")
    parser.add_argument("variant", metavar="VARIANT", choices=VARIANTS)
    args = parser.parse_args()
    transitions = grid(args.width, args.height)
    n = transitions[0]
    start = time.perf_counter()
    d, v, m = solve(VARIANTS[args.variant], *transitions)
    seconds = time.perf_counter() - start
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    theirs = np.frombuffer(Path(args.file).read_bytes(), "<f8")
    if len(theirs) != 2 * n:
        parser.exit(2, f"{parser.prog}: {args.file} has {len(theirs)} numbers, not {2 * n}\n")
    deviation = np.max(np.abs(np.concatenate((v, m)) / theirs - 1))
    if not deviation <= 1e-9:
        parser.exit(1, f"{parser.prog}: v or m deviates from {args.file} by {deviation}\n")
    report = {
        "workload": f"a grid of {n} states",
        "by": f"SciPy, {args.variant}",
        "version": scipy.__version__,
        "time": seconds,
        "megabytes": megabytes,
        "deviation": deviation,
        "probe": {"J": d @ v, **{str(k): [v[k], m[k]] for k in (0, n // 2)}},
    }
    print(json.dumps(report, allow_nan=False), flush=True)


if __name__ == "__main__":
    main()
