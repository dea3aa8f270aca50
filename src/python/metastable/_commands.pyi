import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from ._metastable import Interaction
from ._results import Figure, Result, Saddles, Verdicts

_Path = str | os.PathLike[str]

def names(kind: str = "theorems") -> list[str]: ...
def predict(what: str, **parameters: Any) -> Result: ...
def saddles(
    n: int | None = None,
    d: int | None = None,
    beta: float | Sequence[float] | None = None,
    *,
    tokens: ArrayLike | _Path | None = None,
    starts: int | None = None,
    seed: int | None = None,
    connections: str | None = None,
    certificates: _Path | None = None,
    interaction: str | Interaction | None = None,
) -> Any: ...
def clusters(
    tokens: ArrayLike | _Path,
    linking_distance: float | None = None,
    *,
    beta: float | None = None,
    masses: ArrayLike | _Path | None = None,
    normalise: bool = False,
) -> Result: ...
def certify(
    tokens: ArrayLike | _Path | None = None,
    beta: float | None = None,
    *,
    check: _Path | None = None,
    exact: bool = False,
    converges: bool = False,
    dynamics: str | None = None,
    sizes: list[int] | None = None,
    radius: float | None = None,
    anywhere: bool = False,
    out: _Path | None = None,
) -> Result: ...
def modes(
    samples: ArrayLike | _Path,
    beta: float | None = None,
    *,
    circle: bool = False,
    sphere: bool = False,
    interaction: str | Interaction | None = None,
) -> Result: ...
def measure(
    density: str | None = None,
    *,
    space: str = "circle",
    beta: float | None = None,
    t_end: float,
    values: ArrayLike | _Path | None = None,
    tokens: ArrayLike | _Path | None = None,
    **parameters: Any,
) -> Result: ...
def entropy(tokens: ArrayLike | _Path, *, neighbours: int = 3, kernel_beta: float = 100.0, normalise: bool = False) -> Result: ...
class Model:
    path: str
    def __init__(self, path: _Path) -> None: ...
    def hidden(
        self,
        text: str | _Path | None = None,
        *,
        ids: ArrayLike | _Path | None = None,
        embeddings: ArrayLike | _Path | None = None,
        f32: bool = False,
        iterate: int | None = None,
        layers: int | None = None,
        attention: bool = True,
    ) -> Result: ...

def load_model(path: _Path) -> Model: ...
def check(*claims: str, quick: bool = False, trials: int | None = None, seed: int = 1, **region: Any) -> Verdicts: ...
def hunt(claim: str, *, minutes: float = 2.0, seed: int = 1, out: _Path | None = None, **region: Any) -> Result: ...
def replay(counterexample: dict[str, Any] | _Path) -> Result: ...
def figure(
    name: str,
    *,
    published: bool = False,
    size: str | None = None,
    theme: str | None = None,
    dpi: float | None = None,
    runs: _Path = "runs",
    from_run: _Path | None = None,
    tokens: ArrayLike | _Path | None = None,
    array: str | None = None,
    **parameters: Any,
) -> Figure: ...
