"""Comparison with the formulas in NumPy and with SciPy."""

import metastable as ms
import numpy as np
import pytest
from scipy.integrate import solve_ivp

EPS = np.finfo(float).eps


def weights(x, beta, masses, softmax=True):
    """m_j e^{beta <x_i, x_j>}, divided by their sums for softmax."""
    logits = beta * (x @ x.T)
    top = logits.max(axis=1, keepdims=True) if softmax else 0.0
    a = masses * np.exp(logits - top)
    return a / a.sum(axis=1, keepdims=True) if softmax else a


def tangent(x, a):
    return a - np.sum(a * x, axis=1, keepdims=True) * x


def sa(x, beta, masses):
    return tangent(x, weights(x, beta, masses) @ x)


def mean_energy(x, beta, masses):
    return masses @ np.exp(beta * x @ x.T) @ masses / (2 * beta)


@pytest.fixture(params=[(2, 2), (5, 3), (33, 8)], ids=str)
def x(request):
    return ms.tokens("uniform", *request.param, seed=3)


@pytest.mark.parametrize("beta", [0.0, 1.0, 9.0, -2.0])
def test_velocity(x, beta):
    n = len(x)
    masses = np.arange(1.0, n + 1)
    masses /= masses.sum()
    # Sums in NumPy have errors of n eps, logits errors of beta eps.
    bound = 4 * EPS * (n + abs(beta))
    assert np.abs(ms.velocity(x, "sa", beta, masses=masses) - sa(x, beta, masses)).max() <= bound
    equal = np.full(n, 1 / n)
    usa = tangent(x, weights(x, beta, equal, softmax=False) @ x)
    assert np.abs(ms.velocity(x, "usa", beta) - usa).max() <= bound * np.exp(abs(beta))


def test_heads_masks_and_norms(x):
    n, d = x.shape
    rng = np.random.default_rng(1)
    q, k, v = rng.normal(size=(3, d, d)) / np.sqrt(d)
    logits = 2.0 * (x @ q.T) @ (x @ k.T).T
    mask = np.tril(np.ones((n, n), bool))
    a = np.exp(np.where(mask, logits, -np.inf))
    a /= a.sum(axis=1, keepdims=True)
    expected = tangent(x, a @ (x @ v.T))
    bound = 64 * EPS * n * (1 + np.abs(logits).max())
    for said in [dict(causal=True), dict(mask=mask), dict(mask="causal")]:
        assert np.abs(ms.velocity(x, "sa", 2.0, q=q, k=k, v=v, **said) - expected).max() <= bound
    # The outputs of two heads are added.
    two = ms.velocity(x, "sa", 2.0, q=[q, k], k=[k, q], v=[v, v])
    one = ms.velocity(x, "sa", 2.0, q=q, k=k, v=v) + ms.velocity(x, "sa", 2.0, q=k, k=q, v=v)
    assert np.abs(two - one).max() <= 2 * bound
    # Before the norm: a direction moves by the tangent part over the radius, a radius by the inner product.
    radii = np.linspace(1.0, 2.0, n)
    rates = ms.velocity(x * radii[:, None], "sa", 2.0, norm="pre")
    out = weights(x, 2.0, np.full(n, 1 / n)) @ x
    assert np.abs(rates[:, :d] - tangent(x, out) / radii[:, None]).max() <= bound
    assert np.abs(rates[:, d] - np.sum(out * x, axis=1)).max() <= bound


def test_energy_and_its_derivatives(x):
    n, d = x.shape
    beta, masses = 3.0, np.full(n, 1 / n)
    e = ms.energy(beta)
    value = mean_energy(x, beta, masses)
    assert abs(e.value(x) - value) <= 8 * EPS * n * value
    assert abs(e.log_value(x) - np.log(value)) <= 16 * EPS * (1 + beta)
    grad = masses[:, None] * tangent(x, (masses * np.exp(beta * x @ x.T)) @ x)
    assert np.abs(e.grad(x) - grad).max() <= 16 * EPS * n * np.exp(beta)
    # The Hessian by differences of the gradient along a great circle: the error of a central difference is h^2.
    u = tangent(x, np.random.default_rng(2).normal(size=(n, d)))
    h = 1e-4
    moved = lambda s: np.cos(s * np.linalg.norm(u, axis=1))[:, None] * x + np.sinc(s * np.linalg.norm(u, axis=1) / np.pi)[:, None] * s * u
    difference = tangent(x, (e.grad(moved(h)) - e.grad(moved(-h))) / (2 * h))
    size = np.exp(beta) * beta**3 * (1 + np.abs(u).max()) ** 3
    assert np.abs(e.hess_vec(x, u) - difference).max() <= 10 * h * h * size
    # The dense Hessian in the tangent bases is the same map, and symmetric.
    bases = e.tangent_basis(x)
    dense = e.hessian(x)
    assert dense.shape == (n * (d - 1),) * 2 and np.array_equal(dense, dense.T)
    coordinates = np.einsum("itd,id->it", bases, u).ravel()
    again = np.einsum("it,itd->id", (dense @ coordinates).reshape(n, d - 1), bases)
    assert np.abs(again - e.hess_vec(x, u)).max() <= 1e-13 * np.exp(beta)
    found = e.eigenvalues(x)
    assert np.abs(found - np.linalg.eigvalsh(dense)).max() <= 1e-12 * np.abs(found).max()
    assert e.morse_index(x) <= len(found)


