"""The conformance suite on stores in Python, through the same C tables as a plugin's.

Row E17. S2-filesystems, S2-alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from servers import Served

LACKS = Path(__file__).parent / "lacks"


def test_a_store_conforms(served: Served, tmp_path: Path) -> None:
    """Everything that a store does not say it lacks."""
    report = tmp_path / "report.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    command += ["--filesystem", f"{served.root}/conformance", "--plugin-report", str(report)]
    command += ["--plugin-lacks", str(LACKS / f"{served.kind}.toml")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["conforms"]
    assert found["counts"]["passed"] > (40 if served.writable else 5)
