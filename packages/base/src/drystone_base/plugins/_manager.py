"""The plugins of this process: the sequence of steps, run once per file, and what came of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Final

from drystone_base.core.errors import HostError, PluginError
from drystone_base.core.owners import others_who_write
from drystone_base.core.plugin_settings import Isolation, Policy, Settings, current, override
from drystone_base.core.printable import warn
from drystone_base.core.registered import PLUGINS
from drystone_base.files.contents import fingerprint, identity
from drystone_base.plugins._discover import Discovery, discover, from_path
from drystone_base.plugins._manifest import manifest_for, take_manifest
from drystone_base.plugins._open import (
    initialise,
    not_isolated,
    open_plugin,
    registered_nothing,
)
from drystone_base.plugins._platform import check_platform
from drystone_base.plugins._probe import isolated, probe
from drystone_base.plugins._record import Plugin, StepResult, failed, passed, skipped
from drystone_base.plugins._signature import check_signature
from drystone_base.plugins._words import once
from drystone_base.plugins.first_party import DISTRIBUTIONS

__all__ = ["Manager", "PluginWarning", "check_file", "manager"]

_Step = Callable[[Plugin, Settings], StepResult]


class PluginWarning(UserWarning):
    """A plugin was not loaded, was loaded unverified, or fell out; once for each."""


def _choose(plugin: Plugin, settings: Settings) -> StepResult:
    """The step: whether the plugin is wanted."""
    unwanted = settings.disabling(plugin.name, plugin.package, os.path.basename(plugin.path))
    if unwanted:
        text = f"disabled by DRYSTONE_PLUGINS_DISABLE={unwanted[0]} or configure(disabled=...)"
        return skipped("discover", "plugin-disabled", text, found_in=plugin.found_in)
    plugin.identity = identity(plugin.path)
    return passed("discover", found_in=plugin.found_in)


def _choose_file(plugin: Plugin, settings: Settings) -> StepResult:
    """The step for a library: whether it is wanted, its file is there, and who may write to it."""
    result = _choose(plugin, settings)
    if result.state != "passed":
        return result
    try:
        os.stat(plugin.path)
    except OSError as error:
        return failed("discover", plugin.unreadable(error), **result.facts)
    beside = manifest_for(plugin.path)
    others = others_who_write(plugin.path, *([beside.file] if beside else []))
    if not others:
        return result
    text = f"others may write to what is loaded: {'; '.join(others)}"
    return passed("discover", reason="plugin-others-write", text=text, **result.facts)


def _manifest(plugin: Plugin, _settings: Settings) -> StepResult:
    return take_manifest(plugin)


def _signature(plugin: Plugin, settings: Settings) -> StepResult:
    """The step: who vouches for it, which may decide where it runs; drystone's own run here."""
    result = check_signature(plugin, settings)
    if result.facts.get("first_party"):
        plugin.isolation = "none"
    elif settings.isolation != "unsigned":
        plugin.isolation = settings.isolation or plugin.isolation
    elif not result.facts.get("trusted"):
        plugin.isolation = "process"
    return result


def _full_audit(plugin: Plugin, settings: Settings) -> StepResult:
    from drystone_base.plugins.audit import audit_symbols

    return audit_symbols(plugin, settings)


def _audit(plugin: Plugin, settings: Settings) -> StepResult:
    """The step that looks at symbols; of drystone's own libraries only where one does not open.

    Such a file is as its wheel brought it, and the linker that opens it checks the same.
    """
    if plugin.fact("signature", "first_party"):
        return passed("audit", audited=False, why="it is looked into if it cannot be opened")
    return _full_audit(plugin, settings)


def _open(plugin: Plugin, settings: Settings) -> StepResult:
    """Open what was checked, not what has been put in its place since.

    A plugin that can do all of its work in a process of its own is not opened here at all.
    """
    if not _is_signed_one(plugin):
        return failed("open", _changed(plugin, "it was not opened"))
    if isolated(plugin):
        return _open_apart(plugin)
    opened = open_plugin(plugin)
    if identity(plugin.path) != plugin.identity:
        text = "it has been opened, so that its constructors may have run; it is not called"
        return failed("open", _changed(plugin, text))
    if opened.state == "failed" and plugin.fact("audit", "audited") is False:
        audited = _full_audit(plugin, settings)
        return audited if audited.state == "failed" else opened
    return opened


def _open_apart(plugin: Plugin) -> StepResult:
    """Open a plugin in a process of its own."""
    from drystone_base.plugins.isolation import offered_apart

    try:
        found = offered_apart(plugin.path, plugin.name, plugin.version)
    except PluginError as error:
        if error.code == "plugin-not-available":
            return skipped("open", error.code, error.found, isolated=True)
        return failed("open", error, isolated=True)
    if not any(found.registered.values()):
        left_out = found.left_out
        refusal = (
            not_isolated(plugin, left_out)
            if left_out
            else registered_nothing(plugin, found.remarks)
        )
        return failed("open", refusal, isolated=True)
    plugin.registered = dict(found.registered)
    left_out = [f"{what}: left out, as it cannot be isolated" for what in found.left_out]
    remarks = [*found.remarks, *left_out]
    reason = "plugin-partly-loaded" if remarks else ""
    return passed("open", reason=reason, text=once(remarks), isolated=True)


