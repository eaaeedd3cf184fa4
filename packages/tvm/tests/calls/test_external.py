"""Compiled functions on a device of another plugin, as DLPack's external device."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("drystone_conformance", reason="the strict device is the device")

PROGRAM = """
import os, subprocess, sys
from pathlib import Path

os.environ["DRYSTONE_TVM_DEVICES"] = "STRICT"
import numpy as np
import drystone_base as ds
from drystone_conformance.strict_device import StrictDevice, build
from conftest import PACKAGE, load_plugin

folder = Path(sys.argv[1])
device = StrictDevice.load(build(folder))
load_plugin(folder)
library = folder / "external.so"
address = f"-DSTRICT_LAUNCH={device.library.symbol('strict_launch'):#x}"
source = PACKAGE / "tests" / "calls" / "external.c"
command = ["cc", "-O1", "-fPIC", "-shared", "-Wall", "-Wextra", address, "-o", library, source]
subprocess.run(list(map(str, command)), check=True)


def graph(function, where="/device:STRICT:0", **attrs):
    made = ds.Graph()
    b = ds.Builder(made)
    last = b("Neg", b("Placeholder", dtype="float32", name="x"), device="/device:STRICT:0")
    for name in ("one", "y"):
        last = b(
            "TvmRuntime", [last], [], lib_path=str(library), function_name=function,
            Tin=["float32"], Tout=["float32"], name=name, device=where, **attrs,
        )
    return made


def run(made, x, soft=False):
    access = ds.Access(libraries=(library,))
    config = ds.SessionConfig(access=access, optimizer="off", allow_soft_placement=soft)
    session = ds.Session(made, config)
    return session.run("y:0", {"x:0": x}), session


for size in (1, 7, 10_000):
    x = np.linspace(-3, 3, size, dtype=np.float32)
    y, session = run(graph("addone"), x)
    np.testing.assert_array_equal(y, -x + 1 + 1)
for other in ("/device:STRICT:1", "/device:STRICT:0"):
    np.testing.assert_array_equal(run(graph("addone", other), x)[0], -x + 1 + 1)
assert device.take_faults() == [], device.take_faults()
for function, where, text in (
    ("spacious", "/device:STRICT:0", "there is work space in the host's memory and on"),
    ("addone", "/device:CPU:0", "addone runs on an external device"),
):
    try:
        run(graph(function, where), x)
    except ds.KernelError as error:
        assert text in error.found, error.found
    else:
        raise AssertionError(text)
np.testing.assert_array_equal(run(graph("addone"), x)[0], -x + 1 + 1)
assert device.take_faults() == []
print("the device was used:", device.figures()["kernels"])
"""


def test_functions_put_their_work_on_the_streams_of_a_device(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path)]
    done = subprocess.run(
        command, cwd=Path(__file__).parent, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the device was used" in done.stdout
