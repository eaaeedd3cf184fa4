"""Prototypes of the host's filesystem functions, for ``drystone_base.host.filesystem``."""

from __future__ import annotations

import ctypes
import functools
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint64, c_void_p
from typing import Final

from drystone_base.host import _lib
from drystone_base.host._lib import declare

_STATUS = c_void_p
_OUT = c_void_p  # an output buffer


class Statistics(ctypes.Structure):
    """``TF_FileStatistics``."""

    _fields_ = (("length", c_int64), ("mtime_nsec", c_int64), ("is_directory", ctypes.c_ubyte))


register = declare("TF_RegisterFilesystemPlugin", None, c_char_p, _STATUS)
listing = declare("DS_ListFilesystems", None, _OUT, _STATUS)
cleanup = declare("DS_CleanupFilesystems", None)
flush_caches = declare("DS_FlushCaches", None, c_char_p, _STATUS)

read_whole = declare("DS_ReadWholeFile", None, c_char_p, _OUT, _STATUS)
open_region = declare(
    "DS_OpenMemoryRegion", c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_uint64), _STATUS
)
close_region = declare("DS_CloseMemoryRegion", None, c_void_p)

tell = declare("DS_TellWritableFile", c_int64, c_void_p, _STATUS)
flush = declare("TF_FlushWritableFile", None, c_void_p, _STATUS)
abandon_writable = declare("DS_AbandonWritableFile", None, c_void_p)

path_exists = declare("DS_PathExists", None, c_char_p, _STATUS)
paths_exist = declare("DS_PathsExist", c_bool, POINTER(c_char_p), c_int, POINTER(c_void_p))
is_directory = declare("DS_IsDirectory", c_bool, c_char_p, _STATUS)
file_size = declare("DS_GetFileSize", c_int64, c_char_p, _STATUS)
stat = declare("TF_FileStat", None, c_char_p, POINTER(Statistics), _STATUS)
create_dir = declare("TF_CreateDir", None, c_char_p, _STATUS)
make_dirs = declare("DS_RecursivelyCreateDir", None, c_char_p, _STATUS)
delete_file = declare("TF_DeleteFile", None, c_char_p, _STATUS)
delete_dir = declare("TF_DeleteDir", None, c_char_p, _STATUS)
delete_recursively = declare(
    "TF_DeleteRecursively", None, c_char_p, POINTER(c_int64), POINTER(c_int64), _STATUS
)
rename = declare("DS_RenameFile", None, c_char_p, c_char_p, _STATUS)
copy = declare("DS_CopyFile", None, c_char_p, c_char_p, _STATUS)
translate = declare("DS_TranslateName", None, c_char_p, _OUT, _STATUS)

children = declare("TF_GetChildren", c_void_p, c_char_p, _STATUS)
matching = declare("DS_GetMatchingPaths", c_void_p, c_char_p, _STATUS)
next_string = declare("TF_StringStreamNext", c_bool, c_void_p, POINTER(c_char_p))
end_strings = declare("TF_StringStreamDone", None, c_void_p)

ENDS: Final = frozenset({"OK", "OUT_OF_RANGE"})
"""How reading may end: with all bytes that were asked for, or at the end of the file."""


class Calls:
    """What opens files, moves their bytes and ends them; ``brief`` is as of ``declare``."""

    def __init__(self, *, brief: bool) -> None:
        make = functools.partial(declare, brief=brief)
        self.open_readable = make("DS_OpenReadableFile", c_void_p, c_char_p, _STATUS)
        self.read = make("DS_ReadFile", c_int64, c_void_p, c_uint64, c_size_t, c_void_p, _STATUS)
        self.close_readable = make("DS_CloseReadableFile", None, c_void_p)
        self._writable = make("TF_NewWritableFile", None, c_char_p, POINTER(c_void_p), _STATUS)
        self.open_appendable = make("DS_NewAppendableFile", c_void_p, c_char_p, _STATUS)
        self.append = make("TF_AppendWritableFile", None, c_void_p, c_void_p, c_size_t, _STATUS)
        self.close_writable = make("TF_CloseWritableFile", None, c_void_p, _STATUS)
        self.write_whole = make("DS_WriteWholeFile", None, c_char_p, c_char_p, c_size_t, _STATUS)

    def open_writable(self, path: bytes, status: int | None) -> int | None:
        """Open for writing; the handle, or None when it fails."""
        handle = c_void_p()
        self._writable(path, ctypes.byref(handle), status)
        return handle.value


_waiting, _keeping = Calls(brief=False), Calls(brief=True)
in_python: Final[set[bytes]] = set()
"""Schemes whose filesystems are written in Python: there the host waits for nothing by itself."""


def calls(uri: bytes) -> Calls:
    """Those for a file.

    Where the host only calls Python back they keep the interpreter's lock, which is let go of by
    what waits there: each turn that it takes between threads costs as much as a small file.
    """
    return _keeping if uri.partition(b"://")[0] in in_python else _waiting


def library_is_open() -> bool:
    """Whether the host library has been used in this process."""
    return _lib._open.cache_info().currsize > 0
