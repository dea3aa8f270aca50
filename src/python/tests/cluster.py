"""A sweep on a Dask cluster (here two local processes) gives the same bytes as one process. This is
a program, not a test, because the workers import it."""

import metastable as ms
import numpy as np
from dask.distributed import Client, LocalCluster

BETAS = [1.0, 2.0, 4.0, 8.0]


def cell(beta):
    return ms.solve("sa", ms.tokens("uniform", 32, 3), 1e9, beta=beta, stop_at_one_cluster=True).t


if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, Client(cluster) as client:
        there = client.gather(client.map(cell, BETAS))
    here = [cell(beta) for beta in BETAS]
    assert np.array_equal(there, here), (there, here)
    print(f"{len(BETAS)} cells on 2 workers: the same bytes as here")
