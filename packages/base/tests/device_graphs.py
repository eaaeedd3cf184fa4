"""Graphs for devices, in few words, and the strict device that they run on."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
from compiling import compile_library
from drystone_conformance.strict_device import StrictDevice, sources

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph, Node
from drystone_base.ops.attrs import TensorAttr

__all__ = ["OFF", "ON", "Array", "Build", "both", "loaded", "settled", "x_of"]

ON: dict[str, Any] = {"optimizer": "off"}
OFF: dict[str, Any] = ON | {"device_count": {"STRICT": 0}}
Array = np.ndarray[Any, Any]


def loaded() -> StrictDevice:
    """The strict device, compiled and in this process."""
    flags = ["-pthread", "-O2", "-g", "-lm"]
    return StrictDevice.load(compile_library(*sources(), flags=flags))


def settled(device: StrictDevice) -> tuple[int, list[str]]:
    """How many blocks of memory are left, and all faults, when no session is there any more."""
    gc.collect()
    return device.check_leaks(), device.take_faults()


class Build:
    """A graph in few words."""

    def __init__(self) -> None:
        self.graph = Graph()

    def feed(self, name: str, dtype: Any = FLOAT32) -> Node:
        """A Placeholder of any shape."""
        return self.graph.add("Placeholder", name, attrs={"dtype": dtype, "shape": None})

    def const(self, name: str, value: Any, dtype: Any = FLOAT32) -> Node:
        """A Const."""
        attr = TensorAttr(array=np.asarray(value, dtype.np))
        return self.graph.add("Const", name, attrs={"dtype": dtype, "value": attr})

    def op(self, op: str, name: str, *inputs: Any, device: str = "", **attrs: Any) -> Node:
        """A node whose attribute ``T`` is float unless stated."""
        return self.graph.add(op, name, list(inputs), attrs={"T": FLOAT32} | attrs, device=device)


def both(graph: Graph, fetches: Any, feeds: dict[str, Any], **config: Any) -> tuple[Any, Any]:
    """What a run with devices gives, and one without."""
    there = Session(graph, SessionConfig(**(ON | config))).run(fetches, feeds)
    return there, Session(graph, SessionConfig(**OFF)).run(fetches, feeds)


def x_of(rows: int = 5) -> Array:
    """Random numbers, ``[rows, 3]``."""
    return np.random.default_rng(rows).standard_normal((rows, 3)).astype(np.float32)
