"""What came of a plugin: one result for each step of loading, and the record that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from drystone_base.core.arguments import explaining

if TYPE_CHECKING:
    from drystone_base.core.errors import PluginError
    from drystone_base.host.library import HostLibrary

__all__ = [
    "Plugin",
    "State",
    "StepResult",
    "failed",
    "library_stem",
    "passed",
    "plugin_name",
    "skipped",
]

State = Literal["loaded", "skipped", "failed"]


@explaining("from_json")
class StepResult(NamedTuple):
    """What one step found. ``reason`` is a stable code, "" where the step passed without remark.

    A step that failed holds its ``error``; ``text`` says in one line why it was skipped or what is
    worth knowing; ``facts`` are ready for JSON.
    """

    step: str
    state: Literal["passed", "skipped", "failed"]
    reason: str = ""
    text: str = ""
    facts: Mapping[str, Any] = MappingProxyType({})
    error: PluginError | None = None

    def as_json(self) -> dict[str, Any]:
        """The result as JSON-ready values."""
        found: dict[str, Any] = {"step": self.step, "state": self.state}
        if self.reason:
            found |= {"reason": self.reason, "text": self.text}
        if self.facts:
            found["facts"] = dict(self.facts)
        if self.error is not None:
            found["error"] = self.error.fields()
        return found

    @classmethod
    def from_json(cls, found: Mapping[str, Any]) -> StepResult:
        """What :meth:`as_json` told of a step in another process."""
        from drystone_base.core.errors import PluginError

        of = found.get("error")
        error = PluginError.of_fields(of) if of else None
        texts = found.get("reason", ""), found.get("text", "")
        return cls(
            found.get("step", ""),
            found.get("state", "failed"),
            *texts,
            found.get("facts", {}),
            error,
        )


def passed(step: str, *, reason: str = "", text: str = "", **facts: Any) -> StepResult:
    """A step that passed."""
    return StepResult(step, "passed", reason, text, facts)


def skipped(step: str, reason: str, text: str, **facts: Any) -> StepResult:
    """A step that says the plugin is not wanted here: no failure."""
    return StepResult(step, "skipped", reason, text, facts)


def failed(step: str, error: PluginError, **facts: Any) -> StepResult:
    """A step that refuses the plugin."""
    text = error.found or error.what
    return StepResult(step, "failed", error.code, text, facts, error)


@dataclass(eq=False)
class Plugin:
    """One plugin library (or Python plugin): where it is from and what came of it.

    ``name`` is its manifest's, else made from the file's; ``found_in`` says which search found it.
    ``modules`` and ``offers`` are its manifest's, whose bytes are ``manifest``. ``identity`` is the
    state of the file that was checked, ``digest`` the SHA-256 of what a signature vouches for, in
    hexadecimal digits. ``without`` are undefined functions that it needs. ``library`` is
    there once the host has opened it; ``registered`` says what it then registered.
    """

    name: str
    path: str
    found_in: str
    version: str = ""
    package: str = ""
    isolation: str = "none"
    modules: tuple[str, ...] = ()
    offers: dict[str, tuple[str, ...]] = field(default_factory=dict)
    manifest: bytes | None = None
    identity: tuple[int, ...] = ()
    digest: str = ""
    state: State = "skipped"
    reason: str = "not-tried"
    text: str = "nothing has asked for plugins yet"
    steps: list[StepResult] = field(default_factory=list)
    error: PluginError | None = None
    without: tuple[str, ...] = ()
    library: HostLibrary | None = None
    registered: dict[str, list[str]] = field(default_factory=dict)

    def take(self, result: StepResult) -> bool:
        """Keep a step's result; whether the next step should be run."""
        self.steps.append(result)
        if result.state == "passed":
            return True
        self.state, self.reason, self.text = result.state, result.reason, result.text
        self.error = result.error
        return False

    def fact(self, step: str, name: str, default: Any = None) -> Any:
        """A fact that a step found."""
        found = next((s.facts for s in self.steps if s.step == step), {})
        return found.get(name, default)

    @property
    def is_isolated(self) -> bool:
        """Whether it is loaded in a process of its own, and not here."""
        return self.state == "loaded" and bool(self.fact("open", "isolated", False))

    def doubt(self) -> StepResult | None:
        """Why nobody vouches for it, where it passed all the same."""
        found = (
            s for s in self.steps if s.step == "signature" and s.state == "passed" and s.reason
        )
        return next(found, None)

    def warnings(self) -> list[str]:
        """What passed, but is worth knowing."""
        return [s.text for s in self.steps if s.state == "passed" and s.text]

    def refuse(self, what: str, **parts: Any) -> PluginError:
        """An error about this plugin; ``what`` goes on after its name and path."""
        from drystone_base.core.errors import PluginError

        return PluginError(
            f"plugin {self.name} ({self.path}) {what}",
            plugin=self.name,
            version=self.version,
            path=self.path,
            **parts,
        )

    def advice(self, *, author: str = "", user: str = "") -> str:
        """A remedy for the person at hand: who uses the plugin, or its author."""
        from drystone_base.plugins._words import advice

        return advice(self.name, self.path, self.package, author=author, user=user)

    def unreadable(self, error: OSError) -> PluginError:
        """An error that says why its file cannot be read."""
        return self.refuse(
            "cannot be read",
            check="the file must be there and readable",
            found=error.strerror or str(error),
            needed="a readable file",
            remedy=f"look at it: ls -lL {self.path}",
            code="plugin-unreadable",
            status="NOT_FOUND" if isinstance(error, FileNotFoundError) else "PERMISSION_DENIED",
            inner=error,
        )

    def as_json(self) -> dict[str, Any]:
        """The record as JSON-ready values."""
        names = ("name", "state", "reason", "text", "path", "found_in", "version", "package")
        found: dict[str, Any] = {name: getattr(self, name) for name in names}
        found["isolation"] = self.isolation
        found["registered"] = {kind: sorted(of) for kind, of in self.registered.items() if of}
        found["warnings"] = self.warnings()
        found["steps"] = [step.as_json() for step in self.steps]
        if self.error is not None:
            found["error"] = self.error.fields()
        return found


def plugin_name(file: str) -> str:
    """The name of a plugin without manifest: its file's, without ``lib`` and ``.so``."""
    stem = library_stem(file)
    return stem[3:] if stem.startswith("lib") and stem != "lib" else stem or file


def library_stem(file: str) -> str:
    """What comes before ``.so`` or ``.so.NUMBER``; "" of a file that does not end so."""
    stem, _, number = file.rpartition(".")
    while stem and number.isdecimal():
        stem, _, number = stem.rpartition(".")
    return stem if number == "so" else ""
