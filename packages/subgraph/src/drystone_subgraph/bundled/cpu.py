"""The CPU as a backend: regions become plans of the native executor, optimized for their shapes.

What a session does to a graph whose shapes it does not know, this does once more to a region whose
shapes it does: constants are folded through them, layers and chains are joined, and what is left is
lowered to a plan that runs by itself. Its kernels are those of plugins: drystone-cpu's.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_abi.protos import PlanDef
from drystone_base.core.dtypes import DType, as_dtype, from_number
from drystone_base.core.errors import BadRequest, DrystoneError, UnsupportedOp
from drystone_base.core.tensor import to_proto
from drystone_base.executor.encode import CALLS, FORWARDS, encode
from drystone_base.executor.functions import FunctionCaller, call_function
from drystone_base.executor.plan import lower
from drystone_base.executor.selection import chosen_kernel, registered
from drystone_base.graph import FunctionLibrary, Node, output_name
from drystone_base.graph.calls import called
from drystone_base.graph.validate import definition_of, output_dtypes
from drystone_base.host.operators import HostOperator, PlanExecutable, plan_operator
from drystone_base.modules import stage
from drystone_subgraph.contract.arguments import with_arguments
from drystone_subgraph.contract.backend import SubgraphBackend
from drystone_subgraph.contract.executable import CompileInput, CompileRequest, Handle
from drystone_subgraph.contract.property import SubgraphProperty
from drystone_subgraph.contract.selector import NodeSelector, SubgraphSelector
from drystone_subgraph.contract.subgraph import Subgraph, SubgraphNode

__all__ = ["CpuBackend"]

Array = np.ndarray[Any, Any]
_OBJECTS: Final = frozenset({as_dtype("resource"), as_dtype("variant")})
_NOT_THROUGH: Final = "variants and handles do not go in or out"
_OWN: Final = frozenset({"_Arg", "_Retval", "Const", "NoOp"})
"""Ops that need no kernel in the body of a function."""


class CpuBackend(SubgraphBackend):
    """Compiles regions to plans of the native executor, with kernels of plugins only."""

    name = "cpu"
    compiles = True
    keeps = True

    def properties(self) -> Sequence[SubgraphProperty]:
        """One rule: all that the executor runs without Python.

        Raises ``BadRequest`` (``subgraph-package-missing``) where no plugin has kernels.
        """
        if not registered():
            raise BadRequest(
                "subgraph backend 'cpu' cannot be used",
                check="its plans consist of kernels of plugins",
                found="no plugin with kernels",
                needed="drystone-cpu",
                remedy="pip install drystone-cpu; `drystone plugins list` says what is loaded",
                code="subgraph-package-missing",
                status="FAILED_PRECONDITION",
            )
        return [_Property()]

    @property
    def version(self) -> str:  # type: ignore[override]
        """Of what plans are made by: this package, and the passes that are installed."""
        makers = ["drystone_base", *(f.__module__.partition(".")[0] for f in stage("optimize"))]
        return " ".join(f"{name} {_sources(name)}" for name in dict.fromkeys(makers))

    def operator(
        self, inputs: Sequence[DType], weights: Sequence[int], outputs: Sequence[DType]
    ) -> HostOperator:
        """An operator in the host library, which runs plans as part of its own run."""
        return plan_operator(inputs, weights, outputs)

    def compile(self, request: CompileRequest) -> Handle:
        """The region as a plan; raises ``UnsupportedOp`` where it would need Python."""
        graph = with_arguments(request, freezes=False)
        fetches = [output_name(node.inputs[0]) for node in request.body.results]
        feeds = {k: n for k, n in enumerate(request.body.args) if n.op == "Placeholder"}
        graph.remove(request.body.results)
        for optimize in stage("optimize"):
            graph = optimize(graph, fetches, [f"{n.name}:0" for n in feeds.values()], None)
        ends = [(graph[node.name], 0) for node in feeds.values()]
        results = [graph.output(name) for name in fetches]
        plan = lower(graph, results, [], ends, call_function=call_function, native=True)
        of_function = partial(FunctionCaller(graph.functions).plan, native=True)
        types = [request.inputs[k].dtype for k in feeds]
        names = [function.name for function in graph.functions]
        encoded = encode(plan, types, of_function, names, alone=True, beside=True)
        constants = [(array, from_number(number)) for array, number in encoded.constants]
        return _Compiled(request, encoded.plan, constants, list(feeds))

    def save(self, executable: Any) -> bytes:
        """The plan, with references to the region's constants and the values of all others."""
        made: _Compiled = executable
        return made.save()

    def load(self, request: CompileRequest, data: bytes) -> Handle:
        """A plan that was saved."""
        head, _, plan = data.partition(b"\n")
        facts = json.loads(head)
        given = request.inputs
        constants = [(_value(given[k]), given[k].dtype) for k in facts["constants"]]
        return _Compiled(request, PlanDef.FromString(plan), constants, facts["feeds"])


def _value(given: CompileInput) -> Array:
    assert given.value is not None, "only constants are referred to"
    return given.value


