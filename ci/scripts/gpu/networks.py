"""ResNet50, MobileNetV2 and BERT-base as graphs with random weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from drystone_base import Graph, as_dtype
from drystone_base.core.dtypes import DType
from drystone_base.graph import Output
from drystone_base.ops.attrs import TensorAttr

__all__ = ["HEADS", "HIDDEN", "INNER", "LAYERS", "NETWORKS", "TOKENS", "WORDS", "Network", "inputs"]

Array = np.ndarray[Any, Any]
LAYERS, HIDDEN, HEADS, INNER, WORDS, TOKENS = 12, 768, 12, 3072, 30522, 128
_INT32: Final = as_dtype("int32")


@dataclass
class Network:
    """A graph under construction; every method gives an output in the network's precision."""

    precision: str
    side: int = 224  # of pictures
    graph: Graph = field(default_factory=Graph)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    @property
    def dtype(self) -> DType:
        """What is computed in."""
        return as_dtype(self.precision)

    def op(self, op: str, *inputs: Output, **attrs: Any) -> Output:
        """The first output of a new node."""
        return (self.graph.add(op, self.graph.unique_name(op), inputs, attrs=attrs), 0)

    def typed(self, op: str, *inputs: Output, **attrs: Any) -> Output:
        """The same with attribute ``T``."""
        return self.op(op, *inputs, T=self.dtype, **attrs)

    def fed(self, name: str, dtype: str, *shape: int) -> Output:
        """A placeholder."""
        attrs = {"dtype": as_dtype(dtype), "shape": shape}
        return (self.graph.add("Placeholder", name, attrs=attrs), 0)

    def const(self, value: Any, dtype: str = "") -> Output:
        """A constant, by default in the network's precision."""
        kind = as_dtype(dtype) if dtype else self.dtype
        array = np.asarray(value).astype(kind.np)
        return self.op("Const", dtype=kind, value=TensorAttr(array=array))

    def normal(self, *shape: int, scale: float) -> Output:
        """Random weights."""
        return self.const(self.rng.standard_normal(shape).astype(np.float32) * scale)

    def cast(self, x: Output, source: str, target: str) -> Output:
        """The value in another dtype."""
        if source == target:
            return x
        return self.op("Cast", x, SrcT=as_dtype(source), DstT=as_dtype(target))

    def norm(self, x: Output, channels: int, scale: float = 1.0) -> Output:
        """Batch normalization with what was learnt."""
        gamma = self.const(self.rng.uniform(0.8, 1.2, channels) * scale, "float32")
        beta = self.const(self.rng.standard_normal(channels) * 0.1, "float32")
        mean = self.const(self.rng.standard_normal(channels) * 0.1, "float32")
        variance = self.const(self.rng.uniform(0.8, 1.2, channels), "float32")
        kind = {"U": as_dtype("float32"), "is_training": False, "epsilon": 1e-3}
        return self.typed("FusedBatchNormV3", x, gamma, beta, mean, variance, **kind)

    def conv(self, x: Output, size: int, inner: int, outer: int, stride: int = 1) -> Output:
        """A convolution with as much padding on either side as its filter's half."""
        weights = self.normal(size, size, inner, outer, scale=(2 / (size * size * inner)) ** 0.5)
        pad = size // 2
        attrs = {"strides": [1, stride, stride, 1], "padding": "EXPLICIT",
                 "explicit_paddings": [0, 0, pad, pad, pad, pad, 0, 0]}  # fmt: skip
        return self.typed("Conv2D", x, weights, **attrs)

    def depthwise(self, x: Output, channels: int, stride: int) -> Output:
        """A 3 x 3 filter for each channel."""
        weights = self.normal(3, 3, channels, 1, scale=(2 / 9) ** 0.5)
        attrs = {"strides": [1, stride, stride, 1], "padding": "EXPLICIT",
                 "explicit_paddings": [0, 0, 1, 1, 1, 1, 0, 0]}  # fmt: skip
        return self.typed("DepthwiseConv2dNative", x, weights, **attrs)

    def dense(self, x: Output, inner: int, outer: int, scale: float = 0.02) -> Output:
        """A product and a bias."""
        product = self.typed("MatMul", x, self.normal(inner, outer, scale=scale))
        return self.typed("BiasAdd", product, self.normal(outer, scale=0.02))

    def pooled(self, x: Output) -> Output:
        """The mean over a picture."""
        return self.typed("Mean", x, self.const([1, 2], "int32"), Tidx=_INT32)

    def shaped(self, x: Output, *shape: int) -> Output:
        """The same elements in another shape."""
        return self.typed("Reshape", x, self.const(shape, "int32"), Tshape=_INT32)


def _resnet50(n: Network, batch: int) -> Output:
    x = n.cast(n.fed("x", "float32", batch, n.side, n.side, 3), "float32", n.precision)
    x = n.typed("Relu", n.norm(n.conv(x, 7, 3, 64, 2), 64))
    edges = n.const([[0, 0], [1, 1], [1, 1], [0, 0]], "int32")
    x = n.typed("Pad", x, edges, Tpaddings=_INT32)
    x = n.typed("MaxPool", x, ksize=[1, 3, 3, 1], strides=[1, 2, 2, 1], padding="VALID")
    inner = 64
    for stage, (width, blocks) in enumerate(((64, 3), (128, 4), (256, 6), (512, 3))):
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = n.typed("Relu", n.norm(n.conv(x, 1, inner, width), width))
            y = n.typed("Relu", n.norm(n.conv(y, 3, width, width, stride), width))
            y = n.norm(n.conv(y, 1, width, 4 * width), 4 * width, 0.5)
            if block == 0:
                x = n.norm(n.conv(x, 1, inner, 4 * width, stride), 4 * width)
            x = n.typed("Relu", n.typed("AddV2", y, x))
            inner = 4 * width
    return n.dense(n.pooled(x), 2048, 1000)


