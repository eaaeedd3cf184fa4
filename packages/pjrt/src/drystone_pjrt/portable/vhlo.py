"""The dialect of portable artifacts: its types and attributes, decoded and as text.

Source: openxla/stablehlo, the encoding that `VhloBytecode.cpp` documents, and the operations' lists
of attributes, which are kept in the order of their names.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from drystone_base.core.dtypes import as_dtype
from drystone_pjrt.portable.bytecode import Cursor, Module, Operation, Unreadable

__all__ = ["Attribute", "Decoder", "Integers", "Tensor", "Text", "dense", "names_of"]

Array = np.ndarray[Any, Any]

_ELEMENTS: Final = {
    0: ("bool", "i1"), 2: ("bfloat16", "bf16"), 3: ("float16", "f16"), 4: ("float32", "f32"),
    5: ("float64", "f64"), 9: ("int64", "index"), 11: ("int8", "i8"), 12: ("int16", "i16"),
    13: ("int32", "i32"),
    14: ("int64", "i64"), 16: ("uint8", "ui8"), 17: ("uint16", "ui16"), 18: ("uint32", "ui32"),
    19: ("uint64", "ui64"),
}  # fmt: skip
"""Types of elements by their codes: ours, and the text."""
_COMPLEX, _FUNCTION, _TENSOR, _TOKEN, _NONE = 1, 8, 20, 22, 33
_DYNAMIC: Final = -(1 << 63)

_ENUMS: Final = {
    3: ("comparison_direction_v1", ("EQ", "NE", "GE", "GT", "LE", "LT")),
    4: ("comparison_type_v1", ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")),
    5: ("api_version_v1", ("API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                           "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                           "API_VERSION_TYPED_FFI")),
    7: ("fft_type_v1", ("FFT", "IFFT", "RFFT", "IRFFT")),
    11: ("precision_v1", ("DEFAULT", "HIGH", "HIGHEST")),
    12: ("rng_algorithm_v1", ("DEFAULT", "THREE_FRY", "PHILOX")),
    13: ("rng_distribution_v1", ("", "UNIFORM", "NORMAL")),
    16: ("transpose_v1", ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")),
    19: ("result_accuracy_mode_v1", ("DEFAULT", "HIGHEST", "TOLERANCE")),
}  # fmt: skip
"""Attributes that are one of some words, by their codes."""

_IMAGES: Final = (
    "batch_group_count feature_group_count input_batch_dimension input_feature_dimension "
    "input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension "
    "kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension "
    "output_spatial_dimensions {}precision_config rhs_dilation window_reversal window_strides"
)
_CALLS: Final = (
    "api_version backend_config call_target_name called_computations has_side_effect "
    "operand_layouts output_operand_aliases result_layouts"
)
_PRODUCTS: Final = (
    "lhs_batching_dimensions {}lhs_contracting_dimensions {}precision_config "
    "rhs_batching_dimensions {}rhs_contracting_dimensions{}"
)
_NAMES: Final = {
    "batch_norm_grad_v1": "epsilon feature_index",
    "batch_norm_inference_v1": "epsilon feature_index",
    "batch_norm_training_v1": "epsilon feature_index",
    "broadcast_in_dim_v1": "broadcast_dimensions",
    "broadcast_v1": "broadcast_sizes",
    "call_v1": "callee",
    "cholesky_v1": "lower",
    "compare_v1": "compare_type comparison_direction",
    "composite_v1": "composite_attributes decomposition name version",
    "composite_v2": "composite_attributes decomposition name version",
    "concatenate_v1": "dimension",
    "constant_v1": "value",
    "convolution_v1": _IMAGES.format("padding "),
    "custom_call_v1": _CALLS,
    "custom_call_v2": f"{_CALLS} result_tilings",
    "dot_general_v1": _PRODUCTS.format("", "", "", ""),
    "dot_general_v2": "accumulation_type allow_imprecise_accumulation " + _PRODUCTS.format(
        "lhs_component_count ", "lhs_precision_type num_primitive_operations ",
        "rhs_component_count ", " rhs_precision_type"),
    "dynamic_broadcast_in_dim_v1":
        "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
    "dynamic_conv_v1": _IMAGES.format("padding "),
    "dynamic_conv_v2": _IMAGES.format(""),
    "dynamic_gather_v1":
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map",
    "dynamic_gather_v2":
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "
        "operand_batching_dims start_index_map start_indices_batching_dims",
    "dynamic_iota_v1": "iota_dimension",
    "dynamic_slice_v1": "slice_sizes",
    "fft_v1": "fft_length fft_type",
    "func_v1": "arg_attrs function_type res_attrs sym_name sym_visibility",
    "gather_v1":
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes "
        "start_index_map",
    "gather_v2":
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims "
        "operand_batching_dims slice_sizes start_index_map start_indices_batching_dims",
    "get_dimension_size_v1": "dimension",
    "get_tuple_element_v1": "index",
    "iota_v1": "iota_dimension",
    "map_v1": "dimensions",
    "pad_v1": "edge_padding_high edge_padding_low interior_padding",
    "reduce_precision_v1": "exponent_bits mantissa_bits",
    "reduce_v1": "dimensions",
    "reduce_window_v1":
        "base_dilations padding window_dilations window_dimensions window_strides",
    "reverse_v1": "dimensions",
    "rng_bit_generator_v1": "rng_algorithm",
    "rng_v1": "rng_distribution",
    "scatter_v1":
        "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims "
        "unique_indices update_window_dims",
    "scatter_v2":
        "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims "
        "scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices "
        "update_window_dims",
    "select_and_scatter_v1": "padding window_dimensions window_strides",
    "set_dimension_size_v1": "dimension",
    "slice_v1": "limit_indices start_indices strides",
    "sort_v1": "dimension is_stable",
    "transpose_v1": "permutation",
    "triangular_solve_v1": "left_side lower transpose_a unit_diagonal",
}  # fmt: skip
_ACCURATE: Final = frozenset(
    {"cbrt", "cosine", "exponential", "exponential_minus_one", "log", "log_plus_one", "logistic",
     "rsqrt", "sine", "sqrt", "tan", "tanh"}
)  # fmt: skip
"""Ops whose second version says how exact they are."""


def names_of(op: str) -> list[str]:
    """The names of an op's attributes in their order."""
    if op.endswith("_v2") and op[:-3] in _ACCURATE:
        return ["result_accuracy"]
    return _NAMES.get(op, "").split()


