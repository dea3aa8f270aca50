"""Writes the stubs of what is made from the descriptions of operations: `python stubs.py`, with the
built package. They are `_commands.pyi` and `__init__.pyi`."""

import inspect
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).parent / "metastable"

COMMANDS = """\
import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from ._metastable import Interaction
from ._results import Figure, Result, Saddles, Verdicts

_Path = str | os.PathLike[str]
"""


def shown(parameter):
    """A parameter of a stub."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    if parameter.annotation is parameter.empty:
        return stars + parameter.name
    default = parameter.default
    text = json.dumps(default) if isinstance(default, str) else repr(default)
    value = "" if default is parameter.empty else f" = {text}"
    return f"{stars}{parameter.name}: {parameter.annotation}{value}"


def function(name, thing, indent=""):
    """The stub of a function, in one line if it fits."""
    signature = inspect.signature(thing)
    parts, is_open = [], False
    for p in signature.parameters.values():
        if p.kind == p.KEYWORD_ONLY and not is_open:
            parts.append("*")
        is_open = is_open or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        parts.append(shown(p))
    end = f") -> {signature.return_annotation}: ..."
    line = f"{indent}def {name}({', '.join(parts)}{end}"
    if len(line) <= 100:
        return line
    lines = "".join(f"{indent}    {part},\n" for part in parts)
    return f"{indent}def {name}(\n{lines}{indent}{end}"


def kind(name, thing):
    """The stub of a class with annotated attributes and methods."""
    lines = [f"class {name}:"]
    lines += [f"    {word}: {type_}" for word, type_ in thing.__annotations__.items()]
    for word, method in vars(thing).items():
        if inspect.isfunction(method) and (word == "__init__" or not word.startswith("_")):
            lines.append(function(word, method, "    "))
    return "\n".join(lines) + "\n"


def listed(names):
    return "__all__ = [\n" + "".join(f'    "{name}",\n' for name in names) + "]\n"


def commands(module):
    """The stub of the module of commands."""
    parts = []
    for name in module.__all__:
        thing = getattr(module, name)
        parts.append(kind(name, thing) if inspect.isclass(thing) else function(name, thing))
    body = "\n".join(parts) + "\n"
    used = lambda names: [name for name in names.split(", ") if re.search(rf"\b{name}\b", body)]
    keep = lambda line: f"{line[1]} import {', '.join(used(line[2]))}"
    head = re.sub(r"(?m)^(from \S+) import (.*)$", keep, COMMANDS)
    return f"{head}\n{body}\n{listed(module.__all__)}"


def package(package_):
    """The stub of the package: where every name comes from."""
    lines, left = [], set(package_.__all__)
    # Modules that define names come before those that import them.
    for module in ("_metastable", "_results", "_load", "_runs", "_commands"):
        inside = vars(getattr(package_, module))
        own = sorted(name for name in left if inside.get(name) is getattr(package_, name))
        left -= set(own)
        lines += [f"from .{module} import {name} as {name}" for name in own]
    return "\n".join(lines) + "\n\n" + listed(package_.__all__)


def texts(package_):
    """The stubs by the names of their files."""
    return {"_commands.pyi": commands(package_._commands), "__init__.pyi": package(package_)}


if __name__ == "__main__":
    # The folder of this file has the sources of the package, without what is compiled.
    sys.path.pop(0)
    import metastable

    for name, text in texts(metastable).items():
        (FOLDER / name).write_text(text, encoding="utf-8")
