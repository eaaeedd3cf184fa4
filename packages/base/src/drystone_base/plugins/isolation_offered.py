"""What an isolated plugin registered in its own process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from drystone_base.core.errors import PluginError

__all__ = ["MODULES", "Offered"]

MODULES: Final = frozenset({"filesystem", "graph-optimizer", "kernels"})
"""The modules whose work can be done in another process; all others are left out there."""


class Offered(NamedTuple):
    """``registered``: names by kind. ``ops``: an ``OpList``; ``shaped``: those of them with a shape
    function. ``kernels`` and ``optimizers``: as the child's host lists them. ``remarks``: what is
    worth knowing. ``left_out``: modules whose entry functions were not called.
    """

    registered: dict[str, list[str]]
    ops: bytes
    shaped: list[str]
    kernels: list[dict[str, Any]]
    optimizers: list[dict[str, Any]]
    remarks: list[str]
    left_out: list[str]

    @classmethod
    def of(cls, reply: Mapping[str, Any]) -> Offered:
        """What a child's answer says; raises ``PluginError`` where it says something else."""
        names = ("registered", "ops", "shaped", "kernels", "optimizers", "remarks", "left_out")
        try:
            found = cls(*(reply[name] for name in names))
        except KeyError as error:
            raise PluginError(
                "an isolated plugin did not say what it offers",
                check="an isolated plugin must answer in the worker's format",
                found=f"no {error}",
                needed="all of " + ", ".join(names),
                remedy="report it to the plugin's author, whose code wrote over the answer",
                code="isolated-plugin-reply",
            ) from error
        return found._replace(registered={k: list(v) for k, v in found.registered.items() if v})
