"""Compiled functions under ASan and UBSan: sanitize_functions.py [PYTEST ARGUMENTS]

The host library, drystone-tvm's plugin, the strict device and the C functions of the tests are
built with both sanitizers, and the suites of drystone-tvm run on them: the op, what it serves to
functions, private copies of libraries, spoiled ones. Where TVM is installed, so do compiling,
regions in sessions, converting and tuning; TVM's own libraries have no sanitizer, but all memory of
the process is ASan's. Status 1: a finding.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ci.scripts.project import ROOT
from ci.scripts.sanitize import PYTEST, SANITIZERS, build_host, call, must, settings

PACKAGE = ROOT / "packages" / "tvm"
SUITE = "packages/tvm/tests/calls"
SITE = "functions/site-packages"
"""Where the plugin is installed, as packages are: it is found in every process then."""


def main(arguments: list[str]) -> int:
    """Build, run, and say what was found."""
    name = "address"
    flags = f"-fsanitize={SANITIZERS[name]} -fno-sanitize-recover=undefined -g"
    where = build_host(name)
    usual = {"CC": "cc", "CXX": "c++"}
    compilers = {
        k: _compiler(where / f"functions/{known}", f"{os.environ.get(k, known)} {flags}")
        for k, known in usual.items()
    }
    _build_plugin(where / SITE / "drystone-plugins", compilers["CXX"])
    paths = [str(where / SITE), os.environ.get("PYTHONPATH", "")]
    env = settings(name, where) | compilers | {
        "DRYSTONE_DEVELOPER_MODE": "1",  # what is built here has no signature
        "DRYSTONE_PLUGINS_DISABLE": "cpu,tvm",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }  # fmt: skip
    failed = call(sys.executable, "-m", "pytest", *PYTEST, SUITE, *arguments, env=env)
    print(f"compiled functions under {name}: {'failed' if failed else 'nothing found'}")
    return int(failed != 0)


def _compiler(path: Path, command: str) -> str:
    """A compiler with flags as one program: TVM takes ``CXX`` for the name of one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def _build_plugin(folder: Path, compiler: str) -> None:
    """The plugin, by another name than the installed one, which is disabled."""
    folder.mkdir(parents=True, exist_ok=True)
    abi = ROOT / "plugin-abi"
    must(
        compiler, "-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden",
        "-I", abi / "include", f"-Wl,--version-script={abi / 'cmake' / 'plugin.map'}",
        "-o", folder / "libdrystone_tvm.so", *sorted((PACKAGE / "runtime").glob("*.cc")),
    )  # fmt: skip
    manifest = (PACKAGE / "libdrystone_tvm.so.toml").read_text(encoding="utf-8")
    for old, new in (('= "tvm"', '= "tvm-of-tests"'), ("drystone-tvm", "tests")):
        manifest = manifest.replace(old, new)
    (folder / "libdrystone_tvm.so.toml").write_text(manifest, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
