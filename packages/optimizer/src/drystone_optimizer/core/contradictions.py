"""What was known of a graph's results before an optimizer ran, held against what it gave back.

Inference may know more or less of the new graph than of the one before; it may not know otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.graph import Graph, Node, Output, placeholder_shape
from drystone_base.graph.validate import Signatures, output_dtypes

if TYPE_CHECKING:
    from drystone_base.ops.attrs import Shape

__all__ = ["fed_shapes", "hold"]


def hold(
    before: Graph, after: Graph, fetches: Sequence[str], feeds: Sequence[str], kept: Iterable[str]
) -> None:
    """Raise ``PluginError`` (``optimizer-changed-shape``) where results contradict what was known.

    Looked at are shapes and dtypes of fetches and of all outputs of the nodes ``kept``. Where
    inference fails for the graph as it was, nothing is known.
    """
    from drystone_base.inference.inference import Shapes

    was = Shapes(before, fed_shapes(before, feeds), Signatures())
    now = Shapes(after, fed_shapes(after, feeds), Signatures())
    for node, k in _results(before, fetches, kept):
        twin = after.get(node.name)
        if twin is None:
            continue
        _hold_dtype(node, twin, k)
        try:
            known = was.shape((node, k))
        except DrystoneError:
            continue
        found = now.shape((twin, k))
        if _contradict(known, found):
            _refuse(node, k, f"shape {_told(found)}", f"shape {_told(known)}")


def fed_shapes(graph: Graph, feeds: Sequence[str]) -> dict[Output, Shape]:
    """The shapes that tensors have which are fed: those that placeholders state."""
    fed: dict[Output, Shape] = {}
    for name in feeds:
        node, k = graph.output(name)
        fed[node, k] = placeholder_shape(node) if node.op.startswith("Placeholder") else None
    return fed


def _results(graph: Graph, fetches: Sequence[str], kept: Iterable[str]) -> Iterator[Output]:
    """The fetched outputs, and those of the nodes that must stay."""
    found: dict[Output, None] = {}
    for name in fetches:
        found[graph.output(name)] = None
    for name in sorted(kept):
        node = graph.get(name)
        if node is not None:
            found.update(((node, k), None) for k in range(len(output_dtypes(node) or ())))
    for node, k in found:
        if k < len(output_dtypes(node) or ()):
            yield node, k


def _hold_dtype(node: Node, twin: Node, k: int) -> None:
    was, now = output_dtypes(node), output_dtypes(twin)
    if was is None or now is None:
        return
    if k >= len(now):
        _refuse(node, k, f"no output {k} of {len(now)}", f"dtype {was[k]}")
    if now[k].base is not was[k].base:
        _refuse(node, k, f"dtype {now[k]}", f"dtype {was[k]}")


def _contradict(known: Shape, found: Shape) -> bool:
    if known is None or found is None:
        return False
    if len(known) != len(found):
        return True
    return any(a != b and a >= 0 and b >= 0 for a, b in zip(known, found, strict=True))


def _told(shape: Shape) -> str:
    if shape is None:
        return "?"
    return f"[{', '.join(str(size) if size >= 0 else '?' for size in shape)}]"


def _refuse(node: Node, k: int, found: str, needed: str) -> None:
    raise PluginError(
        "the graph that an optimizer gave back was refused",
        check="a fetch or preserved node has no other shape or dtype than was known before",
        found=f"{f'{node.name}:{k}'!r} has {found} now",
        needed=needed,
        remedy="report it to the plugin's author; use_plugin_optimizers=False leaves plugins out",
        code="optimizer-changed-shape",
    )
