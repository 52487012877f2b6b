"""TDRC(lambda), beta = 1, predicts the values of a target that always drives on in the problem `collision`."""

import itertools

import numpy as np

NAME = "TDRC"

# Three of six features are one in each state.
ACTIVE = ((2, 4, 5), (1, 3, 5), (0, 1, 2), (2, 3, 5), (0, 3, 4), (0, 2, 5), (1, 2, 5), (2, 3, 4))
FEATURES = np.array([[float(j in active) for j in range(6)] for active in ACTIVE])
# The probability of each action, in every state.
TARGET = np.array([1.0, 0.0])


def grid():
    """The settings, one per row: the step-size, divided by the number of active features, and lambda (fastest)."""
    alphas = [(1 + sixteenth / 16) / 2**octave / 3 for octave in range(1, 17) for sixteenth in range(16)]
    return np.array(list(itertools.product(alphas, [k / 15 for k in range(16)])))
