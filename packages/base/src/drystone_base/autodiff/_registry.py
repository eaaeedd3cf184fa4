"""The registry of gradient rules: who has one for an op, and what a rule may use."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from drystone_base.autodiff._broadcasts import summed_axes
from drystone_base.autodiff._slices import Grad
from drystone_base.core.arguments import checked
from drystone_base.core.dtypes import INT32, INT64, RESOURCE, VARIANT, DType
from drystone_base.core.errors import BadRequest
from drystone_base.core.families import Families
from drystone_base.core.installed import points
from drystone_base.graph.builder import Builder
from drystone_base.graph.graph import Graph
from drystone_base.graph.node import Node, Output
from drystone_base.inference.shapes._incremental import Shapes
from drystone_base.inference.shapes._registry import Shape

__all__ = [
    "CONSTANT",
    "GROUP",
    "RULES",
    "GradientBuilder",
    "Grads",
    "Rule",
    "broken_packages",
    "find_rule",
    "gradient",
    "needs",
    "reshaped",
    "rule",
    "summed_to",
    "takes_slices",
    "unbroadcast",
    "zeros",
]

Grads: TypeAlias = "Sequence[Grad | None]"
Rule: TypeAlias = Callable[[Builder, Node, list[Any]], Grads]
_Rule = TypeVar("_Rule", bound=Rule)

RULES: Final[Families[Rule]] = Families("drystone_base.autodiff", "a gradient rule")
GROUP: Final = "drystone.gradients"
"""Entry points of packages that bring rules: modules that register them when they are imported."""

CONSTANT: Final = frozenset(
    {
        "ZerosLike", "OnesLike", "Sign", "Floor", "Ceil", "Round", "Rint", "StopGradient", "OneHot",
        "FloorDiv", "TruncateDiv", "NextAfter", "LinSpace", "Range", "FakeParam", "EmptyTensorList",
        "TensorListReserve", "Bincount", "NonMaxSuppression", "HistogramFixedWidth", "VarHandleOp",
        "RandomUniform", "RandomStandardNormal", "TruncatedNormal", "StatelessRandomUniformV2",
        "StatelessRandomNormalV2", "Bucketize", "ArgMax", "ArgMin", "NoOp", "Const", "Placeholder",
    }
)  # fmt: skip
"""Ops whose outputs do not change smoothly with their inputs: no gradient passes."""


@checked
def gradient(*ops: str) -> Callable[[_Rule], _Rule]:
    """Register the decorated function as the gradient rule of ``ops``.

    The rule is given a :class:`~drystone_base.Builder` of the graph, the node, and the gradient of
    each output of it; it adds nodes and returns the gradient of each input, None for one that has
    none. ::

        @ds.gradient("MySquare")
        def my_square(b, node, grads):
            return [b("Mul", grads[0], b("Mul", b.like(2, node.inputs[0]), node.inputs[0]))]

    Gradients of float outputs that no result depends on are zeros; those of variants are None. The
    name of an op may be what nodes state in ``_gradient_op_type``, as TensorFlow has it. Packages
    name modules of rules by entry points of the group ``drystone.gradients``.

    Raises ``BadRequest`` (``already-registered``) for an op that has a rule.
    """

    def register(function: _Rule) -> _Rule:
        for op in ops:
            if op in RULES.index or op in RULES.modules:
                raise BadRequest(
                    f"op {op!r} has a gradient rule already",
                    check="an op must have one gradient rule",
                    found=f"the rule of {RULES.modules.get(op) or RULES.index[op]}",
                    needed="an op without one",
                    remedy=f"give the node the attribute _gradient_op_type, and register that for "
                    f"it: @gradient('My{op}')",
                    code="already-registered",
                    status="ALREADY_EXISTS",
                )
        RULES.register(*ops)(function)
        return function

    return register


def rule(*ops: str, slices: bool = False) -> Callable[[_Rule], _Rule]:
    """Register a rule of drystone's own; ``slices``: it takes gradients that are IndexedSlices."""
    register = RULES.register(*ops)

    def decorate(function: _Rule) -> _Rule:
        if slices:
            _TAKE_SLICES.add(function)
        register(function)
        return function

    return decorate


_TAKE_SLICES: Final[set[Rule]] = set()
_LOADED: Final[dict[str, Exception | None]] = {}


def takes_slices(function: Rule) -> bool:
    """Whether a rule takes gradients that are IndexedSlices; all others get them dense."""
    return function in _TAKE_SLICES


def find_rule(op: str) -> Rule | None:
    """The rule of an op, or None; rules of installed packages included."""
    found = RULES.find(op)
    if found is None and _load_packages():
        found = RULES.find(op)
    return found


def _load_packages() -> bool:
    """Import what packages name; whether that was done just now."""
    news = False
    for point in points(GROUP):
        if point.value not in _LOADED:
            news, _LOADED[point.value] = True, None
            try:
                point.load()
            except Exception as error:
                _LOADED[point.value] = error
    return news


