"""Profiles that the profilers of plugins take of their devices while a session records."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from drystone_base.core.errors import HostError
from drystone_base.core.printable import warn
from drystone_base.host import available, profiler
from drystone_base.plugins._manager import PluginWarning

if TYPE_CHECKING:
    from drystone_abi.protos import XSpace

__all__ = ["device_profiles"]


class _Profiler(NamedTuple):
    """A profiler of a plugin: the type of its devices, and the library that it comes from."""

    kind: str
    library: str

    def failed(self, found: str) -> str:
        """The warning's text."""
        return (
            f"the record has no profile of devices of type {self.kind}: "
            f"the profiler of {self.library} failed: {found}"
        )


@contextmanager
def device_profiles() -> Iterator[dict[str, XSpace]]:
    """Run every profiler during the block; the dictionary then has what each collected, by type.

    A profiler that fails costs a ``PluginWarning`` and its profile, never a run. One that another
    record has started is left to that record.
    """
    profiles: dict[str, XSpace] = {}
    failures: list[str] = []
    started = [one for one in _idle() if _starts(one, failures)]
    try:
        yield profiles
    finally:
        for one in started:
            _finish(one, profiles, failures)
        for text in failures:
            warn(text, PluginWarning, stacklevel=5)


def _idle() -> list[_Profiler]:
    if not available():
        return []
    found = profiler.list_profilers()
    return [_Profiler(one["type"], one["library"]) for one in found if not one["running"]]


def _starts(one: _Profiler, failures: list[str]) -> bool:
    try:
        profiler.start(one.kind)
    except HostError as error:
        failures.append(one.failed(error.found))
        return False
    return True


def _finish(one: _Profiler, profiles: dict[str, XSpace], failures: list[str]) -> None:
    from google.protobuf.message import DecodeError

    from drystone_abi.protos import XSpace

    try:
        profiler.stop(one.kind)
        space = XSpace.FromString(profiler.collect(one.kind))
    except HostError as error:
        failures.append(one.failed(error.found))
    except DecodeError as error:
        failures.append(one.failed(f"it collected what is no XSpace proto ({error})"))
    else:
        if space.ByteSize():
            profiles[one.kind] = space
