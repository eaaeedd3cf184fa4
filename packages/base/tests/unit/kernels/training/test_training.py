"""Optimizer steps: every form of an op gives the same step; bad state is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels.training._update_rules import RULES
from drystone_base.ops.defs import find, op_def
from drystone_base.ops.optimizers import GRADIENTS, OPTIMIZERS, optimizer_ops, slot_count
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

RNG = np.random.default_rng(7)


def variable(value: Any) -> Variable:
    made = Variable("v", FLOAT32, np.shape(value))
    made.write(np.array(value, np.float32))
    return made


def step(op: str, firsts: list[Any], grad: Any, indices: Any = None) -> list[Any]:
    """Values of the slots after one step, all settings 0.1 (powers of -0.5)."""
    slots = [variable(v) for v in firsts]
    resource = op.startswith("Resource")
    inputs: list[Any] = [
        handle_array(ResourceHandle("Variable", "v", "", v)) if resource else v for v in slots
    ]
    for argument in op_def(op).inputs[len(slots) :]:
        known = {"indices": indices, "global_step": np.int64(2), "lr_power": np.float32(-0.5)}
        known |= dict.fromkeys(GRADIENTS, grad)
        inputs.append(np.asarray(known.get(argument.name, np.float32(0.1))))
    out = run_op(op, *inputs, T="float32")
    assert out == ([] if resource else [slots[0]])
    return [v.read() for v in slots]


def draw(op: str, *shape: int) -> list[Any]:
    return [
        (np.abs(RNG.normal(size=shape)) + 0.5).astype(np.float32) for _ in range(slot_count(op))
    ]


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if find(f"Apply{n}") is not None])
def test_references_and_resources_agree(name: str) -> None:
    firsts = draw(f"Apply{name}", 3, 2)
    grad = RNG.normal(size=(3, 2)).astype(np.float32)
    first = step(f"Apply{name}", firsts, grad)
    second = step(f"ResourceApply{name}", firsts, grad)
    assert any(not np.array_equal(a, b) for a, b in zip(first, firsts, strict=True))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)


SPARSE = sorted(op for op, _ in optimizer_ops() if "SparseApply" in op)


@pytest.mark.parametrize("op", SPARSE)
def test_sparse_steps_are_dense_steps_of_rows(op: str) -> None:
    dense = op.replace("SparseApply", "Apply")
    firsts = draw(op, 4, 2)
    grad = RNG.normal(size=(3, 2)).astype(np.float32)
    after = step(op, firsts, grad, np.int32([2, 0, 2]))
    for row, parts in {0: [1], 1: [], 2: [0, 2], 3: []}.items():
        want = [v[row : row + 1] for v in firsts]
        for part in parts:
            want = step(dense, want, grad[part : part + 1])
        for got, value in zip(after, want, strict=True):
            np.testing.assert_allclose(got[row : row + 1], value, rtol=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), max_size=12))
def test_repeated_indices_add_up(indices: list[int]) -> None:
    at = np.array(indices, np.int64)
    grad = np.arange(1, len(at) + 1, dtype=np.float32)[:, None]
    firsts = [np.ones((4, 1)), np.zeros((4, 1))]
    var, accum = step("SparseApplyAdagrad", firsts, grad, at)
    want, squares = np.ones((4, 1)), np.zeros((4, 1))
    for row, change in zip(indices, grad, strict=True):
        squares[row] += change**2
        want[row] -= 0.1 * change / np.sqrt(squares[row])
    np.testing.assert_allclose(accum, squares, rtol=1e-6)
    np.testing.assert_allclose(var, want, rtol=1e-5)


def test_writes_replace_the_array() -> None:
    held = variable([1.0, 2.0])
    before = held.read()
    run_op("ApplyGradientDescent", held, np.float32(1), np.ones(2, np.float32), T="float32")
    np.testing.assert_array_equal(before, [1, 2])
    np.testing.assert_array_equal(held.read(), [0, 1])


def test_bad_state_is_refused() -> None:
    empty = Variable("w", FLOAT32, (2,))
    one, two = np.float32(1), np.ones(2, np.float32)
    with pytest.raises(KernelError, match="before it has a value") as caught:
        run_op("ApplyGradientDescent", empty, one, two, T="float32")
    assert caught.value.status == "FAILED_PRECONDITION"
    with pytest.raises(KernelError, match="alpha must be a scalar"):
        run_op("ApplyGradientDescent", variable([1, 2]), two, two, T="float32")
    with pytest.raises(KernelError, match="the gradient must have the shape"):
        run_op("ApplyGradientDescent", variable([1, 2]), one, np.ones(3, np.float32), T="float32")
    with pytest.raises(KernelError, match="its slots must have the same shape"):
        run_op("ApplyAdagrad", variable([1, 2]), variable([1]), one, two, T="float32")
    with pytest.raises(KernelError, match="indices must name rows"):
        run_op("SparseApplyAdagrad", variable([1, 2]), variable([1, 2]), one, two,
               np.int32([0, 2]), T="float32")  # fmt: skip


def test_shapes() -> None:
    assert infer_shapes("ApplyGradientDescent", [(-1, 3), (), (2, -1)]) == [(2, 3)]
    assert infer_shapes("ResourceApplyGradientDescent", [(), (), (2, 3)], T="float32") == []
    with pytest.raises(ShapeError, match="dimensions must be equal"):
        infer_shapes("ApplyAdagrad", [(2,), (3,), (), (2,)])


@pytest.mark.parametrize(
    ("op", "hyper", "want"),
    [
        # var, accumulator and squares; TensorFlow 2.21's variable afterwards.
        ("AdagradDA", {"lr": 0.05, "l1": 0.1, "l2": 0, "global_step": -1}, -0.0690096),
        ("AdagradDA", {"lr": 0.05, "l1": -0.1, "l2": 0, "global_step": -1}, -0.0659088),
        ("ProximalGradientDescent", {"alpha": -0.5, "l1": 0.2, "l2": 0}, 2.0628 + 0.1 + 0.1),
    ],
)
def test_negative_steps_and_rates_move_away_from_zero(
    op: str, hyper: dict[str, float], want: float
) -> None:
    h = {k: np.asarray(v, np.int64 if k == "global_step" else np.float64) for k, v in hyper.items()}
    slots = [np.array([1.0]), np.array([1.0628]), np.array([1.6125**2 - 1.0628**2])]
    if op != "AdagradDA":
        slots = [np.array([2.0628])]
    grad = np.array([1.0628 if op == "AdagradDA" else 0.2])
    np.testing.assert_allclose(RULES[op](slots, grad, h, {})[0], want, rtol=1e-4)
