"""The runtimes that are compared, and where each is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

__all__ = ["BEFORE", "HOME", "OURS", "RUNTIMES", "TOP", "Peer", "Runtime", "find"]

TOP = Path(__file__).resolve().parents[1]
HOME = TOP / ".drystone-env" / "peers"
"""Environments of the peers, one each: ``python -m bench.environments`` makes them."""
OURS = "drystone"


@dataclass(frozen=True)
class Runtime:
    """A runtime: its distributions, first the one that is named in tables, and how it starts.

    ``worker``: the module that runs its cases, where that has not the runtime's name.
    """

    name: str
    distributions: tuple[str, ...]
    imports: str
    settings: Mapping[str, str] = field(default_factory=dict)
    worker: str = ""


QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
RUNTIMES = (
    Runtime(OURS, ("drystone", "drystone-cpu"), "import drystone; drystone.Session"),
    Runtime("tensorflow", ("tensorflow-cpu", "tensorflow"), "import tensorflow", QUIET),
    Runtime("onnxruntime", ("onnxruntime",), "import onnxruntime"),
    Runtime("openvino", ("openvino",), "import openvino"),
    Runtime("torch", ("torch",), "import torch"),
    Runtime("jax", ("jax",), "import jax", {"JAX_PLATFORMS": "cpu"}),
)
"""drystone and its peers, in the order of the columns."""
BEFORE = replace(RUNTIMES[0], name="before", worker=f"run_{OURS}")
"""Another drystone, which a change is compared with."""


@dataclass(frozen=True)
class Peer:
    """A runtime here: the interpreter that has it, versions and size; or why there is none."""

    runtime: Runtime
    python: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    size: int | None = None
    files: int | None = None
    absent: str = ""

    @property
    def name(self) -> str:
        """The runtime's name."""
        return self.runtime.name

    def environment(self, threads: int, plans: str = "off") -> dict[str, str]:
        """Variables of its processes: threads, silence, plans, and this package on the path.

        Python keeps what it has compiled, as it does for users: where this was told not to, each
        process would compile all sources that are not compiled yet.
        """
        number = {"OMP", "MKL", "OPENBLAS", "DRYSTONE"}
        own = {name: said for name, said in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        path = os.pathsep.join(filter(None, [str(TOP), self._path()]))
        return {
            **own, **self.runtime.settings, "PYTHONPATH": path,
            **{f"{name}_NUM_THREADS": str(threads) for name in number},
            "DRYSTONE_PLAN_CACHE": plans,
        }  # fmt: skip

    def _path(self) -> str:
        """What the caller's environment adds, which is about this interpreter's packages."""
        return os.environ.get("PYTHONPATH", "") if self.python == sys.executable else ""

    def data(self) -> dict[str, Any]:
        """For the result: versions and size, or why it is absent."""
        if self.absent:
            return {"absent": self.absent}
        return {"versions": dict(self.versions), "bytes": self.size, "files": self.files}


def find(runtime: Runtime, python: str | None = None) -> Peer:
    """The runtime in the given interpreter, else in its environment (drystone: in this one)."""
    home = HOME / runtime.name
    if python is None:
        python = sys.executable if runtime.name == OURS else str(home / "bin" / "python")
        reason = home / "absent.txt"
        if reason.exists():
            return Peer(runtime, absent=reason.read_text(encoding="utf-8").strip())
    if not Path(python).exists():
        remedy = "python -m bench.environments installs it"
        return Peer(runtime, absent=f"not installed; {remedy}")
    peer = Peer(runtime, python)
    done = subprocess.run(
        [python, "-m", "bench.size", *runtime.distributions],
        env=peer.environment(1), cwd=TOP.parent, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode and runtime.name == OURS:
        return Peer(runtime, python, {OURS: "from source"})
    if done.returncode:
        return Peer(runtime, absent=(done.stderr.strip().splitlines() or ["no answer"])[-1][:200])
    found = json.loads(done.stdout)
    return Peer(runtime, python, found["versions"], found["bytes"], found["files"])
