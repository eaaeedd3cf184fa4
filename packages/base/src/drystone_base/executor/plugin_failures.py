"""Errors of plugins' kernels, as both executors raise them."""

from __future__ import annotations

import re
from typing import Final

from drystone_base.core.errors import KernelError, remedy_for
from drystone_base.core.payloads import CHECK, DEVICE, KERNEL, LIBRARY, NEEDED, NODE, OP, at_node
from drystone_base.host.library import is_vouched_for
from drystone_base.host.status import Said

__all__ = ["device_failure", "failed_check", "plugin_failure"]

_REFUSED_CALL: Final = re.compile(r"(?:TF|TP|SE|DS)_[A-Za-z]+: ")
"""How the words of the host begin where it refuses a call of the interface."""
_LEFT_OUT: Final = "DRYSTONE_PLUGINS_DISABLE leaves a plugin out"
_NOT_MADE: Final = "change the node's attributes, or place it on another device"
_OF_RUNS: Final = ("FAILED_PRECONDITION", "INVALID_ARGUMENT", "OUT_OF_RANGE")
"""Statuses whose usual remedies are about what runs and is fed."""


def failed_check(name: str, said: Said) -> KernelError:
    """The error of a kernel that says which check failed, as a NumPy kernel has it."""
    library = said.text(LIBRARY) if LIBRARY in said.payloads else ""
    stranger = library and not is_vouched_for(library)
    return KernelError(
        f"{name} failed" + (f" in kernel {said.text(KERNEL)!r} of {library}" if stranger else ""),
        check=said.text(CHECK),
        found=said.found,
        needed=said.text(NEEDED),
        remedy="check the node's inputs: a size is wrong, or the batch is too large"
        if said.status == "RESOURCE_EXHAUSTED"
        else remedy_for(said.status),
        status=said.status,
    )


def plugin_failure(
    node: str,
    op: str,
    kernel: str,
    library: str,
    text: str,
    status: str,
    *,
    making: bool = False,
) -> KernelError:
    """The error of a plugin's kernel: which, for which node, and what it says.

    With `making` it could not even be made: nothing was fed to it.
    """
    if _REFUSED_CALL.match(text):
        remedy = f"tell its authors that it misuses the interface; {_LEFT_OUT}"
    elif making and status in _OF_RUNS:
        remedy = _NOT_MADE
    elif status == "INVALID_ARGUMENT":
        remedy = remedy_for(status)
    else:
        remedy = remedy_for(status, _LEFT_OUT)
    verb = "cannot be made by" if making else "failed in"
    return KernelError(
        f"node {node!r} ({op}) {verb} kernel {kernel!r} of {library}",
        details={**at_node(node, op), KERNEL: kernel, LIBRARY: library},
        check="the kernel of a plugin must accept the node and its inputs",
        found=text,
        needed="success",
        remedy=f"{remedy}; `drystone plugins explain {op}` says why this kernel runs",
        code="plugin-kernel-failed",
        status=status,
    )


def device_failure(said: Said) -> KernelError:
    """The error of a function of a plugin's device: which device, for which node, what it says."""
    device, library = said.text(DEVICE), said.text(LIBRARY)
    of = f"{device} of {library}"
    node = f"node {said.text(NODE)!r} ({said.text(OP)}) failed on {of}"
    kind = device.rsplit(":", 2)[-2:][0]
    without = f"SessionConfig(device_count={{{kind!r}: 0}}) runs without it"
    full = said.status == "RESOURCE_EXHAUSTED"
    return KernelError(
        node if NODE in said.payloads else f"{of} failed",
        check="a device must have room for what a run holds there"
        if full
        else "a device must do what a run asks of it",
        found=said.found,
        needed="memory that is free" if full else "success",
        remedy=f"feed less at once, or let go of what else is on the device; {without}"
        if full
        else f"`drystone doctor` lists the devices; {without}; DRYSTONE_PLUGINS_DISABLE leaves "
        "the plugin out",
        code="device-failed",
        status=said.status,
    )
