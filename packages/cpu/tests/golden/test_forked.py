"""Children of a process that has computed: they have none of its threads, and compute as well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import native_ops

HERE = Path(__file__).parent
RUN = """
import os, signal
import numpy as np
import native_ops
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.api.session import Session, SessionConfig
from drystone_base.ops.attrs import TensorAttr

native_ops.load()
graph = Graph()
graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": [1, 24, 24, 32]})
w = TensorAttr(array=np.ones((3, 3, 32, 32), np.float32))
graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": w})
attrs = {"T": FLOAT32, "strides": [1, 1, 1, 1], "padding": "VALID"}
graph.add("Conv2D", "c", [graph["x"], graph["w"]], attrs=attrs)
call = Session(graph, SessionConfig(executor="native")).make_callable("c:0", ["x:0"])
x = np.full((1, 24, 24, 32), 1e-3, np.float32)
wanted = call(x)

for _ in range(2):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if np.array_equal(call(x), wanted) else 1)
    _, status = os.waitpid(child, 0)
    if status:
        print("status", status)
        os._exit(1)
os._exit(0)
"""


@native_ops.needs_onednn()
def test_a_child_computes() -> None:
    paths = os.pathsep.join([str(HERE), *sys.path])
    environment = {**os.environ, "PYTHONPATH": paths, "DRYSTONE_NUM_THREADS": "2"}
    words = [sys.executable, "-W", "ignore", "-c", RUN]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
