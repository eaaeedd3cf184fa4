"""Sizes that no machine has room for: kernels of the plugin refuse them as those in Python do.

Run in a process with four gigabytes of address space, which nothing may end before its time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import ml_dtypes
import native_ops
import numpy as np
import pytest
from one_op import OneOp

from drystone_base.core.errors import DrystoneError

HERE = Path(__file__).parent

ONE = np.float32(1)
MOST = (1 << 31) - 2
Case = tuple[str, list[Any], dict[str, Any]]


def numbers(*values: Any) -> Any:
    return np.array(values, np.int64)


def cases() -> dict[str, Case]:
    """An op with a size beyond the limit, or beyond what bytes, or elements, can be counted in."""
    out: dict[str, Case] = {}
    row, square = np.ones(3, np.float32), np.ones((3, 3), np.float32)
    text = np.array([b"a"], object)
    for n in (MOST, 1 << 40, 1 << 62):
        size, few = np.array(n), np.int32(min(n, MOST))
        made: list[Case] = [
            ("Fill", [numbers(n), ONE], {}),
            ("Fill", [numbers(n, n), ONE], {}),
            ("BroadcastTo", [row[:1], numbers(n)], {}),
            ("Tile", [square, numbers(n, n)], {}),
            ("Pad", [row, numbers([n, 0])], {}),
            ("PadV2", [row, numbers([n, 0]), ONE], {}),
            ("PadV2", [square, numbers([n, 0], [0, n]), ONE], {}),
            ("PadV2", [text, numbers([n, 0]), text[0]], {}),
            ("Range", [np.array(0), size, np.array(1)], {}),
            ("OneHot", [np.zeros(1 << 16, np.int64), few, ONE, ONE], {}),
            ("RaggedRange", [numbers(0), numbers(n), numbers(1)], {}),
            ("RaggedRange", [numbers(0, 0), numbers(n, n), numbers(1, 1)], {"Tsplits": "int32"}),
            ("RandomStandardNormal", [numbers(n)], {"dtype": "float32"}),
            ("RandomUniform", [numbers(n)], {"dtype": "half"}),
            ("StatelessTruncatedNormal", [numbers(n), numbers(1, 2)], {"dtype": "float32"}),
            ("SegmentMin", [np.ones((2, 3), np.float32), numbers(0, n)], {}),
            ("SegmentMinV2", [np.ones((2, 3), np.float32), numbers(0, 1), size], {}),
            ("SegmentProdV2", [np.ones((2, 3), np.float16), numbers(0, 1), size], {}),
            ("UnsortedSegmentMax",
             [np.ones((2, 3), ml_dtypes.bfloat16), numbers(0, 1), size], {}),
            ("SparseSegmentSumWithNumSegments",
             [np.ones((2, 3), np.float32), numbers(0, 1), numbers(0, 1), size], {}),
            ("ScatterNd", [numbers([1]), row[:1], numbers(n)], {}),
            ("SparseToDense", [numbers([1]), numbers(n), ONE, ONE], {}),
            ("DenseBincount", [numbers(1, 2), size, row[:0]], {}),
            ("HistogramFixedWidth", [row, np.array([0, 1], np.float32), few], {}),
            ("ResizeBilinear",
             [np.ones((1, 2, 2, 3), np.float32), np.array([few, few], np.int32)], {}),
            ("TensorListReserve", [np.array([2], np.int32), few], {"element_dtype": "float32"}),
            ("TensorArrayV3", [few], {"dtype": "float32"}),
            ("AsString", [row[:2]], {"width": min(n, MOST - 9)}),
            ("AsString", [row[:2]], {"precision": min(n, MOST - 9)}),
            ("EditDistance",
             [numbers([0, 0]), numbers(1), numbers(n, 1)] * 2, {}),
        ]  # fmt: skip
        out |= {f"{op} {k} {n}": (op, inputs, attrs) for k, (op, inputs, attrs) in enumerate(made)}
    return out


def told(case: Case, executor: str) -> list[str]:
    """What a run says that must be refused, or that it was not."""
    op, inputs, attrs = case
    try:
        OneOp.of(op, inputs, attrs, executor).run()
    except DrystoneError as error:
        return [error.status, error.check, str(error.needed), str(error.remedy)]
    return ["it ran"]


def main() -> None:
    """Print what both executors say of each case, a line each."""
    import resource

    python_s = {op for op, _, _ in cases().values()} - native_ops.native_ops()
    assert not python_s, python_s
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    for name, case in cases().items():
        print(json.dumps([name, told(case, "native"), told(case, "reference")]), flush=True)


@pytest.fixture(scope="module")
def lines() -> dict[str, tuple[list[str], list[str]]]:
    paths = os.pathsep.join([str(HERE), *sys.path])
    program = "import test_huge_sizes; test_huge_sizes.main()"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    found = {
        name: (ours, theirs) for name, ours, theirs in map(json.loads, done.stdout.splitlines())
    }
    assert done.returncode == 0, (list(found)[-1:], done.stderr[-1500:])
    return found


def test_nothing_ends_the_process(lines: dict[str, Any]) -> None:
    assert list(lines) == list(cases())


def test_the_words_are_those_of_the_reference(lines: dict[str, Any]) -> None:
    assert {name: row for name, row in lines.items() if row[0] != row[1]} == {}
    checks = {theirs[1] for _, theirs in lines.values()}
    assert checks == {
        "a tensor must fit in this machine's memory, with room for others",
        "a tensor's element count must fit in 63 bits",
    }
