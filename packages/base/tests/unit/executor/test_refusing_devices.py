"""Devices that refuse what a run asks of them: each error says which, what, why, and what helps."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from drystone_conformance.strict_device import StrictDevice

from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

pytestmark = pytest.mark.cases_in_gate(3)

# A process of its own for each, as a device that does not answer can leave work behind.
PROGRAM = """
import json, sys
sys.path[:0] = {path!r}
import numpy as np
import device_graphs
from device_graphs import Build
strict = device_graphs.loaded()
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
b = Build()
x = b.feed("x")
there = b.op("Neg", "there", x, device="/device:STRICT:1")
here = b.op("Exp", "here", x, device="/device:STRICT:0")
b.op("Mul", "y", b.op("Mul", "sum", there, here, device="/device:STRICT:0"), here)
session = Session(b.graph, SessionConfig(optimizer="off"))
feeds = {{"x:0": np.ones((2, 3), np.float32)}}
try:
    with session.record():
        session.run(["y:0"], feeds)
    print("null")
except DrystoneError as error:
    names = ("what", "check", "found", "needed", "remedy", "code", "status", "details")
    told = {{name: getattr(error, name) for name in names}}
    told["faults"] = strict.take_faults()
    print(json.dumps(told, default=dict))
sys.stdout.flush()
import os
os._exit(0)
"""
REFUSED = (
    "create_device", "create_stream_executor", "allocate", "create_stream", "memcpy_htod",
    "memcpy_dtoh", "create_event", "record_event", "wait_for_event", "create_stream_dependency",
    "get_stream_status", "block_host_until_done", "create_timer", "start_timer", "stop_timer",
    "block_host_until_done,synchronize_all_activity",
)  # fmt: skip
"""Functions that the run of the program calls, and those that would do instead."""


def run_where(function: str) -> subprocess.CompletedProcess[str]:
    here = Path(__file__).resolve()
    contract = here.parents[5] / "plugin-abi"
    path = [str(here.parents[2]), str(contract / "tests"), str(contract / "conformance" / "src")]
    env = os.environ | {"STRICT_REFUSE": function, "DRYSTONE_VISIBLE_DEVICES": "STRICT"}
    return subprocess.run(
        [sys.executable, "-c", PROGRAM.format(path=path)],
        env=env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def error_where(function: str) -> dict[str, Any] | None:
    done = run_where(function)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("function", REFUSED)
def test_an_error_of_a_device_says_all_of_it(strict_device: StrictDevice, function: str) -> None:
    error = error_where(function)
    assert error is not None
    device = error["details"]["drystone/device"]
    assert device in {"/device:STRICT:0", "/device:STRICT:1"}
    of = f"{device} of {error['details']['drystone/library']}"
    assert re.fullmatch(rf"{of} failed|node '\w+' \(\w+\) failed on {of}", error["what"])
    assert error["code"] == "device-failed"
    assert "device_count={'STRICT': 0}" in error["remedy"]
    assert error["found"].count(device) == 1
    assert error["faults"] == []  # such as memory freed under work that has not been done
    if function == "allocate":
        assert error["status"] == "RESOURCE_EXHAUSTED"
        assert "gave no memory for" in error["found"]
        assert error["needed"] == "memory that is free"
        assert error["remedy"].startswith("feed less at once")
    else:
        assert error["status"] == "INTERNAL"
        first = function.partition(",")[0]
        assert error["found"].startswith(f"{device} {first}: the device does not answer")
        assert error["needed"] == "success"
        assert "`drystone doctor`" in error["remedy"]


def test_what_is_not_refused_runs(strict_device: StrictDevice) -> None:
    assert error_where("nothing") is None


def test_devices_that_cannot_be_counted_are_left_out_with_a_word(
    strict_device: StrictDevice,
) -> None:
    done = run_where("get_device_count")
    assert done.stdout == "null\n", done.stderr
    assert done.stderr.count("PluginWarning: devices of type STRICT are not used: ") == 1
    assert "get_device_count: the device does not answer (" in done.stderr
    assert "; what asks for them runs on the CPU; SessionConfig(" in done.stderr
