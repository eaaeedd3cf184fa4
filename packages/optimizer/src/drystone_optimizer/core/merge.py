"""The table that joins the user's choices with the wishes of plugins (RFC 318, second scenario).

A pass runs when the user lets it and no plugin turns it off. Where the user has said nothing, a
plugin can turn it on, too. ``disable_model_pruning`` is the reverse, because it turns a pass off:
one plugin that sets it decides. What a plugin turns off is the work, whichever of our passes does
it: for those of our own, which the C struct lacks, the toggle of the same work counts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from drystone_optimizer.core.config import OWN, PASSES, OptimizerConfig, Toggle

__all__ = ["Change", "Merged", "RequestedToggles", "logger", "merge", "warn_of_changes"]

if TYPE_CHECKING:
    import logging

_REVERSED: Final = "disable_model_pruning"
_WORK_OF: Final = {
    "auto_mixed_precision_cpu": "auto_mixed_precision",
    "elementwise_fusion": "remapping",
    "layer_fusion": "remapping",
    "quantized_layers": "remapping",
}
"""Toggles of our own, with the one of TensorFlow's that turns the same work on and off."""


def logger() -> logging.Logger:
    """Where optimizers write; imported when there is something to say."""
    import logging

    return logging.getLogger("drystone.optimizer")


class RequestedToggles(NamedTuple):
    """What one plugin asks for: ``"on"`` or ``"off"`` by name of a toggle; absent is default."""

    plugin: str
    configs: Mapping[str, str]


class Change(NamedTuple):
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


class Merged(NamedTuple):
    """Every toggle, decided, and what plugins changed."""

    values: Mapping[str, bool]
    changes: tuple[Change, ...]


def merge(config: OptimizerConfig, plugins: Sequence[RequestedToggles]) -> Merged:
    """Join a config with the wishes of the plugins that will run."""
    values, changes = {}, []
    for name in (*PASSES, *OWN):
        before = config.is_on(name)
        by = _asking(plugins, _WORK_OF.get(name, name), "on" if name == _REVERSED else "off")
        values[name] = (name == _REVERSED) if by else before
        if not by and config.toggle(name) is Toggle.DEFAULT:
            by = _asking(plugins, name, "on")
            values[name] = before or bool(by)
        if values[name] != before:
            against = tuple(p.plugin for p in plugins if p.plugin not in by)
            changes.append(Change(name, values[name], by, against))
    return Merged(values, tuple(changes))


def _asking(plugins: Sequence[RequestedToggles], toggle: str, word: str) -> tuple[str, ...]:
    return tuple(plugin.plugin for plugin in plugins if plugin.configs.get(toggle) == word)


_warned: Final[set[str]] = set()


def warn_of_changes(merged: Merged) -> None:
    """Log what plugins changed, each line once per process."""
    for change in merged.changes:
        line = change.text()
        if line not in _warned:
            _warned.add(line)
            logger().warning("%s", line)
