"""Registering filesystems: what TF_InitPlugin may offer, and each way of getting it wrong."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from drystone_base.core.errors import HostError
from drystone_base.host import filesystem as fs
from drystone_base.host.library import HostLibrary, open_library

pytestmark = pytest.mark.cases_in_gate(3)

_NUMBERS = count()


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    yield
    fs.cleanup()


@dataclass
class Offered:
    """A compiled plugin of filesystem_registration.c."""

    library: HostLibrary
    scheme: str

    def counted(self, name: str) -> int:
        """What one of the plugin's own counters says."""
        address = self.library.symbol(name)
        assert address is not None
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(address)())

    def initialise(self) -> dict[str, Any]:
        """Call TF_InitPlugin; what the host then says of the library."""
        self.library.initialise("TF_InitPlugin")
        return self.library.describe()


@pytest.fixture
def offered(compile_library: Callable[..., Path]) -> Callable[..., Offered]:
    """A plugin with ``schemes`` schemes that runs ``spoil`` over what it offers."""

    def make(spoil: str = "", *, schemes: int = 1, init: str = "") -> Offered:
        scheme = f"reg.{next(_NUMBERS)}."
        flags = [f'-DSCHEME="{scheme}"', f"-DSCHEMES={schemes}", f"-DSPOIL={spoil}"]
        path = compile_library("filesystem_registration.c", flags=[*flags, f"-DINIT={init}"])
        return Offered(open_library(path), scheme)

    return make


def _schemes() -> list[str]:
    return [item["scheme"] for item in fs.filesystems()]


def test_a_scheme_is_registered_and_its_memory_freed(offered: Callable[..., Offered]) -> None:
    plugin = offered(schemes=3)
    facts = plugin.initialise()
    names = [plugin.scheme, f"{plugin.scheme[:-1]}.1", f"{plugin.scheme[:-1]}.2"]
    assert facts["schemes"] == names
    assert facts["errors"] == facts["warnings"] == []
    assert set(names) <= set(_schemes())
    assert plugin.counted("blocks_alive") == 0
    assert plugin.counted("inits_called") == 3


def test_what_is_registered_is_listed(offered: Callable[..., Offered]) -> None:
    plugin = offered()
    plugin.initialise()
    local, own = fs.filesystems()
    assert (local["scheme"], local["library"]) == ("file", "")
    assert own["library"] == plugin.library.path
    assert own["offers"] == [
        "new_random_access_file",
        "new_writable_file",
        "new_appendable_file",
        "new_read_only_memory_region_from_file",
        "read_only_memory_region.data",
        "read_only_memory_region.length",
    ]


def test_cleanup_is_called_once(offered: Callable[..., Offered]) -> None:
    plugin = offered(schemes=2)
    plugin.initialise()
    fs.cleanup()
    fs.cleanup()
    assert plugin.counted("cleanups_called") == 2
    assert plugin.scheme not in _schemes()


def test_initialising_twice_registers_once(offered: Callable[..., Offered]) -> None:
    plugin = offered()
    assert plugin.initialise() == plugin.initialise()
    assert plugin.counted("inits_called") == 1


