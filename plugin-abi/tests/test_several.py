"""Plugins in the style of TensorFlow's, put to work: a whole filesystem, and a library of several.

Rows E2, E4, E5 and E12. S2-several: one shared object holds plugins for several modules.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from compiling import PLUGINS

import drystone_abi

STYLE = PLUGINS / "tf_style"

USE = """
import json, sys
from drystone_base.host import filesystem as fs
from drystone_base.plugins import load_library

plugin = load_library(sys.argv[1], policy="allow_unverified")
at = "oak://wood/leaf"
fs.write_bytes(at, b"first")
fs.copy(at, "oak://wood/other")
fs.rename("oak://wood/other", "oak://wood/third")
missing = fs.exist([at, "oak://wood/other"])
print(json.dumps({
    "state": plugin.state,
    "registered": {kind: sorted(names) for kind, names in plugin.registered.items() if names},
    "read": fs.read_bytes(at).decode(),
    "region": fs.read_memory("oak://wood/third").decode(),
    "size": fs.file_size(at),
    "range": fs.read_range(at, 3, 99).decode(),
    "missing": missing,
}))
"""


def used(library: Path, folder: Path) -> Any:
    """What a process of its own found: what is registered there is registered nowhere else."""
    settings = {k: v for k, v in os.environ.items() if not k.startswith("DRYSTONE_P")}
    settings |= {"XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    command = [sys.executable, "-c", USE, str(library)]
    done = subprocess.run(command, capture_output=True, text=True, env=settings, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def held(answer: Any) -> None:
    """What holds of the files, whatever else is in the library."""
    assert answer["state"] == "loaded"
    assert (answer["read"], answer["region"], answer["range"]) == ("first", "first", "st")
    assert answer["size"] == 5
    assert answer["missing"] == ["OK", "NOT_FOUND"]
    assert answer["registered"]["schemes"] == ["oak"]


def test_a_filesystem_written_for_tensorflow_serves_its_scheme(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """Its source names TensorFlow's headers, macros and functions, and nothing of ours."""
    source = STYLE / "filesystem_tree.cc"
    assert "drystone" not in source.read_text(encoding="utf-8")
    flags = [*drystone_abi.get_compile_flags(), *drystone_abi.get_link_flags()]
    answer = used(compile_library(source, flags=flags), tmp_path)
    held(answer)
    assert set(answer["registered"]) == {"schemes"}


def test_one_library_serves_several_modules(
    compile_library: Callable[..., Path], tmp_path: Path
) -> None:
    """A filesystem, kernels with their op, and a graph optimizer: each entry symbol is called."""
    sources = [STYLE / name for name in ("filesystem_tree.cc", "kernels.cc", "optimizer.c")]
    flags = [*drystone_abi.get_compile_flags(), *drystone_abi.get_link_flags(), "-Wno-error"]
    answer = used(compile_library(*sources, flags=flags), tmp_path)
    held(answer)
    assert set(answer["registered"]) == {"schemes", "ops", "kernels", "optimizers"}
    assert answer["registered"]["optimizers"] == ["CPU"]
