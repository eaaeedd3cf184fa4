"""Six training graphs, each until its loss is at a target: in how many steps, in what time.

Three are graphs of TensorFlow that integration_tests/data holds, fed with their recorded batches
again and again; three are written here, as users write them. Targets and bounds are in
convergence.toml.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ci.nightly.suite import Case, Figures, Place, Wrong
from ci.scripts.project import ROOT, load_toml

__all__ = ["TITLE", "cases", "converge"]

TITLE = "Convergence"
DATA = ROOT / "integration_tests" / "data"
Step = Callable[[], float]
Training = Callable[[], Step]
"""Makes a graph with its first values; what it gives takes a step, and gives the loss."""


def cases(_: Place) -> list[Case]:
    """One for each graph that has a target."""
    bounds = load_toml(Path(__file__).with_suffix(".toml"))
    made: dict[str, Training] = {
        "classifier": classifier, "convolutions": convolutions, "recurrent": recurrent,
    }  # fmt: skip
    return [
        Case(name, partial(_run, made.get(name) or partial(recorded, f"train-{name}"), one), 150)
        for name, one in bounds.items()
    ]


def _run(training: Training, bounds: dict[str, float], _: Place) -> Figures:
    return converge(training, **bounds)


def converge(training: Training, *, target: float, steps: float, seconds: float) -> Figures:
    """Steps and seconds to the target; raises `Wrong` for more than is allowed, or NaN.

    A single batch may be easy: the mean of the last ten losses counts.
    """
    step, losses = training(), list[float]()
    start = time.process_time()
    while len(losses) < steps:
        losses.append(step())
        if not math.isfinite(losses[-1]):
            raise Wrong(f"the loss of step {len(losses)} is {losses[-1]}")
        spent, mean = time.process_time() - start, float(np.mean(losses[-10:]))
        if spent > seconds:
            raise Wrong(f"a loss of {mean:.3g} after {seconds:g} s, at step {len(losses)}; "
                        f"{target:g} was to be reached")  # fmt: skip
        if len(losses) >= 10 and mean <= target:
            return {"steps": f"{len(losses)}", "seconds": spent, "ms a step": 1e3 * spent /
                    len(losses), "loss": mean}  # fmt: skip
    raise Wrong(f"a loss of {mean:.3g} after {len(losses)} steps, where {target:g} was reached")


def recorded(name: str) -> Step:
    """A graph of TensorFlow with its recorded batches."""
    import drystone as ds

    folder = DATA / name
    ref = json.loads((folder / "train.json").read_text(encoding="utf-8"))
    with np.load(folder / ref["file"]) as data:
        batches = _again(data["x"], data["y"])
    model = ds.load(folder / "metagraph")
    model.run(ref["init_op"])

    def step() -> float:
        x, y = next(batches)
        return float(model.run([ref["loss"], ref["train_op"]], {ref["x"]: x, ref["y"]: y})[0])

    return step


def classifier() -> Step:
    """Points near the middle of a square, by two layers and plain gradient descent."""
    import drystone as ds

    rng = np.random.default_rng(0)
    points = rng.uniform(-1, 1, (512, 2)).astype(np.float32)
    labels = (np.hypot(*points.T) < 0.6).astype(np.int32)
    first, second = _weights(ds, rng, (2, 32)), _weights(ds, rng, (32, 2))
    bias = ds.Variable(np.zeros(32, np.float32), "bias")
    variables = [first, second, bias]

    @ds.function
    def step(x: Any, y: Any) -> Any:
        logits = ds.ops.relu(x @ first + bias) @ second
        loss = ds.ops.sparse_softmax_cross_entropy_with_logits(logits, y)[0].mean()
        for variable, gradient in zip(variables, ds.gradients(loss, variables), strict=True):
            variable.assign_sub(0.5 * gradient)
        return loss

    return lambda: float(step(points, labels))


def convolutions() -> Step:
    """Squares, crosses and rings in noise, by two convolutions and Adam."""
    import drystone as ds

    rng = np.random.default_rng(1)
    images, labels = shapes(rng, 256)
    batches = _again(images.reshape(8, 32, 16, 16, 1), labels.reshape(8, 32))
    kernels = [_weights(ds, rng, (3, 3, 1, 8)), _weights(ds, rng, (3, 3, 8, 16))]
    dense = _weights(ds, rng, (256, 3))
    variables = [*kernels, dense]
    update = _adam(ds, variables)

    @ds.function
    def step(x: Any, y: Any) -> Any:
        for kernel in kernels:
            x = ds.ops.conv2d(x, kernel, strides=[1, 2, 2, 1], padding="SAME")
            x = ds.ops.relu(x)
        logits = x.reshape((32, 256)) @ dense
        loss = ds.ops.sparse_softmax_cross_entropy_with_logits(logits, y)[0].mean()
        update(ds.gradients(loss, variables))
        return loss

    return lambda: float(step(*next(batches)))


def recurrent() -> Step:
    """The sum of a sequence's marked numbers, by a loop with a state of 16 and Adam."""
    import drystone as ds

    rng = np.random.default_rng(2)
    numbers = rng.uniform(0, 1, (8, 32, 10)).astype(np.float32)
    marks = (rng.uniform(0, 1, numbers.shape) < 0.3).astype(np.float32)
    sums = (numbers * marks).sum(2)
    batches = _again(np.stack([numbers, marks], 3).transpose(0, 2, 1, 3), sums)
    inner, outer = _weights(ds, rng, (16, 16)), _weights(ds, rng, (16, 1))
    inputs = _weights(ds, rng, (2, 16))
    variables = [inner, outer, inputs]
    update = _adam(ds, variables)

    @ds.function
    def step(sequence: Any, wanted: Any) -> Any:
        def body(k: Any, state: Any) -> Any:
            return k + 1, ds.ops.tanh(ds.ops.gather_v2(sequence, k, 0) @ inputs + state @ inner)

        first = np.zeros((32, 16), np.float32)
        _, state = ds.while_loop(lambda k, _: k < 10, body, (np.int32(0), first))
        loss = (((state @ outer).reshape((32,)) - wanted) ** 2).mean()
        update(ds.gradients(loss, variables))
        return loss

    return lambda: float(step(*next(batches)))


