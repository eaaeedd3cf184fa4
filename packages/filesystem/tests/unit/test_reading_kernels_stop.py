"""A kernel that reads from a filesystem in Python ends as any other: by Ctrl-C, or the deadline."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import signal, sys, time
import numpy as np
from drystone_base import Graph, KernelError, Session, SessionConfig
from drystone_base.core.dtypes import STRING
from drystone_base.files.access import Access
from drystone_filesystem.bridge import register_store
from drystone_filesystem.store import Stat, Store

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
executor, way = sys.argv[1:]
waits = []

class Slow(Store):
    def stat(self, path):
        return Stat(3, 0, False)

    def children(self, path):
        return []

    def read_into(self, path, offset, buffer, version=""):
        if waits:
            print("inside", flush=True)
        for _ in waits * 6000:
            time.sleep(0.01)
        buffer[:3] = b"abc"
        return 3

register_store("slow", Slow(), "a test")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": STRING, "shape": ()})
graph.add("ReadFile", "y", [x])
limit = {"deadline": 2.0} if way == "deadline" else {}
config = SessionConfig(executor=executor, optimizer="off", access=Access.anywhere(), **limit)
session = Session(graph, config)
if way == "brief":  # its later runs stay in the main thread
    for k in range(2):
        assert session.run("y:0", {"x:0": f"slow://a/{k}"}) == b"abc"
waits.append(None)
try:
    session.run("y:0", {"x:0": "slow://a/b"})
except (KernelError, KeyboardInterrupt) as error:
    print(type(error).__name__, getattr(error, "code", ""))
"""


@pytest.mark.parametrize("executor", ["native", "reference"])
@pytest.mark.parametrize(
    ("way", "ends"),
    [("deadline", "KernelError deadline-exceeded"), ("first", "KeyboardInterrupt"),
     ("brief", "KeyboardInterrupt")],
)  # fmt: skip
def test_it_ends(executor: str, way: str, ends: str) -> None:
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM, executor, way]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        begin = time.monotonic()
        if way != "deadline":  # else what comes with the line would be lost to communicate()
            assert child.stdout.readline() == "inside\n"
            time.sleep(0.3)
            begin = time.monotonic()
            child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=60)
        assert time.monotonic() - begin < 40
    assert output.removeprefix("inside\n").startswith(ends)
