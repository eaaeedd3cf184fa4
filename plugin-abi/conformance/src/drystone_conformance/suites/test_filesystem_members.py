"""Each member of the filesystem's table: what it does, or what the host does in its place.

A member that a filesystem leaves NULL has a default, which then must hold the same promise, or is
UNIMPLEMENTED. `init` and `cleanup` are tested with the process's end (test_filesystem_faults).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.host import filesystem_options as special
from drystone_base.host.open_files import Readable, Writable
from drystone_conformance.subject import Subject

pytestmark = pytest.mark.module("filesystem")


def fails(call: Callable[[], object], *statuses: str) -> None:
    """The call fails with one of the statuses, and says something; UNIMPLEMENTED is passed on."""
    with pytest.raises(HostError) as caught:
        call()
    if caught.value.status == "UNIMPLEMENTED":
        raise caught.value
    assert caught.value.status in statuses, str(caught.value)
    assert caught.value.found


def _read(at: str) -> None:
    fs.write_bytes(f"{at}/file", bytes(range(200)))
    file = Readable(f"{at}/file")
    room = bytearray(60)
    assert file.read_into(100, memoryview(room)) == 60
    assert room == bytes(range(100, 160))
    assert file.read_into(190, memoryview(room)) == 10
    assert file.read_into(1 << 40, memoryview(room)) == 0
    file.close()


def _write(at: str) -> None:
    with Writable(f"{at}/file") as file:
        file.append(b"one")
        file.append(b"")
        file.append(b" two")
        file.flush()
        file.append(b"\0three")
    assert fs.read_bytes(f"{at}/file") == b"one two\0three"


def _append(at: str) -> None:
    fs.append_bytes(f"{at}/file", b"one")
    assert fs.append_bytes(f"{at}/file", b" two") == 7
    assert fs.read_bytes(f"{at}/file") == b"one two"


def _map(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"x" * 5000)
    assert fs.read_memory(f"{at}/file") == b"x" * 5000
    fails(lambda: fs.read_memory(f"{at}/none"), "NOT_FOUND")


def _make(at: str) -> None:
    fs.create_directory(f"{at}/made")
    assert fs.is_directory(f"{at}/made")
    fails(lambda: fs.create_directory(f"{at}/made"), "ALREADY_EXISTS")
    fails(lambda: fs.create_directory(f"{at}/none/made"), "NOT_FOUND")


def _make_all(at: str) -> None:
    fs.create_directory(f"{at}/a/b/c", parents=True)
    fs.create_directory(f"{at}/a/b/c", parents=True)
    assert fs.is_directory(f"{at}/a/b/c")
    fs.write_bytes(f"{at}/file", b"")
    fails(lambda: fs.create_directory(f"{at}/file", parents=True), "FAILED_PRECONDITION")


def _delete(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"x")
    fs.delete(f"{at}/file")
    assert not fs.exists(f"{at}/file")
    fails(lambda: fs.delete(f"{at}/file"), "NOT_FOUND")


def _delete_directory(at: str) -> None:
    fs.create_directory(f"{at}/made")
    fs.write_bytes(f"{at}/made/file", b"x")
    fails(lambda: fs.delete_directory(f"{at}/made"), "FAILED_PRECONDITION")
    fails(lambda: fs.delete_directory(f"{at}/made/file"), "FAILED_PRECONDITION")
    fs.delete(f"{at}/made/file")
    fs.delete_directory(f"{at}/made")
    assert not fs.exists(f"{at}/made")
    fails(lambda: fs.delete_directory(f"{at}/made"), "NOT_FOUND")


def _delete_tree(at: str) -> None:
    for name in ("a", "tree/b", "tree/c/d"):
        fs.create_directory(f"{at}/{name}".rpartition("/")[0], parents=True)
        fs.write_bytes(f"{at}/{name}", b"x")
    assert fs.delete_tree(f"{at}/tree") == (0, 0, "")
    assert not fs.exists(f"{at}/tree/c/d")
    assert fs.exists(f"{at}/a")
    files, directories, why = fs.delete_tree(f"{at}/tree")
    assert files + directories == 1
    assert why


def _rename(at: str) -> None:
    fs.write_bytes(f"{at}/a", b"new")
    fs.write_bytes(f"{at}/b", b"old")
    fs.rename(f"{at}/a", f"{at}/b")
    fs.rename(f"{at}/b", f"{at}/b")
    assert fs.read_bytes(f"{at}/b") == b"new"
    assert not fs.exists(f"{at}/a")
    fails(lambda: fs.rename(f"{at}/a", f"{at}/b"), "NOT_FOUND")
    assert fs.read_bytes(f"{at}/b") == b"new"


def _copy(at: str) -> None:
    fs.write_bytes(f"{at}/a", b"new" * 100_000)
    fs.write_bytes(f"{at}/b", b"old")
    fs.copy(f"{at}/a", f"{at}/b")
    fs.copy(f"{at}/b", f"{at}/b")
    assert fs.read_bytes(f"{at}/a") == fs.read_bytes(f"{at}/b") == b"new" * 100_000
    fails(lambda: fs.copy(f"{at}/none", f"{at}/b"), "NOT_FOUND")
    assert fs.read_bytes(f"{at}/b") == b"new" * 100_000


def _exists(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"")
    assert fs.exists(f"{at}/file")
    assert not fs.exists(f"{at}/none")
    assert not fs.exists(f"{at}/file-not")


def _exist(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"x")
    paths = [f"{at}/{name}" for name in ("file", "none", "file")]
    assert fs.exist(paths) == ["OK", "NOT_FOUND", "OK"]
    assert fs.exist([]) == []


def _stat(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"12345")
    found = fs.stat(f"{at}/file")
    assert (found.length, found.is_directory) == (5, False)
    assert abs(found.mtime_nsec / 1e9 - time.time()) < 24 * 3600
    assert fs.stat(at).is_directory
    fails(lambda: fs.stat(f"{at}/none"), "NOT_FOUND")


def _is_directory(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"x")
    assert fs.is_directory(at)
    assert not fs.is_directory(f"{at}/file")
    assert not fs.is_directory(f"{at}/none")


def _size(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"12345")
    assert fs.file_size(f"{at}/file") == 5
    fails(lambda: fs.file_size(at), "FAILED_PRECONDITION")
    fails(lambda: fs.file_size(f"{at}/none"), "NOT_FOUND")


def _translate(at: str) -> None:
    assert fs.translate(f"{at}/file") == fs.translate(f"{at}/file")
    assert fs.translate(f"{at}/a") != fs.translate(f"{at}/b")


def _children(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"x")
    fs.write_bytes(f"{at}/.hidden", b"x")
    assert fs.list_directory(at) == [".hidden", "file"]
    assert fs.list_directory(f"{at}/") == [".hidden", "file"]


def _matching(at: str) -> None:
    for name in ("a1", "a2", "b1"):
        fs.write_bytes(f"{at}/{name}", b"x")
    above, _, name = at.rpartition("/")
    assert fs.glob(f"{above}/{name[:-1]}?/[!b]*") == [f"{at}/a1", f"{at}/a2"]
    assert fs.glob(f"{at}/*") == [f"{at}/a1", f"{at}/a2", f"{at}/b1"]
    assert fs.glob(f"{at}/a1") == [f"{at}/a1"]
    assert fs.glob(f"{at}/none/*") == []


def _flush(at: str) -> None:
    fs.write_bytes(f"{at}/file", b"first")
    assert fs.read_bytes(f"{at}/file") == b"first"
    fs.write_bytes(f"{at}/file", b"second")
    fs.flush_caches(at.partition("://")[0])
    assert fs.read_bytes(f"{at}/file") == b"second"


def _transaction(at: str) -> None:
    with special.transaction(f"{at}/file"):
        fs.write_bytes(f"{at}/file", b"x")
    assert fs.read_bytes(f"{at}/file") == b"x"


def _in_transaction(at: str) -> None:
    with special.transaction(f"{at}/file") as begun:
        assert special.transaction_of(f"{at}/file") == begun
        assert special.transaction_of(f"{at}/file", start=True) == begun
        assert str(begun)
    fails(lambda: special.transaction_of(f"{at}/file"), "NOT_FOUND")


def _new_transaction(at: str) -> None:
    begun = special.transaction_of(f"{at}/file", start=True)
    assert special.transaction_of(f"{at}/file", start=True) == begun
    begun.end()
    special.transaction_of(f"{at}/file", start=True).end()


def _known(scheme: str) -> list[special.Option]:
    """The options, as far as the filesystem tells them."""
    try:
        return special.options(scheme)
    except HostError as error:
        if error.status != "UNIMPLEMENTED":
            raise
        return []


def _options(at: str) -> None:
    scheme = at.partition("://")[0]
    every = special.options(scheme)
    names = [one.name for one in every]
    assert len(set(names)) == len(names)
    assert special.options(scheme) == every


def _option(at: str) -> None:
    scheme = at.partition("://")[0]
    for one in special.options(scheme):
        assert special.get_option(scheme, one.name) == one
    fails(lambda: special.get_option(scheme, "no such option"), "NOT_FOUND")


def _option_names(at: str) -> None:
    scheme = at.partition("://")[0]
    every = [one.name for one in special.options(scheme)]
    assert special.option_names(scheme) == every


def _set(at: str) -> None:
    scheme = at.partition("://")[0]
    for one in _known(scheme):
        if one.name != special.ABANDON and one.values:
            special.set_option(scheme, one.name, [v for v in one.values if v is not None])
            assert special.get_option(scheme, one.name) == one
    fails(lambda: special.set_option(scheme, "no such option", 1), "NOT_FOUND", "INVALID_ARGUMENT")


def _set_all(at: str) -> None:
    scheme = at.partition("://")[0]
    before = _known(scheme)
    some = {one.name: one.values[0] for one in before if one.name != special.ABANDON}
    values = {name: 1 - value for name, value in some.items() if value in (0, 1)}
    given = values | {"no such option": 1}
    fails(lambda: special.set_options(scheme, given), "NOT_FOUND", "INVALID_ARGUMENT")
    assert _known(scheme) == before


class Member(NamedTuple):
    """What holds of a member, whether the host has a default for it, and what it needs."""

    check: Callable[[str], None]
    default: bool = False
    needs: tuple[str, ...] = ("write",)


_DIRECTORIES: Final = ("write", "directories", "delete", "list")
MEMBERS: Final[Mapping[str, Member]] = {
    "new_random_access_file": Member(_read),
    "new_writable_file": Member(_write),
    "new_appendable_file": Member(_append, needs=("write", "append")),
    "new_read_only_memory_region_from_file": Member(_map),
    "create_dir": Member(_make, needs=("write", "directories")),
    "recursively_create_dir": Member(_make_all, True, ("write", "directories")),
    "delete_file": Member(_delete, needs=("write", "delete")),
    "delete_dir": Member(_delete_directory, needs=_DIRECTORIES),
    "delete_recursively": Member(_delete_tree, True, _DIRECTORIES),
    "rename_file": Member(_rename, True, ("write", "rename")),
    "copy_file": Member(_copy, True),
    "path_exists": Member(_exists),
    "paths_exist": Member(_exist, True),
    "stat": Member(_stat),
    "is_directory": Member(_is_directory, True),
    "get_file_size": Member(_size, True),
    "translate_name": Member(_translate, True, ()),
    "get_children": Member(_children, needs=("write", "list")),
    "get_matching_paths": Member(_matching, True, ("write", "list")),
    "flush_caches": Member(_flush, True),
    "start_transaction": Member(_transaction),
    "end_transaction": Member(_transaction),
    "add_to_transaction": Member(_transaction),
    "get_transaction_for_path": Member(_in_transaction),
    "get_or_start_transaction_for_path": Member(_new_transaction),
    "decode_transaction_token": Member(_in_transaction),
    "get_filesystem_configuration": Member(_options, needs=()),
    "set_filesystem_configuration": Member(_set_all, needs=("options",)),
    "get_filesystem_configuration_option": Member(_option, needs=()),
    "set_filesystem_configuration_option": Member(_set, needs=("options",)),
    "get_filesystem_configuration_keys": Member(_option_names, needs=()),
}


def _offered(scheme: str) -> set[str]:
    return next(set(one["offers"]) for one in fs.filesystems() if one["scheme"] == scheme)


@pytest.mark.parametrize("member", MEMBERS)
def test_a_member(subject: Subject, scheme: str, folder: str, member: str) -> None:
    """It does what the header says of it; where it is NULL, what the header says of NULL."""
    fs.exists(folder)  # a package serves its scheme from the first use on
    wanted = MEMBERS[member]
    if member in _offered(scheme) or wanted.default:
        for need in wanted.needs:
            reason = subject.capabilities.why_not(f"filesystem.{need}", scheme)
            if reason:
                pytest.skip(f"lacks filesystem.{need}: {reason}")
        wanted.check(folder)
        return
    with pytest.raises(HostError) as caught:
        wanted.check(folder)
    assert caught.value.status == "UNIMPLEMENTED", str(caught.value)
