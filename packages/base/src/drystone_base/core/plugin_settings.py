"""What decides whether a plugin is loaded: policy, developer mode, disable list and the like.

Each setting has an environment variable and an argument of :func:`configure`, which wins.
"""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from drystone_base.core.environment import (
    DEVELOPER_MODE,
    PLUGIN_ISOLATION,
    PLUGIN_POLICY,
    PLUGIN_PROBE_SECONDS,
    PLUGINS_DISABLE,
    TF_PLUGINS,
    TRUST_STORE,
)
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.registered import PLUGIN_SETTINGS
from drystone_base.core.settings import Schema, Setting

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "Isolation",
    "Policy",
    "Settings",
    "cache_folder",
    "configure",
    "current",
    "override",
    "trust_store",
]

Policy = Literal["strict", "default", "allow_unverified"]
Isolation = Literal["none", "unsigned", "process"]

_CACHE: Final = os.path.join("~", ".cache")


class Settings(NamedTuple):
    """How plugins are chosen and checked.

    ``disabled`` holds plugin names; ``"*"`` disables all. ``tensorflow_plugins`` also searches
    TensorFlow's own ``tensorflow-plugins`` folders. ``isolation`` overrides what manifests say
    (None: they decide; ``"unsigned"``: those without a signature that is trusted get a process).
    ``probe_seconds`` is how long an untrusted plugin may take when it is tried in a
    child process; 0 tries none.
    """

    policy: Policy = "default"
    developer_mode: bool = False
    disabled: frozenset[str] = frozenset()
    tensorflow_plugins: bool = False
    isolation: Isolation | None = None
    probe_seconds: float = 20.0

    def disabling(self, *names: str) -> list[str]:
        """Which of ``disabled`` fit one of these names of a plugin or package, however spelled."""
        if not self.disabled:
            return []
        found = {_canonical(name) for name in ("*", *names)}
        return sorted(name for name in self.disabled if _canonical(name) in found)

    def as_json(self) -> dict[str, Any]:
        """The settings as JSON-ready values."""
        return self._asdict() | {
            "disabled": sorted(self.disabled),
            "trust_store": str(trust_store()),
        }


def _canonical(name: str) -> str:
    """A name as the package index compares it: ``Acme_XPU`` is ``acme-xpu``."""
    import re

    return re.sub(r"[-_.]+", "-", name).lower()


_overrides: dict[str, Any] = {}
_lock: Final = threading.Lock()


SETTINGS: Final = Schema(
    "Settings",
    "bad-plugin-setting",
    *(
        Setting(name, one.kind, one.doc, one.name)
        for name, one in (
            ("policy", PLUGIN_POLICY),
            ("developer_mode", DEVELOPER_MODE),
            ("disabled", PLUGINS_DISABLE),
            ("tensorflow_plugins", TF_PLUGINS),
            ("isolation", PLUGIN_ISOLATION),
            ("probe_seconds", PLUGIN_PROBE_SECONDS),
        )
    ),
)
"""The settings of plugins: what is set by :func:`configure` goes before their variables."""


def configure(**changes: Any) -> Settings:
    """Set fields of :class:`Settings` for this process; None returns one to the environment."""
    taken = _taken(changes)
    with _lock:
        for name, value in taken.items():
            _overrides.pop(name, None)
            if value is not None:
                _overrides[name] = value
            PLUGIN_SETTINGS.note(name)
    return current()


def override(**changes: Any) -> Settings:
    """The settings in force with some replaced for one call; None leaves one as it is."""
    return current()._replace(**{k: v for k, v in _taken(changes).items() if v is not None})


def _taken(changes: dict[str, Any]) -> dict[str, Any]:
    """The changes as they are kept, None as it is; raises ``BadRequest``."""
    taken = {}
    for name, value in changes.items():
        if name not in SETTINGS.settings:
            raise _unknown(name)
        kept = None if value is None else SETTINGS.taken(name, value)
        taken[name] = frozenset(kept) if name == "disabled" and kept is not None else kept
    return taken


def current() -> Settings:
    """The settings in force; raises ``BadRequest`` (``bad-plugin-setting``)."""
    found = Settings(
        policy=PLUGIN_POLICY.value(),
        developer_mode=DEVELOPER_MODE.value(),
        disabled=frozenset(PLUGINS_DISABLE.value()),
        tensorflow_plugins=TF_PLUGINS.value(),
        isolation=PLUGIN_ISOLATION.value(),
        probe_seconds=PLUGIN_PROBE_SECONDS.value(),
    )
    return found._replace(**_overrides) if _overrides else found


def trust_store() -> Path:
    """Folder of the public keys that are trusted: ``$DRYSTONE_TRUST_STORE`` or the user's own."""
    from pathlib import Path

    chosen = TRUST_STORE.value()
    if chosen:
        return Path(chosen)
    config = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "drystone" / "trusted-keys"


def cache_folder() -> str:
    """Folder for what need not be found out twice; raises ``RuntimeError`` for who has no home."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser(_CACHE)
    if cache == _CACHE:
        raise RuntimeError("there is no home folder")
    return os.path.join(cache, "drystone")


def _unknown(name: str) -> BadRequest:
    known = sorted(SETTINGS.settings)
    near = near_matches(name, known)
    return BadRequest(
        f"{name!r} is not a setting of plugins",
        check="settings of plugins must be understood, for they decide what is loaded",
        found=repr(name),
        needed=" or ".join(known),
        remedy=f"did you mean {near[0]}?" if near else f"use {' or '.join(known)}",
        code="bad-plugin-setting",
    )
