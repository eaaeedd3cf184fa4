"""TensorFlow's collective ops in graphs of two processes that have joined a group."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from clusters import free_ports

PROGRAM = """
import json, sys
import numpy as np
import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import TensorAttr
from drystone_network import ClusterSpec, join

rank = int(sys.argv[1])
group = join(ClusterSpec({"worker": json.loads(sys.argv[2])}), "worker", rank, seconds=60)
FLOAT, INT = ds.as_dtype("float32"), ds.as_dtype("int32")
found = {}


def run(name, op, value=None, numbers=(), **attrs):
    graph = ds.Graph()
    inputs = []
    if value is not None:
        kind = {"dtype": FLOAT, "shape": None}
        inputs.append(graph.add("Placeholder", "x", attrs=kind))
    for k, number in enumerate(numbers):
        tensor = TensorAttr(array=np.array(number, np.int32))
        inputs.append(graph.add("Const", f"n{k}", attrs={"dtype": INT, "value": tensor}))
    graph.add(op, "y", inputs, attrs={"T": FLOAT} | attrs)
    session = ds.Session(graph, ds.SessionConfig(optimizer="off", deadline=60))
    try:
        got = session.run("y:0", {} if value is None else {"x:0": np.float32(value)})
        found[name] = got.tolist()
    except DrystoneError as error:
        found[name] = error.status + " " + error.check


own = [[1, 2], [3, 4]] if rank == 0 else [[10, 20], [30, 40]]
keys = {"group_size": 2, "group_key": 1, "instance_key": 1}
sums = {"merge_op": "Add", "final_op": "Id"}
v2 = {"Nordering_token": 0}
run("reduce", "CollectiveReduce", own, **keys, merge_op="Add", final_op="Div", subdiv_offsets=[0])
run("reduce v2", "CollectiveReduceV2", own, [2, 1, 1], **sums, **v2)
run("gather", "CollectiveGather", own, **keys, shape=(4, 2))
run("gather v2", "CollectiveGatherV2", own, [2, 1, 1], **v2)
run("scatter v2", "CollectiveReduceScatterV2", own, [2, 1, 1], **sums, **v2)
run("all to all", "CollectiveAllToAllV2", own, [2, 1, 1], **v2)
for root in (0, 1):
    if rank == root:
        run(f"copy {root}", "CollectiveBcastSend", [-0.0, root], **keys, shape=(2,))
        run(f"copy v2 {root}", "CollectiveBcastSendV2", own, [2, 1, 1])
    else:
        run(f"copy {root}", "CollectiveBcastRecv", **keys, shape=(2,))
        run(f"copy v2 {root}", "CollectiveBcastRecvV2", None, [2, 1, 1, [2, 2]], Tshape=INT)
run("nobody", "CollectiveBcastRecv", **keys, shape=(2,))
run("odd", "CollectiveAllToAllV2", [1, 2, 3], [2, 1, 1], **v2)
print(json.dumps(found))
"""


def test_ops_of_graphs_reach_over_processes() -> None:
    addresses = json.dumps([f"127.0.0.1:{port}" for port in free_ports(2)])
    begun = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(k), addresses],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"DRYSTONE_PLUGINS_DISABLE": "cpu"},
        )
        for k in range(2)
    ]  # fmt: skip
    said = [process.communicate(timeout=200) for process in begun]
    assert [process.returncode for process in begun] == [0, 0], said
    one, other = (json.loads(out.splitlines()[-1]) for out, _ in said)
    for found in (one, other):
        assert found["reduce"] == [[5.5, 11], [16.5, 22]]
        assert found["reduce v2"] == [[11, 22], [33, 44]]
        assert found["gather"] == found["gather v2"] == [[1, 2], [3, 4], [10, 20], [30, 40]]
        assert str(found["copy 0"]) == "[-0.0, 0.0]", "each bit"
        assert found["copy 1"] == [0, 1]
        assert found["copy v2 0"] == [[1, 2], [3, 4]]
        assert found["copy v2 1"] == [[10, 20], [30, 40]]
        assert "one process of a group sends" in found["nobody"]
        assert "the first axis is divided" in found["odd"]
    assert (one["scatter v2"], other["scatter v2"]) == ([[11, 22]], [[33, 44]])
    assert one["all to all"] == [[1, 2], [10, 20]]
    assert other["all to all"] == [[3, 4], [30, 40]]