def _mobilenetv2(n: Network, batch: int) -> Output:
    def relu6(x: Output) -> Output:
        return n.typed("Relu6", x)

    x = n.cast(n.fed("x", "float32", batch, n.side, n.side, 3), "float32", n.precision)
    x, inner = relu6(n.norm(n.conv(x, 3, 3, 32, 2), 32)), 32
    for times, outer, blocks, first in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):  # fmt: skip
        for block in range(blocks):
            stride, wide, y = first if block == 0 else 1, inner * times, x
            if times > 1:
                y = relu6(n.norm(n.conv(y, 1, inner, wide), wide))
            y = relu6(n.norm(n.depthwise(y, wide, stride), wide))
            y = n.norm(n.conv(y, 1, wide, outer), outer, 0.7)
            x = n.typed("AddV2", x, y) if stride == 1 and inner == outer else y
            inner = outer
    x = relu6(n.norm(n.conv(x, 1, inner, 1280), 1280))
    return n.dense(n.pooled(x), 1280, 1000)


def _bert(n: Network, batch: int) -> Output:
    ids, mask = n.fed("ids", "int32", batch, TOKENS), n.fed("mask", "int32", batch, TOKENS)
    axis = n.const(0, "int32")
    kinds = {"Tparams": n.dtype, "Tindices": _INT32, "Taxis": _INT32}
    words = n.op("GatherV2", n.normal(WORDS, HIDDEN, scale=0.02), ids, axis, **kinds)
    x = _layer_norm(n, n.typed("AddV2", words, n.normal(TOKENS, HIDDEN, scale=0.02)))
    x = n.shaped(x, batch * TOKENS, HIDDEN)
    shown = n.typed("Sub", n.const(1.0), n.cast(mask, "int32", n.precision))
    hidden = n.typed("Mul", n.shaped(shown, batch, 1, 1, TOKENS), n.const(-10000.0))
    for _ in range(LAYERS):
        attended = n.dense(_attention(n, x, hidden, batch), HIDDEN, HIDDEN)
        x = _layer_norm(n, n.typed("AddV2", attended, x))
        inner = _gelu(n, n.dense(x, HIDDEN, INNER))
        x = _layer_norm(n, n.typed("AddV2", n.dense(inner, INNER, HIDDEN), x))
    return n.shaped(x, batch, TOKENS, HIDDEN)


def _attention(n: Network, x: Output, hidden: Output, batch: int) -> Output:
    size, order = HIDDEN // HEADS, n.const([0, 2, 1, 3], "int32")

    def heads(part: Output) -> Output:
        apart = n.shaped(part, batch, TOKENS, HEADS, size)
        return n.typed("Transpose", apart, order, Tperm=_INT32)

    q, k, v = (heads(n.dense(x, HIDDEN, HIDDEN)) for _ in range(3))
    scores = n.typed("BatchMatMulV2", q, k, adj_y=True)
    scores = n.typed("AddV2", n.typed("Mul", scores, n.const(size**-0.5)), hidden)
    context = n.typed("BatchMatMulV2", n.typed("Softmax", scores), v)
    return n.shaped(n.typed("Transpose", context, order, Tperm=_INT32), batch * TOKENS, HIDDEN)


def _gelu(n: Network, x: Output) -> Output:
    erf = n.typed("Erf", n.typed("RealDiv", x, n.const(2**0.5)))
    half = n.typed("Mul", n.const(0.5), x)
    return n.typed("Mul", half, n.typed("AddV2", n.const(1.0), erf))


def _layer_norm(n: Network, x: Output) -> Output:
    """As tf.nn.moments and tf.nn.batch_normalization write it."""
    axes = n.const([-1], "int32")
    keep = {"keep_dims": True, "Tidx": _INT32}
    mean = n.typed("Mean", x, axes, **keep)
    apart = n.typed("SquaredDifference", x, n.typed("StopGradient", mean))
    variance = n.typed("AddV2", n.typed("Mean", apart, axes, **keep), n.const(1e-6))
    scale = n.const(n.rng.uniform(0.8, 1.2, HIDDEN))
    factor = n.typed("Mul", n.typed("Rsqrt", variance), scale)
    away = n.typed("Sub", n.normal(HIDDEN, scale=0.1), n.typed("Mul", mean, factor))
    return n.typed("AddV2", n.typed("Mul", x, factor), away)


NETWORKS: Final[Mapping[str, Callable[[Network, int], Output]]] = {
    "resnet50": _resnet50, "mobilenetv2": _mobilenetv2, "bert-base": _bert,
}  # fmt: skip
"""Their builders by name."""


def inputs(name: str, batch: int) -> dict[str, Array]:
    """Arrays to feed, in memory that sessions take as it is."""
    rng = np.random.default_rng(batch)
    if name != "bert-base":
        picture = rng.standard_normal((batch, 224, 224, 3))
        return {"x": _aligned(picture.astype(np.float32))}
    mask = np.ones((batch, TOKENS), np.int32)
    mask[:, 110:] = 0
    ids = rng.integers(0, WORDS, (batch, TOKENS)).astype(np.int32)
    return {"ids": _aligned(ids), "mask": _aligned(mask)}


def _aligned(array: Array) -> Array:
    """A copy that begins at a multiple of 64 bytes."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    copy: Array = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy
