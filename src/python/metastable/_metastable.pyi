from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

@final
class Dynamics:
    def __new__(
        cls,
        name: str | None = None,
        *,
        beta: float,
        causal: bool = False,
        time_scale: str = "u1",
        kernel: str = "auto",
        accuracy: float | None = None,
        simd: str = "auto",
        **model: Any,
    ) -> Dynamics: ...
    @property
    def name(self) -> str: ...
    @property
    def beta(self) -> float | None: ...
    @property
    def space(self) -> str: ...
    @property
    def normalisation(self) -> str | None: ...
    def velocity(
        self,
        tokens: ArrayLike,
        out: NDArray[np.float64] | None = None,
        *,
        masses: ArrayLike | None = None,
        radii: ArrayLike | None = None,
        normalise: bool = False,
        t: float = 0.0,
    ) -> NDArray[np.float64]: ...
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]: ...

@final
class Energy:
    def __new__(cls, beta: float, scale: str = "mean") -> Energy: ...
    @property
    def beta(self) -> float: ...
    @property
    def scale(self) -> str: ...
    def value(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> float: ...
    def log_value(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> float: ...
    def grad(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def hess_vec(self, tokens: ArrayLike, u: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def hessian(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def eigenvalues(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def morse_index(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> int: ...
    @staticmethod
    def tangent_basis(tokens: ArrayLike) -> NDArray[np.float64]: ...
    def __getnewargs__(self) -> tuple[float, str]: ...

@final
class Interaction:
    def __new__(cls, phi: str | Callable[[NDArray[np.float64]], ArrayLike], **parameters: float) -> Interaction: ...
    @property
    def text(self) -> str: ...
    @property
    def error(self) -> float: ...
    @property
    def terms(self) -> int: ...
    def value(self, s: ArrayLike) -> NDArray[np.float64]: ...
    def derivative(self, s: ArrayLike) -> NDArray[np.float64]: ...
    def potential(self, s: ArrayLike) -> NDArray[np.float64]: ...
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]: ...

@final
class InteractionEnergy:
    def __new__(
        cls,
        interaction: str | Interaction | Callable[[NDArray[np.float64]], ArrayLike],
        coupling: ArrayLike | None = None,
    ) -> InteractionEnergy: ...
    def value(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> float: ...
    def grad(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def hess_vec(self, tokens: ArrayLike, u: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def hessian(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def eigenvalues(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> NDArray[np.float64]: ...
    def morse_index(self, tokens: ArrayLike, *, masses: ArrayLike | None = None) -> int: ...
    def __getnewargs__(self) -> tuple[Any, Any]: ...

def _rebuild_interaction(text: str, error: float) -> Interaction: ...
def field(f: Callable[[float, NDArray[np.float64]], ArrayLike], norm: str | None = None, length_scale: float = 1.0) -> Dynamics: ...
def threads(count: int | None = None) -> int: ...
def _after_fork() -> None: ...
def _rebuild(name: str, beta: float, arguments: dict[str, Any]) -> Dynamics: ...
def _draw(law: str, n: int, d: int, seed: int) -> NDArray[np.float64]: ...
def _command(words: list[str]) -> tuple[str, list[str], int]: ...
def _operations() -> str: ...
def _solve(
    dynamics: Dynamics,
    tokens: ArrayLike,
    t_end: float,
    *,
    t_eval: list[float] | None,
    observables: list[str] | None,
    rtol: float,
    merge_radius: float,
    method: str,
    max_steps: int,
    stop_at_one_cluster: bool,
    masses: ArrayLike | None,
    radii: ArrayLike | None,
    normalise: bool,
) -> dict[str, Any]: ...
def _layers(
    dynamics: Dynamics,
    tokens: ArrayLike,
    count: int,
    eta: float,
    dt: float,
    *,
    observables: list[str] | None,
    masses: ArrayLike | None,
    radii: ArrayLike | None,
    normalise: bool,
) -> dict[str, Any]: ...
def _noise(
    dynamics: Dynamics,
    tokens: ArrayLike,
    t_end: float,
    *,
    kappa: float,
    step: float,
    seed: int,
    t_eval: list[float] | None,
    observables: list[str] | None,
    masses: ArrayLike | None,
    radii: ArrayLike | None,
    normalise: bool,
) -> dict[str, Any]: ...

__all__ = [
    "__version__",
    "Dynamics",
    "Energy",
    "Interaction",
    "InteractionEnergy",
    "_rebuild_interaction",
    "_rebuild",
    "field",
    "_draw",
    "_solve",
    "_layers",
    "_noise",
    "_command",
    "_operations",
    "threads",
    "_after_fork",
]
