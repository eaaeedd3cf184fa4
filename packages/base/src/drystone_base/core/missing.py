"""What is not installed, and the command that installs it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from types import MappingProxyType
from typing import Final

from drystone_base.core.errors import BadRequest

__all__ = [
    "COMMANDS",
    "MissingPackage",
    "command_of",
    "distribution_of",
    "kernels_to_install",
    "missing",
]

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "bisect": "drystone_optimizer",
        "convert": "drystone_tvm",
        "optimize": "drystone_optimizer",
        "partition": "drystone_subgraph",
    }
)
"""Commands of ``drystone`` that other packages of it add, with the module of the package."""
_DISTRIBUTIONS: Final = {
    "drystone_abi": "drystone-plugin-abi",
    "drystone_conformance": "drystone-plugin-conformance",
    "google": "protobuf",
    "nacl": "pynacl",
    "re2": "google-re2",
}


class MissingPackage(BadRequest, ModuleNotFoundError):
    """A package that is not installed was asked for; ``except ImportError`` catches it, too."""


def distribution_of(module: str) -> str:
    """What pip calls the distribution that a module comes from."""
    top = module.partition(".")[0]
    return _DISTRIBUTIONS.get(top, top.replace("_", "-"))


def missing(what: str, module: str, inner: BaseException | None = None) -> MissingPackage:
    """The error of ``what``, which cannot be used without the package of ``module``."""
    package = distribution_of(module)
    error = MissingPackage(
        f"{what} cannot be used",
        check="the package that it needs must be installed",
        found=f"no module {module}",
        needed=package,
        remedy=f"pip install {package}",
        code="package-missing",
        status="FAILED_PRECONDITION",
        inner=inner,
    )
    error.name = module
    return error


def command_of(name: str) -> MissingPackage | None:
    """The error of a command whose package is not installed; None for any other name."""
    module = COMMANDS.get(name)
    if module is None or find_spec(module) is not None:
        return None
    return missing(f"drystone {name}", module)


def kernels_to_install() -> str:
    """The package with native kernels for this machine; "" where it is there, or there is none."""
    import platform

    if sys.platform != "linux" or platform.machine() != "x86_64":
        return ""
    return "drystone-cpu" if find_spec("drystone_cpu") is None else ""
