"""What can be set, said once: the kind of each setting, its range, its variable and what it means.

A :class:`Schema` is the settings of one class of configs. From it come the checks when a config is
made, the config's documentation, help of commands, and the pages of settings and of environment
variables (``ci/scripts/settings_pages.py``). A value that means nothing is an error that says what
would mean something.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.printable import described

__all__ = [
    "Kind",
    "Schema",
    "Setting",
    "choice",
    "counts",
    "flag",
    "instance",
    "names",
    "number",
    "path",
    "refusal",
    "switches",
    "text",
    "whole",
]

_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off")


class Kind(NamedTuple):
    """What a setting can be.

    ``take`` gives a value as it is kept, and raises ``ValueError`` or ``TypeError`` for one that
    means nothing; ``read`` makes a value of the text of a variable; ``needed`` says what it can be.
    """

    take: Callable[[Any], Any]
    needed: str
    choices: tuple[str, ...] = ()
    read: Callable[[str], Any] = str


class Setting(NamedTuple):
    """One setting: its name, its kind and what it means; ``variable`` is its default's, if any."""

    name: str
    kind: Kind
    doc: str
    variable: str = ""
    code: str = ""
    remedy: str = ""


class Schema:
    """The settings of a class; ``code`` is that of errors about those that have none of their own.

    ``owner`` is the class's name.
    """

    def __init__(self, owner: str, code: str, *settings: Setting) -> None:
        self.owner, self.code = owner, code
        self.settings = {one.name: one for one in settings}

    def settle(self, config: Any) -> None:
        """Check all settings of a config, and put them into the form in which they are kept.

        Raises ``BadRequest``.
        """
        for name in self.settings:
            object.__setattr__(config, name, self.taken(name, getattr(config, name)))

    def taken(self, name: str, value: Any) -> Any:
        """The value of one setting as it is kept; raises ``BadRequest``."""
        one = self.settings[name]
        try:
            return one.kind.take(value)
        except (ValueError, TypeError, OverflowError) as error:
            remedy = one.remedy or f"leave {name} out, or give it one of these"
            what = f"{self.owner}.{name} is not understood"
            raise refusal(what, value, one.kind, remedy, one.code or self.code) from error
        except Exception as error:  # a value that does not let itself be looked at
            what = f"{self.owner}.{name} cannot be looked at"
            raise refusal(what, value, one.kind, "", one.code or self.code, error) from error

    def shown(self, config: Any) -> str:
        """A config as text: the settings that are not as they are by default."""
        usual = type(config)()
        changed = {name: getattr(config, name) for name in self.settings}
        told = [f"{n}={v!r}" for n, v in changed.items() if v != getattr(usual, n)]
        return f"{self.owner}({', '.join(told)})"

    def document(self, first: str | None) -> str:
        """The documentation of a class that has these settings, after its own ``first`` part."""
        lines = [(first or "").rstrip(), ""]
        for one in self.settings.values():
            default = f" Default: ``${one.variable}``." if one.variable else ""
            lines.append(f"    ``{one.name}``: {one.doc}{default} ({one.kind.needed})")
        return "\n".join(lines) + "\n"


def refusal(
    what: str,
    value: Any,
    kind: Kind,
    remedy: str,
    code: str,
    inner: BaseException | None = None,
) -> BadRequest:
    """The error of a value that means nothing."""
    near = near_matches(value, kind.choices)
    return BadRequest(
        what,
        check="a setting is of its own kind and range",
        found=described(value, 200),
        needed=kind.needed,
        remedy=f"did you mean {', '.join(near)}?" if near else remedy or f"use {kind.needed}",
        code=code,
        inner=inner,
    )


def flag() -> Kind:
    """True or False."""

    def take(value: Any) -> bool:
        if isinstance(value, bool) or type(value).__name__ == "bool":  # NumPy's
            return bool(value)
        raise ValueError

    def read(given: str) -> bool:
        word = given.lower()
        if word not in _TRUE + _FALSE:
            raise ValueError
        return word in _TRUE

    return Kind(take, "True or False", read=read)


