"""Payloads that a backend attaches to the status of what fails are details of the warning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core import payloads as keys
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.plugins import load_library
from drystone_subgraph import PartitionConfig, SubgraphWarning, executables

X = np.array([1, 2], np.float32)


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize(
    ("flag", "what"), [("-DIN_COMPILE", "cannot compile it"), ("-DIN_RUN", "failed while it ran")]
)
def test_of_a_compilation_and_of_a_run(
    compile_library: Callable[..., Path], executor: Any, flag: str, what: str
) -> None:
    name = f"failing{flag[2:].lower()}{executor}"
    library = compile_library("payloads_of_all.c", flags=[flag, f'-DBACKEND="{name}"'])
    load_library(str(library), policy="allow_unverified")
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    settings = ds.SessionConfig(
        subgraphs=PartitionConfig((name,)), optimizer="off", executor=executor
    )
    session = ds.Session(graph, settings)
    with pytest.warns(SubgraphWarning, match=what) as told:
        np.testing.assert_array_equal(session.run("y:0", {"x:0": X}), -X)
    (warning,) = [w.message for w in told if isinstance(w.message, SubgraphWarning)]
    assert "row 17 is smaller than row 16" in str(warning)
    assert warning.details["acme/row"] == "17"
    (status,) = executables(session)
    assert status.state == "failed"
    assert status.details == warning.details
    assert not keys.FIELDS & status.details.keys()
