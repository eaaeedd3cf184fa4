"""What a plugin's filesystem answers is checked at every call, and what it fills is guarded.

The plugin goes on being used afterwards: one wrong call costs one failure.
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import _files as files
from drystone_base.host import filesystem as fs
from drystone_base.host import filesystem_options as options
from drystone_base.host.library import open_library
from drystone_base.host.status import Status

_NUMBERS = count()
_WILD = "(char*)(uintptr_t)0x10"
"""An address where nothing is."""
_TWO = 'two_names(entries, "a", "b");'


def deleted(uri: str) -> None:
    """Raise what deleting a tree says."""
    if text := fs.delete_tree(uri).failure:
        raise HostError("x", found=text, status="INTERNAL")


def all_exist(uri: str) -> None:
    """Raise what asking for two paths at once says."""
    paths = (ctypes.c_char_p * 2)(uri.encode(), uri.encode())
    with Status("first") as first, Status("second") as second:
        files.paths_exist(paths, 2, (ctypes.c_void_p * 2)(first.pointer, second.pointer))


# What the plugin does, who notices, and what is told.
_CASES: dict[str, tuple[str, str, Callable[[str], object], str]] = {
    "a size that no file has": (
        "ON_SIZE", "if (status) return INT64_MAX;",
        fs.file_size, ("get_file_size of the {scheme} filesystem ({path}): answered "
        "9223372036854775807, which is more than there can be"),
    ),
    "a length that no file has": (
        "ON_STAT", "stats->length = INT64_MAX; if (path) return;",
        fs.stat, "which is more than there can be",
    ),
    "a time in no year": (
        "ON_STAT", "stats->mtime_nsec = INT64_MAX; if (path) return;",
        fs.stat, "answered a time of change of 9223372036854775807 ns, which is in no year",
    ),
    "a time long before files": (
        "ON_STAT", "stats->mtime_nsec = INT64_MIN; if (path) return;",
        fs.stat, "answered a time of change of -9223372036854775808 ns, which is in no year",
    ),
    "a place that no file has": (
        "ON_TELL", "if (status) return INT64_MAX;",
        lambda uri: fs.append_bytes(uri, b""), "which is more than there can be",
    ),
    "more names than there are": (
        "ON_CHILDREN", "if (path) { two_names(entries, \"a\", \"b\"); return INT_MAX; }",
        fs.list_directory, "answered 2147483647, and its array has not so many",
    ),
    "an array at no address": (
        "ON_CHILDREN", f"if (path) {{ *entries = (char**){_WILD}; return 1; }}",
        fs.list_directory, "answered 1, and its array has not so many",
    ),
    "a name at no address": (
        "ON_CHILDREN", f"if (path) {{ {_TWO} **entries = {_WILD}; return 2; }}",
        fs.list_directory, "answered a text that has no end, or cannot be read",
    ),
    "a match at no address": (
        "ON_MATCHING", f"if (glob) {{ {_TWO} **entries = {_WILD}; return 2; }}",
        fs.glob, "answered a text that has no end, or cannot be read",
    ),
    "a path at no address": (
        "ON_TRANSLATE", f"if (uri) return {_WILD};",
        fs.translate, "({path}): answered a text that has no end, or cannot be read",
    ),
    "a region that is longer than its memory": (
        "ON_LENGTH", "if (region) return (uint64_t)1 << 50;",
        fs.read_memory, "answered memory that cannot be read over the 1125899906842624 bytes",
    ),
    "a region of less than nothing": (
        "ON_LENGTH", "if (region) return UINT64_MAX;",
        fs.read_memory, "answered -1 without an error",
    ),
    "a region at no address": (
        "ON_DATA", f"if (region) return {_WILD};",
        fs.read_memory, "answered memory that cannot be read over the 6 bytes",
    ),
    "more files left than there are": (
        "ON_DELETE", "if (path) { *undeleted_files = UINT64_MAX; return; }",
        deleted, "delete_recursively of the {scheme} filesystem ({path}): answered -1",
    ),
    "more keys than there are": (
        "ON_KEYS", "*num_keys = INT_MAX;",
        lambda uri: options.option_names(uri.partition(":")[0]),
        "answered 2147483647 keys, and no block that has so many",
    ),
    "writes past the buffer": (
        "ON_READ", "if (status) { memset(buffer + n, 1, 8); return (int64_t)n; }",
        lambda uri: fs.read_range(uri, 0, 4),
        "read of the {scheme} filesystem ({path}): wrote outside of the buffer that it was given",
    ),
    "writes past a large buffer": (
        "ON_READ", "if (status) { memset(buffer + n, 1, 1); return (int64_t)n; }",
        lambda uri: fs.read_range(uri, 0, 1 << 20), "wrote outside of the buffer",
    ),
    "writes before a large buffer": (
        "ON_READ", "if (status) { buffer[-1] = 1; return (int64_t)n; }",
        lambda uri: fs.read_range(uri, 0, 1 << 20), "wrote outside of the buffer",
    ),
    "writes past the file while it reads": (
        "ON_READ", "if (status) memset((char*)(uintptr_t)file + sizeof *file, 1, 8);",
        lambda uri: fs.read_range(uri, 0, 4), "wrote outside of the struct of an open file",
    ),
    "writes past the filesystem": (
        "ON_SIZE", "if (status) memset((char*)(uintptr_t)filesystem + sizeof *filesystem, 1, 8);",
        fs.file_size, "wrote outside of the TF_Filesystem that it was given",
    ),
    "writes past the array": (
        "ON_CHILDREN", "if (path) { memset((char*)(entries + 1), 1, 8); return 0; }",
        fs.list_directory, "wrote outside of the pointer to the array that it was given",
    ),
    "writes past the counts": (
        "ON_DELETE", "if (path) { undeleted_dirs[1] = 1; return; }",
        deleted, "wrote outside of the counts that it was given",
    ),
    "writes past the statuses": (
        "ON_PATHS", "memset((char*)(statuses + num_files), 1, 8);",
        all_exist, "wrote outside of the array of statuses that it was given",
    ),
    "writes past the paths": (
        "ON_PATHS", "memset((char*)(paths + num_files), 1, 8);",
        all_exist, "wrote outside of the array of paths that it was given",
    ),
}  # fmt: skip

Scheme = Callable[[str, str], tuple[str, str]]


@pytest.fixture
def misbehaving(compile_library: Callable[..., Path]) -> Scheme:
    """Load a filesystem whose member does something once; its scheme and path."""

    def load(hook: str, does: str) -> tuple[str, str]:
        scheme = f"watched.{next(_NUMBERS)}"
        flags = [f'-DSCHEME="{scheme}"', f"-D{hook}={once(does)}", "-include", "limits.h"]
        library = open_library(compile_library("filesystem_full.c", flags=flags))
        library.initialise("TF_InitPlugin")
        return scheme, library.path

    return load


def once(does: str) -> str:
    return f"static int times; if (times++ == 0) {{ {does} }}"


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("case", _CASES)
def test_what_cannot_be_is_told(case: str, misbehaving: Scheme) -> None:
    hook, does, call, text = _CASES[case]
    scheme, path = misbehaving(hook, does)
    with pytest.raises(HostError) as caught:
        call(f"{scheme}://h/x")
    assert caught.value.status == "INTERNAL"
    assert text.format(scheme=scheme, path=path) in caught.value.found
    call(f"{scheme}://h/x")  # as if nothing had been


def test_files_of_any_year_pass(misbehaving: Scheme) -> None:
    """1960 and 2150, in nanoseconds: such times are odd, and nobody's fault."""
    for year in (1960, 2150):
        time = (year - 1970) * 31_556_952 * 10**9
        scheme, _ = misbehaving("ON_STAT", f"stats->mtime_nsec = {time}LL; if (path) return;")
        assert fs.stat(f"{scheme}://h/x").mtime_nsec == time


def test_a_flood_ends_the_process(compile_library: Callable[..., Path]) -> None:
    """What lies beyond the guard bytes is not to be trusted: the last words say whose it was."""
    does = "memset(buffer + n, 1, 1024);"
    flags = ['-DSCHEME="flood"', f"-DON_READ={does}"]
    library = compile_library("filesystem_full.c", flags=flags)
    program = (
        "import sys\n"
        "from drystone_base.host import filesystem as fs\n"
        "from drystone_base.host.library import open_library\n"
        "open_library(sys.argv[1]).initialise('TF_InitPlugin')\n"
        "fs.read_range('flood://h/x', 0, 4)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, library], capture_output=True, text=True, timeout=60
    )
    assert done.returncode < 0
    assert f"drystone: {library} wrote so far outside of memory" in done.stderr
