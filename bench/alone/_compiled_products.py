"""One product by several plans of TVM's code."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import drystone_base as ds

__all__ = ["plans", "runtime_call"]

Array = np.ndarray[Any, Any]
Call = Callable[..., Any]


def plans(
    folder: Path, left: Sequence[int], right: Sequence[int], seconds: float
) -> dict[str, tuple[Call, Path]]:
    """By name: a callable of the product, and its library."""
    from drystone_tvm.compiling.plans import DEFAULT, Plan
    from drystone_tvm.tuning.search import Found, improved

    arrays = [np.ones(left, np.float32), np.ones(right, np.float32)]
    found = {
        "a vector at a time": _built(
            folder / "one.so", left, right, DEFAULT._replace(rows=1, columns=1)
        ),
        "in blocks": _built(folder / "blocks.so", left, right, DEFAULT),
    }
    made = {DEFAULT: found["in blocks"]}
    until = time.monotonic() + seconds

    def timed(plan: Plan) -> float:
        made[plan] = _built(folder / f"trial{len(made)}.so", left, right, plan)
        return _seconds(made[plan][0], arrays)

    best = Found(DEFAULT, _seconds(made[DEFAULT][0], arrays))
    for better in improved(
        best, timed, lambda plan: plan not in made, lambda: time.monotonic() < until
    ):
        best = better
    return found | {"tuned": made[best.plan]}


def _built(path: Path, left: Sequence[int], right: Sequence[int], plan: Any) -> tuple[Call, Path]:
    import drystone_tvm
    from drystone_tvm.compiling.building import build
    from drystone_tvm.compiling.emission import Argument

    graph = ds.Graph()
    b = ds.Builder(graph)
    given = []
    for name, shape in (("a", left), ("b", right)):
        output = b("Placeholder", dtype="float32", shape=tuple(shape), name=name)
        given.append(Argument(output, name, "float32", tuple(shape)))
    product = b("MatMul", *(one.output for one in given))
    build(graph, given, [("product", product)], path, target="native", plan=plan)
    return drystone_tvm.load(path)["main"], path


def _seconds(call: Call, arrays: Sequence[Array]) -> float:
    least = float("inf")
    for _ in range(50):
        begin = time.perf_counter()
        call(*arrays)
        least = min(least, time.perf_counter() - begin)
    return least


def runtime_call(library: Path, given: Sequence[Array], shape: Sequence[int]) -> Callable[[], Any]:
    """The call of a library by TVM itself, with memory of its own."""
    import tvm

    function = tvm.runtime.load_module(str(library))["main"]
    out = np.zeros(shape, np.float32)
    tensors = [tvm.runtime.tensor(array) for array in (*given, out)]
    return lambda: function(*tensors)
