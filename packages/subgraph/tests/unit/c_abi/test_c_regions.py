"""What a backend in C is shown of a region: functions that it calls, and devices of its values."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import call, function, graph_of, seeing

import drystone_base as ds
from drystone_abi.protos import FunctionDefLibrary
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Function, FunctionLibrary, Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_subgraph import SubgraphWarning, partition_with_report
from drystone_subgraph.compiled.artefacts import region_key
from drystone_subgraph.contract.executable import CompileInput, CompileRequest
from drystone_subgraph.regions.callees import called_functions

X = np.array([0.5, 2], np.float32)


class Seen(c.Structure):
    """What the library writes down."""

    _fields_ = [
        ("devices", c.c_char * 256),
        ("functions_size", c.c_size_t),
        ("functions", c.c_char * 4096),
        ("attrs_size", c.c_size_t),
        ("attrs", c.c_char * 1024),
    ]

    def names(self) -> list[str]:
        """Of the functions."""
        data = bytes(self)[Seen.functions.offset :][: self.functions_size]
        return [f.signature.name for f in FunctionDefLibrary.FromString(data).function]


@pytest.fixture
def seen(compile_library: Callable[..., Path]) -> Callable[[str], Seen]:
    """``seen("accepted")``: what a function of the backend "looking" was shown last."""
    library = seeing(compile_library, "looking")
    return lambda name: Seen.in_dll(library, name)


def test_functions_that_a_region_calls_are_shown(seen: Callable[[str], Seen]) -> None:
    graph = graph_of("outer")
    graph.functions.add(function("unused", "Exp", T=FLOAT32))
    session = ds.Session(graph, ds.SessionConfig(subgraphs="looking", optimizer="off"))
    with pytest.warns(SubgraphWarning, match="it only looks"):
        found = session.run("call_outer:0", {"x:0": X})
    np.testing.assert_allclose(found, np.exp(X), rtol=1e-6)
    assert seen("accepted").names() == ["outer", "inner"]
    assert seen("compiled").names() == ["outer", "inner"]


def devices_graph() -> Graph:
    """``b = exp(-x)``: ``x`` asks for one device, what is computed for another, ``k`` for none."""
    graph, types = Graph(), {"T": FLOAT32}
    given: dict[str, Any] = {"dtype": FLOAT32, "shape": (2,)}
    x = graph.add("Placeholder", "x", device="/device:CPU:0", attrs=given)
    k = graph.add("Placeholder", "k", attrs=given)
    there = {"device": "/job:localhost/device:CPU:1"}
    total = graph.add("Neg", "a", [x], attrs=types, **there)
    graph.add("Exp", "b", [total], attrs=types, **there)
    graph.add("Exp", "c", [k], attrs=types, **there)
    return graph


def test_devices_of_values_are_shown(seen: Callable[[str], Seen]) -> None:
    partition_with_report(devices_graph(), ["b:0"], ["x:0"], "looking")
    told = seen("accepted")
    assert told.devices == b"/device:CPU:0;/job:localhost/device:CPU:1;"
    assert told.functions_size == 0
    partition_with_report(devices_graph(), ["c:0"], ["k:0"], "looking")
    assert seen("accepted").devices == b";/job:localhost/device:CPU:1;"


def test_no_device_is_known_when_a_region_is_compiled(seen: Callable[[str], Seen]) -> None:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
    graph.add("Neg", "a", [x], attrs={"T": FLOAT32}, device="/device:CPU:0")
    session = ds.Session(graph, ds.SessionConfig(subgraphs="looking", optimizer="off"))
    with pytest.warns(SubgraphWarning, match="it only looks"):
        np.testing.assert_array_equal(session.run("a:0", {"x:0": X}), -X)
    assert seen("compiled").devices == b";;"


def library_of(gradient: str) -> FunctionLibrary:
    """Functions, of which ``plain`` has a gradient that is registered."""
    library = FunctionLibrary()
    for name in ("plain", "of_dataset", "given", "gradient"):
        library.add(function(name, "Exp", T=FLOAT32))
    library.add(function("again", "PartitionedCall", **call("again")))
    proto = library.to_proto()
    proto.gradient.add(function_name="plain", gradient_func=gradient)
    return FunctionLibrary.from_proto(proto)


def test_all_that_is_called_is_found() -> None:
    library = library_of("gradient")
    graph = Graph()
    nested = {"Tin": [], "Tout": [], "f": FunctionRef("again", {"h": FunctionRef("given", {})})}
    nodes = [
        graph.add("PartitionedCall", "call", attrs=nested),
        graph.add("MapDataset", "map", attrs={"f": FunctionRef("of_dataset", {})}),
        graph.add("plain", "direct"),
        graph.add("PartitionedCall", "lost", attrs=call("nowhere")),
    ]
    found = called_functions([node.to_proto() for node in nodes], library)
    names = [f.signature.name for f in found.function]
    assert names == ["again", "given", "of_dataset", "plain", "gradient"]
    assert [(g.function_name, g.gradient_func) for g in found.gradient] == [("plain", "gradient")]


def test_an_executable_is_kept_for_one_gradient() -> None:
    region = function("region", "PartitionedCall", **call("plain"))
    keys = set()
    for gradient in ("gradient", "given"):
        library = library_of(gradient)
        body = Function(region).body(library)
        request = CompileRequest("operator", body, [CompileInput(FLOAT32, (2,))], [FLOAT32])
        keys.add(region_key(region, library, request, {}))
    assert len(keys) == 2
