"""What every process imports of an installed package: next to nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parents[2] / "src"
CODE = """
import sys
from drystone_tvm.installed import MODULE
assert sorted(MODULE.commands) == ["tvm"]
loaded = [name for name in sys.modules if name.startswith("drystone_tvm")]
assert sorted(loaded) == ["drystone_tvm", "drystone_tvm.installed"], loaded
assert "numpy" not in sys.modules
import drystone_tvm
for name in drystone_tvm.__all__:
    assert getattr(drystone_tvm, name) is not None
assert drystone_tvm.compile.__name__ == "compile_region"
"""


def test_the_entry_point_brings_nothing_along() -> None:
    paths = os.pathsep.join(filter(None, (str(SOURCES), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=os.environ | {"PYTHONPATH": paths}, capture_output=True,
        text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
