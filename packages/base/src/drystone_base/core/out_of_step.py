"""A package that needs a name which the installed release of another does not have.

Python says that a name cannot be imported. Who reads it wants to know of which two packages, which
releases of them are there, and what to install.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from drystone_base.core.errors import BadRequest

if TYPE_CHECKING:
    from importlib.metadata import Distribution

__all__ = ["OutOfStep", "out_of_step"]


class OutOfStep(BadRequest, ImportError):
    """Two installed packages do not fit each other; ``except ImportError`` catches it, too."""


class _Wanted(NamedTuple):
    """A module, and the name in it that was wanted: "" for the module itself."""

    module: str
    name: str


def out_of_step(error: ImportError | AttributeError) -> OutOfStep | None:
    """The error that tells who needed what of whom; None where no other package is at fault.

    That is a name which a module of an installed package has not, or a module that is not in it.
    """
    wanted, needing = _wanted(error), _needing(error)
    if wanted is None or not needing:
        return None
    top = wanted.module.partition(".")[0]
    if top in ("", needing.partition(".")[0]) or not _is_there(top):
        return None
    user, provider = _distribution(needing), _distribution(wanted.module)
    return None if provider is None else _told(error, wanted, needing, user, provider)


def _told(
    error: ImportError | AttributeError,
    wanted: _Wanted,
    needing: str,
    user: Distribution | None,
    provider: Distribution,
) -> OutOfStep:
    who = _shown(user) if user else f"module {needing}"
    name, version = provider.name, provider.version
    what = f"no {wanted.name} in {wanted.module}" if wanted.name else f"no module {wanted.module}"
    upgraded = f"{user.name} {name}" if user else name
    return OutOfStep(
        f"{who} cannot be used with {_shown(provider)}",
        check="what a package needs of another must be in the release that is installed",
        found=what,
        needed=f"a release of {name} that has it{_requirement(user, name)}",
        remedy=f"pip install --upgrade {upgraded}; where that changes nothing, install the "
        f'{name} from before it was upgraded: pip install "{name}<{version}"',
        code="packages-out-of-step",
        status="FAILED_PRECONDITION",
        inner=error,
    )


def _is_there(top: str) -> bool:
    """Whether it was imported, and is no folder that several distributions share."""
    return getattr(sys.modules.get(top), "__file__", None) is not None


def _wanted(error: ImportError | AttributeError) -> _Wanted | None:
    """What was missing, and where."""
    if isinstance(error, AttributeError):
        if isinstance(error.obj, ModuleType):
            return _Wanted(error.obj.__name__, error.name or "")
        return None
    if isinstance(error, ModuleNotFoundError):
        return _Wanted(error.name, "") if error.name else None
    # "cannot import name 'x' from 'a.b' (file)": the name is an attribute from Python 3.12 on.
    parts = str(error).split("'")
    if error.name and len(parts) > 2 and "partially initialized" not in parts[2]:
        return _Wanted(error.name, parts[1])
    return None


def _needing(error: BaseException) -> str:
    """The module whose code asked for it: the last one that is not of the import system."""
    found, step = "", error.__traceback__
    while step is not None:
        name = str(step.tb_frame.f_globals.get("__name__", ""))
        if not name.startswith(("importlib", "_frozen_importlib")) and name != _LAZY:
            found = name
        step = step.tb_next
    return found


_LAZY = "drystone_base.core.lazy_names"
"""It looks for names that others ask for."""


def _distribution(module: str) -> Distribution | None:
    """What a module was installed with."""
    from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

    top = module.partition(".")[0]
    try:
        return distribution(top.replace("_", "-"))
    except PackageNotFoundError:  # named otherwise: every RECORD is read
        found = packages_distributions().get(top)
    return distribution(found[0]) if found else None


def _shown(one: Distribution) -> str:
    return f"{one.name} {one.version}"


def _requirement(user: Distribution | None, name: str) -> str:
    """What ``user`` says it requires of that package, to go on with."""
    from re import match

    every = (user.requires if user else None) or ()
    for text in every:
        found = match(r"[\w.-]+", text)
        if found and found[0].replace("_", "-").lower() == name.replace("_", "-").lower():
            return f"; {_shown(user)} requires {text}" if user else ""
    return ""
