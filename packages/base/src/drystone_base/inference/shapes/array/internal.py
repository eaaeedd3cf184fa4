"""Shapes of TensorFlow's internal ops and of a few that stand alone."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape

__all__: list[str] = []


@shape("_HostCast", "_UnaryOpsComposition", "_TensorToHashBucketFast", "_ParallelConcatUpdate")
def same(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("ToBool", "IsTensorFloat32Enabled", "IsResourceHandleRefCounting")
def scalar(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("MakeWeakResourceHandle")
def handle(c: ShapeCall) -> list[Shape]:
    """A scalar, of the same resource."""
    c.output_handles = [c.handles[0]]
    return [()]


@shape("Fingerprint")
def fingerprint(c: ShapeCall) -> list[Shape]:
    """Eight bytes a row."""
    given = c.shape(0)
    c.with_rank(c.shape(1), 0)
    return [(given[0] if given else UNKNOWN, 8)]


@shape("GraphDefVersion")
def graph_def_version(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("Abort")
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []


@shape("_ParallelConcatStart")
def start(c: ShapeCall) -> list[Shape]:
    """The attribute ``shape``; the value changes after it is made."""
    c.output_values = [None]
    return [c.attrs["shape"]]


@shape("ImmutableConst")
def immutable_const(c: ShapeCall) -> list[Shape]:
    """The attribute ``shape``; inference must not read files."""
    c.output_values = [None]
    return [c.attrs["shape"]]


@shape("GetSessionHandle", "GetSessionHandleV2")
def session_handle(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("GetSessionTensor", "DeleteSessionTensor")
def session_tensor(c: ShapeCall) -> list[Shape]:
    """Anything, or nothing."""
    c.with_rank(c.shape(0), 0)
    return [None] if c.op == "GetSessionTensor" else []
