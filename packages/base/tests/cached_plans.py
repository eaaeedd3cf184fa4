"""A model, a folder for its plans, and processes that run the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from fresh_process import run_program

from drystone_base.core.dtypes import FLOAT32, from_numpy
from drystone_base.graph import Graph
from drystone_base.loaders.graphdef import write_graph
from drystone_base.ops.attrs import TensorAttr

__all__ = ["LARGE", "PROGRAM", "SMALL", "Cached", "model_of"]

SMALL = np.arange(6, dtype=np.int32).reshape(2, 3)
LARGE = np.random.default_rng(7).normal(size=(150, 140)).astype(np.float32)  # stays in its file

PROGRAM = """
import json, sys
import numpy as np
import drystone_base as ds
{before}
config = ds.SessionConfig(optimizer="off", {settings})
model = ds.load({file!r}, config=config)
{after}
x = np.float32([[1, -0.0, np.nan]])
found = model.run({fetches!r}, {{"x:0": {feed}}})
print(json.dumps([[v.tobytes().hex(), list(v.shape), str(v.dtype)] for v in found]))
print(list(model.signatures["default"].signature.outputs))
print("drystone_base.graph" in sys.modules)
"""


def model_of(file: Path, small: Any = SMALL) -> Path:
    """A file whose y is x, and whose s and l are constants: the host runs it without kernels."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (1, 3)})
    graph.add("Identity", "y", [x], attrs={"T": FLOAT32})
    for name, value in (("s", small), ("l", LARGE)):
        dtype = from_numpy(value.dtype)
        attrs = {"dtype": dtype, "value": TensorAttr(array=value)}
        held = graph.add("Const", f"{name}/value", attrs=attrs)
        graph.add("Identity", name, [held], attrs={"T": dtype})
    write_graph(graph, file)
    return file


class Cached:
    """A model, a folder for plans, and processes that run the model."""

    def __init__(self, folder: Path) -> None:
        self.plans, self.file = folder / "plans", model_of(folder / "model.pb")

    def run(
        self,
        fetches: Any = ("y:0", "s:0", "l:0"),
        *,
        settings: str = "",
        before: str = "",
        after: str = "",
        feed: str = "x",
        **environment: str,
    ) -> bool:
        """Whether a process took a cached plan; what it computes is as it should be."""
        code = PROGRAM.format(
            file=str(self.file), fetches=list(fetches), settings=settings, before=before,
            after=after, feed=feed,
        )  # fmt: skip
        chosen = {"DRYSTONE_PLAN_CACHE": str(self.plans)} | environment
        values, outputs, read = run_program(code, None, **chosen).splitlines()
        x = np.array([[1, -0.0, np.nan]], np.float32)
        right = {"y:0": x, "s:0": self.small, "l:0": LARGE}
        wanted = [right[name] for name in fetches]
        assert json.loads(values) == [
            [v.tobytes().hex(), list(v.shape), str(v.dtype)] for v in wanted
        ]
        assert outputs == "['y']"
        return read == "False"

    small: Any = SMALL

    def files(self) -> list[Path]:
        """The files of its plans, sorted."""
        return sorted(self.plans.glob("*.plan")) if self.plans.is_dir() else []
