"""The function table of a plugin: checked once, and called by name.

A function that is absent, as the table ends before it or its place is null, is never called: it is
refused by its name. Of the errors of one call the first is kept.
"""

from __future__ import annotations

import ctypes as c
from typing import Any, Final

from drystone_base.core.errors import PluginError
from drystone_pjrt.api.structs import ARGS, FUNCTIONS, HEADER, ApiHeader, Args

__all__ = ["MAJOR", "MINOR", "Table"]

MAJOR: Final = 0
"""The major version of the interface."""
MINOR: Final = 81
"""The oldest minor version that has been tried."""

_FUNCTION: Final = c.CFUNCTYPE(c.c_void_p, c.c_void_p)
_POINTER: Final = c.sizeof(c.c_void_p)
_CODES: Final = (
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND",
    "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED",
    "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
)  # fmt: skip
_OPTIONAL: Final = frozenset({"PJRT_Executable_Serialize", "PJRT_Executable_DeserializeAndLoad"})
_NEEDED: Final = tuple(name for name in FUNCTIONS if name in ARGS and name not in _OPTIONAL)


class Table:
    """The functions of one plugin.

    Raises ``PluginError`` (``pjrt-plugin-unusable``) for no table, another version, and a table
    without a function that every use needs.
    """

    def __init__(self, address: int | None, plugin: str, path: str) -> None:
        self.plugin, self.path = plugin, path
        if not address:
            raise self._unusable("GetPjrtApi gives a table of functions", "NULL", "a table")
        size = c.c_size_t.from_address(address).value
        if size < HEADER:
            found = f"a table of {size} bytes"
            raise self._unusable("a table begins with its version", found, f"{HEADER} and more")
        version = ApiHeader.from_address(address).version
        self.version = version.major, version.minor
        self._check_version()
        self._functions = {
            name: _FUNCTION(place)
            for k, name in enumerate(FUNCTIONS)
            if HEADER + (k + 1) * _POINTER <= size
            and (place := c.c_void_p.from_address(address + HEADER + k * _POINTER).value)
        }
        absent = [name for name in _NEEDED if name not in self._functions]
        if absent:
            check = "a table has the functions by which programs are compiled and run"
            raise self._unusable(check, f"no {', no '.join(absent)}", "all of them")

    def _check_version(self) -> None:
        found = f"version {self.version[0]}.{self.version[1]}"
        needed = f"version {MAJOR}.{MINOR} or a later one of {MAJOR}"
        if self.version[0] != MAJOR or self.version[1] < MINOR:
            check = "the plugin's version of the PJRT C API must be one that is known here"
            remedy = f"install a {'newer' if self.version < (MAJOR, MINOR) else 'older'} release"
            raise self._unusable(check, found, needed, f"{remedy} of what brings {self.path}")

    def _unusable(self, check: str, found: object, needed: object, remedy: str = "") -> PluginError:
        return PluginError(
            f"PJRT plugin {self.plugin!r} cannot be used",
            check=check,
            found=found,
            needed=needed,
            remedy=remedy or "report this to the plugin's author",
            plugin=self.plugin,
            path=self.path,
            code="pjrt-plugin-unusable",
        )

    def has(self, name: str) -> bool:
        """Whether the plugin has that function."""
        return name in self._functions

    def call(self, name: str, **members: Any) -> Args:
        """The struct after the call, with what the function wrote into it.

        Raises ``PluginError``: ``pjrt-call-failed`` with the status and message of the plugin,
        ``pjrt-plugin-unusable`` for a function that it does not have.
        """
        args = ARGS[name](**members)
        self.call_with(name, args)
        return args

    def call_with(self, name: str, args: Args) -> None:
        """The same with a struct that is used again and again."""
        function = self._functions.get(name)
        if function is None:
            check = "a function that is called must be in the plugin's table"
            raise self._unusable(check, f"no {name}", name)
        error = function(c.addressof(args))
        if error:
            raise self._failed(name, error)

    def _failed(self, name: str, error: int) -> PluginError:
        message, number = (
            ARGS["PJRT_Error_Message"](error=error),
            ARGS["PJRT_Error_GetCode"](error=error),
        )
        # What these say of themselves is not asked for: the first error counts.
        said = self._functions["PJRT_Error_Message"](c.addressof(message)) or not message.message
        text = "it does not say why"
        if not said:
            text = c.string_at(message.message, message.message_size).decode("utf-8", "replace")
        if self._functions["PJRT_Error_GetCode"](c.addressof(number)):
            number.code = _CODES.index("UNKNOWN")
        self._functions["PJRT_Error_Destroy"](c.addressof(ARGS["PJRT_Error_Destroy"](error=error)))
        known = 0 < number.code < len(_CODES)
        return PluginError(
            f"{name} of PJRT plugin {self.plugin!r} failed",
            check="a call of a plugin must succeed",
            found=text,
            needed="no error",
            remedy="if the text names nothing that you can change, report it to the plugin's "
            "author",
            plugin=self.plugin,
            path=self.path,
            code="pjrt-call-failed",
            status=_CODES[number.code] if known else "UNKNOWN",
        )

    def made(self, name: str, member: str, **members: Any) -> int:
        """What the function made, by the member that it wrote; a null pointer is an error."""
        found: int | None = getattr(self.call(name, **members), member)
        if not found:
            raise self._unusable(f"{name} gives what it made, or an error", f"no {member}", member)
        return found

    def text(self, name: str, member: str, **members: Any) -> str:
        """A text that the function gives by a pointer and a size."""
        args = self.call(name, **members)
        begin, size = getattr(args, member), getattr(args, f"{member}_size")
        return c.string_at(begin, size).decode("utf-8", "replace") if begin else ""
