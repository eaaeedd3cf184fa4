"""Convolutions beside their twins: channels first and last, width 1 and height 1, long filters.

``python -m bench.alone.convolutions [--plugin LIBRARY] [--rounds N]``. Each row is a graph and one
that computes the same of the same numbers in another order in memory; both run in turn on one
thread, and the figure is the least processor time of the first over that of the second. 1.1 is what
it may be. Graphs end as networks do, in a mean over the image.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, INT32, from_numpy
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import PluginWarning, load_library

ROUNDS: Final = 25
LIMIT: Final = 1.1
F: Final[dict[str, Any]] = {"T": FLOAT32}


class Layer(NamedTuple):
    """A convolution with bias and activation."""

    filter: tuple[int, int, int, int]
    stride: int = 1
    op: str = "Conv2D"


class Net(NamedTuple):
    """Layers, one after the other, of an image."""

    image: tuple[int, int, int]  # height, width, channels
    layers: tuple[Layer, ...]
    first: bool = False  # the channels
    padding: str = "SAME"


def _separable(channels: int, count: int, stride: int = 1) -> tuple[Layer, ...]:
    depthwise = Layer((3, 3, channels, 1), stride, "DepthwiseConv2dNative")
    return (depthwise, Layer((1, 1, channels, count)))


def _twins() -> list[tuple[str, Net, Net]]:
    """Names, and the two graphs of each row."""
    rows = []
    begin = Layer((7, 7, 3, 64), 2)
    nets = {
        "3x3, 64 channels of 56x56, six layers": Net((56, 56, 64), (Layer((3, 3, 64, 64)),) * 6),
        "3x3, 256 channels of 14x14, four layers": Net(
            (14, 14, 256), (Layer((3, 3, 256, 256)),) * 4
        ),
        "3x3, 8 channels of 128x128, two layers": Net((128, 128, 8), (Layer((3, 3, 8, 8)),) * 2),
        "1x1, 64 channels of 56x56, six layers": Net((56, 56, 64), (Layer((1, 1, 64, 64)),) * 6),
        "7x7 by two, of a picture": Net((224, 224, 3), (begin,)),
        "7x7 by two, 1x1, 3x3, 1x1, of a picture": Net(
            (224, 224, 3),
            (begin, Layer((1, 1, 64, 64), 2), Layer((3, 3, 64, 64)), Layer((1, 1, 64, 256))),
        ),
        "3x3 by two, separable, of a picture": Net(
            (224, 224, 3),
            (Layer((3, 3, 3, 32), 2), *_separable(32, 64), *_separable(64, 128, 2),
             *_separable(128, 128)),
        ),
    }  # fmt: skip
    for name, net in nets.items():
        rows.append((f"NCHW / NHWC: {name}", net._replace(first=True), net))
    for depth, count, size, length in ((256, 512, 5, 512), (64, 64, 3, 1024), (1, 2, 256, 8000),
                                       (4, 8, 64, 8000), (1, 36, 256, 20000)):  # fmt: skip
        many = 4 if depth == count else 1
        tall = Net((length, 1, depth), (Layer((size, 1, depth, count)),) * many, padding="VALID")
        flat = Net((1, length, depth), (Layer((1, size, depth, count)),) * many, padding="VALID")
        rows.append((f"Nx1 / 1xN: {size} of {length}, {depth} to {count} channels", tall, flat))
        first = tall._replace(first=True)
        rows.append((f"NCHW Nx1 / NHWC 1xN: {size} of {length}, {depth} to {count}", first, flat))
    return rows


def network(net: Net) -> tuple[Graph, dict[str, Any]]:
    """The graph, and what to feed it."""
    rng, graph = np.random.default_rng(0), Graph()
    form = "NCHW" if net.first else "NHWC"
    value = rng.normal(size=(1, *net.image)).astype(np.float32)
    if net.first:
        value = np.ascontiguousarray(value.transpose(0, 3, 1, 2))
    node = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": value.shape})

    def held(name: str, array: Any) -> Any:
        value = TensorAttr(array=array)
        return graph.add("Const", name, attrs={"dtype": from_numpy(array.dtype), "value": value})

    def drawn(name: str, *sizes: int) -> Any:
        return held(name, rng.normal(scale=0.05, size=sizes).astype(np.float32))

    for k, layer in enumerate(net.layers):
        steps = [layer.stride] * 2
        strides = [1, 1, *steps] if net.first else [1, *steps, 1]
        more = {"strides": strides, "padding": net.padding, "data_format": form, **F}
        node = graph.add(layer.op, f"c{k}", [node, drawn(f"w{k}", *layer.filter)], attrs=more)
        channels = layer.filter[2] if "Depthwise" in layer.op else layer.filter[3]
        more = {"data_format": form, **F}
        node = graph.add("BiasAdd", f"b{k}", [node, drawn(f"v{k}", channels)], attrs=more)
        node = graph.add("Relu", f"r{k}", [node], attrs=F)
    axes = held("axes", np.array([2, 3] if net.first else [1, 2], np.int32))
    graph.add("Mean", "y", [node, axes], attrs={"Tidx": INT32, "keep_dims": False, **F})
    return graph, {"x:0": value}


def runner(net: Net) -> Callable[[], float]:
    """A function that runs the graph once and gives the seconds of processor time."""
    graph, feeds = network(net)
    run = Session(graph, SessionConfig(intra_op_threads=1)).make_callable("y:0", list(feeds))
    values = list(feeds.values())
    run(*values)

    def once() -> float:
        begin = time.process_time()
        run(*values)
        return time.process_time() - begin

    return once


def compare(one: Net, other: Net, rounds: int) -> tuple[float, float]:
    """The least milliseconds of both, in turn."""
    runs, best = (runner(one), runner(other)), [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate(runs):
            best[k] = min(best[k], run())
    return best[0] * 1e3, best[1] * 1e3


def main() -> int:
    """Print the table; the status is 1 where a twin is slower than it may be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plugin", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    warnings.simplefilter("ignore", PluginWarning)
    if options.plugin is not None:
        load_library(options.plugin, developer_mode=True)
    slow = 0
    print(f"{'':58}{'ms':>9}{'twin':>9}{'ratio':>8}")
    for name, one, other in _twins():
        mine, its = compare(one, other, options.rounds)
        slow += mine > LIMIT * its
        print(f"{name:58}{mine:9.3f}{its:9.3f}{mine / its:8.2f}", flush=True)
    print(f"{slow} of them above {LIMIT}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
