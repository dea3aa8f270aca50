"""The commands of the program as functions, made from the descriptions of its operations: a
parameter is a keyword, an array may take the place of a file, and the JSON result is a ``Result``.
"""

from __future__ import annotations

import difflib
import inspect
import json
import keyword
import os
import re
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import _metastable
from ._metastable import Interaction
from ._results import Figure, Result, Saddles, Verdicts, _result, _verdicts

_Path = str | os.PathLike[str]

# Files in the place of which an array may be given.
_FILES = {"tokens", "masses", "samples", "angles", "values", "ids", "embeddings"}

# Files and folders that are written.
_WRITTEN = {"out", "movie", "certificates"}
_FORCE = {
    "name": "force",
    "kind": "switch",
    "help": "Replace files of other problems and of other programs",
}

# First words of operations without a function of their name here: those of the command line, those
# that Python has in another form, and predictions, which have one function.
_LEFT_OUT = {"bench", "completions", "list", "man", "page", "selftest"}
_LEFT_OUT |= {"energy", "solve", "velocity", "predict"}

# Types of values by the kind of a parameter, and by its name.
_NUMBERS = {
    "whole": "int",
    "real": "float",
    "numbers": "float | Sequence[float] | str",
    "list": "float | Sequence[float] | str",
    "span": "float | tuple[float, float] | str",
}
_TEXTS = {"name": "str", "word": "str | float", "text": "str", "file": "_Path"}
_TYPES = {**_NUMBERS, **_TEXTS, "switch": "bool"}
_NAMED = {
    "interaction": "str | Interaction",
    "row_weights": "str | Interaction",
    "set": "Mapping[str, Any]",
}


def _python(name):
    """The name of an operation or of a parameter in Python."""
    word = re.sub("[- ]", "_", name)
    return word + "_" if keyword.iskeyword(word) else word


def _known(operation):
    """The parameters of an operation by their names in Python."""
    found = {_python(p["name"]): p for p in operation["parameters"] if not p.get("hidden")}
    return {**found, "force": _FORCE} if _WRITTEN & set(found) else found


_OPERATIONS = {o["name"]: o for o in json.loads(_metastable._operations())}
_KNOWN = {name: _known(operation) for name, operation in _OPERATIONS.items()}
# Other names that are understood, too.
_ALSO = {
    name: {
        _python(word): p
        for p in operation["parameters"]
        for word in [*p.get("also", ()), *([p["name"]] if p.get("hidden") else [])]
    }
    for name, operation in _OPERATIONS.items()
}


def _parameter(name, word):
    """The parameter of an operation that a keyword names."""
    known = _KNOWN.get(name)
    if known is None:
        # The program says what is wrong with the operation.
        return {"name": word.rstrip("_")}
    if word in known:
        return known[word]
    if word in _ALSO[name]:
        return _ALSO[name][word]
    near = difflib.get_close_matches(word, known, 1)
    hint = f"; did you mean `{near[0]}`?" if near else ""
    names = ", ".join(known)
    raise TypeError(f"unknown parameter of {_python(name)} `{word}`{hint} (known: {names})")


