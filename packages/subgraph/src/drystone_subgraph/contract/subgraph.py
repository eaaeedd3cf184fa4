"""A region as the creator of its operator sees it: its graph, and what goes in and out."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_base.core.arguments import explaining
from drystone_base.core.dtypes import DType
from drystone_base.executor.calling import OPERATOR_ATTR
from drystone_base.graph import (
    Body,
    Function,
    FunctionLibrary,
    Node,
    Output,
    body_to_function,
    held_tensor,
)
from drystone_base.graph.calls import BACKEND_ATTR
from drystone_base.graph.validate import definition_of
from drystone_base.ops.attrs import FunctionRef, Shape

if TYPE_CHECKING:
    from drystone_subgraph.contract.config import PartitionConfig
    from drystone_subgraph.regions.region_function import RegionFunction
    from drystone_subgraph.regions.report import PartitionReport

__all__ = [
    "BACKEND_ATTR",
    "HOST_ATTRS",
    "Subgraph",
    "SubgraphInput",
    "SubgraphNode",
    "SubgraphOutput",
    "given_attrs",
]

Partition: TypeAlias = "Callable[[Body, FunctionDef, PartitionConfig | str], PartitionReport]"
"""Partitions the body of a function."""
HOST_ATTRS: Final = frozenset({BACKEND_ATTR, OPERATOR_ATTR, "_class", "_kernel", "_output_shapes"})
"""What the host itself reads on nodes."""


@dataclass(frozen=True)
class SubgraphInput:
    """A value that goes in. ``source``: the tensor's name in the graph, ``op`` what computes it.

    ``shape``: None for an unknown rank; a dimension below 0 is unknown, and two such are equal
    where their numbers are. ``value``: the array of a constant, None for any other input, and for a
    constant in whose place another value is fed.
    ``device``: where it was asked to be computed.
    """

    source: str
    op: str
    dtype: DType
    shape: Shape
    device: str = ""
    value: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True)
class SubgraphOutput:
    """A value that goes out; ``source`` is the name that the tensor had in the graph.

    ``device``: where it was asked to be computed.
    """

    source: str
    dtype: DType
    shape: Shape
    device: str = ""


@dataclass(frozen=True)
class SubgraphNode:
    """The operator that stands for a region: its op, and the attributes beyond the function.

    It takes the region's inputs in their order and gives its outputs in theirs.
    """

    op: str
    attrs: Mapping[str, Any] = field(default_factory=dict)


@explaining("__init__")
class Subgraph:
    """A region: nodes of one graph that become one operator.

    ``name``: the operator's. ``function``: the region as a function of ``library``'s; a creator
    that edits :attr:`body` changes it. ``nodes``: the names of the region's nodes. To be used while
    the operator is created, and not later. ``partition`` is what :meth:`partition` calls.
    """

    def __init__(
        self,
        name: str,
        backend: str,
        function: RegionFunction,
        library: FunctionLibrary,
        shape: Callable[[Output], Shape],
        fed: Container[Output] = (),
        partition: Partition | None = None,
    ) -> None:
        self._partition = partition
        self.name, self.backend = name, backend
        self.nodes = tuple([node.name for node in function.members])
        self.library = library
        self.is_stateful = function.is_stateful
        self._function = Function(function.build, function.name)
        self._sources, self._results = function.sources, function.results
        self._shape, self._fed = shape, fed
        self.refusal = ""
        self.kept: frozenset[str] | None = None

    @cached_property
    def inputs(self) -> tuple[SubgraphInput, ...]:
        """What goes in, each tensor once, in the order in which the region's nodes read it."""
        return tuple(
            SubgraphInput(
                _spelled(o), o[0].op, dtype, self._shape(o), o[0].device,
                None if o in self._fed else _constant(o[0]),
            )
            for o, dtype in self._sources
        )  # fmt: skip

    @cached_property
    def outputs(self) -> tuple[SubgraphOutput, ...]:
        """What goes out, each tensor once, in the order of the region's nodes."""
        return tuple(
            SubgraphOutput(_spelled(o), dtype, self._shape(o), o[0].device)
            for o, dtype in self._results
        )

    @cached_property
    def body(self) -> Body:
        """The region as a graph of its own, which a creator may edit: ``_Arg`` to ``_Retval``."""
        return self._function.body(self.library)

    @property
    def function(self) -> FunctionDef:
        """The region as a function, with what was done to :attr:`body`."""
        return self.made().proto

    @property
    def edited(self) -> bool:
        """Whether a caller has read :attr:`body`, and may have edited it."""
        return "body" in self.__dict__

    @property
    def input_types(self) -> list[DType]:
        """The dtypes of what goes in."""
        return [dtype for _, dtype in self._sources]

    @property
    def output_types(self) -> list[DType]:
        """The dtypes of what goes out."""
        return [dtype for _, dtype in self._results]

    def made(self) -> Function:
        """The same for a library; it need not have been read."""
        if self.edited:
            return Function(body_to_function(self.body, self._function.proto))
        return self._function

    def partition(self, config: PartitionConfig | str) -> PartitionReport:
        """Partition the region itself: operators inside of the operator.

        Raises as ``drystone_subgraph.partition`` does.
        """
        assert self._partition is not None  # what cuts regions gives it
        return self._partition(self.body, self._function.proto, config)

    def refuse(self, reason: str) -> SubgraphNode | None:
        """None, with a reason for reports: ``return subgraph.refuse("...")``."""
        self.refusal = reason
        return None

    def narrow(self, nodes: Iterable[str]) -> SubgraphNode | None:
        """None, to be given a region of these nodes alone instead: ``return subgraph.narrow(...)``.

        They are some of :attr:`nodes`, connected, and no path leaves them and comes back. What is
        left out stays, for later properties and backends.
        """
        self.kept = frozenset(nodes)
        return None

    def node(self, **attrs: Any) -> SubgraphNode:
        """The default operator: a call of the region's function, which the host executor runs."""
        op = "StatefulPartitionedCall" if self.is_stateful else "PartitionedCall"
        types = {"Tin": self.input_types, "Tout": self.output_types}
        called = FunctionRef(self._function.name, {})
        return SubgraphNode(op, {**types, "f": called, BACKEND_ATTR: self.backend, **attrs})


def given_attrs(node: Node) -> dict[str, Any]:
    """The attributes that a creator gave an operator, beside those of a call and of the host."""
    definition = definition_of(node)
    own = HOST_ATTRS if definition is None else HOST_ATTRS | definition.attrs.keys()
    return {name: value for name, value in node.attrs.items() if name not in own}


def _spelled(output: Output) -> str:
    return f"{output[0].name}:{output[1]}"


def _constant(node: Node) -> np.ndarray[Any, Any] | None:
    value = held_tensor(node)
    return None if value is None else value.array
