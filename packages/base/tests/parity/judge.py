"""Our answer to a case beside TensorFlow's: equal, refused alike, or different."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import oracle
from oracle import Case

from drystone_base.core.errors import DrystoneError
from parity.differences import known_difference
from parity.digest import Digest
from parity.rules import rule_of

__all__ = ["WAYS", "Verdict", "case_dtype", "judge", "tolerance"]

WAYS = ("values", "we refuse", "TensorFlow refuses", "status", "shapes")

TOLERANCE = {
    "float16": 1e-2,
    "bfloat16": 3e-2,
    "float32": 1e-5,
    "complex64": 1e-5,
    "float64": 1e-10,
    "complex128": 1e-10,
}


MAIN = ("T", "Tparams", "Tvalues", "SrcT", "dtype")  # attributes that give an op's main dtype


@dataclass(frozen=True)
class Verdict:
    """``kind`` is equal, refused, known (a documented difference), skipped or differs.

    ``worst`` is the largest difference among outputs that agree; ``text`` tells what differs, or
    why the case was skipped. ``way`` is how it differs: one of ``WAYS``, or ``"raises"``;
    ``reason`` is that of the documented difference.
    """

    kind: str
    worst: float = 0.0
    text: str = ""
    way: str = ""
    reason: str = ""


def case_dtype(item: Case) -> str:
    """The dtype under which a case is counted: that of its main input."""
    from drystone_base.ops.defs import op_def

    definition = op_def(item.op)
    named = [a.type_attr for a in definition.inputs if a.type_attr]
    quantized = [str(v) for k, v in item.attrs.items() if k in named]
    if quantized:
        return quantized[0]
    kinds = [np.asarray(v).dtype for v in item.inputs]
    labels = ["string" if k.kind == "O" else k.name for k in kinds]
    main = [a.type_attr in MAIN for a in definition.inputs]
    if any(main) and not any(a.is_list for a in definition.inputs):
        return labels[main.index(True)]
    return next(iter(labels), str(item.attrs.get("dtype", "none")))


def tolerance(op: str, dtype: np.dtype[Any]) -> float:
    """What two answers in ``dtype`` may differ by; integers, booleans and strings not at all."""
    factor = rule_of(op).tol
    more = factor if isinstance(factor, int | float) else factor.get(dtype.name, 1.0)
    return TOLERANCE.get(dtype.name, 0.0) * more


def judge(item: Case, want: list[Any] | str, slack: float = 1.0) -> Verdict:
    """How our answer to a case compares with TensorFlow's; ``slack`` widens tolerances."""
    if isinstance(want, str) and want.startswith("skip"):
        return Verdict("skipped", text=want)
    found = _compare(item, want, slack)
    known = known_difference(item, want) if found.kind == "differs" else None
    if known is None:
        return found
    return Verdict("known", text=found.text, way=found.way, reason=known.reason)


def _compare(item: Case, want: list[Any] | str, slack: float) -> Verdict:
    try:
        with np.errstate(all="ignore"):
            got = oracle.ours(item)
    except MemoryError:
        return Verdict("skipped", text="skip: too large for the process of these tests")
    except Exception as error:  # a kernel may raise anything; it should not
        text = f"raised {type(error).__name__}: {error}"[:200]
        return Verdict("differs", text=text, way="raises")
    if want == "UnimplementedError" and got != "UNIMPLEMENTED":
        return Verdict("skipped", text="skip: TensorFlow has not implemented this")
    if isinstance(got, str) and isinstance(want, str):
        status = oracle._STATUS.get(want, want)
        alike = got == status or status in ("INTERNAL", "UNKNOWN", "ABORTED")  # which say nothing
        kind, text = "refused" if alike else "differs", f"got {got}, want {status}: {_said(want)}"
        return Verdict(kind, text=text, way="" if alike else "status")
    if isinstance(got, str):
        text = f"got {got}, want outputs: {_refused(item)}"
        return Verdict("differs", text=text, way="we refuse")
    if isinstance(want, str):
        text = f"got outputs, want {want}: {_said(want)}"
        return Verdict("differs", text=text, way="TensorFlow refuses")
    return _compare_values(item, got, want, slack)


def _compare_values(item: Case, got: list[Any], want: list[Any], slack: float) -> Verdict:
    if len(got) != len(want):
        return Verdict("differs", text=f"got {len(got)} outputs, want {len(want)}", way="values")
    worst = 0.0
    for k, (a, b) in enumerate(zip(got[: item.compared], want, strict=False)):
        a = np.asarray(a)
        found = difference(a, b)
        if found > tolerance(item.op, b.dtype) * slack:
            text = f"output {k} differs by {found:.2g}: got {_brief(a)}, want {_brief(b)}"
            return Verdict("differs", found, text, way="values")
        worst = max(worst, found)
    try:
        shapes = None if oracle._held(item) else oracle._shape_disagreement(item, want)
    except DrystoneError as error:
        shapes = f"shape function refuses: {str(error).splitlines()[0]}"
    if shapes:
        return Verdict("differs", text=shapes, way="shapes")
    return Verdict("equal", worst)


def difference(got: Any, want: Any) -> float:
    """As :func:`oracle.difference`, against a recorded answer too."""
    return want.difference(got) if isinstance(want, Digest) else oracle.difference(got, want)


def _brief(value: Any) -> str:
    if isinstance(value, Digest):
        return f"{value.dtype}{list(value.shape)}"
    return f"{value.dtype}{list(value.shape)} {np.array2string(value.ravel()[:6], precision=6)}"


def _said(want: str) -> str:
    """What TensorFlow gave as the reason, where that is at hand."""
    return " ".join(getattr(want, "message", "").split())[:160]


def _refused(item: Case) -> str:
    """Why we refuse a case."""
    try:
        oracle.ours(item)
    except DrystoneError as error:
        return str(error)
    return ""
