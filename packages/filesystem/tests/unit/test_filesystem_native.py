"""posix:// and ram://: the filesystems in C++ of this package. S2-filesystems."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.host.open_files import Readable, Writable
from drystone_filesystem import gfile, native
from drystone_filesystem.native import serve_library

pytestmark = pytest.mark.skipif(
    not native.library().is_file(), reason="a source tree in which the library was not built"
)
_RUNS = itertools.count()


@pytest.fixture(autouse=True)
def _served() -> None:
    serve_library("ram", native.library())


@pytest.fixture(params=["posix", "ram"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty folder of either filesystem."""
    return f"posix://{tmp_path}" if request.param == "posix" else ram()


def ram() -> str:
    """An empty folder in memory."""
    place = f"ram://test{next(_RUNS)}/x"
    fs.create_directory(place, parents=True)
    return place


@pytest.fixture
def options() -> Iterator[Any]:
    """``options(scheme, name, value)`` sets one until the test ends."""
    from drystone_base.host.filesystem_options import set_option

    changed: list[tuple[str, str]] = []

    def change(scheme: str, name: str, value: int) -> None:
        changed.append((scheme, name))
        set_option(scheme, name, value)

    yield change
    for scheme, name in changed:
        set_option(scheme, name, 0)


def test_every_member_is_offered() -> None:
    """Rows E4 and E17: all 33 functions of a filesystem, and those of its files."""
    offers = {one["scheme"]: one["offers"] for one in fs.filesystems()}
    for scheme in ("posix", "ram"):
        assert len([name for name in offers[scheme] if "." not in name]) == 31  # init, cleanup
        assert sum("." in name for name in offers[scheme]) == 8


def test_a_file_larger_than_32_bits(tmp_path: Path) -> None:
    place = tmp_path / "sparse"
    length = (5 << 30) + 3
    place.touch()
    os.truncate(place, length)
    with place.open("r+b") as file:
        file.seek(length - 3)
        file.write(b"end")
    uri = f"posix://{place}"
    assert fs.stat(uri).length == fs.file_size(uri) == length
    assert fs.read_range(uri, length - 5, 99) == b"\0\0end"
    assert fs.append_bytes(uri, b"!") == length + 1
    assert fs.read_range(uri, length, 9) == b"!"
    assert fs.read_range(uri, 1 << 62, 9) == b""


def test_two_who_replace_a_file_leave_no_hole(tmp_path: Path) -> None:
    uri = f"posix://{tmp_path}/file"
    first = Writable(uri)
    first.append(b"xxxx")
    first.flush()
    second = Writable(uri)
    first.append(b"xx")
    first.close()
    second.close()
    assert fs.read_bytes(uri) == b"xx"


def test_names_of_any_bytes(base: str) -> None:
    name = os.fsdecode(b"\xff\xfe not UTF-8 \x01")
    fs.write_bytes(f"{base}/{name}", b"x")
    assert fs.list_directory(base) == [name]
    assert fs.read_bytes(f"{base}/{name}") == b"x"
    assert fs.glob(f"{base}/{os.fsdecode(bytes([0xFF]))}?*") == [f"{base}/{name}"]


def test_symbolic_links(tmp_path: Path, options: Any) -> None:
    """A tree that is deleted ends at links, and a file that is replaced leaves its link a link."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept/file").write_bytes(b"old")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/link").symlink_to(tmp_path / "kept")
    (tmp_path / "tree/nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "link").symlink_to(tmp_path / "kept/file")
    uri = f"posix://{tmp_path}"
    assert fs.read_bytes(f"{uri}/tree/link/../kept/file") == b"old"  # as the system takes ".."
    assert not fs.exists(f"{uri}/tree/nowhere")
    assert fs.delete_tree(f"{uri}/tree") == (0, 0, "")
    options("posix", "atomic_writes", 1)
    fs.write_bytes(f"{uri}/link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept/file").read_bytes() == b"new"


@pytest.mark.parametrize("uri", ["posix://{}", "{}"])
def test_who_opens_a_pipe_does_not_wait_for_its_other_end(uri: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    pipe = uri.format(tmp_path / "pipe")
    for opened in (Readable, fs.read_memory, gfile.GFile, fs.read_bytes):
        with pytest.raises(HostError, match="is a pipe, which cannot be read at a place") as caught:
            opened(pipe)
        assert caught.value.status == "FAILED_PRECONDITION"
    with pytest.raises(HostError, match="is a pipe"):
        gfile.copy(pipe, str(tmp_path / "copy"))


@pytest.mark.nightly
@pytest.mark.parametrize("uri", ["posix://{}", "{}"])
def test_who_writes_to_a_pipe_that_nobody_reads_gives_up(uri: str, tmp_path: Path) -> None:
    """After ten seconds each."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HostError, match="is a pipe that nobody reads"):
        Writable(uri.format(tmp_path / "pipe"))


