"""What devices are used for in runs: streams, events, timers, memory and calls of the host."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from device_graphs import ON, Build, both, x_of
from drystone_conformance.strict_device import StrictDevice
from google.protobuf import text_format

from drystone_abi.protos import FunctionDefLibrary, XSpace
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.core.errors import KernelError
from drystone_base.executor.record import Record
from drystone_base.host import available
from drystone_base.ops.attrs import FunctionRef

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)


def chain(length: int = 6) -> Build:
    """``y``: a product on the device, and ops there and on the host, in turn at its end."""
    b = Build()
    out = b.op("MatMul", "m", b.feed("x"), b.const("w", np.ones((3, 3)) / 4))
    for k in range(length):
        out = b.op("Relu", f"r{k}", out)
    b.op("Neg", "y", out)
    return b


def test_copies_have_streams_of_their_own(strict: StrictDevice) -> None:
    """They go on beside kernels, ordered by events; the run waits once, at its fetches."""
    session = Session(chain().graph, SessionConfig(**ON))
    session.run("y:0", {"x:0": x_of()})
    assert strict.counted()["streams"] == 3
    session.run("y:0", {"x:0": x_of()})
    found = strict.counted()
    assert (found["streams"], found["waits"]) == (0, 1)
    assert (found["copies_in"], found["copies_out"]) == (1, 1)


def recorded(b: Build, fetch: str, runs: int = 2) -> Record:
    session = Session(b.graph, SessionConfig(**ON))
    with session.record() as record:
        for _ in range(runs):
            session.run(fetch, {"x:0": x_of()})
    return record


def test_a_record_has_the_devices_time_and_memory(strict: StrictDevice, tmp_path: Path) -> None:
    record = recorded(chain(), "y:0")
    there = [node for node in record.nodes if node.device]
    assert {node.op for node in there} == {"MatMul", "Relu", "Neg", "_Copy"}
    assert all(node.on_device is not None for node in there if node.op != "_Copy")
    assert sum(node.on_device is not None for node in record.nodes) == strict.counted()["timers"]
    rows = {row["op"]: row for row in record.by_op()}
    assert rows["Relu"]["device_seconds"] > 0
    (memory,) = record.memory.values()
    assert memory["peak"] >= 2 * x_of().nbytes
    assert memory["total"] >= memory["free"] > 0
    assert memory["allocator"]["num_allocs"] > 0
    events = record.chrome_trace()["traceEvents"]
    lines = {e["args"]["name"]: e["tid"] for e in events if e["name"] == "thread_name"}
    work = [e for e in events if e.get("cat") == "device"]
    kernels = [e for e in work if e["tid"] == lines["/device:STRICT:0"]]
    assert [e["args"]["node"] for e in kernels[:3]] == ["m", "r0", "r1"]
    assert all(a["ts"] + a["dur"] <= b["ts"] + 1e-3 for a, b in pairwise(kernels))
    space = XSpace.FromString(record.write_profile(tmp_path).read_bytes())
    planes = {plane.name: plane for plane in space.planes}
    assert len(planes["/device:STRICT:0"].lines[0].events) == len(kernels)
    json.dumps(record.chrome_trace())


def test_who_does_not_record_pays_for_no_timer(strict: StrictDevice) -> None:
    Session(chain().graph, SessionConfig(**ON)).run("y:0", {"x:0": x_of()})
    assert strict.counted()["timers"] == 0


LOOP = """
function {
  signature { name: "body" input_arg { name: "i" type: DT_INT32 }
    input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT }
    output_arg { name: "j" type: DT_INT32 } output_arg { name: "c" type: DT_FLOAT }
    output_arg { name: "d" type: DT_FLOAT } }
  node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }
  node_def { name: "next" op: "Add" input: "i" input: "one:output:0"
    attr { key: "T" value { type: DT_INT32 } } }
  node_def { name: "up" op: "Ceil" input: "b" attr { key: "T" value { type: DT_FLOAT } } }
  node_def { name: "more" op: "AddV2" input: "a" input: "up:y:0"
    attr { key: "T" value { type: DT_FLOAT } } }
  ret { key: "j" value: "next:z:0" } ret { key: "c" value: "more:z:0" }
  ret { key: "d" value: "b" }
}
function {
  signature { name: "goes_on" input_arg { name: "i" type: DT_INT32 }
    input_arg { name: "a" type: DT_FLOAT } input_arg { name: "b" type: DT_FLOAT }
    output_arg { name: "yes" type: DT_BOOL } }
  node_def { name: "end" op: "Const" attr { key: "dtype" value { type: DT_INT32 } }
    attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1500 } } } }
  node_def { name: "less" op: "Less" input: "i" input: "end:output:0"
    attr { key: "T" value { type: DT_INT32 } } }
  ret { key: "yes" value: "less:z:0" }
}
"""


def test_a_long_loop_lets_go_of_what_the_device_is_done_with(strict: StrictDevice) -> None:
    """Calls of the host on the stream say so; nothing waits before the end."""
    b = Build()
    for proto in text_format.Parse(LOOP, FunctionDefLibrary()).function:
        b.graph.functions.add(proto)
    x = b.feed("x")
    attrs = {
        "T": [INT32, FLOAT32, FLOAT32],
        "cond": FunctionRef("goes_on"),
        "body": FunctionRef("body"),
    }
    loop = b.graph.add("While", "loop", [b.const("zero", 0, INT32), x, x], attrs=attrs)
    b.op("Neg", "y", (loop, 1))
    session = Session(b.graph, SessionConfig(**ON))
    strict.counted()
    one = np.float32([0.5])
    np.testing.assert_array_equal(session.run("y:0", {"x:0": one}), -one - 1500)
    found = strict.counted()
    assert (found["kernels"], found["waits"]) == (1501, 1)
    assert found["calls"] >= 1


def test_what_a_device_has_no_memory_for_says_how_much_it_has(strict: StrictDevice) -> None:
    b = Build()
    b.op("Mul", "y", b.feed("x"), b.feed("z"))
    session = Session(b.graph, SessionConfig(**ON))
    row = np.ones((1, 30_000), np.float32)
    with pytest.raises(
        KernelError, match=r"gave no memory for 36\d+ bytes; it has \d+ of \d+ bytes free"
    ):
        session.run("y:0", {"x:0": row, "z:0": row.T})
    assert session.run("y:0", {"x:0": row[:, :3], "z:0": row[:, :3]}).shape == (1, 3)


def test_elements_of_lists_stay_on_the_device(strict: StrictDevice) -> None:
    """What a loop collects is copied to the host only where a kernel of the host needs it."""
    b = Build()
    of = {"element_dtype": FLOAT32}
    shape = b.const("shape", [5, 3], INT32)
    empty = b.graph.add(
        "TensorListReserve",
        "empty",
        [shape, b.const("three", 3, INT32)],
        attrs=of | {"shape_type": INT32},
    )
    out: Any = b.op("Neg", "n", b.feed("x"))
    last = empty
    for k in range(3):
        index = b.const(f"k{k}", k, INT32)
        last = b.graph.add("TensorListSetItem", f"set{k}", [last, index, out], attrs=of)
        out = b.graph.add("TensorListGetItem", f"get{k}", [last, index, shape], attrs=of)
        out = b.op("Exp", f"e{k}", out)
    pushed = b.graph.add("TensorListPushBack", "push", [last, out], attrs=of)
    popped = b.graph.add("TensorListPopBack", "pop", [pushed, shape], attrs=of)
    b.op("Tanh", "y", (popped, 1))
    b.graph.add("TensorListStack", "stack", [(popped, 0), shape], attrs=of | {"num_elements": 3})
    there, here = both(b.graph, ["y:0", "stack:0"], {"x:0": x_of()})
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)
    session = Session(b.graph, SessionConfig(**ON))
    session.run("y:0", {"x:0": x_of()})
    strict.counted()
    session.run("y:0", {"x:0": x_of()})
    found = strict.counted()
    assert (found["copies_in"], found["copies_out"], found["waits"]) == (1, 1, 1)
    assert found["kernels"] == 1 + 3 * 3 + 3


PROGRAM = """
import sys
sys.path[:0] = {path!r}
import gc
import numpy as np
import device_graphs
from device_graphs import Build, Session, SessionConfig, x_of
strict = device_graphs.loaded()
b = Build()
w = b.const("w", np.ones((3, 200)) / 4)
out = b.op("MatMul", "m", b.feed("x"), w)
for k in range(40):
    other = b.op("Exp", f"e{{k}}", b.op("Neg", f"n{{k}}", out))
    out = b.op("Add", f"a{{k}}", out, other)
session = Session(b.graph, SessionConfig(optimizer="off"))
here = Session(b.graph, SessionConfig(optimizer="off", device_count={{"STRICT": 0}}))
for rows in (5, 100, 7, 900, 1):
    found, want = (s.run("a39:0", {{"x:0": x_of(rows)}}) for s in (session, here))
    np.testing.assert_allclose(found, want, rtol=1e-5)
print(strict.counted()["kernels"], strict.figures()["allocations"])
session.close()
del session
gc.collect()
print(*device_graphs.settled(strict))
"""


def test_large_blocks_are_divided_where_a_platform_asks_for_it() -> None:
    """Memory is taken by regions, a few for all values, and given back at the end."""
    here = Path(__file__).resolve()
    contract = here.parents[5] / "plugin-abi"
    path = [str(here.parents[2]), str(contract / "tests"), str(contract / "conformance" / "src")]
    env: dict[str, Any] = os.environ | {"STRICT_BFC": "1", "DRYSTONE_VISIBLE_DEVICES": "STRICT"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(path=path)],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    counts, left = done.stdout.splitlines()
    assert counts.split()[0] == str(5 * 121)
    assert int(counts.split()[1]) < 8
    assert left == "0 []"