class Tensor(NamedTuple):
    """A type of tensors; a size that is not known is -1. ``element``: as text."""

    shape: tuple[int, ...]
    element: str

    def __str__(self) -> str:
        sizes = "".join("?x" if n < 0 else f"{n}x" for n in self.shape)
        return f"!vhlo.tensor_v1<{sizes}{_element(self.element)}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of elements."""
        return as_dtype(_OURS[self.element]).np


class Text(NamedTuple):
    """A type or an attribute that is only written again; ``value``: what it says."""

    text: str
    value: Any = None

    def __str__(self) -> str:
        return self.text


class Integers(NamedTuple):
    """An attribute that is a tensor, of numbers of any kind."""

    kind: Tensor
    array: Array

    def __str__(self) -> str:
        return f"#vhlo.tensor_v1<{dense(self.array, self.kind.element)}>"


Attribute = Text | Integers
Type = Tensor | Text

_OURS: Final = {text: ours for ours, text in _ELEMENTS.values()} | {
    "complex<f32>": "complex64", "complex<f64>": "complex128",
}  # fmt: skip


def _element(text: str) -> str:
    if text.startswith("complex"):
        return f"!vhlo.complex_v1<{_element(text[8:-1])}>"
    return "!vhlo.bool_v1" if text == "i1" else f"!vhlo.{text}_v1"


