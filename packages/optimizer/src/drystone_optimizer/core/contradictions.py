"""What was known of a graph's results before an optimizer ran, held against what it gave back.

Inference may know more or less of the new graph than of the one before; it may not know otherwise.
The body of a function says little of its own: it is held with what its callers give it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.graph import Body, Graph, Node, Output, placeholder_shape
from drystone_base.graph.validate import Signatures, output_dtypes
from drystone_base.ops.defs import origin

if TYPE_CHECKING:
    from drystone_base.inference.calls import Calls, Given
    from drystone_base.inference.inference import Known, Shapes
    from drystone_base.ops.attrs import Shape

__all__ = ["calls_of", "fed_shapes", "hold"]

_RESULT: Final = "_Retval"
_ENDS: Final = frozenset({"_Arg", _RESULT})


class _Side:
    """A graph and what is known of it; ``where``: the function whose body it is."""

    def __init__(
        self, graph: Graph, feeds: Sequence[str], given: Sequence[Given] | None, where: str
    ) -> None:
        from drystone_base.inference.calls import Calls
        from drystone_base.inference.inference import Shapes

        fed = fed_shapes(graph, feeds) if given is None else {}
        arguments = {graph[name]: one for name, one in zip(feeds, given or (), strict=False)}
        self.graph, self.where, self.calls = graph, where, Calls()
        self.shapes: Shapes = Shapes(
            graph, fed, Signatures(), arguments=arguments, calls=self.calls
        )

    def known(self, output: Output) -> Known | None:
        """What is known of the output's node; None where that cannot be inferred."""
        try:
            return self.shapes.known(output[0])
        except DrystoneError:
            return None


def hold(
    before: Graph,
    after: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str],
    kept: Iterable[str],
    given: Sequence[Given] | None = None,
    where: str = "",
) -> None:
    """Raise ``PluginError`` (``optimizer-changed-shape``) where results contradict what was known.

    Looked at are shapes and dtypes of fetches and of all outputs of the nodes ``kept``, those of
    the functions that both graphs call, loops and branches, and whether nodes can still take what
    they are given. Where inference fails for the graph as it was, nothing is known. ``given``: what
    is known of the arguments, where the graph is the body of the function ``where``.
    """
    was, now = (_Side(graph, feeds, given, where) for graph in (before, after))
    pairs = [(o, (after[o[0].name], o[1])) for o in _results(before, fetches, kept)
             if o[0].name in after]  # fmt: skip
    _hold_pairs(was, now, pairs)
    _hold_functions(was, now)
    _hold_turns(was, now)


def calls_of(graph: Graph, feeds: Sequence[str]) -> Calls:
    """What each function that a graph calls is given, as far as that is known."""
    side = _Side(graph, feeds, None, "")
    for node in graph:
        side.known((node, 0))
    return side.calls


def fed_shapes(graph: Graph, feeds: Sequence[str]) -> dict[Output, Shape]:
    """The shapes that tensors have which are fed: those that placeholders state."""
    fed: dict[Output, Shape] = {}
    for name in feeds:
        node, k = graph.output(name)
        fed[node, k] = placeholder_shape(node) if node.op.startswith("Placeholder") else None
    return fed


def _results(graph: Graph, fetches: Sequence[str], kept: Iterable[str]) -> Iterator[Output]:
    """The fetched outputs, and those of the nodes that must stay; a result of a body is one."""
    found: dict[Output, None] = {}
    for name in fetches:
        found[graph.output(name)] = None
    for name in sorted(kept):
        node = graph.get(name)
        if node is not None:
            found.update(((node, k), None) for k in range(len(output_dtypes(node) or ())))
    for node, k in found:
        if node.op == _RESULT or k < len(output_dtypes(node) or ()):
            yield node, k


def _hold_pairs(was: _Side, now: _Side, pairs: Sequence[tuple[Output, Output]]) -> None:
    for before, after in pairs:
        _hold_end(was, before[0], after[0])
        source, twin = _source(before), _source(after)
        _hold_dtype(was, before, source, twin)
        known, found = was.known(source), now.shapes.known(twin[0])
        if known is not None:
            _hold_known(was, before, _of(known, source[1]), _of(found, twin[1]))
    _hold_fits(was, now)


def _source(output: Output) -> Output:
    """The output itself, or what a result of a body hands out."""
    node, k = output
    return node.inputs[0] if node.op == _RESULT and node.inputs else (node, k)


