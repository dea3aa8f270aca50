from collections.abc import Callable, Iterable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._metastable import Dynamics, Energy, Interaction, InteractionEnergy
from ._results import Solution

_Field = Callable[[float, NDArray[np.float64]], ArrayLike]

def tokens(law: str, n: int, d: int, seed: int = 1) -> NDArray[np.float64]: ...
def velocity(
    tokens: ArrayLike,
    dynamics: str | Dynamics | _Field | None = None,
    beta: float | None = None,
    *,
    out: NDArray[np.float64] | None = None,
    masses: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    normalise: bool = False,
    t: float = 0.0,
    **model: Any,
) -> NDArray[np.float64]: ...
@overload
def energy(
    beta: float,
    scale: str = "mean",
    *,
    interaction: None = None,
    coupling: None = None,
) -> Energy: ...
@overload
def energy(
    beta: float | None = None,
    scale: str = "mean",
    *,
    interaction: str | Interaction | Callable[[NDArray[np.float64]], ArrayLike],
    coupling: ArrayLike | None = None,
) -> InteractionEnergy: ...
@overload
def energy(beta: float, scale: str = "mean", *, coupling: ArrayLike) -> InteractionEnergy: ...
def solve(
    dynamics: str | Dynamics | _Field,
    tokens: ArrayLike,
    t_end: float | None = None,
    *,
    t_span: tuple[float, float] | None = None,
    t_eval: ArrayLike | None = None,
    beta: float | None = None,
    observables: str | Iterable[str] | None = None,
    rtol: float = 1e-10,
    merge_radius: float = 1e-10,
    method: str = "DOP853",
    max_steps: int = 1_000_000,
    stop_at_one_cluster: bool = False,
    masses: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    normalise: bool = False,
    **model: Any,
) -> Solution: ...
def layers(
    dynamics: str | Dynamics | _Field,
    tokens: ArrayLike,
    count: int,
    eta: float = 1.0,
    *,
    dt: float = 1.0,
    beta: float | None = None,
    observables: str | Iterable[str] | None = None,
    masses: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    normalise: bool = False,
    **model: Any,
) -> Solution: ...
def noise(
    dynamics: str | Dynamics | _Field,
    tokens: ArrayLike,
    t_end: float,
    *,
    kappa: float,
    step: float,
    seed: int = 1,
    t_eval: ArrayLike | None = None,
    beta: float | None = None,
    observables: str | Iterable[str] | None = None,
    masses: ArrayLike | None = None,
    radii: ArrayLike | None = None,
    normalise: bool = False,
    **model: Any,
) -> Solution: ...
