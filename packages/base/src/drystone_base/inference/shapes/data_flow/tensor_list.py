"""Shapes of tensor list ops; the list's handle carries dtype and shape of elements."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, PartialValue, Shape, ShapeCall, shape


def _given(c: ShapeCall, index: int) -> Shape:
    """The element shape that an input names; a scalar (-1) is an unknown rank."""
    named = c.shape(index)
    return c.value_as_shape(index) if named is not None and len(named) == 1 else None


def _held(c: ShapeCall) -> Shape:
    held = c.handles[0]
    return held[1] if held else None


def _element(c: ShapeCall, index: int) -> Shape:
    """What list and input ``index`` say about the element shape."""
    return c.merge(_held(c), _given(c, index))


@shape("EmptyTensorList", "TensorListReserve")
def make(c: ShapeCall) -> list[Shape]:
    """A scalar list of the given element shape."""
    c.output_handles = [(c.attrs["element_dtype"], _given(c, 0))]
    return [()]


@shape("TensorListFromTensor", "TensorListScatter", "TensorListScatterV2", "TensorListSplit")
def from_tensor(c: ShapeCall) -> list[Shape]:
    """A scalar list; only the declared element shape binds elements that are set later."""
    rows = c.with_rank_at_least(c.shape(0), 1)
    at = {"TensorListFromTensor": 1, "TensorListSplit": 1}.get(c.op, 2)
    declared = _given(c, at)
    if c.op != "TensorListSplit" and rows is not None:
        c.merge(declared, rows[1:])
    c.output_handles = [(c.attrs["element_dtype"], declared)]
    return [()]


@shape("TensorListSetItem", "TensorListScatterIntoExistingList", "TensorListResize")
def same_list(c: ShapeCall) -> list[Shape]:
    """A list like the input."""
    c.output_handles = [c.handles[0]]
    return [()]


@shape("TensorListPushBack")
def push_back(c: ShapeCall) -> list[Shape]:
    """A list like the input; the element must fit it."""
    c.merge(_held(c), c.shape(1))
    c.output_handles = [c.handles[0]]
    return [()]


@shape("TensorListPushBackBatch", "TensorListConcatLists")
def batch(c: ShapeCall) -> list[Shape]:
    """As many lists as the input."""
    c.output_handles = [c.handles[0]]
    if c.op == "TensorListConcatLists":
        return [c.merge(c.shape(0), c.shape(1))]
    return [c.shape(0)]


@shape("TensorListPopBack")
def pop_back(c: ShapeCall) -> list[Shape]:
    """A list like the input, and an element."""
    c.output_handles = [c.handles[0], None]
    return [(), _element(c, 1)]


@shape("TensorListGetItem")
def get_item(c: ShapeCall) -> list[Shape]:
    """The element shape."""
    return [_element(c, 2)]


@shape("TensorListStack")
def stack(c: ShapeCall) -> list[Shape]:
    """The number of elements before the element shape."""
    element = _element(c, 1)
    return [None if element is None else (c.attrs["num_elements"], *element)]


@shape("TensorListGather")
def gather(c: ShapeCall) -> list[Shape]:
    """The number of indices before the element shape."""
    element = _element(c, 2)
    count = c.with_rank(c.shape(1), 1)
    return [None if element is None else count + element]


@shape("TensorListLength")
def length(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]


@shape("TensorListElementShape")
def element_shape(c: ShapeCall) -> list[Shape]:
    """A vector of the element rank; its values are the known dims."""
    held = _held(c)
    if held is None:
        return [None]
    c.output_values = [PartialValue.of_shape(held)]
    return [(len(held),)]


@shape("TensorListConcat", "TensorListConcatV2")
def concat(c: ShapeCall) -> list[Shape]:
    """An unknown length before the element shape's other dims; a vector of lengths."""
    given = c.attrs["element_shape"] if c.op == "TensorListConcat" else _given(c, 1)
    element = c.merge(_held(c), given)
    return [None if element is None else (UNKNOWN, *element[1:]), (UNKNOWN,)]
