"""One recorded case for each documented difference: what shows that it still occurs.

``ci/scripts/differences_record.py`` finds the cases and writes the file; the coverage page says
from it how the answers differ.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import oracle
from oracle import Case

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import as_array

__all__ = ["FILE", "Example", "load", "save"]

FILE = Path(oracle.HERE) / "golden" / "differences.json"


@dataclass(frozen=True)
class Example:
    """A case that falls under a difference, TensorFlow's answer, and the way we differ."""

    reason: str
    way: str
    case: Case
    want: list[Any] | str


def load() -> dict[str, Example]:
    """The recorded examples, by reason."""
    rows = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else []
    return {row["reason"]: _unpacked(row) for row in rows}


def save(examples: list[Example]) -> None:
    """Write the file, a line an example."""
    lines = [json.dumps(_packed(example)) for example in examples]
    FILE.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def _packed(example: Example) -> dict[str, Any]:
    item, want = example.case, example.want
    return {
        "reason": example.reason, "way": example.way, "op": item.op, "attrs": _plain(item.attrs),
        "compared": item.compared, "inputs": [_pack(np.asarray(v)) for v in item.inputs],
        "want": str(want) if isinstance(want, str) else [_pack(v) for v in want],
        "says": getattr(want, "message", ""),
    }  # fmt: skip


def _unpacked(row: dict[str, Any]) -> Example:
    inputs = tuple(_unpack(v) for v in row["inputs"])
    item = Case(row["op"], inputs, row["attrs"], compared=row["compared"])
    want = row["want"]
    want = (
        [_unpack(v) for v in want] if isinstance(want, list) else oracle.Refusal(want, row["says"])
    )
    return Example(row["reason"], row["way"], item, want)


def _plain(value: Any) -> Any:
    """Attributes as JSON has them: dtypes by their labels."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _pack(value: Any) -> list[Any]:
    value = as_array(value)
    if value.dtype.kind == "O":
        return ["string", list(value.shape), [v.decode("latin-1") for v in value.ravel().tolist()]]
    raw = base64.b85encode(np.ascontiguousarray(value).tobytes()).decode()
    return [value.dtype.name, list(value.shape), raw]


def _unpack(packed: list[Any]) -> Any:
    name, shape, rest = packed
    if name == "string":
        out = np.empty(len(rest), object)
        out[:] = [text.encode("latin-1") for text in rest]
        return out.reshape(shape)
    return np.frombuffer(base64.b85decode(rest), as_dtype(name).np).reshape(shape)
