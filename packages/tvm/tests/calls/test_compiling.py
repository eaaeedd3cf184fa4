"""Functions and regions compiled by TVM: values, what is stated, what is refused."""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import drystone_tvm
import numpy as np
import pytest
from drystone_tvm.compiling.stated import stated
from drystone_tvm.compiling.tools import interruptible
from random_regions import check

import drystone_base as ds
from drystone_base.tracing import operations as ops

pytest.importorskip("tvm", reason="apache-tvm is not installed: `nox -s tvm` installs it")
F32 = np.float32
Spec = ds.Spec
Case = tuple[Callable[..., Any], tuple[ds.Spec, ...]]

CASES: dict[str, Case] = {
    "dense": (
        lambda x, w, b: ops.relu(ops.bias_add(ops.matmul(x, w), b)),
        (Spec([None, 7]), Spec([7, 16]), Spec([16])),
    ),
    "turned": (
        lambda x, y: ops.batch_matmul_v2(x, y, adj_x=True, adj_y=True),
        (Spec([2, 4, 3]), Spec([1, 5, 4])),
    ),
    "attention": (
        lambda q, k: ops.softmax(ops.batch_matmul_v2(q, k, adj_y=True) * 0.25),
        (Spec([None, 6, 16]), Spec([1, 6, 16])),
    ),
    "convolution": (
        lambda x, w: ops.conv2d(x, w, strides=[1, 2, 2, 1], padding="SAME"),
        (Spec([None, 9, 8, 3]), Spec([3, 3, 3, 8])),
    ),
    "dilated": (
        lambda x, w: ops.conv2d(
            x, w, strides=[1, 1, 1, 1], padding="VALID", dilations=[1, 2, 2, 1]
        ),
        (Spec([2, 9, 8, 3]), Spec([3, 2, 3, 5])),
    ),
    "depthwise": (
        lambda x, w: ops.depthwise_conv2d_native(x, w, strides=[1, 1, 1, 1], padding="SAME"),
        (Spec([1, 5, 6, 4]), Spec([3, 3, 4, 2])),
    ),
    "largest": (
        lambda x: ops.max_pool(x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="SAME"),
        (Spec([None, 7, 7, 4]),),
    ),
    "average": (
        lambda x: ops.avg_pool(x, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding="SAME"),
        (Spec([None, 7, 6, 4]),),
    ),
    "normalized": (
        lambda x, s, o, m, v: ops.fused_batch_norm_v3(x, s, o, m, v * v, is_training=False)[0],
        (Spec([None, 4, 4, 8]), *[Spec([8])] * 4),
    ),
    "rows": (
        lambda x, k: ops.gather_v2(x, k, 0),
        (Spec([9, 4]), Spec([None, 3], "int32")),
    ),
    "columns": (lambda x, k: ops.gather_v2(x, k, 1), (Spec([9, 4]), Spec([5], "int64"))),
    "moved": (
        lambda x: ops.reshape(ops.transpose(x, [1, 0, 2]), [3, -1]),
        (Spec([2, 3, 4]),),
    ),
    "flat": (lambda x: ops.reshape(x, [-1, 12]), (Spec([None, 3, 4]),)),
    "cut": (lambda x: ops.slice(x, [1, 0], [2, 3]), (Spec([4, 5]),)),
    "padded": (lambda x: ops.pad(x, [[0, 0], [2, 1]]), (Spec([None, 3]),)),
    "filled": (lambda x: ops.pad_v2(x, [[1, 2]], 7.0), (Spec([3]),)),
    "joined": (lambda x, y: ops.concat_v2([x, y], 1), (Spec([None, 3]), Spec([None, 4]))),
    "packed": (lambda x, y: ops.pack([x, y], axis=1), (Spec([2, 3]), Spec([2, 3]))),
    "repeated": (lambda x: ops.tile(ops.expand_dims(x, 1), [1, 3]), (Spec([4]),)),
    "squeezed": (lambda x: ops.squeeze(x, squeeze_dims=[1]), (Spec([4, 1, 3]),)),
    "cast": (lambda x: ops.cast(x > 0, DstT="int32") * 2, (Spec([5]),)),
    "logic": (
        lambda x: ops.all(ops.logical_or(x > 0, ops.logical_not(ops.is_nan(x))), [0]),
        (Spec([5, 2]),),
    ),
    "wide": (lambda x, y: x + y, (Spec([3, 1]), Spec([4]))),
    "table": (lambda x: x * np.array([1.0, 2.0, 4.0], F32), (Spec([None, 3]),)),
    "scalar": (lambda x: ops.sum(x, [0, 1]), (Spec([3, 4]),)),
    "itself": (lambda x: (x, x, x + 1), (Spec([3]),)),
}


