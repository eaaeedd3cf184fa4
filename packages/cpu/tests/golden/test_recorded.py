"""Every recorded answer of TensorFlow held against drystone-cpu's kernels."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import native_ops
import oracle
import pytest
from parity import judge as judging
from parity.draft import draw_case
from parity.recorded import answer_of
from parity.recorded import load as load_random

OPS = sorted(native_ops.native_ops())
GOLDEN: dict[str, list[tuple[Any, Any]]] = defaultdict(list)
for _family in oracle.families():
    if any(c.op in OPS for c in oracle.load(_family)):
        for _item, _want in oracle.recorded(_family):
            GOLDEN[_item.op].append((_item, _want))
RANDOM: dict[str, list[Any]] = defaultdict(list)
for _row in load_random():
    RANDOM[_row["op"]].append(_row)


@pytest.fixture(autouse=True)
def _native(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "run_op", native_ops.run_native)


@pytest.mark.parametrize("op", OPS)
def test_an_op_answers_as_tensorflow_does(op: str) -> None:
    wrong, tried = [], Counter[str]()
    for item, want in GOLDEN[op]:
        try:
            problem = oracle.disagreement(item, want)
        except native_ops.NoNativeKernel:
            tried["other dtype"] += 1
            continue
        tried["golden"] += 1
        if problem:
            wrong.append(f"{item.label()}: {problem}")
    for row in RANDOM[op]:
        item = draw_case(op, row["seed"])
        try:
            verdict = judging.judge(item, answer_of(row), 4.0)
        except native_ops.NoNativeKernel:
            tried["other dtype"] += 1
            continue
        tried["random"] += 1
        if verdict.kind not in ("equal", "refused", "known"):
            wrong.append(f"seed {row['seed']}: {item.label()}: {verdict.text}")
    print(op, dict(tried))
    assert not wrong, "\n".join(wrong[:20])
    assert tried["golden"] + tried["random"] or not (GOLDEN[op] or RANDOM[op])