_FREE = "info->plugin_memory_free"
_OPS = "first->filesystem_ops"
_WRITE = "release(first->writable_file_ops), first->writable_file_ops"
_ABI = "has ABI 7, and this host's is 0; needed: a plugin built for ABI 0"
_WRONG = {
    "no free": (f"{_FREE} = NULL", "plugin_memory_allocate and plugin_memory_free in "),
    "no allocate": (
        "info->plugin_memory_allocate = NULL",
        "plugin_memory_allocate and plugin_memory_free in TF_FilesystemPluginInfo must be set",
    ),
    "no array": (
        "release(info->ops), info->ops = NULL",
        "ops in TF_FilesystemPluginInfo must be set when num_schemes is not 0",
    ),
    "absurd count": (
        "info->num_schemes = (size_t)-1",
        "num_schemes in TF_FilesystemPluginInfo is 18446744073709551615; needed: at most 1024",
    ),
    "no scheme": (
        "release(first->scheme), first->scheme = NULL",
        "scheme 0: scheme in TF_FilesystemPluginOps must be set",
    ),
    "bad scheme": ("first->scheme[0] = '1'", "is not a letter followed by letters, digits, "),
    "local scheme": ("first->scheme[0] = 0", "is registered already, by the host itself"),
    "fs abi": ("first->filesystem_ops_abi = 7", f"filesystem_ops {_ABI}"),
    "read abi": ("first->random_access_file_ops_abi = 7", f"random_access_file_ops {_ABI}"),
    "write abi": ("first->writable_file_ops_abi = 7", f"writable_file_ops {_ABI}"),
    "region abi": (
        "first->read_only_memory_region_ops_abi = 7",
        f"read_only_memory_region_ops {_ABI}",
    ),
    "odd size": (
        "first->filesystem_ops_size = 13",
        "filesystem_ops has a size of 13 bytes, which is no whole number of functions",
    ),
    "no table": (f"release({_OPS}), {_OPS} = NULL", "filesystem_ops must be set"),
    "no init": (f"{_OPS}->init = NULL", "init in TF_FilesystemOps must be set"),
    "too short": ("first->filesystem_ops_size = 8", "cleanup in TF_FilesystemOps must be set"),
    "no cleanup": (f"{_OPS}->cleanup = NULL", "cleanup in TF_FilesystemOps must be set"),
    "unpaired read": (
        "release(first->random_access_file_ops), first->random_access_file_ops = NULL",
        "new_random_access_file is set, and its table random_access_file_ops is not",
    ),
    "unpaired write": (
        f"{_WRITE} = NULL",
        "new_writable_file is set, and its table writable_file_ops is not",
    ),
    "unpaired append": (
        f"{_WRITE} = NULL, {_OPS}->new_writable_file = NULL",
        "new_appendable_file is set, and its table writable_file_ops is not",
    ),
    "unpaired region": (
        "release(first->read_only_memory_region_ops), first->read_only_memory_region_ops = NULL",
        "_region_from_file is set, and its table read_only_memory_region_ops is not",
    ),
    "read cleanup": (
        "first->random_access_file_ops->cleanup = NULL",
        "cleanup in TF_RandomAccessFileOps must be set",
    ),
    "write cleanup": (
        "first->writable_file_ops->cleanup = NULL",
        "cleanup in TF_WritableFileOps must be set",
    ),
    "region cleanup": (
        "first->read_only_memory_region_ops->cleanup = NULL",
        "cleanup in TF_ReadOnlyMemoryRegionOps must be set",
    ),
    "region data": (
        "first->read_only_memory_region_ops->data = NULL",
        "data in TF_ReadOnlyMemoryRegionOps must be set",
    ),
    "region length": (
        "first->read_only_memory_region_ops->length = NULL",
        "length in TF_ReadOnlyMemoryRegionOps must be set",
    ),
}
_NOT_FREED = {"no free", "no allocate", "no array", "absurd count"}


@pytest.mark.parametrize("case", _WRONG)
def test_a_wrong_offer_is_refused(case: str, offered: Callable[..., Offered]) -> None:
    spoil, text = _WRONG[case]
    plugin = offered(spoil)
    before = _schemes()
    with pytest.raises(HostError) as caught:
        plugin.initialise()
    expected = "ALREADY_EXISTS" if case == "local scheme" else "FAILED_PRECONDITION"
    assert (caught.value.status, caught.value.code) == (expected, "host-call-failed")
    assert text in caught.value.found
    assert plugin.library.path in str(caught.value)
    assert plugin.counted("inits_called") == plugin.counted("cleanups_called") == 0
    assert case in _NOT_FREED or plugin.counted("blocks_alive") == 0
    assert _schemes() == before


def test_a_failing_init_is_told_and_not_cleaned_up(offered: Callable[..., Offered]) -> None:
    plugin = offered(init='TF_SetStatus(status, TF_UNAVAILABLE, "no route to the store")')
    with pytest.raises(HostError) as caught:
        plugin.initialise()
    assert caught.value.status == "UNAVAILABLE"
    assert caught.value.found.endswith(
        f"init of the {plugin.scheme} filesystem ({plugin.library.path}): no route to the store"
    )
    assert plugin.counted("inits_called") == 1
    assert plugin.counted("cleanups_called") == plugin.counted("blocks_alive") == 0


def test_other_schemes_survive_a_bad_one(offered: Callable[..., Offered]) -> None:
    plugin = offered("first[1].filesystem_ops_abi = 3, first[2].scheme[0] = '!'", schemes=4)
    with pytest.raises(HostError) as caught:
        plugin.initialise()
    stem = plugin.scheme[:-1]
    assert f'scheme 1 ("{stem}.1"): filesystem_ops has ABI 3' in caught.value.found
    facts = plugin.library.describe()
    assert facts["schemes"] == [plugin.scheme, f"{stem}.3"]
    assert len(facts["errors"]) == 2
    assert "scheme 2" in facts["errors"][1]
    assert plugin.counted("blocks_alive") == 0


def test_a_scheme_has_one_library(offered: Callable[..., Offered]) -> None:
    first = offered()
    first.initialise()
    second = offered(f'strcpy(first->scheme, "{first.scheme}")')
    with pytest.raises(HostError) as caught:
        second.initialise()
    assert caught.value.status == "ALREADY_EXISTS"
    assert first.library.path in caught.value.found
    assert second.library.path in caught.value.found
    assert "disable one of the two" in caught.value.found
    assert second.counted("inits_called") == 0
    own = next(item for item in fs.filesystems() if item["scheme"] == first.scheme)
    assert own["library"] == first.library.path


def test_a_scheme_is_free_again_after_a_failing_init(offered: Callable[..., Offered]) -> None:
    first = offered(init='TF_SetStatus(status, TF_UNAVAILABLE, "later")')
    with pytest.raises(HostError):
        first.initialise()
    second = offered(f'strcpy(first->scheme, "{first.scheme}")')
    assert second.initialise()["schemes"] == [first.scheme]


