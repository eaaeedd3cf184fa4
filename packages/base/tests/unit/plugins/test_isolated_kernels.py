"""Kernels in a process of their plugin's: values, failures, crashes, hangs, and who gets one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from plugin_files import Compile, own_settings

from drystone_base.cli import _plugins, doctor
from drystone_base.core.dtypes import (
    BFLOAT16,
    FLOAT32,
    INT64,
    RESOURCE,
    STRING,
    VARIANT,
    from_number,
)
from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins import _points
from drystone_base.plugins._manager import Manager
from drystone_base.plugins._record import Plugin, passed
from drystone_base.plugins._report import describe
from drystone_base.plugins.isolation_channel import BadMessage
from drystone_base.plugins.isolation_tensors import crosses, packed, unpacked

pytestmark = [pytest.mark.cases_in_gate(3), pytest.mark.tests_in_gate(2)]

_START = """
import json, os, sys, time, warnings
from pathlib import Path
from drystone_base import Graph, Session
from drystone_base.core import dtypes
from drystone_base.core.errors import DrystoneError
from drystone_base.plugins import load_library
from drystone_base.api.session import SessionConfig

warnings.simplefilter("ignore")
file, executor = sys.argv[1:3]
plugin = load_library(file, policy="allow_unverified")
answer = {"isolated": plugin.is_isolated, "opened": file in Path("/proc/self/maps").read_text()}

def told(function):
    try:
        return function()
    except DrystoneError as error:
        return {"code": error.code, "status": error.status, "text": str(error)}

def run(op, *values, **attrs):
    graph = Graph()
    inputs = [
        graph.add("Placeholder", f"x{k}", attrs={"dtype": dtype, "shape": None})
        for k, (_, dtype) in enumerate(values)
    ]
    graph.add(op, "z", inputs, attrs=attrs)
    feeds = {f"x{k}:0": value for k, (value, _) in enumerate(values)}
    return Session(graph, config=SessionConfig(executor=executor)).run("z:0", feeds).tolist()
"""


@pytest.fixture
def child(tmp_path: Path) -> Any:
    """``child(program, library, executor="native", **settings)``: what a program answers."""

    def run(program: str, library: Path, executor: str = "native", **settings: str) -> Any:
        env = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        env |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_ISOLATION": "unsigned"}
        done = subprocess.run(
            [sys.executable, "-c", _START + program, str(library), executor],
            capture_output=True,
            text=True,
            timeout=120,
            env=env | settings,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return json.loads(done.stdout)

    return run


def _library(compile_library: Compile, changes: str, when: str = "kCompute") -> Path:
    flags = ['-DDEVICE="ISOLATED_KERNEL"', '-DOP="HostState"', f"-DWHEN={when}"]
    return compile_library("host_state.c", flags=[*flags, f"-DCHANGES=(void)change_all;{changes}"])


_TWICE = """
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": (2,)})
graph.add("HostState", "z", [x])
session = Session(graph, config=SessionConfig(executor=executor))
answer["runs"] = []
for _ in range(5):
    answer["runs"].append(told(lambda: session.run("z:0", {"x:0": [1, 2]}).tolist()))
graph.add("Neg", "n", [x], attrs={"T": dtypes.FLOAT32})
answer["after"] = Session(graph).run("n:0", {"x:0": [1, 2]}).tolist()
print(json.dumps(answer))
"""


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_crash_is_an_error_and_the_session_goes_on(
    child: Any, compile_library: Compile, executor: str
) -> None:
    """The next run has a new process; after three crashes the plugin is asked no more."""
    crashing = "static int n; if (++n == 2) *(volatile int*)8 = 1"
    library = _library(compile_library, crashing)
    answer = child(_TWICE, library, executor)
    assert (answer["isolated"], answer["opened"]) == (True, False)
    runs = answer["runs"]
    assert [run == [1, 2] for run in runs] == [True, False, True, False, True]
    assert answer["after"] == [-1, -2]
    assert (runs[1]["code"], runs[1]["status"]) == ("isolated-plugin-crashed", "ABORTED")
    text = runs[1]["text"]
    assert text.startswith(
        f"node 'z' (HostState) failed in isolated kernel 'HostState' of {library} [isolated-plugin"
    )
    for part in (
        "check: an isolated plugin must answer and live on",
        "in its own process while compute of node 'z' (op HostState) ran: ended by SIGSEGV",
        f"drystone: SIGSEGV while compute of node 'z' (op HostState) of plugin {library} ran",
        "needed: an answer",
        "remedy: disable it meanwhile (DRYSTONE_PLUGINS_DISABLE=",
    ):
        assert part in text


def test_who_crashes_again_and_again_is_asked_no_more(child: Any, compile_library: Compile) -> None:
    marks = 'FILE* f = fopen(getenv("MARKS"), "a"); fputs("x", f); fclose(f); abort()'
    library = _library(compile_library, marks)
    mark = library.with_suffix(".marks")
    mark.write_text("", encoding="ascii")
    answer = child(_TWICE, library, MARKS=str(mark))
    assert [run["code"] for run in answer["runs"]] == ["isolated-plugin-crashed"] * 5
    assert mark.read_text(encoding="ascii") == "xxx"
    assert answer["after"] == [-1, -2]


_BOUNDED = """
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": (2,)})
graph.add("HostState", "z", [x])
def once(deadline):
    session = Session(graph, config=SessionConfig(executor=executor, deadline=deadline))
    return session.run("z:0", {"x:0": [1, 2]}).tolist()

