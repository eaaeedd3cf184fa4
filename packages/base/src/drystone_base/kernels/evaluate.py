"""One node outside of any run: what constant folding and inference compute with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from drystone_base.core import time_limits
from drystone_base.core.errors import UnsupportedOp
from drystone_base.core.tensor import as_array
from drystone_base.kernels import Array, Call, find_kernel
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

__all__ = ["evaluate"]

_FEW: Final = 1 << 18
"""Bytes of inputs that every kernel is done with in a moment."""
_FEW_STRINGS: Final = 1000


def evaluate(
    node: str,
    op: str,
    attrs: Mapping[str, Any],
    inputs: Sequence[Array],
    input_slices: Mapping[str, slice],
    output_count: int,
) -> list[Array]:
    """The outputs of a stateless node by the reference kernel of its op.

    ``attrs`` with defaults filled in. Raises whatever the kernel raises, ``UnsupportedOp`` for an
    op without one and for one that would call a function, and ``OutOfTime`` where this thread must
    be done before the kernel is: large inputs are given to another one, for Ctrl-C's sake, too.
    """
    kernel = find_kernel(op)
    if kernel is None:
        _refuse(op)
    call = Call(node, op, attrs, _Bare(), input_slices, output_count)
    if _is_brief(inputs):
        found = kernel(call, *inputs)
    else:
        from drystone_base.core.detached import compute_detached

        what = f"the kernel of node {node!r} ({op})"
        found = compute_detached(lambda: kernel(call, *inputs), time_limits.ends(), what)
    outputs = found if isinstance(found, list | tuple) else [found]
    return [as_array(value) for value in outputs]


def _is_brief(inputs: Sequence[Array]) -> bool:
    """Whether no kernel takes long for such inputs."""
    size = 0
    for value in inputs:
        size += value.nbytes
        if value.dtype.hasobject:
            if value.size > _FEW_STRINGS:
                return False
            size += sum(len(text) for text in value.flat if isinstance(text, bytes))
    return size <= _FEW


class _Bare(Runtime):
    """The surroundings of one node, made when its kernel asks for some of them: few do."""

    __slots__ = ()

    def __init__(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        super().__init__(ResourceManager(), _refuse)
        return object.__getattribute__(self, name)


def _refuse(*what: Any) -> NoReturn:
    raise UnsupportedOp(
        f"{what[-1] if isinstance(what[0], Runtime) else what[0]} cannot be computed beforehand",
        check="a node outside of a run must have a kernel and call no function",
        found=what[0] if isinstance(what[0], str) else "a call of a function",
        needed="a reference kernel",
        remedy="compute it in a session: model.run",
        code="op-not-implemented",
    )
