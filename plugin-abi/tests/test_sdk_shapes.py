"""Shapes: sizes, unknown sizes, symbols (below -1), unknown rank."""

from __future__ import annotations

import pytest
from sdk_probe import probe

from drystone_abi.protos import TensorShapeProto

Dims = list[int] | None


def shape(dims: Dims) -> bytes:
    if dims is None:
        return TensorShapeProto(unknown_rank=True).SerializeToString()
    sizes = [TensorShapeProto.Dim(size=size) for size in dims]
    return TensorShapeProto(dim=sizes).SerializeToString()


def text(dims: Dims) -> str:
    return "?" if dims is None else "[" + "".join(f"{size}," for size in dims) + "]"


def facts(first: Dims, second: Dims) -> list[str]:
    other = b"x" + shape(second).hex().encode()
    answer = probe().call("shapes", shape(first), other).decode().split("|")
    assert answer[:2] == [text(first), text(second)]
    return answer[2:]


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        ([2, 3], [2, 3], [2, 3]),
        ([2, 3], [3], [2, 3]),
        ([2, 1], [1, 3], [2, 3]),
        ([], [4], [4]),
        ([0], [1], [0]),
        ([2], [3], None),
        ([-1], [1], None),
        ([-2, 3], [-2, 1], [-2, 3]),
        ([-2], [-3], None),
        ([-2], [1], [-2]),
        (None, [1], None),
    ],
)
def test_broadcast(first: Dims, second: Dims, both: Dims) -> None:
    assert facts(first, second)[0] == text(both)
    assert facts(second, first)[0] == text(both)


@pytest.mark.parametrize(
    ("first", "second", "equal", "compatible"),
    [
        ([2, 3], [2, 3], "equal", "compatible"),
        ([2, 3], [2, 4], "", ""),
        ([2], [2, 3], "", ""),
        ([-1], [-1], "", "compatible"),
        ([-2], [-2], "equal", "compatible"),
        ([-2], [-3], "", "compatible"),
        ([-1, 3], [2, 3], "", "compatible"),
        (None, [2], "", "compatible"),
        (None, None, "", "compatible"),
        ([], [], "equal", "compatible"),
    ],
)
def test_comparison(first: Dims, second: Dims, equal: str, compatible: str) -> None:
    assert facts(first, second)[1:3] == [equal, compatible]
    assert facts(second, first)[1:3] == [equal, compatible]


@pytest.mark.parametrize(
    ("dims", "count"),
    [
        ([], 1),
        ([2, 3], 6),
        ([0, 5], 0),
        ([2**62, 0], 0),
        ([2**62, 4], -1),
        ([-1, 3], -1),
        (None, -1),
    ],
)
def test_element_count(dims: Dims, count: int) -> None:
    assert facts(dims, [])[3] == str(count)
