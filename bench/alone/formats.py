"""Single ops with their channels first beside their twins with the channels last.

``python -m bench.alone.formats [--plugin LIBRARY] [--rounds N] [--only TEXT]``. Each row is a graph
of one op as a session prepares it by default, layout conversion included, and one of the same op on
the same numbers with the other data format; both run in turn on one thread, and the figure is the
least processor time of the first over that of the second. 1.1 is what it may be. LRN and the ops
that resize know channels last only: their graphs have no twin.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, from_numpy
from drystone_base.graph import Graph
from drystone_base.plugins import PluginWarning, load_library

ROUNDS: Final = 25
LIMIT: Final = 1.1
_RNG: Final = np.random.default_rng(0)


class Row(NamedTuple):
    """An op: inputs and attributes with the channels last; ``images`` are inputs that turn.

    ``sizes`` are inputs that hold an image's dims; ``output`` is what is fetched.
    """

    name: str
    op: str
    inputs: tuple[Any, ...]
    attrs: dict[str, Any]
    images: tuple[int, ...] = (0,)
    sizes: tuple[int, ...] = ()
    output: int = 0


def _floats(*shape: int) -> Any:
    return _RNG.normal(size=shape).astype(np.float32)


def _ints(*values: int) -> Any:
    return np.array(values, np.int32)


def _depthwise() -> Iterator[Row]:
    """Batch, height, width, channels; filter, stride, dilation, multiplier."""
    for n, h, w, c, k, s, d, m in (
        (1, 56, 56, 64, 3, 1, 1, 1), (1, 112, 112, 32, 3, 1, 1, 1), (1, 112, 112, 32, 3, 2, 1, 1),
        (1, 14, 14, 256, 3, 1, 1, 1), (1, 7, 7, 512, 3, 1, 1, 1), (1, 28, 28, 96, 5, 1, 1, 1),
        (1, 28, 28, 96, 5, 2, 1, 1), (1, 28, 28, 64, 3, 1, 2, 1), (1, 56, 56, 32, 3, 1, 1, 2),
        (1, 56, 56, 30, 3, 1, 1, 1), (1, 57, 55, 17, 3, 2, 1, 1), (8, 28, 28, 64, 3, 1, 1, 1),
        (8, 56, 56, 32, 3, 2, 1, 1), (1, 2000, 1, 64, 3, 1, 1, 1), (1, 56, 56, 96, 7, 1, 1, 1),
        (1, 14, 14, 384, 7, 1, 1, 1), (1, 28, 28, 64, 3, 1, 4, 1),
    ):  # fmt: skip
        size = (k, 1 if w == 1 else k, c, m)
        x, f = _floats(n, h, w, c), _floats(*size)
        y = _floats(n, -(-h // s), -(-w // s), c * m)
        attrs = {"strides": [1, s, s, 1], "dilations": [1, d, d, 1], "padding": "SAME"}
        name = f"{n}x{h}x{w}x{c}, {size[0]}x{size[1]}" + f" by {s}" * (s > 1)
        name += f" dilated {d}" * (d > 1) + f" times {m}" * (m > 1)
        op = "DepthwiseConv2dNative"
        yield Row(f"depthwise {name}", op, (x, f), attrs)
        dims = _ints(*x.shape)
        yield Row(f"  its input's gradient {name}", f"{op}BackpropInput", (dims, f, y), attrs,
                  (2,), (0,))  # fmt: skip
        yield Row(f"  its filter's gradient {name}", f"{op}BackpropFilter", (x, _ints(*size), y),
                  attrs, (0, 2))  # fmt: skip


def _pooling() -> Iterator[Row]:
    for n, side, c, k, s in ((1, 112, 64, 3, 2), (1, 56, 64, 2, 2), (8, 28, 64, 3, 1),
                             (1, 14, 256, 3, 2), (1, 7, 512, 7, 7), (1, 35, 288, 3, 2),
                             (1, 17, 768, 3, 1), (1, 8, 1280, 3, 1), (1, 56, 64, 5, 3),
                             ):  # fmt: skip
        x = _floats(n, side, side, c)
        attrs = {"ksize": [1, k, k, 1], "strides": [1, s, s, 1], "padding": "SAME"}
        out = -(-side // s)
        name = f"{n}x{side}x{side}x{c}, {k}x{k} by {s}"
        y, dy = _floats(n, out, out, c), _floats(n, out, out, c)
        yield Row(f"MaxPool {name}", "MaxPool", (x,), attrs)
        yield Row(f"  its gradient {name}", "MaxPoolGrad", (x, y, dy), attrs, (0, 1, 2))
        yield Row(f"AvgPool {name}", "AvgPool", (x,), attrs)
        yield Row(f"  its gradient {name}", "AvgPoolGrad", (_ints(*x.shape), dy), attrs, (1,), (0,))


def _by_channel() -> Iterator[Row]:
    for n, side, c in ((1, 56, 64), (8, 28, 64), (1, 14, 256), (32, 7, 96)):
        x, v = _floats(n, side, side, c), [np.abs(_floats(c)) for _ in range(4)]
        name = f"{n}x{side}x{side}x{c}"
        yield Row(f"BiasAdd {name}", "BiasAdd", (x, v[0]), {})
        yield Row(f"BiasAddGrad {name}", "BiasAddGrad", (x,), {})
        for training in (False, True):
            attrs = {"epsilon": 1e-3, "is_training": training, "U": FLOAT32}
            word = "training" if training else "inference"
            yield Row(f"FusedBatchNormV3 {word} {name}", "FusedBatchNormV3", (x, *v), attrs)
            yield Row(f"  its gradient {name}", "FusedBatchNormGradV3",
                      (_floats(*x.shape), x, v[0], v[1], v[2], v[3]), attrs, (0, 1))  # fmt: skip


def rows() -> list[Row]:
    """All of the table."""
    return [*_depthwise(), *_pooling(), *_by_channel()]


def _turned(row: Row) -> Row:
    """The row with the channels first."""
    inputs = list(row.inputs)
    for k in row.images:
        inputs[k] = np.ascontiguousarray(inputs[k].transpose(0, 3, 1, 2))
    for k in row.sizes:
        inputs[k] = inputs[k][[0, 3, 1, 2]]
    attrs = dict(row.attrs, data_format="NCHW")
    for name in ("strides", "dilations", "ksize"):
        if name in attrs:
            attrs[name] = [attrs[name][at] for at in (0, 3, 1, 2)]
    return row._replace(inputs=tuple(inputs), attrs=attrs)


def _aligned(value: Any) -> Any:
    """A copy that begins where the host's tensors do: what does not is copied in each run."""
    room = np.empty(value.nbytes + 64, np.uint8)
    first = -room.ctypes.data % 64
    found = room[first : first + value.nbytes].view(value.dtype).reshape(value.shape)
    found[...] = value
    return found


