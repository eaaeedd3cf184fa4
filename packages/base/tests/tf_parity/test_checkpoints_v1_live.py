"""V1 checkpoints between TensorFlow and our Save, SaveSlices, Restore ops, in both directions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32, as_dtype, from_numpy
from drystone_base.executor.testing import run_op

tf: Any = pytest.importorskip(
    "tensorflow", reason="tensorflow is not installed; run nox -s tf_parity"
)

NUMBERS = (
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "complex64", "complex128"),
)
TENSORS: dict[str, Any] = {
    **{n: (np.arange(6).reshape(2, 3) * 1.5).astype(n) for n in NUMBERS},
    "bool": np.array([True, False]),
    "string": np.array([b"a", b"", b"\xff\0"], object),
    "scalar": np.float32(2.5).reshape(()),
    "empty": np.zeros((0, 3), np.float32),
    "a/long/name/" * 40: np.arange(3),
}
WHOLE = np.arange(12, dtype=np.float32).reshape(4, 3)
PARTS = {"4 3 0,1:-": WHOLE[:1], "4 3 1,3:0,2": WHOLE[1:, :2], "4 3 1,3:2,1": WHOLE[1:, 2:]}


def names(values: Any) -> np.ndarray[Any, Any]:
    out = np.empty(len(values), object)
    out[:] = [v.encode() for v in values]
    return out


def test_tensorflow_restores_what_our_save_writes(tmp_path: Path) -> None:
    path = tmp_path / "ours"
    run_op("Save", os.fsencode(path), names(TENSORS), *TENSORS.values())
    for name, value in TENSORS.items():
        dtype = tf.as_dtype(from_numpy(value.dtype).label)
        found = tf.raw_ops.Restore(file_pattern=str(path), tensor_name=name, dt=dtype)
        np.testing.assert_array_equal(found.numpy(), value)
        many = tf.raw_ops.RestoreV2(
            prefix=str(path), tensor_names=[name], shape_and_slices=[""], dtypes=[dtype]
        )
        np.testing.assert_array_equal(many[0].numpy(), value)


def test_we_restore_what_tensorflows_save_writes(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    tf.raw_ops.Save(
        filename=str(path),
        tensor_names=list(TENSORS),
        data=[tf.constant(v) for v in TENSORS.values()],
    )
    for name, value in TENSORS.items():
        dtype = as_dtype(from_numpy(value.dtype).label)
        (found,) = run_op("Restore", os.fsencode(path), name.encode(), dt=dtype)
        np.testing.assert_array_equal(found, value)


@pytest.mark.parametrize("wanted", ["", "4 3 -:-", "4 3 0,2:1,2", "4 3 1,3:0,2"])
def test_slices_are_restored_by_both(tmp_path: Path, wanted: str) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    same = ["w"] * len(PARTS)
    run_op("SaveSlices", os.fsencode(ours), names(same), names(PARTS), *PARTS.values())
    tf.raw_ops.SaveSlices(
        filename=str(theirs),
        tensor_names=same,
        shapes_and_slices=list(PARTS),
        data=[tf.constant(v) for v in PARTS.values()],
    )
    for path in (ours, theirs):
        want = tf.raw_ops.RestoreSlice(
            file_pattern=str(path), tensor_name="w", shape_and_slice=wanted, dt=tf.float32
        ).numpy()
        (found,) = run_op("RestoreSlice", os.fsencode(path), b"w", wanted.encode(), dt=FLOAT32)
        np.testing.assert_array_equal(found, want, strict=True)
        (found,) = run_op(
            "RestoreV2", os.fsencode(path), names(["w"]), names([wanted]), dtypes=[FLOAT32]
        )
        np.testing.assert_array_equal(found, want, strict=True)


def test_shards_of_ours_are_one_checkpoint_for_tensorflow(tmp_path: Path) -> None:
    for k, (spec, value) in enumerate(PARTS.items()):
        path = tmp_path / f"x-{k:05d}-of-00003"
        run_op("SaveSlices", os.fsencode(path), names(["w"]), names([spec]), value)
    pattern = str(tmp_path / "x-?????-of-00003")
    found = tf.raw_ops.Restore(file_pattern=pattern, tensor_name="w", dt=tf.float32)
    np.testing.assert_array_equal(found.numpy(), WHOLE)
    (ours,) = run_op("Restore", os.fsencode(pattern), b"w", dt=FLOAT32)
    np.testing.assert_array_equal(ours, WHOLE)


@pytest.mark.parametrize("dtype", ["bfloat16"])
def test_what_tensorflow_cannot_save_we_refuse_too(tmp_path: Path, dtype: str) -> None:
    value = np.ones(2, as_dtype(dtype).np)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.raw_ops.Save(filename=str(tmp_path / "x"), tensor_names=["w"], data=[tf.constant(value)])
    with pytest.raises(Exception, match="cannot be saved in the V1 form") as caught:
        run_op("Save", os.fsencode(tmp_path / "y"), names(["w"]), value)
    assert getattr(caught.value, "status", "") == "UNIMPLEMENTED"
