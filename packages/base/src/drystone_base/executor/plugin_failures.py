"""Errors of plugins' kernels, as both executors raise them."""

from __future__ import annotations

from drystone_base.core.errors import KernelError, remedy_for
from drystone_base.core.payloads import CHECK, KERNEL, LIBRARY, NEEDED, at_node
from drystone_base.host.status import Said

__all__ = ["failed_check", "plugin_failure"]


def failed_check(name: str, said: Said) -> KernelError:
    """The error of a kernel that says which check failed, as a NumPy kernel has it."""
    return KernelError(
        f"{name} failed",
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
    verb: str = "failed in",
) -> KernelError:
    """The error of a plugin's kernel: which, for which node, and what it says."""
    left_out = "DRYSTONE_PLUGINS_DISABLE leaves a plugin out"
    refused = status == "INVALID_ARGUMENT"
    return KernelError(
        f"node {node!r} ({op}) {verb} kernel {kernel!r} of {library}",
        details={**at_node(node, op), KERNEL: kernel, LIBRARY: library},
        check="the kernel of a plugin must accept the node and its inputs",
        found=text,
        needed="success",
        remedy=f"{remedy_for(status) if refused else remedy_for(status, left_out)}; "
        f"`drystone plugins explain {op}` says why this kernel runs",
        code="plugin-kernel-failed",
        status=status,
    )
