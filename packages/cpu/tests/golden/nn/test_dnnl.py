"""Products, convolutions and pooling against the NumPy reference on drawn shapes and attributes."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import native_ops
import numpy as np
import pytest
from agreement import assert_agrees, outcome
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr

pytestmark = native_ops.needs_onednn()
DRAWN = settings(
    max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
FUSIONS: list[list[str]] = [
    [],
    ["BiasAdd"],
    *[
        ["BiasAdd", name]
        for name in (
            "Relu",
            "Relu6",
            "Elu",
            "Selu",
            "LeakyRelu",
            "Tanh",
            "Sigmoid",
            "Softplus",
            "Softsign",
            "GeluApproximate",
            "GeluExact",
        )
    ],
    ["BiasAdd", "Add"],
    ["BiasAdd", "Add", "Relu"],
    ["BiasAdd", "Tanh", "Add", "Relu6"],
    ["FusedBatchNorm"],
    ["FusedBatchNorm", "Relu"],
    ["FusedBatchNorm", "Elu", "BiasAdd"],
]


assert_close = partial(assert_agrees, exact=False)


def _numbers(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def _fused(
    rng: np.random.Generator, steps: list[str], shape: tuple[int, ...], first: bool
) -> list[Any]:
    channels = shape[1 if first and len(shape) > 2 else -1]
    out = []
    for step in steps:
        if step == "BiasAdd":
            out.append(_numbers(rng, (channels,)))
        elif step == "Add":
            out.append(_numbers(rng, shape))
        elif step == "FusedBatchNorm":
            out += [_numbers(rng, (channels,)) for _ in range(3)]
            out.append(rng.random(channels).astype(np.float32) + np.float32(0.1))
    return out


dims = st.integers(0, 9) | st.sampled_from([16, 17, 33, 64])


@DRAWN
@given(dims, dims, dims, st.booleans(), st.booleans(), st.sampled_from(FUSIONS), st.booleans())
def test_products(
    m: int, k: int, n: int, flip_a: bool, flip_b: bool, steps: list[str], odd: bool
) -> None:
    rng = np.random.default_rng(m * 100 + k * 10 + n)
    a = _numbers(rng, (k, m) if flip_a else (m, k))
    b = _numbers(rng, (n, k + odd) if flip_b else (k + odd, n))
    flips = {"transpose_a": flip_a, "transpose_b": flip_b}
    if not steps:
        assert_close("MatMul", a, b, **flips)
        return
    args = _fused(rng, steps, (m, n), first=False)
    assert_close("_FusedMatMul", a, b, *args, num_args=len(args), fused_ops=steps, **flips)


@DRAWN
@given(
    st.lists(st.tuples(st.integers(1, 3), st.sampled_from("abAB=")), max_size=6),
    st.integers(0, 3), st.integers(0, 3), dims, dims, dims, st.booleans(), st.booleans(),
)  # fmt: skip
def test_batches(
    lead: list[tuple[int, str]],
    skip_a: int,
    skip_b: int,
    m: int,
    k: int,
    n: int,
    flip_a: bool,
    flip_b: bool,
) -> None:
    rng = np.random.default_rng(len(lead))
    la = [1 if kind == "a" else size for size, kind in lead]
    lb = [1 if kind == "b" else size for size, kind in lead]
    la, lb = (la[skip_a:], lb) if skip_a else (la, lb[skip_b:])
    a = _numbers(rng, (*la, k, m) if flip_a else (*la, m, k))
    b = _numbers(rng, (*lb, n, k) if flip_b else (*lb, k, n))
    assert_close("BatchMatMulV2", a, b, adj_x=flip_a, adj_y=flip_b)
    assert_close("BatchMatMul", a, b, adj_x=flip_a, adj_y=flip_b)


@st.composite
def windows(draw: st.DrawFn, rank: int) -> dict[str, Any]:
    """Attributes of a convolution, and its shapes."""
    first = draw(st.booleans())
    spatial = [draw(st.integers(1, 9) | st.integers(0, 1)) for _ in range(rank)]
    size = [draw(st.integers(1, 4)) for _ in range(rank)]
    groups, depth, each = (
        draw(st.sampled_from(values)) for values in ([1, 1, 2, 3], [1, 3, 8, 16], [1, 4, 16])
    )
    padding = draw(st.sampled_from(["SAME", "VALID"] + ["EXPLICIT"] * (rank == 2)))

    def inner(values: list[int]) -> list[int]:
        return [1, 1, *values] if first else [1, *values, 1]

    strides = [draw(st.integers(1, 3)) for _ in range(rank)]
    rates = [draw(st.integers(1, 2)) for _ in range(rank)]
    pads = [[0, 0], *[[draw(st.integers(0, 3)) for _ in range(2)] for _ in range(rank)]]
    pads = [*pads[:1], [0, 0], *pads[1:]] if first else [*pads, [0, 0]]
    names = ("NCHW", "NHWC") if rank == 2 else ("NCDHW", "NDHWC")
    attrs = {
        "strides": inner(strides), "dilations": inner(rates), "padding": padding,
        "data_format": names[0] if first else names[1],
    }  # fmt: skip
    if padding == "EXPLICIT":
        attrs["explicit_paddings"] = [v for pair in pads for v in pair]
    channels, batch = groups * depth, draw(st.sampled_from([0, 1, 2, 3, 3]))
    x = (batch, channels, *spatial) if first else (batch, *spatial, channels)
    return {"attrs": attrs, "x": x, "filter": (*size, depth, groups * each), "first": first,
            "depthwise": (*size, channels, each)}  # fmt: skip


def _output(op: str, *inputs: Any, **attrs: Any) -> Any:
    out = outcome(run_op, op, *inputs, **attrs)
    return None if isinstance(out, str) else out[0]


def _check_convolution(case: dict[str, Any], op: str, filters: Any, steps: list[str]) -> None:
    rng = np.random.default_rng(7)
    attrs, x = case["attrs"], _numbers(rng, case["x"])
    w = _numbers(rng, filters)
    assert_close(op, x, w, **attrs)
    y = _output(op, x, w, **attrs)
    if y is None:
        return
    if steps and ("explicit_paddings" not in attrs or op == "Conv2D"):
        args = _fused(rng, steps, y.shape, case["first"])
        kinds: dict[str, Any] = (
            {"TArgs": [as_dtype("float32")] * len(args)} if op == "Conv2D" else {}
        )
        assert_close(
            "_Fused" + op, x, w, *args, num_args=len(args), fused_ops=steps, **kinds, **attrs
        )
    dy = _numbers(rng, y.shape)
    ending = "V2" if op == "Conv3D" else ""
    assert_close(f"{op}BackpropInput{ending}", np.array(x.shape, np.int32), w, dy, **attrs)
    assert_close(f"{op}BackpropFilter{ending}", x, np.array(w.shape, np.int32), dy, **attrs)


@DRAWN
@given(windows(2), st.sampled_from(FUSIONS))
def test_convolutions(case: dict[str, Any], steps: list[str]) -> None:
    _check_convolution(case, "Conv2D", case["filter"], steps)


@DRAWN
@given(windows(2), st.sampled_from(FUSIONS))
def test_depthwise_convolutions(case: dict[str, Any], steps: list[str]) -> None:
    _check_convolution(case, "DepthwiseConv2dNative", case["depthwise"], steps)


@settings(DRAWN, max_examples=30)
@given(windows(3), st.sampled_from(FUSIONS))
def test_volumes(case: dict[str, Any], steps: list[str]) -> None:
    _check_convolution(case, "Conv3D", case["filter"], steps)


@DRAWN
@given(st.sampled_from([2, 3]).flatmap(lambda r: st.tuples(st.just(r), windows(r))))
def test_pooling(drawn: tuple[int, dict[str, Any]]) -> None:
    rank, case = drawn
    rng = np.random.default_rng(11)
    attrs = {k: v for k, v in case["attrs"].items() if k != "dilations"}
    size = list(case["filter"][:rank])
    attrs["ksize"] = [1, 1, *size] if case["first"] else [1, *size, 1]
    x = rng.integers(-2, 3, case["x"]).astype(np.float32)  # with ties
    x[rng.random(x.shape) < 0.02] = np.nan
    ending = "3D" if rank == 3 else ""
    assert_agrees("MaxPool" + ending, x, **attrs)
    y = _output("MaxPool" + ending, x, **attrs)
    if y is None:
        return
    dy = _numbers(rng, y.shape)
    if rank == 2:
        assert_close("MaxPoolGrad", x, y, dy, **attrs)
    if attrs["padding"] == "EXPLICIT":
        return
    assert_close("AvgPool" + ending, x, **attrs)
    assert_close(f"AvgPool{ending}Grad", np.array(x.shape, np.int32), dy, **attrs)


def _convolution(weights: Any) -> Session:
    graph = Graph()
    floats = as_dtype("float32")
    x = graph.add("Placeholder", "x", attrs={"dtype": floats, "shape": None})
    w = graph.add("Const", "w", attrs={"dtype": floats, "value": TensorAttr(array=weights)})
    attrs = {"T": floats, "strides": [1, 1, 1, 1], "padding": "SAME", "explicit_paddings": [],
             "data_format": "NHWC", "dilations": [1] * 4, "use_cudnn_on_gpu": True}  # fmt: skip
    graph.add("Conv2D", "y", [x, w], attrs=attrs)
    return Session(graph, SessionConfig(executor="native", optimizer="off"))


def test_one_kernel_in_several_threads() -> None:
    """Shapes alternate, so that threads find, make and run plans and packed weights at once."""
    native_ops.load()
    rng = np.random.default_rng(3)
    weights = _numbers(rng, (3, 3, 8, 16))
    session = _convolution(weights)
    images = [_numbers(rng, (1, n, n, 8)) for n in range(3, 90)]  # more than are kept
    attrs: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}
    want = [run_op("Conv2D", x, weights, **attrs)[0] for x in images]

    def work(start: int) -> None:
        for k in range(2 * len(images)):
            at = (start + k) % len(images)
            (found,) = session.run(["y:0"], {"x:0": images[at]})
            np.testing.assert_allclose(found, want[at], rtol=1e-4, atol=1e-4)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(0, 80, 20)))


@DRAWN
@given(
    st.lists(st.sampled_from([1, 2, 7, 31, 32, 33, 40]), min_size=1, max_size=3),
    st.sampled_from([1, 5, 64, 100]), st.sampled_from([1, 3, 128, 300]), st.booleans(),
    st.sampled_from([[], ["BiasAdd"], ["BiasAdd", "Relu"]]),
)  # fmt: skip
def test_products_with_constants(
    rows: list[int], k: int, n: int, flip: bool, steps: list[str]
) -> None:
    """Packed for few rows, as they are for many; the same matrix for all of a session's runs."""
    native_ops.load()
    rng = np.random.default_rng(k * n + rows[0])
    weights = _numbers(rng, (n, k) if flip else (k, n))
    graph, floats = Graph(), as_dtype("float32")
    x = graph.add("Placeholder", "x", attrs={"dtype": floats, "shape": None})
    w = graph.add("Const", "w", attrs={"dtype": floats, "value": TensorAttr(array=weights)})
    attrs: dict[str, Any] = {"T": floats, "transpose_a": False, "transpose_b": flip}
    args = _fused(rng, steps, (1, n), first=False)
    if steps:
        fused = {"num_args": len(args), "fused_ops": steps, "epsilon": 1e-4, "leakyrelu_alpha": 0.2}
        bias = graph.add("Const", "b", attrs={"dtype": floats, "value": TensorAttr(array=args[0])})
        graph.add("_FusedMatMul", "y", [x, w, bias], attrs=attrs | fused)
    else:
        graph.add("MatMul", "y", [x, w], attrs=attrs)
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    for m in [*rows, *rows]:
        a = _numbers(rng, (m, k))
        (found,) = session.run(["y:0"], {"x:0": a})
        (want,) = run_op("MatMul", a, weights, transpose_b=flip)
        want = want + args[0] if args else want
        want = np.maximum(want, 0) if "Relu" in steps else want
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


