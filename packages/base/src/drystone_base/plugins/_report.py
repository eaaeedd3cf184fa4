"""The report: everything that was found, tried, skipped and refused, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from drystone_base.core.arguments import explaining
from drystone_base.core.plugin_settings import Settings
from drystone_base.core.printable import plain
from drystone_base.plugins._discover import Place
from drystone_base.plugins._record import Plugin

__all__ = ["Report"]


@explaining("named")
@dataclass(frozen=True)
class Report:
    """What is known of the plugins of this process.

    ``plugins`` are in loading order, ``ignored`` are files that are none, ``places`` is what was
    searched. As text with ``str()``, as JSON with ``as_json()``.
    """

    plugins: tuple[Plugin, ...]
    ignored: tuple[Plugin, ...]
    places: tuple[Place, ...]
    settings: Settings

    def named(self, name: str) -> list[Plugin]:
        """The plugins of that name, or of that file or package name."""
        return [
            plugin
            for plugin in (*self.plugins, *self.ignored)
            if name in (plugin.name, plugin.package, plugin.path, plugin.path.rsplit("/", 1)[-1])
        ]

    def as_json(self) -> dict[str, Any]:
        """The report as JSON-ready values."""
        return {
            "settings": self.settings.as_json(),
            "places": [place.as_json() for place in self.places],
            "plugins": [plugin.as_json() for plugin in self.plugins],
            "ignored": [
                {"path": plugin.path, "reason": plugin.reason, "text": plugin.text}
                for plugin in self.ignored
            ],
        }

    def __str__(self) -> str:
        lines = [*self._settings(), *self._searched(), *self._plugins(), *self._ignored()]
        return "\n".join(map(plain, lines))

    def _settings(self) -> list[str]:
        settings = self.settings
        line = (
            f"policy {settings.policy}, developer mode {'on' if settings.developer_mode else 'off'}"
        )
        if settings.disabled:
            line += f", disabled: {', '.join(sorted(settings.disabled))}"
        return [line]

    def _searched(self) -> list[str]:
        if not self.places:
            return ["searched: nowhere; no site-packages folder has a drystone-plugins folder"]
        lines = [
            f"  {place.place}: {place.found} found{f' ({place.text})' if place.text else ''}"
            for place in self.places
        ]
        return ["searched:", *lines]

    def _plugins(self) -> list[str]:
        if not self.plugins:
            return ["plugins: none"]
        return ["plugins:", *(line for plugin in self.plugins for line in describe(plugin))]

    def _ignored(self) -> list[str]:
        if not self.ignored:
            return []
        return ["ignored files:", *(f"  {item.path}: {item.text}" for item in self.ignored)]


def describe(plugin: Plugin) -> list[str]:
    """A plugin in a few lines: what it is, what came of it, what it registered."""
    version = f" {plugin.version}" if plugin.version else ""
    package = f" of {plugin.package}" if plugin.package else ""
    reason = f" [{plugin.reason}]" if plugin.reason else ""
    apart = ", isolated" if plugin.is_isolated else ""
    first = f"  {plugin.name}{version}{package}: {plugin.state}{apart}{reason}"
    lines = [first, f"    {plugin.path}"]
    if plugin.error is not None:
        lines += [f"    {line}" for line in plugin.error.render().splitlines()]
    elif plugin.text:
        lines.append(f"    {plugin.text}")
    for kind, names in plugin.registered.items():
        if names:
            shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            lines.append(f"    {kind}: {shown}")
    lines += [f"    note: {text}" for text in plugin.warnings()]
    return lines
