"""Tokens, velocities and runs."""

from __future__ import annotations

import math
import operator

import numpy as np

from . import _metastable
from ._metastable import Dynamics, Energy, Interaction, InteractionEnergy
from ._results import Solution


def tokens(law, n, d, seed=1):
    """Tokens drawn from a law, an array of shape (n, d), equal to those of the program for the same
    seed.

    ``law`` is a registered law such as ``"uniform"`` or ``"cap:radius=0.3"`` (``names("laws")``).

    >>> import metastable as ms
    >>> ms.tokens("orthonormal", n=2, d=2)
    array([[1., 0.],
           [0., 1.]])
    """
    return _metastable._draw(law, operator.index(n), operator.index(d), operator.index(seed))


def _dynamics(dynamics, beta, model, place="second"):
    """A ``Dynamics`` from a ``Dynamics``, a name or a function, with ``beta`` and the keywords of a
    model. ``place`` is the position of the tokens among the arguments."""
    if isinstance(dynamics, Dynamics):
        if beta is not None or model:
            found = ", ".join((["beta"] if beta is not None else []) + sorted(model))
            raise ValueError(f"dynamics: found {found} together with a Dynamics, expected none: a Dynamics has all its parameters")
        return dynamics
    if callable(dynamics):
        if beta is not None:
            raise ValueError("beta: found a number together with a function, expected none: the function has its own parameters")
        return _metastable.field(dynamics, **model)
    if isinstance(dynamics, (list, tuple)) or hasattr(dynamics, "__array__"):
        raise ValueError(f"dynamics: found an array, expected a name, a Dynamics or a function f(t, x): tokens come {place} here")
    if dynamics is not None and not isinstance(dynamics, str):
        raise ValueError(f"dynamics: found {dynamics!r}, expected a name, a Dynamics or a function f(t, x)")
    own = [model.get("interaction"), model.get("row_weights")]
    if beta is None and own[0] is not None and all(phi is None or isinstance(phi, Interaction) for phi in own):
        # Their parameters belong to them.
        beta = 1.0
    if beta is None:
        # First report an invalid keyword: `bta` is probably a misspelt `beta`.
        Dynamics(dynamics, beta=1.0, **model)
        raise ValueError("beta: found nothing, expected an inverse temperature")
    return Dynamics(dynamics, beta=beta, **model)


def velocity(tokens, dynamics=None, beta=None, *, out=None, masses=None, radii=None, normalise=False, t=0.0, **model):
    """The velocity of every token, an array of shape (n, d), tangent to the sphere.

    ``dynamics`` is a name (default ``"sa"``; see ``names("dynamics")``), a ``Dynamics`` or a
    function ``f(t, x)``. Keywords of ``Dynamics`` (``causal``, ``mask``, ``q``, ``k``, ``v``,
    ``norm``, ...) may follow. With ``norm="pre"`` tokens have radii, and the last of d + 1 columns
    is r'. The result is written into ``out`` if given.

    >>> import numpy as np, metastable as ms
    >>> x = np.array([[1.0, 0.0], [np.cos(1.0), np.sin(1.0)]])
    >>> v = ms.velocity(x, "sa", beta=1.0)
    >>> expected = np.sin(1) * np.exp(np.cos(1)) / (np.e + np.exp(np.cos(1)))
    >>> bool(abs(v[0, 1] - expected) < 1e-15)
    True
    """
    moved = dynamics if type(dynamics) is Dynamics and beta is None and not model else _dynamics(dynamics, beta, model, "first")
    return moved.velocity(tokens, out, masses=masses, radii=radii, normalise=normalise, t=t)


