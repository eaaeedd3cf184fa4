"""TensorArrays: write-once arrays of tensors that live as long as a step, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.kernels._handles import as_reference, object_of
from drystone_base.kernels._limits import check_size
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._variants import blank
from drystone_base.ops.attrs import Shape
from drystone_base.state.variables import ResourceHandle, handle_array

_MAX_SIZE = 1 << 31


class TensorArray:
    """Elements with their states. A slot is unwritten, written, or cleared by a read.

    ``shapes`` keeps what each element measured, so that a gradient array can answer zeros.
    ``aggregate`` (gradient arrays) adds up repeated writes.
    """

    def __init__(
        self, name: str, dtype: DType, size: int, shape: Shape, *, aggregate: bool = False
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.shape = shape
        self.aggregate = aggregate
        self.dynamic = False
        self.clear_after_read = True
        self.identical = False
        self.closed = False
        self.values: list[Array | None] = [None] * size
        self.shapes: list[Shape] = [None] * size
        self.written = [False] * size
        self.read = [False] * size
        self.gradients: dict[str, TensorArray] = {}

    def __len__(self) -> int:
        return len(self.values)

    def grow(self, size: int) -> None:
        """Append unwritten elements up to ``size``."""
        extra = size - len(self)
        if extra > 0:
            self.values += [None] * extra
            self.shapes += [None] * extra
            self.written += [False] * extra
            self.read += [False] * extra


def _fits(want: Shape, got: Shape) -> bool:
    if want is None or got is None:
        return True
    return len(want) == len(got) and all(w < 0 or w == g for w, g in zip(want, got, strict=True))


def _array(call: Call, handle: Array) -> TensorArray:
    found = object_of(handle, TensorArray)
    call.require(
        not found.closed,
        "a TensorArray must not be closed",
        found=f"{found.name!r} is closed",
        needed="an open TensorArray",
    )
    dtype = call.attrs.get("T", call.attrs.get("dtype"))
    call.require(
        dtype is None or dtype is found.dtype,
        f"the dtype of TensorArray {found.name!r} must be the node's",
        found=found.dtype,
        needed=dtype,
    )
    return found


def _check_index(call: Call, array: TensorArray, index: int, grow: bool) -> None:
    fits = 0 <= index < (_MAX_SIZE if grow and array.dynamic else len(array))
    call.require(
        fits,
        f"an index must lie in TensorArray {array.name!r}",
        found=index,
        needed=f"0 <= index < {len(array)}",
    )
    if grow and array.dynamic and index >= len(array):
        check_size(call, (index + 1,), np.dtype(object))
        array.grow(index + 1)


def _write(call: Call, array: TensorArray, index: int, value: Array) -> None:
    """Write one element, or add to it in a gradient array."""
    _check_index(call, array, index, grow=True)
    call.require(
        _fits(array.shape, value.shape),
        f"an element must have the shape of TensorArray {array.name!r}",
        found=list(value.shape),
        needed=array.shape and list(array.shape),
    )
    call.require(
        not array.read[index],
        "an element must not be written after it was read",
        found=f"element {index} of {array.name!r} was read",
        needed="an element that was not read",
    )
    if array.written[index]:
        call.require(
            array.aggregate,
            "an element must be written once",
            found=f"element {index} of {array.name!r} was written already",
            needed="an element that was not written",
        )
        old = array.values[index]
        assert old is not None
        call.require(
            old.shape == value.shape,
            "gradients of one element must have equal shapes",
            found=list(value.shape),
            needed=list(old.shape),
        )
        value = np.asarray(old + value)
    if array.identical:
        array.shape = value.shape
    array.values[index], array.shapes[index], array.written[index] = value, value.shape, True


def _read(call: Call, array: TensorArray, index: int) -> Array:
    """One element; zeros where it was not written but its shape is known."""
    _check_index(call, array, index, grow=False)
    value = array.values[index]
    call.require(
        value is not None or not array.written[index],
        "an element must not be read twice when reading clears it",
        found=f"element {index} of {array.name!r} was read and cleared",
        needed="one read, or clear_after_read=False",
        remedy="create the TensorArray with clear_after_read=False",
    )
    if value is None:
        shape = array.shapes[index]
        value = _zeros(call, array, array.shape if shape is None else shape)
    array.read[index] = True
    if array.clear_after_read:
        array.values[index], array.written[index] = None, True
        array.shapes[index] = value.shape
    return value


def _zeros(call: Call, array: TensorArray, shape: Shape, status: str = "INVALID_ARGUMENT") -> Array:
    if shape is None or any(d < 0 for d in shape):
        call.fail(
            "an element must be written before it is read, or have a known shape",
            found=f"an unwritten element of {array.name!r} with shape {shape}",
            needed="a written element",
            remedy="give the TensorArray its full element_shape",
            status=status,
        )
    dims = check_size(call, shape, array.dtype.np)
    return blank(dims, array.dtype)


def _flow() -> Array:
    return np.zeros((), np.float32)


@kernel("TensorArray", "TensorArrayV2", "TensorArrayV3")
def tensor_array(call: Call, size: Array) -> Any:
    """A handle to a new array of ``size`` unwritten elements, and a flow scalar."""
    a = call.attrs
    call.require(size.ndim == 0, "the size must be a scalar", found=list(size.shape), needed="[]")
    (count,) = check_size(call, (int(size),), np.dtype(object))
    name = a["tensor_array_name"] or call.node
    made = TensorArray(name, a["dtype"], count, a["element_shape"])
    made.dynamic, made.identical = a["dynamic_size"], a.get("identical_element_shapes", False)
    made.clear_after_read = a["clear_after_read"]
    return _handle(call, made)


def _handle(call: Call, made: TensorArray) -> Any:
    """The outputs of an op that makes an array: earlier generations had no flow."""
    handle = ResourceHandle("tensor_array", made.name, "", made)
    if call.op in ("TensorArray", "TensorArrayGrad"):
        return as_reference(handle)
    return handle_array(handle) if call.op.endswith("V2") else (handle_array(handle), _flow())


@kernel("TensorArrayGrad", "TensorArrayGradV2", "TensorArrayGradV3", "TensorArrayGradWithShape")
def tensor_array_grad(
    call: Call, handle: Array, _flow_in: Array, prepend: Array | None = None
) -> Any:
    """The array that collects the gradients of an array's elements; one for each ``source``.

    Its elements have the shapes of the forward array's, after the dims of ``prepend`` if given. The
    forward array can no longer grow.
    """
    forward = _array(call, handle)
    source = call.attrs["source"]
    if source not in forward.gradients:
        lead = tuple(int(d) for d in prepend) if prepend is not None else ()
        forward.dynamic = False
        shape = None if forward.shape is None else lead + forward.shape
        name = f"{forward.name}@{source}"
        grad = TensorArray(name, forward.dtype, len(forward), shape, aggregate=True)
        grad.clear_after_read = forward.clear_after_read
        grad.identical = forward.identical and shape is not None and all(d >= 0 for d in shape)
        grad.shapes = [None if s is None else lead + s for s in forward.shapes]
        forward.gradients[source] = grad
    return _handle(call, forward.gradients[source])


@kernel("TensorArrayWrite", "TensorArrayWriteV2", "TensorArrayWriteV3")
def tensor_array_write(
    call: Call, handle: Array, index: Array, value: Array, flow_in: Array
) -> Array:
    """Write ``value`` as element ``index``."""
    _write(call, _array(call, handle), int(index.item()), value)
    return flow_in


@kernel("TensorArrayRead", "TensorArrayReadV2", "TensorArrayReadV3")
def tensor_array_read(call: Call, handle: Array, index: Array, _flow_in: Array) -> Array:
    """Element ``index``; cleared by the read unless the array says otherwise."""
    return _read(call, _array(call, handle), int(index.item()))


@kernel("TensorArrayGather", "TensorArrayGatherV2", "TensorArrayGatherV3")
def tensor_array_gather(call: Call, handle: Array, indices: Array, _flow_in: Array) -> Array:
    """Elements of ``indices`` stacked along a new first axis; their shapes must be equal."""
    array = _array(call, handle)
    call.require(
        indices.ndim == 1, "indices must be a vector", found=list(indices.shape), needed="rank 1"
    )
    if not indices.size:
        shape = array.shape if array.shape is not None else call.attrs["element_shape"]
        one = _zeros(call, array, shape, "UNIMPLEMENTED")
        return np.empty((0, *one.shape), one.dtype)
    rows = [_read(call, array, i) for i in indices.tolist()]
    _check_same(call, [row.shape for row in rows])
    return np.stack(rows)


@kernel("TensorArrayPack")
def tensor_array_pack(call: Call, handle: Array, flow_in: Array) -> Array:
    """All elements stacked along a new first axis."""
    everything = np.arange(len(_array(call, handle)))
    stacked: Array = tensor_array_gather(call, handle, everything, flow_in)
    return stacked


@kernel("TensorArrayUnpack")
def tensor_array_unpack(call: Call, handle: Array, value: Array, flow_in: Array) -> Array:
    """Write each row of ``value`` as one element."""
    flow: Array = tensor_array_scatter(call, handle, np.arange(len(value)), value, flow_in)
    return flow


def _check_same(call: Call, shapes: list[tuple[int, ...]]) -> None:
    odd = next((s for s in shapes if s != shapes[0]), None)
    call.require(
        odd is None,
        "elements must have equal shapes",
        found=f"{list(shapes[0])} and {list(odd or ())}",
        needed="equal shapes",
    )


@kernel("TensorArrayScatter", "TensorArrayScatterV2", "TensorArrayScatterV3")
def tensor_array_scatter(
    call: Call, handle: Array, indices: Array, value: Array, flow_in: Array
) -> Array:
    """Write row ``k`` of ``value`` as element ``indices[k]``."""
    array = _array(call, handle)
    call.require(
        indices.ndim == 1 and value.ndim >= 1 and len(value) == len(indices),
        "there must be as many rows as indices",
        found=f"indices {list(indices.shape)}, value {list(value.shape)}",
        needed="equal first dimensions",
    )
    for position, index in enumerate(indices.tolist()):
        _write(call, array, index, value[position, ...])
    return flow_in


@kernel("TensorArrayConcat", "TensorArrayConcatV2", "TensorArrayConcatV3")
def tensor_array_concat(call: Call, handle: Array, _flow_in: Array) -> tuple[Array, Array]:
    """All elements joined along their first axis, and the length of each (int64)."""
    array = _array(call, handle)
    if not len(array):
        rest = call.attrs["element_shape_except0"]
        shape = None if rest is None else (0, *rest)
        one = _zeros(call, array, shape, "UNIMPLEMENTED")
        return one, np.zeros(0, np.int64)
    rows = [_read(call, array, k) for k in range(len(array))]
    call.require(
        all(row.ndim for row in rows),
        "elements to be joined must not be scalars",
        found="a scalar",
        needed="rank 1 or more",
    )
    _check_same(call, [row.shape[1:] for row in rows])
    return np.concatenate(rows), np.array([len(row) for row in rows], np.int64)


@kernel("TensorArraySplit", "TensorArraySplitV2", "TensorArraySplitV3")
def tensor_array_split(
    call: Call, handle: Array, value: Array, lengths: Array, flow_in: Array
) -> Array:
    """Cut ``value`` along its first axis into pieces of ``lengths``, one to each element."""
    array = _array(call, handle)
    call.require(
        lengths.ndim == 1 and value.ndim >= 1 and int(lengths.sum()) == len(value),
        "lengths must add up to the value's first dimension",
        found=f"lengths {lengths.tolist()}, value {list(value.shape)}",
        needed="a vector that adds up to it",
    )
    call.require(
        array.dynamic or len(array) == len(lengths),
        "there must be one length for each element",
        found=len(lengths),
        needed=len(array),
    )
    for index, piece in enumerate(np.split(value, np.cumsum(lengths)[:-1])[: len(lengths)]):
        _write(call, array, index, piece)
    return flow_in


@kernel("TensorArraySize", "TensorArraySizeV2", "TensorArraySizeV3")
def tensor_array_size(call: Call, handle: Array, _flow_in: Array) -> Array:
    """The number of elements, int32."""
    return np.array(len(_array(call, handle)), np.int32)


@kernel("TensorArrayClose", "TensorArrayCloseV2", "TensorArrayCloseV3")
def tensor_array_close(_: Call, handle: Array) -> tuple[()]:
    """Free the elements; the array can no longer be used."""
    array = object_of(handle, TensorArray)
    array.closed, array.values = True, []
    return ()
