"""The zoo's passes and subgraph backends: what they answer is looked at before it is read.

One process goes through all: the graph goes on without the backend, and a pass is named.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from compiling import PLUGINS

PROGRAM = """
import ctypes, json, sys, warnings
import numpy as np
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library
from drystone_subgraph import PartitionConfig, partition_with_report

plugin = load_library(sys.argv[1], policy="allow_unverified")
numbers, cases = json.loads(sys.argv[2]), json.loads(sys.argv[3])
choose = ctypes.CFUNCTYPE(None, ctypes.c_int)(plugin.library.symbol("zoo_choose"))
SETTINGS = {"pass": {"passes": {"zoo": True}}, "backend": {"subgraphs": "zoo"}}

for case, where in cases:
    choose(numbers[case])
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            session = Session(graph, SessionConfig(optimizer="off", **SETTINGS[where]))
            answer = session.run("y:0", {"x:0": np.float32([1, 2, 3])}).tolist()
        except DrystoneError as error:
            answer = str(error)
    told = [str(one.message) for one in caught]
    if "Attrs" in case or "Review" in case:  # what is refused is in the report
        _, report = partition_with_report(graph, ["y"], ["x"], PartitionConfig(("zoo",)))
        told += [one.reason for one in report.segments]
    print(json.dumps([answer, told]))
"""

RIGHT = [-1, -2, -3]
BAD_GRAPH = "pass zoo of FILE gave a bad graph: "
CASES = [
    ("Good", "pass", ""),
    ("GraphNowhere", "pass", f"{BAD_GRAPH}it lies where nothing can be read"),
    ("GraphEndless", "pass", f"{BAD_GRAPH}it has 2 GiB or more"),
    ("GraphFreed", "pass", f"{BAD_GRAPH}it lies in memory that the plugin has freed"),
    ("GraphForNobody", "pass", f"{BAD_GRAPH}its data_deallocator is no function"),
    ("GraphNone", "pass", "GraphDef"),
    ("FailsWithEscapes", "pass", r"\x1b[2J\x1b]0;gone\x07 no"),
    ("Good", "backend", ""),
    ("FlagsPast", "backend", "it wrote past the 1 flags"),
    ("FlagsPastInReview", "backend", "it wrote past the 1 flags"),
    ("AttrsNowhere", "backend", "bad bytes of its attributes: it lies where nothing can be read"),
    ("AttrsFreed", "backend", "attributes: it lies in memory that the plugin has freed"),
    ("AttrsForNobody", "backend", "attributes: its data_deallocator is no function"),
    ("AttrsNone", "backend", "its attributes cannot be used: they are no serialised NodeDef"),
    ("OutputNowhere", "backend", "output 0 has 12 bytes at an address where nothing can be read"),
    ("OutputFreed", "backend", "output 0 has 12 bytes in memory that it has freed"),
    ("OutputOdd", "backend", ""),
    ("StatusDeleted", "pass", ""),
    ("StatusDeleted", "backend", ""),
    ("InputDeleted", "backend", ""),
    ("InputMoved", "backend", ""),
    ("Good", "pass", ""),
]


def test_what_passes_and_backends_answer_is_looked_at(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    library = compile_library("hostile_offers.c")
    text = (PLUGINS / "hostile_offers.c").read_text(encoding="utf-8")
    enum = re.search(r"enum \{(.*?)\};", text, re.DOTALL)
    assert enum
    numbers = {name: k for k, name in enumerate(re.findall(r"k(\w+)", enum[1]))}
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    kept |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
    words = [json.dumps(numbers), json.dumps([case[:2] for case in CASES])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, library, *words],
        capture_output=True, text=True, env=kept, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    for (case, where, want), line in zip(CASES, done.stdout.splitlines(), strict=True):
        answer, warned = json.loads(line)
        told = re.sub(r"/\S*hostile_offers\S*\.so", "FILE", str(answer) + " ".join(warned))
        assert want in told, (case, where, told)
        if where == "backend" or not want:
            assert answer == RIGHT, (case, where, told)
        assert want or not [one for one in warned if "zoo" in one], (case, warned)
    for what, times in (("status", 2), ("tensor", 1)):
        assert done.stderr.count(f"it deleted a {what} that is the host's") == times
