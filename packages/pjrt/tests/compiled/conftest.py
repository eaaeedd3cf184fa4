"""A client of a plugin that is installed; without one these tests are left out, and say so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from drystone_base.core.errors import DrystoneError
from drystone_pjrt.api.client import Client
from drystone_pjrt.libraries.opened import client

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def device() -> Client:
    try:
        return client()
    except DrystoneError as error:
        pytest.skip(f"no PJRT plugin: {error.what}: {error.found}")


@pytest.fixture(autouse=True)
def _needed(device: Client) -> None:
    """Every test of this folder needs one."""
