"""native.json, from which the page on coverage is made, lists what the plugin registers."""

from __future__ import annotations

import sys
from pathlib import Path

from native_ops import needs_onednn

TOP = Path(__file__).resolve().parents[4]
sys.path.append(str(TOP))

from ci.scripts import native_ops  # noqa: E402


@needs_onednn()
def test_the_list_is_what_is_registered() -> None:
    listed, measured = native_ops.load(), native_ops.measure()
    assert listed == measured, "run python -m ci.scripts.native_ops, then coverage_generate"


def test_an_op_is_shown_with_its_dtypes() -> None:
    native = {"cpu": {"MatMul": {"T": ["float32", "float16"]}, "Reshape": {}}}
    assert native_ops.cell(native, "MatMul", {"T": ["float32", "int32"]}) == "cpu 1 of 2"
    assert native_ops.cell(native, "MatMul", {"T": ["float32"]}) == "cpu"
    assert native_ops.cell(native, "Reshape", {"T": ["float32"], "Tshape": ["int32"]}) == "cpu"
    assert native_ops.cell(native, "Rank", {"T": ["float32"]}) == ""
