"""Inputs that a model can take, made up from what its graph does with them.

Strings that are parsed as examples, decoded as images or read as raw numbers are made such; the
three parts of a sparse tensor fit together. Everything else is made from dtype and shape.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from drystone_abi.protos import Example
from drystone_base.cli._readers import Reader, reader_of
from drystone_base.cli._sparse_inputs import SparseInputs, sparse_inputs
from drystone_base.cli._values import Array, made_up
from drystone_base.core.dtypes import STRING, DType
from drystone_base.core.tensor import string_array
from drystone_base.graph import Graph, held_tensor
from drystone_base.kernels.evaluate import evaluate
from drystone_base.loaders import Signature, TensorSpec
from drystone_base.ops.defs import op_def

__all__ = ["make_inputs"]

_SIDE: Final = 32
_NUMBERS: Final = 32
_GIF: Final = bytes.fromhex(
    "47494638396101000100800000ffffff00000021f90400000000002c00000000010001000002024401003b"
)


def make_inputs(
    graph: Callable[[], Graph],
    signature: Signature,
    shapes: Mapping[str, Sequence[int] | None],
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Values by name for the inputs of a signature that ``shapes`` names.

    ``graph`` is asked for where there are strings or may be sparse tensors: with cached plans it
    was not read.
    Raises ``BadRequest`` (``cannot-make-input``) as :func:`made_up` does.
    """
    sparse = sparse_inputs(signature.inputs, graph)
    made: dict[str, Array] = {}
    for name in shapes:
        spec = signature.inputs[name]
        if name in sparse:
            made[name] = _sparse_part(signature.inputs, sparse[name], name, rng)
            continue
        array = made_up(name, spec.dtype, shapes[name], rng)
        if spec.dtype is STRING and array.size:
            reader = reader_of(graph(), spec.tensor)
            array = array if reader is None else _texts_for(reader, array, rng)
        made[name] = array
    return made


# ---- strings -----------------------------------------------------------------------------------


def _texts_for(reader: Reader, array: Array, rng: np.random.Generator) -> Array:
    """Strings that ``reader`` can read, in the place of words."""
    make = _MAKERS.get(reader.node.op, _image)
    texts = [make(reader, rng) for _ in range(array.size)]
    if any(text is None for text in texts):
        return array
    return string_array(texts, array.shape)


def _raw(reader: Reader, rng: np.random.Generator) -> bytes:
    dtype: DType = reader.node.attr("out_type")
    return made_up("raw", dtype, (_NUMBERS,), rng).tobytes()


def _image(reader: Reader, rng: np.random.Generator) -> bytes:
    """A picture of noise, in a format that the op decodes."""
    pixels = rng.integers(0, 256, (_SIDE, _SIDE, 3), np.uint8)
    if reader.node.op == "DecodeGif":
        return _GIF
    if reader.node.op == "DecodeBmp":
        size = _SIDE * _SIDE * 3
        head = struct.pack("<2sIHHI", b"BM", 54 + size, 0, 0, 54)
        more = struct.pack("<IiiHHIIiiII", 40, _SIDE, _SIDE, 1, 24, 0, size, 2835, 2835, 0, 0)
        return head + more + pixels.tobytes()
    op = "EncodeJpeg" if "Jpeg" in reader.node.op else "EncodePng"
    definition = op_def(op)
    attrs = {name: a.default for name, a in definition.attrs.items()}
    (out,) = evaluate("image", op, attrs, [pixels], definition.input_slices(attrs), 1)
    data: bytes = out.item()
    return data


def _example(reader: Reader, rng: np.random.Generator) -> bytes | None:
    """An example with every feature that the op asks for; None where their names are not known."""
    columns = _columns(reader)
    if columns is None:
        return None
    example = Example()
    for key, dtype, shape in columns:
        values = made_up(key, dtype, [max(d, 1) for d in shape], rng).ravel().tolist()
        feature = example.features.feature[key]
        if dtype is STRING:
            feature.bytes_list.value.extend(values)
        elif dtype.is_floating:
            feature.float_list.value.extend(values)
        else:
            feature.int64_list.value.extend(values)
    return example.SerializeToString(deterministic=True)


def _columns(reader: Reader) -> list[tuple[str, DType, tuple[int, ...]]] | None:
    """Keys of features with their dtypes, and shapes of one example's values."""
    node = reader.node
    attrs = node.full_attrs()
    kinds = ["sparse", "dense", *(["ragged"] if node.op == "ParseExampleV2" else [])]
    types = {"sparse": "sparse_types", "dense": "Tdense", "ragged": "ragged_value_types"}
    found = []
    for kind in kinds:
        keys = _keys(reader, f"{kind}_keys")
        if keys is None:
            return None
        shapes = attrs["dense_shapes"] if kind == "dense" else [(2,)] * len(keys)
        found += [
            (key, dtype, tuple(shape or ()))
            for key, dtype, shape in zip(keys, attrs[types[kind]], shapes, strict=True)
        ]
    return found


def _keys(reader: Reader, name: str) -> list[str] | None:
    node = reader.node
    attrs = node.full_attrs()
    if name in attrs:
        return list(attrs[name])
    definition = op_def(node.op)
    keys: list[bytes] = []
    for source, _ in node.inputs[definition.input_slices(attrs)[name]]:
        while source.op == "Identity" and source.inputs:
            source = source.inputs[0][0]
        value = held_tensor(source)
        if value is None:
            return None
        keys += value.array.ravel().tolist()
    return [key.decode("utf-8", "surrogateescape") for key in keys]


_MAKERS: Final[Mapping[str, Any]] = {
    "ParseExample": _example,
    "ParseExampleV2": _example,
    "ParseSingleExample": _example,
    "DecodeRaw": _raw,
    "DecodePaddedRaw": _raw,
}


# ---- sparse tensors ----------------------------------------------------------------------------


def _sparse_part(
    inputs: Mapping[str, TensorSpec], names: SparseInputs, name: str, rng: np.random.Generator
) -> Array:
    """One part of a sparse tensor of a few values, the same tensor for all three."""
    indices, values, shape = (inputs[n] for n in names)
    known = [(indices.shape or ())[1:2], (shape.shape or ())[:1]]
    rank = next((d[0] for d in known if d and d[0] >= 0), 2)
    sizes = (1, *([_SIDE] * (rank - 1)))[:rank]
    stated = (values.shape or (-1,))[0]
    count = min(2 if stated < 0 else stated, int(np.prod(sizes, dtype=np.int64)))
    if name == names.values:
        return made_up(name, values.dtype, (count,), rng)
    if name == names.shape:
        return np.array(sizes, np.int64)
    if not rank:
        return np.zeros((count, 0), np.int64)
    return np.stack(np.unravel_index(np.arange(count), sizes), axis=1).astype(np.int64)
