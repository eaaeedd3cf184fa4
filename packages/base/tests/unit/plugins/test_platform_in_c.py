"""Platform strings in the loader for programs in C: what Python refuses, it refuses, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from plugin_files import MAGIC, OPEN, VARIANTS, Compile, plugin

from drystone_base.core import processor as _processor
from drystone_base.plugins import _platform

ANSWERS = """
import ctypes, json, os, sys
from drystone_base.core.errors import HostError
from drystone_base.host._lib import declare
from drystone_base.host.status import Status
load = declare("TF_LoadLibrary", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
found = {}
for file in sys.argv[1:]:
    try:
        with Status("loading") as status:
            load(os.fsencode(file), status.pointer)
    except HostError as error:
        found[os.path.basename(file)] = error.found
print(json.dumps(found))
"""


def zoo() -> Iterator[list[str]]:
    """Records of every kind that a check looks at: known, unknown, of several platforms, odd."""
    names = (*_processor.known_macros(), *_platform.SYSTEMS, *_platform.MACHINES)
    for name in dict.fromkeys((*names, "__BIG_ENDIAN__", "__UNKNOWN__")):
        yield [f"{name}=1"]
    yield from (["__AVX5124FMAPS__=0"], ["__AVX5124FMAPS__"], ["__AVX5124FMAPS__="])
    yield from (["__linux__=1", "__ANDROID__=1"], ["__linux__=1", "__APPLE__=1"])
    yield from (["__x86_64__=1", "__aarch64__=1"], ["__powerpc__=1", "__powerpc64__=1"])
    yield from ([f"__BYTE_ORDER__={order}"] for order in ("1234", "4321", "3412", ""))
    versions = ("", "1.0", "1.99", "1", "1.", ".1", "1.0.0", "0.9", "2.0", "01.0", "1.1234567", "x")
    yield from ([f"DRYSTONE_ABI_VERSION={version}"] for version in versions)
    yield ["DRYSTONE_ABI_VERSION=1.0", "DRYSTONE_ABI_VERSION=7.0"]


def answers(files: list[Path]) -> dict[str, str]:
    """What the loader for C says of each file, in a process of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    done = subprocess.run(
        [sys.executable, "-c", ANSWERS, *map(str, files)],
        capture_output=True, text=True, timeout=120, env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_both_loaders_refuse_the_same(compile_library: Compile, tmp_path: Path) -> None:
    plain = compile_library(VARIANTS, flags=["-DNO_STRINGS", "-DNO_ENTRY"]).read_bytes()
    formats = [["TF_PLAT_STR_VERSION=2.0"], ["TF_PLAT_STR_VERSION"], ["__aarch64__=1"], []]
    files = {}
    for k, records in enumerate([*formats, *(["TF_PLAT_STR_VERSION=1.0", *r] for r in zoo())]):
        file = tmp_path / f"{k}.so"
        file.write_bytes(plain + b"".join(MAGIC + text.encode() + b"\0" for text in records))
        files[file] = records
    said = answers(list(files))
    refused = 0
    for file, records in files.items():
        result = _platform.check_platform(plugin(file), OPEN)
        passed = said[file.name].endswith("does not export TF_InitKernel")
        assert passed == (result.state == "passed"), (records, said[file.name])
        if result.error is not None:
            refused += 1
            words = result.error.found.removeprefix("this processor ").removeprefix("plugin ABI ")
            assert words.removeprefix("TF_PLAT_STR_VERSION=") in said[file.name]
    assert 60 < refused < len(files) - 10
