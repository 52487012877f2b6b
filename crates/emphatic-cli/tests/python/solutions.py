"""What `solve` and `diagnose` say of random problems is what dense linear algebra in NumPy says, written from the equations."""

import json

import numpy as np

from command import DIRECTORY, emphatic

RANDOM = np.random.default_rng(4)


def problem(states, actions, groups):
    """A random problem as the JSON of its file: aliased states, interest and discounts that vary, ends."""
    transitions = []
    for s in range(states):
        for a in range(actions):
            shares = RANDOM.dirichlet(np.ones(3))
            ways = [(s + 1) % states, *RANDOM.choice(states, 2)]
            for way, share in zip(ways, shares):
                transition = {"from": s, "action": a, "probability": share, "reward": RANDOM.normal()}
                if way == 0:
                    transition["end"] = True
                else:
                    transition["to"] = int(way)
                    transition["gamma"] = RANDOM.uniform(0.3, 0.95)
                transitions.append(transition)
    names = [str(s) for s in range(states)]
    return {
        "states": states,
        "actions": actions,
        "start": 0,
        "behaviour": {n: {str(a): p for a, p in enumerate(RANDOM.dirichlet(4 * np.ones(actions)))} for n in names},
        "interest": {n: float(RANDOM.choice([0.0, 1.0, 2.5])) for n in names},
        "transitions": transitions,
        "target": {"weights": list(RANDOM.normal(size=groups * actions))},
        "features": {
            "actor": {n: list(np.eye(groups)[s % groups]) for s, n in enumerate(names)},
            "critic": {n: list(RANDOM.normal(size=3)) for n in names},
        },
    }


