"""``keras.ops``' core: conversion, shapes, scatter and slices; control flow is beside it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from keras.src import tree
from keras.src.backend.common import KerasVariable, global_state, standardize_dtype
from keras.src.backend.common.dtypes import result_type
from keras.src.backend.common.keras_tensor import KerasTensor
from keras.src.backend.common.stateless_scope import StatelessScope
from keras.src.backend.common.symbolic_scope import SymbolicScope

from drystone_base.core.dtypes import as_dtype
from drystone_base.tracing.tensor import Tensor
from drystone_base.tracing.trace import Trace
from keras_drystone.src.dispatch import emit, is_symbolic, outputs
from keras_drystone.src.ops.flow import (
    associative_scan,
    cond,
    fori_loop,
    map,  # noqa: A004 — Keras's name
    scan,
    switch,
    vectorized_map,
    while_loop,
)
from keras_drystone.src.ops.gradients import custom_gradient, grad, remat, stop_gradient
from keras_drystone.src.tensor import SymbolicTensor, wrapped
from keras_drystone.src.variable import Variable

__all__ = [
    "Variable", "associative_scan", "cast", "compute_output_spec", "cond", "convert_to_numpy",
    "convert_to_tensor", "custom_gradient", "device_scope", "fori_loop", "grad", "is_tensor", "map",
    "random_seed_dtype", "remat", "scan", "scatter", "scatter_update", "shape", "slice",
    "slice_update", "stop_gradient", "switch", "unstack", "vectorized_map", "while_loop",
]  # fmt: skip


def convert_to_tensor(
    x: Any, dtype: Any = None, sparse: bool | None = None, ragged: bool | None = None
) -> Any:
    """An array, or a symbolic tensor; numbers of Python are of 32 bits, as Keras has them."""
    if sparse or ragged:
        raise ValueError("drystone has no sparse and no ragged tensors")
    if isinstance(x, KerasVariable):
        x = x.value
    if dtype is not None:
        dtype = standardize_dtype(dtype)
    if isinstance(x, Tensor):
        found = wrapped(x)
        return found if dtype is None else cast(found, dtype)
    if isinstance(x, list | tuple) and is_symbolic([_plain(v) for v in tree.flatten(x)]):
        return _stacked(x, dtype)
    if dtype is None:
        dtype = _natural(x)
    if dtype == "string":
        return _texts(x)
    return _array(x, dtype)


def as_tensor(x: Any) -> Any:
    """A tensor in its dtype: what moves elements about keeps ``float64`` and ``int64``."""
    return x if type(x) is np.ndarray and x.dtype.kind in "fiubc" else convert_to_tensor(x)


def _array(x: Any, dtype: str) -> Any:
    wanted = as_dtype(dtype).np
    if isinstance(x, list | tuple):
        x = tree.map_structure(_plain, x)
    if isinstance(x, np.ndarray) and x.dtype == wanted:
        return x
    if not isinstance(x, np.ndarray | np.generic):
        x = np.asarray(x)
    if x.dtype.kind == "c" and wanted.kind != "c":
        x = x.real
    with np.errstate(all="ignore"):
        return np.asarray(x).astype(wanted)


def _plain(x: Any) -> Any:
    return x.value if isinstance(x, KerasVariable) else x


def _natural(x: Any) -> str:
    """The dtype that a value gets where none is stated."""
    if isinstance(x, np.ndarray) and x.dtype.kind in "OUS":
        return "string"
    kinds = {getattr(item, "dtype", type(item)) for item in tree.flatten(x)}
    found: str = "string" if str in kinds or bytes in kinds else result_type(*kinds)
    return found


def _texts(x: Any) -> Any:
    from drystone_base.core.tensor import as_strings

    return as_strings(x)


def _stacked(x: Sequence[Any], dtype: str | None) -> Any:
    """Nested lists with symbolic tensors among them."""
    items = [_plain(v) for v in tree.flatten(x)]
    kind = dtype or result_type(*[getattr(v, "dtype", type(v)) for v in items])
    parts = [_stacked(v, kind) if isinstance(v, list | tuple) else convert_to_tensor(v, kind)
             for v in x]  # fmt: skip
    return emit("Pack", parts, axis=0)


def convert_to_numpy(x: Any) -> Any:
    """An array of its own."""
    if isinstance(x, KerasVariable):
        x = x.value
    return np.array(x)


def is_training() -> bool:
    """Whether the layer that is called is trained: then its values are gone back through."""
    call = global_state.get_global_attribute("current_call_ctx")
    return call is not None and bool(call.get_value("training"))


def is_tensor(x: Any) -> bool:
    """Whether it is an array or a symbolic tensor; NumPy's texts become one by a conversion."""
    if isinstance(x, np.ndarray | np.generic):
        return x.dtype.kind not in "US"
    return isinstance(x, Tensor)


def shape(x: Any) -> tuple[Any, ...]:
    """The sizes; symbolic ones where they are known only when the graph runs."""
    if isinstance(x, KerasTensor):
        return tuple(x.shape)
    if not isinstance(x, Tensor):
        return tuple(np.shape(_plain(x)))
    known = x.shape
    if known is None:
        raise ValueError(f"ops.shape needs a tensor of known rank. Received: x={x}")
    if None not in known:
        return known
    sizes = emit("Shape", x, out_type=as_dtype("int32"))
    return tuple(sizes[k] if d is None else d for k, d in enumerate(known))


