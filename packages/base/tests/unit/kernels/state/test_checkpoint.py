"""Checkpoint ops: save, restore, slices, merging, names of shards, refusals, shapes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from drystone_base.checkpoint import BundleReader, save
from drystone_base.core.dtypes import FLOAT16, FLOAT32, INT32, QINT8, STRING
from drystone_base.core.errors import CheckpointError, KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes, run_op

WHOLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def saved(prefix: Path, names: list[str], slices: list[str], *tensors: Any, **attrs: Any) -> Path:
    assert run_op("SaveV2", os.fsencode(prefix), names, slices, *tensors, **attrs) == []
    return prefix


def restored(prefix: Path, names: list[str], slices: list[str], dtypes: list[Any]) -> list[Any]:
    return run_op("RestoreV2", os.fsencode(prefix), names, slices, dtypes=dtypes)


def test_what_is_saved_is_restored(tmp_path: Path) -> None:
    text = np.array([b"a", b""], object)
    path = saved(tmp_path / "x", ["w", "t"], ["", ""], WHOLE, text)
    w, t = restored(path, ["w", "t"], ["", "2 0,1"], [FLOAT32, STRING])
    np.testing.assert_array_equal(w, WHOLE, strict=True)
    assert t.tolist() == [b"a"]
    assert run_op("Restore", os.fsencode(path), "t", dt=STRING)[0].tolist() == [b"a", b""]
    part = run_op("RestoreSlice", os.fsencode(path), "w", "4 3 1,2:-", dt=FLOAT32)[0]
    np.testing.assert_array_equal(part, WHOLE[1:3])


def test_quantized_dtypes_are_kept(tmp_path: Path) -> None:
    path = saved(tmp_path / "x", ["q"], [""], np.array([-1], np.int8), dtypes=[QINT8])
    assert BundleReader(path).entry("q").dtype is QINT8


def test_shards_are_merged_and_their_folder_goes(tmp_path: Path) -> None:
    shards = []
    for k, spec in enumerate(["4 3 0,3:-", "4 3 3,1:-"]):
        name = run_op("ShardedFilename", os.fsencode(tmp_path / "tmp" / "part"), k, 2)[0].item()
        assert name.endswith(b"tmp/part-0000%d-of-00002" % k)
        shards.append(saved(Path(os.fsdecode(name)), ["w"], [spec], WHOLE[3 * k : 3 * k + 3]))
    missing = os.fsencode(tmp_path / "missing")
    paths = np.array([*map(os.fsencode, shards), missing], object)
    target = os.fsencode(tmp_path / "all")
    run_op("MergeV2Checkpoints", paths, target, allow_missing_files=True)
    (w,) = restored(tmp_path / "all", ["w"], [""], [FLOAT32])
    np.testing.assert_array_equal(w, WHOLE)
    assert not (tmp_path / "tmp").exists()


def test_name_pattern_of_shards() -> None:
    assert run_op("ShardedFilespec", b"a/b", 12)[0].item() == b"a/b-?????-of-00012"


def test_refusals(tmp_path: Path) -> None:
    save(tmp_path / "x", {"w": WHOLE})
    with pytest.raises(KernelError, match="must have the dtype that the graph restores"):
        restored(tmp_path / "x", ["w"], [""], [INT32])
    with pytest.raises(KernelError, match="must have the full shape that the graph restores"):
        restored(tmp_path / "x", ["w"], ["5 3 0,1:-"], [FLOAT32])
    with pytest.raises(KernelError, match="must be equally many"):
        restored(tmp_path / "x", ["w"], ["", ""], [FLOAT32])
    with pytest.raises(CheckpointError, match="has no tensor 'v'") as caught:
        restored(tmp_path / "x", ["v"], [""], [FLOAT32])
    assert caught.value.status == "NOT_FOUND"
    with pytest.raises(KernelError, match="a path must be one string"):
        run_op("RestoreV2", [b"a", b"b"], ["w"], [""], dtypes=[FLOAT32])


def test_shapes_come_from_the_slices() -> None:
    slices = np.array([b"", b"4 3 0,2:-", b"4 3 nonsense", b"7 -"], object)
    shapes = infer_shapes(
        "RestoreV2", [(), (4,), (4,)], values=[None, None, slices], dtypes=[FLOAT32] * 4
    )
    assert shapes == [None, (2, 3), None, (7,)]
    assert infer_shapes("RestoreV2", [(), (1,), (1,)], dtypes=[FLOAT32]) == [None]
    assert infer_shapes("ShardedFilename", [(), (), ()]) == [()]


def words(*values: str) -> np.ndarray[Any, Any]:
    out = np.empty(len(values), object)
    out[:] = [v.encode() for v in values]
    return out


def test_the_first_form_is_written_and_restored(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path / "deep" / "v1")
    text = np.array([b"a", b""], object)
    half = np.array([1.5, -0.0], np.float16)
    run_op("Save", path, words("w", "t", "h"), WHOLE, text, half)
    w, t, h = run_op(
        "RestoreV2", path, words("w", "t", "h"), words("4 3 1,2:-", "", ""),
        dtypes=[FLOAT32, STRING, FLOAT16],
    )  # fmt: skip
    np.testing.assert_array_equal(w, WHOLE[1:3], strict=True)
    assert t.tolist() == text.tolist()
    assert h.tobytes() == half.tobytes()
    run_op("SaveSlices", path, words("w", "w"), words("4 3 0,1:-", "4 3 1,3:-"), *parts())
    (w,) = run_op("Restore", path, b"w", dt=FLOAT32)
    np.testing.assert_array_equal(w, WHOLE, strict=True)


def parts() -> list[np.ndarray[Any, Any]]:
    return [WHOLE[:1], WHOLE[1:]]


@pytest.mark.parametrize(
    ("match", "names", "slices", "tensors"),
    [
        ("equally many", ["w"], ["4 3 0,1:-", "4 3 1,3:-"], parts()),
        ("must not overlap", ["w", "w"], ["4 3 0,1:-", "4 3 0,3:-"], parts()),
        ("agree on dtype and shape", ["w", "w"], ["4 3 0,1:-", "5 3 1,3:-"], parts()),
        ("must have the slice's shape", ["w"], ["4 3 0,2:-"], [WHOLE[:1]]),
        ("a slice must read", ["w"], ["4 3 x"], [WHOLE]),
        ("types that it had", ["w"], [""], [np.ones(2, ml_dtypes.bfloat16)]),
    ],
)
def test_slices_that_do_not_fit_write_nothing(
    tmp_path: Path, match: str, names: list[str], slices: list[str], tensors: list[Any]
) -> None:
    path = tmp_path / "v1"
    with pytest.raises((CheckpointError, KernelError), match=match):
        run_op("SaveSlices", os.fsencode(path), words(*names), words(*slices), *tensors)
    assert not path.exists()


def test_shapes_of_the_first_form() -> None:
    assert infer_shapes("Save", [(), (1,), (4, 3)]) == []
    assert infer_shapes("SaveSlices", [(), (1,), (-1,), (4, 3)]) == []
    for given in ([(1,), (1,), (4, 3)], [(), (2,), (4, 3)]):
        with pytest.raises(ShapeError):
            infer_shapes("Save", given)
