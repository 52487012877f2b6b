"""What the peer benchmarks share: the grid of settings, the stream of steps, timing and report.

The workload is ACE with a GTD(lambda) critic on the three-state counterexample:
every setting of the grid learns from the same stream of steps.
"""

import argparse
import itertools
import json
import math
import time

import numpy as np

COLUMNS = ("state", "action", "mu", "reward", "next", "gamma", "gamma_next", "interest")
PROBES = (0, 1234, 2250, 4499)


def grid():
    """The settings, one per row: lambda_a, alpha, alpha_v, alpha_w, lambda (fastest)."""
    return np.array(
        list(
            itertools.product(
                (0.0, 0.25, 0.5, 0.75, 1.0),
                (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
                (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0),
                (1e-10, 1e-8, 1e-6, 1e-4, 1e-2),
                (0.0, 0.5, 1.0),
            )
        )
    )


def load(path):
    """The columns of a stream, in the order of COLUMNS; states and actions as integers."""
    rows = np.fromfile(path, "<f8").reshape(-1, len(COLUMNS))
    kinds = {"state": np.int64, "action": np.int64, "next": np.int64}
    return [column.astype(kinds.get(name, np.float64)) for name, column in zip(COLUMNS, rows.T)]


def measure(sweep, repeat, updates):
    """The nanoseconds per update of each repetition, and what the sweep returned."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        theta = sweep()
        times.append((time.perf_counter() - start) * 1e9 / updates)
    return times, theta


def main(peer, version, prepare, **variants):
    """Times `prepare(variant, settings, steps)` for each variant: a compiled sweep that takes
    no arguments and returns the final theta, a row of four numbers per setting."""
    parser = argparse.ArgumentParser(prog=f"fig3_{peer}.py")
    parser.add_argument("stream", metavar="STREAM", help="file of little-endian float64 rows: " + ", ".join(COLUMNS))
    parser.add_argument("--repeat", type=int, default=3, help="times to run the sweep (default 3)")
    args = parser.parse_args()
    steps = load(args.stream)
    settings = grid()
    for name, variant in variants.items():
        times, theta = measure(prepare(variant, settings, steps), args.repeat, len(settings) * len(steps[0]))
        report = {
            "workload": "figure 3",
            "by": f"{peer}, {name}",
            "version": version,
            "settings": len(settings),
            "steps": len(steps[0]),
            "time": min(times),
            "all": times,
            "probe": {str(k): [float(x) if math.isfinite(x) else None for x in theta[k]] for k in PROBES},
        }
        print(json.dumps(report, allow_nan=False), flush=True)