def shapes(rng: np.random.Generator, count: int) -> tuple[Any, Any]:
    """Images [count, 16, 16] of squares, crosses and rings in noise, and which it is."""
    rows, columns = np.mgrid[-8:8, -8:8] + 0.5
    far, near = np.maximum(abs(rows), abs(columns)), np.minimum(abs(rows), abs(columns))
    plain = np.stack([far < 5, (near < 1) & (far < 6), abs(np.hypot(rows, columns) - 5) < 1])
    labels = rng.integers(0, 3, count).astype(np.int32)
    noise = rng.normal(0, 1.5, (count, 16, 16))
    return (plain[labels] + noise).astype(np.float32), labels


def _weights(ds: Any, rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    scale = math.sqrt(2 / np.prod(shape[:-1]))
    return ds.Variable(
        rng.normal(0, scale, shape).astype(np.float32), f"w{'x'.join(map(str, shape))}"
    )


def _adam(ds: Any, variables: list[Any], rate: float = 0.01) -> Callable[[list[Any]], None]:
    """Adam's update of some variables, for the body of a traced function."""
    zeros = [np.zeros(tuple(variable.shape), np.float32) for variable in variables]
    means = [ds.Variable(zero, f"m{k}") for k, zero in enumerate(zeros)]
    squares = [ds.Variable(zero, f"v{k}") for k, zero in enumerate(zeros)]
    steps = ds.Variable(np.float32(0), "steps")

    def update(gradients: list[Any]) -> None:
        now = steps + np.float32(1)
        steps.assign(now)
        scale = rate * ds.ops.sqrt(1 - 0.999**now) / (1 - 0.9**now)
        for variable, mean, square, g in zip(variables, means, squares, gradients, strict=True):
            m, v = mean + 0.1 * (g - mean), square + 0.001 * (g * g - square)
            mean.assign(m)
            square.assign(v)
            variable.assign_sub(scale * m / (ds.ops.sqrt(v) + 1e-7))

    return update


def _again(x: Any, y: Any) -> Iterator[tuple[Any, Any]]:
    """The batches, again and again."""
    while True:
        yield from zip(x, y, strict=True)
