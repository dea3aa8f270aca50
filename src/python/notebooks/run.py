"""Runs each notebook in a new kernel and an empty folder: `python run.py [NOTEBOOK ...]`. Prints the
time of each and stops at the first failure."""

import pathlib
import sys
import tempfile
import time

import nbclient
import nbformat

HERE = pathlib.Path(__file__).parent
LIMIT = 60.0

for path in [pathlib.Path(p) for p in sys.argv[1:]] or sorted(HERE.glob("*.ipynb")):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    began = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(book, timeout=600, resources={"metadata": {"path": folder}}).execute()
    took = time.perf_counter() - began
    print(f"{path.name}: {took:.1f} s, {sum(c.cell_type == 'code' for c in book.cells)} cells")
    if took > LIMIT:
        sys.exit(f"{path.name} took {took:.0f} s, expected less than {LIMIT:.0f} s")
