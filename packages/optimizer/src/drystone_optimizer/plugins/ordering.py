"""Where the optimizers of plugins run: at the start, the end, before or after a built-in pass.

RFC 318 has one optimizer for each device type, at the end. An optimizer that declares a phase may
share its device type with others; among those that declare nothing the second is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from drystone_base.core.errors import PluginError, near_matches

if TYPE_CHECKING:
    from drystone_optimizer.plugins.sources import Optimizer

__all__ = ["END", "START", "check_phase", "of_phase", "refuse_second"]

START: Final = "start"
END: Final = "end"
_AT_PASS: Final = r"(?:before|after) (\w+)"


def check_phase(phase: object, name: str, version: str = "", path: str = "") -> None:
    """Raise ``PluginError`` (``bad-graph-optimizer``) unless there is such a phase."""
    from drystone_optimizer.passes import names_of_passes

    known = names_of_passes()
    found = re.fullmatch(_AT_PASS, phase) if isinstance(phase, str) else None
    if phase in (START, END) or (found is not None and found[1] in known):
        return
    near = near_matches(found[1], known) if found else []
    raise PluginError(
        f"graph optimizer {name!r} cannot be used",
        check="its phase must be 'start', 'end', or 'before' or 'after' a built-in pass",
        found=f"phase={phase!r}",
        needed="start, end, or before or after one of " + ", ".join(known),
        remedy=f"did you mean {', '.join(near)}?" if near else "leave the phase out",
        plugin=name,
        version=version,
        path=path,
        code="bad-graph-optimizer",
    )


def of_phase(optimizers: Iterable[Optimizer], phase: str) -> list[Optimizer]:
    """Those of a phase, higher priorities first, equal ones in the order given."""
    found = [one for one in optimizers if one.phase == phase]
    return sorted(found, key=lambda one: -one.priority)


def refuse_second(new: Optimizer, others: Sequence[Optimizer]) -> None:
    """The RFC's rule; raises ``PluginError`` (``already-registered``) naming both."""
    if new.ordered or new.custom:
        return
    for one in others:
        if one.ordered or one.custom or one.device != new.device or one.name == new.name:
            continue
        raise PluginError(
            f"graph optimizer {new.name!r} ({new.path}) was refused",
            check="a device type has one optimizer, beside those that say where they run",
            found=f"{one.device} has {one.name!r} ({one.path})",
            needed="only one of the two, or a phase for one of them",
            remedy=f"disable one of them: DRYSTONE_PLUGINS_DISABLE={new.name}; authors may declare "
            "a phase, such as 'end'",
            plugin=new.name,
            version=new.version,
            path=new.path,
            code="already-registered",
            status="ALREADY_EXISTS",
        )
