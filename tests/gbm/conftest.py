"""One cluster for all tests of this room, started when the first one asks."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def client():
    """Two workers that are threads: fast to start, and rows need no network."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client