def _of(known: Known, k: int) -> tuple[Shape, Shape]:
    """What is known of an output: its shape, and that of what it is a handle of."""
    shape = known.shapes[k] if k < len(known.shapes) else None
    handle = known.handles[k] if k < len(known.handles) else None
    return shape, handle[1] if handle else None


def _hold_end(was: _Side, node: Node, twin: Node) -> None:
    if node.op in _ENDS and twin.op != node.op:
        _refuse(was, f"{node.name!r} has op {twin.op}", f"op {node.op}")


def _hold_dtype(was: _Side, output: Output, source: Output, twin: Output) -> None:
    known, found = output_dtypes(source[0]), output_dtypes(twin[0])
    if known is None or found is None or source[1] >= len(known):
        return
    told, wanted = _named(output), known[source[1]]
    if twin[1] >= len(found):
        _refuse(was, f"{told} has no output {twin[1]} of {len(found)}", f"dtype {wanted}")
    if found[twin[1]].base is not wanted.base:
        _refuse(was, f"{told} has dtype {found[twin[1]]}", f"dtype {wanted}")


def _hold_known(
    was: _Side, output: Output, known: tuple[Shape, Shape], found: tuple[Shape, Shape]
) -> None:
    from drystone_base.inference.inference import contradict

    for what, a, b in zip(("", "a handle of "), known, found, strict=True):
        if contradict(a, b):
            _refuse(was, f"{_named(output)} has {what}shape {_told(b)}", f"{what}shape {_told(a)}")


def _hold_fits(was: _Side, now: _Side) -> None:
    """Nodes that cannot take what they are given any more, where all could; of our ops."""
    if was.shapes.contradictions:
        return
    for node, error in now.shapes.contradictions.items():
        if not origin(node.op):
            _refuse(was, f"{error.what}: {error.found}", str(error.needed))


def _hold_turns(was: _Side, now: _Side) -> None:
    """Loops and branches that do not always give the same shape, where it was known before."""
    for name, (shape, other) in now.calls.varying.items():
        node = was.graph.get(name)
        known = None if node is None else was.known((node, 0))
        if known is not None and all(map(_is_whole, known.shapes)):
            _refuse(
                was,
                f"{name!r} gives {_told(shape)} or {_told(other)}",
                f"shapes {', '.join(map(_told, known.shapes))}, whatever it runs",
            )


def _hold_functions(was: _Side, now: _Side) -> None:
    """Functions that both graphs call and that are others now, with what they were given."""
    for call in was.calls:
        name, attrs = call.function.name, call.function.attrs
        former, found = was.graph.functions.get(name), now.graph.functions.get(name)
        if former is None or found is None or former.proto == found.proto:
            continue
        if not _still_given(call.given, now.calls.given(call.function)):
            continue  # its callers are others, too, and are held themselves
        try:
            before = former.body(was.graph.functions, attrs)
        except DrystoneError:
            continue
        after = found.body(now.graph.functions, attrs)
        if len(before.results) == len(after.results) and len(before.args) == len(after.args):
            _hold_bodies(before, after, call.given, name)


def _hold_bodies(before: Body, after: Body, given: Sequence[Given], where: str) -> None:
    was, now = (
        _Side(body.graph, [arg.name for arg in body.args], given, where) for body in (before, after)
    )
    ends = zip(before.results, after.results, strict=True)
    _hold_pairs(was, now, [((a, 0), (b, 0)) for a, b in ends])
    _hold_turns(was, now)


def _still_given(known: Sequence[Given], found: Sequence[Given] | None) -> bool:
    from drystone_base.inference.inference import contradict

    pairs = zip(known, found or (), strict=False)
    return not any(contradict(a[0], b[0]) for a, b in pairs)


def _is_whole(shape: Shape) -> bool:
    return shape is not None and all(size >= 0 for size in shape)


def _named(output: Output) -> str:
    node, k = output
    return repr(node.name if node.op == _RESULT else f"{node.name}:{k}")


def _told(shape: Shape) -> str:
    if shape is None:
        return "?"
    return f"[{', '.join(str(size) if size >= 0 else '?' for size in shape)}]"


def _refuse(was: _Side, found: str, needed: str) -> NoReturn:
    inside = f" in function {was.where!r}" if was.where else ""
    raise PluginError(
        "the graph that an optimizer gave back was refused",
        check="a fetch, a preserved node, a result of a function has no other shape or dtype than "
        "was known before, and each node can take what it is given",
        found=f"{found} now{inside}",
        needed=needed,
        remedy="report it to the plugin's author; use_plugin_optimizers=False leaves plugins out",
        code="optimizer-changed-shape",
    )