def arrays_of(specs: tuple[ds.Spec, ...]) -> list[np.ndarray[Any, Any]]:
    chance = np.random.default_rng(7)
    found = []
    for spec in specs:
        shape = [5 if size is None else size for size in spec.shape]
        whole = str(spec.dtype).startswith("int")
        values = chance.integers(0, 4, shape) if whole else chance.normal(size=shape)
        found.append(np.asarray(values, str(spec.dtype)))
    return found


@pytest.mark.parametrize("name", CASES)
def test_compiled_functions_have_drystones_values(name: str, tmp_path: Path) -> None:
    function, specs = CASES[name]
    compiled = drystone_tvm.compile(function, *specs, path=tmp_path / "f.so")
    given = arrays_of(specs)
    found, expected = compiled(*given), ds.function(function)(*given)
    several = isinstance(expected, tuple | list)
    for x, y in zip(
        found if several else [found], expected if several else [expected], strict=True
    ):
        assert x.dtype == y.dtype
        assert x.shape == y.shape
        np.testing.assert_allclose(x, y, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("seed", range(24))
def test_random_regions_have_numpys_values(seed: int, tmp_path: Path) -> None:
    check(seed, tmp_path)


def test_a_region_of_a_graph_gives_way_to_its_library(tmp_path: Path) -> None:
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(-1, 3), name="x")
    b("Tanh", b("Mul", x, b.const(2.0), name="double"), name="y")
    made = drystone_tvm.compile(drystone_tvm.Region(graph, ["x"], ["y"]), path=tmp_path / "r.so")
    assert made.form is not None
    assert stated(tmp_path / "r.so") == made.form
    assert made.form.inputs[0].sizes == ("n0", 3)
    node = b.node(
        "TvmRuntime", [x], [], lib_path=made.path, function_name="main", Tin=["float32"],
        Tout=["float32"], output_shapes=[(-1, 3)], sizes_of=[0, 0], name="compiled",
    )  # fmt: skip
    ds.graph_editor.replace(graph, ["x"], ["y"], node, keep=["y"])
    config = ds.SessionConfig(access=ds.Access(libraries=(tmp_path,)))
    given = np.ones((4, 3), F32)
    found = ds.Session(graph, config).run("y:0", {"x:0": given})
    np.testing.assert_allclose(found, np.tanh(2 * given), rtol=1e-6)


def test_no_tensor_is_left_between_the_steps_of_a_chain(tmp_path: Path) -> None:
    def gelu(x: Any, s: Any, b: Any) -> Any:
        y = x * s + b
        return y * 0.5 * (1.0 + ops.tanh(0.7978846 * (y + 0.044715 * y * y * y)))

    specs = (Spec([None, 64]), Spec([64]), Spec([64]))
    drystone_tvm.compile(gelu, *specs, path=tmp_path / "gelu.so")
    assert b"AllocWorkspace" not in (tmp_path / "gelu.so").read_bytes()


def test_an_index_out_of_range_gives_nothing_of_the_memory_beside(tmp_path: Path) -> None:
    gather = drystone_tvm.compile(
        lambda x, k: ops.gather_v2(x, k, 0), Spec([2]), Spec([3], "int32"), path=tmp_path / "g.so"
    )
    assert gather(np.array([5, 6], F32), np.array([-1, 1, 2**31 - 1], "int32")).tolist() == [
        0,
        6,
        0,
    ]


def test_nan_and_infinities_stay(tmp_path: Path) -> None:
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 1], F32)
    both = drystone_tvm.compile(
        lambda x, y: (ops.maximum(x, y), ops.minimum(y, x), ops.relu(x), ops.max(x, [0])),
        Spec([5]), Spec([5]), path=tmp_path / "f.so",
    )  # fmt: skip
    found = both(special, special[::-1].copy())
    for x, y in zip(found[:3], (np.maximum(special, special[::-1]),
                                np.minimum(special, special[::-1]),
                                np.maximum(special, 0)), strict=True):  # fmt: skip
        np.testing.assert_array_equal(x, y)
    assert np.isnan(found[3])


def refused(text: str, function: Callable[..., Any], *specs: ds.Spec, **options: Any) -> None:
    with pytest.raises(ds.BadRequest, match=text) as caught:
        drystone_tvm.compile(function, *specs, **options)
    assert caught.value.code in ("not-compiled", "unknown-target")
    assert not Path(options["path"]).exists()


