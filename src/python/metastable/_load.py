"""Reads results of the program: the tables of a folder by name, as structured arrays."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np

from ._results import Result, _result

# Text columns of results.csv and cells.csv; all others are numeric.
_WORDS = {"cell", "dynamics", "init", "model", "outcome"}

# Arrays of tokens, which are not tables.
_TOKENS = {"final_tokens"}

# Names of thousands of columns make headers that numpy.load refuses by default.
_HEADER = 1 << 26


def load(path):
    """Loads a folder written by ``run``, ``solve --out``, ``measure --out`` or ``model --out``:
    a ``Result`` with its tables by name, as structured arrays with one field per column. For a CSV
    or NPY file it returns the table.

    An experiment has ``results`` (one row per run, with the axes of the grid and the text columns
    of results.csv), ``cells`` (one row per cell) and ``tables`` (the observables of all cells over
    time; the first field ``cell`` is the row in ``cells``). If cells have different columns, for
    example positions of different numbers of tokens, there are several tables, such as
    ``tables_n8_d2``. ``experiment`` has the settings. A run has ``timeline``, ``mergers``,
    ``final_tokens`` (n, d) and ``record``. A study has its own tables.

    >>> import tempfile, metastable as ms
    >>> folder = tempfile.mkdtemp() + "/density"
    >>> end = ms.measure("cos:1=0.2", beta=2.0, t_end=1.0, dynamics="sa", out=folder)
    >>> found = ms.load(folder)
    >>> found.timeline.dtype.names[:3], float(found.timeline["t"][-1])
    (('t', 'negentropy', 'negentropy_rate'), 1.0)
    """
    path = Path(os.fspath(path))
    if not path.exists():
        raise ValueError(f"path: found nothing at {path}, expected a folder that `run` or `solve` wrote, or a CSV or NPY file of it")
    if path.is_file():
        return _file(path)
    entries = {}
    for name in ("experiment", "record"):
        if (path / f"{name}.json").is_file():
            entries[name] = json.loads((path / f"{name}.json").read_text(encoding="utf-8"))
    found = _experiment(path) if "experiment" in entries else _tables(path)
    if not found:
        raise ValueError(f"path: found no tables in {path}, expected a folder that `run` or `solve` wrote")
    return _result(Result, found | entries, [])


def _file(path):
    if path.suffix == ".npy":
        return _array(path)
    if path.suffix == ".csv":
        return _csv(path)
    raise ValueError(f"path: found {path}, expected a folder, or a file that ends in .csv or .npy")


def _tables(folder):
    """The arrays of a folder: NPY if present, else CSV, and the members of NPZ archives."""
    found = {}
    for path in sorted(folder.glob("*.csv")):
        found[path.stem] = None if path.with_suffix(".npy").is_file() else _csv(path)
    for path in sorted(folder.glob("*.npy")):
        found[path.stem] = _array(path)
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            found.update({name: arrays[name] for name in arrays.files})
    return found


def _experiment(folder):
    """The tables of an experiment."""
    if not (folder / "cells.csv").is_file():
        raise ValueError(f"path: found an experiment in {folder} that is not finished; run it again (it resumes), or with --merge when its parts are done")
    cells = _csv(folder / "cells.csv")
    pieces = []
    for k, name in enumerate(cells["cell"]):
        own = folder / "cells" / str(name)
        if own.is_dir():
            pieces.append(_of_cell(_array(own / "table.npy"), k))
    rows = {str(name): k for k, name in enumerate(cells["cell"])}
    for path in sorted(folder.glob("tables*.npy")):
        stacked = _array(path)
        if stacked.dtype.names is None:
            # A folder of an older version: names and cells are in the CSV file.
            stacked = _numbered(_csv(path.with_suffix(".csv")), rows)
        pieces.append(stacked)
    groups = {}
    for piece in pieces:
        groups.setdefault(piece.dtype.names, []).append(piece)
    found = {"results": _csv(folder / "results.csv"), "cells": cells}
    for parts in groups.values():
        table = np.concatenate(parts)
        table = table[np.argsort(table["cell"], kind="stable")]
        first = cells[int(table["cell"][0])] if len(table) else cells[0]
        found["tables" if len(groups) == 1 else f"tables_n{int(first['n'])}_d{int(first['d'])}"] = table
    return found


def _of_cell(table, k):
    """The table of a cell, with the row of the cell as first field."""
    out = np.empty(len(table), dtype=[("cell", "f8"), *((n, "f8") for n in table.dtype.names)])
    out["cell"] = k
    for name in table.dtype.names:
        out[name] = table[name]
    return out


def _numbered(table, rows):
    """A stacked table with the names of cells replaced by their rows."""
    out = _of_cell(table[[n for n in table.dtype.names if n != "cell"]], 0)
    out["cell"] = [rows[str(name)] for name in table["cell"]]
    return out


def _array(path):
    """The array of an NPY file; a table of an older version takes its column names from the CSV
    file of the same name."""
    try:
        array = np.load(path, max_header_size=_HEADER)
    except TypeError:
        # NumPy before 1.24 has no such limit.
        array = np.load(path)
    beside = path.with_suffix(".csv")
    if array.dtype.names is not None or array.ndim != 2 or path.stem in _TOKENS or not beside.is_file():
        return array
    names = _names(beside)
    if len(names) != array.shape[1] or "cell" in names:
        return array
    out = np.empty(len(array), dtype=[(n, "f8") for n in names])
    for k, name in enumerate(names):
        out[name] = array[:, k]
    return out


def _lines(path):
    """The rows of a CSV file below its comments."""
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.reader(line for line in file if not line.startswith("#")) if row]


def _names(path):
    with open(path, newline="", encoding="utf-8") as file:
        return next(csv.reader(line for line in file if not line.startswith("#")), [])


def _csv(path):
    """A CSV file as a structured array."""
    names, *rows = _lines(path) or [[]]
    if any(len(row) != len(names) for row in rows) or len(set(names)) != len(names) or not all(names):
        raise ValueError(f"path: found no table with one name for every column in {path}")
    columns = [_column(name, [row[k] for row in rows]) for k, name in enumerate(names)]
    out = np.empty(len(rows), dtype=[(name, column.dtype) for name, column in zip(names, columns)])
    for name, column in zip(names, columns):
        out[name] = column
    return out


def _column(name, words):
    """A column as numbers, or as text if it has text."""
    if name in _WORDS:
        return np.array(words, dtype=str)
    try:
        return np.array([float(word) for word in words], dtype=float)
    except ValueError:
        return np.array(words, dtype=str)
