"""Element-wise ops of one node: to the bit what their own kernels give one after another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from agreement import assert_agrees
from hypothesis import given, settings
from hypothesis import strategies as st
from native_ops import run_native

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, DType, as_dtype, from_numpy
from drystone_base.core.errors import KernelError
from drystone_base.graph import Graph
from drystone_base.ops.defs import op_def
from drystone_base.ops.own import FUSED_ELEMENTWISE, FUSES, LOGIC

X = np.ones(3, np.float32)
EXTREMES = [0, -0.0, 1, -1, 2.5, -7.25, 1e-3, 60, -60, np.inf, -np.inf, np.nan]
Steps = list[tuple[str, tuple[int, ...]]]


def fused(inputs: list[Any], steps: Steps, dtype: DType, result: DType) -> Any:
    """The steps in one node."""
    return run_native(FUSED_ELEMENTWISE, *inputs, **attributes(inputs, steps, dtype, result))[0]


def attributes(inputs: list[Any], steps: Steps, dtype: DType, result: DType) -> dict[str, Any]:
    return {
        "Targs": [from_numpy(x.dtype) for x in inputs],
        "T": dtype,
        "Tout": result,
        "ops": [op for op, _ in steps],
        "operands": [k for _, operands in steps for k in operands],
    }


def apart(inputs: list[Any], steps: Steps) -> Any:
    """Each step by its own native kernel."""
    values = list(inputs)
    for op, operands in steps:
        values.append(run_native(op, *(values[k] for k in operands))[0])
    return values[-1]


def numbers(rng: np.random.Generator, dtype: DType, shape: tuple[int, ...]) -> Any:
    if dtype is BOOL:
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.np.kind == "i":
        info = np.iinfo(dtype.np)
        return rng.choice([0, 1, -1, 3, info.min, info.max], shape).astype(dtype.np)
    drawn = np.where(
        rng.random(shape) < 0.2, rng.choice(EXTREMES, shape), rng.normal(size=shape) * 3
    )
    return drawn.astype(dtype.np)


def wanted(op: str, dtype: DType) -> list[DType]:
    """Dtypes of an op's operands."""
    if op in LOGIC:
        return [BOOL] * len(op_def(op).inputs)
    return [BOOL, dtype, dtype] if op == "SelectV2" else [dtype] * len(op_def(op).inputs)


def given_back(op: str, dtype: DType) -> DType:
    """Dtype of an op's result."""
    return BOOL if op_def(op).outputs[0].type is BOOL else dtype


@pytest.mark.parametrize(
    ("label", "op"), [(k, op) for k, ops in FUSES.items() for op in sorted(ops)]
)
def test_each_op(label: str, op: str) -> None:
    dtype, rng = as_dtype(label), np.random.default_rng(1)
    inputs = [numbers(rng, kind, (70,)) for kind in wanted(op, dtype)]
    steps = [(op, tuple(range(len(inputs))))]
    found = fused(inputs, steps, dtype, given_back(op, dtype))
    expected = apart(inputs, steps)
    assert found.dtype == expected.dtype
    assert found.tobytes() == expected.tobytes()


SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (7,),
    (0,),
    (3, 0),
    (2, 3),
    (5, 1, 4),
    (3, 3001),
    (9000,),
]


def drawn_program(rng: np.random.Generator) -> tuple[list[Any], Steps, DType]:
    """Inputs, some of them broadcast or bools, and steps that read all that was made before."""
    dtype = as_dtype(str(rng.choice(list(FUSES))))
    shape = SHAPES[int(rng.integers(len(SHAPES)))]
    inputs = [numbers(rng, dtype, shape)]
    for _ in range(int(rng.integers(0, 3))):
        kept = [d if rng.random() < 0.6 else 1 for d in shape][
            int(rng.integers(0, len(shape) + 1)) :
        ]
        inputs.append(numbers(rng, dtype if rng.random() < 0.7 else BOOL, tuple(kept)))
    types = [from_numpy(x.dtype) for x in inputs]
    ops = sorted(FUSES[dtype.label])
    steps: Steps = []
    for _ in range(int(rng.integers(1, 12))):
        op = str(rng.choice(ops))
        fit = [[k for k, t in enumerate(types) if t is kind] for kind in wanted(op, dtype)]
        if not all(fit):
            continue
        operands = tuple(
            int(choices[-1] if rng.random() < 0.5 else rng.choice(choices)) for choices in fit
        )
        steps.append((op, operands))
        types.append(given_back(op, dtype))
    return *needed(inputs, steps or [("Neg", (0,))]), dtype


