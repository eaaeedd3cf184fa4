"""Layers and a network of eight-bit integers beside the same in float32.

``python -m bench.alone.quantized_layers``. Each graph simulates quantization in floats, as training
for eight bits leaves it. Columns: the graph without its quantizers, in float32; as it is, in
float32; and with ``quantized_layers``, in integers. One thread; times are CPU time of the process,
the least of many runs that take turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import drystone_base as ds
from drystone_base.core.dtypes import as_dtype
from drystone_base.graph import Graph, Output
from drystone_base.ops.attrs import TensorAttr
from drystone_optimizer import OptimizerConfig

FLOAT = as_dtype("float32")
ROUNDS = 40
LOW, HIGH = 0.0, 6.0


class Net:
    """Builds a network, with its quantizers or without."""

    def __init__(self, shape: tuple[int, ...], quantizes: bool) -> None:
        self.graph, self.quantizes, self.made = Graph(), quantizes, 0
        self.random = np.random.default_rng(0)
        self.shape = shape
        attrs = {"dtype": FLOAT, "shape": shape}
        self.last: Output = (self.graph.add("Placeholder", "x", attrs=attrs), 0)
        self.last = self._quantized(self.last)

    def _const(self, value: Any) -> Output:
        array = np.asarray(value, np.float32)
        attrs = {"dtype": FLOAT, "value": TensorAttr(array=array)}
        return (self.graph.add("Const", f"c{len(self.graph)}", attrs=attrs), 0)

    def _op(self, op: str, *inputs: Output, **attrs: Any) -> Output:
        name = f"n{len(self.graph)}"
        return (self.graph.add(op, name, inputs, attrs={"T": FLOAT, **attrs}), 0)

    def _quantized(self, x: Output) -> Output:
        if not self.quantizes:
            return x
        ends = [self._const(LOW), self._const(HIGH)]
        node = self.graph.add("FakeQuantWithMinMaxVars", f"n{len(self.graph)}", [x, *ends])
        return (node, 0)

    def _weights(self, *shape: int) -> Output:
        inner = np.prod(shape) / shape[-1]
        value = (self.random.normal(0.05, 1, shape) / np.sqrt(inner)).astype(np.float32)
        if not self.quantizes:
            return self._const(value)
        top = np.abs(value).reshape(-1, shape[-1]).max(0)
        top = np.full_like(top, top.max()) if shape[-1] == 1 else top
        ends = [self._const(-top), self._const(top)]
        node = self.graph.add(
            "FakeQuantWithMinMaxVarsPerChannel", f"n{len(self.graph)}",
            [self._const(value), *ends], attrs={"narrow_range": True},
        )  # fmt: skip
        return (node, 0)

    def conv(self, size: int, count: int, stride: int = 1, depthwise: bool = False) -> Net:
        """A convolution with bias and rectifier."""
        channels = self.shape[-1]
        filters = (size, size, channels, 1 if depthwise else count)
        op = "DepthwiseConv2dNative" if depthwise else "Conv2D"
        strides = [1, stride, stride, 1]
        y = self._op(op, self.last, self._weights(*filters), strides=strides, padding="SAME")
        count = channels if depthwise else count
        y = self._op("BiasAdd", y, self._const(self.random.normal(0, 0.1, count)))
        self.last = self._quantized(self._op("Relu6", y))
        batch, rows, columns, _ = self.shape
        self.shape = (batch, -(-rows // stride), -(-columns // stride), count)
        return self

    def dense(self, count: int) -> Net:
        """A product with a bias."""
        y = self._op("MatMul", self.last, self._weights(self.shape[-1], count))
        self.last = self._op("BiasAdd", y, self._const(self.random.normal(0, 0.1, count)))
        self.shape = (self.shape[0], count)
        return self

    def mean(self) -> Net:
        """The average over an image."""
        axes = {"dtype": as_dtype("int32"), "value": TensorAttr(array=np.array([1, 2], np.int32))}
        held = (self.graph.add("Const", f"c{len(self.graph)}", attrs=axes), 0)
        self.last = self._quantized(self._op("Mean", self.last, held, Tidx=axes["dtype"]))
        self.shape = (self.shape[0], self.shape[-1])
        return self


class Case(NamedTuple):
    """A network: the shape of its input, and what it is made of."""

    shape: tuple[int, ...]
    build: Callable[[Net], Net]


def mobile(net: Net) -> Net:
    """As MobileNet's: each convolution depthwise, then over channels."""
    net.conv(3, 32, 2)
    for count, stride in ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2),
                          *[(512, 1)] * 5, (1024, 2), (1024, 1)):  # fmt: skip
        net.conv(3, 0, stride, depthwise=True).conv(1, count)
    return net.mean().dense(1000)


CASES = {
    "product 64 x 1024 x 1024": Case((64, 1024), lambda net: net.dense(1024)),
    "product 1 x 1024 x 1024": Case((1, 1024), lambda net: net.dense(1024)),
    "convolution 3 x 3, 56 x 56 x 64": Case((1, 56, 56, 64), lambda net: net.conv(3, 64)),
    "convolution 1 x 1, 28 x 28 x 256": Case((1, 28, 28, 256), lambda net: net.conv(1, 256)),
    "depthwise 3 x 3, 56 x 56 x 128": Case(
        (1, 56, 56, 128), lambda net: net.conv(3, 0, depthwise=True)
    ),
    "MobileNet's layers, 224 x 224": Case((1, 224, 224, 3), mobile),
}


def least(calls: list[Callable[[], Any]]) -> list[float]:
    """CPU time of each, the least of many runs in turn."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for k, call in enumerate(calls):
            begin = time.process_time()
            call()
            best[k] = min(best[k], time.process_time() - begin)
    return best


def measure(case: Case) -> tuple[list[float], float]:
    """Seconds in floats, with simulated quantization and in integers; how far apart those two are.

    In parts of the largest value.
    """
    x = np.random.default_rng(1).uniform(LOW, HIGH, case.shape).astype(np.float32)
    calls: list[Callable[[], Any]] = []
    values = []
    for quantizes, integers in ((False, False), (True, False), (True, True)):
        net = case.build(Net(case.shape, quantizes))
        fetch = f"{net.last[0].name}:0"
        optimizer = OptimizerConfig(quantized_layers=integers)
        config = ds.SessionConfig(optimizer=optimizer, intra_op_threads=1, inter_op_threads=1)
        run = ds.Session(net.graph, config).make_callable(fetch, ["x:0"])
        values.append(np.asarray(run(x)))
        calls.append(partial(run, x))
    apart = float(np.abs(values[2] - values[1]).max() / np.abs(values[1]).max())
    return least(calls), apart


def main() -> None:
    """Print a line for each case."""
    print(f"{'':34}{'floats':>9}{'simulated':>11}{'integers':>10}{'ratio':>7}{'apart':>9}")
    for name, case in CASES.items():
        (floats, simulated, integers), apart = measure(case)
        times = f"{floats * 1e3:9.3f}{simulated * 1e3:11.3f}{integers * 1e3:10.3f}"
        print(f"{name:34}{times}{floats / integers:7.2f}{apart:9.1e}")


if __name__ == "__main__":
    main()
