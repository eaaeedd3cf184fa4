"""Runs of a model whose graph is replaced, each from the state that the model begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from drystone_base.api.model import Model
from drystone_base.api.session import Session, SessionConfig
from drystone_base.cli.kit import made_up
from drystone_base.core.dtypes import DType
from drystone_base.core.errors import BadRequest, DrystoneError
from drystone_base.files.access import Access
from drystone_base.graph import Graph, placeholder_shape
from drystone_base.graph.validate import output_dtypes

if TYPE_CHECKING:
    from drystone_base.loaders import LoadedModel

__all__ = ["Array", "Feeds", "Input", "Runner", "draw", "inputs_of"]

Array: TypeAlias = np.ndarray[Any, Any]
Feeds: TypeAlias = Mapping[str, Array]


@dataclass(frozen=True)
class Input:
    """A tensor that is fed: its name for people, and what it holds."""

    name: str
    tensor: str
    dtype: DType
    shape: tuple[int, ...] | None


class Runner:
    """Runs graphs in the place of a model's; without one there is no state to begin with."""

    def __init__(
        self,
        loaded: LoadedModel | None = None,
        executor: str = "reference",
        access: Access | None = None,
    ) -> None:
        self.loaded, self.executor, self.runs = loaded, executor, 0
        self.config = SessionConfig(
            executor=executor,  # type: ignore[arg-type]
            optimizer="off",
            deterministic=True,
            access=access,
        )

    def run(self, graph: Graph, fetches: Sequence[str], feeds: Feeds) -> list[Any]:
        """Values of the fetches; raises what a session raises."""
        self.runs += 1
        with Session(graph, self.config) as session:
            if self.loaded is not None:
                begin = Model(self.loaded, self.config).session
                session.resources, session.access = begin.resources, begin.access
            found: list[Any] = session.run(list(fetches), dict(feeds))
            return [None if value is None else np.array(value) for value in found]


def draw(inputs: Iterable[Input], seed: int, count: int, sizes: Mapping[str, Any]) -> list[Feeds]:
    """``count`` sets of values for the inputs, drawn from ``seed`` on.

    The first has numbers in [0, 1); in the others they have both signs, zeros of both signs among
    them, and some are large. Raises ``BadRequest`` (``cannot-make-input``).
    """
    listed = list(inputs)
    drawn: list[Feeds] = []
    for k in range(count):
        rng = np.random.default_rng((seed, k))
        drawn.append({
            one.tensor: _drawn(one, sizes.get(one.name, one.shape), rng, wide=k > 0)
            for one in listed
        })  # fmt: skip
    return drawn


def _drawn(one: Input, shape: Any, rng: np.random.Generator, *, wide: bool) -> Array:
    array = made_up(one.name, one.dtype, shape, rng)
    if not wide or not one.dtype.is_floating:
        return array
    values = rng.normal(size=array.shape) * 10.0 ** rng.integers(-1, 2, array.shape)
    zeros = rng.random(array.shape)
    zeroed = np.where(zeros < 0.05, 0.0, np.where(zeros < 0.1, -0.0, values))
    return np.asarray(zeroed).astype(array.dtype)


def inputs_of(graph: Graph, tensors: Iterable[str]) -> list[Input]:
    """What is known of tensors to feed; raises ``BadRequest`` (``cannot-make-input``)."""
    return [_input(graph, tensor) for tensor in tensors]


def _input(graph: Graph, tensor: str) -> Input:
    node, k = graph.output(tensor)
    try:
        types = output_dtypes(node)
    except DrystoneError:
        types = None
    if types is None or k >= len(types):
        raise BadRequest(
            f"input {tensor!r} cannot be made up",
            check="an input without a value must be one whose dtype is known",
            found=f"node {node.name!r} of op {node.op}",
            needed="an op with a known signature",
            remedy="give it with --inputs FILE.npz",
            code="cannot-make-input",
        )
    shape = placeholder_shape(node) if node.op.startswith("Placeholder") else None
    return Input(tensor, tensor, types[k].base, shape)
