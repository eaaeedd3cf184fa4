"""What a kernel of a plugin costs beside a reference kernel, and what its presence costs others."""

from __future__ import annotations

import gc
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import drystone_abi
from bench.alone._measure import interleaved, timed
from bench.alone._report import Column, Report, number, span, text
from drystone_base import host
from drystone_base.api.session import Session
from drystone_base.core.dtypes import FLOAT32, DType
from drystone_base.graph import Graph

__all__ = ["run"]

LENGTH = 100
"""Nodes in a chain: what the session itself takes is spread over them."""

SOURCE = r"""
#include "drystone/kernels.h"
#include "drystone/ops.h"

static void compute(void* state, TF_OpKernelContext* ctx) {
  TF_Tensor* x = NULL;
  (void)state;
  TF_GetInput(ctx, 0, &x, NULL);
  TF_SetOutput(ctx, 0, x, NULL);
  TF_DeleteTensor(x);
}

TF_CAPI_EXPORT void TF_InitKernel(void) {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder("BenchPass");
  TF_OpDefinitionBuilderAddAttr(op, "T: type");
  TF_OpDefinitionBuilderAddInput(op, "input: T");
  TF_OpDefinitionBuilderAddOutput(op, "output: T");
  TF_RegisterOpDefinition(op, NULL);
  TF_RegisterKernelBuilder("Pass", TF_NewKernelBuilder("BenchPass", "CPU", NULL, compute, NULL),
                           NULL);
}
"""


def run(quick: bool) -> Report:
    """Seconds of one node in a chain, by who runs it and what crosses; and of lowering one."""
    report = Report("plugin_kernels", "Kernels of plugins, per node in a chain", COLUMNS)
    if not host.available():
        report.notes.append(f"not measured: there is no host library at {host.path()}")
        return report
    lowered_before = _lowering(quick)
    try:
        _load()
    except (OSError, subprocess.CalledProcessError) as error:
        report.notes.append(f"not measured: no C compiler made the plugin: {error}")
        return report
    calls = _calls()
    gc.collect()
    timings = interleaved(calls, seconds=0.1 if quick else 2.0, most=200)
    report.rows = [
        {"what": name, "median_s": t.median / LENGTH, "least_s": t.least / LENGTH,
         "runs": len(t.seconds)}
        for name, t in timings.items()
    ]  # fmt: skip
    for name, seconds in (("without", lowered_before), ("with", _lowering(quick))):
        report.rows.append({"what": f"lowering one node, {name} plugins", "median_s": seconds})
    report.notes.append("the plugin's kernel hands its input on: all of its time is overhead")
    return report


COLUMNS = [
    Column("what", "kernel", text), Column("median_s", "median", span),
    Column("least_s", "least", span), Column("runs", "runs", number),
]  # fmt: skip


def _load() -> None:
    """Compile the plugin above and register it."""
    from drystone_base.host.library import open_library
    from drystone_base.inference.plugin_ops import sync

    folder = Path(tempfile.mkdtemp(prefix="drystone-bench-"))
    (folder / "pass.c").write_text(SOURCE, encoding="utf-8")
    include = f"-I{drystone_abi.get_include()}"
    command = ["cc", "-O2", "-shared", "-fPIC", include, "pass.c", "-o", "pass.so"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    open_library(folder / "pass.so").initialise("TF_InitKernel")
    sync()


def _calls() -> dict[str, Callable[[], Any]]:
    from drystone_base.core.dtypes import STRING
    from drystone_base.host.tensors import empty_aligned

    aligned = empty_aligned((4,), np.float32)
    aligned[:] = 1
    large = empty_aligned((1 << 18,), np.float32)
    large[:] = 1
    words = np.array([b"some text that is longer than it looks"] * 16, object)
    chains: dict[str, tuple[str, np.ndarray[Any, Any], DType]] = {
        "reference, Identity of 4 floats": ("Identity", aligned, FLOAT32),
        "plugin, 4 floats": ("BenchPass", aligned, FLOAT32),
        "plugin, 4 floats, first one copied": ("BenchPass", np.ones(5, np.float32)[1:], FLOAT32),
        "plugin, 1 MB of floats": ("BenchPass", large, FLOAT32),
        "plugin, 16 strings": ("BenchPass", words, STRING),
    }
    return {name: _chain(*facts) for name, facts in chains.items()}


def _graph(op: str, dtype: DType, length: int) -> Graph:
    graph = Graph()
    last = graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": None})
    for k in range(length):
        last = graph.add(op, f"y{k}", [last], attrs={"T": dtype})
    return graph


def _chain(op: str, value: np.ndarray[Any, Any], dtype: DType) -> Callable[[], Any]:
    session = Session(_graph(op, dtype, LENGTH))
    call = session.make_callable(f"y{LENGTH - 1}:0", ["x:0"])
    assert np.array_equal(call(value), value)
    return lambda: call(value)


def _lowering(quick: bool) -> float:
    """Seconds per node of preparing a chain of standard ops; the least of several."""
    graph = _graph("Identity", FLOAT32, 1000)
    prepared = [
        timed(lambda: Session(graph).make_callable("y999:0", ["x:0"]))[0]
        for _ in range(3 if quick else 15)
    ]
    return min(prepared) / 1000
