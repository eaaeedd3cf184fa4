"""Constants that are read in place from a file, and copied where their address does not suit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32
from drystone_base.files.local import map_file
from drystone_base.files.mapped import let_go
from drystone_base.graph import Graph
from drystone_base.graph.pages import let_go_of_files
from drystone_base.loaders.graphdef import read_graph, write_graph
from drystone_base.ops.attrs import TensorAttr

Numbers = np.ndarray[Any, Any]
COUNT = 1 << 18


def resident(file: Path) -> int:
    """KiB of a mapped file that are in memory."""
    found, inside = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split(" ")[0]:
            inside = line.endswith(str(file))
        elif inside and line.startswith("Rss:"):
            found += int(line.split()[1])
    return found


@pytest.fixture
def held(tmp_path: Path) -> tuple[Path, Numbers]:
    """A file, and the numbers that it holds from its third byte on."""
    file = tmp_path / "numbers"
    file.write_bytes(b"ab" + np.arange(COUNT, dtype=np.float32).tobytes())
    return file, np.frombuffer(map_file(file), np.float32, COUNT, 2).reshape(512, -1)


@pytest.mark.parametrize("boundary", [1, 64])
def test_a_large_constant_is_in_memory_once(held: tuple[Path, Numbers], boundary: int) -> None:
    file, array = held
    attr = TensorAttr(array=array)
    found = attr.aligned(boundary)
    np.testing.assert_array_equal(found, array.copy())
    assert found.flags.aligned
    assert not found.flags.writeable
    assert found.ctypes.data % boundary == 0
    assert attr.aligned(boundary) is found
    assert attr.array is found
    let_go(array)
    assert resident(file) < 100
    assert array[-1, -1] == COUNT - 1  # it comes from the file again


def test_what_is_copied_leaves_memory(held: tuple[Path, Numbers]) -> None:
    file, array = held
    assert array.sum() > 0
    assert resident(file) >= 1024
    TensorAttr(array=array).aligned(64)
    assert resident(file) < 100


def test_what_suits_is_not_copied(tmp_path: Path) -> None:
    file = tmp_path / "numbers"
    file.write_bytes(bytes(64) + np.arange(COUNT, dtype=np.float32).tobytes())
    array = np.frombuffer(map_file(file), np.float32, COUNT, 64)
    assert TensorAttr(array=array).aligned(64) is array
    small = np.arange(5, dtype=np.float32)
    assert np.shares_memory(TensorAttr(array=small).aligned(1 << 20), small)


def test_a_graph_lets_go_of_what_was_read_of_its_file(tmp_path: Path) -> None:
    file = tmp_path / "model.pb"
    graph = Graph()
    value = TensorAttr(array=np.arange(COUNT, dtype=np.float32))
    graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": value})
    write_graph(graph, file)
    graph = read_graph(file)
    total = graph["w"].attr("value").array.sum()
    assert resident(file) >= 1024
    let_go_of_files(graph)
    assert resident(file) < 100
    assert graph["w"].attr("value").array.sum() == total


def test_memory_of_no_file_stays() -> None:
    array = np.arange(COUNT, dtype=np.float32)
    let_go(array)
    assert array[-1] == COUNT - 1
    for view in (np.frombuffer(bytes(array), np.float32), np.zeros(0, np.float32)):
        let_go(view)
