"""What a plugin is expected to do, as flags: open unless the author closes one with a reason."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

__all__ = ["CAPABILITIES", "Capabilities", "read_capabilities"]

CAPABILITIES: Final[Mapping[str, str]] = {
    "library.platform-strings": "carries platform strings, so that it loads by default",
    "library.only-entry-symbols": "exports its entry symbols and nothing else",
    "library.c-only": "needs no C++ symbol of the host",
    "optimizer.idempotent": "a second run changes nothing more",
    "optimizer.deterministic": "the same graph gives the same bytes",
    "optimizer.malformed-input": "bytes that are no graph give an error status",
    "optimizer.exact": "values stay within the tolerance of the reference",
    "optimizer.non-finite": "NaN and infinities come out where they did",
    "optimizer.unknown-fields": "proto fields it does not know are kept",
    "optimizer.concurrent": "graphs may be optimized on several threads at once",
    "passes.exact": "values stay within the tolerance of the reference",
    "passes.non-finite": "NaN and infinities come out where they did",
    "passes.idempotent": "a second run changes nothing more",
    "passes.deterministic": "the same graph gives the same bytes",
    "passes.malformed-input": "bytes that are no graph give an error status",
    "passes.unknown-fields": "proto fields it does not know are kept",
    "kernels.concurrent": "a kernel may compute on several threads at once",
    "kernels.empty": "takes tensors without elements",
    "kernels.non-finite": "treats NaN and infinities as the reference does",
    "filesystem.write": "files can be created and written",
    "filesystem.append": "files can be appended to",
    "filesystem.delete": "files can be deleted",
    "filesystem.rename": "files can be renamed",
    "filesystem.directories": "directories exist apart from the files in them",
    "filesystem.list": "the names in a directory can be had",
    "filesystem.list-refuses-files": "the names in a file cannot be asked for",
    "filesystem.open-refuses": "a file that is not there cannot be opened",
    "filesystem.options": "options that there are not cannot be set",
    "filesystem.unicode-names": "names may hold any UTF-8",
    "filesystem.clean-paths": "empty and '.' parts of a path mean nothing",
    "filesystem.escapes": "a backslash in a pattern takes the meaning from what follows",
    "filesystem.whole-at-close": "a file shows when it is flushed or closed, and whole",
    "filesystem.hidden-in-transaction": "what a transaction writes shows when it ends",
    "filesystem.concurrent": "one filesystem may be used by several threads at once",
    "filesystem.exit": "a process that has used it ends with status 0",
    "device.streams": "work can be queued on streams",
    "device.events": "streams can record and await events",
    "device.timers": "time on a stream can be measured",
    "subgraph.samples": "takes some of AddV2, Sub, Mul, Neg, MatMul, Relu and Tanh on float32",
    "network.cancel": "receives that were posted can be cancelled",
    "subgraph.empty": "gives empty outputs for empty inputs",
    "device.fill": "memory can be filled with a pattern",
}
"""Every flag, and what it promises."""


@dataclass(frozen=True)
class Capabilities:
    """The flags that a plugin's author closed, with the reason for each."""

    closed: Mapping[str, str] = field(default_factory=dict)

    def why_not(self, flag: str, one: str = "") -> str:
        """The author's reason for lacking a capability, "" where it is expected.

        ``one``: of several schemes, or passes, of a library one may lack what the others have.
        """
        if flag not in CAPABILITIES:
            raise KeyError(flag)
        return self.closed.get(f"{one}:{flag}") or self.closed.get(flag, "")


def read_capabilities(path: Path) -> Capabilities:
    """Flags from a TOML file: a table ``[lacks]`` of flag, scheme:flag or pass:flag = "reason".

    Raises ``ValueError`` for an unknown flag and for an empty reason.
    """
    table = tomllib.loads(path.read_text(encoding="utf-8")).get("lacks", {})
    for flag, reason in table.items():
        if flag.rpartition(":")[2] not in CAPABILITIES:
            known = ", ".join(CAPABILITIES)
            raise ValueError(f"{path}: {flag!r} is no capability; they are {known}")
        if not isinstance(reason, str) or not reason.strip():
            raise ValueError(f"{path}: {flag} is closed without a reason")
    return Capabilities(table)
