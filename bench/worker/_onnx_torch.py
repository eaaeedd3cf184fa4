"""An ONNX graph as a PyTorch module, for ``torch.compile``: the ops of the large networks.

What depends only on shapes and constants is computed once, on the example; the rest is a straight
line of PyTorch calls, as a hand-written module would have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from bench.worker._form import Array, NoForm

__all__ = ["module"]


def module(torch: Any, file: str, example: Sequence[Any]) -> Any:
    """The graph in ``file`` as a module of the example's shapes; ``NoForm`` for an unknown op."""
    import onnx

    graph = onnx.load(file).graph
    known = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer}
    values = dict(zip((port.name for port in graph.input), example, strict=True))
    steps, functions = [], _functions(torch)
    with torch.inference_mode():
        for node in graph.node:
            attrs = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
            if node.op_type == "Constant":
                known[node.output[0]] = onnx.numpy_helper.to_array(attrs["value"])
                continue
            if node.op_type == "Shape":
                known[node.output[0]] = np.array(values[node.input[0]].shape, np.int64)
                continue
            if node.op_type not in functions:
                raise NoForm(f"the compiled form lacks the op {node.op_type}")
            function = functions[node.op_type]
            if all(name in known for name in node.input if name):
                given = [torch.tensor(known[name]) for name in node.input]
                known[node.output[0]] = function([known.get(n) for n in node.input], attrs)(
                    *given
                ).numpy()
                continue
            call = function([known.get(name) for name in node.input], attrs)
            steps.append((call, list(node.input), node.output[0]))
            given = [_tensor(torch, values, known, name) for name in node.input]
            values[node.output[0]] = call(*given)
    ports = [port.name for port in graph.input], [port.name for port in graph.output]
    return _line(torch, steps, known, *ports)


def _tensor(torch: Any, values: Mapping[str, Any], known: Mapping[str, Array], name: str) -> Any:
    if not name:
        return None
    return values[name] if name in values else torch.tensor(known[name])


