"""What the peer benchmarks share: the stream of steps, timing and report. Every setting of a grid learns from the same stream."""

import argparse
import json
import math
import time

import numpy as np

COLUMNS = ("state", "action", "mu", "reward", "next", "gamma", "gamma_next", "interest")


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
        weights = sweep()
        times.append((time.perf_counter() - start) * 1e9 / updates)
    return times, weights


def probes(n):
    """The settings whose final weights are shown, so that implementations can be compared."""
    return (0, 2 * n // 7, n // 2, n - 1)


def main(workload, settings, compiler, load=load, **variants):
    """Times `compiler.prepare(variant, settings, steps)` for each variant: a compiled sweep that takes
    no arguments and returns the final weights, a row per setting."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "stream", metavar="STREAM", help="file of steps, rows of little-endian float64"
    )
    parser.add_argument("--repeat", type=int, default=3, help="times to run the sweep (default 3)")
    args = parser.parse_args()
    steps = load(args.stream)
    n = len(settings)
    for name, variant in variants.items():
        times, weights = measure(compiler.prepare(variant, settings, steps), args.repeat, n * len(steps[0]))
        report = {
            "workload": workload,
            "by": f"{compiler.NAME}, {name}",
            "version": compiler.VERSION,
            "settings": n,
            "steps": len(steps[0]),
            "time": min(times),
            "all": times,
            "probe": {
                str(k): [float(x) if math.isfinite(x) else None for x in weights[k]]
                for k in probes(n)
            },
        }
        print(json.dumps(report, allow_nan=False), flush=True)
