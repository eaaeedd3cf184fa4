"""A checkpoint that is replaced: a stop at any point leaves the old one or the new one, whole."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.checkpoint import BundleReader, merge, save
from drystone_base.checkpoint.shards import data_path
from drystone_base.files import writing as _writing

OLD: dict[str, Any] = {"a": np.arange(3, dtype=np.float32), "b": np.array([7, 8], np.int64)}
NEW: dict[str, Any] = {"a": np.arange(3, dtype=np.float32) + 10, "c": np.array([1.5], np.float64)}
STOPS = ("os.rename", "os.remove", "os.link", "open", "os.listdir", "os.scandir")


def stopped_at(step: int, work: Callable[[], None]) -> bool:
    """Do the work in a child that ends, as by SIGKILL, at that access to files; whether it did."""
    child = os.fork()
    if child == 0:
        left = step

        def watch(event: str, _arguments: tuple[Any, ...]) -> None:
            nonlocal left
            if event in STOPS:
                left -= 1
                if left < 0:
                    os._exit(9)

        sys.addaudithook(watch)
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def values(prefix: Path) -> dict[str, list[float]]:
    return {name: array.tolist() for name, array in BundleReader(prefix).items()}


def plain(tensors: dict[str, Any]) -> dict[str, list[float]]:
    return {name: tensors[name].tolist() for name in sorted(tensors)}


def try_every_stop(prepare: Callable[[], None], work: Callable[[], None], prefix: Path) -> int:
    """Stop at each step in turn; how many there were. What is left is old or new each time."""
    step = 0
    prepare()
    while stopped_at(step, work):
        assert values(prefix) in (plain(OLD), plain(NEW)), step
        prepare()
        step += 1
    assert values(prefix) == plain(NEW)
    return step


def test_a_stop_while_one_is_saved_over_another(tmp_path: Path) -> None:
    prefix = tmp_path / "ckpt"
    steps = try_every_stop(lambda: save(prefix, OLD), lambda: save(prefix, NEW), prefix)
    assert steps > 8
    assert sorted(p.name for p in tmp_path.glob("*.tmp")) == []


def test_a_stop_while_shards_are_merged_over_another(tmp_path: Path) -> None:
    prefix = tmp_path / "ckpt"
    parts = [tmp_path / "part-00000-of-00002", tmp_path / "part-00001-of-00002"]

    def prepare() -> None:
        save(prefix, OLD)
        for part, name in zip(parts, NEW, strict=True):
            save(part, {name: NEW[name]})

    steps = try_every_stop(prepare, lambda: merge(parts, prefix), prefix)
    assert steps > 12
    assert sorted(p.name for p in tmp_path.glob("part-*")) == []


@pytest.mark.parametrize("times", [1, 2, 3, 4])
def test_only_the_files_of_the_last_one_are_left(tmp_path: Path, times: int) -> None:
    for k in range(times):
        save(tmp_path / "ckpt", {"a": np.array([k])})
    assert values(tmp_path / "ckpt") == {"a": [times - 1]}
    count = 1 if times % 2 else 2
    expected = {"ckpt.index", *(data_path("ckpt", k, count).name for k in range(count))}
    assert {p.name for p in tmp_path.iterdir()} == expected


def test_a_damaged_checkpoint_is_replaced(tmp_path: Path) -> None:
    save(tmp_path / "ckpt", OLD)
    (tmp_path / "ckpt.index").write_bytes(b"no index")
    save(tmp_path / "ckpt", NEW)
    assert values(tmp_path / "ckpt") == plain(NEW)


def test_neighbours_of_like_names_stay(tmp_path: Path) -> None:
    for name in ("ckpt", "ckpt-1", "my.ckpt"):
        save(tmp_path / name, OLD)
        save(tmp_path / name, OLD)
    save(tmp_path / "ckpt", NEW)
    assert values(tmp_path / "ckpt-1") == values(tmp_path / "my.ckpt") == plain(OLD)


def test_drafts_of_living_writers_stay_and_those_of_killed_ones_go(tmp_path: Path) -> None:
    target = tmp_path / "file"
    dead = tmp_path / "file.0123456789ab.tmp"
    dead.write_bytes(b"half")
    kept = [tmp_path / "file.txt.tmp", tmp_path / "other.0123456789ab.tmp"]
    for path in kept:
        path.write_bytes(b"not ours")
    with _writing.Draft(target) as alive:
        _writing.replace_file(target, [b"whole"])
        assert alive.path.exists()
        assert not dead.exists()
        assert all(path.exists() for path in kept)
        alive.file.write(b"later")
        alive.put_in_place()
    assert target.read_bytes() == b"later"


def test_folders_of_killed_writers_go(tmp_path: Path) -> None:
    dead = tmp_path / "model.0123456789ab.tmp"
    (dead / "variables").mkdir(parents=True)
    (dead / "variables" / "half").write_bytes(b"")
    with _writing.draft_folder(tmp_path / "model") as staging:
        (staging / "saved_model.pb").write_bytes(b"")
        with _writing.draft_folder(tmp_path / "model") as other:
            (other / "first").write_bytes(b"")
        assert staging.exists()
        (tmp_path / "model" / "first").unlink()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model"]
