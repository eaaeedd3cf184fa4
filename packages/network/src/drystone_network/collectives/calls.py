"""What a call of a group says of itself, and what is refused."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from drystone_base.core.dtypes import from_numpy
from drystone_base.core.errors import BadRequest
from drystone_network.cluster.hosts import is_loopback
from drystone_network.cluster.spec import Task
from drystone_network.transports.registry import find
from drystone_network.workers.failures import insecure

__all__ = ["bad", "check_open", "check_out", "place_of", "text_of"]

Array = np.ndarray[Any, Any]


@lru_cache(256)
def text_of(call: str, how: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    """What all processes must say alike of a call."""
    return f"{call} {how} {from_numpy(dtype)} {list(shape)}"


def check_out(out: Any, array: Array) -> None:
    """Raise ``BadRequest`` unless ``out`` can take a result like ``array``."""
    fits = isinstance(out, np.ndarray) and (out.shape, out.dtype) == (array.shape, array.dtype)
    if fits and out.flags.c_contiguous and out.flags.writeable:
        return
    found = f"{out.dtype} {list(out.shape)}" if isinstance(out, np.ndarray) else type(out).__name__
    raise bad(
        "out can be written, lies in one piece, and is like the value",
        f"{found}, read-only or in pieces" if fits else found,
        f"{array.dtype} {list(array.shape)}",
    )


def place_of(transport: str, address: str) -> str:
    """Where a task listens for its group: at its port, or by it where there are no ports."""
    if "one-machine" not in find(f"{transport}://").capabilities:
        return f"{transport}://{address}"
    name = address.replace(":", "-")
    return f"unix://@drystone-group-{name}" if transport == "unix" else f"{transport}://{name}"


def check_open(task: Task, transport: str, address: str, token: str) -> None:
    """Raise ``BadRequest`` (``insecure-worker``) where anybody could take part in a group."""
    host = address.rpartition(":")[0]
    if token or is_loopback(host) or "one-machine" in find(f"{transport}://").capabilities:
        return
    raise insecure(task, f"address {host}, no token", "a token", "Group(..., token=SECRET), or")


def bad(check: str, found: object, needed: object) -> BadRequest:
    """What to raise for a call that cannot be made."""
    return BadRequest(
        "a collective call cannot be made",
        check=check,
        found=found,
        needed=needed,
        remedy="have every process of the group make the same calls in the same order",
        code="bad-collective",
    )
