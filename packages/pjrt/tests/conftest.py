"""A PJRT plugin that computes nothing, compiled once; no plugin of this machine's is found."""

from __future__ import annotations

import ctypes as c
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from drystone_pjrt.api.table import Table

SOURCE = Path(__file__).with_name("fake_pjrt.c")


@pytest.fixture(scope="session")
def fake_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its library."""
    made = tmp_path_factory.mktemp("fake") / "libfake_pjrt.so"
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, str(SOURCE), "-o", str(made)], check=True, timeout=60)
    return made


class Fake:
    """The library in this process: what goes wrong, and what is alive."""

    def __init__(self, path: Path) -> None:
        self.path, self.library = path, c.CDLL(str(path))
        self.library.GetPjrtApi.restype = c.c_void_p
        self.library.fake_live.restype = self.library.fake_misuses.restype = c.c_long

    def set(self, what: str = "", number: int = 0) -> None:
        """Misbehave so from now on."""
        self.library.fake_set(what.encode(), c.c_long(number))

    def table(self) -> Table:
        """Its table, as it is now."""
        return Table(self.library.GetPjrtApi(), "fake", str(self.path))

    def live(self) -> Any:
        """How many objects are alive."""
        return self.library.fake_live()

    def misuses(self) -> Any:
        """How often it was waited for what never comes."""
        return self.library.fake_misuses()


@pytest.fixture(scope="session")
def loaded_fake(fake_path: Path) -> Fake:
    return Fake(fake_path)


@pytest.fixture
def fake(loaded_fake: Fake) -> Iterator[Fake]:
    """The library; after a test nothing is alive, and nothing was waited for in vain."""
    loaded_fake.set()
    yield loaded_fake
    loaded_fake.set()
    assert (loaded_fake.live(), loaded_fake.misuses()) == (0, 0)
