"""Constants that lie in a file: views of it, and aligned once they are computed with."""

from typing import Literal

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr

VALUES = np.arange(20_000, dtype=np.float32)


def file_with(name: str) -> bytes:
    """A GraphDef with one large constant; the name's length moves the constant in the file."""
    graph = Graph()
    value = TensorAttr(array=VALUES)
    graph.add("Const", name, attrs={"dtype": FLOAT32, "value": value})
    return graph.to_bytes()


@pytest.mark.parametrize("executor", ["reference", *(["native"] if available() else [])])
@pytest.mark.parametrize("length", range(1, 9))
def test_a_constant_is_a_view_of_the_file_and_aligned_when_it_runs(
    length: int, executor: Literal["reference", "native"]
) -> None:
    name = "c" * length
    graph = Graph.from_bytes(file_with(name))
    seen = graph[name].attr("value").array
    np.testing.assert_array_equal(seen, VALUES)
    assert not seen.flags.owndata

    call = Session(graph, SessionConfig(executor=executor)).make_callable(name)
    first, second = call(), call()
    np.testing.assert_array_equal(first, VALUES)
    assert first.flags.aligned
    assert not first.flags.writeable
    assert np.shares_memory(first, second)
    # The native executor aligns what kernels of plugins may read: constants are copied once else.
    kept = seen.ctypes.data % 64 == 0 if executor == "native" else seen.flags.aligned
    assert np.shares_memory(first, seen) == kept


def test_some_places_in_a_file_are_not_aligned() -> None:
    graphs = [(n := "c" * length, Graph.from_bytes(file_with(n))) for length in range(1, 9)]
    aligned = {graph[name].attr("value").array.flags.aligned for name, graph in graphs}
    assert aligned == {True, False}