def _line(
    torch: Any, steps: Sequence[Any], known: Mapping[str, Array], inputs: list[str],
    outputs: list[str],
) -> Any:  # fmt: skip
    """A module that runs the steps; weights of convolutions have channels last."""

    class Line(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.ParameterDict()
            used = {name for _, names, _ in steps for name in names if name in known}
            self.keys = {name: f"w{number}" for number, name in enumerate(sorted(used))}
            for name, key in self.keys.items():
                tensor = torch.tensor(known[name])
                if tensor.ndim == 4:
                    tensor = tensor.contiguous(memory_format=torch.channels_last)
                self.weights[key] = torch.nn.Parameter(tensor, requires_grad=False)

        def forward(self, *arrays: Any) -> Any:
            values = dict(zip(inputs, arrays, strict=True))
            for call, names, output in steps:
                given = [
                    values[n] if n in values else self.weights[self.keys[n]] if n else None
                    for n in names
                ]
                values[output] = call(*given)
            return values[outputs[0]]

    return Line().eval()


Maker = Callable[[list[Any], Mapping[str, Any]], Callable[..., Any]]
"""From an op's constant inputs (None: not constant) and attributes to its call."""


def _as_it_is(call: Any, _: list[Any], __: Mapping[str, Any]) -> Callable[..., Any]:
    return call  # type: ignore[no-any-return]


def _functions(torch: Any) -> dict[str, Maker]:
    f = torch.nn.functional
    simple = {
        "Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Erf": torch.erf,
        "Sqrt": torch.sqrt, "Reciprocal": torch.reciprocal, "Relu": f.relu, "MatMul": torch.matmul,
        "Sigmoid": torch.sigmoid, "Tanh": torch.tanh, "Exp": torch.exp, "Neg": torch.neg,
        "Identity": lambda x: x, "Max": torch.maximum, "Pow": torch.pow,
    }  # fmt: skip
    made: dict[str, Maker] = {name: partial(_as_it_is, call) for name, call in simple.items()}
    return made | _windows(f) | _shapes(torch) | _others(torch, f)


def _windows(f: Any) -> dict[str, Maker]:
    def conv(_: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        pads, group = attrs.get("pads", [0, 0, 0, 0]), attrs.get("group", 1)
        strides, holes = attrs.get("strides", [1, 1]), attrs.get("dilations", [1, 1])
        even = pads[:2] == pads[2:]

        def call(x: Any, weights: Any, bias: Any = None) -> Any:
            x = x if even else f.pad(x, (pads[1], pads[3], pads[0], pads[2]))
            inside = pads[:2] if even else [0, 0]
            return f.conv2d(x, weights, bias, strides, inside, holes, group)

        return call

    def most(_: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        pads = attrs.get("pads", [0, 0, 0, 0])
        edges = (pads[1], pads[3], pads[0], pads[2])
        size, strides = attrs["kernel_shape"], attrs["strides"]
        return lambda x: f.max_pool2d(f.pad(x, edges, value=-np.inf), size, strides)

    def average(_: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        pads = attrs.get("pads", [0, 0, 0, 0])
        if pads[:2] != pads[2:]:
            raise NoForm("the compiled form lacks AveragePool with uneven edges")
        counted = bool(attrs.get("count_include_pad", 0))
        size, strides = attrs["kernel_shape"], attrs["strides"]
        return lambda x: f.avg_pool2d(x, size, strides, pads[:2], count_include_pad=counted)

    def pad(known: list[Any], _: Mapping[str, Any]) -> Callable[..., Any]:
        before, after = np.split(np.asarray(known[1]), 2)
        edges = [int(size) for pair in zip(before[::-1], after[::-1], strict=True) for size in pair]
        value = float(known[2]) if len(known) > 2 and known[2] is not None else 0.0
        return lambda x, *_: f.pad(x, edges, value=value)

    return {"Conv": conv, "MaxPool": most, "AveragePool": average, "Pad": pad}


def _axes(known: list[Any], attrs: Mapping[str, Any]) -> list[int]:
    """Axes as an input or, as older versions have them, as an attribute."""
    if len(known) > 1 and known[1] is not None:
        return [int(axis) for axis in known[1]]
    return list(attrs["axes"])


def _shapes(torch: Any) -> dict[str, Maker]:
    def squeeze(known: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        axes = tuple(_axes(known, attrs))
        return lambda x, *_: torch.squeeze(x, axes)

    def unsqueeze(known: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        axes = sorted(_axes(known, attrs))

        def call(x: Any, *_: Any) -> Any:
            for axis in axes:
                x = torch.unsqueeze(x, axis)
            return x

        return call

    def reshape(known: list[Any], _: Mapping[str, Any]) -> Callable[..., Any]:
        shape = [int(size) for size in known[1]]
        return lambda x, __: torch.reshape(x, shape)

    def slices(known: list[Any], _: Mapping[str, Any]) -> Callable[..., Any]:
        starts, ends = known[1], known[2]
        axes = known[3] if len(known) > 3 else range(len(starts))
        cut = {int(a): slice(int(s), int(e)) for a, s, e in zip(axes, starts, ends, strict=True)}
        places = tuple(cut.get(axis, slice(None)) for axis in range(max(cut) + 1))
        return lambda x, *_: x[places]

    return {
        "Squeeze": squeeze, "Unsqueeze": unsqueeze, "Reshape": reshape, "Slice": slices,
        "Transpose": lambda _, attrs: lambda x: x.permute(attrs["perm"]),
        "Concat": lambda _, attrs: lambda *parts: torch.cat(parts, attrs["axis"]),
    }  # fmt: skip


def _others(torch: Any, f: Any) -> dict[str, Maker]:
    types = {1: torch.float32, 6: torch.int32, 7: torch.int64, 9: torch.bool}

    def mean(known: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        axes, keep = _axes(known, attrs), bool(attrs.get("keepdims", 1))
        return lambda x, *_: torch.mean(x, axes, keep)

    def clip(known: list[Any], _: Mapping[str, Any]) -> Callable[..., Any]:
        least, most = (None if bound is None else float(bound) for bound in known[1:3])
        return lambda x, *_: torch.clamp(x, least, most)

    def product(_: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        turned = bool(attrs.get("transB", 0))
        return lambda a, b, c=None: f.linear(a, b if turned else b.T, c)

    def gather(_: list[Any], attrs: Mapping[str, Any]) -> Callable[..., Any]:
        if attrs.get("axis", 0) != 0:
            raise NoForm("the compiled form lacks Gather along a later axis")
        return lambda table, places: table[places.long()]

    return {
        "ReduceMean": mean, "Clip": clip, "Gemm": product, "Gather": gather,
        "GlobalAveragePool": lambda *_: lambda x: torch.mean(x, list(range(2, x.ndim)), True),
        "Softmax": lambda _, attrs: lambda x: f.softmax(x, attrs.get("axis", -1)),
        "Cast": lambda _, attrs: lambda x: x.to(types[attrs["to"]]),
    }  # fmt: skip
