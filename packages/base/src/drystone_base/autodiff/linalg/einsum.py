"""Sums of products by labels. Source: TensorFlow ``linalg_grad.py``."""

from __future__ import annotations

from typing import Any

from drystone_base.autodiff._registry import Grads, rule
from drystone_base.core.dtypes import INT32
from drystone_base.graph.builder import Builder
from drystone_base.graph.node import Node, Output

__all__: list[str] = []


@rule("Einsum", "XlaEinsum")
def _einsum(b: Builder, node: Node, grads: list[Any]) -> Grads:
    given, _, result = node.attr("equation").replace(" ", "").partition("->")
    labels = given.split(",")
    return [_by(b, k, labels, result, list(node.inputs), grads[0]) for k in range(len(node.inputs))]


def _by(
    b: Builder, k: int, labels: list[str], result: str, inputs: list[Output], grad: Output
) -> Output:
    """The gradient by one input: the others times the gradient, by the labels of that input.

    A label that is in this input alone was summed there: the gradient is the same all along it. A
    label that comes twice in it is a diagonal. What "..." broadcast is summed again.
    """
    x, own = inputs[k], labels[k]
    others = [(text, v) for n, (text, v) in enumerate(zip(labels, inputs, strict=True)) if n != k]
    held = set(result) | {label for text, _ in others for label in text}
    kept = "".join(
        label for n, label in enumerate(own)
        if label == "." or (label in held and label not in own[:n])
    )  # fmt: skip
    wide = kept if "..." in own else ("..." if "..." in result else "") + kept
    equation = f"{','.join([result, *(text for text, _ in others)])}->{wide}"
    found = b("Einsum", [grad, *(v for _, v in others)], equation=equation)
    if "..." in result:
        found = _narrowed(b, found, x, kept, own)
    if kept == own:
        return found
    return _spread(b, found, x, kept, own)


def _narrowed(b: Builder, found: Output, x: Output, kept: str, own: str) -> Output:
    """Sums over leading dimensions that "..." has here and the input has not, or has as 1."""
    if "..." not in own:  # what stands for it is summed whole
        count = b("Sub", b("Rank", found), b.const(len(kept), INT32))
        axes = b("Range", b.const(0, INT32), count, b.const(1, INT32))
        return b("Sum", found, axes, keep_dims=False)
    (head, _, tail), (own_head, _, own_tail) = kept.partition("..."), own.partition("...")
    sizes = [
        _broadcast_part(b, x, len(own_head), len(own_tail)),
        _broadcast_part(b, found, len(head), len(tail)),
    ]
    axes = b("BroadcastGradientArgs", *sizes)
    summed = b("Sum", found, b("Add", axes, b.const(len(head), INT32)), keep_dims=False)
    before = b("Slice", b.shape(found), b.const([0], INT32), b.const([len(head)], INT32))
    start = b("Sub", b("Rank", found), b.const(len(tail), INT32))
    behind = b("Slice", b.shape(found), b("ExpandDims", start, b.const(0, INT32)),
               b.const([len(tail)], INT32))  # fmt: skip
    return b("Reshape", summed, b("ConcatV2", [before, sizes[0], behind], b.const(0, INT32)))


def _broadcast_part(b: Builder, x: Output, before: int, behind: int) -> Output:
    """The sizes that "..." stands for."""
    size = b("Sub", b("Rank", x), b.const(before + behind, INT32))
    start = b.const([before], INT32)
    return b("Slice", b.shape(x), start, b("ExpandDims", size, b.const(0, INT32)))


def _spread(b: Builder, found: Output, x: Output, kept: str, own: str) -> Output:
    """The gradient along labels that were summed, and on diagonals of those that come twice."""
    head, _, tail = own.partition("...")
    wide = "..." in own
    front = _first_of(head)
    back = [n - len(tail) for n, label in _first_of(tail) if label not in head]
    names = [label for _, label in front]
    for n, label in enumerate(names):
        if label not in kept:
            found = b("ExpandDims", found, b.const(n, INT32))
    behind = [label for _, label in _first_of(tail) if label not in head]
    for n, label in enumerate(behind):
        if label not in kept:
            place = n - len(behind)
            later = sum(label not in kept for label in behind[n + 1 :])
            found = b("ExpandDims", found, b.const(place + later, INT32))
    zero, one, rank = b.const(0, INT32), b.const(1, INT32), b("Rank", x)
    places = [b.const([n for n, _ in front], INT32)]
    if wide:
        end = b("Sub", rank, b.const(len(tail), INT32))
        places += [b("Range", b.const(len(head), INT32), end, one),
                   b("Add", b.const(back, INT32), rank)]  # fmt: skip
        places = [b("ConcatV2", places, zero)]
    spread = b("BroadcastTo", found, b("GatherV2", b.shape(x), places[0], zero))
    unique = "".join(names) + ("..." if wide else "") + "".join(behind)
    return spread if unique == own else b("Einsum", [spread], equation=f"{unique}->{own}")


def _first_of(labels: str) -> list[tuple[int, str]]:
    """Each label with the place where it comes first."""
    return [(n, label) for n, label in enumerate(labels) if label not in labels[:n]]
