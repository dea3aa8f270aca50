"""Loading results of the program by name."""

import json

import metastable as ms
import numpy as np
import pytest

GRID = """
name = "grid"
init = ["uniform", "cap:radius=0.5"]
n = {n}
d = 2
beta = {beta}
t_end = 5
times = [0, 1, 5]
realisations = 2
observables = {observables}
[model]
q = [["low-rank:rank=1,seed=1"], ["low-rank:rank=1,seed=2"]]
"""


def run(folder, n=4, beta="[1, 4]", observables='["clusters"]'):
    file = folder / "grid.toml"
    file.write_text(GRID.format(n=n, beta=beta, observables=observables))
    answer, _, code = ms._metastable._command(["run", str(file), "--out", str(folder / "runs")])
    assert code == 0
    return json.loads(answer)["folder"]


def test_an_experiment_has_results_cells_and_tables(tmp_path):
    folder = run(tmp_path)
    found = ms.load(folder)
    assert set(found) == {"results", "cells", "tables", "experiment"} and found.experiment["n"] == [4]
    # Two laws, two beta, two models; two realisations; three times.
    assert (len(found.cells), len(found.results), len(found.tables)) == (8, 16, 48)
    assert set(found.results["model"]) == {"q=low-rank:rank=1;seed=1", "q=low-rank:rank=1;seed=2"}
    assert set(found.results["init"]) == {"uniform", "cap:radius=0.5"} and set(found.results["outcome"]) <= {"reached", "stationary"}
    assert found.tables.dtype.names == ("cell", "realisation", "t", "clusters") and sorted(set(found.tables["t"])) == [0, 1, 5]
    beta = found.cells["beta"][found.tables["cell"].astype(int)]
    assert sorted(set(beta)) == [1.0, 4.0] and (beta == 1.0).sum() == 24
    # The files themselves have the names.
    own = np.load(f"{folder}/cells/{found.cells['cell'][3]}/table.npy")
    assert own.dtype.names == ("realisation", "t", "clusters")
    assert np.array_equal(own, found.tables[found.tables["cell"] == 3][["realisation", "t", "clusters"]].astype(own.dtype))
    numbers = np.load(f"{folder}/results.npy")
    assert numbers.dtype.names == found.results.dtype.names and np.array_equal(numbers["t"], found.results["t"])
    # The reader of the guide.
    with open(f"{folder}/results.csv") as f:
        table = np.genfromtxt((line for line in f if not line.startswith("#")), delimiter=",", names=True)
    assert np.array_equal(table["t"], found.results["t"])
    assert "rows of cell, realisation, t, clusters" in repr(found)


def test_many_cells_load_as_one_table(tmp_path):
    few, many = ms.load(run(tmp_path)), ms.load(run(tmp_path, beta="[1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6]"))
    assert len(many.cells) == 36 and many.tables.dtype == few.tables.dtype and len(many.tables) == 36 * 6
    for k, cell in enumerate(few.cells):
        same = next(m for m, c in enumerate(many.cells) if all(c[a] == cell[a] for a in ("init", "beta", "model")))
        mine, theirs = few.tables[few.tables["cell"] == k], many.tables[many.tables["cell"] == same]
        assert all(np.array_equal(mine[c], theirs[c]) for c in ("realisation", "t", "clusters"))


def test_cells_with_different_columns_give_several_tables(tmp_path):
    found = ms.load(run(tmp_path, n="[3, 4]", observables='["positions"]'))
    assert {"tables_n3_d2", "tables_n4_d2"} <= set(found) and "tables" not in found
    assert found.tables_n3_d2.dtype.names[-1] == "x_2_1" and found.tables_n4_d2.dtype.names[-1] == "x_3_1"
    assert set(found.cells["n"][found.tables_n4_d2["cell"].astype(int)]) == {4.0}


def test_a_run_and_a_study(tmp_path):
    words = ["solve", "--init", "uniform", "--n", "300", "--d", "2", "--beta", "1", "--t-end", "0.1", "--samples", "2"]
    ms._metastable._command([*words, "--observables", "positions", "--out", str(tmp_path / "run")])
    found = ms.load(tmp_path / "run")
    # 601 column names exceed the default header limit of numpy.load.
    assert found.timeline.dtype.names[-1] == "x_299_1" and len(found.timeline) == 2
    assert found.final_tokens.shape == (300, 2) and found.record["outcome"] == "reached" and "t" in found.mergers.dtype.names
    assert np.array_equal(ms.load(tmp_path / "run" / "timeline.npy"), found.timeline)
    assert ms.load(tmp_path / "run" / "timeline.csv").dtype == found.timeline.dtype
    ms._metastable._command(["run", "merging-times", "--out", str(tmp_path)])
    times = ms.load(tmp_path / "study-merging-times").times
    assert times.dtype.names[:3] == ("rho", "alpha", "beta") and times["exact"].max() > 1e100


def test_a_folder_of_an_older_version_takes_names_from_the_csv_file(tmp_path):
    folder = tmp_path / "old"
    folder.mkdir()
    np.save(folder / "times.npy", np.array([[1.0, 2.0], [3.0, np.nan]]))
    (folder / "times.csv").write_text("# provenance\nbeta,measured\n1,2\n3,NaN\n")
    table = ms.load(folder).times
    assert table.dtype.names == ("beta", "measured") and table["beta"].tolist() == [1.0, 3.0] and np.isnan(table["measured"][1])


def test_invalid_folders_have_a_message(tmp_path):
    with pytest.raises(ValueError, match="found no tables"):
        ms.load(tmp_path)
    (tmp_path / "experiment.json").write_text("{}")
    with pytest.raises(ValueError, match="not finished; run it again"):
        ms.load(tmp_path)
    (tmp_path / "a.txt").write_text("x")
    with pytest.raises(ValueError, match="ends in .csv or .npy"):
        ms.load(tmp_path / "a.txt")
    (tmp_path / "ragged.csv").write_text("a,b\n1\n")
    with pytest.raises(ValueError, match="one name for every column"):
        ms.load(tmp_path / "ragged.csv")
