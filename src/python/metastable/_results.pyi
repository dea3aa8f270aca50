import os
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._metastable import Dynamics

class Merge(NamedTuple):
    t: float
    members: NDArray[np.int64]
    mass: float

class Result(dict[str, Any]):
    notes: list[str]
    exit_code: int
    def __getattr__(self, name: str) -> Any: ...
    def __dir__(self) -> list[str]: ...
    def _repr_html_(self) -> str: ...

class Saddles(Result):
    def _repr_html_(self) -> str: ...

class Solution:
    dynamics: Dynamics
    success: bool
    status: int
    message: str
    outcome: str
    t: float
    tokens: NDArray[np.float64]
    labels: NDArray[np.int64]
    clusters: NDArray[np.float64]
    masses: NDArray[np.float64]
    radii: NDArray[np.float64] | None
    merges: list[Merge]
    energy: float | None
    log_energy: float | None
    timeline: NDArray[np.void]
    frames: NDArray[np.float64] | None
    frame_radii: NDArray[np.float64] | None
    nfev: int
    nsteps: int
    nrejected: int
    merging_ignored: bool
    def __init__(self, dynamics: Dynamics, parts: dict[str, Any]) -> None: ...
    def _repr_html_(self) -> str: ...
    def plot(self, column: str | None = None, ax: Any = None, **keywords: Any) -> Any: ...

class Verdicts(list[Result]):
    notes: list[str]
    head: tuple[str, ...]
    @property
    def as_expected(self) -> bool: ...
    def _repr_html_(self) -> str: ...

class Figure:
    formats: tuple[str, ...]
    name: str
    notes: list[str]
    def __init__(self, name: str, files: dict[str, bytes], notes: Iterable[str] = ()) -> None: ...
    @property
    def svg(self) -> str: ...
    @property
    def png(self) -> bytes: ...
    @property
    def pdf(self) -> bytes: ...
    @property
    def csv(self) -> str: ...
    @property
    def caption(self) -> str: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def _repr_svg_(self) -> str: ...
