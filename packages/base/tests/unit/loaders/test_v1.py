"""V1 checkpoints that TensorFlow wrote: every dtype, slices, shards; what is wrong is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from drystone_abi.protos import (
    DataType,
    SavedTensorSlices,
    TensorProto,
    TensorShapeProto,
    TensorSliceProto,
)
from drystone_base.api.model import load
from drystone_base.api.saving import save
from drystone_base.checkpoint import (
    FULL,
    BundleReader,
    V1Reader,
    latest_checkpoint,
    open_checkpoint,
    v1_files,
)
from drystone_base.checkpoint._slices import slice_key
from drystone_base.checkpoint._table import write_table
from drystone_base.core.errors import CheckpointError

DATA = Path(__file__).parents[1] / "data" / "checkpoints"
NUMBERS = (
    *("float16", "float32", "float64", "int8", "int16", "int32", "int64"),
    *("uint8", "uint16", "complex64", "complex128"),
)


def test_what_tensorflow_wrote_is_read() -> None:
    reader = open_checkpoint(DATA / "v1" / "plain")
    assert isinstance(reader, V1Reader)
    for name in NUMBERS:
        found = reader.tensor(name)
        assert found.dtype == name
        assert found.tolist() == np.arange(6).reshape(2, 3).tolist()
    assert reader.tensor("bool").tolist() == [True, False]
    assert reader.tensor("string").tolist() == [b"one", b""]
    assert reader.tensor("scalar") == np.float32(2.5)
    assert reader.tensor("empty").shape == (0, 3)
    assert reader.keys() == sorted([*NUMBERS, "bool", "string", "scalar", "empty", "parted"])
    assert "int8" in reader
    assert "parted/part_0" not in reader


def test_slices_are_joined_and_cut() -> None:
    reader = V1Reader(DATA / "v1" / "plain")
    whole = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.testing.assert_array_equal(reader.tensor("parted"), whole)
    np.testing.assert_array_equal(reader.part("parted", ((1, 2), (1, 1))), whole[1:3, 1:])
    with pytest.raises(CheckpointError, match="must lie inside the tensor"):
        reader.part("parted", ((3, 2), (0, FULL)))


def test_a_name_that_is_not_there() -> None:
    with pytest.raises(CheckpointError, match=r"did you mean parted\?"):
        V1Reader(DATA / "v1" / "plain").tensor("partd")


@pytest.mark.parametrize("name", ["sharded", "sharded-?????-of-00002", "sharded-00000-of-00002"])
def test_shards_are_found(name: str) -> None:
    found = [p.name for p in v1_files(DATA / "v1" / name)]
    assert found[0] == "sharded-00000-of-00002"
    assert len(found) == (1 if "00000" in name else 2)


def test_a_meta_graph_is_restored_from_shards(tmp_path: Path) -> None:
    for file in (DATA / "v1").glob("sharded*"):
        shutil.copy(file, tmp_path)
    model = load(tmp_path / "sharded.meta")
    assert [v.tolist() for v in model.run(["w0:0", "w1:0"])] == [[1, 2], [3, 4]]
    assert model.loaded.checkpoint == tmp_path / "sharded"
    save(model, tmp_path / "again")
    assert load(tmp_path / "again").run("w1:0").tolist() == [3, 4]
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/gone/sharded-?????-of-00002"')
    assert latest_checkpoint(tmp_path) == tmp_path / "sharded-?????-of-00002"
    (tmp_path / "sharded-00001-of-00002").unlink()
    with pytest.raises(CheckpointError, match="lacks a shard") as caught:
        load(tmp_path / "sharded.meta")
    assert caught.value.code == "checkpoint-missing-shard"


def test_v2_is_told_from_v1(tmp_path: Path) -> None:
    assert type(open_checkpoint(DATA / "plain")) is BundleReader
    (tmp_path / "text").write_text("no table")
    assert v1_files(tmp_path / "text") == []
    assert v1_files(tmp_path / "nothing") == []


def written(path: Path, stated: list[int], values: int, *, key: str = "w") -> Path:
    """A checkpoint of one tensor ``w`` with so many values, whatever shape is stated."""
    meta, data = SavedTensorSlices(), SavedTensorSlices()
    tensor = meta.meta.tensor.add(name="w", type=DataType.DT_FLOAT)
    tensor.shape.CopyFrom(TensorShapeProto(dim=[TensorShapeProto.Dim(size=d) for d in stated]))
    tensor.slice.append(TensorSliceProto(extent=[TensorSliceProto.Extent() for _ in stated]))
    data.data.data.CopyFrom(TensorProto(float_val=[1.0] * values))
    spec = ((0, FULL),) * len(stated)
    entries = [(b"", meta.SerializeToString()), (slice_key(key, spec), data.SerializeToString())]
    path.write_bytes(write_table(entries))
    return path


def test_files_that_do_not_hang_together(tmp_path: Path) -> None:
    assert V1Reader(written(tmp_path / "ok", [3], 3)).tensor("w").tolist() == [1, 1, 1]
    wrong = [
        ([1 << 40], 1, "w", "must have all its values"),
        ([2], 3, "w", "must have all its values"),
        ([2], 2, "v", "must be stored"),
        ([-1], 2, "w", "one full shape"),
    ]
    for stated, values, key, words in wrong:
        path = written(tmp_path / "bad", stated, values, key=key)
        with pytest.raises(CheckpointError, match=words) as caught:
            V1Reader(path).tensor("w")
        assert caught.value.code == "bad-checkpoint"


def test_a_damaged_file(tmp_path: Path) -> None:
    raw = bytearray((DATA / "v1" / "plain").read_bytes())
    raw[40] ^= 1
    (tmp_path / "c").write_bytes(raw)
    with pytest.raises(CheckpointError) as caught:
        V1Reader(tmp_path / "c")
    assert caught.value.code == "checkpoint-checksum"
    (tmp_path / "c").write_bytes(write_table([(b"a", b"")]))
    with pytest.raises(CheckpointError, match="first entry must list the tensors"):
        V1Reader(tmp_path / "c")
