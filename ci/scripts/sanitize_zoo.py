"""The zoo of bad plugins on a host with ASan and UBSan, for sanitize.py.

The plugins are built without. What they do wrong on purpose a sanitizer may report too, in their
code; a report of the host's own code is a finding, whatever the test says that met it: processes
of the zoo are meant to die, and a report would look like that.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ci.scripts.project import ROOT

__all__ = ["FILES", "findings", "is_plugins_own", "run_zoo"]

FILES: Final = tuple(
    str(file.relative_to(ROOT)) for file in sorted((ROOT / "plugin-abi/tests").glob("test_zoo*.py"))
)
_OPTIONS: Final = (
    "use_sigaltstack=0",
    *(f"handle_{name}=0" for name in ("segv", "abort", "sigfpe", "sigbus")),
    "abort_on_error=1",
)
"""Last words of what crashes on purpose are the host's, so the sanitizer handles no signals; it
ends a process as the C library does, and tests wait for that."""
_FRAME: Final = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ (?:in )?(.*)$")
_ON_THE_WAY: Final = (
    "__interceptor_", "libasan.so", "drystone::host::FreedBlocks::", "/redirected_memory.cc:",
)  # fmt: skip
"""What the C library's function was called by on the plugin's behalf."""
_PLUGINS: Final = "/drystone-compiled-"


def is_plugins_own(report: str) -> bool:
    """Whether the code that did what is reported is that of a plugin of the zoo."""
    for line in report.splitlines():
        frame = _FRAME.match(line)
        if frame is None or any(part in frame[1] for part in _ON_THE_WAY):
            continue
        return _PLUGINS in frame[1]
    return False


def findings(reports: Iterable[str]) -> list[str]:
    """The first lines of each report of the host's own code."""
    return ["\n".join(one.splitlines()[:30]) for one in reports if not is_plugins_own(one)]


def run_zoo(settings: dict[str, str], pytest: Iterable[str]) -> list[str]:
    """What is wrong, after all of it has run; prints each report of the host's own code.

    ``settings`` are a process's that has Python run with the sanitized host.
    """
    with tempfile.TemporaryDirectory() as folder:
        words = [settings["ASAN_OPTIONS"], *_OPTIONS, f"log_path={folder}/report"]
        given = {**os.environ, **settings, "ASAN_OPTIONS": ":".join(words)}
        given.pop("DRYSTONE_CPU_PLUGIN", None)
        command = [sys.executable, "-m", "pytest", *pytest, *FILES]
        status = subprocess.run(command, env=given, cwd=ROOT, check=False).returncode
        reports = [file.read_text("utf-8", "replace") for file in sorted(Path(folder).iterdir())]
    found = findings(reports)
    print(*found, sep="\n")
    print(f"zoo: {len(FILES)} files, {len(reports)} reports, {len(found)} of the host's own code")
    return ["tests of the zoo"] * bool(status) + ["reports of the host"] * bool(found)
