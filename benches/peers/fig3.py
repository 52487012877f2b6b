"""Figure 3: ACE with a GTD(lambda) critic on the three-state counterexample."""

import itertools

import numpy as np

NAME = "figure 3"


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