def energy(beta=None, scale="mean", *, interaction=None, coupling=None):
    """The interaction energy ``E = (1/(2 beta)) sum_ij m_i m_j exp(beta <x_i, x_j>)`` as an object
    with ``value``, ``log_value``, ``grad``, ``hess_vec``, ``hessian``, ``eigenvalues`` and
    ``morse_index``. ``scale`` is mean, sum, shifted or unit.

    With an ``interaction`` phi or a symmetric matrix ``coupling`` (d, d) it is the
    ``InteractionEnergy`` ``(1/2) sum_ij m_i m_j W(<x_i, D x_j>)``, W' = phi, without ``scale``.

    >>> import metastable as ms
    >>> e = ms.energy(2.0)
    >>> x = ms.tokens("orthonormal", n=2, d=2)
    >>> round(e.value(x), 12)   # (2 e^2 + 2) / (4 * 4)
    1.048632012366
    >>> e.grad(x).shape, e.hessian(x).shape
    ((2, 2), (2, 2))
    >>> ms.energy(interaction="power:p=3", coupling=[[0.5, 0.0], [0.0, 1.0]]).value([[0.0, 1.0]])
    0.125
    """
    if interaction is None and coupling is None:
        if beta is None:
            raise ValueError("beta: found nothing, expected an inverse temperature or an interaction")
        return Energy(beta, scale)
    if scale != "mean":
        raise ValueError(f"scale: found {scale!r} together with an interaction, expected none")
    if interaction is None:
        interaction = Interaction("exp", beta=beta)
    elif isinstance(interaction, str):
        interaction = Interaction(interaction, **({} if beta is None else {"beta": beta}))
    return InteractionEnergy(interaction, coupling)


def _span(t_end, t_span):
    """Start and end of a run."""
    if (t_end is None) == (t_span is None):
        raise ValueError("t_end: found none or both of t_end and t_span, expected exactly one")
    first, last = (0.0, t_end) if t_span is None else t_span
    first, last = float(first), float(last)
    if not (math.isfinite(first) and math.isfinite(last) and last >= first):
        raise ValueError(f"t_end: found the times {first} to {last}, expected finite ones, the end not before the start")
    return first, last


def _sample_times(t_eval, first):
    if t_eval is None:
        return None
    times = np.asarray(t_eval, dtype=float)
    if times.ndim != 1:
        raise ValueError(f"t_eval: found an array of shape {times.shape}, expected a list of times")
    return (times - first).tolist()


def _shifted(parts, first):
    """Shifts the times of a result by the start time ``first``."""
    if first != 0.0:
        parts["t"] += first
        parts["timeline"]["t"] += first
        parts["merges"] = [(t + first, members, mass) for t, members, mass in parts["merges"]]
    return parts


def _later(dynamics, first):
    """Shifts the time of a function to start at ``first``; registered dynamics do not depend on
    time."""
    if first == 0.0 or not callable(dynamics):
        return dynamics
    return _Later(dynamics, first)


class _Later:
    def __init__(self, f, first):
        self.f, self.first = f, first

    def __call__(self, t, x):
        return self.f(self.first + t, x)


