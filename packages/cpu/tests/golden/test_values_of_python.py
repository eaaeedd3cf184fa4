"""What only Python knows on its way through native kernels."""

import native_ops
import numpy as np

from drystone_base.dtypes import FLOAT32, INT32, INT64, VARIANT
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.session import Session, SessionConfig


def test_variants_that_only_python_knows_have_the_shape_that_a_kernel_gave_them() -> None:
    native_ops.load()
    graph = Graph()
    parts = {
        "indices": TensorAttr(array=np.array([[0, 1], [1, 0]], np.int64)),
        "values": TensorAttr(array=np.ones(2, np.float32)),
        "dims": TensorAttr(array=np.array([2, 2], np.int64)),
    }
    types = {"indices": INT64, "values": FLOAT32, "dims": INT64}
    nodes = [
        graph.add("Const", name, attrs={"dtype": types[name], "value": value})
        for name, value in parts.items()
    ]
    sizes = TensorAttr(array=np.array([1, 3, 1], np.int32))
    sizes_node = graph.add("Const", "sizes", attrs={"dtype": INT32, "value": sizes})
    one = graph.add(
        "SerializeSparse", "one", [(n, 0) for n in nodes], attrs={"T": FLOAT32, "out_type": VARIANT}
    )
    graph.add(
        "Reshape", "shaped", [(one, 0), (sizes_node, 0)], attrs={"T": VARIANT, "Tshape": INT32}
    )
    with Session(graph, SessionConfig(optimizer="off")) as session:
        flat, shaped = session.run(["one:0", "shaped:0"])
    assert flat.shape == (3,)
    assert shaped.shape == (1, 3, 1)
    assert all(a is b for a, b in zip(flat, shaped.ravel(), strict=True))
