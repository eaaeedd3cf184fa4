"""Documented differences from TensorFlow that only drystone-cpu's kernels have still occur."""

import native_ops
import oracle
import pytest
from parity.differences import DIFFERENCES
from parity.examples import load
from parity.judge import judge

OURS = [difference.reason for difference in DIFFERENCES if difference.only == "cpu"]


@native_ops.needs_onednn()
@pytest.mark.parametrize("reason", OURS)
def test_it_still_occurs(reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    example = load()[reason]
    assert judge(example.case, example.want).kind == "equal"  # with the kernel in Python
    monkeypatch.setattr(oracle, "run_op", native_ops.run_native)
    verdict = judge(example.case, example.want)
    assert (verdict.kind, verdict.way, verdict.reason) == ("known", example.way, reason)
