"""Shapes of TensorArray ops; the handle carries dtype and element shape."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("TensorArrayV3")
def tensor_array(c: ShapeCall) -> list[Shape]:
    """Two scalars; the handle carries the element shape when all elements share it."""
    c.with_rank(c.shape(0), 0)
    known = c.attrs["element_shape"] if c.attrs["identical_element_shapes"] else None
    c.output_handles = [(c.attrs["dtype"], known), None]
    return [(), ()]


@shape("TensorArrayGradV3", "TensorArrayGradWithShape")
def tensor_array_grad(c: ShapeCall) -> list[Shape]:
    """Two scalars; the gradient's elements have the forward elements' shape."""
    held = c.handles[0]
    if held is not None and len(c.shapes) == 3:
        lead = c.value_as_shape(2)
        joined = None if lead is None or held[1] is None else lead + held[1]
        held = (held[0], joined)
    c.output_handles = [held, None]
    return [(), ()]


@shape("TensorArray", "TensorArrayV2", "TensorArrayGrad", "TensorArrayGradV2")
def early_handle(_: ShapeCall) -> list[Shape]:
    """A handle of an earlier generation: TensorFlow's is a vector of two strings."""
    return [None]


@shape("TensorArrayPack")
def tensor_array_pack(c: ShapeCall) -> list[Shape]:
    """An unknown number of elements."""
    element = c.attrs["element_shape"]
    return [None if element is None else (UNKNOWN, *element)]


@shape("TensorArrayUnpack")
def tensor_array_unpack(c: ShapeCall) -> list[Shape]:
    """The flow scalar."""
    c.with_rank_at_least(c.shape(1), 1)
    return [()]


@shape("TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3")
def tensor_array_write(c: ShapeCall) -> list[Shape]:
    """The flow scalar."""
    c.with_rank(c.shape(1), 0)
    return [()]


def _element(c: ShapeCall) -> Shape:
    held = c.handles[0]
    return held[1] if held else None


@shape("TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3")
def tensor_array_read(c: ShapeCall) -> list[Shape]:
    """The element shape."""
    c.with_rank(c.shape(1), 0)
    return [_element(c)]


@shape("TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3")
def tensor_array_gather(c: ShapeCall) -> list[Shape]:
    """The number of indices before the element shape."""
    count = c.with_rank(c.shape(1), 1)
    element = c.merge(c.attrs["element_shape"], _element(c))
    return [None if element is None else count + element]


@shape("TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3")
def tensor_array_scatter(c: ShapeCall) -> list[Shape]:
    """The flow scalar."""
    c.with_rank(c.shape(1), 1)
    c.with_rank_at_least(c.shape(2), 1)
    return [()]


@shape("TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3")
def tensor_array_concat(c: ShapeCall) -> list[Shape]:
    """An unknown length before ``element_shape_except0``; a vector of lengths."""
    rest = c.attrs["element_shape_except0"]
    return [None if rest is None else (UNKNOWN, *rest), (UNKNOWN,)]


@shape("TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3")
def tensor_array_split(c: ShapeCall) -> list[Shape]:
    """The flow scalar."""
    c.with_rank_at_least(c.shape(1), 1)
    c.with_rank(c.shape(2), 1)
    return [()]


@shape("TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3")
def tensor_array_size(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3")
def tensor_array_close(_: ShapeCall) -> list[Shape]:
    """Nothing."""
    return []
