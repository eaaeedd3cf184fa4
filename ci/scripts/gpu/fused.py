"""Small graphs whose layers take in what follows them, with NaN among the inputs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import numpy as np

import drystone_base as ds
from ci.scripts.gpu import networks
from ci.scripts.gpu.check import differs
from ci.scripts.gpu.networks import Network
from drystone_base.graph import Output
from drystone_subgraph import executables

__all__ = ["fused_problems"]

TOLERANCES: Final = {"float32": 1e-4, "bfloat16": 6e-2, "float16": 1e-2}


def _conv_norm_relu(n: Network, x: Output) -> Output:
    return n.typed("Relu", n.norm(n.conv(x, 3, 16, 32), 32))


def _conv_relu6(n: Network, x: Output) -> Output:
    return n.typed("Relu6", n.norm(n.conv(x, 1, 16, 32), 32))


def _strided_bias(n: Network, x: Output) -> Output:
    return n.typed("BiasAdd", n.conv(x, 3, 16, 24, 2), n.normal(24, scale=1.0))


def _residual(n: Network, x: Output) -> Output:
    y = n.norm(n.conv(n.typed("Relu", n.norm(n.conv(x, 1, 16, 64), 64)), 3, 64, 16), 16)
    return n.typed("Relu", n.typed("AddV2", y, x))


def _residual_of_product(n: Network, x: Output) -> Output:
    return n.typed("Relu", n.typed("AddV2", n.norm(n.conv(x, 1, 16, 16), 16), x))


def _uneven(n: Network, x: Output) -> Output:
    weights = n.normal(3, 3, 16, 8, scale=0.1)
    y = n.typed("Conv2D", x, weights, strides=[1, 2, 2, 1], padding="SAME")
    return n.typed("Relu", n.typed("BiasAdd", y, n.normal(8, scale=1.0)))


def _depthwise(n: Network, x: Output) -> Output:
    return n.typed("Relu6", n.norm(n.depthwise(x, 16, 2), 16))


def _padded(n: Network, x: Output) -> Output:
    edges = n.const([[0, 0], [2, 2], [2, 2], [0, 0]], "int32")
    y = n.typed("Pad", x, edges, Tpaddings=ds.as_dtype("int32"))
    weights = n.normal(5, 5, 16, 8, scale=0.1)
    return n.typed("Elu", n.typed("Conv2D", y, weights, strides=[1, 1, 1, 1], padding="VALID"))


def _pooled(n: Network, x: Output) -> Output:
    edges = n.const([[0, 0], [1, 2], [1, 0], [0, 0]], "int32")
    y = n.typed("Pad", n.typed("Neg", x), edges, Tpaddings=ds.as_dtype("int32"))
    y = n.typed("MaxPool", y, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID")
    return n.typed("Relu", n.typed("Neg", n.conv(y, 1, 16, 8)))


def _few_channels(n: Network, x: Output) -> Output:
    whole = ds.as_dtype("int32")
    begin, size = n.const([0, 0, 0, 2], "int32"), n.const([-1, -1, -1, 3], "int32")
    few = n.typed("Slice", x, begin, size, Index=whole)
    return n.typed("Relu", n.norm(n.conv(few, 7, 3, 16, 2), 16))


def _dense(n: Network, x: Output) -> Output:
    y = n.typed("Relu", n.dense(n.shaped(x, 3 * 10 * 12, 16), 16, 40, 0.3))
    return n.typed("Tanh", n.dense(y, 40, 8, 0.3))


def _encoder(n: Network, x: Output) -> Output:
    wide = n.dense(n.shaped(x, 360, 16), 16, networks.HIDDEN, 0.3)
    y = networks._layer_norm(n, n.typed("AddV2", wide, n.normal(networks.HIDDEN, scale=1.0)))
    return networks._gelu(n, y)


def _attention(n: Network, x: Output) -> Output:
    size = networks.HIDDEN * 4
    wide = n.dense(n.shaped(x, 360, 16), 16, size, 0.05)  # as many as a batch of three has
    mask = n.const(np.where(np.arange(3 * networks.TOKENS) % 5, 0, -1e4))
    hidden = n.shaped(mask, 3, 1, 1, networks.TOKENS)
    rows = n.shaped(wide, 3, networks.HEADS, 360 * size // (36 * networks.TOKENS), networks.TOKENS)
    scores = n.typed("AddV2", n.typed("Mul", rows, n.const(0.125)), hidden)
    return n.typed("Softmax", scores)


def _heads(n: Network, x: Output, width: int, *shape: int) -> Output:
    """Rows in heads, [examples, heads, rows, depth] of a ``shape`` with rows before heads."""
    rows = n.shaped(n.dense(x, width, shape[2] * shape[3], 0.9 / width**0.5), *shape)
    whole = ds.as_dtype("int32")
    return n.typed("Transpose", rows, n.const([0, 2, 1, 3], "int32"), Tperm=whole)


def _self_attention(n: Network, x: Output) -> Output:
    rows = n.typed("Relu", n.dense(n.shaped(x, 360, 16), 16, 320, 0.2))
    # Weights that are too large to be joined when the region is compiled.
    q, k, v = (_heads(n, rows, 320, 3, 120, 4, 32) for _ in range(3))
    mask = n.const(np.where(np.arange(360) % 7 > 4, -1e4, 0.0).reshape(3, 1, 1, 120))
    scores = n.typed("Mul", n.typed("BatchMatMulV2", q, k, adj_y=True), n.const(0.2))
    weights = n.typed("Softmax", n.typed("AddV2", scores, mask))
    context = n.typed("BatchMatMulV2", weights, v)
    order = n.const([0, 2, 1, 3], "int32")
    back = n.typed("Transpose", context, order, Tperm=ds.as_dtype("int32"))
    return n.dense(n.shaped(back, 360, 128), 128, 24, 0.2)


def _cross_attention(n: Network, x: Output) -> Output:
    whole = ds.as_dtype("int32")
    few = n.shaped(x, 40, 144)
    q = n.typed("Mul", _heads(n, few, 144, 1, 40, 2, 64), n.const(0.125))
    rows = n.shaped(x, 120, 48)
    k, v = (n.shaped(n.dense(rows, 48, 128, 0.13), 1, 120, 2, 64) for _ in range(2))
    k = n.typed("Transpose", k, n.const([0, 2, 3, 1], "int32"), Tperm=whole)
    v = n.typed("Transpose", v, n.const([0, 2, 1, 3], "int32"), Tperm=whole)
    weights = n.typed("Softmax", n.typed("BatchMatMulV2", q, k))
    return n.typed("BatchMatMulV2", weights, v)


def _separable(n: Network, x: Output) -> Output:
    y = n.typed("Relu6", n.norm(n.conv(x, 1, 16, 48), 48, 3.0))
    return n.typed("Relu6", n.norm(n.depthwise(y, 48, 1), 48))


def _separable_strided(n: Network, x: Output) -> Output:
    y = n.typed("Relu6", n.norm(n.conv(x, 3, 16, 24), 24, 3.0))
    return n.norm(n.depthwise(y, 24, 2), 24)


_BUILDERS: Final[Mapping[str, Callable[[Network, Output], Output]]] = {
    "conv norm relu": _conv_norm_relu, "1x1 norm relu6": _conv_relu6, "strided bias": _strided_bias,
    "residual": _residual, "residual of a product": _residual_of_product, "uneven": _uneven,
    "depthwise": _depthwise, "padded": _padded, "pooled": _pooled,
    "few channels": _few_channels, "dense": _dense, "encoder": _encoder, "attention": _attention,
    "self attention": _self_attention, "cross attention": _cross_attention,
    "separable": _separable, "separable strided": _separable_strided,
}  # fmt: skip


def fused_problems() -> Iterator[tuple[str, str]]:
    """Each graph's name with its precision, and what is wrong with it: "" for nothing."""
    for precision in TOLERANCES:
        for name, build in _BUILDERS.items():
            for odd in (False, True):
                title = f"{name} {precision}{' with NaN' if odd else ''}"
                try:
                    yield title, _problem(build, precision, odd)
                except Exception as error:
                    yield title, f"{type(error).__name__}: {error}"


def _problem(build: Callable[[Network, Output], Output], precision: str, odd: bool) -> str:
    n = Network(precision)
    x = n.cast(n.fed("x", "float32", 3, 10, 12, 16), "float32", precision)
    end = n.cast(build(n, x), precision, "float32")
    values = np.random.default_rng(1).standard_normal((3, 10, 12, 16)).astype(np.float32)
    if odd:
        values[0, 0, 0, 3] = np.nan
        values[1, 4, 5, 0] = np.inf
    fetch, feeds = f"{end[0].name}:{end[1]}", {"x:0": values}
    plain = ds.SessionConfig(optimizer="off", subgraphs="off", executor="reference")
    there = ds.SessionConfig(optimizer="off", subgraphs="gpu", device_count={"GPU": 0})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        want = np.asarray(ds.Session(n.graph.copy(), plain).run(fetch, feeds))
        session = ds.Session(n.graph, there)
        got = np.asarray(session.run(fetch, feeds))
        states: list[Any] = executables(session)
    if not states or any(s.state != "ready" for s in states):
        return "; ".join(s.reason for s in states) or "no region of the backend"
    return differs(got, want, TOLERANCES[precision])
