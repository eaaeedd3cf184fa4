"""Disks that are full and clients that die: nothing is lost that a checkpoint had."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from clusters import FLOAT, B, Cluster, Parts, wait_until

import drystone_base as ds
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import TensorAttr

HELPERS = Path(__file__).parents[2]
SIZE = 1 << 16
"""Elements of the variable: 256 KiB, of which a disk of 400 KiB holds one copy."""


def counter() -> ds.Graph:
    """A variable on the second task: ``init``, ``add`` one, ``save`` and ``restore``."""
    g = Parts()
    string = ds.as_dtype("string")

    def text(name: str, *values: bytes, scalar: bool = False) -> ds.Node:
        array = np.array(values[0] if scalar else values, object)
        attrs = {"dtype": string, "value": TensorAttr(array=array)}
        return g.graph.add("Const", name, device=B, attrs=attrs)

    kind = {"dtype": FLOAT}
    handle = g.graph.add(
        "VarHandleOp", "v", device=B, attrs=kind | {"shape": (SIZE,), "shared_name": "v"}
    )
    zero = g.constant("zero", B, np.zeros(SIZE, np.float32))
    one = g.constant("one", B, np.ones(SIZE, np.float32))
    g.graph.add("AssignVariableOp", "init", [handle, zero], device=B, attrs=kind)
    g.graph.add("AssignAddVariableOp", "add", [handle, one], device=B, attrs=kind)
    read = g.graph.add("ReadVariableOp", "read", [handle], device=B, attrs=kind)
    prefix = g.graph.add("Placeholder", "prefix", device=B, attrs={"dtype": string, "shape": ()})
    names, slices = text("names", b"v"), text("slices", b"")
    g.graph.add(
        "SaveV2", "save", [prefix, names, slices, read], device=B, attrs={"dtypes": [FLOAT]}
    )
    back = g.graph.add(
        "RestoreV2", "back", [prefix, names, slices], device=B, attrs={"dtypes": [FLOAT]}
    )
    g.graph.add("AssignVariableOp", "restore", [handle, back], device=B, attrs=kind)
    return g.graph


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 400 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no small disk can be mounted here: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_full_at_a_checkpoint(tmp_path: Path, small_disk: Path) -> None:
    """The error names file and task; the checkpoint before it is whole, and runs go on."""
    with Cluster(tmp_path, 2, "--write", str(small_disk)) as cluster:
        first, second = (str(small_disk / name).encode() for name in ("first", "second"))
        with cluster.session(counter()) as session:
            session.run(["init"])
            session.run(["add"])
            session.run(["save"], {"prefix:0": first})
            session.run(["add"])
            start = time.monotonic()
            with pytest.raises(DrystoneError) as caught:
                session.run(["save"], {"prefix:0": second})
            assert time.monotonic() - start < 5
            assert "second" in str(caught.value)
            assert caught.value.details["drystone/task"] == "/job:worker/replica:0/task:1"
            assert "space" in str(caught.value).lower(), caught.value
            assert session.run("read:0")[0] == 2
            session.run(["restore"], {"prefix:0": first})
            assert session.run("read:0")[0] == 1


MASTER = """
import sys
sys.path[:0] = [{tests!r}, {here!r}]
from test_recovery import counter
import drystone_base as ds
session = ds.Session(counter(), ds.SessionConfig(target={target!r}, deadline=30))
session.run(["init"])
for k in range(3):
    session.run(["add"])
session.run(["save"], {{"prefix:0": {prefix!r}}})
print("saved", flush=True)
while True:
    session.run(["add"])
"""


def test_a_master_that_dies_and_comes_back(tmp_path: Path) -> None:
    """Variables outlive it; after the loss of their task the checkpoint has what it had."""
    with Cluster(tmp_path, 2, "--write", str(tmp_path)) as cluster:
        prefix = str(tmp_path / "saved").encode()
        program = MASTER.format(
            tests=str(HELPERS),
            here=str(Path(__file__).parent),
            target=cluster.target,
            prefix=prefix,
        )
        master = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE,
            env=os.environ | {"DRYSTONE_PLUGINS_DISABLE": "cpu"},
        )  # fmt: skip
        assert master.stdout is not None
        assert master.stdout.readline() == b"saved\n"
        master.kill()
        master.communicate()
        with cluster.session(counter()) as session:
            assert session.run("read:0")[0] >= 3
        cluster.kill(1)
        cluster.workers[1].wait()
        cluster.workers[1] = cluster.start(1)
        session = cluster.session(counter(), deadline=60.0)
        assert wait_until(20, lambda: _restored(session, prefix))
        assert session.run("read:0").tolist() == [3.0] * SIZE
        session.close()


def _restored(session: ds.Session, prefix: bytes) -> bool:
    try:
        session.run(["restore"], {"prefix:0": prefix})
    except DrystoneError:
        return False
    return True
