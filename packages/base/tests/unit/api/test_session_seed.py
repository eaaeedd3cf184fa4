"""SessionConfig.seed: sessions of one seed draw the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.host import available
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

EXECUTORS = ["reference", *(["native"] if available() else [])]
RANDOM = {"T": dtypes.INT32, "dtype": dtypes.FLOAT32}


def sample() -> Graph:
    """``a``, ``b``: no seeds; ``c``: seeds of its own; ``f``: drawn in a function."""
    graph = Graph()
    value = TensorAttr(array=np.array([4], np.int32))
    size = graph.add("Const", "size", attrs={"dtype": dtypes.INT32, "value": value})
    graph.add("RandomUniform", "a", [size], attrs=RANDOM)
    graph.add("RandomUniform", "b", [size], attrs=RANDOM | {"seed": 0, "seed2": 0})
    graph.add("RandomUniform", "c", [size], attrs=RANDOM | {"seed": 7, "seed2": 0})
    made = FunctionDef()
    made.signature.name = "draws"
    made.signature.output_arg.add(name="y").type = dtypes.FLOAT32.number  # type: ignore[assignment]
    node = made.node_def.add(name="k", op="Const")
    node.attr["dtype"].CopyFrom(encode_attr(dtypes.INT32))
    node.attr["value"].CopyFrom(encode_attr(value))
    node = made.node_def.add(name="r", op="RandomUniform", input=["k:output:0"])
    for name, attr in RANDOM.items():
        node.attr[name].CopyFrom(encode_attr(attr))
    made.ret["y"] = "r:output:0"
    graph.functions.add(made)
    attrs = {"f": FunctionRef("draws"), "Tin": [], "Tout": [dtypes.FLOAT32]}
    graph.add("StatefulPartitionedCall", "f", attrs=attrs)
    return graph


def drawn(executor: Any, seed: int | None) -> list[list[np.ndarray[Any, Any]]]:
    session = Session(sample(), SessionConfig(executor=executor, seed=seed))
    return [session.run(["a:0", "b:0", "c:0", "f:0"]) for _ in range(2)]


@pytest.mark.parametrize("executor", EXECUTORS)
def test_one_seed_gives_one_sequence(executor: Any) -> None:
    first, again, other = drawn(executor, 1), drawn(executor, 1), drawn(executor, 2)
    np.testing.assert_array_equal(first, again)
    one, two = np.array(first)
    assert len({row.tobytes() for row in (*one, *two)}) == 8  # nodes and runs differ
    assert [np.array_equal(x, y) for x, y in zip(first[0], other[0], strict=True)] == [
        False, False, True, False,
    ]  # fmt: skip


@pytest.mark.skipif(len(EXECUTORS) == 1, reason="the host library is not built")
def test_executors_draw_the_same() -> None:
    np.testing.assert_array_equal(drawn("reference", 5), drawn("native", 5))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_without_a_seed_numbers_are_arbitrary(executor: Any) -> None:
    first, again = drawn(executor, None), drawn(executor, None)
    assert not np.array_equal(first[0][0], again[0][0])
    np.testing.assert_array_equal(first[0][2], again[0][2])


def test_the_graph_stays_as_it_is() -> None:
    graph = sample()
    before = graph.to_bytes()
    Session(graph, SessionConfig(seed=3)).run("a:0")
    assert graph.to_bytes() == before