def cast(x: Any, dtype: Any) -> Any:
    """The values as another dtype."""
    kind = standardize_dtype(dtype)
    if isinstance(x, KerasVariable):
        x = x.value
    if not isinstance(x, SymbolicTensor):
        return convert_to_tensor(x, kind)
    if standardize_dtype(x.dtype) == kind:
        return x
    return emit("Cast", x, DstT=as_dtype(kind))


def compute_output_spec(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a function gives, as ``KerasTensor`` s: it is traced, and nothing is computed.

    Tensors of a trace that this is asked in stand for their shapes and dtypes, too: models that
    are first called in a step are built there.
    """
    trace = Trace()

    def given(x: Any) -> Any:
        if not isinstance(x, KerasTensor | SymbolicTensor) or x.shape is None:
            return x
        sizes = [-1 if d is None else d for d in x.shape]
        place = trace.placeholder(as_dtype(x.dtype), sizes, "argument")
        return SymbolicTensor(trace, place)

    def found(x: Any) -> Any:
        return KerasTensor(x.shape, standardize_dtype(x.dtype)) if is_tensor(x) else x

    with StatelessScope(), SymbolicScope(), trace:
        inner_args, inner_kwargs = tree.map_structure(given, (args, kwargs))
        return tree.map_structure(found, fn(*inner_args, **inner_kwargs))


def scatter(indices: Any, values: Any, shape: Any) -> Any:
    """Zeros with values added at indices."""
    return emit("ScatterNd", cast(indices, "int32"), convert_to_tensor(values), _sizes(shape))


def _indices(x: Any) -> Any:
    x = convert_to_tensor(x)
    return x if standardize_dtype(x.dtype) in ("int32", "int64") else cast(x, "int32")


def _sizes(shape: Any) -> Any:
    return cast(convert_to_tensor(shape), "int32")


_UPDATES = {None: "TensorScatterUpdate", "add": "TensorScatterAdd", "max": "TensorScatterMax",
            "min": "TensorScatterMin"}  # fmt: skip


def scatter_update(inputs: Any, indices: Any, updates: Any, reduction: str | None = None) -> Any:
    """The inputs with updates at indices, or what ``reduction`` makes of both."""
    inputs = convert_to_tensor(inputs)
    updates = cast(updates, inputs.dtype)
    if reduction in _UPDATES:
        return emit(_UPDATES[reduction], inputs, _indices(indices), updates)
    if reduction != "mul":
        raise ValueError(f"Unsupported reduction: {reduction}")
    return _scatter_product(inputs, _indices(indices), updates)


def _scatter_product(inputs: Any, indices: Any, updates: Any) -> Any:
    """Several updates of one place are multiplied: by segments of the flat tensor."""
    from keras_drystone.src.ops import numpy

    depth = indices.shape[-1]
    sizes = inputs.shape
    lead, rest = sizes[:depth], sizes[depth:]
    strides = np.cumprod([1, *lead[:0:-1]])[::-1].astype(np.int32)
    rows = numpy.sum(numpy.multiply(cast(indices, "int32"), strides), axis=-1)
    count = int(np.prod(lead))
    flat = numpy.reshape(updates, (-1, *rest))
    product = emit("UnsortedSegmentProd", flat, numpy.reshape(rows, (-1,)), np.int32(count))
    return numpy.multiply(inputs, numpy.reshape(product, sizes))


def slice(inputs: Any, start_indices: Any, shape: Any) -> Any:
    """A block of the inputs."""
    if len(start_indices) != len(shape):
        raise ValueError(
            "Length of `start_indices` must match length of `shape`. "
            f"Received: start_indices={start_indices}, shape={shape}"
        )
    return emit("Slice", convert_to_tensor(inputs), _sizes(start_indices), _sizes(shape))


def slice_update(inputs: Any, start_indices: Any, updates: Any) -> Any:
    """The inputs with a block of them replaced."""
    from keras_drystone.src.ops import numpy

    inputs = convert_to_tensor(inputs)
    updates = cast(updates, inputs.dtype)
    sizes = shape(updates)
    if not sizes:
        return updates
    room = numpy.subtract(_sizes(shape(inputs)), _sizes(sizes))
    starts = numpy.minimum(numpy.maximum(_sizes(start_indices), np.int32(0)), room)
    ranges = [numpy.add(numpy.arange(d, dtype="int32"), starts[k]) for k, d in enumerate(sizes)]
    grid = numpy.stack(numpy.meshgrid(*ranges, indexing="ij"), axis=-1)
    return emit("TensorScatterUpdate", inputs, grid, updates)


def unstack(x: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    """The parts along an axis."""
    x = convert_to_tensor(x)
    size = num if num is not None else x.shape[axis]
    return outputs("Unpack", x, num=size, axis=axis)


def random_seed_dtype() -> str:
    """The dtype of seeds."""
    return "uint32"


@contextlib.contextmanager
def device_scope(device_name: str) -> Iterator[None]:  # noqa: ARG001 — sessions place nodes
    """Nothing: sessions choose devices."""
    yield
