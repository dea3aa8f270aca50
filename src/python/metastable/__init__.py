"""A numerical laboratory for the theory of self-attention dynamics.

n tokens are the rows of an array of shape (n, d): unit vectors, which attention moves as particles
on the sphere. Masses sum to 1 and are equal unless given. Arrays may have any real dtype and any
strides. Long computations release the interpreter's lock and end at Ctrl-C. Invalid arguments raise
``ValueError`` with a message that states what was found and what was expected.

>>> import metastable as ms
>>> x = ms.tokens("uniform", n=16, d=3, seed=1)
>>> end = ms.solve("sa", x, beta=4.0, t_end=1e4, stop_at_one_cluster=True)
>>> end.outcome, len(end.masses)
('one-cluster', 1)
"""

from __future__ import annotations

import os as _os

from . import _commands, _metastable
from ._commands import *  # noqa: F403
from ._load import load
from ._metastable import Dynamics, Energy, Interaction, InteractionEnergy, __version__, field, threads
from ._results import Figure, Result, Solution, Verdicts
from ._runs import energy, layers, noise, solve, tokens, velocity

if hasattr(_os, "register_at_fork"):
    _os.register_at_fork(after_in_child=_metastable._after_fork)

__all__ = [
    "Dynamics",
    "Energy",
    "Figure",
    "Interaction",
    "InteractionEnergy",
    "Result",
    "Solution",
    "Verdicts",
    "__version__",
    "energy",
    "field",
    "layers",
    "load",
    "noise",
    "solve",
    "threads",
    "tokens",
    "velocity",
]
__all__ += _commands.__all__
