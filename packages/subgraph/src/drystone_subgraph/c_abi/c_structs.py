"""The structs of ``drystone/subgraph.h``."""

from __future__ import annotations

import ctypes as c
from typing import Any, Final

__all__ = [
    "VERSION",
    "Backend",
    "Fns",
    "NodeView",
    "Params",
    "RegionView",
    "SelectorFns",
    "ValueView",
    "preset",
]

VERSION: Final = (0, 2, 0)
_SIZED: Final[list[Any]] = [("struct_size", c.c_size_t), ("ext", c.c_void_p)]


class NodeView(c.Structure):
    """``DS_SubgraphNode``."""

    _fields_ = [
        *_SIZED,
        ("name", c.c_char_p),
        ("op", c.c_char_p),
        ("device", c.c_char_p),
        ("node_def", c.c_char_p),
        ("node_def_size", c.c_size_t),
        ("num_inputs", c.c_int32),
        ("inputs", c.POINTER(c.c_int32)),
        ("num_outputs", c.c_int32),
        ("output_types", c.POINTER(c.c_int)),
    ]


class ValueView(c.Structure):
    """``DS_SubgraphValue``."""

    _fields_ = [
        *_SIZED,
        ("source", c.c_char_p),
        ("dtype", c.c_int),
        ("rank", c.c_int32),
        ("dims", c.POINTER(c.c_int64)),
        ("value", c.c_void_p),
        ("is_weight", c.c_ubyte),
        ("node", c.c_int32),
        ("output", c.c_int32),
        ("device", c.c_char_p),
    ]


class RegionView(c.Structure):
    """``DS_SubgraphRegion``."""

    _fields_ = [
        *_SIZED,
        ("name", c.c_char_p),
        ("num_nodes", c.c_int32),
        ("nodes", c.POINTER(c.POINTER(NodeView))),
        ("num_inputs", c.c_int32),
        ("inputs", c.POINTER(c.POINTER(ValueView))),
        ("num_outputs", c.c_int32),
        ("outputs", c.POINTER(c.POINTER(ValueView))),
        ("threads", c.c_int32),
        ("functions", c.c_char_p),
        ("functions_size", c.c_size_t),
        ("attrs", c.c_char_p),
        ("attrs_size", c.c_size_t),
    ]


class Backend(c.Structure):
    """``DS_SubgraphBackend``."""

    _fields_ = [
        *_SIZED,
        ("name", c.c_char_p),
        ("minimum_size", c.c_int32),
        ("version", c.c_char_p),
    ]


_B, _N, _R = c.POINTER(Backend), c.POINTER(NodeView), c.POINTER(RegionView)
_NODES = c.POINTER(_N)
_TENSORS = c.POINTER(c.c_void_p)


class SelectorFns(c.Structure):
    """``DS_SubgraphSelectorFns``."""

    _fields_ = [
        *_SIZED,
        ("create_selector", c.CFUNCTYPE(c.c_void_p, _B, c.c_void_p)),
        ("destroy_selector", c.CFUNCTYPE(None, _B, c.c_void_p)),
        ("select", c.CFUNCTYPE(c.c_ubyte, _B, c.c_void_p, _N)),
        ("select_input", c.CFUNCTYPE(c.c_ubyte, _B, c.c_void_p, _N, _N)),
        ("select_output", c.CFUNCTYPE(c.c_ubyte, _B, c.c_void_p, _N, _N)),
        ("filter", c.CFUNCTYPE(None, _B, c.c_void_p, _NODES, c.c_int32, c.POINTER(c.c_ubyte))),
        ("reset", c.CFUNCTYPE(None, _B, c.c_void_p)),
    ]


class Fns(c.Structure):
    """``DS_SubgraphFns``."""

    _fields_ = [
        *_SIZED,
        ("accept", c.CFUNCTYPE(c.c_ubyte, _B, _R, c.c_void_p)),
        ("compile", c.CFUNCTYPE(c.c_void_p, _B, _R, c.c_void_p)),
        (
            "execute",
            c.CFUNCTYPE(None, _B, c.c_void_p, _TENSORS, c.c_int32, _TENSORS, c.c_int32, c.c_void_p),
        ),
        ("destroy_executable", c.CFUNCTYPE(None, _B, c.c_void_p)),
        (
            "update",
            c.CFUNCTYPE(
                None, _B, c.c_void_p, _TENSORS, c.c_int32, c.POINTER(c.c_ubyte), c.c_void_p
            ),
        ),
        ("serialize", c.CFUNCTYPE(None, _B, c.c_void_p, c.c_void_p, c.c_void_p)),
        ("deserialize", c.CFUNCTYPE(c.c_void_p, _B, _R, c.c_void_p, c.c_void_p)),
        ("review", c.CFUNCTYPE(None, _B, _R, c.POINTER(c.c_ubyte), c.c_void_p, c.c_void_p)),
    ]


class Params(c.Structure):
    """``DS_SubgraphRegistrationParams``."""

    _fields_ = [
        *_SIZED,
        ("major_version", c.c_int32),
        ("minor_version", c.c_int32),
        ("patch_version", c.c_int32),
        ("backend", c.POINTER(Backend)),
        ("selector_fns", c.POINTER(SelectorFns)),
        ("fns", c.POINTER(Fns)),
    ]


def preset(kind: type[c.Structure], **values: Any) -> Any:
    """A struct of zeros that states its size, with these members."""
    made = kind(**values)
    made.struct_size = c.sizeof(kind)
    return made
