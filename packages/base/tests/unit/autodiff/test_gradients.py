"""ds.gradients on graphs: what it gives, what it leaves, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from drystone_base.api.session import Session, SessionConfig
from drystone_base.autodiff import IndexedSlices, _registry, gradient, gradients
from drystone_base.autodiff._slices import dense
from drystone_base.core.errors import BadRequest, GraphError
from drystone_base.core.installed import EntryPoint
from drystone_base.graph import Builder, Graph, Node, Output
from drystone_base.state.variables import VARIABLE_KIND, Variable


@pytest.fixture
def b() -> Builder:
    return Builder(Graph())


@pytest.fixture
def own_rules() -> Iterator[None]:
    """Rules that a test registers are forgotten, and no others that were loaded meanwhile."""
    rules = _registry.RULES
    before = {*rules._functions, *rules.index}
    yield
    for held in (rules._functions, rules.modules):
        for op in held.keys() - before:
            del held[op]
    rules._ready.clear()


def placeholder(b: Builder, name: str = "x", shape: tuple[int, ...] = (3,)) -> Output:
    return b("Placeholder", dtype="float64", shape=shape, name=name)


def run(b: Builder, output: Any, **feeds: Any) -> Any:
    node, k = dense(b, output)
    session = Session(b.graph, SessionConfig(executor="reference"))
    return session.run(f"{node.name}:{k}", {f"{k}:0": v for k, v in feeds.items()})


def test_sums_over_ways_and_results(b: Builder) -> None:
    x = placeholder(b)
    y = b("Mul", x, b("Sin", x))
    z = b("Square", x)
    (dx,) = gradients([y, z], x)
    value = np.array([0.1, 1.0, -2.0])
    expected = np.sin(value) + value * np.cos(value) + 2 * value
    np.testing.assert_allclose(run(b, dx, x=value), expected)


def test_given_gradients_and_stops(b: Builder) -> None:
    x = placeholder(b)
    inner = b("Square", x)
    y = b("Mul", inner, x)
    weights = b.const([1.0, 2, 3], "float64")
    value = np.array([1.0, 2, 3])
    (dx,) = gradients(y, x, weights)
    np.testing.assert_allclose(run(b, dx, x=value), np.array([1, 2, 3]) * 3 * value**2)
    dx, dinner = gradients(y, [x, inner], stop=[inner])
    np.testing.assert_allclose(run(b, dx, x=value), value**2)
    np.testing.assert_allclose(run(b, dinner, x=value), value)


def test_nodes_stand_for_their_first_output(b: Builder) -> None:
    x = placeholder(b)
    (dx,) = gradients(b("Neg", x)[0], x[0])
    assert run(b, dx, x=np.zeros(3)).tolist() == [-1, -1, -1]


def test_what_no_result_depends_on_has_none(b: Builder) -> None:
    x, other = placeholder(b), placeholder(b, "other")
    assert gradients(b("Square", x), [other]) == [None]
    assert gradients(b("Floor", x), [x]) == [None]
    assert gradients([], [x]) == [None]
    assert gradients(x, []) == []
    count = len(b.graph)
    assert gradients(x, x)[0] is not None
    assert len(b.graph) == count + 1  # the ones alone: nothing else is left behind


def test_second_derivatives(b: Builder) -> None:
    x = placeholder(b)
    (first,) = gradients(b("Exp", b("Square", x)), x)
    (second,) = gradients(first, x)
    value = np.array([0.1, 0.5, -0.7])
    expected = (2 + 4 * value**2) * np.exp(value**2)
    np.testing.assert_allclose(run(b, second, x=value), expected)


def test_training_batch_norm_has_second_derivatives(b: Builder) -> None:
    x = b("Placeholder", dtype="float32", shape=(2, 3, 2, 2), name="x")
    ones, none = b.const(np.ones(2, np.float32)), b.const(np.zeros(0, np.float32))
    y = b("FusedBatchNormV3", x, ones, ones, none, none, epsilon=0.1)
    (dx,) = gradients(b("Sin", y), x)
    weights = np.random.default_rng(0).uniform(-1, 1, (2, 3, 2, 2)).astype(np.float32)
    (second,) = gradients(dx, x, b.const(weights))
    value = np.random.default_rng(1).uniform(-1, 1, (2, 3, 2, 2)).astype(np.float32)
    found = run(b, second, x=value)
    way = np.random.default_rng(2).uniform(-1, 1, value.shape).astype(np.float32)
    ends = [np.sum(weights * run(b, dx, x=value + s * way)) for s in (0.01, -0.01)]
    assert abs(np.sum(found * way) - (ends[0] - ends[1]) / 0.02) < 2e-2


def with_variable(op: str, b: Builder, *inputs: Output) -> tuple[Output, Output, Session]:
    handle = b("VarHandleOp", dtype="float64", shape=(4, 2), shared_name="v")
    session = Session(b.graph, SessionConfig(executor="reference"))
    variable = Variable("v", b.dtype(b("ReadVariableOp", handle, dtype="float64")), (4, 2))
    variable.write(np.arange(8.0).reshape(4, 2))
    session.resources.get_or_create("", VARIABLE_KIND, "v", lambda: variable)
    return handle, b(op, handle, *inputs, dtype="float64"), session


def test_handles_get_the_gradient_of_their_variable(b: Builder) -> None:
    handle, value, session = with_variable("ReadVariableOp", b)
    (grad,) = gradients(b("Square", value), handle)
    found = session.run(f"{grad[0].name}:0")
    np.testing.assert_allclose(found, 2 * np.arange(8.0).reshape(4, 2))


def test_gathered_rows_are_slices(b: Builder) -> None:
    handle, rows, session = with_variable("ResourceGather", b, b.const([2, 0, 2]))
    more = b("ResourceGather", handle, b.const(np.int64(1)), dtype="float64")
    (grad,) = gradients([b("Square", rows), more], handle)
    assert isinstance(grad, IndexedSlices)
    node, k = dense(b, grad)
    found = session.run(f"{node.name}:{k}")
    np.testing.assert_allclose(found, [[0, 2], [1, 1], [16, 20], [0, 0]])


def test_slices_meet_a_dense_gradient(b: Builder) -> None:
    handle, rows, session = with_variable("ResourceGather", b, b.const([1, 1]))
    whole = b("ReadVariableOp", handle, dtype="float64")
    (grad,) = gradients([rows, whole], handle)
    assert not isinstance(grad, IndexedSlices)
    found = session.run(f"{grad[0].name}:{grad[1]}")
    assert found.tolist() == [[1, 1], [3, 3], [1, 1], [1, 1]]


def test_gathered_elements(b: Builder) -> None:
    handle, value, session = with_variable("ResourceGatherNd", b, b.const([[3, 1], [0, 0]]))
    (grad,) = gradients(value, handle)
    found = session.run(f"{grad[0].name}:{grad[1]}")
    assert found.tolist() == [[1, 0], [0, 0], [0, 0], [0, 1]]


def test_gathered_behind_a_batch(b: Builder) -> None:
    handle = b("VarHandleOp", dtype="float64", shape=(2, 2), shared_name="v")
    rows = b("ResourceGather", handle, b.const([[1], [0]]), dtype="float64", batch_dims=1)
    (grad,) = gradients(rows, handle)
    session = Session(b.graph, SessionConfig(executor="reference"))
    variable = Variable("v", b.dtype(rows), (2, 2))
    variable.write(np.zeros((2, 2)))
    session.resources.get_or_create("", VARIABLE_KIND, "v", lambda: variable)
    assert session.run(f"{grad[0].name}:0").tolist() == [[0, 1], [1, 0]]


# ---- rules of others -------------------------------------------------------------------------


@pytest.mark.usefixtures("own_rules")
def test_a_rule_of_ones_own(b: Builder) -> None:
    @gradient("XlaSort")
    def of_sort(b: Builder, node: Node, grads: list[Output]) -> list[Output]:
        order = b.node("TopKV2", b("Neg", node.inputs[0]), b.const(3), sorted=True)
        back = b("InvertPermutation", (order, 1))
        return [b("GatherV2", grads[0], back, b.const(0))]

    x = placeholder(b)
    y = b("Square", b("XlaSort", x))
    (dx,) = gradients(b("Mul", y, b.const([1.0, 2.0, 3.0], "float64")), x)
    found = run(b, dx, x=np.array([5.0, 1.0, 2.0]))
    np.testing.assert_allclose(found, np.array([3.0, 1.0, 2.0]) * 2 * np.array([5.0, 1.0, 2.0]))
    with pytest.raises(BadRequest, match="has a gradient rule already") as caught:
        gradient("XlaSort")(of_sort)
    assert caught.value.code == "already-registered"


@pytest.mark.usefixtures("own_rules")
def test_a_node_may_name_its_rule(b: Builder) -> None:
    @gradient("Reversal")
    def reversal(b: Builder, _: Node, grads: list[Output]) -> list[Output]:
        return [b("Neg", grads[0])]

    x = placeholder(b)
    y = b("Identity", x, _gradient_op_type="Reversal")
    assert run(b, gradients(y, x)[0], x=np.zeros(3)).tolist() == [-1, -1, -1]


@pytest.mark.usefixtures("own_rules")
def test_packages_bring_rules(b: Builder, monkeypatch: pytest.MonkeyPatch) -> None:
    def register() -> None:
        gradient("GuaranteeConst")(lambda b, _, grads: [b("Neg", grads[0])])

    class Point(EntryPoint):
        def load(self) -> Any:
            return register()

    class Broken(EntryPoint):
        def load(self) -> Any:
            raise ImportError("no such thing")

    found = [Point("a", "own.rules", "own", "1"), Broken("b", "own.broken", "own", "1")]
    monkeypatch.setattr(_registry, "points", lambda _: found)
    monkeypatch.setattr(_registry, "_LOADED", {})
    x = placeholder(b)
    (dx,) = gradients(b("GuaranteeConst", x), x)
    assert run(b, dx, x=np.zeros(3)).tolist() == [-1, -1, -1]
    with pytest.raises(GraphError, match="no-gradient") as caught:
        gradients(b("XlaSort", x), x)
    assert "entry point 'own.broken' are not there [bad-gradient-package]" in str(caught.value)
    assert "ImportError: no such thing" in str(caught.value)


# ---- refusals --------------------------------------------------------------------------------


def test_an_op_without_a_rule_is_named_with_the_way(b: Builder) -> None:
    x = placeholder(b)
    y = b("Neg", b("XlaSort", b("Sin", x, name="wave"), name="odd"), name="y")
    with pytest.raises(GraphError) as caught:
        gradients(y, x)
    error = caught.value
    assert error.what == "node 'odd' (XlaSort) has no gradient"
    assert error.found == "y (Neg) <- odd (XlaSort) <- wave (Sin) <- x (Placeholder)"
    assert "@drystone.gradient('XlaSort')" in error.remedy
    assert gradients(y, x, stop=[b.graph.output("odd")]) == [None]


def test_frames_are_sent_to_the_pass_that_makes_functions(b: Builder) -> None:
    x = placeholder(b)
    y = b("Exit", b("Enter", x, frame_name="f"))
    with pytest.raises(GraphError, match="functionalize_control_flow") as caught:
        gradients(y, x)
    assert caught.value.code == "no-gradient"


@pytest.mark.parametrize("dtype", ["int32", "string", "complex64"])
def test_other_dtypes_are_refused(b: Builder, dtype: str) -> None:
    x = b("Placeholder", dtype=dtype, name="x")
    with pytest.raises(BadRequest, match=f"there is no gradient of 'x', which is {dtype}") as one:
        gradients(x, x)
    assert one.value.code == "not-differentiable"


def test_arguments_that_mean_nothing(b: Builder) -> None:
    x = placeholder(b)
    elsewhere = placeholder(Builder(Graph()))
    with pytest.raises(GraphError, match="is of another graph"):
        gradients(x, elsewhere)
    with pytest.raises(BadRequest, match="another number of grad_ys"):
        gradients([x], [x], [None, None])
    with pytest.raises(BadRequest, match="does not fit") as caught:
        gradients(x, x, b.const(1.0))
    assert (caught.value.found, caught.value.needed) == ("float32", "float64")
    for wrong in ("x:0", 3, None, [3.0]):
        with pytest.raises(BadRequest) as caught:
            gradients(wrong if wrong is not None else 3.5, x)
        assert caught.value.code == "bad-argument"


@pytest.mark.parametrize(("op", "factor"), [("Qr", "Q"), ("Svd", "vectors")])
def test_factors_that_a_matrix_does_not_fix_have_none(b: Builder, op: str, factor: str) -> None:
    x = placeholder(b, shape=(4, 2))
    y = b(op, x, full_matrices=True)
    with pytest.raises(GraphError) as caught:
        gradients(y, x)
    assert caught.value.code == "no-gradient"
    assert "full_matrices=True" in caught.value.found
    assert factor in caught.value.found
