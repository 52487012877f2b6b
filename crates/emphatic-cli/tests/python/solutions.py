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


def check_linear_methods(file, path):
    """Key matrices, fixed points and their errors; x(s) ⊗ e_a for critics of action-values."""
    dense, weights = Dense(file), np.array(file["target"]["weights"])
    pi, n, x, d, mu = dense.target(weights), file["states"], dense.critic, dense.d, dense.mu
    one, v, m = np.eye(n), dense.values(pi), dense.weighting(pi, 1.0)
    asked = ["--emphasis", "direct,lambda_e=0.5,read=0", "--emphasis", "direct,lambda_e=0.5,read=0,schedule=constant"]
    said = json.loads(emphatic("solve", path, "--json", *asked))["linear_methods"]
    found = {method["name"]: method for kind in said.values() for method in kind}

    def check(name, weighting, trace, kept, onward, reward, system=None):
        a = x.T @ np.diag(weighting) @ np.linalg.inv(one - trace) @ (np.diag(kept) - onward) @ x
        b = x.T @ np.diag(weighting) @ np.linalg.inv(one - trace) @ reward
        near(name, found[name]["key_matrix"], a, 1e-8)
        near(name, found[name]["key_vector"], b, 1e-8)
        w = np.linalg.solve(a, b)
        near(name, found[name]["fixed_point"], w, 1e-6)
        near(name, found[name]["error"], np.sqrt(d @ (x @ w - v) ** 2), 1e-6)
        real = min(np.linalg.eigvals(a if system is None else system(a)).real)
        near(name, found[name]["smallest_real_part"], real, 1e-6)
        assert found[name]["stable"] == (real > 0), name

    passed = lambda share: np.einsum("sa,sat->st", share, dense.PG)
    p, r, c = passed(pi), (pi * dense.r).sum(axis=1), x.T @ np.diag(d) @ x
    td = lambda name, lam, system=None: check(name, d, lam * p, np.ones(n), p, r, system)
    td("td", 0)
    td("td, lambda = 0.9", 0.9)
    for name, lam in [("gtd", 0), ("gtd, lambda = 0.9", 0.9)]:
        td(name, lam, lambda a: np.block([[a, c - a.T], [a, c]]))
    td("gtd2", 0, lambda a: np.block([[0 * a, -a.T], [a, c]]))
    td("tdrc", 0, lambda a: np.block([[a, c - a.T], [a, c + np.eye(len(c))]]))
    on_policy = x.T @ np.diag(d) @ (one - passed(mu)) @ x
    td("htd", 0, lambda a: np.block([[a, on_policy.T - a.T], [a, on_policy.T]]))
    clipped = np.minimum(pi, mu)
    check("v-trace, lambda = 0.9", d, 0.9 * passed(clipped), clipped.sum(axis=1), passed(clipped), (clipped * dense.r).sum(axis=1))
    check("tree-backup, lambda = 0.9", d, 0.9 * passed(mu * pi), np.ones(n), p, r)
    # ξ = 1 at ζ = ½, and no probability is larger.
    check("abtd, zeta = 0.5", d, passed(mu * pi), np.ones(n), p, r)
    for name, lam in [("etd", 0), ("etd, lambda = 0.9", 0.9)]:
        check(name, lam * d * dense.i + (1 - lam) * m, lam * p, np.ones(n), p, r)

    # Pairs of state and action.
    k = file["actions"]
    phi = np.einsum("sf,ab->safb", x, np.eye(k)).reshape(n * k, -1)
    pairs = lambda share: np.einsum("sat,tb->satb", dense.PG, share).reshape(n * k, n * k)
    for name, trace in [("expected-tdrc", 0 * pi), ("gq", 0 * pi), ("retrace, lambda_q = 0.9", 0.9 * clipped)]:
        weighted = phi.T @ np.diag((d[:, None] * mu).ravel()) @ np.linalg.inv(np.eye(n * k) - pairs(trace))
        near(name, found[name]["key_matrix"], weighted @ (np.eye(n * k) - pairs(pi)) @ phi, 1e-8)
        near(name, found[name]["key_vector"], weighted @ dense.r.ravel(), 1e-8)

    # The emphasis, learned backwards.
    def check_emphasis(name, a, b, read):
        near(name, found[name]["key_matrix"], a, 1e-8)
        u = np.linalg.solve(a, b)
        near(name, found[name]["fixed_point"], u, 1e-5)
        if read is not estimate and (x @ u).min() < 0:
            # Where F is below the interest, it is read as that: its mean has no closed form.
            assert found[name]["error"] is None, name
            return
        near(name, found[name]["error"], np.sqrt(d @ (read(u) - m / d) ** 2), 1e-5)

    # It is read as at least the interest.
    estimate = lambda u: np.maximum(x @ u, dense.i)
    divided = x / (x**2).sum(axis=1)[:, None]
    for name, lam, by in [
        ("direct, lambda_e = 0, read = 0", 0, divided),
        ("direct, lambda_e = 0.5, read = 0", 0.5, divided),
        ("direct, lambda_e = 0.5, read = 0, schedule = constant", 0.5, x),
        ("lambda-return", 0.5, divided),
    ]:
        passes = np.linalg.inv(one - lam * p.T)
        back = passes @ ((1 - lam) * p.T @ np.diag(d) @ x)
        own = passes @ (d * dense.i)
        read = estimate if "read = 0" in name else lambda u: (own + back @ u) / d
        check_emphasis(name, by.T @ (np.diag(d) @ x - back), by.T @ own, read)
    # A model of each action, and where the target takes it.
    a = c.copy()
    for b in range(k):
        followed = (dense.PG[:, b] @ x).T @ np.diag(d) @ x
        a -= followed @ np.linalg.inv(c) @ x.T @ np.diag(d * pi[:, b]) @ x
    check_emphasis("model", a, x.T @ (d * dense.i), estimate)


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
    # With the emphasis to look back to, the λ-return multiplies its past by λ_e as often as by ρ.
    lambda_e = emphasis["lambda_return"]["lambda_e"]
    assert lambda_e == 0.5 or (lambda_e**2 * radius <= 0.5 < (lambda_e + 0.01) ** 2 * radius)
    near("largest", emphasis["lambda_return"]["largest_lambda_e"], min(1, radius**-0.5), 1e-8)
    omega, sources = m / dense.d, np.zeros(n)
    for t in file["transitions"]:
        s, a, to = t["from"], t["action"], t.get("to", 0)
        error = dense.i[to] + pi[s, a] / dense.mu[s, a] * t.get("gamma", 0.0) * omega[s] - omega[to]
        sources[to] += dense.d[s] * dense.mu[s, a] * t["probability"] * error**2
    variance = np.linalg.solve(np.eye(n) - lambda_e**2 * squared.T, sources) / dense.d
    for state in emphasis["states"]:
        s = int(state["state"])
        near("deviation of the λ-return", state["lambda_return_deviation"], np.sqrt(variance[s]), 1e-6)
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
        check_linear_methods(file, path)
        finite.append(check_diagnosis(file, path))
    assert any(finite) and not all(finite), "problems on both sides of the border were meant"


main()
