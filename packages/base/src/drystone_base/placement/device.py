"""Names of devices, whole and in part: ``/job:NAME/replica:N/task:N/device:TYPE:N``."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from functools import cache, lru_cache
from typing import Final, NoReturn

from drystone_base.core.errors import GraphError
from drystone_base.core.payloads import at_node

__all__ = ["Device", "parse_device"]

_PART: Final = (
    r"/(?:job:(?P<job>[A-Za-z][\w.-]*)"
    r"|(?P<key>replica|task):(?P<number>\d{1,9}|\*)"
    r"|device:(?P<type>[A-Za-z]\w*|\*)(?::(?P<index>\d{1,9}|\*))?"
    r"|(?P<old>cpu|gpu|CPU|GPU):(?P<old_index>\d{1,9}|\*))(?=/|$)"
)
_part: Final = cache(lambda: re.compile(_PART))  # most nodes name no device


@dataclass(frozen=True, order=True)
class Device:
    """A device name whose parts may be left open (None)."""

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    type: str | None = None
    index: int | None = None

    def __str__(self) -> str:
        parts = [
            None if self.job is None else f"/job:{self.job}",
            None if self.replica is None else f"/replica:{self.replica}",
            None if self.task is None else f"/task:{self.task}",
        ]
        if self.type is not None:
            parts.append(f"/device:{self.type}:{'*' if self.index is None else self.index}")
        elif self.index is not None:
            parts.append(f"/device:*:{self.index}")
        return "".join(p for p in parts if p)

    @property
    def is_whole(self) -> bool:
        """Whether no part is open."""
        return None not in (self.job, self.replica, self.task, self.type, self.index)

    def matches(self, whole: Device) -> bool:
        """Whether a device has every part that is stated here."""
        return all(getattr(self, f.name) in (None, getattr(whole, f.name)) for f in fields(self))

    def merged(self, other: Device) -> Device | None:
        """Both demands in one; None where they contradict each other."""
        found = {}
        for f in fields(self):
            a, b = getattr(self, f.name), getattr(other, f.name)
            if a is not None and b is not None and a != b:
                return None
            found[f.name] = b if a is None else a
        return Device(**found)

    def anywhere(self) -> Device:
        """The same without type and index: what soft placement falls back to."""
        return replace(self, type=None, index=None)


@lru_cache(maxsize=4096)
def parse_device(text: str, node: str = "") -> Device:
    """The device that a string names, such as ``/job:a/task:0/device:GPU:1`` or ``/gpu:0``.

    ``*`` leaves a part open. Raises ``GraphError`` (``bad-device``), which names ``node``.
    """
    found: dict[str, str | int | None] = {}
    position = 0
    full = text if text.startswith("/") or not text else f"/{text}"
    while position < len(full):
        part = _part().match(full, position)
        if part is None:
            _fail(text, node)
        position = part.end()
        if part["job"]:
            found["job"] = part["job"]
        elif part["key"]:
            found[part["key"]] = _number(part["number"])
        else:
            kind = part["type"] or part["old"].upper()
            found["type"] = None if kind == "*" else kind
            found["index"] = _number(part["index"] or part["old_index"])
    return Device(**found)  # type: ignore[arg-type]


def _number(text: str | None) -> int | None:
    return None if text in (None, "*") else int(str(text))


def _fail(text: str, node: str) -> NoReturn:
    raise GraphError(
        f"node {node!r} asks for a device that cannot be understood",
        details=at_node(node),
        check="a device is written /job:NAME/replica:N/task:N/device:TYPE:N, in parts",
        found=text,
        needed="such as /job:localhost/replica:0/task:0/device:CPU:0",
        remedy="correct the node's device, or clear it",
        code="bad-device",
    )
