"""The steps that run a plugin's code: opening it, and its entry functions, module by module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import DrystoneError, HostError, PluginError
from drystone_base.plugins._record import Plugin, StepResult, failed, passed, skipped
from drystone_base.plugins.first_party import is_ours
from drystone_base.state.rendezvous import ask_for

if TYPE_CHECKING:
    from drystone_base.host.library import HostLibrary

__all__ = ["initialise", "not_isolated", "open_plugin", "registered_nothing"]

_RENDEZVOUS: Final = "TF_GetRendezvous"
_CHANGED_HOST: Final = "plugin-changed-host"
_KINDS = ("ops", "kernels", "optimizers", "passes", "schemes", "devices", "profilers")


def open_plugin(plugin: Plugin) -> StepResult:
    """Open the file in the host; its constructors run."""
    from drystone_base.host.library import open_library

    try:
        plugin.library = open_library(plugin.path, plugin.name, plugin.without)
    except HostError as error:
        if error.code == "host-library-missing":
            raise
        return failed("open", _not_opened(plugin, error))
    if _brought_by_us(plugin):
        plugin.library.vouch()
    return passed("open")


def _brought_by_us(plugin: Plugin) -> bool:
    """Whether it is drystone's own; its file is hashed unless the signature's step has done so."""
    return bool(plugin.fact("signature", "first_party")) or is_ours(plugin.path)


def _asks_for_rendezvous(path: str) -> bool:
    from drystone_base.plugins._elf import read_elf

    return _RENDEZVOUS in read_elf(path).imports


def _not_opened(plugin: Plugin, error: DrystoneError) -> PluginError:
    found = error.found
    foreign = error.code == "plugin-bound-elsewhere"
    if error.code == _CHANGED_HOST:
        return _changed_host(plugin, error)
    return plugin.refuse(
        "cannot be opened",
        check="its interface must be the host's"
        if foreign
        else "the dynamic linker must accept the file",
        found=found,
        needed="a process in which nothing else has opened the plugin's libraries"
        if foreign
        else "a library whose dependencies are installed",
        remedy=plugin.advice(
            user="load it before TensorFlow, or run its optimizers in a process of their own: "
            "DRYSTONE_PLUGIN_ISOLATION=process"
            if foreign
            else "",
            author=""
            if foreign
            else f"look at what it needs with: drystone plugins check {plugin.path}",
        ),
        code="plugin-bound-elsewhere" if foreign else "plugin-not-opened",
    )


def _changed_host(plugin: Plugin, error: DrystoneError) -> PluginError:
    return plugin.refuse(
        "changes what is the process's own",
        check="a plugin leaves the process as it is, or as it can be made again",
        found=error.found,
        needed="constructors and entry functions that change nothing of their host",
        remedy="report this to the plugin's author, and disable the plugin meanwhile: "
        f"DRYSTONE_PLUGINS_DISABLE={plugin.name}",
        code=_CHANGED_HOST,
        status=error.status,
        details=error.details,
    )


def initialise(plugin: Plugin) -> StepResult:
    """Let every module that accepts one of the library's entry symbols register it."""
    from drystone_base.modules import entry_symbols

    library = plugin.library
    if library is None:
        raise ValueError(f"{plugin.path} is not open")
    wanted = entry_symbols()
    present = _present(library, wanted)
    offered = {module.name for symbol in present for module in wanted[symbol]}
    absent = [name for name in plugin.modules if name not in offered]
    if not present:
        from drystone_base.plugins.audit import no_entry

        return failed("entry", no_entry(plugin))
    if absent:
        return failed("entry", _no_module(plugin, absent, sorted(offered)))
    if not _brought_by_us(plugin) and _asks_for_rendezvous(plugin.path):
        ask_for(plugin.path)
    entries: dict[str, str] = {}
    errors: list[tuple[str, DrystoneError]] = []
    for symbol in present:
        for module in wanted[symbol]:
            if plugin.modules and module.name not in plugin.modules:
                entries[f"{symbol} ({module.name})"] = "not called: its manifest does not list it"
                continue
            try:
                module.initialise(library, symbol)
                entries[f"{symbol} ({module.name})"] = "ok"
            except DrystoneError as error:
                entries[f"{symbol} ({module.name})"] = error.render()
                errors.append((symbol, error))
    return _judge(plugin, library, entries, errors)


def _present(library: HostLibrary, wanted: Any) -> list[str]:
    """Entry symbols that the library exports: the host's in its order, then those of others."""
    ours = [symbol for symbol in library.entries() if symbol in wanted]
    rest = [symbol for symbol in wanted if symbol not in ours and library.symbol(symbol)]
    return ours + rest


