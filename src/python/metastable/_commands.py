"""The commands of the program as functions. Flags are keywords with underscores, files may be
arrays, and the JSON result is a ``Result``."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import numpy as np

from . import _metastable
from ._metastable import Interaction
from ._results import Figure, Result, Saddles, Verdicts, _result, _verdicts

# Flags that name a file, for which an array may be given.
_FILES = {"tokens", "masses", "samples", "angles", "values", "ids", "embeddings"}


def _array(name, value):
    """An array argument as float64."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise ValueError(f"{name}: found a masked array with masked entries, expected numbers everywhere: drop or fill the masked rows first")
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name}: found an array of dtype {array.dtype}, expected real numbers")
    return array.astype(float)


def _flags(flags, folder):
    """Command-line words of the flags; arrays are written into files of the folder."""
    words = []
    for name, value in flags.items():
        flag = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words.append(flag)
        elif name in _FILES and not isinstance(value, (str, os.PathLike)):
            path = folder / f"{name}.npy"
            np.save(path, _array(name, value))
            words += [flag, str(path)]
        elif isinstance(value, (str, os.PathLike)):
            words.append(f"{flag}={os.fspath(value)}")
        elif isinstance(value, Interaction):
            words.append(f"{flag}={value.text}")
        elif isinstance(value, dict):
            words += [w for k, v in value.items() for w in (flag, f"{k}={_text(v)}")]
        else:
            words.append(f"{flag}={_text(value)}")
    return words


