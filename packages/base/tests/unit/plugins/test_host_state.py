"""What belongs to the process is its own, whatever a plugin does; and who ended it is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from plugin_files import Compile

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

_STATES = """
import json, locale, os, resource, signal, sys
import numpy as np

def state():
    denormal = np.full(3, 1e-40, np.float32) * np.float32(1)
    streams = [(os.fstat(fd).st_dev, os.fstat(fd).st_ino) for fd in range(3)]
    return {
        "denormals": bool(denormal.all()),
        "folder": os.getcwd(),
        "umask": open("/proc/self/status").read().split("Umask:")[1].split()[0],
        "handlers": [str(signal.getsignal(n)) for n in (signal.SIGINT, signal.SIGUSR2)],
        "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "limits": [resource.getrlimit(n) for n in range(10)],
        "locale": locale.setlocale(locale.LC_ALL),
        "environment": sorted(open("/proc/self/environ").read().split(chr(0))),
        "home": os.popen("echo $HOME $PATH $DRYSTONE_HOST_STATE").read(),
        "timer": signal.getitimer(signal.ITIMER_REAL),
        "processors": sorted(os.sched_getaffinity(0)),
        "name": open("/proc/self/comm").read(),
        "streams": streams,
    }

from drystone_base import Graph, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.host import optimizer
from drystone_base.host.library import open_library
from drystone_base.modules import find

def start(library):
    kernels = find("kernels")
    for symbol in library.entries():
        if symbol == "TF_InitKernel":
            kernels.initialise(library, symbol)
        else:
            library.initialise(symbol)

graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2,)})
graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
"""

_LOAD = """
kept = open_library(sys.argv[2])  # whose handlers are in place before
before = state()
library = open_library(sys.argv[1])
opened = state()
start(library)
entered = state()
optimizer.run("HOST_STATE", graph.to_bytes())
optimized = state()
if "TF_InitKernel" in library.entries():
    graph.add("HostState", "z", [x])
    for _ in range(2):
        Session(graph).run("z:0", {"x:0": [1, 2]})
ran = state()
answer = {"warnings": library.describe()["warnings"]}
for name in before:
    for when in ("opened", "entered", "optimized", "ran"):
        if globals()[when][name] != before[name]:
            answer[f"{name} {when}"] = [before[name], globals()[when][name]]
print(json.dumps(answer))
"""


def _child(program: str, *arguments: Path | str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", _STATES + program, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        input="",  # a pipe, which is not what plugins put in its place
        env=os.environ | {"DRYSTONE_PLUGINS_DISABLE": "*"},
    )


def _library(compile_library: Compile, when: str, *more: str) -> Path:
    flags = ['-DDEVICE="HOST_STATE"', f"-DWHEN={when}", *more]
    return compile_library("host_state.c", flags=flags)


def _answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("kOpened", "while it was opened"),
        ("kEntry", "while TF_InitGraph ran"),
        ("kOptimize", "while it optimized a graph"),
        ("kCreate", "while create of a kernel ran"),
        ("kCompute", "while compute of a kernel ran"),
    ],
)
def test_what_a_plugin_changes_is_put_back(compile_library: Compile, when: str, told: str) -> None:
    """In compute the environment is nobody's to look at: other threads may be setting it."""
    plain = _library(compile_library, "0")
    answer = _answer(_child(_LOAD, _library(compile_library, when, '-DOP="HostState"'), plain))
    warnings = answer.pop("warnings")
    if when == "kCompute":
        assert set(answer) <= {"home ran", "environment ran"}
    else:
        assert answer == {}
    assert all(text.startswith(f"{told} it changed ") for text in warnings)
    assert all(text.endswith("; that was put back") for text in warnings)
    # Optimizers and create run on a thread of the host's, which takes no signals anyway.
    blocked = () if when in ("kOptimize", "kCreate") else ("which signals are blocked",)
    for what in (
        "the working folder",
        "the umask, from 0022 to 0000",
        "the handler of signal 2 (Interrupt)",
        "the handler of signal 12",
        *blocked,
        "the limit of open files",
        "the environment variable DRYSTONE_HOST_STATE, which was not set",
        "the environment variable HOME",
        "the environment variable PATH",
        "a timer that sends signals",
        "the thread's name",
        "standard input",
        "standard output",
        "standard error",
        "the floating-point mode (rounding, denormals)",
    ):
        elsewhere = what.startswith("the environment") or what == "which signals are blocked"
        if when != "kCompute" or not elsewhere:  # threads of runs block all signals anyway
            assert any(what in text for text in warnings), (what, warnings)


@pytest.mark.parametrize("when", ["kCreate", "kCompute"])
def test_kernels_of_our_own_libraries_are_not_looked_at(
    compile_library: Compile, when: str
) -> None:
    """Each look takes a hundred system calls, and a first run would take one for each kernel.

    What C's functions would change is refused there, as in the later calls of others' kernels.
    """
    flags = ('-DOP="HostState"', "-DCHANGES=umask(0);(void)change_all")
    library, plain = _library(compile_library, when, *flags), _library(compile_library, "0")
    opened = "library = open_library(sys.argv[1])\n"
    vouched = _LOAD.replace(opened, f"{opened}library.vouch()\n")
    assert _answer(_child(vouched, library, plain)) == {"warnings": []}
    told = _answer(_child(_LOAD, library, plain))
    assert len(told.pop("warnings")) == 1
    assert told == {}


