"""Settings of Keras's tests in the scratch folder of ``ci.scripts.keras_suite``."""

from __future__ import annotations

import keras_drystone  # noqa: F401  # isort: skip — before keras
import os
import re
import tomllib
import zlib
from pathlib import Path
from typing import Any

import pytest
from keras.src import backend
from keras.src.backend import common

# The tests of 3.15 find functions in keras.src.backend that later ones keep in its parts.
for _part in (backend.ops, common):
    for _name in dir(_part):
        if not _name.startswith("_") and not hasattr(backend, _name):
            setattr(backend, _name, getattr(_part, _name))

_ROWS = tomllib.loads(Path(os.environ["KERAS_SUITE_LEFT_OUT"]).read_text("utf-8"))["left_out"]
_PATTERNS = [re.compile(pattern) for row in _ROWS for pattern in row["match"]]
_SAMPLE = int(os.environ["KERAS_SUITE_SAMPLE"])


def skip_if_backend(given_backend: str, reason: str) -> Any:
    """What Keras's own settings offer to its tests."""
    return pytest.mark.skipif(backend.backend() == given_backend, reason=reason)


def _is_left_out(name: str) -> bool:
    return any(pattern.search(name) for pattern in _PATTERNS)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out whole files."""
    return True if _is_left_out(collection_path.as_posix()) else None


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Leave out tests, and take one in so many of the rest, by their names."""
    items[:] = [
        item
        for item in items
        if not _is_left_out(item.nodeid) and zlib.crc32(item.nodeid.encode()) % _SAMPLE == 0
    ]
