"""A cluster of workers that tests share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "base" / "tests")]  # of helpers


@pytest.fixture(scope="session")
def shared_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Two workers; a test that kills one starts it again."""
    from clusters import Cluster

    with Cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found