class _Compiled:
    """A loaded plan, and what it was loaded from. ``feeds``: the region's inputs that it takes."""

    def __init__(
        self,
        request: CompileRequest,
        plan: PlanDef,
        constants: Sequence[tuple[Array, DType]],
        feeds: Sequence[int],
    ) -> None:
        self.inputs, self.plan, self.feeds = request.inputs, plan, list(feeds)
        self.constants = constants
        weights = [k for k, number in enumerate(feeds) if request.inputs[number].is_weight]
        self.loaded = PlanExecutable(
            plan.SerializeToString(), constants, feeds, weights, request.threads
        )

    def release(self) -> int:
        return self.loaded.release()

    def save(self) -> bytes:
        """Constants of the region are referred to; what was computed from them is written out."""
        known = {_place(i.value): k for k, i in enumerate(self.inputs) if i.value is not None}
        numbers: list[int] = []
        plan = PlanDef()
        plan.CopyFrom(self.plan)
        for block in plan.blocks:
            for node in block.instructions:
                if not node.constant:
                    continue
                array, dtype = self.constants[node.constant - 1]
                number = known.get(_place(array))
                if number is not None:
                    numbers.append(number)
                    node.constant = len(numbers)
                    continue
                proto = to_proto(array.astype(dtype.np, copy=False))
                number_of: Any = dtype.number
                proto.dtype = number_of
                node.value, node.constant = proto.SerializeToString(), 0
        head = json.dumps({"constants": numbers, "feeds": self.feeds})
        return head.encode() + b"\n" + plan.SerializeToString()


def _place(array: Array) -> tuple[int, tuple[int, ...], str]:
    """Equal for arrays that are the same memory, seen alike."""
    return (
        array.ctypes.data if array.flags.c_contiguous else -id(array),
        array.shape,
        array.dtype.str,
    )


class _Property(SubgraphProperty):
    name = "native kernels"
    minimum_size = 2

    def create_subgraph_selector(self) -> SubgraphSelector:
        return _Selector()

    def create_subgraph_node(self, subgraph: Subgraph) -> SubgraphNode | None:
        types = [*(i.dtype for i in subgraph.inputs), *(o.dtype for o in subgraph.outputs)]
        if any(dtype.base in _OBJECTS for dtype in types):
            return subgraph.refuse(_NOT_THROUGH)
        return subgraph.node()


class _Selector(NodeSelector):
    """What the native executor runs without Python and without state, with its functions."""

    def __init__(self) -> None:
        self.bodies: dict[tuple[int, str], str] = {}
        self.torn: set[Node] = set()

    def wants(self, node: Node) -> bool:
        return not self.why_not(node)

    def why_not(self, node: Node) -> str:
        if node.op == "Const":
            return "constants are inputs of regions"
        return _NOT_THROUGH if node in self.torn else self._strange(node)

    def _wanted(self, nodes: Sequence[Node]) -> Sequence[bool]:
        """Without nodes that take an object from one that is left, or give one to it."""
        wanted = {node for node in nodes if self.wants(node)}
        left = [node for node in nodes if node not in wanted]
        for node in left:
            for other in _exchanging(node):
                if other in wanted:
                    wanted.remove(other)
                    self.torn.add(other)
                    left.append(other)
        return [node in wanted for node in nodes]

    def _strange(self, node: Node) -> str:
        definition = definition_of(node)
        functions = node.graph.functions
        if definition is None:
            return f"{node.op} is unknown"
        if node.op in CALLS:
            names = sorted(set(called(node, functions)))
            return next((why for name in names if (why := self._body(name, functions))), "")
        if definition.is_stateful:
            return f"{node.op} has state"
        if node.op in FORWARDS:
            return ""
        return "" if _has_kernel(node) else f"{node.op} has no native kernel for these types"

    def _body(self, name: str, functions: FunctionLibrary) -> str:
        """Why a function cannot be in a region."""
        key = (id(functions), name)
        if key not in self.bodies:
            self.bodies[key] = f"function {name!r} calls itself"
            self.bodies[key] = self._why_not_body(name, functions)
        return self.bodies[key]

    def _why_not_body(self, name: str, functions: FunctionLibrary) -> str:
        try:
            nodes = list(functions[name].body(functions).graph)
        except DrystoneError:
            return f"function {name!r} does not hang together"
        for node in nodes:
            why = "" if node.op in _OWN else self._strange(node)
            if why:
                return f"in function {name!r}: {why}"
        return ""


def _exchanging(node: Node) -> Iterator[Node]:
    """The nodes that a node gives objects to, or takes them from."""
    yield from (source for source, k in node.inputs if _gives_object(source, k))
    if any(dtype.base in _OBJECTS for dtype in output_dtypes(node) or ()):
        for user in node.graph.users(node):
            if any(s is node and _gives_object(s, k) for s, k in user.inputs):
                yield user


def _gives_object(node: Node, slot: int) -> bool:
    types = output_dtypes(node)
    return types is None or types[slot].base in _OBJECTS


def _has_kernel(node: Node) -> bool:
    if node.op not in registered():
        return False
    try:
        chosen = chosen_kernel(node)
    except UnsupportedOp:
        return False
    return chosen is not None and not chosen.isolated


@cache
def _sources(package: str) -> str:
    """A package's version, and a hash of which files it has and when they were written."""
    home = import_module(package)
    top = Path(str(home.__file__)).parent
    stats = ((str(f.relative_to(top)), f.stat()) for f in top.rglob("*.py"))
    files = sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats)
    return f"{home.__version__} {hashlib.sha256(repr(files).encode()).hexdigest()[:12]}"
