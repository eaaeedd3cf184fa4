"""Variables with restored values are changed in place: never the file, nor what others hold."""

from __future__ import annotations

from pathlib import Path

import native_ops
import numpy as np
import pytest
from fresh_process import run_program

from drystone_base.checkpoint import save

pytestmark = native_ops.needs_onednn()
COUNT = 1 << 16  # floats: values as large as that stay in their file

PROGRAM = """
import os
import numpy as np
import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32, RESOURCE
from drystone_base.graph import Graph
built = os.environ.get("DRYSTONE_CPU_PLUGIN")
if built:
    ds.plugins.load_library(built, policy="allow_unverified")
graph = Graph()
shape = ({count},)
x = graph.add("Placeholder", "x", attrs={{"dtype": FLOAT32, "shape": shape}})
named = {{"shared_name": "w", "container": "", "dtype": FLOAT32, "shape": shape}}
w = graph.add("VarHandleOp", "w", attrs=named)
graph.add("AssignVariableOp", "put", [w, x], attrs={{"dtype": FLOAT32}})
graph.add("AssignAddVariableOp", "add", [w, x], attrs={{"dtype": FLOAT32}})
graph.add("ReadVariableOp", "read", [w], attrs={{"dtype": FLOAT32}})
session = ds.Session(graph)
one = np.ones(shape, np.float32)
{how}
for _ in range(3):
    session.run("add", {{"x:0": one}})
print(np.unique(session.run("read")).tolist(), np.unique(one).tolist())
"""


@pytest.mark.parametrize(
    ("how", "value"),
    [
        ("session.run('put', {{'x:0': one}})", 1.0),
        ("session.run('put', {{'x:0': one}}); ds.restore_checkpoint(session, {prefix!r})", 7.0),
        ("session.run('read', {{}}) if 0 else ds.restore_checkpoint(session, {prefix!r})", 7.0),
    ],
)
def test_values_are_added_to_a_copy(tmp_path: Path, how: str, value: float) -> None:
    prefix = tmp_path / "ckpt"
    save(prefix, {"w": np.full(COUNT, 7, np.float32)})
    before = {file: file.read_bytes() for file in tmp_path.iterdir()}
    code = PROGRAM.format(count=COUNT, how=how.format(prefix=str(prefix)))
    assert run_program(code).strip() == f"[{value + 3}] [1.0]"
    assert {file: file.read_bytes() for file in tmp_path.iterdir()} == before
