"""What people ask for gradients of: outputs, nodes, symbolic tensors and variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias, runtime_checkable

from drystone_base.autodiff._registry import GradientBuilder
from drystone_base.autodiff._slices import Grad, IndexedSlices
from drystone_base.autodiff.backward import gradients_of, passes
from drystone_base.core.arguments import checked
from drystone_base.core.errors import BadRequest, GraphError
from drystone_base.graph.node import Node, Output, output_name

__all__ = ["Asked", "Symbolic", "gradients"]


@runtime_checkable
class Symbolic(Protocol):
    """What stands for an output, and makes of another output what stands for that."""

    @property
    def output(self) -> Output:
        """The output."""

    def standing_for(self, grad: Grad) -> Any:
        """What stands for a gradient."""


Asked: TypeAlias = "Output | Node | Symbolic"


@checked
def gradients(
    ys: Asked | Sequence[Asked],
    xs: Asked | Sequence[Asked],
    grad_ys: Any = None,
    stop: Any = (),
) -> list[Any]:
    """Add the gradients of the sum of ``ys`` by each of ``xs`` to their graph, and return them.

    ``ys`` and ``xs`` are outputs ``(node, k)``, nodes (which stand for their output 0), or symbolic
    tensors and variables; what is returned is of the kind of its ``x``: outputs for outputs, else
    symbolic tensors, of the shape and dtype of ``x``. It is :class:`~drystone_base.IndexedSlices`
    where rows of ``x`` were gathered, and None where no ``y`` depends on ``x``. An ``x`` that is a
    variable's handle gets the gradient of the variable. ``grad_ys`` are gradients of ``ys``, None
    for ones; no gradient passes an output of ``stop``. Gradients have gradients.

    The gradient by a complex x + iy is that by x plus i times that by y. Complex ``ys`` need
    ``grad_ys``.

    Loops and branches that are functions keep what the way back needs: their nodes get further
    outputs, and functions are added. A session that is open does not see that.

    Raises ``GraphError``: ``no-gradient`` for an op without a rule on the way, named with the way;
    ``foreign-node``. ``BadRequest``: ``not-differentiable`` for a dtype that is no float,
    ``wrong-argument-count`` for a wrong number of ``grad_ys``. Source: TensorFlow's
    ``tf.gradients``.
    """
    results, sources = _listed(ys), _listed(xs)
    first = [_output(y) for y in results]
    second = [_output(x) for x in sources]
    stopped = [_output(one) for one in _listed(stop)]
    given = None if grad_ys is None else _listed(grad_ys)
    if not first or not second:
        return [None] * len(second)
    _check_graph([*first, *second, *stopped])
    _check_dtypes("ys", first, may_be_complex=grad_ys is not None)
    _check_dtypes("xs", second, may_be_complex=True)
    found = gradients_of(first, second, _grads(first, given), stopped)
    return [
        grad if grad is None or not isinstance(x, Symbolic) else x.standing_for(grad)
        for x, grad in zip(sources, found, strict=True)
    ]


def _listed(given: Any) -> list[Any]:
    """One or several, as a list."""
    if given is None:
        return []
    if isinstance(given, Node | Symbolic | str) or _is_output(given):
        return [given]
    try:
        return list(given) if isinstance(given, Iterable) else [given]
    except TypeError:  # an array without dimensions
        return [given]


def _is_output(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int)


def _output(given: Any) -> Output:
    if isinstance(given, Symbolic):
        return given.output
    if isinstance(given, Node):
        return given, 0
    if _is_output(given) and isinstance(given[0], Node):
        output: Output = given
        return output
    raise BadRequest(
        "gradients cannot be taken of this",
        check="ys and xs must be outputs, nodes, symbolic tensors or variables",
        found=f"{type(given).__name__}: {given!r:.80}",
        needed="what was computed inside a function that is traced, or (node, k)",
        remedy="compute it from symbolic tensors; graph.output('name:0') gives an output by name",
        code="bad-argument",
    )


def _check_graph(outputs: Sequence[Output]) -> None:
    graph = outputs[0][0].graph
    for node, _ in outputs:
        if node.graph is not graph:
            raise GraphError(
                f"node {node.name!r} is of another graph",
                check="ys, xs and stop must be of one graph",
                found=f"nodes of {graph!r} and {node.graph!r}",
                needed="nodes of one graph",
                remedy="copy one graph into the other first",
                code="foreign-node",
            )


def _check_dtypes(name: str, outputs: Sequence[Output], *, may_be_complex: bool) -> None:
    for output in outputs:
        dtype = GradientBuilder(output[0].graph, ()).dtype(output)
        if not passes(dtype) or (dtype.is_complex and not may_be_complex):
            raise BadRequest(
                f"there is no gradient of {output_name(output)!r}, which is {dtype}",
                check=f"{name} must be floats, or handles of variables that are",
                found=dtype,
                needed="float16, bfloat16, float32 or float64",
                remedy=f"cast it to a float before it is used, and give that as one of {name}",
                code="not-differentiable",
            )


def _grads(ys: Sequence[Output], given: Sequence[Any] | None) -> list[Grad | None]:
    if given is None:
        return [None] * len(ys)
    if len(given) != len(ys):
        raise BadRequest(
            "there is another number of grad_ys than of ys",
            check="grad_ys must have a gradient or None for each of ys",
            found=len(given),
            needed=len(ys),
            remedy="give None for those whose gradient is one",
            code="wrong-argument-count",
        )
    found = [
        None if g is None else g if isinstance(g, IndexedSlices) else _output(g) for g in given
    ]
    for y, grad in zip(ys, found, strict=True):
        if grad is not None and not isinstance(grad, IndexedSlices):
            _check_grad(y, grad)
    return found


def _check_grad(y: Output, grad: Output) -> None:
    _check_graph([y, grad])
    b = GradientBuilder(y[0].graph, ())
    if b.dtype(y) is not b.dtype(grad):
        _refuse_grad(y, b.dtype(grad), b.dtype(y))


def _refuse_grad(y: Output, found: object, needed: object) -> NoReturn:
    raise BadRequest(
        f"the gradient given for {output_name(y)!r} does not fit",
        check="a gradient must have the dtype of its result",
        found=found,
        needed=needed,
        remedy="cast it",
        code="not-differentiable",
    )
