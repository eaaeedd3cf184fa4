"""Profilers of plugins: they run while a session records, and never harm the record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drystone_abi.protos import XSpace
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

EXAMPLE = Path(__file__).resolve().parents[5] / "plugin-abi" / "examples" / "device_c"
Compile = Callable[..., Path]

# A process of its own, because nothing takes a profiler back.
PROGRAM = """
import json, sys, warnings
import numpy as np
import drystone_base as ds
from drystone_base.host.library import open_library
from drystone_base.host.profiler import list_profilers

for path in sys.argv[2:]:
    open_library(path).initialise("TF_InitProfiler")
graph = ds.Graph()
x = graph.add("Placeholder", "x", attrs={"dtype": ds.as_dtype("float32")})
graph.add("Relu", "y", [x], attrs={"T": ds.as_dtype("float32")})
session, other = ds.Session(graph), ds.Session(graph)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with session.record() as record, other.record() as second:
        session.run("y:0", {"x:0": np.ones(3, np.float32)})
        while_it_ran = {one["type"]: one["running"] for one in list_profilers()}
print(json.dumps({
    "devices": {kind: [p.name for p in space.planes] for kind, space in record.devices.items()},
    "second": list(second.devices),
    "ran": while_it_ran,
    "runs": len(record.runs),
    "running": [one["type"] for one in list_profilers() if one["running"]],
    "warnings": [[type(one.message).__name__, str(one.message), one.filename] for one in told],
    "profile": str(record.write_profile(sys.argv[1])),
}))
"""


def recorded(folder: Path, *libraries: Path) -> dict[str, Any]:
    settings = os.environ | {"DRYSTONE_PLUGINS_DISABLE": "cpu"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, folder, *libraries],
        capture_output=True, text=True, env=settings, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def variant(compile_library: Compile, kind: str, **macros: str) -> Path:
    given = {"TYPE": f'"{kind}"'} | macros
    flags = [f"-D{macro}={text}" for macro, text in given.items()]
    return compile_library("profiler_variants.c", flags=flags)


def test_a_record_has_the_profile_of_each_device(compile_library: Compile, tmp_path: Path) -> None:
    fake = compile_library(
        EXAMPLE / "fake_device.c", EXAMPLE / "fake_profiler.c", flags=["-DPROFILE"]
    )
    silent = variant(compile_library, "SILENT")
    found = recorded(tmp_path, fake, silent)
    assert found["devices"] == {"FAKE": ["/device:FAKE"]}, "SILENT has nothing to tell"
    assert found["ran"] == {"FAKE": True, "SILENT": True}
    assert found["second"] == found["running"] == found["warnings"] == []
    space = XSpace.FromString(Path(found["profile"]).read_bytes())
    assert [plane.name for plane in space.planes] == ["/host:CPU", "/device:FAKE"]
    host, device = (plane.lines[0] for plane in space.planes)
    assert abs(host.timestamp_ns - device.timestamp_ns) < 100e9, "both count from 1970"


def test_profilers_that_fail_are_named_and_left_out(
    compile_library: Compile, tmp_path: Path
) -> None:
    cannot = 'TF_SetStatus(status, TF_PERMISSION_DENIED, "no counters for this user")'
    libraries = [
        variant(compile_library, "STARTS", START=cannot),
        variant(compile_library, "STOPS", STOP=cannot),
        variant(compile_library, "COLLECTS", ASKED="(size_t)-1"),
        variant(compile_library, "LONG", ASKED="4", WRITTEN="8"),
        variant(compile_library, "RUBBISH", ASKED="3", WRITTEN="3"),
    ]
    found = recorded(tmp_path, *libraries)
    assert found["devices"] == {}
    assert found["runs"] == 1
    told = {text.partition(" of type ")[2].partition(":")[0]: text
            for kind, text, file in found["warnings"]
            if kind == "PluginWarning" and file == "<string>"}  # fmt: skip
    expected = {
        "STARTS": "no counters for this user",
        "STOPS": "no counters for this user",
        "COLLECTS": "asks for 18446744073709551615",
        "LONG": "collect_data_xspace wrote past the 4 bytes",
        "RUBBISH": "no XSpace proto",
    }
    for (kind, text), library in zip(expected.items(), libraries, strict=True):
        assert f"the profiler of {library} failed: " in told[kind]
        assert text in told[kind]
    space = XSpace.FromString(Path(found["profile"]).read_bytes())
    assert [plane.name for plane in space.planes] == ["/host:CPU"]