def test_compute_leaves_the_floating_point_mode(compile_library: Compile) -> None:
    flags = ('-DOP="HostState"', "-DCHANGES=flush_denormals();(void)change_all")
    library = _library(compile_library, "kCompute", *flags)
    answer = _answer(_child(_LOAD, library, _library(compile_library, "0")))
    mode = "the floating-point mode (rounding, denormals)"
    said = f"while compute of a kernel ran it changed {mode}; that was put back"
    assert answer == {"warnings": [said]}


def test_what_changes_in_a_long_call_may_be_the_programs_own(compile_library: Compile) -> None:
    flags = ('-DOP="HostState"', "-DCHANGES=(void)change_all;umask(077);usleep(1200000)")
    answer = _answer(
        _child(_LOAD, _library(compile_library, "kCompute", *flags), _library(compile_library, "0"))
    )
    assert answer == {"warnings": [], "umask ran": ["0022", "0077"]}


def test_a_library_linked_for_fast_arithmetic(compile_library: Compile) -> None:
    """Its start files turn denormals off for the thread that opens it."""
    library = _library(compile_library, "0", "-ffast-math")
    answer = _answer(_child(_LOAD, library, _library(compile_library, "0")))
    warnings = answer.pop("warnings")
    assert answer == {}
    mode = "the floating-point mode (rounding, denormals)"
    assert f"while it was opened it changed {mode}; that was put back" in warnings


def test_what_it_prints_while_it_is_loaded_is_no_output(compile_library: Compile) -> None:
    done = _child(_LOAD, _library(compile_library, "0"), _library(compile_library, "1"))
    assert _answer(done)["warnings"] == []
    assert done.stderr.count("said in TF_InitGraph") == 1


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ("setsid();", "the session; the process group"),
        ("prctl(PR_SET_NO_NEW_PRIVS,1,0,0,0);", "whether it may gain privileges"),
    ],
)
def test_what_nobody_can_put_back_refuses(
    compile_library: Compile, changes: str, what: str
) -> None:
    library = _library(compile_library, "kOpened", f"-DCHANGES=(void)change_all;{changes}")
    program = """
from drystone_base.core.errors import HostError
os.fork() and (os.wait(), os._exit(0))
try:
    open_library(sys.argv[1])
except HostError as error:
    print(json.dumps({"found": error.found}))
"""
    found = _answer(_child(program, library))["found"]
    assert "it changed what belongs to the process and cannot be put back: " + what in found


# last words ------------------------------------------------------------------------------------

_END = """
import faulthandler
if sys.argv[2] == "with": faulthandler.enable()
library = open_library(sys.argv[1])
start(library)
optimizer.run("HOST_STATE", graph.to_bytes())
graph.add("HostState", "z", [x])
Session(graph).run("z:0", {"x:0": [1, 2]})
import time
time.sleep(1)
"""
_CRASH = "*(volatile int*)8=1"
_RECURSE = "volatile char deep[4096];deep[0]=1;change(deep[0]*WHEN)"


@pytest.mark.parametrize("handler", ["with", "without"])
@pytest.mark.parametrize(
    ("when", "changes", "said"),
    [
        ("kOpened", _CRASH, ("SIGSEGV while a constructor of plugin {path} ran; to go on without "
         "it: DRYSTONE_PLUGINS_DISABLE={name}")),
        ("kEntry", "abort()", "SIGABRT while TF_InitGraph of plugin {path} ran"),
        ("kEntry", "exit(3)", ("the process was ended by exit() while TF_InitGraph of plugin "
         "{path} ran")),
        ("kOptimize", "raise(SIGFPE)", "SIGFPE while optimize_func of plugin {path} ran"),
        ("kCreate", _CRASH, "SIGSEGV while create of node 'z' (op HostState) of plugin {path} ran"),
        ("kCompute", _CRASH, ("SIGSEGV while compute of node 'z' (op HostState) of plugin {path} "
         "ran")),
        ("kCompute", _RECURSE, ("SIGSEGV while compute of node 'z' (op HostState) of plugin {path} "
         "ran")),
    ],
)  # fmt: skip
def test_who_ended_the_process_is_named(
    compile_library: Compile, when: str, changes: str, said: str, handler: str
) -> None:
    flags = ('-DOP="HostState"', f"-DCHANGES=(void)change_all;{changes}", "-O0")
    library = _library(compile_library, when, *flags)
    done = _child(_END, library, handler)
    assert done.returncode != 0
    expected = "drystone: " + said.format(path=library, name=library.name)
    assert expected in done.stderr
    assert done.stderr.count("drystone: ") == 1
    is_fault = done.returncode < 0 and changes != "exit(3)"
    assert ("Fatal Python error" in done.stderr) == (handler == "with" and is_fault)