def needed(inputs: list[Any], steps: Steps) -> tuple[list[Any], Steps]:
    """The inputs and steps that the last step needs, numbered again."""
    count = len(inputs)
    read, stack = set(), [count + len(steps) - 1]
    while stack:
        value = stack.pop()
        if value not in read:
            read.add(value)
            stack.extend(steps[value - count][1] if value >= count else ())
    number = {value: k for k, value in enumerate(sorted(read))}
    chosen = [steps[v - count] for v in sorted(read) if v >= count]
    kept = [inputs[v] for v in sorted(read) if v < count]
    return kept, [(op, tuple(number[k] for k in operands)) for op, operands in chosen]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 30))
def test_programs(seed: int) -> None:
    inputs, steps, dtype = drawn_program(np.random.default_rng(seed))
    found = fused(inputs, steps, dtype, given_back(steps[-1][0], dtype))
    expected = apart(inputs, steps)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    is_nan = expected != expected  # what NumPy's helpers do not know of bfloat16
    np.testing.assert_array_equal(found != found, is_nan)
    np.testing.assert_array_equal(found[~is_nan], expected[~is_nan])


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 30))
def test_programs_agree_with_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = [numbers(rng, as_dtype("int32"), (3, 4)), numbers(rng, as_dtype("int32"), (4,))]
    steps: Steps = [("Mul", (0, 1)), ("Less", (2, 0)), ("SelectV2", (3, 2, 1)), ("Sub", (4, 0))]
    attrs = attributes(inputs, steps, as_dtype("int32"), as_dtype("int32"))
    assert_agrees(FUSED_ELEMENTWISE, *inputs, **attrs)


def test_many_results_at_once() -> None:
    """As many as there are buffers, in tiles that are short for it."""
    x = np.linspace(-1, 1, 5000)
    steps: Steps = [("Square", (0,))]
    steps += [("AddV2", (k, 0)) for k in range(1, 60)]
    steps.append(("AddV2", (60, 59)))
    for k in range(58, 0, -1):
        steps.append(("Mul", (len(steps), k)))
    np.testing.assert_array_equal(
        fused([x], steps, as_dtype("float64"), as_dtype("float64")), apart([x], steps)
    )


def joined(inputs: list[Any], steps: Steps, dtype: DType, joins: list[int]) -> Any:
    """The steps in one node, on operands that are joined of so many inputs each."""
    attrs = attributes(inputs, steps, dtype, dtype) | {"joins": joins}
    assert_agrees(FUSED_ELEMENTWISE, *inputs, **attrs)
    return run_native(FUSED_ELEMENTWISE, *inputs, **attrs)[0]


@pytest.mark.parametrize("label", ["float32", "float64", "int32"])
@pytest.mark.parametrize("widths", [(1, 2), (8, 16, 40), (5, 0, 3), (1500, 900)])
def test_operands_that_are_joined(label: str, widths: tuple[int, ...]) -> None:
    dtype, rng = as_dtype(label), np.random.default_rng(sum(widths))
    parts = [numbers(rng, dtype, (7, 3, width)) for width in widths]
    row = numbers(rng, dtype, (sum(widths),))
    steps: Steps = [("Mul", (1, 0)), ("Sub", (2, 0)), ("Square", (3,))]
    found = joined([*parts, row], steps, dtype, [len(parts), 1])
    np.testing.assert_array_equal(found, apart([np.concatenate(parts, -1), row], steps))


def test_a_joined_operand_that_is_broadcast() -> None:
    rows = [np.array(row, np.float32) for row in ([[1, 2]], [[3]])]
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    found = joined([x, *rows], [("Mul", (0, 1)), ("Neg", (2,))], as_dtype("float32"), [1, 2])
    np.testing.assert_array_equal(found, -(x * [1, 2, 3]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 1 << 30))
def test_normalizations(seed: int) -> None:
    """x * scale + shift, and Relu, in any order of operands: the same to the bit."""
    rng = np.random.default_rng(seed)
    dtype = as_dtype("float32" if rng.random() < 0.5 else "bfloat16")
    widths = rng.integers(0, 40, rng.integers(1, 5)).tolist()
    rows = int(rng.integers(1, 300))
    parts = [numbers(rng, dtype, (rows, width)) for width in widths]
    vectors = [numbers(rng, dtype, (sum(widths),)) for _ in range(2)]
    product = (0, 1) if rng.random() < 0.5 else (1, 0)
    total = (3, 2) if rng.random() < 0.5 else (2, 3)
    steps: Steps = [("Mul", product), ("AddV2", total), ("Relu", (4,))]
    if rng.random() < 0.3:
        del steps[2]
    found = joined([*parts, *vectors], steps, dtype, [len(parts), 1, 1])
    expected = apart([np.concatenate(parts, -1), *vectors], steps)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))


