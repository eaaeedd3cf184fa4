"""Devices under sanitizers: a program without Python uses the fake device and changed ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import host_programs

EXAMPLE = Path(__file__).resolve().parents[5] / "plugin-abi" / "examples" / "device_c"
VARIANTS = {
    "OLD": "-DAFTER_EXECUTOR=layout_of_264_bytes(executor)",
    "NEW": "-DAFTER_EXECUTOR=layout_of_bytes(executor, 288, 512)",
    "SHORT": "-DAFTER_EXECUTOR=executor->struct_size=8",
    "PAST": "-DAFTER_EXECUTOR=memset(executor + 1, 1, 300)",
    "GONE": "-DAFTER_DEVICE=destroy_device(platform, device);"
    'TF_SetStatus(status,TF_INTERNAL,"gone")',
    "NULLS": "-DAFTER_INIT=memset(params->platform_fns, 0, sizeof *params->platform_fns)",
    "FILLED": "-DAFTER_INIT=memset(params->platform, 0x5A, sizeof *params->platform)",
}


def test_devices_under_sanitizers(compile_library: Callable[..., Path]) -> None:
    example = compile_library(EXAMPLE / "fake_device.c", EXAMPLE / "fake_profiler.c")
    arguments = [str(example)]
    for name, flag in VARIANTS.items():
        flags = [f'-DNAME="{name}"', flag]
        arguments += [str(compile_library("device_variants.c", flags=flags)), name]
    printed = host_programs.run("device_test.cc", *arguments)
    assert printed.endswith("0 failures\n")
    for text in (
        "SP_StreamExecutor.struct_size is 8; it must be set to SP_STREAMEXECUTOR_STRUCT_SIZE",
        "the plugin wrote outside the SP_StreamExecutor it was given",
        "create_device: gone",
        "SP_PlatformFns.struct_size is 0",
        "SP_Platform.struct_size is 6510615555426900570, which no release can mean",
    ):
        assert text in printed