class Dense:
    """The theory, dense."""

    def __init__(self, file):
        n, k = file["states"], file["actions"]
        self.P, self.PG, self.PG2 = (np.zeros((n, k, n)) for _ in range(3))
        self.r = np.zeros((n, k))
        for t in file["transitions"]:
            s, a, p, to = t["from"], t["action"], t["probability"], t.get("to", 0)
            gamma = t.get("gamma", 0.0)
            self.P[s, a, to] += p
            self.PG[s, a, to] += p * gamma
            self.PG2[s, a, to] += p * gamma**2
            self.r[s, a] += p * t["reward"]
        self.mu = np.array([[file["behaviour"][str(s)][str(a)] for a in range(k)] for s in range(n)])
        self.i = np.array([file["interest"][str(s)] for s in range(n)])
        self.x = np.array([file["features"]["actor"][str(s)] for s in range(n)])
        self.critic = np.array([file["features"]["critic"][str(s)] for s in range(n)])
        followed = np.einsum("sa,sat->st", self.mu, self.P)
        system = np.vstack([followed.T - np.eye(n), np.ones(n)])
        self.d = np.linalg.lstsq(system, np.append(np.zeros(n), 1), rcond=None)[0]

    def target(self, weights):
        preferences = self.x @ weights.reshape(self.x.shape[1], -1)
        e = np.exp(preferences - preferences.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def discounted(self, pi):
        return np.einsum("sa,sat->st", pi, self.PG)

    def values(self, pi):
        return np.linalg.solve(np.eye(len(self.d)) - self.discounted(pi), (pi * self.r).sum(axis=1))

    def objective(self, weights):
        return (self.d * self.i) @ self.values(self.target(weights))

    def weighting(self, pi, lambda_a):
        m = np.linalg.solve(np.eye(len(self.d)) - self.discounted(pi).T, self.d * self.i)
        return (1 - lambda_a) * self.d * self.i + lambda_a * m

    def gradient(self, weights, lambda_a):
        """By the theorem's sum, with central differences for the policy's derivative."""
        pi = self.target(weights)
        q = self.r + self.PG @ self.values(pi)
        m, h = self.weighting(pi, lambda_a), 1e-6
        steps = np.eye(len(weights)) * h
        slopes = [(self.target(weights + e) - self.target(weights - e)) / (2 * h) for e in steps]
        return np.array([(m[:, None] * slope * q).sum() for slope in slopes])


def near(name, ours, theirs, tolerance=1e-9):
    ours, theirs = np.array(ours, dtype=float), np.array(theirs, dtype=float)
    assert np.allclose(ours, theirs, rtol=tolerance, atol=tolerance), f"{name}:\n{ours}\n{theirs}"


def check_solution(file, path):
    dense, weights = Dense(file), np.array(file["target"]["weights"])
    pi = dense.target(weights)
    v = dense.values(pi)
    for lambda_a in [0.0, 0.4, 1.0]:
        said = json.loads(emphatic("solve", path, "--json", "--lambda-a", lambda_a))
        columns, m = said["columns"], dense.weighting(pi, lambda_a)
        near("d", columns["stationary"], dense.d)
        near("v", columns["value"], v)
        near("m", columns["emphatic_weighting"], m)
        near("m/d", columns["emphatic_density"], m / dense.d)
        near("J", said["objective"], dense.objective(weights))
        for a in range(file["actions"]):
            near("pi", columns[f"target.{a}"], pi[:, a])
            near("q", columns[f"action_value.{a}"], dense.r[:, a] + dense.PG[:, a] @ v)
        gradients = said["gradients"]
        full, semi = dense.gradient(weights, 1.0), dense.gradient(weights, 0.0)
        near("gradient", gradients["gradient"], full, 1e-7)
        near("semi-gradient", gradients["semi_gradient"], semi, 1e-7)
        cosine = full @ semi / np.linalg.norm(full) / np.linalg.norm(semi)
        near("angle", np.cos(np.radians(gradients["angle"])), cosine, 1e-7)
        if lambda_a == 0.4:
            near("with lambda_a", gradients["with_lambda_a"], dense.gradient(weights, 0.4), 1e-7)
    # The gradient is that of the objective.
    slopes = [
        (dense.objective(weights + e) - dense.objective(weights - e)) / 2e-5 for e in np.eye(len(weights)) * 1e-5
    ]
    near("slope of J", slopes, full, 1e-6)


def check_diagnosis(file, path):
    dense, weights = Dense(file), np.array(file["target"]["weights"])
    pi, n = dense.target(weights), file["states"]
    said = json.loads(emphatic("diagnose", path, "--json", "--starts", "0"))
    m = dense.weighting(pi, 1.0)
    squared = np.einsum("sa,sat->st", pi**2 / dense.mu, dense.PG2)
    # The trace is zero where nothing carries emphasis.
    squared[m <= 0] = 0
    radius = max(abs(np.linalg.eigvals(squared)))
    emphasis = said["emphasis"]
    near("radius", emphasis["spectral_radius"], [radius, radius], 1e-8)
    assert emphasis["finite"] == (radius < 1)
    if radius < 1:
        g = np.linalg.solve(np.eye(n) - squared.T, dense.i * (2 * m - dense.d * dense.i))
        deviations = np.sqrt(np.maximum(g / dense.d - (m / dense.d) ** 2, 0))
        for state in emphasis["states"]:
            s = int(state["state"])
            near("mean of F", state["mean"], m[s] / dense.d[s])
            near("deviation of F", state["standard_deviation"], deviations[s], 1e-6)
    key = dense.critic.T @ np.diag(dense.d) @ (np.eye(n) - dense.discounted(pi)) @ dense.critic
    emphatic_key = dense.critic.T @ np.diag(m) @ (np.eye(n) - dense.discounted(pi)) @ dense.critic
    for name, matrix in [("td", key), ("etd", emphatic_key)]:
        eigenvalues = np.linalg.eigvals(matrix)
        near(name, sorted(x for x, _ in said["critics"][name]["eigenvalues"]), sorted(eigenvalues.real), 1e-7)
        assert said["critics"][name]["stable"] == (min(eigenvalues.real) > 0), name
    return radius < 1


def main():
    finite = []
    for k in range(12):
        file = problem(states=3 + k, actions=2 + k % 3, groups=2 + k % 2)
        path = DIRECTORY / f"problem-{k}.json"
        path.write_text(json.dumps(file))
        check_solution(file, path)
        finite.append(check_diagnosis(file, path))
    assert any(finite) and not all(finite), "problems on both sides of the border were meant"


main()
