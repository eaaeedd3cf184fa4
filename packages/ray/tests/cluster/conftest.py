"""A Ray of this machine for the tests of this folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray


@pytest.fixture(scope="session", autouse=True)
def ray_here() -> Iterator[None]:
    """Three processors, whatever the machine has: actors wait for each other in collectives."""
    folder = Path(__file__).parent
    os.environ.setdefault("RAY_raylet_start_wait_time_s", "200")  # a busy machine is slow
    ray.init(
        num_cpus=3, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20,
        runtime_env={"env_vars": {"PYTHONPATH": str(folder)}},
    )  # fmt: skip
    yield
    ray.shutdown()
