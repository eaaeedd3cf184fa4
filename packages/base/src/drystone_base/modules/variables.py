"""Environment variables of all installed packages, and whether what is set means something."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Final

from drystone_base.core.environment import PREFIX, VARIABLES, Variable
from drystone_base.core.errors import near_matches
from drystone_base.core.printable import plain, warn
from drystone_base.modules._registry import modules

__all__ = ["SettingWarning", "check_environment", "known_variables"]

_OF_TOOLS: Final = frozenset(
    f"{PREFIX}{name}"
    for name in ("AZURITE", "CLOSING_LINE", "CPU_PLUGIN", "HADOOP", "PARITY_SEED", "STAGES")
)
"""What tools of drystone's repository tell their tests: no settings."""
_told: Final[set[str]] = set()


class SettingWarning(UserWarning):
    """A variable whose name says that it is ours, and that nothing reads."""


def known_variables() -> dict[str, Variable]:
    """Every variable of the installed packages, by name."""
    found = list(VARIABLES)
    for module in modules().values():
        if module.variables:
            place, _, attribute = module.variables.partition(":")
            found += getattr(import_module(place), attribute)
    return {one.name: one for one in found}


def check_environment() -> None:
    """Check what variables of ours say, those that only native code reads included.

    Raises ``BadRequest`` for a value that means nothing. Warns once of a name that nothing reads.
    """
    given = [name for name in os.environ if name.startswith(PREFIX)]
    if not given:
        return
    known = {one.name: one for one in VARIABLES}
    if not known.keys() >= set(given):
        known = known_variables()
    for name in given:
        if name in known:
            known[name].value()
        elif name not in _OF_TOOLS and name not in _told:
            _told.add(name)
            near = near_matches(name, known)
            more = f"did you mean {near[0]}?" if near else "`drystone doctor` lists all"
            warn(
                f"nothing reads the environment variable {plain(name)}; {more}",
                SettingWarning,
                stacklevel=3,
            )
