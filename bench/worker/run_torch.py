"""PyTorch: small graphs as its users write them (TorchScript), large networks by torch.compile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from bench.worker._form import Array, Prepared, choose
from bench.worker._onnx_torch import module
from bench.worker._torch_step import prepare as torch_step

__all__ = ["prepare", "start"]


def start() -> None:
    """Import it."""
    import torch  # noqa: F401


def prepare(case: Mapping[str, Any], threads: int) -> Prepared:
    """The case's function, from NumPy arrays to NumPy arrays, without gradients."""
    import numpy as np
    import torch

    if "keras" in case["forms"]:
        return torch_step(case, threads)
    form, source = choose(case, "onnx" if case["group"].startswith("networks") else "torch")
    torch.set_num_threads(threads)
    torch.set_num_interop_threads(1)
    with np.load(case["arrays"], allow_pickle=False) as data:
        example = [torch.from_numpy(np.array(data[key])) for key in case["inputs"].values()]
    with torch.inference_mode():
        function = _function(torch, form, source, case["precision"], example)
    ready = torch.inference_mode()(
        lambda *arrays: [function(*map(torch.from_numpy, arrays)).numpy()]
    )

    def run(*arrays: Array) -> list[Array]:
        return list(ready(*arrays))

    return run, None


def _function(
    torch: Any, form: str, source: str, precision: str, example: list[Any]
) -> Callable[..., Any]:
    if form == "torch":
        return BUILDERS[source](torch, example)
    compiled = torch.compile(module(torch, source, example))
    if precision == "float32":
        return compiled  # type: ignore[no-any-return]

    def call(*inputs: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return compiled(*inputs).float()

    return call


def _add(torch: Any, example: list[Any]) -> Callable[..., Any]:
    del example
    return torch.add  # type: ignore[no-any-return]


def _elementwise(torch: Any, example: list[Any]) -> Callable[..., Any]:
    steps = [
        torch.add, lambda x, _: torch.tanh(x), torch.mul, lambda x, _: torch.relu(x), torch.sub,
        lambda x, _: torch.sigmoid(x), torch.maximum, lambda x, _: torch.exp(x),
        lambda x, _: torch.square(x), lambda x, _: torch.sqrt(x),
    ]  # fmt: skip

    def chain(x: Any, y: Any) -> Any:
        for k in range(100):
            x = steps[k % len(steps)](x, y)
        return x

    return torch.jit.freeze(torch.jit.trace(_module(torch, chain), example))  # type: ignore[no-any-return]


def _adds(torch: Any, example: list[Any]) -> Callable[..., Any]:
    def chain(x: Any, y: Any) -> Any:
        for _ in range(1000):
            x = torch.add(x, y)
        return x

    return torch.jit.freeze(torch.jit.trace(_module(torch, chain), example))  # type: ignore[no-any-return]


def _module(torch: Any, function: Callable[..., Any]) -> Any:
    class Chain(torch.nn.Module):  # type: ignore[misc]
        def forward(self, x: Any, y: Any) -> Any:
            return function(x, y)

    return Chain().eval()


def _count(torch: Any, example: list[Any]) -> Callable[..., Any]:
    from bench.worker._torch_loop import count

    del example
    return torch.jit.script(count)  # type: ignore[no-any-return]


BUILDERS: Mapping[str, Callable[[Any, list[Any]], Callable[..., Any]]] = {
    "add": _add, "elementwise": _elementwise, "adds": _adds, "count": _count,
}  # fmt: skip
