"""A record says where values lie: in blocks of a thread, of a size class, or of the heap."""

import numpy as np
import pytest
from native_ops import load

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph

HEAD = 256  # bytes: more than what the host puts before the data, and rounds
LEFT = 40 << 10  # bytes that are not worth to be cut off, and a page


@pytest.mark.parametrize(
    ("count", "place"), [(16, "small block"), (4096, "heap"), (1 << 18, "large block")]
)
def test_the_place_follows_from_the_size(count: int, place: str) -> None:
    load()
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (count,)})
    graph.add("AddV2", "y", [x, x], attrs={"T": FLOAT32})
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    feeds = {"x:0": np.ones(count, np.float32)}
    with session.record() as record:
        (found,) = session.run(["y:0"], feeds)
    np.testing.assert_array_equal(found, np.full(count, 2, np.float32))
    (ran,) = (node for node in record.nodes if node.node == "y")
    ((where, taken),) = ran.allocations
    assert where == place
    most = 4 * count + (LEFT if place == "large block" else HEAD)
    assert 4 * count < taken <= most
