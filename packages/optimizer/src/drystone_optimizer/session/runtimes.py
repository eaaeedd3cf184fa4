"""For whom a graph is written to a file, and whether they can run it.

What is for TensorFlow runs here, too: its layers are fused when a session loads it. What is for
drystone may hold nodes that only kernels of drystone know, or that TensorFlow makes itself as it
runs and has kernels for in some shapes only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.ops.defs import find
from drystone_optimizer.core.config import OptimizerConfig
from drystone_optimizer.pipeline.fusions import FUSIONS, without_fusions

__all__ = ["RUNTIMES", "check_portable", "for_runtime"]

RUNTIMES: Final = ("tensorflow", "drystone")
"""The first is the default: its files run in both."""
_INNER: Final = ("_", "Drystone>")
_SHOWN: Final = 5


def for_runtime(
    config: OptimizerConfig, runtime: str, stated: Collection[str] = ()
) -> OptimizerConfig:
    """The config for graphs that this runtime is to run; ``stated`` are passes that the user named.

    Raises ``BadRequest`` (``not-for-tensorflow``) where these make nodes that it has not.
    """
    if runtime == "drystone":
        return config
    wrong = [name for name in stated if name in FUSIONS]
    if wrong:
        raise BadRequest(
            f"{', '.join(wrong)} makes nodes that TensorFlow has not, or only makes itself",
            check="a file for TensorFlow must hold ops that any graph may hold",
            found=f"--for tensorflow, with {', '.join(stated)}",
            needed="--for drystone, or other passes",
            remedy="add --for drystone: the file is then for drystone alone",
            code="not-for-tensorflow",
        )
    # TensorFlow changes formats itself, for the device that it finds.
    return replace(without_fusions(config), cpu_layout_conversion="no_conversion_on_cpu")


def check_portable(before: Graph, after: Graph) -> None:
    """Raise ``BadRequest`` (``not-for-tensorflow``) for a node that was not there before.

    Of an op that TensorFlow has not, or keeps to itself, or with an attribute that its definition
    lacks. What the model held from the first is its own affair: it may need a library of ops.
    """
    known = set(_foreign(before))
    found = [what for what in dict.fromkeys(_foreign(after)) if what not in known]
    if found:
        more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise BadRequest(
            "the optimized graph would not run in TensorFlow",
            check="its nodes must be of ops of TensorFlow, with attributes that these have",
            found=", ".join(found[:_SHOWN]) + more,
            needed="nodes that any TensorFlow graph may hold",
            remedy="add --for drystone, or leave out the pass that made them (see --report)",
            code="not-for-tensorflow",
        )


def _foreign(graph: Graph) -> Iterator[str]:
    """What TensorFlow may stumble over, in words."""
    library = graph.functions
    for node in graph:
        yield from _of_node(node.op, node.attrs, node.op in library)
    for function in library:
        for proto in function.proto.node_def:
            attrs = {name: value for name, value in proto.attr.items() if name[:1] != "_"}
            yield from _of_node(proto.op, attrs, proto.op in library)


def _of_node(op: str, attrs: Any, is_call: bool) -> Iterator[str]:
    if is_call or op in ("_Arg", "_Retval"):
        return
    definition = find(op)
    if definition is None or op.startswith(_INNER):
        yield f"op {op}"
        return
    for name in attrs:
        if name[:1] != "_" and name not in definition.attrs:
            yield f"attribute {name} of {op}"
