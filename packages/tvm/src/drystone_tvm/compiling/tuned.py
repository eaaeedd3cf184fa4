"""Plans that were found faster on this machine, kept in the user's cache folder."""

from __future__ import annotations

import hashlib
from typing import Any, Final, NamedTuple

from drystone_base.core.machine import chosen_folder
from drystone_base.files.store import BadFile, Store
from drystone_tvm.compiling.environment import TUNED
from drystone_tvm.compiling.plans import Plan

__all__ = ["Tuning", "database", "keep", "key_of", "plan_of", "stamp"]

_MOST_BYTES: Final = 16 << 20


class Tuning(NamedTuple):
    """The best plan of a region that beats drystone's own kernels; seconds of a call."""

    plan: Plan
    own: float
    untuned: float
    tuned: float


def database() -> Store | None:
    """Where tunings are: ``DRYSTONE_TVM_TUNED``; None where it says ``off``."""
    folder = chosen_folder(TUNED, "tunings")
    return None if folder is None else Store(folder, _MOST_BYTES, "tuning", own_only=True)


def key_of(function: Any, target: Any) -> str:
    """A name of what a function computes, for a processor, by this release of TVM."""
    from importlib.metadata import version

    facts = (function.script(), str(target), version("apache-tvm"), version("drystone-tvm"))
    return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:40]


def plan_of(key: str) -> Plan | None:
    """The plan that was kept for a key; what cannot be read is none."""
    store = database()
    try:
        found = None if store is None else store.read(key)
        return None if found is None else Plan(**found[0]["plan"])
    except (BadFile, KeyError, TypeError):
        return None


def keep(key: str, tuning: Tuning, about: str) -> bool:
    """Keep a plan, in the place of an older one; whether there is a database."""
    store = database()
    if store is None:
        return False
    facts = {name: getattr(tuning, name) for name in ("own", "untuned", "tuned")}
    store.write(key, facts | {"plan": tuning.plan._asdict(), "about": about}, [])
    return True


def stamp() -> str:
    """What changes with the database; "" for none."""
    store = database()
    entries = [] if store is None else store.entries()
    if not entries:
        return ""
    texts = (f"{facts.get('name')} {facts.get('plan')}" for _, facts in entries)
    return hashlib.sha256("\n".join(sorted(texts)).encode()).hexdigest()[:12]
