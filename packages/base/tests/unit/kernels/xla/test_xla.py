"""XLA's ops: functions of scalars over arrays, and refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op
from drystone_base.files.access import Access
from drystone_base.ops.attrs import FunctionRef
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

Array = np.ndarray[Any, Any]


class Library:
    """Functions by name, and how often each was called."""

    def __init__(self, **functions: Any) -> None:
        self.functions = functions
        self.calls = 0

    def invoke(self, _: Runtime, function: FunctionRef, args: Sequence[Array]) -> list[Array]:
        """One call."""
        self.calls += 1
        out = self.functions[function.name](*args)
        return [np.asarray(v) for v in (out if isinstance(out, tuple) else (out,))]

    def run(self, op: str, *inputs: Any, **attrs: Any) -> list[Any]:
        """One op with these functions at hand."""
        runtime = Runtime(ResourceManager(), self.invoke, access=Access.anywhere())
        return run_op(op, *inputs, runtime=runtime, **attrs)


def test_a_reducer_runs_over_whole_arrays() -> None:
    library = Library(add=lambda a, b: a + b)
    x = np.arange(4096, dtype=np.float64).reshape(4, 1024)
    (out,) = library.run(
        "XlaReduce", x, np.float64(1), dimensions_to_reduce=[1], reducer=FunctionRef("add")
    )
    assert out.tolist() == (x.sum(1) + 1).tolist()
    assert library.calls < 50


def test_a_reducer_that_is_not_elementwise_runs_element_by_element() -> None:
    library = Library(odd=lambda a, b: np.asarray(a).max() + np.asarray(b).max())
    x = np.arange(12, dtype=np.float64).reshape(3, 4)
    (out,) = library.run(
        "XlaReduce", x, np.float64(0), dimensions_to_reduce=[1], reducer=FunctionRef("odd")
    )
    assert out.tolist() == x.sum(1).tolist()


def test_a_branch_and_a_loop() -> None:
    library = Library(up=lambda v: v + 1, down=lambda v: v - 1, small=lambda v: v < 5)
    attrs = {"then_branch": FunctionRef("up"), "else_branch": FunctionRef("down")}
    for cond, want in ((True, 4), (False, 2)):
        (out,) = library.run("XlaIf", np.array(cond), np.int32(3), Tout=["int32"], **attrs)
        assert out == want
    attrs = {"cond": FunctionRef("small"), "body": FunctionRef("up")}
    assert library.run("XlaWhile", np.int32(1), **attrs)[0] == 5


@pytest.mark.parametrize("count", [0, 1, 2, 7, 64])
def test_a_sort_by_a_function_is_stable(count: int) -> None:
    library = Library(before=lambda a, b, *_: a < b)
    rng = np.random.default_rng(count)
    keys = rng.integers(0, 4, (3, count)).astype(np.float32)
    places = np.broadcast_to(np.arange(count, dtype=np.int32), (3, count))
    got = library.run(
        "XlaVariadicSort", keys, places, np.int32(-1), comparator=FunctionRef("before"),
        is_stable=True, T=["float32", "int32"],
    )  # fmt: skip
    order = np.argsort(keys, -1, kind="stable")
    assert got[0].tolist() == np.take_along_axis(keys, order, -1).tolist()
    assert got[1].tolist() == order.tolist()


def test_refusals_say_what_was_found() -> None:
    x = np.zeros((2, 3), np.float32)
    with pytest.raises(KernelError, match=r"found: \[3, 3\] from \[2\] starts"):
        run_op("XlaDynamicSlice", x, np.zeros(2, np.int32), np.array([3, 3], np.int32))
    text = {"dimension_numbers": "\x08\x01\x10\x00", "precision_config": ""}
    with pytest.raises(KernelError, match="batch and contracting dimensions must be equal"):
        run_op("XlaDot", x, x, **text)
    wrong = {"dimension_numbers": "\x08\x09\x10\x00", "precision_config": ""}
    with pytest.raises(KernelError, match="must name dimensions of the operand"):
        run_op("XlaDot", x, x, **wrong)
    one = np.ones(2, np.int32)
    with pytest.raises(KernelError, match="interior padding must not be negative"):
        run_op("XlaPad", x, np.float32(0), one, one, -one)


def test_bits_follow_each_other_and_refuse_other_states() -> None:
    state = np.array([3, 2**64 - 1, 1], np.uint64)
    given = [np.int32(1), state, np.array([8], np.int32)]
    after, whole = run_op("XlaRngBitGenerator", *given, dtype="uint32")
    assert after.tolist() == [3, 1, 2]
    given[2] = np.array([4], np.int32)
    after, first = run_op("XlaRngBitGenerator", *given, dtype="uint32")
    given[1] = after
    _, second = run_op("XlaRngBitGenerator", *given, dtype="uint32")
    assert whole.tolist() == [*first.tolist(), *second.tolist()]
    with pytest.raises(KernelError, match=r"found: \[3\]\n  needed: \[2\]"):
        run_op("XlaRngBitGenerator", np.int32(2), *given[1:], dtype="uint32")
    with pytest.raises(KernelError, match="Philox or ThreeFry"):
        run_op("XlaRngBitGenerator", np.int32(0), *given[1:], dtype="uint32")


def test_packed_steps_come_out_high_byte_first() -> None:
    packed = np.array([[0x04030201, 0xFF800001]], np.uint32)
    attrs = {"min_range": 0.0, "max_range": 255.0, "transpose_output": True}
    (out,) = run_op("XlaDequantize", packed, mode="MIN_COMBINED", **attrs)
    assert out.astype(int).tolist() == [[4], [3], [2], [1], [255], [128], [0], [1]]
    with pytest.raises(KernelError, match=r"found: SCALED, \[1, 2\]"):
        run_op("XlaDequantize", packed, mode="SCALED", **attrs)
