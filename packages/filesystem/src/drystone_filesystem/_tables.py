"""Layouts of the contract's filesystem tables (``drystone/filesystem.h``), for ctypes."""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char_p,
    c_int,
    c_int64,
    c_size_t,
    c_uint64,
    c_void_p,
)
from typing import Any, Final

from drystone_base.host.option_layouts import OptionStruct

__all__ = [
    "FilesystemOps",
    "PluginInfo",
    "PluginOps",
    "ReadableOps",
    "RegionOps",
    "Statistics",
    "Token",
    "WritableOps",
]

_STATUS: Final = c_void_p
_FS: Final = c_void_p
_OUT: Final = POINTER(c_void_p)


class Statistics(Structure):
    """``TF_FileStatistics``."""

    _fields_ = (("length", c_int64), ("mtime_nsec", c_int64), ("is_directory", ctypes.c_ubyte))


def _function(result: Any, *arguments: Any) -> Any:
    return CFUNCTYPE(result, *arguments)


class Token(Structure):
    """``TF_TransactionToken``: what the plugin knows it by, and whose it is."""

    _fields_ = (("token", c_void_p), ("owner", c_void_p))


class ReadableOps(Structure):
    """``TF_RandomAccessFileOps``; the file is a pointer to the plugin's pointer."""

    _fields_ = (
        ("cleanup", _function(None, _OUT)),
        ("read", _function(c_int64, _OUT, c_uint64, c_size_t, c_void_p, _STATUS)),
    )


class WritableOps(Structure):
    """``TF_WritableFileOps``."""

    _fields_ = (
        ("cleanup", _function(None, _OUT)),
        ("append", _function(None, _OUT, c_void_p, c_size_t, _STATUS)),
        ("tell", _function(c_int64, _OUT, _STATUS)),
        ("flush", _function(None, _OUT, _STATUS)),
        ("sync", _function(None, _OUT, _STATUS)),
        ("close", _function(None, _OUT, _STATUS)),
    )


class RegionOps(Structure):
    """``TF_ReadOnlyMemoryRegionOps``."""

    _fields_ = (
        ("cleanup", _function(None, _OUT)),
        ("data", _function(c_void_p, _OUT)),
        ("length", _function(c_uint64, _OUT)),
    )


_PATH: Final = _function(None, _FS, c_char_p, _STATUS)
_TWO_PATHS: Final = _function(None, _FS, c_char_p, c_char_p, _STATUS)
_OPEN: Final = _function(None, _FS, c_char_p, _OUT, _STATUS)
_NAMES: Final = _function(c_int, _FS, c_char_p, POINTER(c_void_p), _STATUS)
_COUNT: Final = POINTER(c_uint64)
_NUMBER: Final = POINTER(c_int)
_OPTION: Final = POINTER(OptionStruct)
_TOKEN: Final = _function(c_int, _FS, c_char_p, _OUT, _STATUS)


class FilesystemOps(Structure):
    """``TF_FilesystemOps``; what a store in Python never offers is a plain pointer, NULL."""

    _fields_ = (
        ("init", _function(None, _FS, _STATUS)),
        ("cleanup", _function(None, _FS)),
        ("new_random_access_file", _OPEN),
        ("new_writable_file", _OPEN),
        ("new_appendable_file", _OPEN),
        ("new_read_only_memory_region_from_file", _OPEN),
        ("create_dir", _PATH),
        ("recursively_create_dir", _PATH),
        ("delete_file", _PATH),
        ("delete_dir", _PATH),
        ("delete_recursively", _function(None, _FS, c_char_p, _COUNT, _COUNT, _STATUS)),
        ("rename_file", _TWO_PATHS),
        ("copy_file", _TWO_PATHS),
        ("path_exists", _PATH),
        ("paths_exist", _function(c_bool, _FS, POINTER(c_char_p), c_int, POINTER(c_void_p))),
        ("stat", _function(None, _FS, c_char_p, POINTER(Statistics), _STATUS)),
        ("is_directory", _function(c_bool, _FS, c_char_p, _STATUS)),
        ("get_file_size", _function(c_int64, _FS, c_char_p, _STATUS)),
        ("translate_name", _function(c_void_p, _FS, c_char_p)),
        ("get_children", _NAMES),
        ("get_matching_paths", _NAMES),
        ("flush_caches", _function(None, _FS)),
        ("start_transaction", _function(c_int, _FS, _OUT, _STATUS)),
        ("end_transaction", _function(c_int, _FS, c_void_p, _STATUS)),
        ("add_to_transaction", _function(c_int, _FS, c_char_p, c_void_p, _STATUS)),
        ("get_transaction_for_path", _TOKEN),
        ("get_or_start_transaction_for_path", _TOKEN),
        ("decode_transaction_token", _function(c_void_p, _FS, c_void_p)),
        ("get_filesystem_configuration", _function(None, _FS, _OUT, _NUMBER, _STATUS)),
        ("set_filesystem_configuration", _function(None, _FS, _OPTION, c_int, _STATUS)),
        ("get_filesystem_configuration_option", _function(None, _FS, c_char_p, _OUT, _STATUS)),
        ("set_filesystem_configuration_option", _function(None, _FS, _OPTION, _STATUS)),
        ("get_filesystem_configuration_keys", _function(None, _FS, _OUT, _NUMBER, _STATUS)),
    )


class PluginOps(Structure):
    """``TF_FilesystemPluginOps``: a scheme, and four tables with their version numbers."""

    _fields_ = (
        ("scheme", c_void_p),
        *(
            field
            for table in ("filesystem", "random_access_file", "writable_file", "region")
            for field in (
                (f"{table}_abi", c_int),
                (f"{table}_api", c_int),
                (f"{table}_size", c_size_t),
                (f"{table}_ops", c_void_p),
            )
        ),
    )


class PluginInfo(Structure):
    """``TF_FilesystemPluginInfo``."""

    _fields_ = (
        ("num_schemes", c_size_t),
        ("ops", c_void_p),
        ("plugin_memory_allocate", c_void_p),
        ("plugin_memory_free", c_void_p),
    )
