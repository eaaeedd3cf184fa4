"""The table that joins the user's choices with the wishes of plugins (RFC 318, second scenario).

A pass runs when the user lets it and no plugin turns it off: a plugin can turn a pass off, never
on. ``disable_model_pruning`` is the reverse, because it turns a pass off: one plugin that sets it
decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from drystone_base.late_dataclasses import dataclass
from drystone_optimizer.config import OWN, PASSES, OptimizerConfig

__all__ = ["Change", "Merged", "Wishes", "logger", "merge", "warn_of_changes"]

if TYPE_CHECKING:
    import logging

_REVERSED: Final = "disable_model_pruning"


def logger() -> logging.Logger:
    """Where optimizers write; imported when there is something to say."""
    import logging

    return logging.getLogger("drystone.optimizer")


@dataclass(frozen=True)
class Wishes:
    """What one plugin asks for: ``"on"`` or ``"off"`` by name of a toggle; absent is default."""

    plugin: str
    configs: Mapping[str, str]


@dataclass(frozen=True)
class Change:
    """A toggle that plugins changed, who did, and which plugins wished otherwise."""

    name: str
    now: bool
    by: tuple[str, ...]
    against: tuple[str, ...]

    def text(self) -> str:
        """One line for a log; stronger where plugins disagree."""
        verb = "turned on" if self.now else "turned off"
        line = f"{self.name} was {verb} by plugin {' and '.join(self.by)}"
        if not self.against:
            return line
        return (
            f"{line}, against plugin {' and '.join(self.against)}: their configurations conflict, "
            "which may cost performance"
        )


@dataclass(frozen=True)
class Merged:
    """Every toggle, decided, and what plugins changed."""

    values: Mapping[str, bool]
    changes: tuple[Change, ...]


def merge(config: OptimizerConfig, plugins: Sequence[Wishes]) -> Merged:
    """Join a config with the wishes of the plugins that will run."""
    values, changes = {}, []
    for name in (*PASSES, *OWN):
        before = config.is_on(name)
        word = "on" if name == _REVERSED else "off"
        decisive = name == _REVERSED
        by = tuple(p.plugin for p in plugins if p.configs.get(name) == word)
        values[name] = decisive if by else before
        if values[name] != before:
            against = tuple(p.plugin for p in plugins if p.plugin not in by)
            changes.append(Change(name, values[name], by, against))
    return Merged(values, tuple(changes))


_warned: Final[set[str]] = set()


def warn_of_changes(merged: Merged) -> None:
    """Log what plugins changed, each line once per process."""
    for change in merged.changes:
        line = change.text()
        if line not in _warned:
            _warned.add(line)
            logger().warning("%s", line)