def _is_signed_one(plugin: Plugin) -> bool:
    """Whether the file still has the bytes that a signature vouches for, where one does."""
    return not plugin.digest or fingerprint(plugin.path) == plugin.digest


def _initialise(plugin: Plugin, _settings: Settings) -> StepResult:
    if plugin.library is None:
        return passed("entry", isolated=True)
    from drystone_base.host.library import aliases

    if aliases():
        from drystone_base.plugins._tensorflow import guard_imports

        guard_imports(plugin.name, plugin.path)
    return initialise(plugin)


_CHECKS: Final[tuple[_Step, ...]] = (
    _choose_file,
    _manifest,
    _signature,
    check_platform,
    _audit,
    probe,
)
_RUNS: Final[tuple[_Step, ...]] = (_open, _initialise)


def _take(plugin: Plugin, step: _Step, settings: Settings) -> bool:
    """Take a step, unless the file is another than the first step saw: none of it is run."""
    if plugin.identity and identity(plugin.path) != plugin.identity:
        return plugin.take(failed("open", _changed(plugin, "it was not opened")))
    return plugin.take(step(plugin, settings))


def _changed(plugin: Plugin, done: str) -> PluginError:
    return plugin.refuse(
        "was changed while it was checked",
        check="the file that is opened must be the one that was checked",
        found=f"its contents, size, times or inode are others; {done}",
        needed="a file that stays as it is",
        remedy="let the installation that writes it finish, and load it again",
        code="plugin-changed",
        status="ABORTED",
    )


def _no_host(plugin: Plugin, error: HostError) -> PluginError:
    return plugin.refuse(
        "cannot be loaded without the host library",
        check=error.check,
        found=error.found,
        needed=error.needed,
        remedy=error.remedy,
        code=error.code,
        status=error.status,
        inner=error.inner,
    )


def _unexpected(plugin: Plugin, error: Exception) -> PluginError:
    return plugin.refuse(
        "cannot be loaded",
        check="loading it must not raise anything unforeseen",
        found=f"{type(error).__name__}: {error}",
        needed="a plugin and a host that agree",
        remedy=plugin.advice(
            author=f"look at what is found with: drystone plugins check {plugin.path}"
        ),
        code="plugin-failed",
        status="INTERNAL",
        inner=error,
    )


def _not_loaded(plugin: Plugin) -> PluginError:
    return plugin.refuse(
        "is not loaded",
        check="a library that is asked for by its path must load",
        found=plugin.text,
        needed="a plugin that is neither disabled nor skipped",
        remedy="remove it from DRYSTONE_PLUGINS_DISABLE"
        if plugin.reason == "plugin-disabled"
        else f"drystone plugins check {plugin.path}",
        code="plugin-disabled" if plugin.reason == "plugin-disabled" else "plugin-failed",
    )


def _warn(plugin: Plugin) -> None:
    error = plugin.error
    first = error.what if error else f"plugin {plugin.name} ({plugin.path}) is not loaded"
    found = error.found if error else plugin.text
    text = (
        f"{first}: {found} [{plugin.reason}]; `drystone plugins explain {plugin.name}` tells more"
    )
    warn(text, PluginWarning, stacklevel=3)


def _warn_of_trust(plugin: Plugin) -> None:
    """Warn of a plugin that only developer mode, or the policy, has let in."""
    first, doubt = f"plugin {plugin.name} ({plugin.path}) is not verified", plugin.doubt()
    if plugin.state == "loaded" and doubt is not None:
        more = f"`drystone plugins explain {plugin.name}` tells more"
        warn(f"{first}: {doubt.text} [{doubt.reason}]; {more}", PluginWarning, stacklevel=3)


def no_plugin(path: str | os.PathLike[str]) -> PluginError:
    """The error of a folder without a library."""
    return PluginError(
        f"{os.fspath(path)} holds no plugin",
        check="a folder of plugins has files that end in .so or .so.NUMBER",
        found="no such file in the folder itself (folders in it are not searched)",
        needed="at least one library",
        remedy=f"look into it: ls {os.fspath(path)}",
        path=path,
        code="plugin-not-found",
        status="NOT_FOUND",
    )