def sliced(inputs: list[Any], steps: Steps, dtype: DType, **more: Any) -> Any:
    """The steps in one node, on pieces of its inputs."""
    attrs = attributes(inputs, steps, dtype, dtype) | more
    assert_agrees(FUSED_ELEMENTWISE, *inputs, **attrs)
    return run_native(FUSED_ELEMENTWISE, *inputs, **attrs)[0]


GATES: Steps = [("Mul", (0, 1)), ("AddV2", (3, 2)), ("Square", (4,))]


@pytest.mark.parametrize("label", ["float32", "float64", "int32", "bfloat16"])
@pytest.mark.parametrize("lead", [(), (1,), (1, 1), (7,), (0,), (2, 3)])
@pytest.mark.parametrize("width", [1, 8, 130, 1100])
def test_pieces_of_one_tensor(label: str, lead: tuple[int, ...], width: int) -> None:
    dtype, rng = as_dtype(label), np.random.default_rng(width)
    gates, state = (numbers(rng, dtype, (*lead, n * width)) for n in (3, 1))
    slices = [0, width, 2 * width, width, 0, -1]
    found = sliced([gates, gates, state], GATES, dtype, slices=slices)
    pieces = [gates[..., :width], gates[..., 2 * width :], state]
    expected = apart([np.ascontiguousarray(piece) for piece in pieces], GATES)
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


def test_more_pieces_than_there_is_room_for_at_once() -> None:
    floats = as_dtype("float32")
    x = numbers(np.random.default_rng(5), floats, (3, 40))
    steps: Steps = [("AddV2", (0, 1)), *(("AddV2", (40 + k, k + 2)) for k in range(38))]
    slices = [n for k in range(40) for n in (k, 1)]
    found = sliced([x] * 40, steps, floats, slices=slices)
    pieces = [np.ascontiguousarray(x[:, k : k + 1]) for k in range(40)]
    np.testing.assert_array_equal(found, apart(pieces, steps))


def test_pieces_that_are_broadcast_and_joined() -> None:
    rng, floats = np.random.default_rng(3), as_dtype("float32")
    row, x, left = (numbers(rng, floats, shape) for shape in ((40,), (5, 24), (5, 30)))
    slices = [16, 24, 0, 14, 20, 10, 0, -1]
    found = sliced([row, x, left, x], GATES, floats, slices=slices, joins=[1, 2, 1])
    joined_ones = np.concatenate([x[:, :14], left[:, 20:]], -1)
    np.testing.assert_array_equal(found, apart([row[16:], joined_ones, x], GATES))


def test_a_piece_of_what_could_be_written_over() -> None:
    """All of a tensor and a piece of it that is as wide, moved: each element is read in time."""
    floats = as_dtype("float32")
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": floats, "shape": None})
    e = graph.add("Exp", "e", [x], attrs={"T": floats})
    attrs = attributes([X, X, X], [("Sub", (0, 1)), ("Mul", (3, 2))], floats, floats)
    attrs["slices"] = [0, -1, 2, 1, 0, 3]
    graph.add(FUSED_ELEMENTWISE, "y", [e, e, e], attrs=attrs)
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    given = np.linspace(-1, 1, 3, dtype=np.float32)
    (found,) = session.run(["y:0"], {"x:0": given})
    (whole,) = run_native("Exp", given)
    np.testing.assert_array_equal(found, (whole - whole[2:]) * whole)


@pytest.mark.parametrize(
    ("slices", "inputs", "text"),
    [
        ([0], [X], "slices must have two numbers for each input"),
        ([-1, 2], [X], "slices must begin at 0 or later"),
        ([1, -1], [X], "slices must begin at 0 or later"),
        ([0, -2], [X], "slices must begin at 0 or later"),
        ([2, 2], [X], "a slice must lie in the last dim: 2 and 2 of [3]"),
        ([0, 0], [X[0]], "what is sliced must have a last dim"),
    ],
)
def test_refusals_of_slices(slices: list[int], inputs: list[Any], text: str) -> None:
    floats = as_dtype("float32")
    attrs = attributes(inputs, [("Neg", (0,)), ("Exp", (1,))], floats, floats)
    with pytest.raises(KernelError) as caught:
        run_native(FUSED_ELEMENTWISE, *inputs, **attrs, slices=slices)
    assert text in str(caught.value)
    assert_agrees(FUSED_ELEMENTWISE, *inputs, **attrs, slices=slices)