EQUATIONS = (
    "ab,bc->ac", "ab,cb->ac", "ba,bc->ca", "abcd,cde->abe", "abc,cde->abde", "btnh,bfnh->bnft",
    "bnft,btnh->bfnh", "abc,abc->", "abc,cb->a", "a,b->ab", "a,b->ba", "ab,ab->ab", "ab,b->a",
    "abc,ad->cd", "aab,bc->ac", "abc,bd->ada", "ab->ba", "abc->b", "aab->ba", "ab->aab", "abc->",
    "...ab,...bc->...ac", "a...,...b->...ab", "...a,a->...", "...ab->...ba", "...a->a",
    "abd,cbd->acb",
)  # fmt: skip


@settings(DRAWN, max_examples=300)
@given(st.sampled_from(EQUATIONS), st.data())
def test_sums(equation: str, data: st.DataObject) -> None:
    terms = equation.split("->")[0].split(",")
    sizes = {k: data.draw(st.sampled_from([0, 1, 1, 2, 3, 5, 17])) for k in "abcdefhnt"}
    lead = data.draw(st.lists(st.integers(1, 3), max_size=2))
    rng = np.random.default_rng(5)
    operands = []
    for term in terms:
        dots = [1 if data.draw(st.booleans()) else n for n in lead]
        shape: list[int] = []
        for letter in term.replace("...", "."):
            shape += dots if letter == "." else [sizes[letter]]
        operands.append(_numbers(rng, tuple(shape)))
    assert_close("Einsum", *operands, equation=equation)


@pytest.mark.parametrize("setting", ["OMP_THREAD_LIMIT=1", "OMP_DYNAMIC=true"])
def test_fewer_threads_than_wanted_do_all_of_the_work(setting: str) -> None:
    name, _, value = setting.partition("=")
    program = (
        "import numpy as np, native_ops\n"
        "x = np.random.default_rng(0).standard_normal((12, 128, 128)).astype(np.float32)\n"
        "(found,) = native_ops.run_native('BatchMatMulV2', x, x)\n"
        "print(np.allclose(found, x @ x, rtol=1e-3, atol=1e-3))\n"
    )
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    environment = {**os.environ, name: value, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == "True\n", done.stderr
