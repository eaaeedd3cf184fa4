"""The step that tries a plugin in a child process first, when it is not trusted.

A crash, a call of exit or a hang there costs this process nothing. The answer is remembered per
file and host library, a bad one for an hour. Where TensorFlow is loaded the child loads it first,
and every plugin is tried: two that work alone may hold copies of a library that must be one.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import PluginError
from drystone_base.core.plugin_settings import Settings, cache_folder
from drystone_base.files.contents import identity
from drystone_base.plugins._record import Plugin, StepResult, failed, passed

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["isolated", "probe"]

_STATUS: Final = {"hung": "DEADLINE_EXCEEDED", "memory": "RESOURCE_EXHAUSTED"}
MOST_MEMORY: Final = 4 << 30
"""How many bytes a trial may hold: as many as an isolated plugin."""
_STALE_SECONDS: Final = 3600
_IMPORT_SECONDS: Final = 60.0


def probe(
    plugin: Plugin,
    settings: Settings,
    *,
    fresh: bool = False,
    tried: list[StepResult] | None = None,
) -> StepResult:
    """The step: open the plugin in a child; ``fresh`` ignores what is remembered.

    The child's own steps, of opening the plugin and of its entry functions, are added to ``tried``:
    who asks for them wants them of plugins, too, that are trusted or run in a process of their own.
    """
    if tried is None and plugin.fact("signature", "trusted") and not _beside():
        return passed("probe", probed=False, why="a trusted key has signed it")
    if tried is None and isolated(plugin):
        return passed("probe", probed=False, why="it runs in a process of its own")
    if settings.probe_seconds == 0:
        return passed("probe", probed=False, why="probing is off")
    if "python" not in os.path.basename(sys.executable or ""):
        return passed("probe", probed=False, why="there is no Python program to run it in")
    try:
        found = _answer(plugin, settings, fresh)
    except (OSError, MemoryError) as error:
        return failed("probe", _not_tried(plugin, error), probed=False)
    if tried is not None:
        tried += [StepResult.from_json(one) for one in found.get("steps", ())]
    if found["outcome"] == "finished":
        harm = _harm(found)
        if harm is not None:
            return failed("probe", harm, probed=True, outcome="finished")
        return passed("probe", probed=True, seconds=found["seconds"])
    return _judge(plugin, settings, found)


def _answer(plugin: Plugin, settings: Settings, fresh: bool) -> dict[str, Any]:
    """What is remembered of a trial, else that of a new one; raises ``OSError``."""
    file = _memory(plugin)
    found = None if fresh or file is None else _remembered(file)
    if found is None:
        from drystone_base.plugins._probe_run import run_child

        seconds = settings.probe_seconds + (_IMPORT_SECONDS if _beside() else 0)
        found = run_child(plugin, seconds, _beside(), MOST_MEMORY)
        if file is not None:
            _remember(file, found)
    return found


def _not_tried(plugin: Plugin, error: OSError | MemoryError) -> PluginError:
    if isinstance(error, FileNotFoundError) and error.filename == plugin.path:
        return plugin.unreadable(error)
    return plugin.refuse(
        "cannot be tried in a child process",
        check="an untrusted plugin must load in a child process first",
        found=f"{type(error).__name__}: {error}",
        needed="files, memory and a process for the trial",
        remedy="free what is short, and load it again; or, if you trust it, try nothing: "
        "DRYSTONE_PLUGIN_PROBE_SECONDS=0",
        code="plugin-probe-not-started",
        status="RESOURCE_EXHAUSTED",
        inner=error,
    )


def _harm(found: dict[str, Any]) -> PluginError | None:
    """What it did to the child that this process would not get over, though it ended in order."""
    steps = [StepResult.from_json(one) for one in found.get("steps", ())]
    return next((step.error for step in steps if step.reason == "plugin-changed-host"), None)


def isolated(plugin: Plugin) -> bool:
    """Whether it is to be opened in a process of its own, and not here."""
    return plugin.isolation == "process"


def _beside() -> list[str]:
    """What the child must import first to be like this process."""
    return ["tensorflow"] if "tensorflow" in sys.modules else []


def _memory(plugin: Plugin) -> Path | None:
    """The file that remembers the answer for these very files; None for who has no home."""
    import hashlib
    from pathlib import Path

    from drystone_base.host import path

    facts = [(file, *identity(file)) for file in (plugin.path, os.fspath(path()))]
    facts += [(plugin.without, sys.version, _tensorflow_version())]
    key = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    try:
        return Path(cache_folder(), "probes", f"{key}.json")
    except RuntimeError:
        return None


def _tensorflow_version() -> str:
    return str(getattr(sys.modules.get("tensorflow"), "__version__", ""))


def _remembered(file: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        good = found["outcome"] == "finished"
        recent = 0 <= time.time() - found["time"] < _STALE_SECONDS
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, dict) and (good or recent) else None


def _remember(file: Path, found: dict[str, Any]) -> None:
    """Written in one step, so that another process reads all of it or nothing."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(found), encoding="utf-8")
        draft.replace(file)
    except OSError:
        return  # without a cache the next process tries again


def _judge(plugin: Plugin, settings: Settings, found: dict[str, Any]) -> StepResult:
    outcome, code, log = found["outcome"], found["code"], found["log"]
    texts = {
        "hung": f"it did not end within {settings.probe_seconds:g} s",
        "crashed": f"signal {_signal(-code)}",
        "exited": f"it ended the process with exit status {code}",
        "memory": f"it held {found.get('memory', 0) >> 20} MiB of the {MOST_MEMORY >> 20} MiB that "
        "a trial may hold",
    }
    text = texts[outcome] + (f"; it printed: {log}" if log else "; it printed nothing")
    if _beside():
        return failed("probe", _not_beside(plugin, text), probed=True, outcome=outcome, code=code)
    error = plugin.refuse(
        {
            "hung": "hangs while it is loaded",
            "crashed": "crashes while it is loaded",
            "exited": "ends the process while it is loaded",
            "memory": "takes too much memory while it is loaded",
        }[outcome],
        check="an untrusted plugin must load in a child process first",
        found=text,
        needed="constructors and entry functions that return",
        remedy=plugin.advice(
            author=f"run it under a debugger: drystone plugins check {plugin.path}; constructors "
            "and entry functions must return"
        ),
        code={
            "hung": "plugin-probe-hung",
            "crashed": "plugin-probe-crashed",
            "exited": "plugin-probe-exited",
            "memory": "plugin-probe-memory",
        }[outcome],
        status=_STATUS.get(outcome, "ABORTED"),
    )
    return failed("probe", error, probed=True, **{k: found[k] for k in ("outcome", "code")})


def _not_beside(plugin: Plugin, text: str) -> PluginError:
    return plugin.refuse(
        "cannot share a process with TensorFlow",
        check="with TensorFlow loaded, a plugin must load in a child process like this one first",
        found=text,
        needed="a plugin and a TensorFlow that do not hold two copies of one library",
        remedy="use the plugin in a process that does not import tensorflow",
        code="plugin-beside-tensorflow",
        status="ABORTED",
    )


def _signal(number: int) -> str:
    import signal

    try:
        return f"{number} ({signal.Signals(number).name})"
    except ValueError:
        return str(number)