def runner(row: Row) -> Callable[[], float]:
    """A function that runs the op once and gives the seconds of processor time."""
    graph, nodes = Graph(), []
    inputs = [_aligned(value) for value in row.inputs]
    for k, value in enumerate(inputs):
        attrs = {"dtype": from_numpy(value.dtype), "shape": value.shape}
        nodes.append(graph.add("Placeholder", f"x{k}", attrs=attrs))
    graph.add(row.op, "y", nodes, attrs={"T": FLOAT32, **row.attrs})
    names = [f"x{k}:0" for k in range(len(nodes))]
    session = Session(graph, SessionConfig(intra_op_threads=1))
    run = session.make_callable(f"y:{row.output}", names)
    run(*inputs)

    def once() -> float:
        begin = time.process_time()
        run(*inputs)
        return time.process_time() - begin

    return once


def compare(row: Row, rounds: int) -> tuple[float, float]:
    """The least microseconds with the channels first, and with them last, in turn."""
    runs, best = (runner(_turned(row)), runner(row)), [float("inf")] * 2
    for _ in range(rounds):
        for k, run in enumerate(runs):
            best[k] = min(best[k], run())
    return best[0] * 1e6, best[1] * 1e6


def main() -> int:
    """Print the table; the status is 1 where an op is slower than it may be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--plugin", type=Path)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore", PluginWarning)
    if options.plugin is not None:
        load_library(options.plugin, developer_mode=True)
    slow = 0
    print(f"{'':58}{'us':>9}{'twin':>9}{'ratio':>8}")
    for row in rows():
        if options.only not in row.name:
            continue
        first, last = compare(row, options.rounds)
        slow += first > LIMIT * last
        print(f"{row.name:58}{first:9.0f}{last:9.0f}{first / last:8.2f}", flush=True)
    print(f"{slow} of them above {LIMIT}")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
