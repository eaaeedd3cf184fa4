"""The recorded random cases: a line each, with the seed and TensorFlow's answer, compact.

The inputs are drawn again from the seed; their checksum shows whether the drawing has changed
since. Beside the cases lies a summary of the whole run, by op and dtype, for the coverage page.
"""

from __future__ import annotations

import json
import lzma
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import oracle
from oracle import Case

from drystone_base.executor.testing import as_array
from parity.digest import Digest, checksum
from parity.draft import draw_case
from parity.judge import Verdict, case_dtype

__all__ = ["FILE", "SUMMARY", "Entry", "answer_of", "entry", "load", "summary", "update"]

FILE = Path(oracle.HERE) / "golden" / "parity.jsonl.xz"
SUMMARY = Path(oracle.HERE) / "golden" / "parity.json"
Entry: TypeAlias = dict[str, Any]


def entry(op: str, seed: int, want: list[Any] | str, verdict: Verdict) -> Entry:
    """What is kept of a case; the answer only where we agree with it."""
    row: Entry = {"op": op, "seed": seed, "kind": verdict.kind, "worst": verdict.worst}
    if verdict.kind in ("skipped", "broken"):
        return row
    item = draw_case(op, seed)
    row |= {"dtype": case_dtype(item), "inputs": drawn(item)}
    if verdict.kind == "refused":
        row["answer"] = want
    elif verdict.kind == "equal":
        row["answer"] = [Digest.of(np.asarray(v)).packed() for v in want]
    return row


def drawn(item: Case) -> int:
    """A checksum of what was drawn."""
    sums = [checksum(as_array(v)) for v in item.inputs]
    return zlib.crc32(repr((item.op, sums, sorted(item.attrs.items()))).encode())


def answer_of(row: Entry) -> list[Any] | str:
    """TensorFlow's recorded answer, as digests, or the status that it refused with."""
    answer = row["answer"]
    return answer if isinstance(answer, str) else [Digest.unpacked(v) for v in answer]


def load() -> list[Entry]:
    """Every recorded case."""
    lines = lzma.decompress(FILE.read_bytes()).decode().splitlines()
    return [json.loads(line) for line in lines]


def update(entries: Sequence[Entry], *, whole: bool) -> None:
    """Write the cases that agree, and the summary; others stay unless ``whole``."""
    ops = {row["op"] for row in entries}
    kept = [] if whole else [row for row in load() if row["op"] not in ops]
    counted = {} if whole else json.loads(SUMMARY.read_text(encoding="utf-8"))
    counted = {op: rows for op, rows in counted.items() if op not in ops} | summary(entries)
    rows = [
        {k: row[k] for k in ("op", "seed", "inputs", "answer")}
        for row in entries
        if "answer" in row
    ]
    kept = sorted([*kept, *rows], key=lambda row: (row["op"], row["seed"]))
    text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in kept)
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    lines = [f"{json.dumps(op)}: {json.dumps(counted[op])}" for op in sorted(counted)]
    SUMMARY.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def summary(entries: Iterable[Entry]) -> dict[str, dict[str, list[float]]]:
    """By op and dtype: cases compared, refused alike, documented differences, others, worst."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in entries:
        if row["kind"] in ("skipped", "broken"):
            found.setdefault(row["op"], {})
            continue
        line = found.setdefault(row["op"], {}).setdefault(row["dtype"], [0, 0, 0, 0, 0.0])
        line[0] += 1
        for k, kind in enumerate(("refused", "known", "differs"), start=1):
            line[k] += row["kind"] == kind
        if row["kind"] == "equal":
            line[4] = float(f"{max(line[4], row['worst']):.1e}")
    return found
