"""Every public name has documentation with an example that runs. (Examples in Python files run by
`--doctest-modules`; these are written in Rust.)"""

import doctest
import inspect
import pathlib
import re

import metastable as ms
import pytest

COMPILED = [ms.Dynamics, ms.Energy, ms.Interaction, ms.InteractionEnergy, ms.field, ms.threads]
COMPILED += [getattr(kind, name) for kind in (ms.Dynamics, ms.Energy, ms.Interaction, ms.InteractionEnergy) for name in dir(kind) if not name.startswith("_")]


@pytest.mark.parametrize("thing", COMPILED, ids=lambda t: getattr(t, "__qualname__", str(t)))
def test_examples_of_what_is_compiled(thing):
    assert inspect.getdoc(thing), thing
    if not callable(thing):
        return
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(thing), {}, str(thing), None, 0)
    assert test.examples, f"{thing} has no example"
    output = []
    failed = doctest.DocTestRunner().run(test, out=output.append).failed
    assert failed == 0, "".join(output)


def test_every_public_name_has_an_example():
    for name in ms.__all__:
        thing = getattr(ms, name)
        # A Solution and a Figure are shown where they are made.
        if callable(thing) and name not in ("Solution", "Figure", "Model", "replay"):
            text = inspect.getdoc(thing) or ""
            # What is made from a description alone has a list of its parameters.
            assert ">>>" in text or "\nParameters:\n" in text, name
        elif callable(thing):
            assert inspect.getdoc(thing), name


# Pages with programs that need nothing but the package and NumPy, and the number of the programs.
PAGES = {"README.md": 1, "src/guide/interaction.md": 1}


@pytest.mark.parametrize("page", PAGES)
def test_programs_of_pages_run(page):
    text = (pathlib.Path(__file__).parents[3] / page).read_text(encoding="utf-8")
    programs = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(programs) == PAGES[page]
    for program in programs:
        exec(compile(program, page, "exec"), {})
