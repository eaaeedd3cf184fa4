"""Values before and after rewrites whose own tests look at graphs alone; and what they leave."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from pass_checks import Maker, assert_same_natively, assert_same_values, assert_unchanged, run_pass

from drystone_abi.protos import DataType, FunctionDef
from drystone_base.core.dtypes import BOOL, FLOAT32
from drystone_base.ops.attrs import FunctionRef

F: dict[str, Any] = {"T": FLOAT32}
X = {"x:0": np.array([[1, -2, 3], [0.5, 4, -0.25]], np.float32)}


def log_of_softmax(m: Maker) -> None:
    m.op("Log", "y", m.op("Softmax", "s", m.x(), **F), **F)


def reciprocal_twice(m: Maker) -> None:
    m.op("Reciprocal", "y", m.op("Reciprocal", "r", m.x(), **F), **F)


def times_zero(m: Maker) -> None:
    m.op("Mul", "y", m.x(shape=(2, 3)), m.const("zero", 0.0), **F)


def choice(m: Maker) -> None:
    m.op("SelectV2", "y", m.const("which", [True]), m.x(shape=(2, 3)), m.const("other", 1.0), **F)


def branch(m: Maker, which: Any = True) -> None:
    for name, op in (("then", "Neg"), ("otherwise", "Square")):
        m.graph.functions.add(_function(name, op))
    found = m.x("which", (), BOOL) if which is None else m.const("which", np.bool_(which))
    m.op("StatelessIf", "y", found, m.x(), Tcond=BOOL, Tin=[FLOAT32], Tout=[FLOAT32],
         then_branch=FunctionRef("then", {}), else_branch=FunctionRef("otherwise", {}),
         output_shapes=[None])  # fmt: skip


def device_index(m: Maker) -> None:
    names = ("then", "otherwise")
    for name, op in zip(names, ("Neg", "Square"), strict=True):
        m.graph.functions.add(_function(name, op))
    index = m.op("DeviceIndex", "i", device_names=["CPU", "GPU"])
    m.op("StatelessCase", "y", index, m.x(), branches=[FunctionRef(n, {}) for n in names],
         Tin=[FLOAT32], Tout=[FLOAT32], output_shapes=[None], device="/cpu:0")  # fmt: skip


def edge_beside_a_path(m: Maker) -> None:
    holds = m.const("holds", np.bool_(True))
    waits = m.op("Assert", "waits", holds, holds, T=[BOOL], summarize=3)
    a = m.op("Neg", "a", m.x(), controls=[waits], **F)
    m.op("Exp", "y", m.op("Square", "b", a, **F), controls=[waits], **F)


def _function(name: str, op: str) -> FunctionDef:
    proto = FunctionDef()
    proto.signature.name = name
    proto.signature.input_arg.add(name="a", type=DataType.DT_FLOAT)
    proto.signature.output_arg.add(name="b", type=DataType.DT_FLOAT)
    proto.node_def.add(name="n", op=op, input=["a"]).attr["T"].type = DataType.DT_FLOAT
    proto.ret["b"] = "n:y:0"
    return proto


Make = Callable[[Maker], None]
AGGRESSIVE = {"constant_folding": "aggressive", "numeric": "approximate"}
DONE: dict[str, tuple[Make, str, dict[str, Any]]] = {
    "log-softmax": (log_of_softmax, "arithmetic_optimization", {"numeric": "approximate"}),
    "involution-in-range": (
        reciprocal_twice,
        "arithmetic_optimization",
        {"numeric": "approximate"},
    ),
    "absorbing-zero": (times_zero, "constant_folding", AGGRESSIVE),
    "constant-select": (choice, "constant_folding", {}),
    "constant-branch": (branch, "constant_folding", {}),
    "device-index": (device_index, "implementation_selector", {}),
    "transitive-control-edges": (edge_beside_a_path, "dependency_optimization", {}),
}


@pytest.mark.parametrize("name", DONE)
def test_values_stay(name: str) -> None:
    make, run, more = DONE[name]
    m = Maker()
    make(m)
    after, report = run_pass(m.graph, run, ["y:0"], ["x:0"], **more)
    assert name in {rule for step in report.steps for rule in step.rewrites}
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], X)


def test_a_softmax_that_is_read_otherwise_stays() -> None:
    m = Maker()
    log_of_softmax(m)
    more = {"numeric": "approximate"}
    assert_unchanged(m, "arithmetic_optimization", ["y:0", "s:0"], ["x:0"], **more)
    assert_unchanged(m, "arithmetic_optimization", ["y:0"], ["x:0"], numeric="reassociates")


def test_a_reciprocal_of_something_else_stays() -> None:
    m = Maker()
    m.op("Reciprocal", "y", m.op("Neg", "n", m.x(), **F), **F)
    assert_unchanged(m, "arithmetic_optimization", ["y:0"], ["x:0"], numeric="approximate")


def test_a_branch_that_is_not_known_stays() -> None:
    m = Maker()
    branch(m, None)
    assert_unchanged(m, "constant_folding", ["y:0"], ["x:0", "which:0"])


def test_float16_normalizes_as_far_as_it_goes() -> None:
    from drystone_base.core.dtypes import FLOAT16, INT32
    from drystone_base.ops.own import LAYER_NORM
    from drystone_optimizer.passes.layer_fusion import _norms

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_norms, "of_plugins", lambda: {LAYER_NORM: ()})
        m, h = Maker(), {"T": FLOAT16}
        x, axis = m.x(shape=(-1, 4), dtype=FLOAT16), m.const("axis", [-1])
        keep = {"keep_dims": True, "Tidx": INT32, **h}
        mean = m.op("Mean", "mean", x, axis, **keep)
        squares = m.op("SquaredDifference", "squares", x, mean, **h)
        variance = m.op("Mean", "variance", squares, axis, **keep)
        shifted = m.op("AddV2", "shifted", variance, m.const("e", 0.5, FLOAT16), **h)
        r = m.op("Rsqrt", "r", shifted, **h)
        m.op("Mul", "y", m.op("Sub", "less", x, mean, **h), r, **h)
        after, _ = run_pass(m.graph, "layer_fusion", ["y:0"], ["x:0"], numeric="approximate")
    assert after["y"].op == LAYER_NORM
    feeds = {"x:0": np.array([[1, 2, 3, 4], [0, 0, 0, 0]], np.float16)}
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False, tolerance=2e-3)
