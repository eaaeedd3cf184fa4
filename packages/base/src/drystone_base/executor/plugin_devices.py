"""Devices of plugins: which there are, and which nodes can run on them.

A node can run on a device if a plugin has registered a kernel for its type that fits the node, and
if its values can lie there: strings and variants are in host memory, unless the kernel takes them
from there. References and resources stand for variables: they are the host's, what they stand for
lies where it was last written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from drystone_base.core.dtypes import RESOURCE, DType
from drystone_base.core.printable import warn
from drystone_base.core.registered import DEVICE_ENTRY, ENTRY_FUNCTIONS
from drystone_base.executor.plan import OnDevice
from drystone_base.executor.selection import Candidate, kernel_devices, registered, select
from drystone_base.graph.validate import definition_of

if TYPE_CHECKING:
    from drystone_base.graph import Node
    from drystone_base.ops.defs import ArgDef

__all__ = [
    "device_of",
    "kernel_on",
    "on_device",
    "session_devices",
    "types_of",
]


def session_devices(executor: str, asked: Mapping[str, int]) -> dict[str, list[int]]:
    """The numbers of the devices of plugins that a session uses, by type.

    These are all that are there and that ``$DRYSTONE_VISIBLE_DEVICES`` lets be seen, or the first
    of them, as many as ``asked`` says. A type for which no kernel is registered has none: nothing
    could run there. A plugin that cannot count its devices has none, either: a ``PluginWarning``
    says so. The reference executor runs on the host alone. Raises ``BadRequest``
    (``bad-variable``).
    """
    if executor != "native" or DEVICE_ENTRY not in ENTRY_FUNCTIONS:
        return {}
    from drystone_base.host.device import is_visible, list_platforms

    with_kernels = kernel_devices()
    found = {}
    for platform in list_platforms():
        kind, count = str(platform["type"]), int(platform.get("device_count", 0))
        if "error" in platform and asked.get(kind, 1) and is_visible(kind, 0):
            _warn_uncounted(kind, platform["error"])
        numbers = [k for k in range(count) if is_visible(kind, k)]
        numbers = numbers[: asked.get(kind, count)]
        if numbers and kind in with_kernels:
            found[kind] = numbers
    return found


def _warn_uncounted(kind: str, error: str) -> None:
    from drystone_base.plugins._manager import PluginWarning

    warn(
        f"devices of type {kind} are not used: {error}; what asks for them runs on the CPU; "
        f"SessionConfig(device_count={{{kind!r}: 0}}) leaves them out without a word, "
        "`drystone doctor` tells more",
        PluginWarning,
        stacklevel=3,
    )


def device_of(name: str) -> str:
    """The type in a whole device name; "" for any other."""
    found = name.rpartition("/device:")[2].partition(":")
    return found[0] if found[2].isdigit() else ""


def types_of(node: Node, kinds: Iterable[str]) -> list[str]:
    """The types among ``kinds`` whose devices can run the node."""
    known = {k.device for k in registered().get(node.op, ())}
    return [kind for kind in kinds if kind in known and kernel_on(node, kind) is not None]


def kernel_on(node: Node, kind: str) -> Candidate | None:
    """The kernel that runs a node on devices of a type; None where it cannot run there."""
    definition = definition_of(node)
    if definition is None or node.op == "Const":  # its value is copied there once
        return None
    attrs = node.full_attrs()
    chosen = select(node.op, kind, attrs, attrs.get("_kernel", ""))
    if chosen is None or chosen.isolated:
        return None
    rows = _tensors([*definition.inputs, *definition.outputs], attrs)
    needs_host = any(
        dtype.is_object and dtype is not RESOURCE and arg.name not in chosen.host_memory
        for arg, dtype in rows
    )
    return None if needs_host else chosen


def on_device(node: Node, chosen: Candidate) -> OnDevice:
    """Where the values of a node lie that ``chosen`` runs on the node's device."""
    definition = definition_of(node)
    assert definition is not None
    attrs = node.full_attrs()
    inputs, outputs = (
        tuple(
            arg.name not in chosen.host_memory and not arg.is_ref and dtype is not RESOURCE
            for arg, dtype in _tensors(args, attrs)
        )
        for args in (definition.inputs, definition.outputs)
    )
    return OnDevice(node.device, inputs, outputs)


def _tensors(args: Sequence[ArgDef], attrs: Mapping[str, Any]) -> Iterator[tuple[ArgDef, DType]]:
    """The tensors that arguments stand for, with their dtypes."""
    return ((arg, dtype.base) for arg in args for dtype in arg.types(attrs))
