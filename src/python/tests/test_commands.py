"""Functions that are made from the descriptions of operations."""

import importlib.util
import inspect
import json
import os
import pathlib
import pickle

import metastable as ms
import numpy as np
import pytest

SOURCE = pathlib.Path(__file__).parents[1]
COMMANDS = ms._commands
OPERATIONS = json.loads(ms._metastable._operations())


@pytest.fixture
def words(monkeypatch):
    """The words of the last command, which is not run; arrays in the place of their files."""
    last = []

    def command(given):
        is_file = lambda word: word.endswith(".npy") and os.path.exists(word)
        last[:] = [np.load(word) if is_file(word) else word for word in given]
        return '{"points": []}', [], 0

    monkeypatch.setattr(ms._metastable, "_command", command)
    return last


def test_stubs_are_generated():
    spec = importlib.util.spec_from_file_location("stubs", SOURCE / "stubs.py")
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    for name, text in stubs.texts(ms).items():
        committed = (SOURCE / "metastable" / name).read_text(encoding="utf-8")
        assert committed == text, f"{name}: run python src/python/stubs.py with the built package"


def test_every_operation_has_a_function():
    for operation in OPERATIONS:
        first = operation["name"].split()[0]
        name = COMMANDS._python(operation["name"])
        assert name in ms.__all__ or first in COMMANDS._LEFT_OUT, operation["name"]
    assert {"landscape", "continue_", "explain", "compare"} <= set(ms.__all__)


def test_signatures_and_texts_come_from_the_description():
    for name, known in COMMANDS._KNOWN.items():
        function = getattr(ms, COMMANDS._python(name), None)
        if "Parameters:" not in (inspect.getdoc(function) or ""):
            continue
        assert function.__name__ == COMMANDS._python(name)
        assert set(inspect.signature(function).parameters) == set(known)
        assert all(f"\n{word}: " in inspect.getdoc(function) for word in known), name
        assert pickle.loads(pickle.dumps(function)) is function


def test_values_become_words(words):
    cubic = ms.Interaction("s^3")
    ms.landscape(n=4, beta=(1, 2.5), benign=True, interaction=cubic, out=pathlib.Path("a.txt"))
    given = {"--n=4", "--beta=1..2.5", "--interaction=s^3", "--benign", "--out=a.txt"}
    assert words[0] == "landscape" and set(words[1:]) == given
    ms.saddles(3, 2, [1.0, np.float32(2.0)], seed=np.int64(7), normalise=np.True_, force=False)
    given = {"--n=3", "--d=2", "--beta=1.0,2.0", "--seed=7", "--normalise"}
    assert words[0] == "saddles" and set(words[1:]) == given
    ms.run("regimes", set={"beta": [5, 10], "masses": "power:0.5"}, dry_run=True, force=True)
    assert words[-1] == "regimes" and {"--dry-run", "--force"} < set(words)
    place = words.index("--set")
    assert words[place : place + 4] == ["--set", "beta=5,10", "--set", "masses=power:0.5"]
    ms.explain("hypotheses", "met", proof=True)
    assert words == ["explain", "--proof", "hypotheses", "met"]
    ms.certify_dwell(from_=2.0, to=0.5, beta=50.0)
    assert words[:2] == ["certify", "dwell"]
    assert set(words[2:]) == {"--from=2.0", "--to=0.5", "--beta=50.0"}
    ms.predict("bipartite", lambda_=1.0, beta=2.0)
    assert words == ["predict", "bipartite", "--lambda=1.0", "--beta=2.0"]


def test_arrays_become_files(words):
    ms.entropy(np.eye(3, dtype=int))
    assert words[:2] == ["entropy", "--tokens"] and np.array_equal(words[2], np.eye(3))
    assert words[2].dtype == float
    ms.landscape(masses=[1, 1, 2])
    assert words[:2] == ["landscape", "--masses"] and words[2].tolist() == [1.0, 1.0, 2.0]
    ms.landscape(masses="1,1,1..2")
    assert words == ["landscape", "--masses=1,1,1..2"]


UNKNOWN = [
    (lambda: ms.landscape(n=3, bta=1.0), "unknown parameter of landscape `bta`; did you mean `b"),
    (lambda: ms.continue_(n=3, masse=None), "of continue_ `masse`; did you mean `masses`"),
    (lambda: ms.check("wendel", trial=3), "of check `trial`; did you mean `trials`"),
    (lambda: ms.hunt("wendel", lawe="uniform"), "of hunt `lawe`; did you mean `law`"),
    (lambda: ms.predict("wendel", nn=3, d=2), "of predict_wendel `nn`; did you mean `n`"),
    (lambda: ms.certify([[1.0, 0.0]], 1.0, converges=True, sizes=[1]), "of certify_start `sizes`"),
    (lambda: ms.certify_check(), "missing a required argument: 'file'"),
    (lambda: ms.entropy(np.eye(2), 3), "too many positional arguments"),
]


@pytest.mark.parametrize("k", range(len(UNKNOWN)))
def test_unknown_keywords_are_refused(k):
    call, message = UNKNOWN[k]
    with pytest.raises(TypeError, match=message):
        call()


def test_results_have_arrays_entries_and_exit_codes(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(2))
    np.save(tmp_path / "b.npy", np.ones((2, 2)))
    found = ms.compare(tmp_path / "a.npy", tmp_path / "b.npy")
    assert found.exit_code == 2 and not found.equal
    assert ms.compare(*[tmp_path / "a.npy"] * 2).equal
    assert pickle.loads(pickle.dumps(found)).exit_code == 2
    found = ms.compare("attention", n=4, layers=2)
    assert isinstance(found.maps[0], ms.Result) and found.maps[0].mean_cosine.shape == (3,)
    assert "maps" in repr(found) and "<table>" in found._repr_html_()
    # A file of another problem is replaced only if told so.
    (tmp_path / "c.txt").write_text("something else\n")
    with pytest.raises(ValueError, match="force"):
        ms.landscape(n=3, beta=2.0, out=tmp_path / "c.txt")
    assert ms.landscape(n=3, beta=2.0, out=tmp_path / "c.txt", force=True).complete
    assert ms.certify_check(tmp_path / "c.txt").exit_code == 0
