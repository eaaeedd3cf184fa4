"""What a loader gives: a graph, its signatures, and how to bring it to life."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.files.uris import as_path
from drystone_base.loaders._source import GraphSource

if TYPE_CHECKING:
    from pathlib import Path

    from drystone_abi.protos import MetaGraphDef
    from drystone_base.graph import Graph
    from drystone_base.ops.attrs import Shape

__all__ = ["InitStep", "LoadedModel", "Signature", "TensorSpec"]

InitStep: TypeAlias = "tuple[list[str], dict[str, np.ndarray[Any, Any]]]"
"""Nodes to run and tensors to feed while they run."""


class TensorSpec(NamedTuple):
    """One tensor of a signature: ``node:k``, its dtype, and its shape (None: unknown rank).

    ``optional``: an input that the graph or the signature has a value for where none is given.
    """

    tensor: str
    dtype: DType
    shape: Shape
    optional: bool = False


@dataclass(frozen=True)
class Signature:
    """A way to call a graph: named inputs and outputs.

    ``positional``: the inputs in the order of the function that was exported, where the model
    states one. ``defaults``: values of inputs that are fed where none are given; what the graph
    itself has a default for need not be among them.
    """

    name: str
    inputs: dict[str, TensorSpec]
    outputs: dict[str, TensorSpec]
    method: str = ""
    positional: tuple[str, ...] = ()
    defaults: Mapping[str, np.ndarray[Any, Any]] = field(default_factory=dict, compare=False)

    def left_out(self, given: Container[str]) -> dict[str, np.ndarray[Any, Any]]:
        """By tensor: the defaults of inputs whose tensors are not among the given ones."""
        tensors = ((self.inputs[name].tensor, value) for name, value in self.defaults.items())
        return {tensor: value for tensor, value in tensors if tensor not in given}


class LoadedModel(NamedTuple):
    """A model as it was read; nothing has run yet. ``source`` has its graph, ``place`` is its path.

    ``kind`` is savedmodel, graphdef, metagraph, tfjs, or the end of the name of a file that another
    package reads.
    ``variables`` are values to assign by shared name, then ``init_steps`` are to be run in order.
    ``read_meta`` gives ``meta``, the MetaGraphDef without its graph (collections, saver), if there
    is one; ``size`` is in bytes.
    """

    source: GraphSource
    signatures: dict[str, Signature]
    place: str | Path
    kind: str
    init_steps: Sequence[InitStep] = ()
    variables: Mapping[str, np.ndarray[Any, Any]] = MappingProxyType({})
    tags: tuple[str, ...] = ()
    assets: Mapping[str, Path] = MappingProxyType({})
    checkpoint: Path | None = None
    read_meta: Callable[[], MetaGraphDef | None] = lambda: None
    size: int = 0

    @property
    def path(self) -> Path:
        """The folder or the file of the model."""
        return as_path(self.place)

    @property
    def own_files(self) -> str | Path:
        """What the model's ops may read: its folder; of a file alone, the files beside it."""
        if self.kind == "savedmodel":
            return self.place
        if isinstance(self.place, str):
            folder = os.path.dirname(self.place) or os.curdir
            return os.path.join(folder, "*") if self.kind == "graphdef" else folder
        whole = self.place if self.place.is_dir() else self.place.parent
        return whole / "*" if self.kind == "graphdef" else whole

    @property
    def graph(self) -> Graph:
        """The model's graph."""
        return self.source.hand_out()

    @property
    def meta(self) -> MetaGraphDef | None:
        """The MetaGraphDef of the model without its graph."""
        return self.read_meta()

    def with_graph(self, graph: Graph) -> LoadedModel:
        """The same model with another graph."""
        return self._replace(source=GraphSource.of(graph))
