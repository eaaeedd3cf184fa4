"""Make an environment for each peer: ``python -m bench.environments [PEER ...]``.

What each needs is ``ci/config/requirements/peer_NAME.txt``, installed by pip, so that indexes and
wheels of the user's configuration count. An environment that is complete is kept until that file
changes. A peer that cannot be installed leaves the reason in ``absent.txt``, and the exit status
stays 0: the others are compared without it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

from bench.peers import HOME, OURS, RUNTIMES, TOP

__all__ = ["install", "main"]

REQUIREMENTS = TOP / "ci" / "config" / "requirements"


def main(names: list[str]) -> int:
    """Install the named peers, else all."""
    for runtime in RUNTIMES:
        if runtime.name != OURS and (not names or runtime.name in names):
            reason = install(runtime.name, HOME, REQUIREMENTS / f"peer_{runtime.name}.txt")
            print(f"{runtime.name}: {reason or 'installed'}", flush=True)
    return 0


def install(name: str, home: Path, requirements: Path) -> str:
    """Make one environment under ``home`` unless it is there; why it cannot be, else nothing."""
    folder, wanted = home / name, requirements.read_text(encoding="utf-8")
    done, absent = folder / "installed.txt", folder / "absent.txt"
    if done.exists() and done.read_text(encoding="utf-8") == wanted:
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    command = [
        str(folder / "bin" / "python"),
        "-m",
        "pip",
        "install",
        "-q",
        "-r",
        str(requirements),
    ]
    tried = subprocess.run(command, capture_output=True, text=True, check=False)
    if tried.returncode == 0:
        done.write_text(wanted, encoding="utf-8")
        return ""
    errors = [line for line in tried.stderr.splitlines() if line.startswith("ERROR:")]
    reason = f"cannot be installed: {(errors or ['pip failed'])[0].removeprefix('ERROR:').strip()}"
    absent.write_text(reason + "\n", encoding="utf-8")
    return reason


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
