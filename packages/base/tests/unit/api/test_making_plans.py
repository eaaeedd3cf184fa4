"""How plans are made: other threads go on meanwhile, and who may find a constant in a file."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.inference.plugin_ops import sync
from drystone_base.loaders.graphdef import read_graph, write_graph
from drystone_base.ops.attrs import TensorAttr

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

NATIVE = SessionConfig(executor="native", optimizer="off")


@pytest.fixture(scope="module")
def library(compile_library: Callable[..., Path]) -> HostLibrary:
    opened = open_library(compile_library("kernels_plans.c"))
    opened.initialise("TF_InitKernel")
    sync()
    return opened


def function(library: HostLibrary, name: str, result: Any) -> Any:
    """A function of the library, called without giving other threads a turn."""
    address = library.symbol(name)
    assert address
    return ctypes.PYFUNCTYPE(result)(address)


def test_other_threads_go_on_while_a_plan_is_made(library: HostLibrary) -> None:
    """A kernel that is made, or a weight that is read, may take long."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("TestPatient", "y", [x])
    waits, say = function(library, "test_waits", ctypes.c_int), function(library, "test_say", None)

    def let_it() -> None:
        end = time.monotonic() + 60
        while not waits() and time.monotonic() < end:
            time.sleep(0.001)
        say()

    other = threading.Thread(target=let_it)
    other.start()
    found = Session(graph, NATIVE).run("y:0", {"x:0": np.float32(3)})
    other.join()
    assert float(found) == 3


@pytest.mark.usefixtures("library")
def test_a_constant_in_a_file_is_read_when_its_kernel_hands_it_on(tmp_path: Path) -> None:
    """Who takes it from there knows nothing of files."""
    file, graph, values = tmp_path / "model.pb", Graph(), np.arange(40_000, dtype=np.float32)
    w = graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": TensorAttr(array=values)})
    both = graph.add("TestHandsOn", "both", [w])
    graph.add("AddV2", "sum", [(both, 0), (both, 1)], attrs={"T": FLOAT32})
    write_graph(graph, file)
    y, z, total = Session(read_graph(file), NATIVE).run(["both:0", "both:1", "sum:0"])
    np.testing.assert_array_equal(y, values)
    np.testing.assert_array_equal(z, values)
    np.testing.assert_array_equal(total, values * 2)
