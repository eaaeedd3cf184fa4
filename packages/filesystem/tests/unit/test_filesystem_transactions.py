"""Transactions of filesystems in Python, which their stores know nothing of. S2-filesystems."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from drystone_base.core.errors import HostError
from drystone_filesystem import (
    Stat,
    Store,
    Upload,
    get_option,
    gfile,
    options,
    set_option,
    transaction,
    transaction_of,
)
from drystone_filesystem._transactions import Transactions
from drystone_filesystem.from_fsspec import MemoryStore


@pytest.fixture
def box(root: str) -> str:
    """A folder with a file ``a``."""
    gfile.makedirs(root)
    write(f"{root}/a", "old")
    return root


def write(path: str, text: str) -> None:
    """A file of that text."""
    with gfile.GFile(path, "w") as file:
        file.write(text)


def read(path: str) -> str:
    """Its text."""
    text: str = gfile.GFile(path).read()
    return text


def test_files_show_when_it_ends(box: str) -> None:
    with transaction(box) as begun:
        write(f"{box}/a", "new")
        write(f"{box}/b", "new")
        assert str(begun) == "transaction 1: 1 paths, 2 files kept aside"
        assert gfile.listdir(box) == ["a"]
        assert read(f"{box}/a") == "old"
        write(f"{box}beside", "not part of it")
        assert read(f"{box}beside") == "not part of it"
    assert read(f"{box}/a") == read(f"{box}/b") == "new"


def test_what_an_exception_leaves_shows_nothing(box: str) -> None:
    with pytest.raises(RuntimeError), transaction(f"{box}/a", f"{box}/b"):  # noqa: PT012
        write(f"{box}/a", "half")
        write(f"{box}/c", "of no transaction")
        raise RuntimeError("half way")
    assert read(f"{box}/a") == "old"
    assert gfile.listdir(box) == ["a", "c"]
    with pytest.raises(HostError) as caught:
        transaction_of(f"{box}/a")
    assert caught.value.status == "NOT_FOUND"


def test_the_nearest_one_counts(box: str) -> None:
    with transaction(box) as outer, transaction(f"{box}/deep") as inner:
        assert transaction_of(f"{box}/deep/x") == inner
        assert transaction_of(f"{box}/x") == outer
        assert transaction_of(f"{box}/x", start=True) == outer
    begun = transaction_of(f"{box}/x", start=True)
    begun.end()
    with pytest.raises(HostError) as caught:
        begun.end()
    assert caught.value.status == "INVALID_ARGUMENT"


def test_who_asks_for_one_at_once_gets_the_same() -> None:
    class Slow(Transactions):
        """One in which others have time to ask while it begins."""

        def start(self, owner: int) -> int:
            token = super().start(owner)
            time.sleep(0.02)
            return token

    transactions, ready = Slow(), threading.Barrier(4)

    def ask(_: int) -> int:
        ready.wait(30)
        return transactions.of_path_or_new("box/a", 0)

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(ask, range(4)))) == 1


class Refused(Upload):
    """A file that the store refuses in the end."""

    def append(self, data: memoryview) -> None:
        """Taken."""

    def close(self) -> None:
        """Refused."""
        raise PermissionError("it is refused")

    def abandon(self) -> None:
        """Nothing is left."""


def test_a_file_that_cannot_be_sent_hides_no_other(serve: Callable[[object], str]) -> None:
    class Refusing(MemoryStore):
        def write(self, path: str) -> Upload:
            return Refused() if path.endswith("bad") else super().write(path)

    root = f"{serve(Refusing(MemoryFileSystem()))}transactions"
    gfile.makedirs(root)
    with pytest.raises(HostError, match="it is refused") as caught, transaction(root):  # noqa: PT012
        write(f"{root}/bad", "1")
        write(f"{root}/good", "2")
    assert caught.value.status == "PERMISSION_DENIED"
    assert gfile.listdir(root) == ["good"]
    gfile.rmtree(root)


def test_ctrl_c_at_its_end_gives_up_what_does_not_show_yet() -> None:
    """Who sends them ahead would wait for their end for ever."""
    said: list[str] = []

    class Told:
        def __init__(self, name: str) -> None:
            self.name = name

        def show(self) -> None:
            said.append(f"show {self.name}")
            if self.name == "b":
                raise KeyboardInterrupt

        def forget(self) -> None:
            said.append(f"forget {self.name}")

    transactions = Transactions()
    token = transactions.of_path_or_new("box", 0)
    for name in "abcd":
        assert transactions.keep(f"box/{name}", Told(name))
    with pytest.raises(KeyboardInterrupt):
        transactions.end(token)
    assert said[:2] == ["show a", "show b"]
    assert sorted(said[2:]) == ["forget c", "forget d"]


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("abandon_transaction", 7, "NOT_FOUND"),
        ("abandon_transaction", "x", "INVALID_ARGUMENT"),
        ("another", 1, "NOT_FOUND"),
    ],
)
def test_its_option(box: str, name: str, value: int | str, status: str) -> None:
    scheme = box.partition("://")[0]
    assert [one.name for one in options(scheme)] == ["abandon_transaction"]
    assert get_option(scheme, "abandon_transaction").values == (0,)
    with pytest.raises(HostError) as caught:
        set_option(scheme, name, value)
    assert caught.value.status == status


def test_who_writes_nothing_has_none(serve: Callable[[object], str]) -> None:
    class Reading(Store):
        def stat(self, path: str) -> Stat:
            raise FileNotFoundError(path)

        def children(self, path: str) -> list[str]:
            raise FileNotFoundError(path)

        def read_into(self, path: str, offset: int, buffer: memoryview, version: str = "") -> int:
            raise FileNotFoundError(f"{path} {offset} {version} {len(buffer)}")

    root = serve(Reading())
    with pytest.raises(HostError) as caught, transaction(f"{root}box"):
        pass
    assert caught.value.status == "UNIMPLEMENTED"
