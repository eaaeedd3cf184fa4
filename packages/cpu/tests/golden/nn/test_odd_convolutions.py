"""Convolutions of odd shapes: right, and none of them by oneDNN's reference code.

Run as a program, this module computes each of CASES once, for oneDNN to say by what
(``ONEDNN_VERBOSE``).
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import native_ops
import numpy as np
import pytest
from agreement import assert_agrees
from native_ops import run_native

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, as_dtype
from drystone_base.executor.testing import run_op
from drystone_base.graph import Graph

pytestmark = native_ops.needs_onednn()


class Case(NamedTuple):
    """A convolution: sizes of the image and of the filter, channels, groups, and how it moves."""

    image: tuple[int, ...]
    filter: tuple[int, ...]
    depth: int
    outputs: int
    strides: tuple[int, ...] = (1, 1)
    dilations: tuple[int, ...] = (1, 1)
    padding: str = "VALID"
    kind: str = "plain"
    zeros: tuple[int, ...] = ()
    batch: int = 1

    @property
    def layer(self) -> str:
        """The op."""
        if self.kind == "depthwise":
            return "DepthwiseConv2dNative"
        return "Conv2D" if len(self.image) == 2 else "Conv3D"

    @property
    def form(self) -> str:
        """The data format with the channels last."""
        return "NHWC" if len(self.image) == 2 else "NDHWC"


# What moves over 1 x N, N x 1 and images, with filters of few and of many places.
_SIZES: Final = (
    ((1, 300), (1, 256)), ((300, 1), (256, 1)), ((1, 90), (1, 65)), ((20, 1), (3, 1)),
    ((1, 20), (1, 3)), ((7, 9), (5, 7)), ((14, 14), (1, 7)), ((14, 14), (7, 1)),
    ((26, 26), (15, 15)), ((40, 5), (31, 5)), ((9, 9), (3, 3)), ((9, 9), (1, 1)),
)  # fmt: skip
_CHANNELS: Final = ((1, 2), (4, 8), (5, 1), (16, 16), (17, 19))
_MOVES: Final = (
    ((1, 1), (1, 1)), ((2, 2), (1, 1)), ((1, 1), (2, 2)), ((4, 3), (1, 1)), ((16, 16), (1, 1)),
    ((1, 128), (1, 1)), ((2, 1), (1, 2)),
)  # fmt: skip
_KINDS: Final = ("plain", "plain", "depthwise", "groups", "explicit")
_GRADIENTS: Final = {
    "Conv2D": ("Conv2DBackpropInput", "Conv2DBackpropFilter"),
    "DepthwiseConv2dNative": (
        "DepthwiseConv2dNativeBackpropInput", "DepthwiseConv2dNativeBackpropFilter",
    ),
    "Conv3D": ("Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
}  # fmt: skip


def _drawn() -> list[Case]:
    """Some of all combinations, the same every time."""
    found = []
    combinations = product(_SIZES, _CHANNELS, _MOVES, ("VALID", "SAME"), _KINDS)
    for (image, size), (depth, count), (strides, dilations), padding, kind in combinations:
        if kind == "depthwise" and strides[0] != strides[1]:
            strides = (strides[0], strides[0])
        case = Case(image, size, depth, count, strides, dilations, padding, kind)
        if kind == "groups":
            case = case._replace(depth=depth * 2, outputs=count * 2)
        if kind == "explicit":
            zeros = (0, 0, 1, 2, size[1] // 2, 1, 0, 0)
            case = case._replace(padding="EXPLICIT", zeros=zeros)
        reach = [(s - 1) * d + 1 for s, d in zip(size, dilations, strict=True)]
        if case.padding == "VALID" and any(r > i for r, i in zip(reach, image, strict=True)):
            continue
        found.append(case)
    rng = np.random.default_rng(0)
    return [found[k] for k in rng.permutation(len(found))[:60]]


def _depthwise() -> list[Case]:
    """Of one filter for a channel, as networks have them; of channels that fill no register."""
    found = []
    for image, size, channels, stride, dilation, batch in (
        ((14, 14), (3, 3), 32, 1, 1, 1), ((15, 14), (3, 3), 17, 2, 1, 8),
        ((14, 14), (5, 5), 12, 1, 1, 1), ((14, 14), (5, 5), 33, 2, 1, 1),
        ((20, 20), (3, 3), 16, 1, 2, 1), ((60, 1), (3, 1), 24, 1, 1, 1),
    ):  # fmt: skip
        moves = ((stride, stride), (dilation, dilation))
        found.append(Case(image, size, channels, channels, *moves, "SAME", "depthwise", (), batch))
    return found


CASES: Final = (
    # Long filters, as of spectrograms; what the issue was found with, and with two examples.
    Case((1, 1000), (1, 256), 1, 2), Case((1000, 1), (256, 1), 1, 2, batch=2),
    Case((1, 500), (1, 256), 4, 8, padding="SAME"), Case((500, 1), (64, 1), 16, 16),
    Case((1, 2000), (1, 256), 1, 36, (1, 128)), Case((64, 1), (5, 1), 32, 64, batch=3),
    Case((4, 6, 5), (3, 3, 3), 2, 3, (1, 2, 1), (1, 1, 1), "SAME"),
    Case((30, 1, 1), (21, 1, 1), 3, 4, (1, 1, 1), (1, 1, 1)),
    *_depthwise(),
    *_drawn(),
)  # fmt: skip


def _inputs(case: Case) -> tuple[Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(1)
    depth = case.depth // 2 if case.kind == "groups" else case.depth
    last = 2 if case.kind == "depthwise" else case.outputs
    x = rng.normal(size=(case.batch, *case.image, case.depth)).astype(np.float32)
    scale = 1 / np.sqrt(np.prod(case.filter) * depth)
    w = (rng.normal(size=(*case.filter, depth, last)) * scale).astype(np.float32)
    attrs = {"strides": [1, *case.strides, 1], "dilations": [1, *case.dilations, 1],
             "padding": case.padding, "data_format": case.form}  # fmt: skip
    return x, w, attrs | ({"explicit_paddings": list(case.zeros)} if case.zeros else {})


def _channels_first(x: Any, attrs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The same with the channels first."""
    form = attrs["data_format"]
    turned = dict(attrs, data_format=f"N{form[-1]}{form[1:-1]}")
    for name in ("strides", "dilations"):
        turned[name] = [attrs[name][0], attrs[name][-1], *attrs[name][1:-1]]
    if "explicit_paddings" in attrs:
        zeros = attrs["explicit_paddings"]
        turned["explicit_paddings"] = [*zeros[:2], *zeros[-2:], *zeros[2:-2]]
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)), turned


