"""A device plugin made for TensorFlow: `python -m ci.scripts.tf_plugins.directml FOLDER`.

FOLDER is the unpacked wheel of tensorflow-directml-plugin, a PluggableDevice with kernels for
graphics cards under Windows, of which the wheel for Linux serves WSL. Its library is loaded
unchanged and must register its platform and its kernels. Where DirectX is not there it has no
device, which is no error: sessions run on the CPU. Prints one line per check; exit status 1 when
one does not hold.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np

from drystone_base import Graph, Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.host.device import list_platforms
from drystone_base.host.kernels import list_kernels
from drystone_base.plugins import load_library

__all__ = ["LIBRARY", "main"]

LIBRARY: Final = "tensorflow-plugins/libtfdml_plugin.so"
_LEAST: Final = 1000
"""Kernels that it registers at least."""


def _runs(device: str) -> bool:
    """Whether a graph gives the right answer, wherever its nodes are."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": None})
    graph.add("Relu", "y", [x], attrs={"T": FLOAT32}, device=device)
    x_of, want = np.array([-1, 2], np.float32), np.array([0, 2], np.float32)
    found = Session(graph, SessionConfig(optimizer="off")).run("y:0", {"x:0": x_of})
    return bool(np.array_equal(found, want))


def main(arguments: list[str] | None = None) -> int:
    """Load it, look at what it registers, and run a graph."""
    (folder,) = sys.argv[1:] if arguments is None else arguments
    plugin = load_library(Path(folder) / LIBRARY, policy="allow_unverified")
    rows: list[dict[str, Any]] = [p for p in list_platforms() if p["platform"] == "DML"]
    count = int(rows[0].get("device_count", 0)) if rows else 0
    kernels = Counter(row["device"] for row in list_kernels())
    checks = {
        f"it is loaded: {plugin.state}": plugin.state == "loaded",
        f"its platform has devices of type GPU: {count}": [r["type"] for r in rows] == ["GPU"],
        f"it has kernels for them: {kernels['GPU']}": kernels["GPU"] >= _LEAST,
        "a graph runs": _runs(""),
        "a node that asks for its device runs, by soft placement": _runs("/device:GPU:0"),
    }
    for text, holds in checks.items():
        print(f"{'ok   ' if holds else 'WRONG'} {text}")
    return int(not all(checks.values()))


if __name__ == "__main__":
    sys.exit(main())