def test_solve_against_scipy(x):
    n, d = x.shape
    masses = np.full(n, 1 / n)
    times = np.array([0.0, 0.25, 1.0, 2.0])
    field = lambda t, y: sa(y.reshape(n, d), 2.0, masses).ravel()
    there = solve_ivp(field, (0, 2), x.ravel(), method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times).y.T.reshape(-1, n, d)
    here = ms.solve("sa", x, 2.0, beta=2.0, t_eval=times)
    assert here.success and here.status == 0 and here.t == 2.0
    assert np.abs(here.frames - there).max() < 1e-8
    assert np.array_equal(here.timeline["t"], times) and "log_energy" in here.timeline.dtype.names
    assert np.all(np.diff(here.timeline["log_energy"]) > 0)
    # The dense output at the end of a step is normalised again.
    assert np.abs(here.frames[-1] - here.tokens).max() <= 4 * EPS
    assert abs(here.energy - mean_energy(here.tokens, 2.0, masses)) < 1e-12
    # The same vector field as a Python function, with another start time.
    own = ms.solve(lambda t, y: sa(y, 2.0, masses), x, t_span=(3.0, 5.0), t_eval=3.0 + times)
    assert own.success and np.abs(own.frames - there).max() < 1e-8 and own.timeline["t"][-1] == 5.0
    assert own.energy is None


def test_a_function_may_depend_on_time():
    # x' = P_x (cos t, sin t): SciPy's answer for the angle, theta' = sin(t - theta).
    end = ms.solve(lambda t, x: np.tile([np.cos(t), np.sin(t)], (len(x), 1)), [[0.0, 1.0]], 3.0)
    there = solve_ivp(lambda t, a: np.sin(t - a), (0, 3), [np.pi / 2], rtol=1e-12, atol=1e-12).y[0, -1]
    assert np.abs(end.tokens[0] - [np.cos(there), np.sin(there)]).max() < 1e-9


def test_layers_and_noise(x):
    n, d = x.shape
    masses = np.full(n, 1 / n)
    y = x.copy()
    for _ in range(3):
        y = y + 0.5 * weights(y, 2.0, masses) @ y
        y /= np.linalg.norm(y, axis=1, keepdims=True)
    end = ms.layers("sa", x, 3, eta=0.5, beta=2.0)
    assert end.frames.shape == (4, n, d) and np.abs(end.tokens - y).max() < 64 * EPS * n
    walked = ms.noise("sa", x, 0.1, kappa=10.0, step=0.01, beta=2.0, seed=7)
    again = ms.noise("sa", x, 0.1, kappa=10.0, step=0.01, beta=2.0, seed=7)
    assert np.array_equal(walked.tokens, again.tokens) and walked.t == 0.1
    assert np.abs(np.linalg.norm(walked.tokens, axis=1) - 1).max() < 8 * EPS
    assert not np.array_equal(walked.tokens, ms.noise("sa", x, 0.1, kappa=10.0, step=0.01, beta=2.0, seed=8).tokens)


def test_a_merge_time_agrees_with_the_closed_form():
    angle = 0.5
    pair = np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])
    end = ms.solve("sa", pair, 1e6, beta=4.0, merge_radius=0.01)
    predicted = ms.predict("two-token-time", beta=4.0, from_=angle, to=0.01)
    assert abs(end.merges[0].t / predicted.time - 1) < 1e-8
    assert end.merges[0].mass == 1.0 and end.labels.tolist() == [0, 0] and end.masses.tolist() == [1.0]


def test_every_registered_model_moves(x):
    n, d = x.shape
    for name in ms.names("dynamics"):
        assert ms.velocity(x, name, 1.0).shape == (n, d)
    for norm in ["post", "pre", "peri", "mix:tau=1", "ngpt:alpha=1", "cod", "ln-scaling", "none"]:
        assert len(ms.velocity(x, "sa", 1.0, norm=norm)) == n
    for weighting in ["softmax", "sinkhorn", "hardmax"]:
        assert ms.velocity(x, beta=1.0, weights=weighting).shape == (n, d)
    assert np.array_equal(ms.velocity(x, beta=1.0, weights="exponential"), ms.velocity(x, "usa", 1.0))
    units = (np.ones((4, d)), np.zeros(4), np.ones((d, 4)), np.zeros(d))
    assert ms.velocity(x, "sa", 1.0, mlp=units, activation="relu", bias="alibi").shape == (n, d)
    assert ms.velocity(x, "sa", 1.0, rescaled=True, v=np.eye(d)).shape == (n, d)
