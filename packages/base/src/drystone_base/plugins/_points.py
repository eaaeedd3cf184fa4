"""Entry points of the group ``drystone.plugins``: plugins that come as Python packages.

An entry point names a path of a library, a list of them, or a function without parameters that
returns such, or None when it has registered itself with a module.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from typing import Any

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.core.installed import EntryPoint
from drystone_base.core.plugin_settings import Settings
from drystone_base.plugins._open import not_isolated
from drystone_base.plugins._record import Plugin, StepResult, failed, passed
from drystone_base.plugins.first_party import DISTRIBUTIONS

__all__ = ["load_point"]


def load_point(
    plugin: Plugin, point: EntryPoint, settings: Settings, load: Callable[..., list[Plugin]]
) -> StepResult:
    """The step: import what the entry point names, call it, load the libraries it answers with."""
    if settings.policy == "strict":
        return failed("entry", _unverifiable(plugin))
    if (settings.isolation or "none") != "none" and plugin.package not in DISTRIBUTIONS:
        return failed("entry", not_isolated(plugin, ["Python code"]))
    try:
        with redirect_stdout(sys.stderr):  # what it prints is not output of the program
            named = point.load()
            answer = named() if callable(named) else named
        paths = _paths(answer)
        libraries = [found for path in paths for found in load(path)]
    except DrystoneError as error:
        return failed("entry", _failed(plugin, error.found or error.what, error))
    except Exception as error:
        return failed("entry", _failed(plugin, f"{type(error).__name__}: {error}", error))
    for library in libraries:
        for kind, names in library.registered.items():
            plugin.registered[kind] = sorted({*plugin.registered.get(kind, []), *names})
    return passed("entry", python=point.value, libraries=[library.path for library in libraries])


def _paths(answer: Any) -> list[str]:
    if answer is None:
        return []
    if isinstance(answer, str | os.PathLike):
        return [os.fspath(answer)]
    if isinstance(answer, Iterable):
        found = list(answer)
        if all(isinstance(item, str | os.PathLike) for item in found):
            return [os.fspath(item) for item in found]
    raise TypeError(f"the entry point must give paths or None, found {type(answer).__name__}")


def _failed(plugin: Plugin, found: str, error: Exception) -> PluginError:
    return plugin.refuse(
        "failed to start",
        check="its entry point must be importable and callable",
        found=found,
        needed="a path, paths, or a function that returns such or None",
        remedy=f"reinstall it: pip install --force-reinstall {plugin.package or plugin.name}",
        code="plugin-entry-point",
        inner=error,
    )


def _unverifiable(plugin: Plugin) -> PluginError:
    return plugin.refuse(
        "is not trusted",
        check="policy strict: a trusted key has signed the library",
        found="Python code, which carries no signature",
        needed="a signed library",
        remedy="use the policy default: DRYSTONE_PLUGIN_POLICY=default",
        code="plugin-unsigned",
        status="PERMISSION_DENIED",
    )