def _text(value):
    if isinstance(value, (list, tuple, np.ndarray, range)):
        return ",".join(_text(v) for v in value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def _call(command, positional=(), flags=None):
    """Runs a command; returns its JSON result, notes and exit code."""
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        begin = [command] if isinstance(command, str) else command
        words = [*begin, *_flags(flags or {}, Path(folder)), *positional]
        try:
            answer, notes, code = _metastable._command(words)
        except (ValueError, ArithmeticError, OSError) as e:
            # Name the argument instead of the temporary file.
            message = str(e)
            for name in _FILES:
                message = message.replace(str(Path(folder) / f"{name}.npy"), name)
            raise type(e)(message) from None
    if code == 130:
        raise KeyboardInterrupt
    return json.loads(answer) if answer else {}, notes, code


def _answered(command, positional=(), flags=None):
    answer, notes, _ = _call(command, positional, flags)
    return _result(Result, answer, notes)


def _points(answer):
    """Converts lists of numbers to arrays."""
    for key, value in list(answer.items()):
        if isinstance(value, list) and value and isinstance(value[0], (list, int, float)) and not isinstance(value[0], bool):
            try:
                answer[key] = np.array(value, dtype=float)
            except (TypeError, ValueError):
                pass
    return answer


def names(kind="theorems"):
    """The registered names of one kind: theorems, dynamics, laws, observables, figures,
    experiments, integrators, kernels or studies.

    >>> import metastable as ms
    >>> ms.names("dynamics")[-2:]
    ['sa', 'usa']
    """
    answer, _, _ = _call("list", [kind])
    rows = next((v for v in answer.values() if isinstance(v, list)), [])
    return [r["name"] if isinstance(r, dict) else r for r in rows]


def predict(what, **parameters):
    """A closed form of the theory, as ``metastable predict``: gamma, level-time, growth-rates,
    two-token-time, threshold, wendel, kac-rice, ...

    Write ``from_`` for ``from``. Returns a ``Result`` whose lists of numbers are arrays.

    >>> import metastable as ms
    >>> ms.predict("gamma", n=8, beta=1.0, times=[0.0, 1.0]).gamma
    array([0.        , 0.36258688])
    >>> round(ms.predict("two-token-time", beta=50, from_=3.08, to=0.1).time / 1e41, 1) > 0
    True
    """
    return _points(_answered(["predict", what], [], parameters))


def saddles(n=None, d=None, beta=None, *, tokens=None, starts=None, seed=None, connections=None, certificates=None, interaction=None):
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
    flags = {"n": n, "d": d, "beta": beta, "tokens": tokens, "starts": starts, "seed": seed, "connections": connections, "certificates": certificates, "interaction": interaction}
    answer, notes, _ = _call("saddles", [], flags)
    found = _result(Result if "landscapes" in answer else Saddles, answer, notes)
    if "landscapes" in found:
        found["landscapes"] = [Saddles(one) for one in found["landscapes"]]
    for one in found.get("landscapes", [found]):
        one["points"] = [_points(Result(p)) for p in one["points"]]
    return found


def clusters(tokens, linking_distance=None, *, beta=None, masses=None, normalise=False):
    """Clusters of tokens (n, d) by single linkage: two tokens are linked if their geodesic distance
    is at most ``linking_distance``, and clusters are the connected components. With ``beta``
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
    found = _points(_answered("clusters", [], {"tokens": tokens, "linking_distance": linking_distance, "beta": beta, "masses": masses, "normalise": normalise}))
    for name in ("labels", "sizes"):
        found[name] = np.array(found[name], dtype=int)
    return found


def certify(tokens=None, beta=None, *, check=None, exact=False, converges=False, dynamics=None, sizes=None, radius=None, anywhere=False, out=None):
    """A proof in interval arithmetic: that a critical point exists near given clusters (rows of
    ``tokens`` with ``sizes`` tokens each), or, with ``converges``, that the start converges to one
    point. ``check=FILE`` verifies a certificate instead. The result has ``proved``; a failed proof
    raises ``ArithmeticError``.

    >>> import metastable as ms
    >>> ms.certify([[1.0, 0.0], [-1.0, 0.0]], beta=2.0).proved
    True
    """
    if check is not None:
        return _answered(["certify", "check"], [os.fspath(check)], {"exact": exact})
    flags = {"tokens": tokens, "beta": beta, "dynamics": dynamics, "sizes": sizes, "radius": radius, "anywhere": anywhere, "out": out}
    return _answered(["certify", "start" if converges else "critical-point"], [], flags)


def modes(samples, beta=None, *, circle=False, sphere=False, interaction=None):
    """The number of modes of a kernel density estimate. Samples are numbers on the line, angles
    with ``circle``, or rows on S^2 with ``sphere``. If ``certified``, the count ``modes`` is
    proved; otherwise the result has the lower bound ``at_least`` instead. On the circle an
    ``interaction`` takes the place of exp(beta s).

    >>> import metastable as ms
    >>> found = ms.modes([-2.0, -1.9, 2.0], beta=4.0)
    >>> found.modes, found.certified
    (2, True)
    """
    return _points(_answered("modes", [], {"samples": samples, "beta": beta, "circle": circle, "sphere": sphere, "interaction": interaction}))


def measure(density=None, *, space="circle", beta=None, t_end, values=None, tokens=None, **parameters):
    """Solves the continuity equation for a density up to ``t_end``. The result has
    ``coefficients``, ``negentropy``, ``negentropy_rate`` and their errors. ``space`` is circle,
    zonal or sphere2. The initial density is a string such as ``"cos:1=0.2,2=-0.1"``, or an array
    ``values`` or ``tokens``. An ``interaction`` takes the place of exp(beta s). Other keywords are
    flags of the program.

    >>> import metastable as ms
    >>> end = ms.measure("cos:1=0.2,2=-0.1", beta=4.0, t_end=1.0, dynamics="sa")
    >>> end.negentropy_error < 1e-9
    True
    """
    flags = {"density": density, "space": space, "beta": beta, "t_end": t_end, "values": values, "tokens": tokens, **parameters}
    answer, notes, code = _call("measure", [], flags)
    answer = _points(_result(Result, answer, notes))
    answer["success"] = code == 0
    return answer


def entropy(tokens, *, neighbours=3, kernel_beta=100.0, normalise=False):
    """Negentropy of tokens (n, d), or of every layer of hidden states (layers, n, d), by two
    estimators, each with its error and bias.

    >>> import metastable as ms
    >>> found = ms.entropy(ms.tokens("uniform", n=200, d=3))
    >>> bool(abs(found.nearest_neighbour[0]) < 0.5)
    True
    """
    return _points(_answered("entropy", [], {"tokens": tokens, "neighbours": neighbours, "kernel_beta": kernel_beta, "normalise": normalise}))


class Model:
    """A trained model: a folder with model.safetensors, config.json and tokenizer.json (BERT,
    ALBERT, GPT-2, Llama), or a GGUF file. See ``load_model``."""

    def __init__(self, path):
        self.path = os.fspath(path)
        if not os.path.exists(self.path):
            raise ValueError(f"path: found nothing at {self.path}, expected the folder of a model or a GGUF file")

    def __repr__(self):
        return f"metastable.load_model({self.path!r})"

    def hidden(self, text=None, *, ids=None, embeddings=None, f32=False, iterate=None, layers=None, attention=True):
        """The hidden states for a ``text``, for token ``ids``, or for ``embeddings`` (n, d): a
        ``Result`` with ``hidden_states`` (layers + 1, n, d), ``attention`` (layers, heads, n, n)
        and ``words``. ``iterate`` selects one block, which is applied ``layers`` times. The weights
        are read at every call."""
        flags = {"text": text, "ids": ids, "embeddings": embeddings, "f32": f32, "iterate": iterate, "layers": layers}
        with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
            out = Path(folder) / "run"
            found = _answered("model", [self.path], flags | {"without_attention": not attention, "out": out})
            with np.load(out / "hidden.npz") as arrays:
                found.update({name: arrays[name] for name in arrays.files})
        return found


def load_model(path):
    """Opens a trained model, whose hidden states are tokens.

    >>> import metastable as ms
    >>> ms.load_model("nowhere")
    Traceback (most recent call last):
    ValueError: path: found nothing at nowhere, expected the folder of a model or a GGUF file
    """
    return Model(path)


def check(*claims, quick=False, trials=None, seed=1, **region):
    """Checks claims (all of them by default) and returns ``Verdicts``. ``n``, ``d`` and ``beta``
    set the ranges of the trials, as on the command line.

    >>> import metastable as ms
    >>> ms.check("cone-speed-printed", quick=True)[0].verdict
    'violated'
    """
    answer, notes, _ = _call("check", claims, {"quick": quick, "trials": trials, "seed": seed, **region})
    return _verdicts([_result(Result, c, []) for c in answer["claims"]], notes)


def hunt(claim, *, minutes=2.0, seed=1, out=None, **region):
    """Searches the range of a claim for a counterexample. The result has ``found``, ``margin``,
    ``confirmed``, and ``counterexample``, the argument of ``replay``.

    >>> import metastable as ms
    >>> found = ms.hunt("cone-speed-printed", minutes=0.02)
    >>> found.found, ms.replay(found.counterexample).confirmed
    (True, True)
    """
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        path = Path(out) if out is not None else Path(folder) / "counterexample.json"
        found = _answered("hunt", [claim], {"minutes": minutes, "seed": seed, "out": path, **region})
        found["counterexample"] = json.loads(path.read_text()) if found["found"] else None
        found["file"] = str(path) if found["found"] and out is not None else None
    return found


def replay(counterexample):
    """Evaluates a counterexample again with both integrators: the ``counterexample`` of ``hunt``,
    or the name of its file."""
    if isinstance(counterexample, (str, os.PathLike)):
        return _answered("hunt", [], {"replay": os.fspath(counterexample)})
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        path = Path(folder) / "counterexample.json"
        path.write_text(json.dumps(counterexample))
        return _answered("hunt", [], {"replay": str(path)})


def figure(name, *, published=False, size=None, theme=None, dpi=None, runs="runs", from_run=None, tokens=None, array=None, **parameters):
    """Draws a figure of the papers, as ``metastable figure``; parameters of the figure are keywords
    (``n=64, beta=[2, 4]``). Returns a ``Figure``, which notebooks display.

    >>> import metastable as ms
    >>> drawn = ms.figure("gamma-curve", beta=[1, 4])
    >>> drawn.svg.startswith("<"), drawn.caption != ""
    (True, True)
    """
    with tempfile.TemporaryDirectory(prefix="metastable-") as folder:
        flags = {"published": published, "size": size, "theme": theme, "dpi": dpi, "runs": runs, "from_run": from_run, "tokens": tokens, "array": array}
        flags |= {"set": parameters or None, "out": folder}
        _, notes, _ = _call("figure", [name], flags)
        files = {p.suffix.lstrip("."): p.read_bytes() for p in Path(folder).iterdir()}
    return Figure(name, files, notes)