def test_normalizations_of_all_numbers_of_16_bits() -> None:
    """What is not a number stays so, and all else is rounded as op by op."""
    dtype = as_dtype("bfloat16")
    x = np.arange(1 << 16, dtype=np.uint16).view(dtype.np).reshape(-1, 1)
    scale = np.array([1.0, -1.5, 3.1e38, 1e-30, 0.0, np.inf, np.nan, 0.3], dtype.np)
    shift = np.array([0.0, 7.25, -1.0, np.inf, -np.inf, 2.0, 1.0, np.nan], dtype.np)
    images = np.repeat(x, scale.size, axis=1)
    whole: Steps = [("Mul", (0, 1)), ("AddV2", (3, 2)), ("Relu", (4,))]
    for steps in (whole, whole[:2]):
        with np.errstate(all="ignore"):
            expected = apart([images, scale, shift], steps).astype(np.float32)
        found = fused([images, scale, shift], steps, dtype, dtype)
        np.testing.assert_array_equal(found.astype(np.float32), expected)


MANY = [("Neg", (0,))] * 70 + [("AddV2", (1, 2))] + [("AddV2", (k + 68, k)) for k in range(3, 71)]


@pytest.mark.parametrize(
    ("steps", "inputs", "text"),
    [
        ([("MatMul", (0, 0))], [X], "ops must be element-wise ops that can be fused, found MatMul"),
        ([("AddV2", (0,))], [X], "there must be as many operands as the ops take"),
        ([("Neg", (0, 0))], [X], "there must be as many operands as the ops take"),
        ([("Neg", (1,))], [X], "an operand must be an input or an earlier result"),
        ([("Neg", (-1,))], [X], "an operand must be an input or an earlier result"),
        ([("LogicalNot", (0,))], [X], "operands must have the type that their op takes"),
        ([("SelectV2", (0, 0, 0))], [X], "a select takes a bool and two of one type"),
        ([("Neg", (0,)), ("Exp", (0,))], [X], "the result of every op but the last must be read"),
        ([("Neg", (0,))], [X, X], "every input must be read"),
        ([("Less", (0, 0))], [X], "Tout must be the type of the last op's result"),
        ([("AddV2", (0, 1))], [X, X.astype(np.int32)], "inputs must be of the type T or bool"),
        (MANY, [X], "there must be no more than 64 results in use at once"),
        ([("AddV2", (0, 1))], [X, np.ones(2, np.float32)], "Incompatible shapes: [3] vs. [2]"),
    ],
)  # fmt: skip
def test_refusals(steps: Steps, inputs: list[Any], text: str) -> None:
    with pytest.raises(KernelError) as caught:
        fused(inputs, steps, as_dtype("float32"), as_dtype("float32"))
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("joins", "inputs", "text"),
    [
        ([1], [X, X], "joins must be positive, and add up to the inputs"),
        ([2, 0], [X, X], "joins must be positive, and add up to the inputs"),
        ([3], [X, X], "joins must be positive, and add up to the inputs"),
        ([2], [X, X > 0], "joined inputs must be of one type"),
        ([2], [X, X[0]], "joined inputs must agree but for the last dim: [3] and []"),
        ([2], [X[None], np.ones((2, 3), np.float32)], "[1,3] and [2,3]"),
        ([2], [X[0], X[0]], "joined inputs must have a last dim"),
    ],
)
def test_refusals_of_joins(joins: list[int], inputs: list[Any], text: str) -> None:
    float32 = as_dtype("float32")
    attrs = attributes(inputs, [("Neg", (0,)), ("Exp", (1,))], float32, float32)
    with pytest.raises(KernelError) as caught:
        run_native(FUSED_ELEMENTWISE, *inputs, **attrs, joins=joins)
    assert text in str(caught.value)


def test_thousands_of_steps() -> None:
    x = np.linspace(-1, 1, 6, dtype=np.float32)
    steps: Steps = [("AddV2" if k % 2 else "Neg", (k, 0) if k % 2 else (k,)) for k in range(5000)]
    floats = as_dtype("float32")
    found = fused([x], steps, floats, floats)
    wanted_value = x
    for k in range(5000):
        wanted_value = wanted_value + x if k % 2 else -wanted_value
    np.testing.assert_array_equal(found, wanted_value)