def test_a_pipe_that_is_read_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    late = threading.Timer(0.1, reader.start)
    late.start()
    with Writable(f"posix://{tmp_path}/pipe") as file:
        file.append(b"text")
    late.join()
    reader.join(10)
    assert got == [b"text"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the system refuses its administrator nothing")
def test_permissions(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(HostError) as caught:
        fs.write_bytes(f"posix://{tmp_path}/closed/file", b"x")
    assert caught.value.status == "PERMISSION_DENIED"


def test_modes_are_those_of_a_new_file(tmp_path: Path, options: Any) -> None:
    mask = os.umask(0o027)
    try:
        fs.write_bytes(f"posix://{tmp_path}/plain", b"x")
        options("posix", "atomic_writes", 1)
        fs.write_bytes(f"posix://{tmp_path}/atomic", b"x")
        (tmp_path / "own").touch(0o600)
        fs.write_bytes(f"posix://{tmp_path}/own", b"x")
    finally:
        os.umask(mask)
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes == {"plain": 0o640, "atomic": 0o640, "own": 0o600}


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (lambda at: fs.read_bytes(f"{at}/none"), "NOT_FOUND"),
        (lambda at: fs.read_bytes(f"{at}/folder"), "FAILED_PRECONDITION"),
        (lambda at: fs.write_bytes(f"{at}/folder", b""), "FAILED_PRECONDITION"),
        (lambda at: fs.write_bytes(f"{at}/none/file", b""), "NOT_FOUND"),
        (lambda at: fs.list_directory(f"{at}/file"), "FAILED_PRECONDITION"),
        (lambda at: fs.create_directory(f"{at}/folder"), "ALREADY_EXISTS"),
        (lambda at: fs.create_directory(f"{at}/file"), "ALREADY_EXISTS"),
        (lambda at: fs.create_directory(f"{at}/file/x", parents=True), "FAILED_PRECONDITION"),
        (lambda at: fs.delete(f"{at}/folder"), "FAILED_PRECONDITION"),
        (lambda at: fs.delete_directory(f"{at}/file"), "FAILED_PRECONDITION"),
        (lambda at: fs.delete_directory(f"{at}/folder"), "FAILED_PRECONDITION"),
        (lambda at: fs.rename(f"{at}/none", f"{at}/x"), "NOT_FOUND"),
        (lambda at: fs.rename(f"{at}/file", f"{at}/folder"), "FAILED_PRECONDITION"),
        (lambda at: fs.rename(f"{at}/folder", f"{at}/folder/x"), "INVALID_ARGUMENT"),
        (lambda at: fs.copy(f"{at}/folder", f"{at}/x"), "FAILED_PRECONDITION"),
        (lambda at: fs.file_size(f"{at}/folder"), "FAILED_PRECONDITION"),
    ],
)
def test_statuses_are_those_of_tensorflows_local_files(base: str, call: Any, status: str) -> None:
    fs.create_directory(f"{base}/folder")
    fs.write_bytes(f"{base}/folder/file", b"x")
    fs.write_bytes(f"{base}/file", b"y")
    with pytest.raises(HostError) as caught:
        call(base)
    assert caught.value.status == status, str(caught.value)


