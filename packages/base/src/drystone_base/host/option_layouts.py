"""Layouts of options of filesystems (``drystone/filesystem.h``), for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64

__all__ = ["OptionBytes", "OptionStruct", "OptionValue", "OptionValues"]


class OptionBytes(ctypes.Structure):
    """Bytes with their number, as a value."""

    _fields_ = (("buf", c_char_p), ("length", c_int))


class OptionValue(ctypes.Union):
    """``TF_Filesystem_Option_Value_Union``."""

    _fields_ = (("integer", c_int64), ("real", c_double), ("buffer", OptionBytes))


class OptionValues(ctypes.Structure):
    """``TF_Filesystem_Option_Value``."""

    _fields_ = (("type_tag", c_int), ("count", c_int), ("values", POINTER(OptionValue)))


class OptionStruct(ctypes.Structure):
    """``TF_Filesystem_Option``."""

    _fields_ = (
        ("name", c_char_p),
        ("description", c_char_p),
        ("per_file", c_int),
        ("value", POINTER(OptionValues)),
    )
