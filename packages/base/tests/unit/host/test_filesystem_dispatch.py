"""Calls to a plugin's tables: arguments, fresh statuses, memory, misbehaviour, and defaults."""

from __future__ import annotations

import ctypes
import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.host import filesystem_options
from drystone_base.host._lib import declare
from drystone_base.host.buffer import answer
from drystone_base.host.library import HostLibrary, open_library
from drystone_base.host.status import Status

pytestmark = pytest.mark.cases_in_gate(3)

_NUMBERS = count()
_ALL = "offered"


class Full:
    """A loaded filesystem_full.c."""

    def __init__(self, library: HostLibrary, scheme: str) -> None:
        self.library, self.scheme = library, scheme
        library.initialise("TF_InitPlugin")
        assert self.notes() == ["init 0"]

    def uri(self, path: str) -> str:
        """A path of this filesystem, with a host that the plugin sees."""
        return f"{self.scheme}://h/{path}"

    def _call(self, name: str, result: type) -> object:
        address = self.library.symbol(name)
        assert address is not None
        return ctypes.CFUNCTYPE(result)(address)()

    def notes(self) -> list[str]:
        """What was called since the last time; translated paths without scheme and host."""
        text = self._call("take_notes", ctypes.c_char_p)
        assert isinstance(text, bytes)
        seen = text.decode().replace(f"={self.scheme}://h/", "=").replace(f"{self.scheme}://h/", "")
        return [note for note in seen.split(";") if note]

    def blocks(self) -> object:
        """How many blocks of its memory the host has not freed."""
        return self._call("blocks_alive", ctypes.c_int)


@pytest.fixture
def full(compile_library: Callable[..., Path]) -> Iterator[Callable[..., Full]]:
    """A full filesystem with hooks, and with members left out."""

    def make(**hooks: str) -> Full:
        scheme = f"full.{next(_NUMBERS)}"
        flags = [f'-DSCHEME="{scheme}"', *(f"-D{name}={text}" for name, text in hooks.items())]
        return Full(open_library(compile_library("filesystem_full.c", flags=flags)), scheme)

    yield make
    fs.cleanup()


def _left_out(*members: str) -> str:
    return " ".join(f"{'' if '->' in m else 'table->'}{m} = NULL;" for m in members)


def test_a_file_is_read(full: Callable[..., Full]) -> None:
    plugin = full()
    assert fs.read_range(plugin.uri("f"), 2, 3) == b"234"
    expected = ["new_random_access_file =f", "read 2 3", "cleanup readable 1"]
    assert plugin.notes() == expected
    assert fs.read_range(plugin.uri("f"), 8, 5) == b"89"
    assert fs.read_range(plugin.uri("f"), 2**63, 5) == b""
    assert fs.read_bytes(plugin.uri("f")) == b"0123456789"
    assert plugin.notes()[-2:] == ["read 0 131072", "cleanup readable 1"]
    assert plugin.blocks() == 0


def test_a_file_is_written(full: Callable[..., Full]) -> None:
    plugin = full()
    fs.write_bytes(plugin.uri("f"), b"abc")
    assert plugin.notes() == [
        "new_writable_file =f",
        "append abc",
        "close",
        "cleanup writable 1",
    ]
    assert fs.append_bytes(plugin.uri("f"), b"more") == 42
    assert plugin.notes() == [
        "new_appendable_file =f",
        "append more",
        "tell",
        "close",
        "cleanup writable 1",
    ]


