"""Which filesystem serves a scheme (S2-selection, S2-filesystems)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem

import drystone_filesystem
from drystone_base.core.errors import BadRequest, HostError
from drystone_base.host import filesystem as host
from drystone_base.modules import EntryPoint
from drystone_filesystem import Stat, Store, gfile, registry
from drystone_filesystem.environment import FILESYSTEMS
from drystone_filesystem.registry import _selected


class Numbers(Store):
    """A read-only store: file ``N`` holds N bytes."""

    def stat(self, path: str) -> Stat:
        if path == "box":
            return Stat(0, 0, True)
        if not path.startswith("box/"):
            raise FileNotFoundError(path)
        return Stat(int(path.removeprefix("box/")), 7)

    def children(self, path: str) -> list[str]:  # noqa: ARG002
        return ["1", "2", "3"]

    def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
        del version
        left = max(self.stat(path).length - offset, 0)
        got = min(left, len(buffer))
        buffer[:got] = bytes(range(offset, offset + got))
        return got


def test_a_store_of_ones_own(serve: Callable[[object], str]) -> None:
    root = serve(Numbers())
    assert gfile.listdir(f"{root}box") == ["1", "2", "3"]
    assert gfile.GFile(f"{root}box/12", "rb").read() == bytes(range(12))
    assert host.read_range(f"{root}box/12", 10, 9) == b"\x0a\x0b"
    assert gfile.stat(f"{root}box/./x/../3") == (3, 7, False)
    with pytest.raises(HostError, match="this store is read-only") as caught:
        gfile.GFile(f"{root}box/1", "w")
    assert caught.value.status == "UNIMPLEMENTED"


@pytest.mark.parametrize(
    ("raised", "status"),
    [
        (FileNotFoundError("x"), "NOT_FOUND"),
        (PermissionError("x"), "PERMISSION_DENIED"),
        (TimeoutError("x"), "DEADLINE_EXCEEDED"),
        (ConnectionResetError("x"), "UNAVAILABLE"),
        (EOFError("x"), "DATA_LOSS"),
        (RuntimeError("x"), "UNKNOWN"),
    ],
)
def test_what_a_store_raises_is_a_status(
    serve: Callable[[object], str], raised: BaseException, status: str
) -> None:
    class Failing(Numbers):
        def stat(self, path: str) -> Stat:  # noqa: ARG002
            raise raised

    with pytest.raises(HostError) as caught:
        gfile.stat(serve(Failing()) + "box/1")
    assert caught.value.status == status
    assert type(raised).__name__ in caught.value.found


@pytest.mark.parametrize("raised", [SystemExit("x"), KeyboardInterrupt("x")])
def test_what_ends_a_program_goes_on(serve: Callable[[object], str], raised: BaseException) -> None:
    class Failing(Numbers):
        def stat(self, path: str) -> Stat:  # noqa: ARG002
            raise raised

    with pytest.raises(type(raised)):
        gfile.stat(serve(Failing()) + "box/1")


def test_secrets_are_masked(
    serve: Callable[[object], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "very/secret")
    said = "https://me:pw@host/x?X-Amz-Signature=abc123&y=1 very/secret Bearer abcdefgh123"

    class Failing(Numbers):
        def stat(self, path: str) -> Stat:  # noqa: ARG002
            raise PermissionError(said)

    with pytest.raises(HostError) as caught:
        gfile.stat(serve(Failing()) + "box/1")
    assert caught.value.found.endswith(
        "PermissionError: https://***@host/x?X-Amz-Signature=***&y=1 *** Bearer ***"
    )


def test_a_scheme_has_one_filesystem(root: str) -> None:
    scheme = root.partition("://")[0]
    with pytest.raises(HostError, match="found: it is served by a test"):
        drystone_filesystem.register(scheme, Numbers())
    with pytest.raises(HostError, match="found: it is served by drystone"):
        drystone_filesystem.register("file", Numbers())


def test_made_when_first_used(serve: Callable[[object], str]) -> None:
    made = []

    def make() -> Store:
        made.append(1)
        return Numbers()

    root = serve(make)
    assert made == []
    assert gfile.exists(f"{root}box/1")
    assert gfile.exists(f"{root}box/2")
    assert made == [1]


@pytest.fixture
def forget_choices() -> Any:
    yield
    _selected.clear()


def test_chosen_by_the_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """fsspec's local files, under a name of ours."""
    (tmp_path / "a").write_text("text")
    monkeypatch.setenv(FILESYSTEMS.name, "mine=fsspec:file, other=fsspec")
    assert drystone_filesystem.schemes()["mine"] == "fsspec:file"
    assert gfile.GFile(f"mine://{tmp_path}/a").read() == "text"


def test_the_program_wins_over_the_variable(
    monkeypatch: pytest.MonkeyPatch, forget_choices: None
) -> None:
    monkeypatch.setenv(FILESYSTEMS.name, "one=fsspec:file")
    drystone_filesystem.select("one", "fsspec:memory")
    assert drystone_filesystem.schemes()["one"] == "fsspec:memory"


@pytest.mark.parametrize("text", ["gs", "gs=", "=x", "a=b,c"])
def test_a_variable_that_cannot_be_understood(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FILESYSTEMS.name, text)
    with pytest.raises(BadRequest, match="it must be a list of SCHEME=WHERE") as caught:
        gfile.exists("nobodys://x/y")
    assert caught.value.code == "bad-filesystem-setting"


def test_memory_is_there_without_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint(
        "memory", "drystone_filesystem.from_fsspec:memory", "drystone-filesystem", ""
    )
    monkeypatch.setattr(registry, "points", lambda _group: [point])
    with gfile.GFile("memory://drystone-test/a", "w") as file:
        file.write("kept")
    assert gfile.GFile("memory://drystone-test/a").read() == "kept"
    gfile.remove("memory://drystone-test/a")
    assert not gfile.exists("memory://drystone-test/a")


def test_a_folder_of_fsspec(serve: Callable[[object], str], tmp_path: Path) -> None:
    root = serve(DirFileSystem(str(tmp_path), LocalFileSystem(auto_mkdir=True)))
    with gfile.GFile(f"{root}a/b", "w") as file:
        file.write("x")
    assert (tmp_path / "a" / "b").read_text() == "x"
    assert gfile.listdir(f"{root}a") == ["b"]


def test_a_function_that_makes_no_filesystem_is_named() -> None:
    def made() -> Any:
        raise RuntimeError("no such bucket")

    drystone_filesystem.register("unmade", made)
    with pytest.raises(HostError) as caught:
        drystone_filesystem.gfile.exists("unmade://bucket/file")
    assert str(caught.value).startswith(
        "the filesystem for unmade:// cannot be made [no-filesystem]\n"
        "  check: the function that was registered for a scheme must make its filesystem\n"
        "  found: RuntimeError: no such bucket\n"
    )
