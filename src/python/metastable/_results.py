"""Results of runs, checks and figures, and their display in notebooks."""

from __future__ import annotations

import html
from collections import namedtuple
from pathlib import Path

import numpy as np

Merge = namedtuple("Merge", "t members mass")
Merge.__doc__ = "A merge: time, indices of the initial tokens, mass of the merged token."


def _table(rows, head=()):
    """Rows of strings as an HTML table."""
    lines = ["<table>"]
    if head:
        lines.append("<tr>" + "".join(f"<th style='text-align:left'>{html.escape(str(h))}</th>" for h in head) + "</tr>")
    for row in rows:
        lines.append("<tr>" + "".join(f"<td style='text-align:left'>{html.escape(str(c))}</td>" for c in row) + "</tr>")
    return "".join([*lines, "</table>"])


def _short(value):
    """A value in one line."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, np.ndarray) and value.dtype.names:
        names = list(value.dtype.names)
        return f"{len(value)} rows of {', '.join(names[:8])}" + (f", ... {len(names)} columns in all" if len(names) > 8 else "")
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    if isinstance(value, dict) and len(value) > 4:
        return "{" + ", ".join(list(value)[:4]) + f", ... {len(value)} in all}}"
    if isinstance(value, dict):
        return str(dict(value))
    if isinstance(value, (list, tuple)) and len(value) > 6:
        return "[" + ", ".join(_short(v) for v in value[:4]) + f", ... {len(value)} in all]"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    return str(value)


def _aligned(rows):
    """Rows of strings as aligned columns."""
    widths = [max(len(r[c]) for r in rows) for c in range(len(rows[0]))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in rows)


class Result(dict):
    """The result of a command: a dictionary whose entries are also attributes; ``notes`` has the
    notes that the command printed, and ``exit_code`` is that of the program.

    >>> import metastable as ms
    >>> ms.predict("wendel", n=4, d=3).probability
    0.875
    """

    notes: list = []
    exit_code: int = 0

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no entry `{name}` (there are: {', '.join(self)})") from None

    def __dir__(self):
        return [*super().__dir__(), *self]

    def __repr__(self):
        width = max((len(k) for k in self), default=0)
        return "\n".join(f"{k:>{width}}: {_short(v)}" for k, v in self.items())

    def _repr_html_(self):
        return _table((k, _short(v)) for k, v in self.items())

    def __reduce__(self):
        return (_result, (type(self), dict(self), list(self.notes), self.exit_code))


def _result(kind, entries, notes, exit_code=0):
    made = kind(entries)
    made.notes, made.exit_code = notes, exit_code
    return made


class Saddles(Result):
    """Critical points, printed as a table. The list may be incomplete. See ``saddles``."""

    def _head(self):
        points, starts, fixed = self.get("points", []), self.get("starts", 0), self.get("fixed_starts", 0)
        if fixed == 0:
            return f"{len(points)} critical point, reached from given tokens"
        if starts == 0:
            return f"{len(points)} critical points from {fixed} fixed starts and no random ones; no proof that the list is complete"
        return (
            f"{len(points)} critical points from {starts} random starts ({self.get('failed_starts', 0)} did not converge) and {fixed} fixed starts; "
            f"points missing: about {self.get('missing_estimate', 0.0):.1f} (a lower estimate); no proof that the list is complete"
        )

    def _rows(self):
        """The column names, then one row per point; the number of hits if it was counted."""
        counted = any("found_by_starts" in p for p in self.get("points", []))
        yield ("#", "clusters of", "energy", "+-", "unstable", "Morse index", "residual", "symmetries", *(["found by"] if counted else []))
        for k, p in enumerate(self.get("points", [])):
            number = lambda key, form: "-" if p.get(key) is None else format(p[key], form)
            sizes = "+".join(str(int(s)) for s in p["sizes"])
            row = [str(k), sizes, number("energy_share", ".12g"), number("energy_share_error", ".0e")]
            row += [str(p["unstable_directions"]), str(p["morse_index"]), number("residual", ".1e"), str(p["symmetries"])]
            row += [number("found_by_starts", "d")] if counted else []
            yield (*row[:-1], row[-1] + (" nearly degenerate" if p.get("nearly_degenerate") else ""))

    def __repr__(self):
        return "\n".join([self._head(), _aligned(list(self._rows()))])

    def _repr_html_(self):
        head, *rows = self._rows()
        return f"<p>{html.escape(self._head())}</p>" + _table(rows, head)


class Solution:
    """The final state of a run and its timeline. See ``solve``."""

    def __init__(self, dynamics, parts):
        self.dynamics = dynamics
        self.frames = self.frame_radii = None
        self.__dict__.update(parts)
        self.merges = [Merge(*m) for m in parts["merges"]]

    def __repr__(self):
        return (
            f"Solution: {self.message}\n"
            f"  t = {self.t:g}, {len(self.masses)} of {len(self.labels)} tokens left, {len(self.merges)} merges, {self.nsteps} steps, {self.nfev} evaluations"
        )

    def _repr_html_(self):
        rows = [("dynamics", repr(self.dynamics)), ("end", self.message), ("t", f"{self.t:g}"), ("tokens left", f"{len(self.masses)} of {len(self.labels)}")]
        rows += [("merges", len(self.merges)), ("steps", self.nsteps), ("evaluations", self.nfev)]
        if self.log_energy is not None:
            rows.append(("log energy", f"{self.log_energy:.9g}"))
        return _table(rows)

    def plot(self, column=None, ax=None, **keywords):
        """Plots a column of the timeline (by default the first after t) against log t with
        Matplotlib, which must be installed. Returns the axes."""
        axes = _axes(ax)
        column = column or self.timeline.dtype.names[1]
        if column not in self.timeline.dtype.names:
            raise ValueError(f"column: found {column}, expected one of {', '.join(self.timeline.dtype.names)}")
        later = self.timeline["t"] > 0
        axes.plot(self.timeline["t"][later], self.timeline[column][later], **keywords)
        axes.set(xscale="log", xlabel="t", ylabel=column.replace("_", " "))
        return axes


def _axes(ax):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as pyplot
    except ImportError:
        raise ImportError("plots need Matplotlib: pip install matplotlib (or metastable[plot])") from None
    return pyplot.subplots()[1]


class Verdicts(list):
    """Verdicts on claims, one ``Result`` each.

    >>> import metastable as ms
    >>> verdicts = ms.check("wendel", quick=True)
    >>> verdicts[0].verdict, verdicts.as_expected
    ('supported', True)
    """

    notes: list = []
    head = ("claim", "status", "kind", "verdict", "margin", "error", "slack", "resolves", "trials", "control")

    @property
    def as_expected(self):
        """True if every verdict is the expected one."""
        return all(v["as_expected"] for v in self)

    def _rows(self):
        for v in self:
            number = lambda key: "-" if v[key] is None else f"{v[key]:.3g}"
            verdict = v["verdict"] + ("" if v["as_expected"] else " (!)")
            control = "ok" if v["control_ok"] else "WRONG"
            yield v["name"], v["status"], v["kind"], verdict, number("margin"), number("error"), number("slack"), v["resolves"], v["trials"], control

    def __repr__(self):
        return _aligned([self.head, *([str(c) for c in row] for row in self._rows())])

    def _repr_html_(self):
        return _table(self._rows(), self.head)

    def __reduce__(self):
        return (_verdicts, (list(self), list(self.notes)))


def _verdicts(entries, notes):
    made = Verdicts(entries)
    made.notes = notes
    return made


class Figure:
    """A figure of the papers: ``svg`` (text), ``png`` and ``pdf`` (bytes), its numbers ``csv`` and
    its ``caption`` (text). Notebooks display it."""

    formats = ("svg", "png", "pdf", "csv", "txt")

    def __init__(self, name, files, notes=()):
        self.name, self._files, self.notes = name, dict(files), list(notes)

    @property
    def svg(self):
        return self._files["svg"].decode()

    @property
    def png(self):
        return self._files["png"]

    @property
    def pdf(self):
        return self._files["pdf"]

    @property
    def csv(self):
        return self._files["csv"].decode()

    @property
    def caption(self):
        return self._files["txt"].decode().strip()

    def save(self, path):
        """Writes the figure in the format of the file extension: .svg, .png, .pdf, .csv or .txt."""
        ending = Path(path).suffix.lstrip(".").lower()
        if ending not in self._files:
            raise ValueError(f"path: found {path}, expected a file name that ends in .{', .'.join(self._files)}")
        Path(path).write_bytes(self._files[ending])

    def _repr_svg_(self):
        return self.svg

    def __repr__(self):
        return f"Figure {self.name}: {self.caption}"