def test_what_has_no_rule_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "f.so"
    refused(
        r"Cumsum \(Cumsum\): there is no rule", lambda x: ops.cumsum(x, 0), Spec([3]), path=path
    )
    refused(
        "there is no rule for Div of int32", lambda x: ops.div(x, x), Spec([3], "int32"), path=path
    )
    refused("regions take no string", lambda x: x, Spec([3], "string"), path=path)
    refused("a constant of 100 elements", lambda x: x + np.ones(100, F32), Spec([100]), path=path)
    refused("the axes are known in a run only", lambda x, k: ops.sum(x, k), Spec([3, 2]),
            Spec([1], "int32"), path=path)  # fmt: skip
    refused("may be broadcast|known in a run only", lambda x, y: x + y, Spec([None]), Spec([None]),
            path=path)  # fmt: skip
    refused(
        "a size is known in a run only", lambda x: ops.pad(x, [[1, 0]]), Spec([None]), path=path
    )
    refused("there is no target 'opencl'", lambda x: x, Spec([3]), path=path, target="opencl")
    refused("there is no target 'llvm -mcpu=x'", lambda x: x, Spec([3]), path=path,
            target="llvm -mcpu=x")  # fmt: skip


def test_what_ctrl_c_has_brought_about_is_no_other_error() -> None:
    """TVM makes a RuntimeError of what is raised in a function that it calls back."""

    @interruptible()
    def interrupted() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise RuntimeError from None

    @interruptible()
    def lost() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    @interruptible()
    def failed() -> None:
        raise RuntimeError("for another reason")

    before = signal.getsignal(signal.SIGINT)
    for function in (interrupted, lost):
        with pytest.raises(KeyboardInterrupt):
            function()
    with pytest.raises(RuntimeError, match="for another reason"):
        failed()
    assert signal.getsignal(signal.SIGINT) is before


TWICE = (
    "Sub", "SquaredDifference", "Div", "Mul", "Maximum", "Minimum", "AddV2",
    "Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual",
)  # fmt: skip


@pytest.mark.parametrize("op", TWICE)
@pytest.mark.parametrize("other", ["itself", "zero", "minus zero", "of zero", "an equal"])
def test_what_is_not_finite_is_no_exception(op: str, other: str, tmp_path: Path) -> None:
    """TVM's simplifier knows rules of whole numbers, x - x = 0, x * 0 = 0 and x == x among them."""
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], np.float32)
    graph = ds.Graph()
    b = ds.Builder(graph)
    x = b("Placeholder", dtype="float32", shape=(7,), name="x")
    zero = b.const(np.float32(-0.0 if other == "minus zero" else 0.0))
    pairs = {"itself": (x, x), "of zero": (zero, x), "an equal": (b("Relu", x), b("Relu", x))}
    y = b(op, *pairs.get(other, (x, zero)))
    name = f"{b('LogicalNot', y)[0].name}:0" if op in TWICE[7:] else f"{y[0].name}:0"
    session = ds.Session(graph, ds.SessionConfig(executor="reference", optimizer="off"))
    with np.errstate(all="ignore"):
        expected = session.run(name, {"x:0": special})
    region = drystone_tvm.Region(graph, ["x:0"], [name])
    found = drystone_tvm.compile(region, path=tmp_path / "made.so")(special)
    np.testing.assert_array_equal(found, expected)
    if found.dtype.kind == "f":
        numbers = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(found)[numbers], np.signbit(expected)[numbers])


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("op", ["Sub", "AddV2", "Mul", "Neg", "Abs", "Square", "SquaredDifference"])
@pytest.mark.parametrize("reader", ["Less", "Equal", "Min", "Max", "Sum", "Prod", "AddV2"])
def test_whole_numbers_go_round(dtype: str, op: str, reader: str, tmp_path: Path) -> None:
    """TVM takes it that they never do: to it ``a < 0 - x`` is ``a + x < 0``."""
    ends = np.iinfo(dtype)
    few = [ends.min, ends.min + 1, -1, 0, 1, 2, ends.max - 1, ends.max]
    given = np.array(np.meshgrid(few, few)).reshape(2, 8, 8).astype(dtype)
    graph = ds.Graph()
    b = ds.Builder(graph)
    x, z = (b("Placeholder", dtype=dtype, shape=(8, 8), name=name) for name in "xz")
    y = b(op, x) if op in ("Neg", "Abs", "Square") else b(op, x, z)
    axis = b.const(np.array([0], np.int32))
    out = b(reader, y, axis) if reader in ("Min", "Max", "Sum", "Prod") else b(reader, y, z)
    feeds = {"x:0": given[0], "z:0": given[1]}
    session = ds.Session(graph, ds.SessionConfig(executor="reference", optimizer="off"))
    name = f"{out[0].name}:0"
    with np.errstate(all="ignore"):
        expected = session.run(name, feeds)
    made = drystone_tvm.compile(
        drystone_tvm.Region(graph, list(feeds), [name]), path=tmp_path / "made.so"
    )
    np.testing.assert_array_equal(made(*feeds.values()), expected)
