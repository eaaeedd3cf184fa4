"""What an executor of ours makes of a case, beside TensorFlow's answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias
from unittest.mock import patch

import numpy as np
import oracle
from one_op import OneOp
from oracle import Case
from parity.differences import known_difference
from parity.judge import Verdict, judge

from drystone_base.core.errors import DrystoneError
from drystone_base.executor.selection import registered
from extremes.by_chance import is_by_chance

__all__ = ["BACKENDS", "Backend", "verdict"]

Backend: TypeAlias = Literal["reference", "native", "cpu"]
BACKENDS: dict[str, tuple[Backend, ...]] = {"plain": ("reference", "native"), "cpu": ("cpu",)}
"""Executors by process: drystone-cpu is loaded in one of them only, where its kernels run."""

SLACK = {2: 2.0, 4: 10.0, 8: 10.0}  # 1e-4 for 32 and 64 bits, where cases of parity have 1e-5


def verdict(item: Case, want: list[Any] | str, backend: Backend) -> Verdict:
    """How an executor's answer compares; kind ``no kernel`` where drystone-cpu has none."""
    if backend == "cpu" and not registered().get(item.op):
        return Verdict("no kernel")
    executor = "reference" if backend == "reference" else "native"

    def run_op(op: str, *inputs: Any, **attrs: Any) -> list[Any]:
        return OneOp.of(op, inputs, attrs, executor).run()

    try:
        with patch.object(oracle, "run_op", run_op):
            if is_by_chance(item.op):
                return _by_chance(item, want)
            if isinstance(want, str) and want.startswith("skip"):
                return _alone(item, want)
            return judge(item, want, SLACK.get(_width(item), 10.0))
    except Exception as error:  # a rule about differences that does not expect such a case
        text = f"judging raised {type(error).__name__}: {error}"[:200]
        return Verdict("differs", text=text, way="rule")


def _alone(item: Case, why: str) -> Verdict:
    """Without an answer of TensorFlow: ours may refuse, but raise nothing else."""
    try:
        oracle.ours(item)
    except (DrystoneError, MemoryError):
        pass
    except Exception as error:
        return Verdict(
            "differs", text=f"raised {type(error).__name__}: {error}"[:200], way="raises"
        )
    return Verdict("skipped", text=why)


def _width(item: Case) -> int:
    floats = [np.asarray(v).dtype for v in item.inputs]
    return min((d.itemsize for d in floats if "float" in d.name), default=4)


def _by_chance(item: Case, want: list[Any] | str) -> Verdict:
    """Shapes, dtypes, what is not finite, and means are compared; of refusals the status."""
    found = _alone(item, "")
    if found.kind == "differs":
        return found
    if isinstance(want, str) and want.startswith(("skip", "UnimplementedError")):
        return Verdict("skipped", text=want)
    got = oracle.ours(item)
    if isinstance(got, str) or isinstance(want, str):
        if isinstance(got, str) and isinstance(want, str):
            return judge(item, want)
        way = "we refuse" if isinstance(got, str) else "TensorFlow refuses"
        return _differing(item, got, want, way)
    pairs = list(zip(map(np.asarray, got), map(np.asarray, want), strict=True))
    if all(_alike(a, b) for a, b in pairs):
        return Verdict("equal")
    return _differing(item, got, want, "values")


def _differing(item: Case, got: list[Any] | str, want: list[Any] | str, way: str) -> Verdict:
    text = f"got {_brief(got)}, want {_brief(want)}"
    known = known_difference(item, want)
    if known is None:
        return Verdict("differs", text=text, way=way)
    return Verdict("known", text=text, way=way, reason=known.reason)


def _alike(a: Any, b: Any) -> bool:
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    x, y = (v.astype(np.float64) for v in (a, b))
    if not np.array_equal(np.isnan(x), np.isnan(y)) or not np.array_equal(np.isinf(x), np.isinf(y)):
        return False
    x, y = x[np.isfinite(x)], y[np.isfinite(y)]
    if x.size < 2:
        return True
    with np.errstate(over="ignore"):
        room = 7 * (np.std(x) + np.std(y)) / np.sqrt(x.size)
    return bool(abs(np.mean(x) - np.mean(y)) <= room + 1e-30)


def _brief(answer: Sequence[Any] | str) -> str:
    if isinstance(answer, str):
        return answer
    return ", ".join(
        f"{v.dtype}{list(v.shape)} {np.array2string(v.ravel()[:4], precision=4)}"
        for v in map(np.asarray, answer)
    )
