"""Functions that run as graphs: traces, variables, branches, loops, gradients, saving."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.errors import BadRequest, DrystoneError, ShapeError
from drystone_base.tracing import operations as ops

F32 = np.float32
any_ops: Any = ops  # what the stub refuses, and named results


def floats(*shape: int) -> Any:
    return np.random.default_rng(0).uniform(-1, 1, shape).astype(F32)


# ---- traces ----------------------------------------------------------------------------------


def test_a_function_is_traced_once_for_each_signature() -> None:
    calls = []

    @ds.function
    def twice(x: Any, factor: int = 2) -> Any:
        calls.append(x)
        return x * factor

    x = floats(2, 3)
    assert (twice(x) == x * 2).all()
    assert (twice(x + 1) == (x + 1) * 2).all()
    assert len(calls) == 1
    assert (twice(x, factor=3) == x * 3).all()
    assert (twice(x[:1]) == x[:1] * 2).all()
    assert len(calls) == len(twice.traces) == 3
    said = twice.explain()
    assert "2. <Traced twice(x=float32 [2, 3], factor=3): " in said
    assert "   not 1: factor is 3, there 2" in said
    assert "   not 2: x is float32 [1, 3], there float32 [2, 3]; factor is 2, there 3" in said
    assert isinstance(twice.graph, ds.Graph)
    ds.validate(twice.graph)


def test_nests_go_in_and_come_out() -> None:
    @ds.function
    def swap(pair: dict[str, Any]) -> Any:
        return {"sum": [pair["a"] + pair["b"][0]], "same": (pair["a"], None)}

    found = swap({"a": F32(1), "b": [floats(2)]})
    assert list(found) == ["sum", "same"]
    np.testing.assert_allclose(found["sum"][0], 1 + floats(2))
    assert found["same"][0] == 1
    assert found["same"][1] is None


def test_a_stated_signature_serves_for_all_sizes() -> None:
    @ds.function(signature=[ds.Spec([None, 3])])
    def total(x: Any) -> Any:
        assert x.shape == (None, 3)
        return x.sum(1)

    assert total(floats(2, 3)).shape == (2,)
    assert total(floats(5, 3)).shape == (5,)
    assert len(total.traces) == 1
    with pytest.raises(BadRequest, match="not for such arguments") as caught:
        total(floats(2, 4))
    assert caught.value.code == "wrong-arguments"


def test_many_traces_are_told() -> None:
    @ds.function
    def plus(x: Any, n: int) -> Any:
        return x + n

    for n in range(7):
        plus(floats(1), n)
    with pytest.warns(ds.RetraceWarning, match="because of n is 7, there 6"):
        plus(floats(1), 7)
    assert plus(floats(1), 8) == floats(1) + 8  # which says nothing more


def test_functions_inside_functions_are_parts_of_them() -> None:
    inner = ds.function(lambda x: x + 1)

    @ds.function
    def outer(x: Any) -> Any:
        return inner(inner(x))

    assert outer(F32(1)) == 3
    assert inner.traces == []


def test_methods_are_functions() -> None:
    class Model:
        def __init__(self) -> None:
            self.w = ds.Variable(2.0, "w")

        @ds.function
        def scaled(self, x: Any) -> Any:
            return self.w * x

    one, two = Model(), Model()
    two.w.assign(3.0)
    assert (one.scaled(F32(2)), two.scaled(F32(2))) == (4, 6)


# ---- operators -------------------------------------------------------------------------------


def test_operators_are_those_of_numpy() -> None:
    def compute(x: Any, y: Any) -> list[Any]:
        return [
            x + y, 1 - x, x * 2, x / y, 3 // abs(y) if isinstance(x, np.ndarray) else 3.0 // 1.0,
            x**2, 2**x, -x, abs(x), x @ y.T, x < y, x >= y, x == y, x != y, x[0], x[-1, 1:],
            x[..., None], x[::-1], x[:, 0], x.sum(), x.sum(0), x.mean(1, keepdims=True), x.max(),
            x.min(axis=1), x.prod(), x.reshape(3, 2), x.reshape(-1), x.T, x.transpose(1, 0),
            x.astype("int32"), (x > 0) & (y > 0), (x > 0) | (y > 0), ~(x > 0), x % 2,
        ]  # fmt: skip

    x, y = floats(2, 3), floats(2, 3)[::-1] + F32(2)
    found, expected = ds.function(compute)(x, y), compute(x, y)
    for k, (a, b) in enumerate(zip(found, expected, strict=True)):
        if k != 4:
            assert a.dtype == np.asarray(b).dtype, k
            np.testing.assert_allclose(a, b, rtol=1e-6, err_msg=str(k))


def test_ops_outside_of_functions_compute_at_once() -> None:
    assert any_ops.matmul(floats(2, 3), floats(3, 2)).shape == (2, 2)
    found = any_ops.top_k_v2([1.0, 3.0, 2.0], 2)
    assert (found.values.tolist(), found.indices.tolist()) == ([3, 2], [1, 2])
    assert [part.tolist() for part in any_ops.split(0, [1, 2], num_split=2)] == [[1], [2]]
    assert any_ops.string_join(["a", "b"]).item() == b"ab"


def test_every_op_has_a_function_with_a_text() -> None:
    names = ops.functions()
    assert len(names) == len(set(names.values())) > 1300
    assert {"matmul", "conv2d", "top_k_v2", "l2_loss", "batch_matmul_v2", "if_"} <= names.keys()
    text = ops.conv2d.__doc__ or ""
    assert text.startswith("Conv2D: input: T, filter: T -> output: T.")
    assert "padding: string (SAME, VALID, EXPLICIT)" in text
    for name in names:
        assert (getattr(ops, name).__doc__ or "").startswith(names[name] + ":"), name
    assert dir(ops) == sorted(names)


def test_wrong_calls_of_ops_are_refused() -> None:
    with pytest.raises(AttributeError, match="did you mean matmul"):
        any_ops.matmull  # noqa: B018
    calls: list[tuple[Callable[[], Any], str]] = [
        (lambda: any_ops.matmul(*[1.0]), "nothing for b"),
        (lambda: any_ops.matmul([[1.0]], [[1.0]], transpose=True), "an argument 'transpose'"),
        (lambda: any_ops.matmul([[1.0]], [[1.0]], a=[[1.0]]), "'a' twice"),
        (lambda: any_ops.matmul([[1.0]], [[1.0]], [[1.0]]), "3 arguments"),
        (lambda: any_ops.add_n(1.0), "a float for 'inputs', which is a list"),
    ]
    for wrong, text in calls:
        with pytest.raises(BadRequest) as caught:
            wrong()
        assert (caught.value.code, text in caught.value.found) == ("wrong-arguments", True)
    with pytest.raises(ShapeError):
        any_ops.matmul(floats(2, 3), floats(2, 3))
    with pytest.raises(DrystoneError, match="float64"):
        any_ops.matmul(floats(2, 2), np.ones((2, 2)))
    with pytest.raises(BadRequest, match="cannot be int32") as caught:
        ops.add_v2(np.int32(1), 1.5)
    assert caught.value.code == "bad-argument"
    with pytest.raises(BadRequest) as caught:
        ops.random_uniform([2], dtype="float32")
    assert caught.value.code == "no-run"


@pytest.mark.parametrize(
    "use", [bool, float, int, np.asarray, lambda x: [1, 2][x], len, lambda x: list(x)]
)
def test_a_traced_value_is_asked_for(use: Any) -> None:
    with pytest.raises(BadRequest, match="while it is traced") as caught:
        ds.function(lambda x: use(x))(F32(1))
    assert caught.value.code == "symbolic-value"


def test_tensors_do_not_leave_their_function() -> None:
    kept = []
    ds.function(lambda x: kept.append(x))(F32(1))
    with pytest.raises(BadRequest, match="outside of the function") as caught:
        ds.function(lambda x: x + kept[0])(F32(1))
    assert caught.value.code == "leaked-tensor"
    with pytest.raises(BadRequest, match="outside of the function"):
        kept[0] + 1


def test_an_index_that_is_none_is_refused() -> None:
    with pytest.raises(BadRequest, match="cannot be indexed"):
        ds.function(lambda x: x["a"])(floats(2))


# ---- variables -------------------------------------------------------------------------------


def test_variables_are_written_in_order() -> None:
    v = ds.Variable(np.zeros(2, F32), "v")
    w = ds.Variable(np.zeros(2, F32), "v")
    assert (v.name, w.name) == ("v", "v_1")

    @ds.function
    def step(x: Any) -> Any:
        before = v + 0.0
        v.assign_add(x)
        w.assign(v)
        v.assign_sub(x * 3)
        return before, v * 1.0

    before, after = step(np.ones(2, F32))
    assert (before.tolist(), after.tolist()) == ([0, 0], [-2, -2])
    assert (v.value.tolist(), w.value.tolist()) == ([-2, -2], [1, 1])
    v.assign([5, 6])
    assert (v + 1).tolist() == [6, 7]
    assert np.asarray(v).tolist() == [5, 6]


def test_what_means_nothing_is_refused() -> None:
    deep: list[Any] = []
    deep.append(deep)
    for wrong in (
        lambda: ds.function(3),  # type: ignore[call-overload]
        lambda: ds.function(int),
        lambda: ds.cond(np.ones(2), len, len),
        lambda: ds.switch("a", [len]),
        lambda: ds.while_loop(lambda x: x, lambda x: (x,), (np.ones(2),)),
        lambda: ds.Variable("x", dtype="float32"),
        lambda: ds.function(lambda x: x)(deep),
        lambda: ds.gradients(np.float32(0), np.zeros(())),
        lambda: ds.function(lambda x: x)(1, 2),
    ):
        with pytest.raises(BadRequest):
            wrong()


def test_a_function_that_only_writes_runs() -> None:
    v = ds.Variable(0.0, "count")

    @ds.function
    def count() -> None:
        v.assign_add(1.0)

    for _ in range(3):
        assert count() is None
    assert v.value == 3


def test_variables_keep_their_dtype_and_shape() -> None:
    v = ds.Variable([1.0, 2.0], "kept")
    assert (v.dtype.label, v.shape) == ("float32", (2,))
    for wrong in (lambda: v.assign([1.0]), lambda: ds.function(lambda x: v.assign(x))(floats(3))):
        with pytest.raises(BadRequest) as caught:
            wrong()
        assert caught.value.code == "variable-mismatch"
    with pytest.raises(BadRequest):
        ds.Variable("text")


def test_variables_go_with_their_objects() -> None:
    v = ds.Variable(1.0, "short-lived")
    name, everywhere = v.name, ds.VariableStore.active()
    assert name in everywhere
    del v
    gc.collect()
    assert name not in everywhere


# ---- branches and loops ----------------------------------------------------------------------


def test_branches_use_what_is_outside_and_write() -> None:
    hits = ds.Variable(0.0, "hits")

    @ds.function
    def choose(x: Any, y: Any) -> Any:
        def yes(scale: Any) -> Any:
            hits.assign_add(1.0)
            return {"v": x * scale}

        return ds.cond(x.sum() > 0, yes, lambda scale: {"v": y - scale}, 2.0)

    assert choose(F32(3), F32(1))["v"] == 6
    assert choose(F32(-3), F32(1))["v"] == -1
    assert hits.value == 1
    assert ds.cond(True, lambda: 1, lambda: 2) == 1


def test_switches() -> None:
    @ds.function
    def pick(k: Any, x: Any) -> Any:
        return ds.switch(k, [lambda v: v + 1, lambda v: v * 2, lambda v: -v], x)

    assert [float(pick(np.int32(k), F32(5))) for k in (0, 1, 2, 7)] == [6, 10, -5, -5]
    assert ds.switch(1, [lambda: "a", lambda: "b"]) == "b"


def test_loops_grow_shapes_and_use_what_is_outside() -> None:
    @ds.function
    def loop(n: Any, x: Any) -> Any:
        def body(k: Any, v: Any) -> Any:
            return k + 1, ops.concat_v2([v, x], 0)

        count, grown = ds.while_loop(lambda k, _: k < n, body, (0, x))
        assert grown.shape == (None,)
        return count, grown

    count, grown = loop(np.int32(3), floats(2))
    assert (count, grown.shape) == (3, (8,))
    assert ds.while_loop(lambda k: k < 3, lambda k: (k + 1,), (0,)) == (3,)


def test_branches_that_differ_are_refused() -> None:
    def bad(x: Any) -> Any:
        return ds.cond(x > 0, lambda: x, lambda: (x, x))

    def worse(x: Any) -> Any:
        return ds.while_loop(lambda v: v > 0, lambda v: (v > 0,), (x,))

    def worst(x: Any) -> Any:
        return ds.while_loop(lambda v: v, lambda v: (v,), (x,))

    for wrong in (bad, worse, worst):
        with pytest.raises(BadRequest) as caught:
            ds.function(wrong)(F32(1))
        assert caught.value.code == "branches-differ"
    with pytest.raises(BadRequest, match="no branches"):
        ds.switch(0, [])


# ---- gradients -------------------------------------------------------------------------------


def test_gradients_of_functions() -> None:
    def loss(p: dict[str, Any], x: Any) -> Any:
        return ((x @ p["w"] + p["b"]) ** 2).sum()

    p = {"w": floats(3, 2), "b": floats(2)}
    x = floats(4, 3)
    value, found = ds.value_and_grad(loss)(p, x)
    error = x @ p["w"] + p["b"]
    np.testing.assert_allclose(value, (error**2).sum(), rtol=1e-5)
    np.testing.assert_allclose(found["w"], 2 * x.T @ error, rtol=1e-4)
    np.testing.assert_allclose(found["b"], 2 * error.sum(0), rtol=1e-4)
    second = ds.grad(lambda v: ds.grad(lambda u: u**3)(v))(np.float64(2))
    assert second == 12
    assert ds.grad(lambda x, y: (x * y).sum(), argnums=(1, 0))(F32(3), F32(4)) == (3, 4)
    assert ds.grad(lambda x: ops.floor(x))(F32(3)) == 0
    with pytest.raises(BadRequest, match="more than one number"):
        ds.grad(lambda x: x)(floats(2))
    with pytest.raises(BadRequest, match="not given"):
        ds.grad(lambda x: x, argnums=1)(F32(2))


def test_gradients_by_variables_train() -> None:
    w = ds.Variable(np.zeros((3, 1)), "w")
    x = np.random.default_rng(0).normal(size=(50, 3))
    y = x @ np.array([[1.0], [-2.0], [0.5]])

    @ds.function
    def step(x: Any, y: Any) -> Any:
        loss = ((x @ w - y) ** 2).mean()
        (dw,) = ds.gradients(loss, [w])
        w.assign_sub(0.3 * dw)
        return loss

    losses = [step(x, y) for _ in range(60)]
    assert losses[-1] < 1e-6 < losses[0]
    with pytest.raises(BadRequest) as caught:
        ds.gradients(w, w)
    assert caught.value.code == "no-run"


def test_gathered_rows_train_as_slices() -> None:
    table = ds.Variable(np.ones((4, 2), F32), "table")

    @ds.function
    def step(ids: Any) -> Any:
        loss = ops.gather_v2(table, ids, 0).sum()
        (grad,) = ds.gradients(loss, [table])
        assert isinstance(grad, ds.IndexedSlices)
        table.assign_sub(grad)
        return loss

    assert step(np.array([1, 3, 1], np.int32)) == 6
    assert table.value.tolist() == [[1, 1], [-1, -1], [1, 1], [0, 0]]


def test_gradients_through_branches_and_loops_of_functions() -> None:
    w = ds.Variable(2.0, "w", dtype="float64")

    @ds.function
    def slope(x: Any, n: Any) -> Any:
        _, y = ds.while_loop(
            lambda k, _: k < n,
            lambda k, v: (k + 1, ds.cond(v > 0, lambda: v * w, lambda: v - w)),
            (0, x),
        )
        return ds.gradients(y, [x, w])

    dx, dw = slope(np.float64(3), np.int32(3))
    assert (dx, dw) == (8, 36)
    dx, dw = slope(np.float64(-3), np.int32(3))
    assert (dx, dw) == (1, -3)


# ---- saving ----------------------------------------------------------------------------------


def test_a_function_is_saved_with_its_variables(tmp_path: Path) -> None:
    w = ds.Variable(floats(3, 2), "w")

    @ds.function(signature=[ds.Spec([None, 3])])
    def predict(x: Any) -> Any:
        return {"scores": ops.softmax(x @ w)}

    ds.save(predict, tmp_path / "model")
    x = floats(5, 3)
    expected = predict(x)["scores"]
    w.assign(np.zeros((3, 2), F32))
    model = ds.load(tmp_path / "model")
    np.testing.assert_allclose(model(x=x)["scores"], expected, rtol=1e-6)


def test_one_of_several_traces_is_saved(tmp_path: Path) -> None:
    double = ds.function(lambda x: x * 2)
    with pytest.raises(BadRequest) as caught:
        ds.save(double, tmp_path / "none")
    assert caught.value.code == "not-traced"
    with pytest.raises(BadRequest, match="has not been traced"):
        double.graph  # noqa: B018
    double(floats(2))
    double(floats(3))
    with pytest.raises(BadRequest, match="has 2 traces"):
        ds.save(double, tmp_path / "two")
    ds.save(double.trace(ds.Spec([None])), tmp_path / "one")
    assert ds.load(tmp_path / "one")(floats(4))["output"].shape == (4,)


# ---- what is no shape ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "found"),
    [
        ((-3,), r"\[-3\]"),
        ((2, 2**63), r"\[2, 9223372036854775808\]"),
        (range(10**12), "more than 254 sizes"),
        ([1] * 255, "more than 254 sizes"),
    ],
)
def test_a_spec_has_a_shape_that_an_array_can_have(shape: Any, found: str) -> None:
    with pytest.raises(BadRequest, match=f"no array has this shape(.|\n)*found: {found}"):
        ds.Spec(shape)


def test_a_spec_takes_every_shape_of_an_array() -> None:
    assert ds.Spec([1] * 254).shape == (1,) * 254
    assert ds.Spec((0, None, np.int64(2))).shape == (0, None, 2)
