"""Optimizers, passes and filesystems that do not return: they are left, and named."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

OPTIMIZE = """
import json, sys, time, warnings
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library
from drystone_optimizer import OptimizerConfig

load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", device="/device:ZOO:0", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
answers = []
for k in range(2):
    begin = time.monotonic()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        print("runs", flush=True)
        try:
            limited = OptimizerConfig(meta_optimizer_timeout_ms=int(sys.argv[2]))
            config = SessionConfig(optimizer=limited)
            value = Session(graph, config=config).run("y:0", {"x:0": [1, 2]}).tolist()
        except KeyboardInterrupt:
            value = "interrupted"
    texts = [str(w.message) for w in caught]
    answers.append([value, [t for t in texts if "did not optimize" in t], time.monotonic() - begin])
print(json.dumps(answers))
"""

PASS = """
import signal, sys, time, warnings
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.plugins import load_library

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
load_library(sys.argv[1], policy="allow_unverified")
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
limit = {"deadline": 4.0} if sys.argv[2] == "late" else {}
for k in range(2):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            session = Session(graph, SessionConfig(passes={"hangs": True}, **limit))
            print("runs", flush=True)
            print(session.run("y:0", {"x:0": [1, 2]}).tolist())
        except KeyboardInterrupt as error:
            print("interrupted", *getattr(error, "__notes__", []))
    print(*[str(w.message) for w in caught])
"""

FILES = """
import signal, sys
from drystone_base.host import filesystem as fs
from drystone_base.host.open_files import Readable
from drystone_base.plugins import load_library

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
load_library(sys.argv[1], policy="allow_unverified")
fs.write_bytes("hangs://a/x", b"abc")
asks = {
    "stat": lambda: fs.stat("hangs://a/x"),
    "read": lambda: Readable("hangs://a/x").read_into(0, memoryview(bytearray(3))),
    "children": lambda: fs.list_directory("hangs://a"),
}
print("asks", flush=True)
try:
    asks[sys.argv[2]]()
except KeyboardInterrupt as error:
    print("interrupted", *getattr(error, "__notes__", []))
print(fs.exists("hangs://a/x"))
"""

CLEANUP = """
import sys
from drystone_base.host.library import open_library

open_library(sys.argv[1]).initialise("TF_InitPlugin")
print("answered", flush=True)
"""


def settings(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    return kept | {"XDG_CACHE_HOME": str(folder), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}


@pytest.fixture
def hanging(compile_library: Callable[..., Path]) -> Path:
    return compile_library("zoo.cc", flags=["-DBAD=19", '-DDEVICE="ZOO"'])


def test_an_optimizer_is_left_when_its_time_is_over(hanging: Path, tmp_path: Path) -> None:
    """The graph runs without it, and so do later ones, at once; the process can end."""
    begin = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", OPTIMIZE, hanging, "2000"],
        capture_output=True, text=True, timeout=80, env=settings(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    assert first[0] == second[0] == [-1, -2]
    (late,), (stuck,) = first[1], second[1]
    assert "2000 ms for optimizing were over" in late
    assert "has not returned to an earlier call, which was abandoned" in stuck
    assert str(hanging) in late
    assert str(hanging) in stuck
    assert second[2] < 2 <= first[2]
    assert time.monotonic() - begin < 60


def test_ctrl_c_ends_the_wait_for_an_optimizer(hanging: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", OPTIMIZE, str(hanging), "0"]
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, env=settings(tmp_path)) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "runs\n"
        time.sleep(2)
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert child.returncode == 0, errors
    first, second = json.loads(output.splitlines()[-1])
    assert first[0] == "interrupted"
    assert second[0] == [-1, -2]


def test_a_cleanup_that_hangs_does_not_hold_up_the_end(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    does = "for (int k = 0; k < 90; ++k) sleep(1);"
    flags = ['-DSCHEME="hangs"', f"-DON_CLEANUP={does}", "-include", "unistd.h"]
    library = compile_library("filesystem_full.c", flags=flags)
    done = subprocess.run(
        [sys.executable, "-c", CLEANUP, library],
        capture_output=True, text=True, timeout=60, env=settings(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout == "answered\n"
    assert f"drystone: cleanup of plugin {library} has not returned for 4 s" in done.stderr


HANG = 'if (write(1, "inside\\n", 7) == 7) for (int k = 0; k < 90; ++k) sleep(1);'


def interrupted(program: str, library: Path, way: str, folder: Path) -> str:
    """What a program prints that gets Ctrl-C in the plugin's function, which says so."""
    words = [sys.executable, "-c", program, str(library), way]
    with subprocess.Popen(words, stdout=-1, stderr=-1, text=True, env=settings(folder)) as child:
        assert child.stdout is not None
        while child.stdout.readline() not in ("inside\n", ""):
            continue
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
        assert time.monotonic() - begin < 20
    assert child.returncode == 0, errors
    return output


@pytest.fixture
def hanging_pass(compile_library: Callable[..., Path]) -> Path:
    flags = ['-DNAME="hangs"', f"-DANSWER=(void)call; {HANG}", "-include", "unistd.h"]
    return compile_library("passes_variants.c", flags=flags)


def test_a_pass_is_left_when_its_time_is_over(hanging_pass: Path, tmp_path: Path) -> None:
    """The graph goes on as it was, and so do later ones, at once."""
    done = subprocess.run(
        [sys.executable, "-c", PASS, hanging_pass, "late"],
        capture_output=True, text=True, timeout=60, env=settings(tmp_path),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.replace("inside\n", "").split("runs\n")[1:]
    assert first.startswith("[-1.0, -2.0]")
    assert second.startswith("[-1.0, -2.0]")
    assert f"pass 'hangs' of {hanging_pass} has not returned" in first
    assert "has not returned to an earlier call, which was abandoned" in second


def test_ctrl_c_ends_the_wait_for_a_pass(hanging_pass: Path, tmp_path: Path) -> None:
    first, second = interrupted(PASS, hanging_pass, "interrupted", tmp_path).split("runs\n")
    assert f"interrupted pass 'hangs' of {hanging_pass} has not returned" in first
    assert second.startswith("[-1.0, -2.0]")


@pytest.mark.parametrize(
    ("member", "does"), [("stat", "look at"), ("read", "read"), ("children", "list")]
)
def test_ctrl_c_ends_the_wait_for_a_filesystem(
    member: str, does: str, compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    flags = ['-DSCHEME="hangs"', f"-DON_{member.upper()}={HANG}", "-include", "unistd.h"]
    library = compile_library("filesystem_full.c", flags=flags)
    said = interrupted(FILES, library, member, tmp_path)
    assert f"interrupted filesystem hangs ({library}), which was asked to {does} hangs://a" in said
    assert "has not returned and keeps running in a thread of its own" in said
    assert said.endswith("True\n")
