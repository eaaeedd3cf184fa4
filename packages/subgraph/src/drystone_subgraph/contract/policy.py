"""Which backends a session asks for, chosen by policy instead of by name.

Of the installed backends that compile, those that can be used here come in the order of the policy:
by the kind of device that each computes on, then by name. Source: onnxruntime's policies for
execution providers.
"""

from __future__ import annotations

from typing import Final

from drystone_base.core.errors import BadRequest, near_matches
from drystone_subgraph.contract.backend import backends
from drystone_subgraph.contract.config import PREFIX

__all__ = ["backends_by_policy"]

_ORDERS: Final[dict[str, tuple[str, ...]]] = {
    "prefer-cpu": ("cpu",),
    "prefer-gpu": ("gpu", "cpu"),
    "prefer-npu": ("npu", "cpu"),
    "max-performance": ("gpu", "npu", "cpu"),
    "min-power": ("npu", "cpu", "gpu"),
}
"""Kinds of devices by policy, the one that comes first in front; others are not used."""


def backends_by_policy(policy: str) -> tuple[str, ...]:
    """The names of the backends, the first has the first choice; may be empty.

    Raises ``BadRequest`` (``unknown-subgraph-policy``) for a policy that there is not.
    """
    order = _ORDERS.get(policy)
    if order is None:
        near = near_matches(policy, _ORDERS)
        raise BadRequest(
            f"there is no policy {policy!r} for subgraph backends",
            check="policies have names",
            found=policy,
            needed=", ".join(_ORDERS),
            remedy=f"did you mean {PREFIX}{near[0]}?" if near else f"{PREFIX}max-performance",
            code="unknown-subgraph-policy",
            status="NOT_FOUND",
        )
    ranked = [
        (order.index(b.device), name)
        for name, b in backends().items()
        if b.compiles and b.device in order and _is_usable(name)
    ]
    return tuple(name for _, name in sorted(ranked))


def _is_usable(name: str) -> bool:
    """Whether the backend has rules: it raises where what it needs is not there, or is broken."""
    try:
        return bool(backends()[name].properties())
    except Exception:
        return False
