"""The kernels that plugins have registered in this process."""

from __future__ import annotations

import ctypes
import json
from typing import Any

from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer

__all__ = ["list_kernels"]

_list = declare("DS_ListKernels", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)


def list_kernels(op: str | None = None) -> list[dict[str, Any]]:
    """The registered kernels of an op (None: of all) as ``DS_ListKernels`` tells them."""
    name = None if op is None else op.encode("utf-8", "surrogateescape")
    found: list[dict[str, Any]] = json.loads(
        answer("the kernels of plugins", lambda out, status: _list(name, out, status))
    )
    return found
