"""The zoo of bad devices: what their plugins answer is checked, and who crashes or hangs is named.

One process goes through all that does not end it: devices are many, and each case takes the next.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from compiling import PLUGINS

pytestmark = pytest.mark.cases_in_gate(3)

PROGRAM = """
import ctypes, json, signal, sys
import numpy as np
from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError
from drystone_base.host.device import Device, device_count, list_platforms
from drystone_base.plugins import load_library

signal.signal(signal.SIGINT, signal.default_int_handler)  # what starts us may have it ignored
plugin = load_library(sys.argv[1], policy="allow_unverified")
numbers, cases = json.loads(sys.argv[2]), json.loads(sys.argv[3])
settings = json.loads(sys.argv[4])
choose = ctypes.CFUNCTYPE(None, ctypes.c_int)(plugin.library.symbol("zoo_choose"))
alive = ctypes.CFUNCTYPE(ctypes.c_int)(plugin.library.symbol("zoo_alive"))
allocate = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p)


class Asks:
    def __init__(self, number):
        self.number = number

    def device(self, number=None):
        return Device("ZOO_DEVICE", self.number if number is None else number)

    def make(self):
        before = alive()
        try:
            self.device().describe()
        finally:
            assert alive() - before in (0, 2), "what was made is destroyed, or stays"
        return "made"

    def count(self):
        return device_count("ZOO_DEVICE")

    def listing(self):
        (found,) = [one for one in list_platforms() if one["type"] == "ZOO_DEVICE"]
        return found.get("error", found.get("device_count"))

    def block(self):
        with self.device(0).allocate(1000) as one, self.device(0).allocate(1000) as two:
            one.write(b"stone")
            one.copy_to(two, 5)
            return two.read(5).decode()

    def host(self):
        from drystone_base.host._lib import declare
        from drystone_base.host.status import Status

        give = declare("DS_AllocateHostMemory", ctypes.c_void_p, ctypes.c_void_p,
                       ctypes.c_uint64, ctypes.c_void_p)
        with Status("no host memory") as status:
            give(self.device(0).pointer, 99, status.pointer)
        return "given"

    def event(self):
        with self.device(0).event() as event:
            return event.state

    def stream(self):
        with self.device(0).stream() as stream:
            stream.block()
        return "blocked"

    def callback(self):
        from drystone_base.host._lib import declare
        from drystone_base.host.status import Status

        kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)
        call = declare("DS_StreamCall", None, ctypes.c_void_p, kind, ctypes.c_void_p,
                       ctypes.c_void_p)
        with self.device(0).stream() as stream, Status("no call") as status:
            call(stream.pointer, kind(lambda *_: None), None, status.pointer)
        return "called"

    def shutdown(self):
        from drystone_base.host._lib import declare

        declare("DS_ShutdownDevices", None)()

    def run(self):
        graph = Graph()
        x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (3,)})
        y = graph.add("Relu", "y", [x], attrs={"T": FLOAT32}, device="/device:ZOO_DEVICE:0")
        config = SessionConfig(optimizer="off", **settings)
        return Session(graph, config).run("y:0", {"x:0": np.float32([-1, 0, 2])}).tolist()


for number, (case, ask) in enumerate(cases):
    choose(numbers[case])
    print("asks", flush=True)
    try:
        answer = getattr(Asks(number + 1), ask)()
    except DrystoneError as error:
        answer = str(error)
    except KeyboardInterrupt as error:
        answer = "interrupted " + " ".join(getattr(error, "__notes__", ()))
    print(json.dumps(answer), flush=True)
    choose(0)