def choice(*words: str, none: str = "") -> Kind:
    """One of these words, in letters of any case, ``-`` for ``_``; ``none`` says what None is."""

    def take(value: Any) -> str | None:
        if value is None and none:
            return None
        if not isinstance(value, str):
            raise ValueError
        word = value.strip().lower()
        for known in (word, word.replace("-", "_")):
            if known in words:
                return known
        raise ValueError

    needed = " or ".join(repr(word) for word in words)
    return Kind(take, needed + (f"; None: {none}" if none else ""), words)


def whole(least: int, most: int, *, none: str = "", zero: str = "") -> Kind:
    """A whole number in a range; ``none`` and ``zero`` say what None and 0 stand for."""

    def take(value: Any) -> int | None:
        if value is None and none:
            return None
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise ValueError
        if not least <= int(value) <= most:
            raise ValueError
        return int(value)

    lowest = f"{least} ({zero})" if zero and least == 0 else str(least)
    needed = f"a whole number from {lowest} to {_power(most)}"
    return Kind(take, needed + (f"; None: {none}" if none else ""), read=int)


def number(
    least: float, most: float, *, above: bool = False, none: str = "", unit: str = ""
) -> Kind:
    """A finite number in a range, above ``least`` if ``above``."""

    def take(value: Any) -> float | None:
        if value is None and none:
            return None
        if isinstance(value, bool) or not isinstance(value, Real):
            raise ValueError
        found = float(value)
        if not (math.isfinite(found) and least <= found <= most) or (above and found == least):
            raise ValueError
        return found

    bound = f"above {least:g}" if above else f"from {least:g}"
    needed = f"a number{f' of {unit}' if unit else ''} {bound} to {most:g}"
    return Kind(take, needed + (f"; None: {none}" if none else ""), read=float)


def names(example: str = "") -> Kind:
    """A tuple of texts; in a variable, with commas between."""

    def take(value: Any) -> tuple[str, ...]:
        if not isinstance(value, list | tuple | set | frozenset):
            raise ValueError
        found = tuple(sorted(value) if isinstance(value, set | frozenset) else value)
        if not all(isinstance(one, str) and one for one in found):
            raise ValueError
        return found

    def read(given: str) -> tuple[str, ...]:
        return tuple(one.strip() for one in given.split(",") if one.strip())

    needed = "a list or tuple of names" + (f", such as {example}" if example else "")
    return Kind(take, needed, read=read)


def path(what: str = "a path") -> Kind:
    """A path, as text."""

    def take(value: Any) -> str:
        found = os.fspath(value)
        if not isinstance(found, str) or "\0" in found:
            raise ValueError
        return found

    return Kind(take, what)


def text(what: str = "a text") -> Kind:
    """Any text."""

    def take(value: Any) -> str:
        if not isinstance(value, str):
            raise ValueError
        return value

    return Kind(take, what)


def counts(kinds: Mapping[str, tuple[int, int]], needed: str) -> Kind:
    """A mapping of names to whole numbers; ``kinds`` says which names, and how many of each."""

    def take(value: Any) -> dict[str, int]:
        found: dict[str, int] = {}
        for name, count in _mapping(value).items():
            least, most = kinds[name] if name in kinds else kinds.get("*", (1, 0))
            found[name] = whole(least, most).take(count)
        return found

    return Kind(take, needed, tuple(name for name in kinds if name != "*"))


def switches(needed: str) -> Kind:
    """A mapping of names to True, False, or a mapping of settings."""

    def take(value: Any) -> dict[str, Any]:
        found = _mapping(value)
        for switch in found.values():
            if not isinstance(switch, bool):
                _mapping(switch)
        return found

    return Kind(take, needed)


def instance(kind: type, needed: str, *, none: str = "") -> Kind:
    """An object of a class."""

    def take(value: Any) -> Any:
        if isinstance(value, kind) or (value is None and none):
            return value
        raise ValueError

    return Kind(take, needed + (f"; None: {none}" if none else ""))


def _mapping(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise ValueError
    return dict(value)


def _power(value: int) -> str:
    """A number as text; a power of two as such where that is shorter."""
    exponent = value.bit_length() - 1
    for power, more in ((value, ""), (value + 1, " - 1")):
        exponent = power.bit_length() - 1
        if exponent > 20 and power == 1 << exponent:
            return f"2**{exponent}{more}"
    return str(value)
