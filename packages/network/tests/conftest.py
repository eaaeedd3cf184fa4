"""Engines of every transport, and clusters of workers of a test's own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drystone_network import Engine

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "base" / "tests")]  # of helpers

ADDRESSES = {"tcp": "tcp://127.0.0.1:0", "unix": "unix://", "shm": "shm://"}


@pytest.fixture(params=list(ADDRESSES))
def address(request: pytest.FixtureRequest) -> str:
    """An address to listen at, of each transport in turn."""
    return ADDRESSES[request.param]


@pytest.fixture
def engines(address: str) -> Iterator[tuple[Engine, Engine]]:
    """Two engines of one transport."""
    with Engine(address) as one, Engine(address) as other:
        yield one, other


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two workers; a test that kills one starts it again."""
    from clusters import Cluster

    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found