"""

LOST = "node 'x' (_Copy) failed"  # the first of whose work nothing is known
CASES: list[tuple[str, str, Any]] = [
    ("Good", "make", "made"),
    ("Good", "run", [0, 0, 2]),
    ("FnsFail", "make", "create_device_fns: no facts (FILE)"),
    ("ShortTable", "make", "SP_StreamExecutor lacks required members: destroy_event, "),
    ("FailsWithEscapes", "make", r"create_device: \x1b[2J\x1b]0;gone\x07 broken (FILE)"),
    ("NameNowhere", "make", "gave a text that has no end, or cannot be read (FILE)"),
    ("SpeedIsNone", "make", "get_gflops answers nan (FILE)"),
    ("UsageNegative", "make", "device_memory_usage answers -5 free bytes of 16777216 (FILE)"),
    ("UsageTooMuch", "make", "answers 16777217 free bytes of 16777216 (FILE)"),
    ("StatsNegative", "make", "get_allocator_stats answers -7 (FILE)"),
    ("StatsHuge", "make", "SP_AllocatorStats.struct_size is 18446744073709551615, which no"),
    ("CountShrinks", "make", "has 0 devices"),
    ("CountShrinks", "listing", 0),
    ("Good", "block", "stone"),
    ("BlockCrooked", "block", "stone"),  # an address means something to the device alone
    ("BlockTooSmall", "block", "allocate answered 1 bytes where 1000 were asked for (FILE)"),
    ("BlockTwice", "block", "answered a block that it had given before, and that is in use (FILE)"),
    ("BlockWritesPast", "block", "the plugin wrote outside the SP_DeviceMemoryBase it was given"),
    ("BlockNone", "block", "gave no memory for 1000 bytes"),
    ("HostNowhere", "host", "answered memory that cannot be read over the 99 bytes (FILE)"),
    ("HostNone", "host", "gave no host memory for 99 bytes"),
    ("EventInNoState", "event", "unknown"),
    ("EventNone", "event", "create_event: no event is left (FILE)"),
    ("StreamNone", "stream", "create_stream: no stream is left (FILE)"),
    ("StreamLost", "stream", "block_host_until_done: the stream is lost (FILE)"),
    ("CallbackRefused", "callback", "host_callback could not enqueue the call"),
    ("StreamLost", "run", "the stream is lost (FILE)"),
    ("EventsPend", "run", LOST),
    ("BlockTooSmall", "run", "bytes where 256 were asked for (FILE)"),
    ("CopyInFails", "run", "memcpy_htod: the bus is down (FILE)"),
    ("CopyOutFails", "run", "memcpy_dtoh: the bus is down (FILE)"),
    ("Good", "run", [0, 0, 2]),
]  # fmt: skip


def numbers() -> dict[str, int]:
    """What zoo_choose takes, by name."""
    text = (PLUGINS / "hostile_devices.c").read_text(encoding="utf-8")
    found = re.search(r"enum \{(.*?)\};", text, re.DOTALL)
    assert found
    return {name: k for k, name in enumerate(re.findall(r"k(\w+)", found[1]))}


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(compile_library: Callable[..., Path], tmp_path: Path) -> Start:
    """Begin a process that goes through cases."""

    def start(*cases: tuple[str, str], **settings: Any) -> subprocess.Popen[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
        kept |= {"XDG_CACHE_HOME": str(tmp_path), "DRYSTONE_PLUGIN_PROBE_SECONDS": "0"}
        kept.pop("DRYSTONE_VISIBLE_DEVICES", None)
        words = [json.dumps(word) for word in (numbers(), cases, settings)]
        library = str(compile_library("hostile_devices.c"))
        return subprocess.Popen(
            [sys.executable, "-c", PROGRAM, library, *words],
            stdout=-1, stderr=-1, text=True, env=kept, start_new_session=True,
        )  # fmt: skip

    return start


def test_what_devices_answer_is_checked(start: Start) -> None:
    with start(*(case[:2] for case in CASES)) as child:
        output, errors = child.communicate(timeout=100)
    assert child.returncode == 0, output + errors
    answers = [json.loads(line) for line in output.splitlines() if line != "asks"]
    for (case, ask, want), answer in zip(CASES, answers, strict=True):
        if isinstance(want, str):
            found = re.sub(r"/\S*hostile_devices\S*\.so", "FILE", str(answer))
            assert want in found, (case, ask, answer)
        else:
            assert answer == want, (case, ask)


CRASHES = [
    ("CountCrashes", "count", "SIGSEGV while ZOO_DEVICE get_device_count of plugin"),
    ("BlockCrashes", "block", "SIGSEGV while /device:ZOO_DEVICE:0 allocate of plugin"),
    ("WaitCrashes", "run", "SIGSEGV while /device:ZOO_DEVICE:0 block_host_until_done of plugin"),
    ("TableEmptied", "run", "SIGSEGV while /device:ZOO_DEVICE:0 memcpy_htod of plugin"),
    ("DestroyCrashes", "shutdown", "SIGSEGV while /device:ZOO_DEVICE:0 destroy_device of plugin"),
]


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "ask", "words"), CRASHES)
def test_last_words_name_the_call(start: Start, case: str, ask: str, words: str) -> None:
    with start(("Good", "run"), (case, ask)) as child:
        _, errors = child.communicate(timeout=100)
    assert child.returncode == -signal.SIGSEGV
    assert f"drystone: {words}" in errors
    assert "hostile_devices" in errors


@pytest.mark.nightly
@pytest.mark.parametrize(("case", "ask"), [("CountHangs", "count"), ("WaitHangs", "run")])
def test_ctrl_c_ends_the_wait_for_a_device(start: Start, case: str, ask: str) -> None:
    """And the process, which may end while the plugin still hangs."""
    with start(("Good", "run"), (case, ask)) as child:
        assert child.stdout is not None
        while child.stdout.readline() != "asks\n":
            continue
        assert json.loads(child.stdout.readline()) == [0, 0, 2]
        assert child.stdout.readline() == "asks\n"
        time.sleep(2)
        begin = time.monotonic()
        child.send_signal(signal.SIGINT)
        output, errors = child.communicate(timeout=60)
    assert child.returncode == 0, output + errors
    assert json.loads(output).startswith("interrupted")
    assert time.monotonic() - begin < 30


@pytest.mark.nightly
def test_a_deadline_ends_the_wait_for_a_device(start: Start) -> None:
    with start(("Good", "run"), ("WaitHangs", "run"), deadline=3.0) as child:
        output, errors = child.communicate(timeout=80)
    assert child.returncode == 0, output + errors
    assert "deadline-exceeded" in output.splitlines()[-1]
