"""Interactions from names, formulas and functions, compared with the formulas in NumPy."""

import pickle

import metastable as ms
import numpy as np
import pytest

INTERACTIONS = [
    (ms.Interaction("power", p=3), lambda s: s**3, lambda s: s**4 / 4),
    (ms.Interaction("s^p + a*s", p=2, a=0.5), lambda s: s**2 + s / 2, lambda s: s**3 / 3 + s**2 / 4),
    (ms.Interaction("relu"), lambda s: np.maximum(s, 0), lambda s: np.maximum(s, 0) ** 2 / 2),
    (ms.Interaction(lambda s: np.exp(2 * s) + np.sin(3 * s)), lambda s: np.exp(2 * s) + np.sin(3 * s), lambda s: (np.exp(2 * s) - 1) / 2 + (1 - np.cos(3 * s)) / 3),
]


@pytest.fixture
def x():
    return ms.tokens("uniform", n=12, d=3, seed=4)


def tangent(x, a):
    return a - np.sum(a * x, axis=1, keepdims=True) * x


@pytest.mark.parametrize("phi,f,potential", INTERACTIONS, ids=lambda v: getattr(v, "text", "")[:20])
def test_everything_takes_an_interaction(x, phi, f, potential):
    n, d = x.shape
    s = np.linspace(-1, 1, 41)
    size = np.abs(f(s)).max()
    # Sums in lanes add 1e-14 of the largest value.
    bound = 3e-14 * size
    assert phi.error < bound and np.abs(phi.value(s) - f(s)).max() < bound
    assert np.abs(phi.potential(s) - potential(s)).max() < bound
    expected = tangent(x, f(np.clip(x @ x.T, -1, 1)) @ x / n)
    assert np.abs(ms.velocity(x, "usa", interaction=phi) - expected).max() < bound
    assert np.abs(ms.Dynamics("usa", beta=1.0, interaction=phi.text).velocity(x) - expected).max() < bound
    form = np.diag([0.5, -0.25, 1.0]) + 0.1
    form /= np.linalg.norm(form, 2)
    expected = tangent(x, f(np.clip(x @ form @ x.T, -1, 1)) @ x @ form / n)
    # A sum of samples has no values beyond 1, and the norm is exact to rounding.
    if "chebyshev" not in phi.text:
        assert np.abs(ms.velocity(x, "usa", interaction=phi, coupling=form) - expected).max() < bound
    e = ms.energy(interaction=phi)
    assert abs(e.value(x) - potential(np.clip(x @ x.T, -1, 1)).sum() / (2 * n * n)) < bound
    assert np.abs(n * e.grad(x) - tangent(x, f(np.clip(x @ x.T, -1, 1)) @ x / n)).max() < bound
    assert e.eigenvalues(x).shape == (n * (d - 1),)
    end = ms.solve("usa", x, 1.0, interaction=phi)
    assert end.success and e.value(end.tokens) >= e.value(x)
    for copy in (pickle.loads(pickle.dumps(phi)), pickle.loads(pickle.dumps(e)).value(x), repr(phi)):
        assert copy is not None
    assert pickle.loads(pickle.dumps(ms.Dynamics("usa", beta=1.0, interaction=phi))).velocity(x).shape == x.shape


def test_rows_are_divided_by_weights_of_their_own(x):
    n = len(x)
    s = np.clip(x @ x.T, -1, 1)
    expected = tangent(x, s**3 @ x) / (2 + np.tanh(s)).sum(axis=1, keepdims=True)
    cubic, kappa = ms.Interaction("s^3"), ms.Interaction(lambda s: 2 + np.tanh(s))
    for row_weights in (kappa, kappa.text, lambda s: 2 + np.tanh(s)):
        found = ms.velocity(x, "sa", 1.0, interaction=cubic, row_weights=row_weights)
        assert np.abs(found - expected).max() < 3e-14
    assert np.abs(ms.velocity(x, "sa", interaction=cubic, row_weights=kappa) - expected).max() < 3e-14
    # e^{beta s} if there is no interaction.
    expected = tangent(x, np.exp(2 * s) @ x) / n
    assert np.abs(ms.velocity(x, "sa", 2.0, row_weights="1") - expected).max() < 1e-13
    end = ms.solve("sa", x, 1.0, interaction=cubic, row_weights=kappa)
    e = ms.energy(interaction=cubic)
    assert end.success and e.value(end.tokens) > e.value(x)
    for call, message in [
        (dict(dynamics="usa", row_weights="1"), "rows are not divided"),
        (dict(dynamics="sa", row_weights="s"), "positive row weights"),
        (dict(dynamics="sa", interaction="s^3"), "row_weights"),
        (dict(dynamics="sa", row_weights="exp(bta*s)"), "beta"),
    ]:
        with pytest.raises(ValueError, match=message):
            ms.velocity(x, beta=1.0, **call)
    with pytest.raises(ValueError, match="beta"):
        ms.velocity(x, "sa", interaction=cubic, row_weights="exp(beta*s)")


def test_commands_take_an_interaction():
    cubic = ms.Interaction("s^3")
    assert ms.saddles(n=3, d=2, interaction=cubic, starts=5).points
    angles = [0.0, 0.4, 2.0, 4.5]
    assert ms.modes(angles, circle=True, interaction=ms.Interaction("exp", beta=9)).modes == ms.modes(angles, 9.0, circle=True).modes
    end = ms.measure("cos:1=0.2", t_end=0.3, dynamics="usa", interaction=cubic)
    assert end.success and end.negentropy > 0


def test_functions_that_are_refused():
    def raises(s):
        raise KeyError("no such thing")

    with pytest.raises(ValueError, match="the function raised KeyError") as caught:
        ms.Interaction(raises)
    assert isinstance(caught.value.__cause__, KeyError)
    for f, message in [
        (lambda s: 1.0, r"shape \(\), expected an array of shape \(17,\)"),
        (lambda s: s[:-1], r"shape \(16,\)"),
        (lambda s: None, "return"),
        (lambda s: 1 / s, "at s = 0"),
        (lambda s: np.sqrt(np.abs(s)), "4096 terms"),
    ]:
        with np.errstate(all="ignore"), pytest.raises(ValueError, match=message):
            ms.Interaction(f)
    with pytest.raises(ValueError, match="together with a function"):
        ms.Interaction(np.tanh, k=2.0)
    with pytest.raises(TypeError, match="a function of an array"):
        ms.Interaction(3.0)
    with pytest.raises(ValueError, match="not negative"):
        ms.velocity(np.eye(3), "sa", interaction=ms.Interaction("s^3"))
    with pytest.raises(ValueError, match="symmetric"):
        ms.energy(interaction="power:p=3", coupling=[[1.0, 0.5], [0.0, 1.0]])