def _array(name, value):
    """An array argument as float64."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        expected = "numbers everywhere: drop or fill the masked rows first"
        raise ValueError(f"{name}: found a masked array with masked entries, expected {expected}")
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: found an array of dtype {array.dtype}, expected real numbers")
    return array.astype(float)


def _text(value, kind=None):
    """A value as a word of the command line; a tuple is an interval where the kind is one."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    if isinstance(value, Interaction):
        return value.text
    if isinstance(value, (list, tuple, np.ndarray, range)):
        between = ".." if kind == "span" and isinstance(value, tuple) else ","
        return between.join(_text(v, kind) for v in value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _words(parameter, value, folder):
    """The words of one flag; an array is written into a file of the folder."""
    name, kind = parameter["name"], parameter.get("kind")
    flag = "--" + name.replace("_", "-")
    if isinstance(value, (bool, np.bool_)):
        return [flag] if value else []
    if isinstance(value, Mapping):
        return [word for k, v in value.items() for word in (flag, f"{k}={_text(v)}")]
    is_text = isinstance(value, (str, os.PathLike))
    if name in _FILES and kind not in _NUMBERS and not is_text:
        path = folder / f"{name}.npy"
        np.save(path, _array(name, value))
        return [flag, str(path)]
    if kind in _TEXTS and parameter.get("many") and isinstance(value, (list, tuple)):
        return [f"{flag}={_text(v)}" for v in value]
    return [f"{flag}={_text(value, kind)}"]


def _call(name, positional=(), flags=None):
    """Runs an operation; returns its result with notes and exit code."""
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        words = name.split()
        given = {k: v for k, v in (flags or {}).items() if v is not None and v is not False}
        for word, value in given.items():
            words += _words(_parameter(name, word), value, Path(folder))
        try:
            answer, notes, code = _metastable._command([*words, *map(_text, positional)])
        except (ValueError, ArithmeticError, OSError) as e:
            # Name the argument instead of the temporary file.
            message = str(e)
            for file in _FILES:
                message = message.replace(str(Path(folder) / f"{file}.npy"), file)
            raise type(e)(message) from None
    if code == 130:
        raise KeyboardInterrupt
    return _result(Result, json.loads(answer) if answer else {}, notes, code)


def _points(answer):
    """Converts lists of numbers to arrays."""
    for key, value in list(answer.items()):
        first = value[0] if isinstance(value, list) and value else None
        if isinstance(first, (list, int, float)) and not isinstance(first, bool):
            try:
                answer[key] = np.array(value, dtype=float)
            except (TypeError, ValueError):
                pass
    return answer


def _entries(answer) -> Result:
    """Converts lists of numbers to arrays, and objects in lists to results."""
    for key, value in list(answer.items()):
        if isinstance(value, list) and value and all(isinstance(v, dict) for v in value):
            answer[key] = [_entries(Result(v)) for v in value]
    return _points(answer)


def _annotation(parameter):
    """The type of a parameter."""
    name, kind = parameter["name"], parameter.get("kind")
    if name in _NAMED:
        return _NAMED[name]
    if name in {"n", "d", "beta"} and kind == "text":
        # Lists, ranges and words such as `any`.
        return _NUMBERS["list"]
    if name in _FILES and kind not in _NUMBERS:
        return "ArrayLike | _Path"
    one = _TYPES.get(kind, "Any")
    if parameter.get("positional") or not parameter.get("many") or "Sequence" in one:
        return one
    return f"{one} | Sequence[{one}]"


def _signature(known, first, defaults, answer):
    """The signature of an operation: its words, the parameters of ``first``, then keywords."""
    own = inspect.Parameter
    words = [name for name, p in known.items() if p.get("positional")]
    ahead, made = [*words, *first], []
    for name in [*ahead, *(name for name in known if name not in ahead)]:
        p, annotation = known[name], _annotation(known[name])
        place = own.POSITIONAL_OR_KEYWORD if name in ahead else own.KEYWORD_ONLY
        default = defaults.get(name, False if p.get("kind") == "switch" else None)
        if p.get("positional") and p.get("many"):
            place, default = own.VAR_POSITIONAL, own.empty
        elif p.get("required") and not p.get("unless") and name not in (*first, *defaults):
            default = own.empty
        elif default is None and annotation != "Any":
            annotation += " | None"
        made.append(own(name, place, default=default, annotation=annotation))
    return inspect.Signature(made, return_annotation=answer)


def _documented(operation, known, text):
    """The documentation of a function: a text, then what the description says."""

    def keywords(found):
        # Flags become keywords, but not those of a quoted command.
        word = _python(found[1] or "")
        return word if word in known else found[0]

    parts = [inspect.cleandoc(text), "Parameters:"]
    for name, p in known.items():
        help_ = re.sub(r"`[^`]*`|--([a-z][a-z0-9-]*)", keywords, p["help"]).rstrip(".")
        choices = f" One of {', '.join(p['choices'])}." if p.get("choices") else ""
        default = p.get("default")
        shown = f" [default: {default}]" if default and "[default" not in help_ else ""
        parts.append(f"{name}: {help_}{shown}.{choices}")
    columns = [*operation.get("results", ())]
    for table in operation.get("tables", ()):
        columns += table["columns"]
    if columns:
        parts.append("The result has:")
        parts += [f"{c['key']}: {c.get('meaning') or c.get('what')}." for c in columns]
    ends = operation.get("exits", ())
    if len(ends) > 1:
        parts.append("exit_code: " + "; ".join(f"{code} {what}" for code, what in ends) + ".")
    lines = [textwrap.fill(part, 96, subsequent_indent="    ") for part in parts[1:]]
    return "\n".join([parts[0], "", *lines])


def _command(name, *first, **defaults):
    """Makes the function of an operation from its description. The decorated function converts the
    answer; its text begins the documentation. The parameters of ``first`` may be given by
    position."""

    def made(convert):
        operation, known = _OPERATIONS[name], _KNOWN[name]

        def call(*arguments, **keywords):
            others = {}
            for word in list(keywords):
                own = _python(_parameter(name, word)["name"])
                if own not in known:
                    others[own] = keywords.pop(word)
                elif own != word:
                    keywords[own] = keywords.pop(word)
            flags = {**defaults, **call.__signature__.bind(*arguments, **keywords).arguments}
            flags |= others
            positional = []
            for word in [word for word in flags if known.get(word, {}).get("positional")]:
                value = flags.pop(word)
                if value is not None:
                    positional += value if isinstance(value, tuple) else [value]
            return convert(_call(name, positional, flags))

        call.__name__ = call.__qualname__ = _python(name)
        call.__signature__ = _signature(known, first, defaults, convert.__annotations__["return"])
        text = operation["summary"] + "." if convert is _entries else convert.__doc__
        call.__doc__ = _documented(operation, known, text)
        return call

    return made


def names(kind: str = "theorems") -> list[str]:
    """The registered names of one kind: theorems, dynamics, laws, observables, figures,
    experiments, integrators, kernels or studies.

    >>> import metastable as ms
    >>> ms.names("dynamics")[-2:]
    ['sa', 'usa']
    """
    answer = _call("list", [kind])
    rows = next((v for v in answer.values() if isinstance(v, list)), [])
    return [r["name"] if isinstance(r, dict) else r for r in rows]


def predict(what: str, **parameters: Any) -> Result:
    """A closed form of the theory, as ``metastable predict``: gamma, level-time, growth-rates,
    two-token-time, threshold, wendel, kac-rice, ...

    Write ``from_`` for ``from``. Returns a ``Result`` whose lists of numbers are arrays.

    >>> import metastable as ms
    >>> ms.predict("gamma", n=8, beta=1.0, times=[0.0, 1.0]).gamma
    array([0.        , 0.36258688])
    >>> round(ms.predict("two-token-time", beta=50, from_=3.08, to=0.1).time / 1e41, 1) > 0
    True
    """
    return _points(_call(f"predict {what}", [], parameters))


@_command("saddles", "n", "d", "beta")
def saddles(answer) -> Any:
    """Critical points of the energy: those found by random starts for n and d, or the one reached
    from given ``tokens`` (n, d).

    The list may be incomplete: points that no start reached are missing. ``found_by_starts`` of a
    point counts the random starts that found it; ``missing_estimate`` is Chao's lower estimate of
    the number of missing points. With an ``interaction`` the energy is that of an ``Interaction``
    (or its text). Several ``beta`` give ``landscapes``, a list of such results.

    ``points`` is a list of ``Result``: ``points`` (clusters, d), ``sizes``, ``log_energy``,
    ``morse_index``, ``eigenvalues``, ``residual``, ... The result prints as a table with one line
    per point.

    >>> import metastable as ms
    >>> found = ms.saddles(n=3, d=2, beta=1.0, starts=20)
    >>> sorted({p.unstable_directions for p in found.points})[0]
    0
    """
    found = answer
    if "landscapes" in found:
        found["landscapes"] = [Saddles(one) for one in found["landscapes"]]
    else:
        found = _result(Saddles, answer, answer.notes, answer.exit_code)
    for one in found.get("landscapes", [found]):
        one["points"] = [_points(Result(p)) for p in one["points"]]
    return found


@_command("landscape")
def landscape(answer) -> Result:
    """All critical points of the energy on the circle or on a sphere, with the proof that there are
    no others.

    ``orbits`` is a list of ``Result``, one for each point up to rotations, reflections and
    permutations of equal masses: ``sizes``, ``unstable_directions``, ``energy_share``, ...
    ``complete`` tells whether all are found. An interval of beta is a pair (1, 4) or a text
    ``"1..4"``.

    >>> import metastable as ms
    >>> found = ms.landscape(n=3, beta=2.0)
    >>> found.complete, [point.unstable_directions for point in found.orbits]
    (True, [0, 1, 2])
    """
    return _entries(answer)


@_command("continue")
def continue_(answer) -> Result:
    """All branches of critical points over an interval of beta, of a mass, or of a parameter of the
    interaction, with all bifurcations.

    ``branches`` and ``bifurcations`` are lists of ``Result``. ``complete`` tells whether all are
    found.

    >>> import metastable as ms
    >>> found = ms.continue_(n=3, beta=(0.5, 1.0))
    >>> found.complete, len(found.branches), found.bifurcations
    (True, 3, [])
    """
    return _entries(answer)


@_command("rates")
def rates(answer) -> Result:
    """Rates at which noise leaves the maxima of the energy over saddles of index 1.

    ``states`` and ``exits`` are lists of ``Result``: an exit has ``from``, ``over`` and ``to``,
    which are numbers of states, the ``barrier`` and the ``log_rate``. ``proved_complete`` tells
    whether the list of critical points is proved to be complete.

    >>> import metastable as ms
    >>> found = ms.rates(n=3, d=2, beta=-2.0, kappa=45.0)
    >>> found.proved_complete, round(found.exits[0].log_rate, 2)
    (True, -9.94)
    """
    return _entries(answer)


@_command("clusters", "tokens", "radius")
def clusters(answer) -> Result:
    """Clusters of tokens (n, d) by single linkage: two tokens are linked if their geodesic distance
    is at most ``radius``, and clusters are the connected components. With ``beta``
    instead, this distance is half a kernel width, beta^(-1/2)/2.

    ``labels`` (n,) has the cluster of every token, ``sizes`` and ``masses`` those of the clusters,
    ``centres`` (clusters, d) their mean directions, ``radii`` the largest distance of a token from
    its centre. Cost: n log n plus the number of near pairs.

    >>> import numpy as np, metastable as ms
    >>> x = np.array([[1.0, 0.0], [np.cos(0.1), np.sin(0.1)], [-1.0, 0.0]])
    >>> found = ms.clusters(x, 0.2)
    >>> found.clusters, found.labels, found.sizes
    (2, array([0, 0, 1]), array([2, 1]))
    """
    found = _points(answer)
    for name in {"labels", "sizes"} & set(found):
        found[name] = np.array(found[name], dtype=int)
    return found


def certify(
    tokens: ArrayLike | _Path | None = None,
    beta: float | None = None,
    *,
    check: _Path | None = None,
    converges: bool = False,
    dynamics: str | None = None,
    sizes: Sequence[int] | None = None,
    radius: float | None = None,
    anywhere: bool = False,
    out: _Path | None = None,
) -> Result:
    """A proof in interval arithmetic: that a critical point exists near given clusters (rows of
    ``tokens`` with ``sizes`` tokens each), or, with ``converges``, that the start converges to one
    point. ``check=FILE`` verifies a certificate instead. The result has ``proved``; a failed proof
    raises ``ArithmeticError``.

    >>> import metastable as ms
    >>> ms.certify([[1.0, 0.0], [-1.0, 0.0]], beta=2.0).proved
    True
    """
    if check is not None:
        return _call("certify check", [check])
    flags = {"tokens": tokens, "beta": beta, "dynamics": dynamics, "sizes": sizes}
    flags |= {"radius": radius, "anywhere": anywhere, "out": out}
    return _call("certify start" if converges else "certify critical-point", [], flags)


@_command("modes", "samples", "beta")
def modes(answer) -> Result:
    """The number of modes of a kernel density estimate. Samples are numbers on the line, angles
    with ``circle``, or rows on S^2 with ``sphere``. If ``certified``, the count ``modes`` is
    proved; otherwise the result has the lower bound ``at_least`` instead. On the circle an
    ``interaction`` takes the place of exp(beta s).

    >>> import metastable as ms
    >>> found = ms.modes([-2.0, -1.9, 2.0], beta=4.0)
    >>> found.modes, found.certified
    (2, True)
    """
    return _points(answer)


@_command("measure", "density", space="circle")
def measure(answer) -> Result:
    """Solves the continuity equation for a density up to ``t_end``. The result has
    ``coefficients``, ``negentropy``, ``negentropy_rate`` and their errors. ``space`` is circle,
    zonal or sphere2. The initial density is a string such as ``"cos:1=0.2,2=-0.1"``, or an array
    ``values`` or ``tokens``. An ``interaction`` takes the place of exp(beta s).

    >>> import metastable as ms
    >>> end = ms.measure("cos:1=0.2,2=-0.1", beta=4.0, t_end=1.0, dynamics="sa")
    >>> end.negentropy_error < 1e-9
    True
    """
    found = _points(answer)
    found["success"] = answer.exit_code == 0
    return found


@_command("entropy", "tokens")
def entropy(answer) -> Result:
    """Negentropy of tokens (n, d), or of every layer of hidden states (layers, n, d), by two
    estimators, each with its error and bias.

    >>> import metastable as ms
    >>> found = ms.entropy(ms.tokens("uniform", n=200, d=3))
    >>> bool(abs(found.nearest_neighbour[0]) < 0.5)
    True
    """
    return _points(answer)


class Model:
    """A trained model: a folder with model.safetensors, config.json and tokenizer.json (BERT,
    ALBERT, GPT-2, Llama), or a GGUF file. See ``load_model``."""

    path: str

    def __init__(self, path: _Path) -> None:
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            expected = "the folder of a model or a GGUF file"
            raise ValueError(f"path: found nothing at {self.path}, expected {expected}")

    def __repr__(self):
        return f"metastable.load_model({self.path!r})"

    def hidden(
        self,
        text: _Path | None = None,
        *,
        ids: ArrayLike | _Path | None = None,
        embeddings: ArrayLike | _Path | None = None,
        f32: bool = False,
        iterate: int | None = None,
        layers: int | None = None,
        attention: bool = True,
    ) -> Result:
        """The hidden states for a ``text``, for token ``ids``, or for ``embeddings`` (n, d): a
        ``Result`` with ``hidden_states`` (layers + 1, n, d), ``attention`` (layers, heads, n, n)
        and ``words``. ``iterate`` selects one block, which is applied ``layers`` times. The weights
        are read at every call."""
        flags = {"text": text, "ids": ids, "embeddings": embeddings, "f32": f32}
        flags |= {"iterate": iterate, "layers": layers, "without_attention": not attention}
        with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
            out = Path(folder) / "run"
            found = _call("model", [self.path], flags | {"out": out})
            with np.load(out / "hidden.npz") as arrays:
                found.update({name: arrays[name] for name in arrays.files})
        return found


def load_model(path: _Path) -> Model:
    """Opens a trained model, whose hidden states are tokens.

    >>> import metastable as ms
    >>> ms.load_model("nowhere")
    Traceback (most recent call last):
    ValueError: path: found nothing at nowhere, expected the folder of a model or a GGUF file
    """
    return Model(path)


@_command("check")
def check(answer) -> Verdicts:
    """Checks claims (all of them by default) and returns ``Verdicts``. ``n``, ``d`` and ``beta``
    set the ranges of the trials, as on the command line.

    >>> import metastable as ms
    >>> ms.check("cone-speed-printed", quick=True)[0].verdict
    'violated'
    """
    return _verdicts([Result(claim) for claim in answer["claims"]], answer.notes)


def hunt(
    claim: str,
    *,
    minutes: float = 2.0,
    seed: int = 1,
    out: _Path | None = None,
    **region: Any,
) -> Result:
    """Searches the range of a claim for a counterexample. The result has ``found``, ``margin``,
    ``confirmed``, and ``counterexample``, the argument of ``replay``.

    >>> import metastable as ms
    >>> found = ms.hunt("cone-speed-printed", minutes=0.02)
    >>> found.found, ms.replay(found.counterexample).confirmed
    (True, True)
    """
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        path = Path(out) if out is not None else Path(folder) / "counterexample.json"
        flags = {"minutes": minutes, "seed": seed, "out": path, **region}
        found = _call("hunt", [claim], flags)
        found["counterexample"] = json.loads(path.read_text()) if found["found"] else None
        found["file"] = str(path) if found["found"] and out is not None else None
    return found


def replay(counterexample: Mapping[str, Any] | _Path) -> Result:
    """Evaluates a counterexample again with both integrators: the ``counterexample`` of ``hunt``,
    or the name of its file."""
    if isinstance(counterexample, (str, os.PathLike)):
        return _call("hunt", [], {"replay": counterexample})
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        path = Path(folder) / "counterexample.json"
        path.write_text(json.dumps(counterexample))
        return _call("hunt", [], {"replay": path})


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
) -> Figure:
    """Draws a figure of the papers, as ``metastable figure``; parameters of the figure are keywords
    (``n=64, beta=[2, 4]``). Returns a ``Figure``, which notebooks display.

    >>> import metastable as ms
    >>> drawn = ms.figure("gamma-curve", beta=[1, 4])
    >>> drawn.svg.startswith("<"), drawn.caption != ""
    (True, True)
    """
    flags = {"published": published, "size": size, "theme": theme, "dpi": dpi, "runs": runs}
    flags |= {"from_run": from_run, "tokens": tokens, "array": array, "set": parameters}
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        notes = _call("figure", [name], flags | {"out": folder}).notes
        files = {p.suffix.lstrip("."): p.read_bytes() for p in Path(folder).iterdir()}
    return Figure(name, files, notes)


# All other operations.
for _name in _OPERATIONS:
    if _name.split()[0] not in _LEFT_OUT and _python(_name) not in globals():
        globals()[_python(_name)] = _command(_name)(_entries)

__all__ = sorted(
    name
    for name, thing in globals().items()
    if not name.startswith("_") and getattr(thing, "__module__", None) == __name__
)