from functools import partial
from drystone_base.plugins import isolation_kernels
isolation_kernels.Limits = partial(isolation_kernels.Limits, memory=256 << 20)
mark = Path(os.environ["MARK"])
while not mark.exists():  # on a busy machine the time may be over before the kernel is called
    begin = time.monotonic()
    answer["run"] = told(lambda: once(10))
    answer["seconds"] = time.monotonic() - begin
answer["again"] = told(lambda: once(None))
print(json.dumps(answer))
"""
_ONCE = 'if (access(getenv("MARK"), F_OK) != 0) { fclose(fopen(getenv("MARK"), "w")); %s; }'


@pytest.mark.parametrize(
    ("changes", "code", "found"),
    [
        ("for (;;) pause()", "deadline-exceeded", "z"),
        (
            "for (;;) memset(malloc(1 << 20), 1, 1 << 20)",
            "isolated-plugin-memory|isolated-plugin-crashed",
            "HostState",
        ),
        ("exit(0)", "isolated-plugin-crashed", "exit status 0"),
        (
            'for (int fd = 3; fd < 99; ++fd) { if (write(fd, "garbage garbage garb", 20)) {} }',
            "isolated-plugin-reply|isolated-plugin-crashed",
            "in its own process while compute of node 'z'",
        ),
    ],
)
def test_what_a_kernel_does_is_bounded(
    child: Any, compile_library: Compile, tmp_path: Path, changes: str, code: str, found: str
) -> None:
    library = _library(compile_library, _ONCE % changes)
    answer = child(_BOUNDED, library, MARK=str(tmp_path / "mark"))
    assert answer["run"]["code"] in code.split("|")
    assert found in answer["run"]["text"]
    assert answer["seconds"] < 60
    assert answer["again"] == [1, 2], answer


_LONG = """
from functools import partial
from drystone_base.plugins import isolation_kernels
isolation_kernels.Limits = partial(isolation_kernels.Limits, deadline=2.0)
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": (2,)})
graph.add("HostState", "z", [x])
for deadline in (60, None):
    session = Session(graph, config=SessionConfig(executor=executor, deadline=deadline))
    answer[str(deadline)] = told(lambda: session.run("z:0", {"x:0": [1, 2]}).tolist())
print(json.dumps(answer))
"""


def test_a_deadline_of_the_run_is_that_of_its_kernels(child: Any, compile_library: Compile) -> None:
    """Without one, a call has the time that isolated plugins have."""
    answer = child(_LONG, _library(compile_library, "sleep(4)"))
    assert answer["60"] == [1, 2]
    assert answer["None"]["code"] == "isolated-plugin-deadline"
    assert "no answer within 2 s" in answer["None"]["text"]


_STOPPED = """
import signal, threading
from drystone_base.state.cancellation import Cancellation
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": (2,)})
graph.add("HostState", "z", [x])
session = Session(graph, config=SessionConfig(executor=executor))
cancellation, mark = Cancellation(), Path(os.environ["MARK"])

def stop(how):
    while not mark.exists():
        time.sleep(0.05)
    how()

