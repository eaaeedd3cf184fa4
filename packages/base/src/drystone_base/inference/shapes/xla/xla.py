"""Shapes of XLA's ops as graphs hold them."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape
from drystone_base.ops.dimension_numbers import parse_numbers

__all__: list[str] = []


@shape(
    "XlaDynamicUpdateSlice",
    "XlaReducePrecision",
    "XlaScatter",
    "XlaSharding",
    "XlaSort",
    "XlaSpmdFullToShardShape",
)
def unchanged(c: ShapeCall) -> list[Shape]:
    """The first input's shape."""
    return [c.shape(0)]


@shape("XlaKeyValueSort", "XlaOptimizationBarrier")
def all_unchanged(c: ShapeCall) -> list[Shape]:
    """Each input's shape."""
    return list(c.shapes)


@shape("XlaVariadicSort")
def sorted_together(c: ShapeCall) -> list[Shape]:
    """Each tensor's shape."""
    return list(c.shapes[:-1])


@shape("XlaSpmdShardToFullShape")
def full_shape(c: ShapeCall) -> list[Shape]:
    """The attribute's shape."""
    return [c.attrs["full_shape"]]


@shape("XlaReplicaId")
def scalar(c: ShapeCall) -> list[Shape]:  # noqa: ARG001 - the registry's signature
    """A scalar."""
    return [()]


def _unknown(c: ShapeCall, index: int) -> Shape:
    """As many unknown dimensions as an input has."""
    given = c.shape(index)
    return None if given is None else (UNKNOWN,) * len(given)


@shape("XlaConv", "XlaConvV2", "XlaSelectAndScatter", "XlaReduceWindow")
def same_rank(c: ShapeCall) -> list[Shape]:
    """The input's rank."""
    return [c.shape(0) if c.op == "XlaSelectAndScatter" else _unknown(c, 0)]


@shape("XlaIf", "XlaWhile", "XlaBroadcastHelper")
def open_shapes(c: ShapeCall) -> list[Shape]:
    """Nothing is known, as in TensorFlow."""
    return [None] * c.output_count


@shape("XlaEinsum")
def xla_einsum(c: ShapeCall) -> list[Shape]:
    """As many dimensions as the equation's right side has labels."""
    right = c.attrs["equation"].rpartition("->")[2]
    return [None if "." in right else (UNKNOWN,) * len(right.replace(" ", ""))]


@shape("XlaDot", "XlaDotV2")
def xla_dot(c: ShapeCall) -> list[Shape]:
    """``[*batch, *rest of x, *rest of y]``."""
    x, y = c.shape(0), c.shape(1)
    if x is None or y is None:
        return [None]
    found = parse_numbers(c.attrs["dimension_numbers"])
    named = [[*found.get(3 + k, []), *found.get(1 + k, [])] for k in (0, 1)]
    if len(named[0]) != len(named[1]) or any(
        d >= len(side) for side, part in zip((x, y), named, strict=True) for d in part
    ):
        c.fail("dimension_numbers must fit the operands", found=named, needed="equal counts")
    merged = [c.merge_dim(x[a], y[b]) for a, b in zip(*named, strict=True)]
    rest = [
        d for side, part in zip((x, y), named, strict=True)
        for k, d in enumerate(side) if k not in part
    ]  # fmt: skip
    return [(*merged[: len(found.get(3, []))], *rest)]


@shape("XlaDynamicSlice")
def dynamic_slice(c: ShapeCall) -> list[Shape]:
    """What ``size_indices`` says."""
    return [c.merge(c.value_as_shape(2), _unknown(c, 0))]


@shape("XlaGather")
def xla_gather(c: ShapeCall) -> list[Shape]:
    """The rank: that of the index batch and the windows' places."""
    indices = c.shape(1)
    if indices is None:
        return [None]
    found = parse_numbers(c.attrs["dimension_numbers"])
    own = (found.get(4) or [0])[-1] < len(indices)
    return [(UNKNOWN,) * (len(indices) - own + len(found.get(1, [])))]


def _padded(c: ShapeCall, index: int) -> Sequence[int] | None:
    known = c.value(index)
    return None if known is None else known.tolist()


@shape("XlaPad")
def xla_pad(c: ShapeCall) -> list[Shape]:
    """The sizes with their paddings, where those are known."""
    given = c.shape(0)
    low, high, between = (_padded(c, k) for k in (2, 3, 4))
    if given is None or low is None or high is None or between is None:
        return [_unknown(c, 0)]
    if not len(low) == len(high) == len(between) == len(given):
        c.fail("there must be one padding for each dimension", found=len(low), needed=len(given))
    rows = zip(given, low, high, between, strict=True)
    return [tuple(_with_padding(c, *row) for row in rows)]


def _with_padding(c: ShapeCall, size: int, low: int, high: int, between: int) -> int:
    if size < 0:
        return UNKNOWN
    out = (size + max(size - 1, 0) * between) + low + high
    if out < 0 or between < 0:
        c.fail("a padded size must not be negative", found=out, needed="0 or more")
    return out


@shape("XlaReduce", "XlaVariadicReduce", "XlaVariadicReduceV2")
def xla_reduce(c: ShapeCall) -> list[Shape]:
    """The inputs' shape without the reduced dimensions."""
    merged: Shape = None
    count = len(c.shapes) // 2
    for given in c.shapes[:count]:
        merged = c.merge(merged, given)
    axes = c.attrs["dimensions_to_reduce"]
    if merged is None:
        return [None] * count
    if len(set(axes)) != len(axes) or any(not 0 <= a < len(merged) for a in axes):
        c.fail("dimensions_to_reduce must exist", found=list(axes), needed=f"below {len(merged)}")
    return [tuple(d for k, d in enumerate(merged) if k not in axes)] * count


@shape("XlaSelfAdjointEig")
def self_adjoint_eig(c: ShapeCall) -> list[Shape]:
    """``[..., n]`` and ``[..., n, n]``."""
    given = c.with_rank_at_least(c.shape(0), 2)
    return [None if given is None else given[:-1], given]


@shape("XlaSvd")
def xla_svd(c: ShapeCall) -> list[Shape]:
    """Singular values and both sides' vectors."""
    given = c.with_rank_at_least(c.shape(0), 2)
    if given is None:
        return [None, None, None]
    *lead, m, n = given
    least = min(m, n) if min(m, n) >= 0 else UNKNOWN
    return [(*lead, least), (*lead, m, m), (*lead, n, n)]


@shape("XlaRngBitGenerator")
def rng_bit_generator(c: ShapeCall) -> list[Shape]:
    """The state's shape, and the one that is asked for."""
    c.with_rank(c.shape(0), 0)
    return [c.with_rank(c.shape(1), 1), c.value_as_shape(2)]


@shape("XlaDequantize")
def xla_dequantize(c: ShapeCall) -> list[Shape]:
    """Nothing is known, as in TensorFlow."""
    return [None] * c.output_count