def _no_module(plugin: Plugin, absent: list[str], offered: list[str]) -> PluginError:
    return plugin.refuse(
        "does not offer what its manifest lists",
        check="a plugin exports an entry symbol for every module in its manifest's modules",
        found=f"no entry symbol for {', '.join(absent)}; it has those of {', '.join(offered)}",
        needed=", ".join(plugin.modules),
        remedy=plugin.advice(
            author="correct modules in the manifest, or export the entry function"
        ),
        code="plugin-no-entry",
    )


def _judge(
    plugin: Plugin,
    library: HostLibrary,
    entries: dict[str, str],
    errors: list[tuple[str, DrystoneError]],
) -> StepResult:
    """Failed when every entry failed; a part that failed beside one that works is a warning."""
    facts = library.describe()
    plugin.registered = {kind: sorted(set(facts[kind])) for kind in _KINDS}
    counted = _count_modules(plugin, library, entries)
    single, remarks = list(facts["errors"]), list(facts["warnings"])
    shown: dict[str, Any] = {"entries": entries, "registration_errors": single, "warnings": remarks}
    fails = bool(errors) and not any(state == "ok" for state in entries.values())
    is_empty = bool(single or counted) and not any(plugin.registered.values())
    absent = bool(errors) and all(error.status == "UNAVAILABLE" for _, error in errors)
    if absent and not single and (fails or is_empty):
        return skipped("entry", "plugin-not-available", errors[0][1].found, **shown)
    if fails:
        return failed("entry", _refused(plugin, *errors[0]), **shown)
    if is_empty:
        return failed("entry", registered_nothing(plugin, single + remarks), **shown)
    texts = [error.found for _, error in errors] + single + remarks
    if texts:
        from drystone_base.plugins._words import once

        reason = "plugin-partly-loaded" if errors or single else "plugin-remarked"
        return passed("entry", reason=reason, text=once(texts), **shown)
    return passed("entry", **shown)


def _count_modules(plugin: Plugin, library: HostLibrary, entries: dict[str, str]) -> bool:
    """Note what modules of other packages registered; whether all that were called tell that."""
    from drystone_base.modules import Module, is_own, modules

    telling = True
    for module in modules().values():
        if not any(f"{symbol} ({module.name})" in entries for symbol in module.entry_symbols):
            continue
        if names := module.offers(library):
            plugin.registered[module.name] = sorted(names)
        telling &= is_own(module.name) or module.offers is not Module.offers
    return telling


def _refused(plugin: Plugin, symbol: str, error: DrystoneError) -> PluginError:
    if error.code == _CHANGED_HOST:
        return _changed_host(plugin, error)
    return plugin.refuse(
        f"did not start: {symbol} failed",
        check=f"{symbol} must succeed and fill in what it is given",
        found=error.sentence if isinstance(error, HostError) else error.found,
        needed="an entry function that answers OK",
        remedy=plugin.advice(
            author=f"let {symbol} answer OK, or TF_UNAVAILABLE where what it drives is not there"
        ),
        code="plugin-init-failed",
        status=error.status,
        details=error.details,
    )


def registered_nothing(plugin: Plugin, errors: Sequence[str] = ()) -> PluginError:
    """An error for a library whose entry functions ran, and left nothing that anybody can use."""
    from drystone_base.plugins._words import once

    return plugin.refuse(
        "registered nothing",
        check="at least one registration of a plugin must succeed",
        found=once(errors) or "its entry functions succeeded, and registered nothing",
        needed="registrations that the host accepts",
        remedy=plugin.advice(
            author="correct each registration that was refused"
            if errors
            else "register something in an entry function, or answer TF_UNAVAILABLE there"
        ),
        code="plugin-registered-nothing",
    )


def not_isolated(plugin: Plugin, what: Sequence[str]) -> PluginError:
    """An error for a plugin that is to run in a process of its own and cannot."""
    return plugin.refuse(
        "cannot run in a process of its own",
        check="an isolated plugin offers what another process can do: optimizers, kernels, "
        "filesystems",
        found=f"it offers nothing but {', '.join(what)}",
        needed="a plugin that may be isolated, or that need not be",
        remedy="if you trust it, let it run in this process: sign it, where only unsigned plugins "
        "are isolated (drystone plugins sign), or set DRYSTONE_PLUGIN_ISOLATION=none",
        code="plugin-not-isolated",
        status="PERMISSION_DENIED",
    )