def test_a_rename_is_seen_whole(base: str, options: Any) -> None:
    """Who reads while files take one another's place finds one of them, never nothing."""
    options("posix", "atomic_writes", 1)
    texts = [b"first" * 5000, b"second" * 7000]
    fs.write_bytes(f"{base}/file", texts[0])
    done = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(fs.read_bytes(f"{base}/file"))

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(60):
        if k % 2:
            fs.write_bytes(f"{base}/file", texts[k // 2 % 2])
        else:
            fs.write_bytes(f"{base}/draft", texts[k // 2 % 2])
            fs.rename(f"{base}/draft", f"{base}/file")
    done.set()
    reader.join()
    assert seen <= set(texts)
    assert fs.list_directory(base) == ["file"]


def test_what_is_given_up_does_not_show(base: str, options: Any) -> None:
    options("posix", "atomic_writes", 1)
    fs.write_bytes(f"{base}/old", b"old")
    for name in ("old", "new"):
        file = Writable(f"{base}/{name}")
        file.append(b"half")
        file.abandon()
    assert fs.list_directory(base) == ["old"]
    assert fs.read_bytes(f"{base}/old") == b"old"


def test_ram_shows_what_is_flushed_and_keeps_what_is_open() -> None:
    base = ram()
    fs.write_bytes(f"{base}/a", b"first")
    reader = Readable(f"{base}/a")
    with Writable(f"{base}/a") as file:
        file.append(b"second")
        assert fs.read_bytes(f"{base}/a") == b"first"
        file.flush()
        assert fs.read_bytes(f"{base}/a") == b"second"
    fs.delete(f"{base}/a")
    room = bytearray(9)
    assert bytes(room[: reader.read_into(0, memoryview(room))]) == b"first"
    reader.close()


def test_copies_in_memory_do_not_share_what_is_appended() -> None:
    base = ram()
    fs.write_bytes(f"{base}/a", b"same")
    fs.copy(f"{base}/a", f"{base}/b")
    fs.append_bytes(f"{base}/a", b" one")
    fs.append_bytes(f"{base}/b", b" other")
    assert fs.read_bytes(f"{base}/a") == b"same one"
    assert fs.read_bytes(f"{base}/b") == b"same other"


def test_memory_has_a_limit(options: Any) -> None:
    base = ram()
    options("ram", "byte_limit", 1000)
    fs.write_bytes(f"{base}/a", b"x" * 900)
    with pytest.raises(HostError, match="byte_limit is 1000, and 900 bytes are in use") as caught:
        fs.write_bytes(f"{base}/b", b"x" * 200)
    assert caught.value.status == "RESOURCE_EXHAUSTED"
    fs.delete(f"{base}/a")
    fs.write_bytes(f"{base}/b", b"x" * 200)


def test_a_host_is_a_directory() -> None:
    with gfile.GFile("ram://fresh/file.txt", "w") as file:
        file.write("text")
    assert gfile.isdir("ram://fresh")
    assert gfile.exists("ram://fresh/x/../../../fresh/../file.txt") is True
    assert not gfile.exists("ram://other/file.txt")
    gfile.rmtree("ram://fresh")
    assert not gfile.exists("ram://fresh")


_NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/a", "missing/a"])
_STEPS = st.tuples(
    st.sampled_from(["write", "append", "read", "delete", "mkdir", "dirs", "rmdir", "list", "copy",
                     "rename", "size", "tree", "glob"]),
    _NAMES,
    _NAMES,
    st.binary(max_size=9),
)  # fmt: skip


def _outcome(base: str, step: tuple[str, str, str, bytes]) -> Any:
    name, path, other, data = step
    uri = f"{base}/{path}"
    calls: dict[str, Any] = {
        "write": lambda: fs.write_bytes(uri, data),
        "append": lambda: fs.append_bytes(uri, data),
        "read": lambda: (fs.read_bytes(uri), fs.read_memory(uri), fs.read_range(uri, 3, 9)),
        "delete": lambda: fs.delete(uri),
        "mkdir": lambda: fs.create_directory(uri),
        "dirs": lambda: fs.create_directory(uri, parents=True),
        "rmdir": lambda: fs.delete_directory(uri),
        "list": lambda: fs.list_directory(uri),
        "copy": lambda: fs.copy(uri, f"{base}/{other}"),
        "rename": lambda: fs.rename(uri, f"{base}/{other}"),
        "size": lambda: (fs.file_size(uri), fs.stat(uri).is_directory, fs.exists(uri)),
        "tree": lambda: fs.delete_tree(uri)[:2],
        "glob": lambda: [one.removeprefix(base) for one in fs.glob(f"{base}/*/[!b]*")],
    }
    try:
        return calls[name]()
    except HostError as error:  # which of the two is said first is the system's own
        return "failed" if error.status in ("NOT_FOUND", "FAILED_PRECONDITION") else error.status


@given(st.lists(_STEPS, max_size=20))
@settings(max_examples=60, deadline=None, derandomize=True)
def test_three_local_filesystems_are_one(steps: list[tuple[str, str, str, bytes]]) -> None:
    """The host's own, posix:// and ram:// answer the same to the same calls."""
    import tempfile

    with tempfile.TemporaryDirectory() as own, tempfile.TemporaryDirectory() as folder:
        places = [own, f"posix://{folder}", ram()]
        for step in steps:
            first, second, third = [_outcome(place, step) for place in places]
            assert first == second == third, step


def test_a_transaction_from_python(base: str) -> None:
    """Rows E6, E17: files of a block show together, or not at all."""
    import drystone_filesystem as io

    with io.transaction(base) as begun:
        fs.write_bytes(f"{base}/a", b"1")
        fs.write_bytes(f"{base}/b", b"2")
        assert str(begun).endswith("1 paths, 2 files kept aside")
        assert io.transaction_of(f"{base}/new") == begun
        assert gfile.glob(f"{base}/[!.]*") == []
    assert gfile.glob(f"{base}/*") == [f"{base}/a", f"{base}/b"]
    with pytest.raises(ZeroDivisionError), io.transaction(f"{base}/a"):
        fs.write_bytes(f"{base}/a", bytes(1 // 0))
    with pytest.raises(HostError) as caught:
        io.transaction_of(f"{base}/a")
    assert caught.value.status == "NOT_FOUND"
    assert fs.read_bytes(f"{base}/a") == b"1"
    assert fs.list_directory(base) == ["a", "b"]


def test_options_from_python() -> None:
    import drystone_filesystem as io

    assert io.option_names("posix") == ["atomic_writes", "sync_on_close", "abandon_transaction"]
    before = io.options("posix")
    with pytest.raises(HostError, match='there is no option "other"'):
        io.set_options("posix", {"atomic_writes": 1, "other": 1})
    with pytest.raises(HostError, match="atomic_writes must be one whole number from 0 to 1"):
        io.set_option("posix", "atomic_writes", 0.5)
    assert io.options("posix") == before
    io.set_options("posix", {"atomic_writes": 1, "sync_on_close": 1})
    assert [io.get_option("posix", name).values for name in io.option_names("posix")[:2]] == [
        (1,),
        (1,),
    ]
    io.set_options("posix", {"atomic_writes": 0, "sync_on_close": 0})
    with pytest.raises(HostError, match="has no transactions and no options"):
        io.options("file")
