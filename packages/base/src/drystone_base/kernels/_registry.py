"""Registration of reference kernels, and what a kernel sees of the node that it runs for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

import numpy as np

from drystone_base.core.errors import KernelError, remedy_for
from drystone_base.core.families import Families
from drystone_base.core.installed import points
from drystone_base.core.payloads import at_node

if TYPE_CHECKING:
    from drystone_base.state.runtime import Runtime

__all__ = [
    "KERNELS",
    "Array",
    "Call",
    "Kernel",
    "all_ops",
    "find_kernel",
    "kernel",
    "kernel_of_package",
    "known_ops",
]

Array: TypeAlias = np.ndarray[Any, Any]
Kernel: TypeAlias = Callable[..., Any]


class Call:
    """What a kernel is told about its node: name, op, attributes, fan-in layout and the runtime.

    ``attrs`` holds decoded values with op-definition defaults filled in. ``input_slices`` maps each
    argument of the op definition to its range in the flat inputs.
    """

    __slots__ = ("attrs", "device", "input_slices", "node", "op", "output_count", "runtime")

    def __init__(
        self,
        node: str,
        op: str,
        attrs: Mapping[str, Any],
        runtime: Runtime,
        input_slices: Mapping[str, slice] | None = None,
        output_count: int = 1,
        device: str = "",
    ) -> None:
        self.node = node
        self.op = op
        self.attrs = attrs
        self.runtime = runtime
        self.input_slices = input_slices or {}
        self.output_count = output_count
        self.device = device

    def fail(
        self,
        check: str,
        *,
        found: object = "",
        needed: object = "",
        remedy: str = "",
        status: str = "INVALID_ARGUMENT",
        inner: BaseException | None = None,
    ) -> NoReturn:
        """Raise a :class:`KernelError` that names this node and op."""
        raise KernelError(
            f"node {self.node!r} ({self.op}) failed",
            details=at_node(self.node, self.op),
            check=check,
            found=found,
            needed=needed,
            remedy=remedy or remedy_for(status),
            status=status,
            inner=inner,
        ) from inner

    def require(self, condition: Any, check: str, **parts: Any) -> None:
        """Raise as :meth:`fail` does unless ``condition`` holds."""
        if not condition:
            self.fail(check, **parts)


KERNELS: Final[Families[Kernel]] = Families("drystone_base.kernels", "the reference kernel")


def kernel(*ops: str) -> Callable[[Kernel], Kernel]:
    """Register the decorated function as the reference kernel of ``ops``.

    The function takes a :class:`Call` and the flat inputs, and returns one array, a sequence of
    arrays for an op with several outputs or a list output, or ``()`` for an op without outputs.
    """
    return KERNELS.register(*ops)


def find_kernel(op: str) -> Kernel | None:
    """The reference kernel of ``op``, or None."""
    return KERNELS.find(op)


_GROUP: Final = "drystone.kernels"
_LOCK: Final = Lock()


def kernel_of_package(op: str) -> Kernel | None:
    """The kernel of an op that has none here and that an installed package declares, by op.

    Raises whatever importing it raises.
    """
    for point in points(_GROUP):
        if point.name == op:
            found: Kernel = point.load()
            with _LOCK:
                return KERNELS.find(op) or kernel(op)(found)
    return None


def known_ops() -> frozenset[str]:
    """The ops with a reference kernel, as far as that is known without importing any."""
    return frozenset((*KERNELS.index, *KERNELS.modules))


def all_ops() -> Sequence[str]:
    """Every op that has a reference kernel, sorted."""
    return sorted(KERNELS.load_all())