def broken_packages() -> Exception | None:
    """What kept a package's rules from being registered, if anything did."""
    for name, error in _LOADED.items():
        if error is not None:
            return BadRequest(
                f"the gradient rules of entry point {name!r} are not there",
                check="what an entry point names must be importable",
                found=f"{type(error).__name__}: {error}",
                needed="a module that registers rules with drystone.gradient",
                remedy="repair or uninstall the package",
                code="bad-gradient-package",
            )  # fmt: skip
    return None


def _reduced(b: Builder, grad: Output, x: Output, axes: Output) -> Output:
    """``grad``, summed over the axes along which ``x`` was broadcast."""
    return reshaped(b, b("Sum", grad, axes, keep_dims=False), x)


def reshaped(b: Builder, grad: Output, x: Output) -> Output:
    """``grad`` in the shape of ``x``, of which nothing is read where one size at most is open."""
    shape = _known(b, x)
    if shape is None or 0 in shape or sum(size < 0 for size in shape) > 1:
        return b("Reshape", grad, b.shape(x))
    sizes = [max(size, -1) for size in shape]
    wide = max(sizes, default=1) >= 2**31
    return b("Reshape", grad, b.const(sizes, INT64 if wide else INT32))


def unbroadcast(
    b: Builder, node: Node, dx: Output | None, dy: Output | None, matrix: int = 0
) -> Grads:
    """Gradients of a broadcasting op of two inputs, each in the shape of its input.

    The last ``matrix`` dimensions are not broadcast. Nothing is added to the graph for what shapes
    say before a run.
    """
    inputs = node.inputs[:2]
    shapes = [_outer(_known(b, v), matrix) for v in inputs]
    made: list[Node] = []

    def axes(k: int) -> Output:
        if not made:
            made.append(b.node("BroadcastGradientArgs", *(_sizes(b, v, matrix) for v in inputs)))
        return made[0], k

    return [
        None if d is None else _summed(b, d, inputs[k], shapes[k], shapes[1 - k], partial(axes, k))
        for k, d in enumerate((dx, dy))
    ]


def summed_to(b: Builder, grad: Output, x: Output, full: Output) -> Output:
    """``grad``, whose shape is that of ``full``, summed to that of ``x``, which was broadcast.

    Nothing is added to the graph for what shapes say before a run.
    """

    def axes() -> Output:
        return b.node("BroadcastGradientArgs", b.shape(x), b.shape(full)), 0

    return _summed(b, grad, x, _known(b, x), _known(b, full), axes)


def _summed(
    b: Builder, grad: Output, x: Output, own: Shape, full: Shape, axes: Callable[[], Output]
) -> Output:
    """``grad`` summed to ``x``; ``axes`` gives those that shapes leave open."""
    known = summed_axes(own, full)
    if known == []:
        return grad
    if known is None:
        return _reduced(b, grad, x, axes())
    if own is not None and full is not None and len(known) == len(full) - len(own):
        return b("Sum", grad, b.const(known, INT32), keep_dims=False)
    return _reduced(b, grad, x, b.const(known, INT32))


def _known(b: Builder, x: Output) -> Shape:
    return b.shapes.shape(x) if isinstance(b, GradientBuilder) else None


def _outer(shape: Shape, matrix: int) -> Shape:
    return None if shape is None or len(shape) < matrix else shape[: len(shape) - matrix]


def _sizes(b: Builder, x: Output, matrix: int) -> Output:
    """The shape of an output without its last dimensions."""
    shape = b.shape(x)
    if not matrix:
        return shape
    count = b("Sub", b("Shape", shape, out_type=INT32), b.const([matrix], INT32))
    return b("Slice", shape, b.const([0], INT32), count)


def zeros(b: Builder, output: Output, dtype: DType | None = None) -> Output:
    """Zeros in the shape of an output; of a list of tensors a list of zeros.

    ``dtype``: of the gradients of a variable, where the output is its handle.
    """
    held = b.dtype(output)
    if held is VARIANT:
        return b("ZerosLike", output)
    of_handle = held is RESOURCE
    shape = b("VariableShape", output, out_type=INT32) if of_handle else b.shape(output)
    return b("Fill", shape, b.const(0, dtype if dtype is not None and of_handle else held))


class GradientBuilder(Builder):
    """A builder that knows of which outputs gradients are needed: those in ``needed``.

    ``made`` are the nodes that it has added, ``shapes`` what is known of the graph's.
    """

    def __init__(self, graph: Graph, needed: Container[Output]) -> None:
        super().__init__(graph, "gradients")
        self.needed = needed
        self.shapes = Shapes(graph)
        self.made: list[Node] = []

    def node(self, *args: Any, **kwargs: Any) -> Node:
        """As a builder's."""
        found = super().node(*args, **kwargs)
        self.made.append(found)
        return found


def needs(b: Builder, output: Output) -> bool:
    """Whether the gradient of an output is asked for: rules may leave others out."""
    return not isinstance(b, GradientBuilder) or output in b.needed