def test_flush_and_sync_reach_the_plugin(full: Callable[..., Full]) -> None:
    plugin = full()
    append = declare("DS_NewAppendableFile", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    with Status("open") as status:
        file = append(plugin.uri("f").encode(), status.pointer)
    for name in ("TF_FlushWritableFile", "TF_SyncWritableFile", "TF_CloseWritableFile"):
        with Status(name) as status:
            declare(name, None, ctypes.c_void_p, ctypes.c_void_p)(file, status.pointer)
    assert plugin.notes()[1:] == ["flush", "sync", "close", "cleanup writable 1"]


def test_a_region_is_mapped(full: Callable[..., Full]) -> None:
    plugin = full()
    assert fs.read_memory(plugin.uri("f")) == b"region"
    expected = ["new_read_only_memory_region_from_file =f", "cleanup region 1"]
    assert plugin.notes() == expected


_CALLS: dict[str, tuple[Callable[[str], object], object, list[str]]] = {
    "create_dir": (fs.create_directory, None, ["create_dir =d"]),
    "recursively_create_dir": (
        lambda uri: fs.create_directory(uri, parents=True),
        None,
        ["recursively_create_dir =d"],
    ),
    "delete_file": (fs.delete, None, ["delete_file =d"]),
    "delete_dir": (fs.delete_directory, None, ["delete_dir =d"]),
    "delete_recursively": (fs.delete_tree, (0, 0, ""), ["delete_recursively =d"]),
    "path_exists": (fs.exists, True, ["path_exists =d"]),
    "paths_exist": (lambda uri: fs.exist([uri, uri]), ["OK", "OK"], ["paths_exist =d"] * 2),
    "stat": (fs.stat, (10, 7, False), ["stat =d"]),
    "is_directory": (fs.is_directory, True, ["is_directory =d"]),
    "get_file_size": (fs.file_size, 10, ["get_file_size =d"]),
    "get_children": (fs.list_directory, ["a", "b"], ["get_children =d"]),
    "get_matching_paths": (fs.glob, ["x://a", "x://b"], ["get_matching_paths d"]),
    "rename_file": (lambda uri: fs.rename(uri, uri + "2"), None, ["to =d2", "rename_file =d"]),
    "copy_file": (lambda uri: fs.copy(uri, uri + "2"), None, ["to =d2", "copy_file =d"]),
}


@pytest.mark.parametrize("member", _CALLS)
def test_a_member_is_called(member: str, full: Callable[..., Full]) -> None:
    call, result, notes = _CALLS[member]
    plugin = full()
    assert call(plugin.uri("d")) == result
    assert plugin.notes() == notes
    assert plugin.blocks() == 0


def test_errors_keep_code_and_text(full: Callable[..., Full]) -> None:
    plugin = full()
    uri = plugin.uri("denied")
    with pytest.raises(HostError) as caught:
        fs.write_bytes(uri, b"")
    assert caught.value.status == "PERMISSION_DENIED"
    assert caught.value.found == (
        f"{uri}: new_writable_file of the {plugin.scheme} filesystem "
        f"({plugin.library.path}): not you"
    )
    assert not fs.exists(plugin.uri("missing"))
    assert fs.exist([plugin.uri("a"), plugin.uri("missing"), uri]) == [
        "OK",
        "NOT_FOUND",
        "PERMISSION_DENIED",
    ]
    left = fs.delete_tree(uri)
    assert (left.files, left.directories) == (3, 4)
    assert left.failure.endswith("not you")
    assert not fs.is_directory(plugin.uri("file"))
    assert "STALE STATUS" not in plugin.notes()
    assert plugin.blocks() == 0


def test_translated_names_and_caches(full: Callable[..., Full]) -> None:
    plugin = full()
    assert fs.translate(plugin.uri("a//b")) == f"={plugin.scheme}://h/a//b"
    fs.flush_caches(plugin.scheme)
    fs.flush_caches()
    assert plugin.notes() == ["flush_caches", "flush_caches"]
    none = full(ON_TRANSLATE="if (uri) return NULL;")
    assert fs.translate(none.uri("a//b/../c")) == "/a/c"


def test_an_open_file_keeps_the_filesystem(full: Callable[..., Full]) -> None:
    plugin = full()
    append = declare("DS_NewAppendableFile", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    close = declare("TF_CloseWritableFile", None, ctypes.c_void_p, ctypes.c_void_p)
    with Status("open") as status:
        file = append(plugin.uri("f").encode(), status.pointer)
    fs.cleanup()
    assert "cleanup region" not in plugin.notes()
    with Status("close") as status:
        close(file, status.pointer)
    assert plugin.notes() == ["close", "cleanup writable 1", "cleanup region"]


_MISBEHAVIOUR: dict[str, tuple[dict[str, str], Callable[[str], object], str]] = {
    "reads too much": (
        {"ON_READ": "if (status) return (int64_t)n + 5;"},
        lambda uri: fs.read_range(uri, 0, 4),
        "read of the SCHEME filesystem (LIBRARY): answered 9 bytes, and 4 were asked for",
    ),
    "reads less than nothing": (
        {"ON_READ": "if (status) return -1;"},
        lambda uri: fs.read_range(uri, 0, 4),
        "answered -1 bytes, and 4 were asked for",
    ),
    "tells a negative place": (
        {"ON_TELL": "if (status) return -8;"},
        lambda uri: fs.append_bytes(uri, b""),
        "tell of the SCHEME filesystem (LIBRARY): answered -8 without an error",
    ),
    "has a negative size": (
        {"ON_SIZE": "if (status) return -2;"},
        fs.file_size,
        "answered -2 without an error",
    ),
    "has a negative count": (
        {"ON_CHILDREN": "if (status) return -1;"},
        fs.list_directory,
        "answered -1 without an error",
    ),
    "has a count and no names": (
        {"ON_CHILDREN": "if (status) return 3;"},
        fs.list_directory,
        "answered 3 and no array",
    ),
    "has a name that is NULL": (
        {"ON_CHILDREN": '*entries = allocate(16), **entries = text_of("a"); if (path) return 2;'},
        fs.list_directory,
        "answered an array with a NULL in it",
    ),
    **{f"names the child {name}": (
        {"ON_CHILDREN": f'if (path) return two_names(entries, "a", "{name}");'},
        fs.list_directory, f"answered {name}, which is outside of what it was asked for",
    ) for name in ("..", "../", "a/b", "/etc/passwd", "a/../..", "a//", "/")},
    "matches what is above": (
        {"ON_MATCHING": 'if (glob) return two_names(entries, "x://a/../b", "x://a");'},
        fs.glob, "answered x://a/../b, which is outside of what it was asked for",
    ),
    "has a negative length": (
        {"ON_STAT": "stats->length = -(path != NULL); if (path) return;"},
        fs.stat, "answered -1 without an error",
    ),
    "writes past the statistics": (
        {"ON_STAT": "memset((char*)stats + 24 * (path != NULL), 1, 16);"},
        fs.stat,
        "(LIBRARY): wrote outside of the TF_FileStatistics that it was given",
    ),
    "writes past the file": (
        {"ON_OPEN": "memset((char*)file + 8 * (path != NULL), 1, 16);"},
        fs.read_bytes,
        "wrote outside of the struct of an open file that it was given",
    ),
    "has a region of nothing": (
        {"ON_DATA": "if (region) return NULL;"},
        fs.read_memory,
        "answered memory that cannot be read over the 6 bytes that length answers",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", _MISBEHAVIOUR)
def test_misbehaviour_is_told(case: str, full: Callable[..., Full]) -> None:
    hooks, call, text = _MISBEHAVIOUR[case]
    plugin = full(**hooks)
    with pytest.raises(HostError) as caught:
        call(plugin.uri("x"))
    assert caught.value.status == "INTERNAL"
    text = text.replace("SCHEME", plugin.scheme).replace("LIBRARY", plugin.library.path)
    assert caught.value.found.endswith(text)
    assert plugin.blocks() == 0


def test_any_byte_is_a_boolean(full: Callable[..., Full]) -> None:
    plugin = full(ON_STAT="memset(&stats->is_directory, 0x80, 1);")
    assert fs.stat(plugin.uri("x")).is_directory is True


def test_a_failing_close_still_frees(full: Callable[..., Full]) -> None:
    plugin = full(ON_CLOSE='TF_SetStatus(status, TF_DATA_LOSS, "lost");')
    with pytest.raises(HostError) as caught:
        fs.write_bytes(plugin.uri("x"), b"abc")
    assert caught.value.status == "DATA_LOSS"
    assert plugin.notes()[-2:] == ["close", "cleanup writable 1"]
    with pytest.raises(HostError, match="lost"):
        fs.append_bytes(plugin.uri("x"), b"abc")
    assert plugin.notes()[-1] == "cleanup writable 1"


# ---- members that are NULL ----


def test_the_status_is_fresh_for_a_silent_plugin(full: Callable[..., Full]) -> None:
    plugin = full(ON_APPEND='if (n == 3) TF_SetStatus(status, TF_ABORTED, "stale");')
    with pytest.raises(HostError, match="stale"):
        fs.append_bytes(plugin.uri("x"), b"abc")
    assert fs.append_bytes(plugin.uri("x"), b"ab") == 42


_UNIMPLEMENTED: dict[str, tuple[str, Callable[[str], object]]] = {
    "new_random_access_file": ("new_random_access_file", fs.read_bytes),
    "new_writable_file": ("new_writable_file", lambda uri: fs.write_bytes(uri, b"")),
    "new_appendable_file": ("new_appendable_file", lambda uri: fs.append_bytes(uri, b"")),
    "new_read_only_memory_region_from_file": (
        "new_read_only_memory_region_from_file",
        fs.read_memory,
    ),
    "create_dir": ("create_dir", fs.create_directory),
    "delete_file": ("delete_file", fs.delete),
    "delete_dir": ("delete_dir", fs.delete_directory),
    "path_exists": ("path_exists", fs.exists),
    "stat": ("stat", fs.stat),
    "get_children": ("get_children", fs.list_directory),
    "append": ("writable->append", lambda uri: fs.write_bytes(uri, b"abc")),
    "tell": ("writable->tell", lambda uri: fs.append_bytes(uri, b"abc")),
}


@pytest.mark.parametrize("member", _UNIMPLEMENTED)
def test_a_member_without_default(member: str, full: Callable[..., Full]) -> None:
    field, call = _UNIMPLEMENTED[member]
    plugin = full(LEAVE_OUT=_left_out(field))
    with pytest.raises(HostError) as caught:
        call(plugin.uri("x"))
    assert caught.value.status == "UNIMPLEMENTED"
    assert caught.value.found.endswith(
        f"{member} is not offered by the {plugin.scheme} filesystem ({plugin.library.path})"
    )


_DEFAULTS: dict[str, tuple[str, Callable[[str], object], object, list[str]]] = {
    "paths_exist": (
        "paths_exist",
        lambda uri: fs.exist([uri, uri + "missing"]),
        ["OK", "NOT_FOUND"],
        ["path_exists =d", "path_exists =dmissing"],
    ),
    "is_directory": ("is_directory", fs.is_directory, False, ["stat =d"]),
    "get_file_size": ("get_file_size", fs.file_size, 10, ["stat =d"]),
    "flush_caches": ("flush_caches", lambda _: fs.flush_caches(), None, []),
    "sync and close": (
        "writable->close",
        lambda uri: fs.write_bytes(uri, b"x"),
        None,
        ["new_writable_file =d", "append x", "flush", "cleanup writable 1"],
    ),
    "copy_file": (
        "copy_file",
        lambda uri: fs.copy(uri, uri + "2"),
        None,
        [
            *("new_random_access_file =d", "new_writable_file =d2", "read 0 131072"),
            *("append 0123456789", "close", "cleanup writable 1", "cleanup readable 1"),
        ],
    ),
    "rename_file": (
        "rename_file",
        lambda uri: fs.rename(uri, uri + "2"),
        None,
        ["to =d2", "copy_file =d", "delete_file =d"],
    ),
    "rename to itself": (
        "rename_file",
        lambda uri: fs.rename(uri, uri),
        None,
        ["path_exists =d"],
    ),
    "copy to itself": (
        "copy_file",
        lambda uri: fs.copy(uri, uri),
        None,
        ["path_exists =d"],
    ),
}


@pytest.mark.parametrize("case", _DEFAULTS)
def test_a_default(case: str, full: Callable[..., Full]) -> None:
    field, call, result, notes = _DEFAULTS[case]
    plugin = full(LEAVE_OUT=_left_out(field))
    assert call(plugin.uri("d")) == result
    assert plugin.notes() == notes


def test_directories_are_made_from_the_top(full: Callable[..., Full]) -> None:
    plugin = full(LEAVE_OUT=_left_out("recursively_create_dir"))
    fs.create_directory(plugin.uri("d"), parents=True)
    assert plugin.notes() == ["path_exists =d", "is_directory =d"]
    with pytest.raises(HostError, match=r"create_dir .*it is missing"):
        fs.create_directory(plugin.uri("d/missing/b"), parents=True)
    assert plugin.notes() == [
        *("path_exists =d/missing/b", "path_exists =d/missing", "path_exists =d"),
        *("is_directory =d", "create_dir =d/missing"),
    ]
    with pytest.raises(HostError) as caught:
        fs.create_directory(plugin.uri("file"), parents=True)
    assert caught.value.status == "FAILED_PRECONDITION"


def test_a_path_is_cleaned_up_without_translate_name(full: Callable[..., Full]) -> None:
    plugin = full(LEAVE_OUT=_left_out("translate_name"))
    fs.stat(plugin.uri("a//b/./../c/"))
    fs.stat(f"{plugin.scheme}://host")
    assert plugin.notes() == ["stat /a/c", "stat /"]


# ---- transactions and options ----

_START = declare("DS_StartTransaction", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_END = declare("DS_EndTransaction", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_ADD = declare("DS_AddToTransaction", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p)
_OF_PATH = declare(
    "DS_TransactionOfPath", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p
)
_DESCRIBE = declare(
    "DS_DescribeTransaction",
    None,
    ctypes.c_char_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.c_void_p,
)
_OPTIONS = declare(
    "DS_GetFilesystemOptions", None, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p
)


def test_a_transaction(full: Callable[..., Full]) -> None:
    plugin = full()
    scheme = plugin.scheme.encode()
    with Status("start") as status:
        token = _START(scheme, status.pointer)
    with Status("add") as status:
        _ADD(plugin.uri("a").encode(), token, status.pointer)
    assert answer("describe", lambda out, s: _DESCRIBE(scheme, token, out, s)) == b"region"
    with Status("end") as status:
        _END(scheme, token, status.pointer)
    assert plugin.notes() == ["add_to_transaction =a", "end_transaction region"]
    for start, member in (
        (0, "get_transaction_for_path"),
        (1, "get_or_start_transaction_for_path"),
    ):
        with Status("find") as status:
            found = _OF_PATH(plugin.uri("a").encode(), start, status.pointer)
        with Status("end") as status:
            _END(scheme, found, status.pointer)
        assert plugin.notes()[0] == f"{member} =a"
    assert plugin.blocks() == 0


def test_a_transaction_that_fails(full: Callable[..., Full]) -> None:
    plugin = full(ON_TRANSACTION="if (token) return 5;")
    with pytest.raises(HostError, match=r"start_transaction .*answered 5"), Status("start") as s:
        _START(plugin.scheme.encode(), s.pointer)
    with pytest.raises(HostError, match="it is missing"), Status("find") as s:
        _OF_PATH(plugin.uri("missing").encode(), 0, s.pointer)
    with pytest.raises(HostError) as caught, Status("local") as s:
        _START(b"file", s.pointer)
    assert caught.value.status == "UNIMPLEMENTED"
    assert "the local filesystem has no transactions and no options" in caught.value.found


def test_options(full: Callable[..., Full]) -> None:
    plugin = full()
    scheme = plugin.scheme.encode()
    assert json.loads(answer("options", lambda out, s: _OPTIONS(scheme, out, s))) == [
        {"name": "retries", "description": "how often", "per_file": False, "values": [-3, 9]},
        {"name": "share", "description": "", "per_file": True, "values": [0.5]},
        {"name": "key", "description": "secret", "per_file": False, "values": ["bytes"]},
        {"name": "", "description": "", "per_file": False, "values": []},
    ]
    found = ("retries", "how often", False, (-3, 9))
    assert filesystem_options.options(plugin.scheme)[0] == found
    plugin.notes()
    assert filesystem_options.get_option(plugin.scheme, "retries") == found
    assert filesystem_options.option_names(plugin.scheme) == ["retries", "share"]
    filesystem_options.set_option(plugin.scheme, "share", [0.5, 1.5])
    filesystem_options.set_options(plugin.scheme, {"retries": 3, "key": "bytes"})
    assert plugin.notes() == [
        "get_filesystem_configuration_option retries",
        "get_filesystem_configuration_keys",
        "set_filesystem_configuration_option share",
        "set_filesystem_configuration 2",
    ]
    assert plugin.blocks() == 0
    with pytest.raises(HostError, match="it is missing"):
        filesystem_options.get_option(plugin.scheme, "missing")
    none = full(ON_KEYS="release(*keys); *keys = NULL; *num_keys = 1;").scheme
    with pytest.raises(HostError, match="answered 1 keys, and no block that has so many"):
        filesystem_options.option_names(none)
    bad = full(ON_OPTIONS="*num_options = -4;").scheme.encode()
    with pytest.raises(HostError, match="answered -4 options, and no block that has so many"):
        answer("options", lambda out, s: _OPTIONS(bad, out, s))
