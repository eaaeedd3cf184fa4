"""Compiled functions under ASan and UBSan: sanitize_functions.py [PYTEST ARGUMENTS]

The host library, drystone-tvm's plugin, the strict device and the C functions of the tests are
built with both sanitizers, and the suite of calls runs on them: the op, what it serves to
functions, private copies of libraries, spoiled ones. Where TVM is installed, what it compiles is
run, too. Status 1: a finding.
"""

from __future__ import annotations

import os
import sys

from ci.scripts.sanitize import PYTEST, SANITIZERS, build_host, call, settings

CALLS = "packages/tvm/tests/calls"
SUITES = tuple(
    f"{CALLS}/test_{name}.py" for name in ("calls", "compiling", "external", "stated", "with_tvm")
)
"""Those that run in one process, or with libraries that have a sanitizer; nvcc, which the tests of
CUDA start, ends where a sanitizer is loaded before it."""


def main(arguments: list[str]) -> int:
    """Build, run, and say what was found."""
    name = "address"
    flags = f"-fsanitize={SANITIZERS[name]} -fno-sanitize-recover=undefined -g"
    env = settings(name, build_host(name)) | {
        "CC": f"{os.environ.get('CC', 'cc')} {flags}",
        "CXX": f"{os.environ.get('CXX', 'c++')} {flags}",
        "DRYSTONE_PLUGINS_DISABLE": "cpu,tvm",  # the plugin is the one that the tests build
    }
    failed = call(sys.executable, "-m", "pytest", *PYTEST, *SUITES, *arguments, env=env)
    print(f"compiled functions under {name}: {'failed' if failed else 'nothing found'}")
    return int(failed != 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
