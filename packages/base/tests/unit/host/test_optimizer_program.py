"""Optimizers under sanitizers: a program without Python runs good and bad plugins (S0-optimize)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import host_programs

_OLD = "params->configs->struct_size=88; params->configs->remapping=TF_TriState_Off"
_LATER = "memset((char*)params->configs + 92, 7, 28); params->configs->struct_size=120"
GOOD = {
    "SAME": "",
    "MORE": '-DOPTIMIZE=append_node(graph,"n","NoOp",optimized)',
    "ALIAS": "-DOPTIMIZE=*optimized=*graph",
    "STATE": "-DHAS_STATE",
    "OLD": f"-DAFTER_INIT={_OLD}",
    "LATER": f"-DAFTER_INIT={_LATER}",
    "EMPTY": "-DOPTIMIZE=(void)graph",
    "GARBAGE": '-DOPTIMIZE=put_bytes("\\xff\\xff",2,optimized)',
    "CUT": "-DOPTIMIZE=copy_graph(graph,optimized); optimized->length -= 3",
    "REPORT": '-DOPTIMIZE=report_item(item,"y",status)',
}
BAD = {
    "PAST": "-DAFTER_INIT=memset((char*)params->configs + 96, 1, 600)",
    "BEFORE": "-DAFTER_INIT=memset((char*)params - 16, 1, 16)",
    "FILLED": "-DAFTER_INIT=memset(params->configs, 0x5A, sizeof *params->configs)",
    "ZEROED": "-DAFTER_INIT=memset(params, 0, sizeof *params)",
    "NULLS": "-DAFTER_INIT=memset(params->optimizer, 0, sizeof *params->optimizer)",
}


def test_optimizers_under_sanitizers(compile_library: Callable[..., Path]) -> None:
    """Row B7."""
    arguments = []
    for name, flag in (GOOD | BAD).items():
        flags = [f'-DDEVICE="{name}"', *([flag] if flag else [])]
        library = compile_library("optimizer_variants.c", flags=flags)
        arguments += [str(library), name if name in GOOD else "-"]
    arguments += [str(compile_library("optimizer_throws.cc")), "THROWS"]
    arguments += [str(compile_library("optimizer_four.c")), "FOUR"]
    printed = host_programs.run("optimizer_test.cc", *arguments)
    assert printed.endswith("0 failures\n")
    for text in (
        "SAME: 0 \n",
        "MORE: 1 \n",
        "threw a C++ exception out of optimize_func: deliberate",
        "the plugin wrote outside the TP_OptimizerConfigs",
        "the plugin wrote outside the TP_OptimizerRegistrationParams",
        "TP_OptimizerConfigs.struct_size is 6510615555426900570, which no release can mean",
        "TP_OptimizerRegistrationParams.struct_size is 0; it must be set to",
        "TP_Optimizer.struct_size is 0; it must be set to",
        "FOUR: 0 the FOUR optimizer of ",
        '"configs":{"loop_optimization":"off"}',  # remapping, one member further in 88 bytes
    ):
        assert text in printed