def stopped(how):
    mark.unlink(missing_ok=True)
    threading.Thread(target=stop, args=(how,), daemon=True).start()
    begin = time.monotonic()
    try:
        session.run("z:0", {"x:0": [1, 2]}, cancellation=cancellation)
    except (KeyboardInterrupt, DrystoneError) as error:
        return [type(error).__name__, getattr(error, "code", ""), time.monotonic() - begin]

answer["ctrl-c"] = stopped(lambda: os.kill(os.getpid(), signal.SIGINT))
answer["cancelled"] = stopped(cancellation.cancel)
cancellation = None
answer["after"] = session.run("z:0", {"x:0": [1, 2]}).tolist()
print(json.dumps(answer))
"""


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_kernel_that_hangs_is_stopped(
    child: Any, compile_library: Compile, tmp_path: Path, executor: str
) -> None:
    """Whoever stops a run has not found a failure: the plugin is asked again."""
    library = _library(compile_library, _ONCE % "for (;;) pause()")
    answer = child(_STOPPED, library, executor, MARK=str(tmp_path / "mark"))
    name, _, seconds = answer["ctrl-c"]
    assert (name, seconds < 30) == ("KeyboardInterrupt", True)
    name, code, seconds = answer["cancelled"]
    assert (name, code, seconds < 30) == ("KernelError", "run-cancelled", True)
    assert answer["after"] == [1, 2]


_VALUES = """
F, S = dtypes.FLOAT32, dtypes.STRING
answer["scaled"] = run("TestScale", ([1.5, 2], F), T=F, factor=3.0)
answer["none"] = run("TestScale", ([[], []], F), T=F)
answer["total"] = run("TestTotal", ([1, 2], F), ([3, 4], F), N=2)
answer["later"] = run("TestLater", ([5], F), seconds=0.01)
answer["words"] = told(lambda: run("TestScale", ([-1.5, 2], F), T=F))
answer["refused"] = told(lambda: run("TestScale", ([1.5, 2], F), T=F, factor=-1.0))
answer["silent"] = told(lambda: run("TestSilent", ([1.5, 2], F)))
graph = Graph()
graph.add("VarHandleOp", "v", attrs={"dtype": F, "shape": ()})
value = graph.add("Placeholder", "c", attrs={"dtype": F, "shape": ()})
graph.add("TestBump", "z", [graph["v"], value])
answer["resource"] = told(lambda: Session(graph).run("z", {"c:0": 1}))
print(json.dumps(answer))
"""


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_values_and_failures_cross(child: Any, compile_library: Compile, executor: str) -> None:
    library = compile_library("session_kernels.c", flags=["-pthread"])
    answer = child(_VALUES, library, executor)
    assert answer["scaled"] == [4.5, 6]
    assert answer["none"] == [[], []]
    assert answer["total"] == [4, 6]
    assert answer["later"] == [6]
    assert (answer["words"]["code"], answer["words"]["status"]) == (
        "plugin-kernel-failed",
        "OUT_OF_RANGE",
    )
    assert f"node 'z' (TestScale) failed in kernel 'Scale' of {library}" in answer["words"]["text"]
    assert "x must not begin with a negative number" in answer["words"]["text"]
    assert "cannot be made by kernel 'Scale'" in answer["refused"]["text"]
    assert "factor must not be negative" in answer["refused"]["text"]
    assert "without setting output 0" in answer["silent"]["text"]
    assert answer["resource"]["code"] == "op-not-implemented"
    assert "it is isolated, and resource means nothing in its process" in answer["resource"]["text"]


_DETAILS = """
from drystone_base.core.payloads import json_ready
graph = Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": dtypes.FLOAT32, "shape": None})
graph.add("Test>Payloads", "z", [x])
session = Session(graph, config=SessionConfig(executor=executor))
try:
    session.run("z:0", {"x:0": 1.0})
except DrystoneError as error:
    answer |= {"code": error.code, "details": json_ready(error.details), "text": str(error)}