def dense(array: Array, element: str) -> str:
    """A constant as text."""
    kind = f"tensor<{''.join(f'{n}x' for n in array.shape)}{element}>"
    if not array.size:
        return f"dense<> : {kind}"
    if element == "i1":
        return f"dense<{str(array.tolist()).lower()}> : {kind}"
    return f'dense<"0x{np.ascontiguousarray(array).tobytes().hex().upper()}"> : {kind}'


def _quoted(text: str) -> str:
    """A string as MLIR writes it."""
    data = text.encode("utf-8", "surrogateescape")
    plain = b'"\\'
    return '"' + "".join(
        chr(c) if 32 <= c < 127 and c not in plain else f"\\{c:02X}" for c in data
    ) + '"'  # fmt: skip


class Decoder:
    """Types and attributes of a module by number; raises ``Unreadable``."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self.type = cache(self._type)
        self.attribute = cache(self._attribute)

    def attributes(self, operation: Operation) -> dict[str, Attribute]:
        """An operation's own attributes, by name."""
        cursor = Cursor(operation.properties)
        names = names_of(operation.name.removeprefix("vhlo."))
        found = {name: self.attribute(cursor.number()) for name in names}
        if cursor.more:
            raise Unreadable(f"{operation.name} has attributes that are not known here")
        return found

    def discardable(self, operation: Operation) -> dict[str, Attribute]:
        """What others have added to an operation."""
        if operation.attributes is None:
            return {}
        entry = self._module.attributes[operation.attributes]
        cursor = Cursor(entry.data)
        if entry.dialect != "builtin" or cursor.number() != 1:
            raise Unreadable("attributes that are no dictionary")
        found = {}
        for _ in range(cursor.number()):
            name = Cursor(self._module.attributes[cursor.number()].data)
            name.number()  # a string
            found[self._module.strings[name.number()]] = self.attribute(cursor.number())
        return found

    # ---- types -----------------------------------------------------------------------------------

    def _type(self, number: int) -> Type:
        entry = self._module.types[number]
        cursor = Cursor(entry.data)
        code = cursor.number()
        if entry.dialect != "vhlo" or not entry.is_custom:
            raise Unreadable(f"a type of {entry.dialect}")
        if code == _TENSOR:
            shape = tuple(-1 if n == _DYNAMIC else n for n in cursor.many(cursor.signed))
            element = self.type(cursor.number())
            if not isinstance(element, Text) or element.value not in _OURS:
                raise Unreadable(f"tensors of {element}")
            return Tensor(shape, element.value)
        if code == _COMPLEX:
            element = self.type(cursor.number())
            return Text("", f"complex<{element.value}>" if isinstance(element, Text) else "")
        if code in _ELEMENTS:
            text = _ELEMENTS[code][1]
            return Text(_element(text), text)
        if code == _FUNCTION:
            return Text("", [cursor.many(lambda: self.type(cursor.number())) for _ in range(2)])
        if code in (_TOKEN, _NONE):
            return Text("!vhlo.token_v1" if code == _TOKEN else "!vhlo.none_v1")
        raise Unreadable(f"a type of code {code}")

    # ---- attributes ------------------------------------------------------------------------------

    def _attribute(self, number: int) -> Attribute:
        entry = self._module.attributes[number]
        cursor = Cursor(entry.data)
        code = cursor.number()
        if entry.dialect != "vhlo" or not entry.is_custom:
            raise Unreadable(f"an attribute of {entry.dialect}")
        if code in _ENUMS:
            kind, words = _ENUMS[code]
            word = words[cursor.number()]
            return Text(f"#vhlo<{kind} {word}>", word)
        if code not in _READERS:
            raise Unreadable(f"an attribute of code {code}")
        return _READERS[code](self, cursor)

    def array(self, cursor: Cursor) -> Text:
        """Attributes in order."""
        found = cursor.many(lambda: self.attribute(cursor.number()))
        return Text(f"#vhlo.array_v1<[{', '.join(map(str, found))}]>", found)

    def truth(self, cursor: Cursor) -> Text:
        """True or false."""
        value = bool(cursor.number())
        return Text(f"#vhlo.bool_v1<{str(value).lower()}>", value)

    def dictionary(self, cursor: Cursor) -> Text:
        """Attributes by attributes."""

        def one() -> tuple[Attribute, Attribute]:
            return self.attribute(cursor.number()), self.attribute(cursor.number())

        found = cursor.many(one)
        text = ", ".join(f"{key} = {value}" for key, value in found)
        return Text(
            f"#vhlo.dict_v1<{{{text}}}>",
            {str(k.value) if isinstance(k, Text) else "": v for k, v in found},
        )

    def number(self, cursor: Cursor) -> Text:
        """A whole number or another one, of a type."""
        kind = self.type(cursor.number())
        element = str(kind.value) if isinstance(kind, Text) else ""
        dtype = Tensor((), element).dtype
        width = dtype.itemsize
        raw = cursor.byte() if width == 1 else cursor.signed()
        value = np.frombuffer((raw & ((1 << 8 * width) - 1)).to_bytes(width, "little"), dtype)[0]
        if dtype.kind in "iu":
            return Text(f"#vhlo.integer_v1<{value} : {element}>", int(value))
        return Text(f"#vhlo.float_v1<{float(value):.17e} : {kind}>", float(value))

    def string(self, cursor: Cursor) -> Text:
        """A string."""
        value = self._module.strings[cursor.number()]
        return Text(f"#vhlo.string_v1<{_quoted(value)}>", value)

    def tensor(self, cursor: Cursor) -> Integers:
        """Numbers in a shape: all, or one for every place; truth values in bits."""
        kind = self.type(cursor.number())
        if not isinstance(kind, Tensor) or min(kind.shape, default=0) < 0:
            raise Unreadable(f"a constant of {kind}")
        data = cursor.take(cursor.number())
        size = int(np.prod(kind.shape, dtype=np.int64))
        if kind.element == "i1":
            return Integers(kind, _truths(data, size).reshape(kind.shape))
        array = np.frombuffer(data, kind.dtype)
        spread = np.broadcast_to(array, (size,)) if array.size == 1 else array
        return Integers(kind, spread.reshape(kind.shape))

    def kind(self, cursor: Cursor) -> Text:
        """A type."""
        kind = self.type(cursor.number())
        return Text(f"#vhlo.type_v1<{kind}>", kind.value if isinstance(kind, Text) else kind)

    def accuracy(self, cursor: Cursor) -> Text:
        """How exact a result must be."""
        bounds = [struct.unpack("<d", (cursor.signed() & (1 << 64) - 1).to_bytes(8, "little"))[0]
                  for _ in range(2)]  # fmt: skip
        ulps, mode = cursor.signed(), self.attribute(cursor.number())
        return Text(
            f"#vhlo.result_accuracy_v1<atol = {bounds[0]:e}, rtol = {bounds[1]:e}, "
            f"ulps = {ulps}, mode = {mode}>"
        )


def _truths(data: bytes, size: int) -> Array:
    if len(data) == 1 and data[0] == 0xFF:
        return np.ones(size, bool)
    if len(data) == -(-size // 8) and len(data) != size:
        return np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[:size].astype(bool)
    array = np.frombuffer(data, np.uint8) != 0
    return np.broadcast_to(array, (size,)) if array.size == 1 else array


_READERS: Final[Mapping[int, Callable[[Decoder, Cursor], Attribute]]] = {
    1: Decoder.array, 2: Decoder.truth, 6: Decoder.dictionary, 8: Decoder.number,
    9: Decoder.number, 14: Decoder.string, 15: Decoder.tensor, 17: Decoder.kind,
    20: Decoder.accuracy,
}  # fmt: skip
