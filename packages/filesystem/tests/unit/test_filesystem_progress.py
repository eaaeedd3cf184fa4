"""What commands show while a model comes from a store.

S2-filesystems.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.cli import _inputs, _output
from drystone_base.core.dtypes import FLOAT32
from drystone_base.files.uris import as_path


class Shown:
    """A line of a terminal."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def update(self, text: str) -> None:
        """Another text."""
        self.lines.append(text)


def test_loading_counts_what_comes(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()

    @contextmanager
    def status(text: str) -> Iterator[Shown]:
        shown.update(text)
        yield shown

    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    ds.save(graph, f"{root}/model")
    monkeypatch.setattr(_output, "status", status)
    model = _inputs.Asked().load(as_path(f"{root}/model"))
    np.testing.assert_array_equal(model.run("y:0", {"x": np.array([1, 2], np.float32)}), [-1, -2])
    assert shown.lines[0] == f"loading {root}/model"
    assert shown.lines[-1].startswith(f"loading {root}/model: ")
    assert shown.lines[-1].endswith(" B")
