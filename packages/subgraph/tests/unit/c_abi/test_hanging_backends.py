"""Backends of plugins whose functions do not return: they are left, and named; the process ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.cases_in_gate(3)

Compile = Callable[..., Path]
HANGING = Path(__file__).parents[2] / "plugins" / "hanging.c"
SLACK = 40.0
"""Seconds: the machine may be busy. What hangs does so for 90."""

PROGRAM = """
import signal, sys, time, warnings
import numpy as np
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
feeds = {"x:0": np.float32([1, 2])}
limit = {"deadline": 4.0} if sys.argv[2] == "late" else {}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    session = Session(graph, SessionConfig(subgraphs="hanging", optimizer="off", **limit))
    try:
        print("value", session.run("y:0", feeds).tolist())
    except KernelError as error:
        print("late", error.render().replace("\\n", " "))
    except KeyboardInterrupt as error:
        print("interrupted", *getattr(error, "__notes__", []))
for warning in caught:
    print("warned", str(warning.message).replace("\\n", " "))
print("end", flush=True)
"""


def ran(library: Path, way: str, folder: Path) -> str:
    """What the program prints; it must end soon after its time, or Ctrl-C."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings = {"XDG_CACHE_HOME": str(folder), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, library, way],
        stdout=-1, stderr=-1, text=True, env=kept | settings,
    ) as child:  # fmt: skip
        assert child.stdout is not None
        begin = time.monotonic()
        if way == "interrupted":  # else what comes with the line would be lost to communicate()
            assert child.stdout.readline() == "inside\n"
            time.sleep(0.3)
            begin = time.monotonic()
            child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=80)
        assert time.monotonic() - begin < SLACK
    assert output.endswith("end\n"), errors
    return output.removeprefix("inside\n")


@pytest.mark.parametrize("function", ["select", "accept", "compile", "execute"])
def test_ctrl_c_ends_the_wait(function: str, compile_library: Compile, tmp_path: Path) -> None:
    library = compile_library(HANGING, flags=[f"-DHANGS={function}"])
    said = ran(library, "interrupted", tmp_path)
    assert said.startswith("interrupted")
    if function in ("select", "accept"):
        assert "a function of subgraph backend hanging has not returned" in said
    if function == "execute":
        assert "its kernel of subgraph backend 'hanging' has not returned" in said


@pytest.mark.parametrize("function", ["select", "compile", "execute"])
def test_a_deadline_ends_the_wait(function: str, compile_library: Compile, tmp_path: Path) -> None:
    """Partitioning has a part of the time, and the graph goes on without the backend."""
    library = compile_library(HANGING, flags=[f"-DHANGS={function}"])
    said = ran(library, "late", tmp_path)
    if function == "execute":
        assert said.startswith("late")
        assert "its kernel of subgraph backend 'hanging' has not returned" in said
    else:
        assert said.startswith("value [-1.0, -2.0]")
    if function == "select":
        left = "a function of subgraph backend hanging has not returned"
        assert f"the time for partitioning for hanging was over ({left})" in said
