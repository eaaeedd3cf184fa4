"""What a backend in C answers about a region: which nodes to leave out, attributes, refusals."""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calls import seeing
from partitions import chain, check, graph_of, only, partitioned

import drystone_base as ds
from drystone_abi.protos import AttrValue, NodeDef
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_subgraph import SubgraphWarning

pytestmark = pytest.mark.cases_in_gate(3)

X = np.ones(2, np.float32)
Compile = Callable[..., Path]


class Seen(c.Structure):
    """What the library writes down; see ``test_c_regions``."""

    _fields_ = [
        ("before", c.c_char * 256),
        ("functions_size", c.c_size_t),
        ("functions", c.c_char * 4096),
        ("attrs_size", c.c_size_t),
        ("attrs", c.c_char * 1024),
    ]


class Told(c.Structure):
    """What the library is to answer."""

    _fields_ = [
        ("leave_out", c.c_char * 256),
        ("last", c.c_int32),
        ("attrs_size", c.c_int32),
        ("attrs", c.c_char * 1024),
        ("failure", c.c_char * 64),
    ]


class Library:
    """The library, which is told nothing to begin with."""

    def __init__(self, handle: c.CDLL) -> None:
        self.handle = handle
        self.told = Told.in_dll(handle, "told")
        c.memset(c.addressof(self.told), 0, c.sizeof(Told))
        self.before = self._freed()

    def _freed(self) -> int:
        return c.c_int.in_dll(self.handle, "freed").value

    def attrs(self, **attrs: AttrValue) -> None:
        """Answer with these attributes."""
        self.bytes(NodeDef(attr=attrs).SerializeToString())

    def bytes(self, data: bytes) -> None:
        """Answer with these bytes."""
        self.told.attrs, self.told.attrs_size = data, len(data)
        c.memmove(c.addressof(self.told) + Told.attrs.offset, data, len(data))

    def freed(self) -> int:
        """How many buffers were freed in this test."""
        return self._freed() - self.before


def shown(library: Library, name: str) -> bytes:
    """The attributes that a function of the backend was shown last."""
    seen = Seen.in_dll(library.handle, name)
    return bytes(seen)[Seen.attrs.offset :][: seen.attrs_size]


@pytest.fixture
def library(compile_library: Compile) -> Library:
    return Library(seeing(compile_library))


def reasons(graph: Graph, backends: str = "seeing") -> list[tuple[str, tuple[str, ...], str]]:
    """What became of regions; the graph computes the same as before."""
    after, report = partitioned(graph, backends)
    check(graph, after, report, [n.name for n in graph if not graph.has_users(n)])
    return [(s.backend, s.nodes, s.reason) for s in report.segments]


def attr(**value: Any) -> AttrValue:
    return AttrValue(**value)


def test_attributes_are_put_on_the_operator(library: Library) -> None:
    """S1-customize."""
    listed = AttrValue.ListValue(i=[3, 4])
    library.attrs(_precision=attr(s=b"f32"), _tiles=attr(list=listed), _kind=attr(type=1))
    after, report = partitioned(chain(3), "seeing")
    operator = after[report.taken[0].node]
    assert operator.attr("_precision") == "f32"
    assert operator.attr("_tiles") == [3, 4]
    assert operator.attr("_kind") is FLOAT32
    session = ds.Session(chain(3), ds.SessionConfig(subgraphs="seeing", optimizer="off"))
    with pytest.warns(SubgraphWarning, match="it only looks"):
        np.testing.assert_array_equal(session.run("n2:0", {"x:0": X}), X)
    assert library.freed() == 2
    found = NodeDef.FromString(shown(library, "compiled"))
    assert found.attr["_precision"].s == b"f32"
    assert sorted(found.attr) == ["_kind", "_precision", "_tiles"]
    assert shown(library, "accepted") == b""


def test_nothing_said_is_as_without_a_review(library: Library) -> None:
    assert reasons(chain(3)) == [("seeing", ("n0", "n1", "n2"), "")]
    assert library.freed() == 0


def test_a_region_without_some_of_its_nodes_is_offered_again(library: Library) -> None:
    library.told.leave_out = b" n0 n1 "
    only("other", {"AddN"})
    assert reasons(chain(4), "seeing,other") == [
        ("seeing", ("n0", "n1"), "the backend left them out of a region"),
        ("seeing", ("n2", "n3"), ""),
        ("other", ("n0", "n1"), ""),
    ]


def test_attributes_are_those_of_the_last_review(library: Library) -> None:
    library.told.leave_out = b" n0 "
    library.attrs(_size=attr(i=2))
    after, report = partitioned(chain(3), "seeing")
    assert after[report.taken[0].node].attr("_size") == 2
    assert report.taken[0].nodes == ("n1", "n2")
    assert library.freed() == 2


