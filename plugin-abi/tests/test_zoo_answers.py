"""Optimizers whose answers are graphs that hold together, and are wrong all the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_zoo import OPTIMIZE, child

__all__ = ["child"]

ABS_FOR_NEG = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Abs", optimized)'
# Of the placeholder's shape (field 2 of TensorShapeProto.Dim): 2 becomes 3.
ANOTHER_SHAPE = 'replace_name(graph, "\\x12\\x02\\x08\\x02", "\\x12\\x02\\x08\\x03", optimized)'
NO_KERNEL = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Ask", optimized)'


@pytest.fixture
def answering(compile_library: Callable[..., Path]) -> Callable[[str], Path]:
    """Build one that does this to a graph."""

    def build(body: str) -> Path:
        flags = ['-DDEVICE="ZOO"', f"-DOPTIMIZE={body}"]
        return compile_library("optimizer_variants.c", flags=flags)

    return build


@pytest.mark.parametrize(
    ("body", "code", "found"),
    [
        (ABS_FOR_NEG, "pass-changed-result", "found: y:0: 2 of 2 values differ: "),
        (ANOTHER_SHAPE, "optimizer-changed-shape", "'y:0' has shape [3] now"),
        (NO_KERNEL, "optimizer-unknown-op", "node 'y' has op 'Ask'"),
    ],
)
def test_a_wrong_answer_is_dropped_by_name(
    answering: Callable[[str], Path], child: Callable[..., Any], body: str, code: str, found: str
) -> None:
    path = answering(body)
    answer = child(OPTIMIZE, "", path)
    assert answer["value"] == [-1, -2]
    (text,) = [text for text in answer["warnings"] if str(path) in text]
    assert f"({path}) did not optimize the graph" in text
    assert code in text
    assert found in text


def test_who_wants_no_runs_before_the_first_turns_them_off(
    answering: Callable[[str], Path], child: Callable[..., Any]
) -> None:
    off = "import os\nos.environ['DRYSTONE_VERIFY_PLUGINS'] = 'off'\n" + OPTIMIZE
    assert child(off, "", answering(ABS_FOR_NEG))["value"] == [1, 2]
