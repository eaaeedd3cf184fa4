"""What decides whether a plugin is loaded: policy, developer mode, disable list and the like.

Each setting has an environment variable and an argument of :func:`configure`, which wins.
"""

from __future__ import annotations

import os
import threading
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from drystone_base.arguments import checked
from drystone_base.errors import BadRequest, near_matches
from drystone_base.late_dataclasses import dataclass

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
Isolation = Literal["none", "process"]

POLICY: Final = "DRYSTONE_PLUGIN_POLICY"
DEVELOPER: Final = "DRYSTONE_DEVELOPER_MODE"
DISABLE: Final = "DRYSTONE_PLUGINS_DISABLE"
TENSORFLOW: Final = "DRYSTONE_TF_PLUGINS"
ISOLATION: Final = "DRYSTONE_PLUGIN_ISOLATION"
PROBE_SECONDS: Final = "DRYSTONE_PLUGIN_PROBE_SECONDS"
TRUST_STORE: Final = "DRYSTONE_TRUST_STORE"
_CACHE: Final = os.path.join("~", ".cache")
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class Settings:
    """How plugins are chosen and checked.

    ``disabled`` holds plugin names; ``"*"`` disables all. ``tensorflow_plugins`` also searches
    TensorFlow's own ``tensorflow-plugins`` folders. ``isolation`` overrides what manifests say
    (None: they decide). ``probe_seconds`` is how long a plugin that nobody vouches for may take
    when it is tried in a child process; 0 tries none.
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
        found = {field.name: getattr(self, field.name) for field in fields(self)}
        return found | {"disabled": sorted(self.disabled), "trust_store": str(trust_store())}


def _canonical(name: str) -> str:
    """A name as the package index compares it: ``Acme_XPU`` is ``acme-xpu``."""
    import re

    return re.sub(r"[-_.]+", "-", name).lower()


_overrides: dict[str, Any] = {}
_lock: Final = threading.Lock()


@checked
def configure(**changes: Any) -> Settings:
    """Set fields of :class:`Settings` for this process; None returns one to the environment."""
    _check_changes(changes)
    with _lock:
        for name, value in changes.items():
            _overrides.pop(name, None)
            if value is not None:
                _overrides[name] = frozenset(value) if name == "disabled" else value
    return current()


def override(**changes: Any) -> Settings:
    """The settings in force with some replaced for one call; None leaves one as it is."""
    _check_changes(changes)
    return replace(current(), **{k: v for k, v in changes.items() if v is not None})


def _check_changes(changes: dict[str, Any]) -> None:
    known = {field.name for field in fields(Settings)}
    for name, value in changes.items():
        if name not in known:
            raise _unknown("a setting of plugins", name, sorted(known))
        if name in ("policy", "isolation") and value is not None:
            _choice(name, value, Policy if name == "policy" else Isolation)


def current() -> Settings:
    """The settings in force; raises ``BadRequest`` (``bad-plugin-setting``)."""
    found = Settings(
        policy=_choice(POLICY, os.environ.get(POLICY) or "default", Policy),
        developer_mode=_flag(DEVELOPER),
        disabled=frozenset(_names(os.environ.get(DISABLE, ""))),
        tensorflow_plugins=_flag(TENSORFLOW),
        isolation=_choice(ISOLATION, os.environ.get(ISOLATION) or None, Isolation),
        probe_seconds=_seconds(PROBE_SECONDS, Settings.probe_seconds),
    )
    return replace(found, **_overrides) if _overrides else found


def trust_store() -> Path:
    """Folder of the public keys that are trusted: ``$DRYSTONE_TRUST_STORE`` or the user's own."""
    from pathlib import Path

    chosen = os.environ.get(TRUST_STORE)
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


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _flag(variable: str) -> bool:
    text = os.environ.get(variable, "").strip().lower()
    if text not in _TRUE + _FALSE:
        raise _unknown(variable, text, ["1", "0"])
    return text in _TRUE


def _seconds(variable: str, otherwise: float) -> float:
    text = os.environ.get(variable, "").strip()
    try:
        value = float(text) if text else otherwise
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise _unknown(variable, text, ["a number of seconds, 0 or more"])
    return value


def _choice(variable: str, value: Any, choices: Any) -> Any:
    """``value`` if it is one of the literal's, or None; ``-`` counts as ``_``."""
    known = [str(choice) for choice in get_args(choices)]
    if value is None:
        return None
    text = str(value).strip().lower().replace("-", "_")
    if text not in known:
        raise _unknown(variable, str(value), known)
    return text


def _unknown(what: str, found: str, known: list[str]) -> BadRequest:
    near = near_matches(found, known)
    return BadRequest(
        f"{found!r} is not {what}"
        if what.startswith("a ")
        else f"{found!r} is not a value of {what}",
        check="settings of plugins must be understood, for they decide what is loaded",
        found=repr(found),
        needed=" or ".join(known),
        remedy=f"did you mean {near[0]}?" if near else f"use {' or '.join(known)}",
        code="bad-plugin-setting",
    )
