"""Where the contract's headers are, and the compiler and linker flags of a plugin.

The folders lie inside this package in a wheel, and beside `src` in a source tree or an editable
install; the same functions serve both.
"""

from __future__ import annotations

import os

__all__ = [
    "ABI_VERSION",
    "folder",
    "get_cmake_dir",
    "get_compile_flags",
    "get_include",
    "get_link_flags",
]

ABI_VERSION = "1.1"
"""MAJOR.MINOR of the plugin ABI that the headers of this distribution state."""

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def get_include() -> str:
    """The folder to give to the compiler with -I; it has `drystone/` and TensorFlow's paths."""
    return folder("include", os.path.join("drystone", "version.h"))


def get_cmake_dir() -> str:
    """The folder with DrystonePluginABIConfig.cmake, for `HINTS` of find_package."""
    return folder("cmake", "DrystonePluginABIConfig.cmake")


def get_compile_flags() -> list[str]:
    """Flags of every source file of a plugin: headers, hidden visibility, position independence."""
    return [f"-I{get_include()}", "-fvisibility=hidden", "-fPIC"]


def get_link_flags() -> list[str]:
    """Flags of the link: a shared library that exports entry symbols only.

    Nothing of the host is named: a plugin's TF_* symbols stay undefined until a host loads it.
    """
    script = os.path.join(get_cmake_dir(), "plugin.map")
    return ["-shared", f"-Wl,--version-script={script}"]


def folder(name: str, proof: str) -> str:
    """The first place of `name` that holds the file `proof`; raises `FileNotFoundError`."""
    places = [os.path.join(_PACKAGE, name), os.path.join(_PACKAGE, "..", "..", name)]
    for place in map(os.path.normpath, places):
        if os.path.isfile(os.path.join(place, proof)):
            return place
    looked = "; ".join(map(os.path.normpath, places))
    raise FileNotFoundError(
        f"drystone-plugin-abi has no {name}/{proof}: looked in {looked}; "
        "remedy: pip install --force-reinstall drystone-plugin-abi"
    )
