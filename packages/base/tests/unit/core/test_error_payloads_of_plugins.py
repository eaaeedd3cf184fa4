"""Payloads of plugins: of optimizers, passes, devices, filesystems, kernels and shape functions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core import payloads as keys
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import DrystoneError, HostError, KernelError
from drystone_base.graph import Graph
from drystone_base.host import _lib, filesystem, optimizer, passes
from drystone_base.host.device import Device
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.plugins import load_library

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

Compile = Callable[..., Path]
FAILS = (
    'TF_SetStatus(status,TF_OUT_OF_RANGE,"rows must be sorted: row 17 is not"),'
    'TF_SetPayload(status,"acme/row","17"),'
    'TF_SetPayload(status,DS_PAYLOAD_CHECK,"rows must be sorted"),'
    'TF_SetPayload(status,DS_PAYLOAD_FOUND,"row 17 is smaller than row 16"),'
    'TF_SetPayload(status,DS_PAYLOAD_NEEDED,"rows in rising order")'
)


def expect(error: DrystoneError) -> None:
    """The plugin's own payload is a detail, and the parts of its message are fields."""
    assert error.status == "OUT_OF_RANGE"
    assert error.details["acme/row"] == "17"
    assert error.check == "rows must be sorted"
    assert error.found == "row 17 is smaller than row 16"
    assert error.needed == "rows in rising order"
    assert not {keys.CHECK, keys.FOUND, keys.NEEDED} & error.details.keys()


def opened(compile_library: Compile, source: str, *flags: str) -> HostLibrary:
    return open_library(compile_library(source, flags=flags))


def test_of_an_optimizer(compile_library: Compile) -> None:
    flags = ('-DDEVICE="PAYLOADS"', f"-DOPTIMIZE={FAILS}")
    library = opened(compile_library, "optimizer_variants.c", *flags)
    library.initialise("TF_InitGraph")
    with pytest.raises(HostError) as caught:
        optimizer.run("PAYLOADS", Graph().to_bytes(), [])
    expect(caught.value)
    assert caught.value.details[keys.LIBRARY] == library.path


def test_of_a_pass(compile_library: Compile) -> None:
    library = opened(
        compile_library, "passes_variants.c", '-DNAME="payloads"', f"-DANSWER=(void)call,{FAILS}"
    )
    library.initialise("DS_InitPasses")
    with pytest.raises(HostError) as caught:
        passes.run("payloads", [Graph().to_bytes()])
    expect(caught.value)
    assert caught.value.details[keys.LIBRARY] == library.path


@pytest.mark.parametrize("macro", ["AFTER_DEVICE", "COUNT"])
def test_of_a_device(compile_library: Compile, macro: str) -> None:
    name = f"PAYLOADS_{macro}"
    library = opened(compile_library, "device_variants.c", f'-DNAME="{name}"', f"-D{macro}={FAILS}")
    library.initialise("SE_InitPlugin")
    with pytest.raises(HostError) as caught:
        Device(name)
    expect(caught.value)


def test_of_an_entry_function(compile_library: Compile) -> None:
    library = opened(compile_library, "device_variants.c", '-DNAME="NONE"', f"-DAFTER_INIT={FAILS}")
    with pytest.raises(HostError) as caught:
        library.initialise("SE_InitPlugin")
    expect(caught.value)


def test_of_a_filesystem(compile_library: Compile) -> None:
    library = opened(compile_library, "payloads_of_all.c")
    library.initialise("TF_InitPlugin")
    with pytest.raises(HostError) as caught:
        filesystem.stat("failing://a")
    expect(caught.value)
    assert caught.value.details[keys.LIBRARY] == library.path


def failing_graph() -> Graph:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("Test>Failing", "y", [(x, 0)])
    return graph


@pytest.mark.parametrize("executor", ["native", "reference"])
def test_of_a_kernel(compile_library: Compile, executor: Any) -> None:
    library = compile_library("payloads_of_all.c")
    load_library(str(library), developer_mode=True)
    running = Session(failing_graph(), SessionConfig(executor=executor, optimizer="off"))
    with pytest.raises(KernelError) as caught:
        running.run("y:0", {"x:0": np.float32(1)})
    expect(caught.value)
    assert caught.value.details[keys.NODE] == "y"
    assert caught.value.details[keys.KERNEL] == "Failing"
    held = Path(caught.value.details[keys.LIBRARY])  # another build of it may have been first
    assert held.name.startswith("payloads_of_all")


def test_of_a_shape_function(compile_library: Compile) -> None:
    library = compile_library("payloads_of_all.c", flags=["-DIN_SHAPE"])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OF_A_SHAPE_FUNCTION, str(library)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), *sys.path])},
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert done.stdout == (
        "17 y rows must be sorted: row 17 is smaller than row 16; needed: rows in rising order\n"
    )


OF_A_SHAPE_FUNCTION = """
import sys
import test_error_payloads_of_plugins as t
from drystone_base.inference.inference import infer
t.load_library(sys.argv[1], developer_mode=True)
try:
    infer(t.failing_graph(), strict=True)
except t.DrystoneError as error:
    print(error.details["acme/row"], error.details[t.keys.NODE], error.found)
"""
"""In a process of its own: the op has the other shape function in this one."""
