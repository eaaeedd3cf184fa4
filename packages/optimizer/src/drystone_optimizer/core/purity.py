"""What ops do besides computing their outputs, by op name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.graph import FunctionLibrary, Node
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find
from drystone_base.ops.properties import CALLS, CONTROL_FLOW, VARIABLES

__all__ = [
    "Effects",
    "gives_reference",
    "is_pure",
    "is_pure_op",
    "may_be_dead",
]

# Stateful ops that may be removed when their output is not used. Random ops are missed: the numbers
# that they draw are not drawn by the next run.
_HARMLESS: Final = VARIABLES | frozenset({
    "ReadVariableOp", "_Arg", "_Retval", "GuaranteeConst",
    "ResourceGather", "ResourceGatherNd", "VariableShape", "VarIsInitializedOp", "HashTableV2",
    "HashTable", "LookupTableFindV2", "LookupTableSizeV2", "TensorArrayV3", "TensorArrayReadV3",
    "TensorArraySizeV3", "TensorArrayGatherV3", "IsResourceHandleRefCounting", "DeviceIndex",
})  # fmt: skip
# Attributes of ops with a random stream, and of those that keep something under a name (Unbatch).
_DRAWS: Final = frozenset({"seed", "shared_name"})
# Ops that ask the world outside, and so may answer otherwise the next time.
_OUTSIDE: Final = ("ReadFile", "MatchingFiles", "PyFunc", "EagerPyFunc", "Debug")
# Those among them that also read nothing that could change.
_UNMOVED: Final = VARIABLES | {
    "_Arg", "_Retval", "GuaranteeConst", "VariableShape", "HashTableV2", "HashTable", "DeviceIndex",
}  # fmt: skip
# Ops that write into an input or a resource although their definition does not call them stateful.
_WRITERS: Final = (
    "Inplace", "_ParallelConcat", "TensorArray", "Queue", "Stack", "Barrier", "Reader", "Lookup",
    "Initialize", "Accumulator",
)  # fmt: skip


def may_be_dead(op: str) -> bool:
    """Whether nodes of that op begin or belong to conditional execution or a loop of frames."""
    return op in CONTROL_FLOW


@lru_cache(maxsize=8192)
def _level(op: str) -> int:
    """What nodes of that op do: 0 nothing, 1 read what others may write, 2 have an effect."""
    definition = find(op)
    if definition is None:
        return 2
    if op in _HARMLESS:
        return 1 if definition.is_stateful and op not in _UNMOVED else 0
    if definition.is_stateful or op.startswith(_WRITERS) or "shared_name" in definition.attrs:
        return 2
    if op.startswith(_OUTSIDE):
        return 1
    if any(attr.type in ("func", "list(func)") for attr in definition.attrs.values()):
        return 2
    if any(arg.is_ref for arg in definition.inputs):
        return 1 if gives_reference(op) and op in CONTROL_FLOW | {"RefIdentity"} else 2
    return 0


class Effects:
    """What nodes do besides computing, with the functions of one library looked into."""

    def __init__(self, library: FunctionLibrary) -> None:
        self._library = library
        self._functions: dict[str, int] = {}

    def of_op(self, op: str) -> int | None:
        """The level of every node of that op; None where it goes by what a node calls."""
        return None if op in CALLS or op in self._library else _level(op)

    def level(self, node: Node) -> int:
        """0: nothing; 1: it reads what others may write; 2: it writes, prints, waits or fails."""
        of_all = self.of_op(node.op)
        if of_all is not None:
            return of_all
        names = [node.op] if node.op in self._library else []
        try:
            names += _named(node.attrs.values())
        except DrystoneError:
            return 2
        return max((self._of_function(name) for name in names), default=2)

    def _of_function(self, name: str) -> int:
        if name not in self._functions:
            self._functions[name] = 0  # of a recursive call, while it is being looked into
            function = self._library.get(name)
            self._functions[name] = 2 if function is None else self._of_body(function.proto)
        return self._functions[name]

    def _of_body(self, proto: Any) -> int:
        highest = 0
        for node in proto.node_def:
            if node.op in CALLS or node.op in self._library:
                called = [node.op] if node.op in self._library else []
                for value in node.attr.values():
                    called += [f.name for f in (value.func, *value.list.func) if f.name]
                level = max((self._of_function(name) for name in called), default=2)
            else:
                level = 1 if gives_reference(node.op) else _level(node.op)
            highest = max(highest, level)
        return highest


def _named(values: Any) -> Iterator[str]:
    for value in values:
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, FunctionRef):
                yield item.name


@lru_cache(maxsize=8192)
def gives_reference(op: str) -> bool:
    """Whether some output is a variable itself, which may change while it is read."""
    definition = find(op)
    return definition is not None and any(out.is_ref for out in definition.outputs)


@lru_cache(maxsize=8192)
def is_pure_op(op: str) -> bool:
    """Whether nodes of that op are pure, unless they read a variable by reference."""
    definition = find(op)
    if definition is None or definition.is_stateful or op in CONTROL_FLOW:
        return False
    if not _DRAWS.isdisjoint(definition.attrs):
        return False
    named = (*_WRITERS, *_OUTSIDE, "Placeholder", "_", "Xla")
    if op.startswith(named) and not op.startswith("_Fused"):
        return False
    if op in ("NoOp", "FakeParam", "ImmutableConst") or op.endswith(("Dataset", "DatasetV2")):
        return False
    if any(attr.type in ("func", "list(func)") for attr in definition.attrs.values()):
        return False
    args = (*definition.inputs, *definition.outputs)
    return bool(definition.outputs) and not any(
        arg.is_ref or (arg.type is not None and arg.type.label in ("resource", "variant"))
        for arg in args
    )


def is_pure(node: Node) -> bool:
    """Whether equal inputs always give equal outputs and nothing else happens.

    False for nodes that read a variable by reference, for those that handle resources, variants or
    functions, and for ops that are unknown.
    """
    if not is_pure_op(node.op):
        return False
    for source, _ in node.inputs:  # noqa: SIM110 - all() costs twice as much, for every node
        if gives_reference(source.op):
            return False
    return True
