"""A step of training by PyTorch: the models of ``bench.keras_models`` as its users write them.

Eager and compiled steps are both tried, and the quicker one is what is timed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from bench.keras_models import CLASSES, WORDS, first_weights
from bench.worker._form import Array, Prepared

__all__ = ["prepare"]

_TRIED = 5


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """The model with the weights of the case; a call trains on one batch and gives its loss."""
    import torch

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    with np.load(case["arrays"], allow_pickle=False) as data:
        weights = [torch.from_numpy(value) for value in first_weights(data)]
        example = [torch.from_numpy(data[key][0]) for key in case["inputs"].values()]
    steps = [_step(torch, case["forms"]["keras"], weights, fast) for fast in (False, True)]
    seconds = [_seconds(step, example) for step, _ in steps]
    step, reset = steps[seconds.index(min(seconds))]
    reset()

    def run(*arrays: Array) -> list[Array]:
        return [step(*map(torch.from_numpy, arrays)).detach().numpy()]

    return run, reset


def _seconds(step: Callable[..., Any], example: list[Any]) -> float:
    """What a step takes once it is warm; infinity for one that cannot be compiled here."""
    try:
        for _ in range(2):
            step(*example)
    except Exception:
        return math.inf
    began = time.perf_counter()
    for _ in range(_TRIED):
        step(*example)
    return time.perf_counter() - began


def _step(
    torch: Any, name: str, weights: list[Any], compiled: bool
) -> tuple[Callable[..., Any], Callable[[], None]]:
    module = _MODULES[name](torch)
    optimizer = torch.optim.SGD(module.parameters(), 0.01, momentum=0.9)
    forward = torch.compile(module) if compiled else module

    def reset() -> None:
        optimizer.state.clear()  # the momentum of steps that were tried, too
        with torch.no_grad():
            for target, value in zip(module.keras_order(), weights, strict=True):
                target.copy_(value.reshape(target.shape))

    def step(x: Any, y: Any) -> Any:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(forward(x), y.long())
        loss.backward()
        optimizer.step()
        return loss

    reset()
    return step, reset


def _class(torch: Any, make: Callable[[Any, Any], Any], forward: Callable[..., Any]) -> Any:
    """A module whose layers are in the order of Keras's weights."""

    class Model(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.parts = torch.nn.ModuleList(make(torch.nn, self))
            self.last = torch.nn.Linear(self.width, CLASSES)

        def forward(self, x: Any) -> Any:
            return self.last(forward(torch, self, x))

        def keras_order(self) -> Iterator[Any]:
            for part in [*self.parts, self.last]:
                yield from _in_order(part)

    return Model()


def _in_order(part: Any) -> Iterator[Any]:
    """Views of a layer's parameters as Keras has them."""
    kind = type(part).__name__
    if kind == "Linear":
        yield part.weight.T
    elif kind == "Conv2d":
        yield part.weight.permute(2, 3, 1, 0)
    elif kind == "LSTM":
        part.bias_hh_l0.requires_grad = False
        part.bias_hh_l0.data.zero_()
        yield from (part.weight_ih_l0.T, part.weight_hh_l0.T, part.bias_ih_l0)
        return
    else:
        yield part.weight
    if getattr(part, "bias", None) is not None:
        yield part.bias
    if kind == "BatchNorm2d":
        yield from (part.running_mean, part.running_var)


def _mlp(torch: Any) -> Any:
    def make(nn: Any, model: Any) -> list[Any]:
        model.width = 512
        return [nn.Linear(784, 512), nn.Linear(512, 512)]

    def forward(torch: Any, model: Any, x: Any) -> Any:
        for part in model.parts:
            x = torch.relu(part(x))
        return x

    return _class(torch, make, forward)


def _cnn(torch: Any) -> Any:
    def make(nn: Any, model: Any) -> list[Any]:
        model.width = 128
        return [nn.Conv2d(1, 32, 3), nn.Conv2d(32, 64, 3), nn.Linear(1600, 128)]

    def forward(torch: Any, model: Any, x: Any) -> Any:
        x = x.permute(0, 3, 1, 2)
        for part in model.parts[:2]:
            x = torch.nn.functional.max_pool2d(torch.relu(part(x)), 2)
        return torch.relu(model.parts[2](x.permute(0, 2, 3, 1).flatten(1)))

    return _class(torch, make, forward)


def _resnet20(torch: Any) -> Any:
    plan = [(f, s) for f, first in ((16, 1), (32, 2), (64, 2)) for s in (first, 1, 1)]

    def make(nn: Any, model: Any) -> list[Any]:
        model.width, before = 64, 16
        parts: list[Any] = []

        def add(*convolutions: tuple[int, int, int, int]) -> None:
            """Convolutions of one depth, then their normalizations, as Keras has them in order."""
            parts.extend(nn.Conv2d(*one, 0, bias=False) for one in convolutions)
            parts.extend(nn.BatchNorm2d(one[1], eps=1e-3, momentum=0.01) for one in convolutions)

        add((3, 16, 3, 1))
        for filters, stride in plan:
            add((before, filters, 3, stride))
            beside = [(before, filters, 1, stride)] if stride > 1 else []
            add((filters, filters, 3, 1), *beside)
            before = filters
        return parts

    def forward(torch: Any, model: Any, x: Any) -> Any:
        parts = iter(model.parts)

        def convolved(*inputs: Any) -> list[Any]:
            layers = [next(parts) for _ in inputs]
            made = [_same(torch, layer, x) for layer, x in zip(layers, inputs, strict=True)]
            return [next(parts)(one) for one in made]

        x = torch.relu(*convolved(x.permute(0, 3, 1, 2)))
        for _, stride in plan:
            inner = torch.relu(*convolved(x))
            if stride > 1:
                inner, x = convolved(inner, x)
            else:
                (inner,) = convolved(inner)
            x = torch.relu(inner + x)
        return x.mean((2, 3))

    return _class(torch, make, forward)


def _same(torch: Any, layer: Any, x: Any) -> Any:
    """A convolution with the padding of TensorFlow's SAME."""
    size, stride = layer.kernel_size[0], layer.stride[0]
    more = max((-(-x.shape[2] // stride) - 1) * stride + size - x.shape[2], 0)
    return layer(torch.nn.functional.pad(x, (more // 2, more - more // 2) * 2))


def _lstm(torch: Any) -> Any:
    def make(nn: Any, model: Any) -> list[Any]:
        model.width = 128
        return [nn.Embedding(WORDS, 64), nn.LSTM(64, 128, batch_first=True)]

    def forward(torch: Any, model: Any, x: Any) -> Any:
        del torch
        return model.parts[1](model.parts[0](x))[0][:, -1]

    return _class(torch, make, forward)


def _transformer(torch: Any) -> Any:
    def make(nn: Any, model: Any) -> list[Any]:
        model.width, parts = 128, [nn.Embedding(WORDS, 128)]
        for _ in range(2):
            parts += [nn.Linear(128, 128) for _ in range(4)]
            parts += [
                nn.LayerNorm(128),
                nn.Linear(128, 512),
                nn.Linear(512, 128),
                nn.LayerNorm(128),
            ]
        return parts

    def forward(torch: Any, model: Any, x: Any) -> Any:
        f = torch.nn.functional
        parts = list(model.parts)
        x = parts.pop(0)(x)
        while parts:
            (query, key, value, out, norm, wide, narrow, last), parts = parts[:8], parts[8:]
            heads = [p(x).unflatten(-1, (4, 32)).transpose(1, 2) for p in (query, key, value)]
            found = f.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2)
            x = norm(x + out(found))
            x = last(x + narrow(f.gelu(wide(x))))
        return x.mean(1)

    return _class(torch, make, forward)


_MODULES: dict[str, Callable[[Any], Any]] = {
    "mlp": _mlp, "cnn": _cnn, "resnet20": _resnet20, "lstm": _lstm, "transformer": _transformer,
}  # fmt: skip
