"""Thins the tables of the studies that the layout of figures is tested on: python3 tests/data/thin.py

Of the rows that agree in some columns so many stay: the first, the last and others at equal
distances between them. A grid is thinned in one column after the other.
"""

import csv
import pathlib

# Which rows are counted together (columns), what is counted (a column; "" its rows), how many stay.
KEPT = [
    ("bifurcations/branches", ["n", "branch"], "", 16),
    ("causal-centres/paths", [], "token", 10),
    ("causal-centres/paths", ["token"], "", 6),
    ("cluster-count/counts", ["d", "dynamics", "beta"], "start", 3),
    ("flow-maps/spectra", ["map", "gain"], "index", 3),
    ("gaussian-closure/closure", ["value", "s0"], "", 13),
    ("interaction-phases/energies", ["interaction"], "second", 13),
    ("interaction-phases/energies", ["interaction", "second"], "", 13),
    ("landscape-tour/spectrum", ["k"], "", 6),
    ("measure-view/kmax", ["d"], "", 13),
    ("measure-view/particles", [], "i", 9),
    ("measure-view/particles", [], "t", 6),
    ("measure-view/raster", [], "t", 7),
    ("measure-view/raster", [], "theta", 8),
    ("mode-count/places", [], "", 50),
    ("noisy-branches/branches", ["beta"], "", 13),
    ("normalisation-bands/cosine", ["scheme"], "", 21),
    ("published-patterns/densities", ["beta"], "", 25),
    ("staircase/ascent", ["beta"], "", 9),
]


def thinned(rows, together, counted, count):
    """The rows that stay, in their order."""
    groups = {}
    for number, row in enumerate(rows):
        group = groups.setdefault(tuple(row[c] for c in together), {})
        group.setdefault(row[counted] if counted else number, []).append(row)
    stay = []
    for group in groups.values():
        values = list(group)
        for place in sorted({round(k * (len(values) - 1) / (count - 1)) for k in range(count)}):
            stay += group[values[place]]
    kept = {id(row) for row in stay}
    return [row for row in rows if id(row) in kept]


for table, *how in KEPT:
    path = pathlib.Path(__file__).parent / "figures" / f"{table}.csv"
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        rows, names = list(reader), reader.fieldnames
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(thinned(rows, *how))
