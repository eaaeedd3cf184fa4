"""Programs with symbolic dimensions, written again for given shapes; nothing compiles them here."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_pjrt.portable.bytecode import Cursor, Unreadable
from drystone_pjrt.portable.static import ShapeMismatch, is_symbolic, static_program

OPERATIONS: dict[str, Any] = dict(np.load(Path(__file__).parents[2] / "exports" / "operations.npz"))
NAMES = sorted({key.partition("/")[0] for key in OPERATIONS})


def program(name: str) -> bytes:
    found: bytes = OPERATIONS[f"{name}/program"].tobytes()
    return found


def shapes(name: str) -> list[tuple[int, ...]]:
    return [OPERATIONS[key].shape for key in sorted(OPERATIONS) if key.startswith(f"{name}/x")]


@pytest.mark.parametrize("name", NAMES)
def test_no_size_stays_open(name: str) -> None:
    assert is_symbolic(program(name))
    static = static_program(program(name), shapes(name))
    expected = [OPERATIONS[k] for k in sorted(OPERATIONS) if k.startswith(f"{name}/y")]
    assert [(k.shape, k.dtype) for k in static.results] == [(y.shape, y.dtype) for y in expected]
    assert "?" not in static.text
    assert "dynamic_" not in static.text.replace("dynamic_slice_v1", "").replace(
        "dynamic_update_slice_v1", ""
    )


def test_results_follow_the_shapes() -> None:
    for n in (1, 2, 9):
        (kind,) = static_program(program("joined"), [(n, 3), (4, 3)]).results
        assert kind.shape == (n + 5, 3)


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("einsum", [(2, 3, 4), (3, 4, 5)], "Found inconsistency between dimension size"),
        ("einsum", [(2, 3, 5), (2, 5, 5)], "input 0 must be"),
        ("mean", [(0, 3)], "Expected value >= 1 for dimension variable 'b'"),
        ("mean", [(3,)], "input 0 must be"),
    ],
)
def test_shapes_that_do_not_fit(name: str, given: list[tuple[int, ...]], text: str) -> None:
    with pytest.raises(ShapeMismatch, match=text):
        static_program(program(name), given)


def test_another_count_of_inputs() -> None:
    with pytest.raises(Unreadable, match="takes 2 inputs, and 1 are given"):
        static_program(program("einsum"), [(2, 3, 4)])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "ends too early"),
        (b"module {}", "no MLIR bytecode"),
        (b"ML\xefR\x03old\0", "version 1"),
    ],
)
def test_what_is_no_program(data: bytes, text: str) -> None:
    with pytest.raises(Unreadable, match=text):
        is_symbolic(data)


def test_spoiled_bytes_are_unreadable_and_nothing_worse() -> None:
    rng, refused = random.Random(5), 0
    for name in ("sort", "loop"):
        code = program(name)
        for _ in range(25):
            spoiled = bytearray(code[: rng.choice((len(code), rng.randrange(len(code))))])
            for _ in range(rng.randrange(3)):
                spoiled[rng.randrange(len(spoiled))] = rng.randrange(256)
            try:
                static_program(bytes(spoiled), shapes(name))
            except (Unreadable, ShapeMismatch):
                refused += 1
    assert 10 < refused < 50, (
        "some bytes mean nothing, and some that were not changed are a program"
    )


@pytest.mark.parametrize("number", [0, 1, 127, 128, 16383, 16384, (1 << 35) + 3, (1 << 63) + 1])
def test_numbers_of_any_length(number: int) -> None:
    size = next((k for k in range(1, 9) if number < 1 << 7 * k), 9)
    data = (
        b"\0" + number.to_bytes(8, "little")
        if size == 9
        else ((number << 1 | 1) << (size - 1)).to_bytes(size, "little")
    )
    cursor = Cursor(data)
    assert cursor.number() == number
    assert not cursor.more
