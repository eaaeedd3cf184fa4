"""The build backend: scikit-build-core, and drystone-plugin-abi unless its headers are beside us.

In a checkout the headers of the contract lie in plugin-abi/include; a source distribution needs
them from the package. See https://peps.python.org/pep-0517/ for the hooks.
"""

from __future__ import annotations

from pathlib import Path

from scikit_build_core import build as _backend
from scikit_build_core.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_BESIDE = Path(__file__).resolve().parents[2].parent / "plugin-abi" / "include" / "drystone"
_Settings = dict[str, list[str] | str] | None


def _headers() -> list[str]:
    return [] if _BESIDE.is_dir() else ["drystone-plugin-abi>=0.2.0"]


def get_requires_for_build_wheel(config_settings: _Settings = None) -> list[str]:
    """What building a wheel needs."""
    return [*_backend.get_requires_for_build_wheel(config_settings), *_headers()]


def get_requires_for_build_editable(config_settings: _Settings = None) -> list[str]:
    """What an editable installation needs."""
    return [*_backend.get_requires_for_build_editable(config_settings), *_headers()]
