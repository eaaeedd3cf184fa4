"""`python -m drystone_abi`: paths and flags for builds, platform strings, new projects."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from drystone_abi.headers import (
    ABI_VERSION,
    get_cmake_dir,
    get_compile_flags,
    get_include,
    get_link_flags,
)
from drystone_abi.platform_strings import read_platform_strings

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m drystone_abi",
        description="Paths and flags for building a plugin.",
        epilog="`python -m drystone_abi new NAME KIND [FOLDER]` makes a project.",
    )
    one = parser.add_mutually_exclusive_group(required=True)
    one.add_argument("--include", action="store_true", help="folder of the headers")
    one.add_argument("--cflags", action="store_true", help="compiler flags")
    one.add_argument("--libs", action="store_true", help="linker flags")
    one.add_argument("--cmake-dir", action="store_true", help="folder of the CMake package")
    one.add_argument("--abi-version", action="store_true", help="MAJOR.MINOR of the plugin ABI")
    one.add_argument("--scan", metavar="FILE", help="print a library's platform strings")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Answer one question, or make a project; 1 where a scanned file has no platform strings."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["new"]:
        from drystone_abi.new import main as new

        return new(given[1:])
    asked = _parser().parse_args(given)
    if asked.scan is not None:
        return _scan(asked.scan)
    if asked.include:
        print(get_include())
    elif asked.cflags:
        print(*get_compile_flags())
    elif asked.libs:
        print(*get_link_flags())
    elif asked.cmake_dir:
        print(get_cmake_dir())
    else:
        print(ABI_VERSION)
    return 0


def _scan(path: str) -> int:
    try:
        records = read_platform_strings(path)
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror or error}", file=sys.stderr)
        return 1
    if not records:
        print(f"{path}: no platform strings", file=sys.stderr)
        return 1
    print(*records, sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
