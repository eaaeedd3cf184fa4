"""Passes over graphs that plugins registered with the host."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from drystone_base.core import time_limits
from drystone_base.core.detached import compute_detached, has_abandoned_call
from drystone_base.core.time_limits import OutOfTime
from drystone_base.host._lib import available, declare
from drystone_base.host.buffer import BufferStruct, answer, bytes_of
from drystone_base.host.status import Status

__all__ = ["HostPass", "passes", "run"]


@dataclass(frozen=True)
class HostPass:
    """One registered pass; the fields are those of ``DS_ListPasses``."""

    name: str
    library: str
    grouping: int
    phase: int
    ops: tuple[str, ...]
    is_default: bool


_Text = ctypes.POINTER(ctypes.c_char_p)
_Buffer = ctypes.POINTER(BufferStruct)


class _Call(ctypes.Structure):
    """``DS_PassCall``."""

    _fields_ = (
        ("struct_size", ctypes.c_size_t),
        ("ext", ctypes.c_void_p),
        ("num_graphs", ctypes.c_int32),
        ("is_function_graph", ctypes.c_int32),
        ("partitions", _Text),
        ("graphs", ctypes.POINTER(_Buffer)),
        ("results", ctypes.POINTER(_Buffer)),
        ("fetches", _Text),
        ("feeds", _Text),
        ("devices", _Text),
        ("settings", ctypes.c_char_p),
    )


_list = declare("DS_ListPasses", None, ctypes.c_void_p, ctypes.c_void_p)
_run = declare("DS_RunPass", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_new_buffer = declare("TF_NewBuffer", _Buffer)
_delete_buffer = declare("TF_DeleteBuffer", None, ctypes.c_void_p)


def passes() -> list[HostPass]:
    """The registered passes, in the order of registration; none without a host library."""
    if not available():
        return []
    listed: list[dict[str, Any]] = json.loads(answer("the host's passes cannot be listed", _list))
    return [HostPass(**{**one, "ops": tuple(one["ops"])}) for one in listed]


def run(
    name: str,
    graphs: Sequence[bytes],
    partitions: Sequence[str] | None = None,
    fetches: Sequence[str] = (),
    feeds: Sequence[str] = (),
    devices: Sequence[str] | None = None,
    settings: str = "{}",
    *,
    is_function_graph: bool = False,
    library: str = "",
) -> list[bytes | None]:
    """What a pass makes of each graph, as GraphDef bytes; None where it changed nothing.

    ``settings`` is a JSON object. Raises ``HostError`` with what the plugin answered, and
    ``OutOfTime`` where it has not returned when this thread must be done, or to an earlier call.
    """
    what = f"pass {name!r} of {library}"
    if has_abandoned_call(what):
        raise OutOfTime(f"{what} has not returned to an earlier call, which was abandoned")

    def work() -> list[bytes | None]:
        return _call(name, graphs, partitions, fetches, feeds, devices, settings, is_function_graph)

    return compute_detached(work, time_limits.ends(), what)


def _call(
    name: str,
    graphs: Sequence[bytes],
    partitions: Sequence[str] | None,
    fetches: Sequence[str],
    feeds: Sequence[str],
    devices: Sequence[str] | None,
    settings: str,
    is_function_graph: bool,
) -> list[bytes | None]:
    count = len(graphs)
    inputs = [
        BufferStruct(ctypes.cast(ctypes.c_char_p(g), ctypes.c_void_p), len(g)) for g in graphs
    ]
    pointers = (_Buffer * count)(*map(ctypes.pointer, inputs))
    with _results(count) as results:
        call = _Call(
            ctypes.sizeof(_Call), None, count, int(is_function_graph), _texts(partitions),
            pointers, results, _texts(fetches), _texts(feeds), _texts(devices), settings.encode(),
        )  # fmt: skip
        with Status(f"pass {name!r} failed") as status:
            _run(name.encode(), ctypes.byref(call), status.pointer)
        return [bytes_of(r) if r.contents.data else None for r in results]


@contextmanager
def _results(count: int) -> Iterator[Any]:
    results = (_Buffer * count)(*(_new_buffer() for _ in range(count)))
    try:
        yield results
    finally:
        for result in results:
            _delete_buffer(result)


def _texts(names: Sequence[str] | None) -> Any:
    """A list that ends with NULL; NULL for None."""
    if names is None:
        return None
    encoded = [name.encode("utf-8", "surrogateescape") for name in names]
    return (ctypes.c_char_p * (len(encoded) + 1))(*encoded, None)
