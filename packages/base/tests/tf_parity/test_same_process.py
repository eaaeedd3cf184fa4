"""TensorFlow and drystone in one process, imported in either order, both at work."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

IMPORTS = {
    "tensorflow": "import tensorflow as tf",
    "drystone": (
        "import drystone_base, numpy as np, drystone_abi.protos as protos\n"
        "from drystone_base.graph import Graph\n"
        "from drystone_base.api.session import Session\n"
        "[getattr(protos, name) for name in protos.__all__]"
    ),
}
BOTH = """
graph = tf.Graph()
with graph.as_default():
    x = tf.compat.v1.placeholder(tf.float32, [None, 3], name="x")
    w = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    tf.identity(tf.matmul(x, w), name="y")
x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
with tf.compat.v1.Session(graph=graph) as session:
    theirs = session.run("y:0", {"x:0": x})
bytes_ = graph.as_graph_def().SerializeToString()
ours = Session(Graph.from_bytes(bytes_)).run("y:0", {"x:0": x})
back = tf.compat.v1.GraphDef.FromString(Graph.from_bytes(bytes_).to_bytes())
from drystone_base import plugins
from drystone_base.executor.selection import registered
plugins.ensure_loaded()
kernels = sum(len(rows) for rows in registered().values())
print(json.dumps([theirs.tolist(), ours.tolist(), back == graph.as_graph_def(), kernels]))
"""
ALONE = """
from drystone_base import plugins
from drystone_base.executor.selection import registered
plugins.ensure_loaded()
print(sum(len(rows) for rows in registered().values()))
"""


@pytest.mark.parametrize("order", [("tensorflow", "drystone"), ("drystone", "tensorflow")])
def test_both_work_in_one_process(order: tuple[str, str]) -> None:
    program = "\n".join(["import json", *(IMPORTS[name] for name in order), BOTH])
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    theirs, ours, same_graph, kernels = json.loads(done.stdout.splitlines()[-1])
    alone = subprocess.run(
        [sys.executable, "-c", ALONE], capture_output=True, text=True, check=True
    )
    assert kernels == int(alone.stdout), "none went to TensorFlow"
    assert np.allclose(ours, theirs, rtol=1e-6)
    assert same_graph