print(json.dumps(answer))
"""


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_payloads_cross_processes(child: Any, compile_library: Compile, executor: str) -> None:
    answer = child(_DETAILS, compile_library("kernels_payloads.c"), executor)
    assert answer["isolated"]
    assert answer["code"] == "plugin-kernel-failed"
    details = answer["details"]
    assert details["acme/row"] == "17"
    assert details["acme/raw"] == {"base64": "//4="}
    assert details["acme/shown"] == "a\x1b[31mb\nc"
    assert (details["drystone/node"], details["drystone/op"]) == ("z", "Test>Payloads")
    assert details["drystone/kernel"] == "Payloads"
    assert "  detail: acme/row = 17" in answer["text"]


# who is isolated --------------------------------------------------------------------------------


def test_what_offers_nothing_that_can_be_isolated_is_refused(
    compile_library: Compile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own_settings(monkeypatch, tmp_path)
    file = compile_library("passes_variants.c")
    with pytest.raises(PluginError) as caught:
        Manager().load(file, policy="allow_unverified", isolation="unsigned")
    assert caught.value.code == "plugin-not-isolated"
    assert caught.value.found == "it offers nothing but graph-passes"
    assert "DRYSTONE_PLUGIN_ISOLATION=none" in caught.value.remedy


def test_plugins_in_python_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = Plugin("pythonic", "", "a test", package="pythonic")
    point: Any = pytest.fail  # it is not even imported
    for isolation in ("unsigned", "process"):
        settings = Settings(isolation=isolation)
        result = _points.load_point(plugin, point, settings, lambda *_: [])
        assert result.reason == "plugin-not-isolated"
        assert result.text == "it offers nothing but Python code"


def test_an_isolated_plugin_is_said_to_be_one() -> None:
    record = Plugin("apart", "libapart.so", "a test", state="loaded", isolation="process")
    record.reason, record.registered = "", {"kernels": ["One", "Two"]}
    here = (*_plugins.row(record), *describe(record))
    record.take(passed("open", isolated=True))
    assert "isolated" not in " ".join(here)
    assert _plugins.row(record)[3] == "2 kernels, isolated"
    assert describe(record)[0] == "  apart: loaded, isolated"
    found = {"name": "apart", "state": "loaded", "isolated": True, "reason": ""}
    rows = doctor._plugin_rows(
        {
            "plugins": [found],
            "host_library": "",
            "policy": "default",
            "developer_mode": False,
            "disabled": [],
            "devices": [],
        }
    )
    assert rows[-1] == ("installed", "apart: loaded, isolated")


# tensors as messages ----------------------------------------------------------------------------


@pytest.mark.parametrize("number", [n for n in range(1, 33) if crosses(from_number(n))])
def test_tensors_cross(number: int) -> None:
    dtype = from_number(number)
    for shape in ((), (0, 3), (2, 1, 2)):
        values = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2
        array = np.array(values, dtype.np if dtype is not STRING else object)
        if dtype is STRING:
            array = np.array([b"", b"\0a\0", "é".encode(), b"x" * 999][: array.size], object)
            array = array.reshape(shape)
        rows, data = packed([array, array], [dtype, dtype])
        for found in unpacked(json.loads(json.dumps(rows)), data):
            assert (found.dtype, found.shape) == (array.dtype, array.shape)
            assert found.tolist() == array.tolist()


def test_handles_do_not_cross() -> None:
    assert not any(map(crosses, (RESOURCE, VARIANT, from_number(101), from_number(107))))
    assert crosses(BFLOAT16)


@pytest.mark.parametrize(
    ("rows", "data"),
    [
        (None, b""),
        ([[1, [2], 8]], b"1234567"),
        ([[1, [2], 8]], b"123456789"),
        ([[1, [-1], 4]], b"1234"),
        ([[1, [1 << 61, 1 << 61], 0]], b""),
        ([[1, [True], 4]], b"1234"),
        ([[1, [0] * 255, 0]], b""),
        ([[99, [], 4]], b"1234"),
        ([[20, [], 0]], b""),
        ([["1", [], 4]], b"1234"),
        ([[7, [1], 8]], b"\xff" * 8),
        ([[7, [2], 17]], b"\1" + b"\0" * 7 + b"\xff" * 8 + b"a"),
        ([[7, [1], 4]], b"1234"),
        ([[1, [], 4], 7], b"1234"),
    ],
)
def test_what_is_no_tensor_is_found_out(rows: Any, data: bytes) -> None:
    with pytest.raises(BadMessage):
        unpacked(rows, data)


def test_numbers_of_the_dtypes_that_are_due() -> None:
    rows, data = packed([np.ones(2), [3]], [FLOAT32, INT64])
    assert [row[0] for row in rows] == [1, 9]
    assert len(data) == 16
