"""Constants that say one element many times: written out only where a kernel needs them."""

from __future__ import annotations

import numpy as np
import pytest

from drystone_abi.protos import GraphDef, TensorProto
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core import dtypes
from drystone_base.host import available
from drystone_base.ops.attrs import TensorAttr

EXECUTORS = ["reference", *(["native"] if available() else [])]


def splat(*shape: int) -> Graph:
    """A constant of ``shape`` whose proto holds one element, 2.5, and its double."""
    graph = Graph()
    value = TensorAttr(array=np.zeros(1, np.float32))
    x = graph.add("Const", "x", attrs={"dtype": dtypes.FLOAT32, "value": value})
    graph.add("AddV2", "y", [x, x], attrs={"T": dtypes.FLOAT32})
    proto = GraphDef.FromString(graph.to_bytes())
    tensor = proto.node[0].attr["value"].tensor
    tensor.CopyFrom(TensorProto(dtype=tensor.dtype, float_val=[2.5]))
    for size in shape:
        tensor.tensor_shape.dim.add(size=size)
    return Graph.from_bytes(proto.SerializeToString())


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_fetch_takes_no_memory(executor: str) -> None:
    session = Session(splat(1 << 40), SessionConfig(executor=executor))
    value = session.run("x:0")
    assert value.shape == (1 << 40,)
    assert value[1 << 39] == 2.5


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_kernel_gets_it_whole(executor: str) -> None:
    session = Session(splat(1024, 1025), SessionConfig(executor=executor))
    for _ in range(2):
        assert (session.run("y:0") == 5).all()