def solve(
    dynamics,
    tokens,
    t_end=None,
    *,
    t_span=None,
    t_eval=None,
    beta=None,
    observables=None,
    rtol=1e-10,
    merge_radius=1e-10,
    method="DOP853",
    max_steps=1_000_000,
    stop_at_one_cluster=False,
    masses=None,
    radii=None,
    normalise=False,
    **model,
):
    """Moves tokens to ``t_end`` and returns a ``Solution``.

    ``dynamics`` is a name, a ``Dynamics``, or a function ``f(t, x)`` of the time and an (n, d)
    array that returns an array of the same shape. As in ``scipy.integrate.solve_ivp`` it comes
    first.

    The values of a function are projected to the tangent space of every token, so ``f = x`` moves
    nothing; with ``norm="none"`` tokens live in R^d instead. Tokens of a function never merge: use
    ``clusters(end.tokens, radius)`` to find clusters. Other tokens that are nearer than
    ``merge_radius`` (radians) merge into one token with the sum of their masses. ``rtol`` bounds
    the local error per unit of displacement in kernel widths beta^(-1/2).

    With ``t_eval`` the solution has ``frames``, and its ``timeline`` has those times; otherwise the
    timeline has the end of every step.

    The solution has ``success``, ``status`` (0: end time or steady state reached; 1: stop rule; -1:
    failure), ``message``, ``outcome``, ``t``, ``tokens`` (n, d), ``masses`` and ``clusters`` of the
    tokens after merging, ``labels`` (n,), ``merges``, ``energy`` ((1/(2 beta)) sum m_i m_j e^{beta
    G_ij}), ``log_energy`` (log of sum m_i m_j e^{beta (G_ij - 1)}, as in the timeline),
    ``timeline`` (a structured array) and ``nfev``.

    >>> import numpy as np, metastable as ms
    >>> pair = np.array([[1.0, 0.0], [np.cos(3.0), np.sin(3.0)]])
    >>> end = ms.solve("sa", pair, beta=9.0, t_end=1e12)
    >>> end.success, len(end.masses), end.merges[0].members.tolist()
    (True, 1, [0, 1])
    >>> turn = lambda t, x: np.stack([-x[:, 1], x[:, 0]], axis=1)
    >>> end = ms.solve(turn, [[1.0, 0.0]], t_end=np.pi / 2)
    >>> np.round(end.tokens, 9) + 0.0
    array([[0., 1.]])
    """
    first, last = _span(t_end, t_span)
    moved = _dynamics(_later(dynamics, first), beta, model)
    parts = _metastable._solve(
        moved,
        tokens,
        last - first,
        t_eval=_sample_times(t_eval, first),
        observables=_listed(observables),
        rtol=float(rtol),
        merge_radius=float(merge_radius),
        method=method,
        max_steps=int(max_steps),
        stop_at_one_cluster=bool(stop_at_one_cluster),
        masses=masses,
        radii=radii,
        normalise=bool(normalise),
    )
    return Solution(moved, _shifted(parts, first))


def layers(dynamics, tokens, count, eta=1.0, *, dt=1.0, beta=None, observables=None, masses=None, radii=None, normalise=False, **model):
    """Applies ``count`` layers ``x <- normalise(x + eta a(x))``, the map of a Transformer;
    ``eta=float("inf")`` is mean shift. Returns a ``Solution`` with the tokens at every depth in
    ``frames``; the time between layers is ``dt``.

    >>> import metastable as ms
    >>> x = ms.tokens("uniform", n=8, d=3)
    >>> end = ms.layers("sa", x, 12, eta=0.5, beta=2.0)
    >>> end.frames.shape, end.t
    ((13, 8, 3), 12.0)
    """
    moved = _dynamics(dynamics, beta, model)
    if int(count) != count or count < 0:
        raise ValueError(f"count: found {count}, expected a whole number of layers, at least 0")
    parts = _metastable._layers(
        moved, tokens, int(count), float(eta), float(dt), observables=_listed(observables), masses=masses, radii=radii, normalise=bool(normalise)
    )
    return Solution(moved, parts)


def noise(
    dynamics, tokens, t_end, *, kappa, step, seed=1, t_eval=None, beta=None, observables=None, masses=None, radii=None, normalise=False, **model
):
    """A path with Brownian noise, ``dx = v dt + sqrt(2 / kappa) dW`` on the sphere, with steps of
    fixed length. Returns a ``Solution``.

    >>> import metastable as ms
    >>> x = ms.tokens("uniform", n=8, d=3)
    >>> end = ms.noise("sa", x, 1.0, kappa=20.0, step=0.01, beta=4.0, t_eval=[0.5, 1.0])
    >>> end.frames.shape
    (2, 8, 3)
    """
    moved = _dynamics(dynamics, beta, model)
    parts = _metastable._noise(
        moved,
        tokens,
        float(t_end),
        kappa=float(kappa),
        step=float(step),
        seed=int(seed),
        t_eval=_sample_times(t_eval, 0.0),
        observables=_listed(observables),
        masses=masses,
        radii=radii,
        normalise=bool(normalise),
    )
    return Solution(moved, parts)


def _listed(observables):
    if observables is None:
        return None
    return [observables] if isinstance(observables, str) else list(observables)
