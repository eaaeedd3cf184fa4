"""TVM in graphs: a call of a compiled function beside a kernel, a fused chain, a product."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

import drystone_base as ds
from bench.alone._compiled_products import runtime_call
from bench.alone._measure import interleaved
from bench.alone._report import Column, Report, number, span, text
from drystone_base.tracing import operations as ops

__all__ = ["run"]

_SOURCE: Final = Path(__file__).resolve().parents[2] / "packages" / "tvm" / "examples" / "addone.c"
_NODES: Final = 500
_ROWS, _COLUMNS = 256, 1024
_DEEP = 256
Array = np.ndarray[Any, Any]


def run(quick: bool) -> Report:
    """Seconds of a node in a chain of them, and of a chain of steps on elements as one region."""
    columns = [
        Column("what", "what", text), Column("least_s", "least", span),
        Column("median_s", "median", span), Column("elements", "elements", number),
    ]  # fmt: skip
    report = Report("tvm", "TVM in graphs", columns)
    if find_spec("drystone_tvm") is None:
        report.notes.append("not measured: drystone-tvm is not installed")
        return report
    with tempfile.TemporaryDirectory(prefix="drystone-bench-") as name:
        _calls(report, Path(name), 1.0 if quick else 5.0)
        if find_spec("tvm") is None:
            report.notes.append("chain and product: not measured, apache-tvm is not installed")
        else:
            _chain(report, Path(name), 1.0 if quick else 5.0)
            _product(report, Path(name), 1.0 if quick else 5.0)
    return report


def _calls(report: Report, folder: Path, seconds: float) -> None:
    library = folder / "addone.so"
    command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([*command, str(_SOURCE)], check=True)
    x = np.zeros(1, np.float32)
    made = {name: _session(name, library) for name in ("AddV2", "TvmRuntime")}
    found = interleaved(
        {name: lambda call=call: call(x) for name, call in made.items()},  # type: ignore[misc]
        seconds=seconds, most=2000,
    )  # fmt: skip
    for name, what in (("AddV2", "kernel: AddV2"), ("TvmRuntime", "compiled function: addone")):
        row = {"what": what, "least_s": found[name].least / _NODES, "elements": 1}
        report.rows.append(row | {"median_s": found[name].median / _NODES})
    least = (found["TvmRuntime"].least - found["AddV2"].least) / _NODES
    median = (found["TvmRuntime"].median - found["AddV2"].median) / _NODES
    report.rows.append(
        {"what": "a call beyond a kernel", "least_s": least, "median_s": median, "elements": 1}
    )


def _session(op: str, library: Path) -> Callable[[Array], Any]:
    """A chain of nodes, none of which the optimizer may change."""
    ds.plugins.ensure_loaded()
    graph = ds.Graph()
    b = ds.Builder(graph)
    last = b("Placeholder", dtype="float32", shape=(1,), name="x")
    one = b.const(np.ones(1, np.float32))
    for _ in range(_NODES):
        if op == "AddV2":
            last = b(op, last, one)
        else:
            last = b(
                op, [last], [], lib_path=str(library), function_name="addone", Tin=["float32"],
                Tout=["float32"],
            )  # fmt: skip
    access = ds.Access(libraries=(library,))
    config = ds.SessionConfig(
        access=access, optimizer="off", intra_op_threads=1, inter_op_threads=1
    )
    return ds.Session(graph, config).make_callable(f"{last[0].name}:0", ["x:0"])


def _chain(report: Report, folder: Path, seconds: float) -> None:
    """(x * s + b) and GELU by tanh, as drystone fuses it and as TVM does."""
    import drystone_tvm

    def gelu(x: Any, s: Any, b: Any) -> Any:
        y = x * s + b
        return y * 0.5 * (1.0 + ops.tanh(0.7978846 * (y + 0.044715 * y * y * y)))

    shapes = ((_ROWS, _COLUMNS), (_COLUMNS,), (_COLUMNS,))
    specs = [ds.Spec(shape) for shape in shapes]
    chance = np.random.default_rng(1)
    arrays = [chance.normal(size=shape).astype(np.float32) for shape in shapes]
    own = ds.function(gelu)
    calls: dict[str, Callable[..., Any]] = {"drystone": own}
    for target in ("llvm", "native"):
        calls[f"TVM, {target}"] = drystone_tvm.compile(
            gelu, *specs, path=folder / f"{target}.so", target=target
        )
    timed: dict[str, Callable[[], Any]] = {
        name: lambda call=call: call(*arrays)  # type: ignore[misc]
        for name, call in calls.items()
    }
    timed["TVM, native, by its own run time"] = runtime_call(
        folder / "native.so", arrays, arrays[0].shape
    )
    found = interleaved(timed, seconds=seconds, most=500)
    for name, time in found.items():
        row = {"what": f"scale, shift, GELU: {name}", "least_s": time.least}
        report.rows.append(row | {"median_s": time.median, "elements": _ROWS * _COLUMNS})


def _product(report: Report, folder: Path, seconds: float) -> None:
    """A product, by drystone's kernels and by plans of TVM's code, with and without our run time.

    The plans: one vector of the result at a time, blocks as usual, and what tuning found in 20
    seconds (5 in a quick run).
    """
    from bench.alone._compiled_products import plans

    x = np.random.default_rng(2).normal(size=(_DEEP // 4, _DEEP)).astype(np.float32)
    w = np.random.default_rng(3).normal(size=(_DEEP, _DEEP)).astype(np.float32)
    made = plans(folder, x.shape, w.shape, 5.0 * min(seconds, 4.0))
    own = ds.function(lambda a, b: ops.matmul(a, b))
    calls: dict[str, Callable[[], Any]] = {"drystone": lambda: own(x, w)}
    calls |= {f"TVM, {name}": lambda call=one: call(x, w) for name, (one, _) in made.items()}  # type: ignore[misc]
    tuned = made["tuned"][1]
    calls["TVM, tuned, by its own run time"] = runtime_call(tuned, (x, w), (len(x), w.shape[1]))
    for name, time in interleaved(calls, seconds=seconds, most=2000).items():
        row = {"what": f"product: {name}", "least_s": time.least}
        report.rows.append(row | {"median_s": time.median, "elements": _DEEP * _DEEP // 4})
