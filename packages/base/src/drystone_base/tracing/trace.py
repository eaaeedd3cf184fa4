"""A trace: the graph that grows while a Python function is called with symbolic tensors."""

from __future__ import annotations

import itertools
import re
from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final, Self

from drystone_base.core.dtypes import RESOURCE, DType
from drystone_base.core.errors import BadRequest
from drystone_base.graph.builder import Builder
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.inference.shapes._incremental import Shapes
from drystone_base.ops.defs import OpDef, op_def

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from drystone_base.tracing.tensor import Tensor
    from drystone_base.tracing.variable import Variable

__all__ = ["Trace"]

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_./>\\-]")
_FIRST: Final = re.compile(r"[A-Za-z0-9.]")
_READS: Final = frozenset(
    {"ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp"}
)
_FREE: Final = frozenset({"VarHandleOp", "Placeholder", "StatefulPartitionedCall"})
_CURRENT: Final[ContextVar[Trace | None]] = ContextVar("drystone_trace", default=None)


class Trace:
    """The graph of one function, or of one branch or loop of it, inside ``parent``.

    Used as a context: ops that are called inside it are added to its graph. What writes a variable,
    or has no output, runs in the order of the calls; ``effects`` are those that must run.
    ``variables`` are those that it uses, by their names in the session.
    """

    def __init__(self, parent: Trace | None = None) -> None:
        self.parent, self.graph = parent, Graph()
        if parent is not None:
            self.graph.functions = parent.graph.functions
        self.b = Builder(self.graph)
        self.shapes = Shapes(self.graph)
        self.captured: dict[Output, Output] = {}
        self.handles: dict[Variable, Output] = {}
        self.variables: dict[str, Variable] = {}
        self.effects: list[Node] = []
        self._writes: dict[Output, Node] = {}
        self._reads: dict[Output, list[Node]] = {}
        self._last: Node | None = None
        self._token: Token[Trace | None] | None = None

    @staticmethod
    def active() -> Trace | None:
        """The innermost trace of this thread, or None."""
        return _CURRENT.get()

    def __enter__(self) -> Self:
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _CURRENT.reset(self._token)

    @contextmanager
    def scope(self, path: str) -> Iterator[None]:
        """Name the nodes that are added inside after ``path``: ``dense/MatMul``."""
        outside, self.b.scope = self.b.scope, _node_name(path) if path else ""
        try:
            yield
        finally:
            self.b.scope = outside

    def placeholder(self, dtype: DType, shape: Sequence[int] | None, name: str) -> Output:
        """An argument."""
        return self.b("Placeholder", dtype=dtype, shape=shape, name=self.free_name(name))

    def free_name(self, text: str) -> str:
        """A name that no node has, after a text; TensorFlow refuses graphs with others."""
        return self.graph.unique_name(_node_name(text))

    def resolve(self, tensor: Tensor) -> Output:
        """Where a tensor is in this trace: its own, or one of an outer trace that is captured.

        Raises ``BadRequest`` (``leaked-tensor``) for one of another function.
        """
        if tensor.trace is self:
            return tensor.place
        if self.parent is None:
            raise _leaked(tensor)
        return self.capture(self.parent.resolve(tensor))

    def capture(self, outer: Output) -> Output:
        """The argument that stands for an output of the trace outside."""
        found = self.captured.get(outer)
        if found is None:
            assert self.parent is not None
            dtype = self.parent.b.dtype(outer)
            shape = self.parent.shapes.shape(outer)
            known = None if shape is None else [max(d, -1) for d in shape]
            found = self.placeholder(dtype, () if dtype is RESOURCE else known, "captured")
            self.captured[outer] = found
        return found

    def handle(self, variable: Variable) -> Output:
        """The handle of a variable."""
        if self.parent is not None:
            return self.capture(self.parent.handle(variable))
        found = self.handles.get(variable)
        if found is None:
            name, shared = self.free_name(variable.name), self._shared(variable.name)
            found = self.b("VarHandleOp", dtype=variable.dtype, shape=variable.shape, name=name,
                           shared_name=shared)  # fmt: skip
            self.handles[variable] = found
            self.variables[shared] = variable
        return found

    def _shared(self, name: str) -> str:
        """The name that the session has a variable under: its own, but for those of two stores."""
        names = itertools.chain([name], (f"{name}_{k}" for k in itertools.count(1)))
        return next(one for one in names if one not in self.variables)

    def emit(
        self, op: str, inputs: Sequence[Any], attrs: Mapping[str, Any], name: str = ""
    ) -> Node:
        """Add a node; raises as the builder does, and ``ShapeError`` for shapes that do not fit."""
        if name:
            name = self.free_name(name)
        node = self.b.node(op, *inputs, name=name, **attrs)
        wrong = self.shapes.contradiction(node)
        if wrong is not None:
            self.graph.remove(node)
            self.shapes.forget(node)
            raise wrong
        self._order(node, op_def(op))
        return node

    def _order(self, node: Node, definition: OpDef) -> None:
        """Let a node wait for what was called before and works on the same state."""
        if not definition.is_stateful and definition.outputs:
            return
        handles = [o for o in node.inputs if self.b.dtype(o) is RESOURCE]
        before: list[Node] = []
        if node.op in _READS:
            before = [self._writes[h] for h in handles if h in self._writes]
            for handle in handles:
                self._reads.setdefault(handle, []).append(node)
        elif handles:
            for handle in handles:
                before += [*self._reads.pop(handle, []), *filter(None, [self._writes.get(handle)])]
                self._writes[handle] = node
            self.effects.append(node)
        elif not definition.outputs and node.op not in _FREE:
            before = [self._last] if self._last is not None else []
            self._last = node
            self.effects.append(node)
        if before:
            self.graph.set_controls(node, before)


def _node_name(text: str) -> str:
    """The name with what TensorFlow has in names of nodes: ``"my weight"`` is ``"my_weight"``."""
    name = _NOT_IN_NAMES.sub("_", text)
    return name if _FIRST.match(name) else f"at{name}"


def _leaked(tensor: Tensor) -> BadRequest:
    return BadRequest(
        f"symbolic tensor {tensor.name!r} is used outside of the function that made it",
        check="a symbolic tensor has a meaning only while its function is traced",
        found=f"a tensor of {tensor.trace.graph!r}",
        needed="a tensor of the function that is traced now, or of one around it",
        remedy="return it from its function, and give the value that comes out",
        code="leaked-tensor",
    )