DIAMOND = {"x": [], "a": ["x"], "l": ["a"], "r": ["a"], "z": ["l", "r"]}


@pytest.mark.parametrize(
    ("graph", "leave_out", "why"),
    [
        (chain(3), b" n1 ", "nodes that do not hold together"),
        (graph_of(DIAMOND), b" l ", "nodes that do not hold together"),
        (graph_of(DIAMOND), b" a z ", "nodes that do not hold together"),
        (chain(2), b" n0 n1 ", "to nothing"),
    ],
)
def test_what_cannot_be_a_region_is_refused(
    library: Library, graph: Graph, leave_out: bytes, why: str
) -> None:
    library.told.leave_out = leave_out
    ((_, nodes, reason),) = reasons(graph)
    assert reason.startswith("the backend narrowed it")
    assert reason.endswith(why)
    assert len(nodes) == len(list(graph)) - 1


def test_a_region_that_shrinks_for_ever_is_refused(library: Library) -> None:
    library.told.last = 1
    *_, (_, nodes, reason) = reasons(chain(20))
    assert reason == "it was narrowed 8 times"
    assert nodes == tuple(f"n{k}" for k in range(12))
    assert [reason for *_, reason in reasons(chain(2))] == [
        "the backend left them out of a region", "the backend narrowed it to nothing",
    ]  # fmt: skip


BAD = {
    "precision": (attr(s=b""), "'precision' does not begin with one underscore"),
    "__twice": (attr(s=b""), "'__twice' does not begin with one underscore"),
    "_": (attr(s=b""), "'_' does not begin with one underscore"),
    "f": (attr(i=1), "'f' does not begin with one underscore"),
    "_subgraph_backend": (attr(s=b"cpu"), "'_subgraph_backend' is the host's own"),
    "_host_operator": (attr(i=7), "'_host_operator' is the host's own"),
    "_class": (attr(list=AttrValue.ListValue(s=[b"loc:@x"])), "'_class' is the host's own"),
    "_empty": (attr(), "is no string, number, type or shape"),
    "_tensor": (attr(tensor={"dtype": 1}), "is no string, number, type or shape"),
    "_function": (attr(func={"name": "f"}), "is no string, number, type or shape"),
    "_functions": (attr(list={"func": [{"name": "f"}]}), "is no string, number, type or shape"),
    "_type": (attr(type=977), "977"),
    "_shape": (attr(shape={"dim": [{"size": -5}]}), "a negative dimension"),
}


@pytest.mark.parametrize("name", BAD)
def test_attributes_that_no_operator_can_have(library: Library, name: str) -> None:
    value, text = BAD[name]
    library.attrs(**{"_fine": attr(i=1), name: value})
    ((_, _, reason),) = reasons(chain(2))
    assert reason.startswith("its attributes cannot be used: ")
    assert text in reason
    assert library.freed() == 1


def test_bytes_that_are_no_node(library: Library) -> None:
    library.bytes(b"\xff\0\xff")
    ((_, _, reason),) = reasons(chain(2))
    assert reason == "its attributes cannot be used: they are no serialised NodeDef"
    assert library.freed() == 1


def test_a_review_may_refuse(library: Library) -> None:
    library.told.failure = b"no memory on the device"
    library.attrs(_fine=attr(i=1))
    assert reasons(chain(2)) == [("seeing", ("n0", "n1"), "no memory on the device")]
    assert library.freed() == 1


@pytest.mark.parametrize("last", ["accept", "destroy_executable", "deserialize"])
def test_a_library_that_knows_no_review(compile_library: Compile, last: str) -> None:
    """What lies beyond the size that it states is not looked at. S0-version."""
    size = f"TF_OFFSET_OF_END(DS_SubgraphFns,{last})"
    library = Library(seeing(compile_library, f"until_{last}", size))
    library.told.leave_out = b" n0 "
    assert reasons(chain(2), f"until_{last}") == [(f"until_{last}", ("n0", "n1"), "")]
    assert c.c_int.in_dll(library.handle, "reviews").value == 0


def test_random_bytes_do_no_harm(library: Library) -> None:
    rng = np.random.default_rng(5)
    whole = NodeDef(attr={"_a": attr(s=b"text"), "_b": attr(shape={"dim": [{"size": 3}]})})
    data = np.frombuffer(whole.SerializeToString(), np.uint8)
    for _ in range(200):
        changed = data[: rng.integers(1, len(data) + 1)].copy()
        changed[rng.integers(len(changed))] = rng.integers(256)
        library.bytes(changed.tobytes())
        reasons(chain(2))
    assert library.freed() == 200
