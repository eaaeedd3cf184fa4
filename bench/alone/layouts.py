"""What the format of images, and 16 bits, do to a network on the CPU.

``python -m bench.alone.layouts [--plugin LIBRARY]``, with a library of kernels such as
``drystone-cpu`` where it is not installed. A network of eight convolutions with bias and
activation, once with its channels last and once with them first: milliseconds of processor time for
a run as it is, with the other format, and in 16 bits; the least of some rounds.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.plugins import load_library
from drystone_optimizer import OptimizerConfig

ROUNDS: Final = 7
LAYERS: Final = 8
SHAPE: Final = (1, 56, 56, 32)


def network(last: bool) -> tuple[Graph, dict[str, Any]]:
    """The network, and what to feed it."""
    rng, graph = np.random.default_rng(0), Graph()
    shape = SHAPE if last else (SHAPE[0], SHAPE[3], *SHAPE[1:3])
    layout, floats = "NHWC" if last else "NCHW", {"T": FLOAT32}
    node = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": shape})

    def held(name: str, *sizes: int) -> Any:
        value = TensorAttr(array=rng.normal(scale=0.1, size=sizes).astype(np.float32))
        return graph.add("Const", name, attrs={"dtype": FLOAT32, "value": value})

    for k in range(LAYERS):
        more = {"strides": [1] * 4, "padding": "SAME", "data_format": layout, **floats}
        node = graph.add("Conv2D", f"c{k}", [node, held(f"w{k}", 3, 3, 32, 32)], attrs=more)
        more = {"data_format": layout, **floats}
        node = graph.add("BiasAdd", f"b{k}", [node, held(f"v{k}", 32)], attrs=more)
        node = graph.add("Relu", f"r{k}", [node], attrs=floats)
    graph.add("Identity", "y", [node], attrs=floats)
    return graph, {"x:0": rng.normal(size=shape).astype(np.float32)}


def spent(graph: Graph, feeds: dict[str, Any], **options: Any) -> float:
    """Milliseconds of processor time that a run takes."""
    session = Session(graph, SessionConfig(optimizer=OptimizerConfig(**options)))
    session.run("y:0", feeds)
    best = float("inf")
    for _ in range(ROUNDS):
        begin = time.process_time()
        session.run("y:0", feeds)
        best = min(best, time.process_time() - begin)
    return best * 1e3


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plugin", type=Path)
    library = parser.parse_args().plugin
    if library is not None:
        load_library(library, developer_mode=True)
    print(f"{'channels':12}{'as it is':>10}{'other':>10}{'bfloat16':>10}{'float16':>10}")
    for last in (True, False):
        graph, feeds = network(last)
        way = "nhwc_to_nchw" if last else "nchw_to_nhwc"
        found = [
            spent(graph, feeds, cpu_layout_conversion="no_conversion_on_cpu"),
            spent(graph, feeds, cpu_layout_conversion=way),
            spent(graph, feeds, auto_mixed_precision_onednn_bfloat16=True),
            spent(graph, feeds, auto_mixed_precision_cpu=True),
        ]
        print(f"{'last' if last else 'first':12}" + "".join(f"{value:10.2f}" for value in found))


if __name__ == "__main__":
    main()