_TOLERATED = {
    "older": ("first->filesystem_ops_size = 16", [], []),
    "newer": (
        "first->filesystem_ops_size = 264 + 64",
        ["filesystem_ops has 328 bytes, of which this host knows 264"],
        ["new_random_access_file"],
    ),
    "other api": (
        "first->writable_file_ops_api = 5",
        ["writable_file_ops has API 5, and this host's is 0"],
        ["new_random_access_file"],
    ),
}


@pytest.mark.parametrize("case", _TOLERATED)
def test_other_versions_are_taken(case: str, offered: Callable[..., Offered]) -> None:
    spoil, warnings, offers = _TOLERATED[case]
    plugin = offered(spoil)
    facts = plugin.initialise()
    assert facts["warnings"] == [f'scheme "{plugin.scheme}": {text}' for text in warnings]
    own = next(item for item in fs.filesystems() if item["scheme"] == plugin.scheme)
    assert own["offers"][: len(offers)] == offers
    assert bool(offers) == ("new_random_access_file" in own["offers"])


def test_schemes_may_share_a_table(offered: Callable[..., Offered]) -> None:
    spoil = "release(first[1].filesystem_ops), first[1].filesystem_ops = first[0].filesystem_ops"
    plugin = offered(spoil, schemes=2)
    assert len(plugin.initialise()["schemes"]) == 2
    assert plugin.counted("blocks_alive") == 0


def test_writing_past_the_info_is_found(offered: Callable[..., Offered]) -> None:
    plugin = offered("memset((char*)info + 32 + SCHEMES, 1, 8)")
    with pytest.raises(HostError) as caught:
        plugin.initialise()
    assert caught.value.status == "INTERNAL"
    text = "the plugin wrote outside the TF_FilesystemPluginInfo it was given"
    assert caught.value.found.endswith(text)


def test_a_plugin_without_argument_registers_itself(compile_library: Callable[..., Path]) -> None:
    library = open_library(compile_library("filesystem_self.c"))
    library.initialise("TF_InitPlugin")
    facts = library.describe()
    assert facts["ops"] == ["SelfRegistered"]
    assert facts["schemes"] == facts["warnings"] == facts["errors"] == []


def test_a_plugin_that_registers_nothing_is_noted(compile_library: Callable[..., Path]) -> None:
    library = open_library(compile_library("filesystem_self.c", flags=["-DNOTHING"]))
    library.initialise("TF_InitPlugin")
    expected = ["TF_InitPlugin offered no filesystem and registered nothing"]
    assert library.describe()["warnings"] == expected


@pytest.mark.parametrize("place", ["THROW_IN_ENTRY", "THROW_IN_INIT"])
def test_exceptions_do_not_pass(place: str, compile_library: Callable[..., Path]) -> None:
    library = open_library(compile_library("filesystem_throwing.cc", flags=[f"-D{place}"]))
    with pytest.raises(HostError) as caught:
        library.initialise("TF_InitPlugin")
    thrower = "TF_InitPlugin" if place == "THROW_IN_ENTRY" else "init"
    assert caught.value.status == "INTERNAL"
    assert caught.value.found.endswith(f"threw an exception: thrown by {thrower}")


def test_exceptions_of_calls_do_not_pass(compile_library: Callable[..., Path]) -> None:
    path = compile_library("filesystem_throwing.cc")
    fs.register_plugin(path)
    with pytest.raises(HostError) as caught:
        fs.exists("throwing://a")
    assert caught.value.found.endswith(
        f"path_exists of the throwing filesystem ({path.resolve()}): "
        "threw an exception: thrown by path_exists"
    )
    with pytest.raises(HostError, match="threw an exception of unknown type"):
        fs.delete("throwing://a")
    fs.cleanup()
    assert "throwing" not in _schemes()


def test_a_file_that_is_no_plugin(compile_library: Callable[..., Path], tmp_path: Path) -> None:
    with pytest.raises(HostError) as caught:
        fs.register_plugin(tmp_path / "none.so")
    assert caught.value.status == "NOT_FOUND"
    (tmp_path / "empty.c").write_text("int nothing;")
    library = compile_library(tmp_path / "empty.c")
    with pytest.raises(HostError, match=re.escape("does not export TF_InitPlugin")):
        fs.register_plugin(library)


def test_an_unknown_scheme_names_the_known_ones(offered: Callable[..., Offered]) -> None:
    plugin = offered()
    plugin.initialise()
    with pytest.raises(HostError) as caught:
        fs.read_bytes("nobody://host/path")
    assert caught.value.status == "UNIMPLEMENTED"
    assert caught.value.code == "no-filesystem"
    assert caught.value.what == "no filesystem serves nobody://"
    assert caught.value.found == f"nobody; served now: file, {plugin.scheme}"


def test_a_scheme_of_a_package_that_is_not_installed_names_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fs, "stage", lambda _name: [])
    with pytest.raises(HostError, match="remedy: pip install drystone-fs-s3"):
        fs.read_bytes("s3://bucket/key")
