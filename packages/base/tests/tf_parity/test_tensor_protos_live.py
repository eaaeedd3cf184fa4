"""Constants in every legal encoding: what TensorFlow runs and reads is what we read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from tensor_encodings import tensors

from drystone_abi.protos import TensorProto
from drystone_base.core.tensor import from_proto

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")


def run_const(proto: TensorProto) -> np.ndarray[Any, Any]:
    graph = tf.compat.v1.GraphDef()
    node = graph.node.add(name="c", op="Const")
    node.attr["dtype"].type = proto.dtype
    node.attr["value"].tensor.ParseFromString(proto.SerializeToString())
    with tf.Graph().as_default() as made:
        tf.import_graph_def(graph, name="")
    with tf.compat.v1.Session(graph=made) as session:
        return np.asarray(session.run("c:0"))


@given(tensors())
@settings(max_examples=150, deadline=None)
def test_encodings(drawn: tuple[TensorProto, np.ndarray[Any, Any]]) -> None:
    proto, _ = drawn
    ours, theirs = from_proto(proto), run_const(proto)
    if theirs.dtype == object:
        theirs = np.array(theirs, object)
    assert ours.shape == theirs.shape
    if ours.dtype == object:
        assert ours.tolist() == theirs.tolist()
    else:
        assert ours.tobytes() == theirs.tobytes()
