"""Running a partitioned graph: one thread for each device, which meet where edges were cut."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from drystone_base.core.detached import LOOKS
from drystone_base.core.errors import DrystoneError
from drystone_base.state.rendezvous import KEY, Rendezvous
from drystone_base.state.variables import Step

__all__ = ["Part", "run_parts"]


@dataclass(frozen=True)
class Part:
    """What one device runs; ``feeds`` and ``fetches``: their places among those of the whole."""

    device: str
    plan: Any
    feeds: tuple[int, ...]
    fetches: tuple[int, ...]


def run_parts(
    parts: Sequence[Part],
    values: Sequence[Any],
    run: Callable[[Part, Sequence[Any], Step], Sequence[Any]],
    step: Step | None = None,
) -> list[Any]:
    """Run all parts at once and give the fetches of the whole; ``run`` gives those of a part.

    The first failure wakes the parts that wait for the one that failed, and is raised. ``step``
    may have the rendezvous in which the parts meet, and others that are not among these.
    """
    step = step or Step()
    meeting: Rendezvous = step.resources.setdefault(KEY, Rendezvous(is_shared=True))
    out: list[Any] = [None] * sum(len(part.fetches) for part in parts)
    failed: list[BaseException] = []

    def work(part: Part) -> None:
        try:
            found = run(part, [values[k] for k in part.feeds], step)
            for place, value in zip(part.fetches, found, strict=True):
                out[place] = value
        except BaseException as error:
            failed.append(error)
            meeting.abort()

    threads = [threading.Thread(target=work, args=(p,), name=p.device) for p in parts[1:]]
    for thread in threads:
        thread.start()
    work(parts[0])
    for thread in threads:
        while thread.is_alive():
            thread.join(LOOKS)
    if failed:
        raise min(failed, key=_is_consequence)
    return out


def _is_consequence(error: BaseException) -> bool:
    return isinstance(error, DrystoneError) and error.code == "run-cancelled"