def _gradients(case: Case, run: Any, x: Any, w: Any, y: Any, attrs: dict[str, Any]) -> list[Any]:
    of_input, of_filter = _GRADIENTS[case.layer]
    sizes = [np.array(value.shape, np.int32) for value in (x, w)]
    more = {"Tshape": "int32"} if case.layer == "Conv3D" else {}
    return [
        *run(of_input, sizes[0], w, y, **attrs, **more),
        *run(of_filter, x, sizes[1], y, **attrs),
    ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_layer_and_its_gradients_are_right_in_both_formats(case: Case) -> None:
    x, w, attrs = _inputs(case)
    (y,) = run_op(case.layer, x, w, **attrs)
    want = [y, *_gradients(case, run_op, x, w, y, attrs)]
    found = [*run_native(case.layer, x, w, **attrs), *_gradients(case, run_native, x, w, y, attrs)]
    x_first, first = _channels_first(x, attrs)
    y_first = np.ascontiguousarray(np.moveaxis(np.asarray(y), -1, 1))
    other = [*run_native(case.layer, x_first, w, **first),
             *_gradients(case, run_native, x_first, w, y_first, first)]  # fmt: skip
    other[:2] = [np.moveaxis(value, 1, -1) for value in other[:2]]
    for one in (found, other):
        for got, expected in zip(one, want, strict=True):
            scale = max(float(np.abs(expected).max(initial=0)), 1e-6)
            np.testing.assert_allclose(got, expected, rtol=1e-4, atol=2e-5 * scale)


_STEPS: Final = (["BiasAdd"], ["BiasAdd", "Relu"], ["BiasAdd", "Add", "Relu"], ["FusedBatchNorm"],
                 ["BiasAdd", "Tanh", "Add"], ["Add"])  # fmt: skip
_FUSED_CASES: Final = (
    Case((1, 300), (1, 256), 4, 8, padding="SAME"), Case((300, 1), (256, 1), 1, 2, batch=2),
    Case((40, 5), (31, 5), 4, 8, (1, 1), (2, 2), "SAME"), Case((9, 9), (3, 3), 4, 8),
)  # fmt: skip


@pytest.mark.parametrize("steps", _STEPS, ids="-".join)
@pytest.mark.parametrize("case", _FUSED_CASES, ids=str)
@pytest.mark.parametrize("channels_first", [False, True])
def test_what_is_fused_to_it_is_done_as_well(
    case: Case, steps: list[str], channels_first: bool
) -> None:
    rng = np.random.default_rng(2)
    x, w, attrs = _inputs(case)
    (y,) = run_op(case.layer, x, w, **attrs)
    args: list[Any] = []
    for step in steps:
        if step == "BiasAdd":
            args.append(rng.normal(size=case.outputs).astype(np.float32))
        elif step == "Add":
            args.append(rng.normal(size=np.shape(y)).astype(np.float32))
        elif step == "FusedBatchNorm":
            args += [rng.random(case.outputs).astype(np.float32) + 0.5 for _ in range(4)]
    if channels_first:
        x, attrs = _channels_first(x, attrs)
        args = [np.moveaxis(a, -1, 1) if a.ndim == 4 else a for a in args]
    more = {"num_args": len(args), "fused_ops": steps, "epsilon": 0.01, "leakyrelu_alpha": 0.2}
    assert_agrees("_FusedConv2D", x, w, *args, exact=False, **attrs, **more)


@pytest.mark.parametrize("case", _FUSED_CASES, ids=str)
@pytest.mark.parametrize("channels_first", [False, True])
def test_the_result_may_take_the_memory_of_what_is_added(case: Case, channels_first: bool) -> None:
    rng = np.random.default_rng(3)
    x, w, attrs = _inputs(case)
    (y,) = run_op(case.layer, x, w, **attrs)
    added = rng.normal(size=np.shape(y)).astype(np.float32)
    bias = rng.normal(size=case.outputs).astype(np.float32)
    want = y + bias - added
    if channels_first:
        x, attrs = _channels_first(x, attrs)
        added, want = np.moveaxis(added, -1, 1), np.moveaxis(want, -1, 1)
    feeds = {"x:0": x, "w:0": w, "bias:0": bias, "added:0": np.ascontiguousarray(added)}
    graph = Graph()
    for name, value in feeds.items():
        graph.add("Placeholder", name[:-2], attrs={"dtype": FLOAT32, "shape": value.shape})
    negated = graph.add("Neg", "negated", [graph["added"]], attrs={"T": FLOAT32})
    inputs = [graph["x"], graph["w"], graph["bias"], negated]
    more = {"T": FLOAT32, "num_args": 2, "TArgs": [FLOAT32] * 2, "fused_ops": ["BiasAdd", "Add"]}
    graph.add("_FusedConv2D", "y", inputs, attrs={**attrs, **more})
    session = Session(graph, SessionConfig(executor="native", optimizer="off"))
    for _ in range(2):
        found = session.run("y:0", feeds)
        np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


def test_halves_are_right_too() -> None:
    half = as_dtype("bfloat16").np
    for case in CASES[:6]:
        x, w, attrs = _inputs(case)
        x, w = x.astype(half), w.astype(half)
        (want,) = run_op(case.layer, x.astype(np.float32), w.astype(np.float32), **attrs)
        (got,) = run_native(case.layer, x, w, **attrs)
        np.testing.assert_allclose(np.asarray(got).astype(np.float32), want, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("level", ["ALL", "AVX2"])
def test_no_implementation_is_the_reference(level: str) -> None:
    env = {**os.environ, "ONEDNN_VERBOSE": "1", "ONEDNN_MAX_CPU_ISA": level}
    env["PYTHONPATH"] = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    run = subprocess.run(
        [sys.executable, __file__], env=env, capture_output=True, text=True, timeout=300, check=True
    )
    rows = [line.split(",") for line in run.stdout.splitlines() if ",exec,cpu," in line]
    names = [row[row.index("cpu") + 2] for row in rows if "convolution" in row]
    # Two formats, three directions; a depthwise one goes by planes where its channels are first.
    ours = sum(case.kind == "depthwise" for case in CASES) if level == "ALL" else 0
    assert len(names) >= 6 * len(CASES) - 3 * ours
    assert not [name for name in names if "ref" in name]


def _main() -> None:
    for case in CASES:
        x, w, attrs = _inputs(case)
        (y,) = run_native(case.layer, x, w, **attrs)
        _gradients(case, run_native, x, w, y, attrs)
        x_first, first = _channels_first(x, attrs)
        (y_first,) = run_native(case.layer, x_first, w, **first)
        _gradients(case, run_native, x_first, w, y_first, first)


if __name__ == "__main__":
    _main()