def check_file(path: str, settings: Settings) -> Plugin:
    """Every check on one file, with a fresh probe, and nothing opened in this process."""
    found = from_path(path)
    if not found.plugins:
        raise no_plugin(path)
    plugin = found.plugins[0]
    for step in (*_CHECKS[:-2], _full_audit):
        if not _take(plugin, step, settings):
            return plugin
    tried: list[StepResult] = []
    if not plugin.take(probe(plugin, settings, fresh=True, tried=tried)):
        return plugin
    if not all(plugin.take(step) for step in tried):
        return plugin
    plugin.state, plugin.reason = "skipped", "plugin-checked"
    plugin.text = "every check passed; a check does not open the plugin in this process"
    return plugin


class Manager:
    """Finds and loads plugins once; every thread sees the same ones."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._ready = threading.local()
        self._done = False
        self.found = Discovery()
        self.settings: Settings | None = None

    def finished(self) -> bool:
        """Whether installed plugins have been found and tried."""
        return self._done

    def ensure_loaded(self) -> None:
        """Find and load all plugins, the first time; afterwards nothing.

        A plugin that fails, or is loaded though nobody vouches for it, costs one warning; the
        policy ``strict`` raises the first one's error instead, once every plugin has been tried.
        """
        if self.finished() or getattr(self._ready, "running", False):
            return
        with self._lock:
            if self.finished():
                return
            self._ready.running = True
            try:
                fresh = self._load_all()
                self._done = True
            finally:
                self._ready.running = False
        bad = [plugin for plugin in fresh if plugin.state == "failed"]
        strict = self.settings is not None and self.settings.policy == "strict"
        for plugin in fresh:
            _warn_of_trust(plugin)
        for plugin in bad[1:] if strict else bad:
            _warn(plugin)
        if strict and bad:
            raise bad[0].error or PluginError(bad[0].text, code=bad[0].reason)

    def _load_all(self) -> list[Plugin]:
        """Those that were not loaded by their paths before."""
        settings = self.settings = current()
        found = discover(settings)
        explicit, self.found = self.found, found
        loaded = {plugin.path: plugin for plugin in explicit.plugins}
        found.plugins = [loaded.pop(plugin.path, plugin) for plugin in found.plugins]
        fresh = [plugin for plugin in found.plugins if not plugin.steps]
        found.plugins += loaded.values()
        found.places += explicit.places
        found.ignored += explicit.ignored
        found.order()
        for plugin in fresh:
            self._load(plugin, settings)
        return fresh

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        policy: Policy | None = None,
        developer_mode: bool | None = None,
        isolation: Isolation | None = None,
    ) -> list[Plugin]:
        """Load one file, or each library of a folder; raises the first error when all are tried."""
        settings = override(policy=policy, developer_mode=developer_mode, isolation=isolation)
        found = from_path(path)
        with self._lock:
            known = set(map(id, self.found.plugins))
            plugins = [self._load_one(plugin, settings) for plugin in found.plugins]
            self.found.places += [p for p in found.places if p not in self.found.places]
            self.found.ignored += found.ignored
        for plugin in plugins:
            if id(plugin) not in known:
                _warn_of_trust(plugin)
        for plugin in plugins:
            if plugin.state != "loaded":
                raise plugin.error or _not_loaded(plugin)
        return plugins

    def own_libraries(self) -> frozenset[str]:
        """Files of loaded plugins whose manifest names a distribution of drystone's own."""
        return frozenset(
            p.path for p in self.found.plugins if p.state == "loaded" and p.package in DISTRIBUTIONS
        )

    def _load_one(self, plugin: Plugin, settings: Settings) -> Plugin:
        """The record of a loaded plugin that is this file, else a new one."""
        for known in self.found.plugins:
            same = known.path == plugin.path or known.identity == identity(plugin.path)
            if same and known.state == "loaded":
                return known
        self.found.plugins = [p for p in self.found.plugins if p.path != plugin.path] + [plugin]
        self._load(plugin, settings)
        self.found.order()
        return plugin

    def _load(self, plugin: Plugin, settings: Settings) -> None:
        """Run the steps until one does not pass; nothing that a step raises leaves this."""
        PLUGINS.note(plugin.path)
        plugin.steps.clear()
        try:
            self._steps(plugin, settings)
        except HostError as error:
            plugin.take(failed("open", _no_host(plugin, error)))
        except PluginError as error:
            plugin.take(failed("open", error))
        except Exception as error:
            plugin.take(failed("open", _unexpected(plugin, error)))

    def _steps(self, plugin: Plugin, settings: Settings) -> None:
        point = self.found.points.get(plugin.path)
        steps: tuple[_Step, ...] = (*_CHECKS, *_RUNS)
        if point is not None:
            from drystone_base.plugins._points import load_point

            steps = (_choose, lambda p, s: load_point(p, point, s, self.load))
        for step in steps:
            if not _take(plugin, step, settings):
                return
        plugin.state, plugin.reason, plugin.text = "loaded", "", ""


manager: Final = Manager()
"""The one of this process."""
