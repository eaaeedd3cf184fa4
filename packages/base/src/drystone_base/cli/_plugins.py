"""What ``drystone plugins`` says of plugins: rows of tables, and explanations of names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

from drystone_base.core.errors import BadRequest, PluginError, near_matches
from drystone_base.plugins import Plugin, Report, ensure_loaded, refused_offer, report
from drystone_base.plugins._report import describe

__all__ = ["Explanation", "explain", "in_python", "loaded", "row", "settings_line", "steps"]


def loaded() -> Report:
    """The report after everything installed was tried; failures are in it and not warned of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ensure_loaded()
        except PluginError:
            return report()  # policy strict: the plugin that raised is in the report
    return report()


def in_python() -> list[dict[str, str]]:
    """What modules list beside libraries: plugins that are Python code."""
    from drystone_base.modules import stage

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [row for listed in stage("listed") for row in listed()]


def settings_line(found: Report) -> str:
    """Settings and places in a few lines."""
    places = ", ".join(place.place for place in found.places) or "nowhere"
    mode = ", developer mode" if found.settings.developer_mode else ""
    return f"policy {found.settings.policy}{mode}; searched: {places}"


def row(plugin: Plugin) -> tuple[str, str, str, str, str]:
    """One line of the list."""
    counts = [
        f"{len(names)} {kind if len(names) > 1 else kind[:-1]}"
        for kind, names in plugin.registered.items()
        if names
    ]
    said = ", ".join(counts) if plugin.state == "loaded" else f"{plugin.reason}: {plugin.text}"
    if plugin.is_isolated:
        said += ", isolated"
    if plugin.state == "loaded" and plugin.warnings():
        notes = [step.reason for step in plugin.steps if step.state == "passed" and step.reason]
        said += f" ({', '.join(notes)})" if notes else ""
    return plugin.name, plugin.version, plugin.state, said, plugin.path


def steps(plugin: Plugin) -> list[tuple[str, str, str]]:
    """One line for each step that was run."""
    rows: list[tuple[str, str, str]] = []
    for step in plugin.steps:
        said = f"{step.reason}: {step.text}" if step.reason else _facts(dict(step.facts))
        rows.append((step.step, step.state, said))
    return rows


def _facts(facts: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} {value}" for name, value in facts.items() if value not in ("", [], {})
    )


@dataclass
class Explanation:
    """What is known of a name."""

    name: str
    lines: list[str] = field(default_factory=list)
    plugins: list[Plugin] = field(default_factory=list)
    kernels: list[dict[str, Any]] | None = None

    def as_json(self) -> dict[str, Any]:
        """The explanation as JSON-ready values."""
        return {
            "name": self.name,
            "plugins": [plugin.as_json() for plugin in self.plugins],
            "kernels": self.kernels,
            "text": self.lines,
        }


def explain(name: str) -> Explanation:
    """What is known of a plugin, op, scheme or device; raises ``BadRequest`` for no such name."""
    known = loaded()
    found = Explanation(name, plugins=known.named(name))
    for plugin in found.plugins:
        found.lines += [line[2:] for line in describe(plugin)]
        found.lines += [f"  {step}: {state}  {said}" for step, state, said in steps(plugin)]
    _add_op(found)
    for plugin in known.plugins:
        for kind, names in plugin.registered.items():
            if name in names:
                found.lines.append(f"{kind}: {name} is provided by {plugin.name} ({plugin.path})")
    if not found.lines:
        refused = next(filter(None, (refused_offer(k, name) for k in ("ops", "schemes"))), None)
        if refused is not None:
            raise refused
        raise _unknown(name, known)
    return found


def _add_op(found: Explanation) -> None:
    """Which kernel nodes of that op get, if it is an op."""
    from drystone_base.executor.selection import explain as explain_op
    from drystone_base.ops.defs import find

    if find(found.name) is None:
        return
    found.kernels = []
    for kernel, chosen, reason in explain_op(found.name):
        facts = kernel._asdict() | {"chosen": chosen, "reason": reason}
        facts["constraints"] = {name: [str(d) for d in of] for name, of in kernel.constraints}
        found.kernels.append(facts)
        apart = ", isolated" if kernel.isolated else ""
        found.lines.append(
            f"kernel of {kernel.library}{apart}: device {kernel.device}, "
            f"priority {kernel.priority}; " + (f"chosen, {reason}" if chosen else reason)
        )
    if not found.kernels:
        found.lines.append(f"op {found.name}: no kernel")


def _unknown(name: str, known: Report) -> BadRequest:
    from drystone_base.ops import defs

    names = [plugin.name for plugin in known.plugins]
    near = near_matches(name, names) or near_matches(name, defs.names())
    places = ", ".join(place.place for place in known.places) or "nowhere"
    return BadRequest(
        f"nothing is called {name!r}",
        check="a name is a plugin's, an op's, a scheme's or a device type's",
        found=f"plugins: {', '.join(names) or 'none'}; searched: {places}",
        needed="a known name",
        remedy=f"did you mean {', '.join(near)}?" if near else "drystone plugins list",
        code="unknown-plugin-name",
        status="NOT_FOUND",
    )
