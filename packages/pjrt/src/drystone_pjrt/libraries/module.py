"""What this package adds to ``drystone_base.modules``: libraries that export ``GetPjrtApi``.

It is imported by every process that has this package installed, so it imports next to nothing.
"""

from __future__ import annotations

from typing import Final

from drystone_base.modules import Library, Module

__all__ = ["MODULE"]


def _initialise(library: Library, symbol: str) -> None:
    """Take the library's table of functions."""
    from drystone_pjrt.libraries.opened import initialise

    initialise(library, symbol)


def _offers(library: Library) -> list[str]:
    """The version of the interface that the library has."""
    from drystone_pjrt.libraries.opened import offered

    return offered(library)


MODULE: Final = Module(
    "pjrt",
    ("GetPjrtApi",),
    _initialise,
    _offers,
    variables="drystone_pjrt.libraries.environment:VARIABLES",
)
