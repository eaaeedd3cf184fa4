"""Checkpoints: what TensorFlow wrote is read, what we write is read back, damage is named."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from checkpoint_files import entry, table_of_block
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_abi.protos import BundleEntryProto, BundleHeaderProto, VersionDef
from drystone_base.checkpoint import (
    FULL,
    BundleReader,
    BundleWriter,
    latest_checkpoint,
    merge,
    parse_slice,
    save,
)
from drystone_base.checkpoint._crc import crc32c, mask
from drystone_base.checkpoint._slices import slice_key
from drystone_base.checkpoint._table import read_table, write_table
from drystone_base.core.dtypes import QINT8
from drystone_base.core.errors import CheckpointError
from drystone_base.core.tensor import string_array

# Written by TensorFlow 2.21 through ci/scripts/checkpoint_fixtures.py.
DATA = Path(__file__).parents[1] / "data" / "checkpoints"
WHOLE = np.arange(20, dtype=np.float32).reshape(5, 4)
NUMERIC = [
    *("float16", "float32", "float64", "bfloat16", "float8_e5m2", "float8_e4m3fn"),
    *("int4", "int8", "int16", "int32", "int64"),
    *("uint4", "uint8", "uint16", "uint32", "uint64", "complex64", "complex128"),
]


def error_of(code: str, function: Any, *args: Any) -> str:
    with pytest.raises(CheckpointError) as caught:
        function(*args)
    assert caught.value.code == code, caught.value
    return str(caught.value)


def numeric(label: str) -> np.ndarray[Any, Any]:
    return np.arange(6).reshape(2, 3).astype(np.dtype(getattr(ml_dtypes, label, label)))


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A private copy of the plain checkpoint, to be damaged."""
    for file in DATA.glob("plain.*"):
        shutil.copy(file, tmp_path)
    return tmp_path / "plain"


# ---- reading what TensorFlow wrote ---------------------------------------------------------------


@pytest.mark.parametrize("label", NUMERIC)
def test_numbers_of_every_dtype(label: str) -> None:
    reader = BundleReader(DATA / "plain")
    found = reader.tensor(label)
    assert reader.entry(label).dtype.label == label
    np.testing.assert_array_equal(found, numeric(label), strict=True)
    with pytest.raises(ValueError, match="read-only"):
        found[0, 0] = 1


def test_other_tensors() -> None:
    reader = BundleReader(DATA / "plain")
    assert reader.tensor("bool").tolist() == [True, False]
    assert reader.tensor("empty").shape == (0, 4)
    assert reader.tensor("scalar").item() == 2.5
    assert reader.tensor("string").tolist() == [b"", b"a", b"\xff\x00", b"x" * 300]
    assert reader.tensor("string_scalar").item() == b"one"
    assert (reader.entry("qint8").dtype, reader.tensor("qint8").tolist()) == (QINT8, [-1, 7])
    assert len(reader) == len(NUMERIC) + 6
    assert "scalar" in reader
    assert "nothing" not in reader


def test_a_partitioned_variable_over_shards() -> None:
    reader = BundleReader(DATA / "sharded")
    assert reader.shards.count == 2
    assert reader.keys() == ["only_a", "only_b", "part/w"]
    np.testing.assert_array_equal(reader.tensor("part/w"), WHOLE)
    np.testing.assert_array_equal(reader.part("part/w", ((0, 2), (0, FULL))), WHOLE[:2])
    np.testing.assert_array_equal(reader.part("part/w", ((1, 3), (2, 1))), WHOLE[1:4, 2:3])
    assert reader.tensor("only_b").tolist() == [ord("b")]


def test_part_of_a_whole_tensor() -> None:
    reader = BundleReader(DATA / "plain")
    assert reader.part("int32", ((1, 1), (0, 2))).tolist() == [[3, 4]]
    text = error_of("checkpoint-slice", reader.part, "int32", ((1, 2), (0, 2)))
    assert "a slice must lie inside the tensor" in text


# ---- writing -------------------------------------------------------------------------------------


def test_our_bytes_are_those_of_tensorflow(tmp_path: Path) -> None:
    """The data file is the same byte for byte; the index differs in how blocks are cut."""
    theirs = BundleReader(DATA / "plain")
    with BundleWriter(tmp_path / "ours") as writer:
        for name, value in theirs.items():
            writer.add(name, value, theirs.entry(name).dtype)
    data = "data-00000-of-00001"
    assert (tmp_path / f"ours.{data}").read_bytes() == (DATA / f"plain.{data}").read_bytes()
    ours = BundleReader(tmp_path / "ours")
    assert [ours.entry(k) for k in ours.keys()] == [theirs.entry(k) for k in theirs.keys()]  # noqa: SIM118
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"ours.{data}", "ours.index"]


def test_slices_and_merge_give_what_tensorflow_gave(tmp_path: Path) -> None:
    for shard, specs in {
        "a": [((0, 2), (0, FULL)), ((2, 1), (0, 4))],
        "b": [((3, 2), (0, FULL))],
    }.items():
        with BundleWriter(tmp_path / shard) as writer:
            for spec in specs:
                start, length = spec[0]
                writer.add_slice("part/w", (5, 4), spec, WHOLE[start : start + length])
            writer.add(f"only_{shard}", np.array([ord(shard)], np.int32))
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "sharded")
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(
        p.name for p in DATA.glob("sharded*")
    )
    ours, theirs = BundleReader(tmp_path / "sharded"), BundleReader(DATA / "sharded")
    assert list(ours._entries) == list(theirs._entries)
    np.testing.assert_array_equal(ours.tensor("part/w"), WHOLE)


def test_a_failed_write_leaves_nothing(tmp_path: Path) -> None:
    def write() -> None:
        with BundleWriter(tmp_path / "x") as writer:
            writer.add("a", np.zeros(3))
            writer.add("a", np.zeros(3))

    assert "cannot hold 'a' twice" in error_of("checkpoint-duplicate-tensor", write)
    assert list(tmp_path.iterdir()) == []


def test_an_overwrite_does_not_change_what_was_read(tmp_path: Path) -> None:
    save(tmp_path / "x", {"a": np.ones(4)})
    before = BundleReader(tmp_path / "x").tensor("a")
    save(tmp_path / "x", {"a": np.full(4, 2.0)})
    assert before.tolist() == [1.0] * 4
    assert BundleReader(tmp_path / "x").tensor("a").tolist() == [2.0] * 4


def test_merge_refuses_a_name_in_two_checkpoints(tmp_path: Path) -> None:
    for name in ("x", "y"):
        save(tmp_path / name, {"a": np.ones(4)})
    text = error_of(
        "checkpoint-duplicate-tensor", merge, [tmp_path / "x", tmp_path / "y"], tmp_path / "z"
    )
    assert "cannot hold 'a' twice" in text
    assert BundleReader(tmp_path / "y").tensor("a").tolist() == [1.0] * 4


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40)
VALUES = st.one_of(
    st.lists(st.binary(max_size=200), max_size=5).map(lambda v: string_array(v, (len(v),))),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=300).map(lambda v: np.array(v, np.int64)),
    st.lists(st.booleans(), max_size=9).map(lambda v: np.array(v, bool)),
)


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(NAMES, VALUES, max_size=40))
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, tensors: Any
) -> None:
    prefix = tmp_path_factory.mktemp("bundle") / "x"
    save(prefix, tensors)
    reader = BundleReader(prefix)
    assert reader.keys() == sorted(tensors, key=str.encode)
    for name, value in tensors.items():
        found = reader.tensor(name)
        assert (found.dtype, found.tolist()) == (value.dtype, value.tolist())


# ---- the parts -----------------------------------------------------------------------------------


def test_checksum_of_a_known_text() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # the check value of CRC-32C
    assert crc32c(b"6789", crc32c(b"12345")) == 0xE3069283
    assert mask(0) == 0xA282EAD8


@settings(max_examples=30, deadline=None)
@given(st.dictionaries(st.binary(max_size=30), st.binary(max_size=20000), max_size=60))
def test_tables_give_back_what_was_put_in(items: dict[bytes, bytes]) -> None:
    rows = sorted(items.items())
    assert [(k, bytes(v)) for k, v in read_table(memoryview(write_table(rows)), "t")] == rows


@pytest.mark.parametrize("n", [0, 1, 63, 64, 8191, 8192, 2**20, 2**34, 2**48, 2**62, 2**63 - 1])
def test_slice_keys_keep_the_order_of_numbers(n: int) -> None:
    keys = [slice_key("w", ((m, FULL),)) for m in range(max(n - 2, 0), n + 1)]
    assert keys == sorted(keys)
    assert slice_key("w", ((n, 1),)) > slice_key("w", ((0, 1),)) or n == 0


def test_slice_key_escapes_the_name() -> None:
    assert slice_key("a\0b", ((0, FULL), (0, 4))) == b"\0a\0\xffb\0\1\1\2\x80\x7f\x80\x84"


def test_parse_slice() -> None:
    assert parse_slice("") is None
    assert parse_slice("10 4 0,5:-") == ((10, 4), ((0, 5), (0, FULL)))
    for text in ("10 4 0,5", "10 x", "10 0,11", "10 0,1,2", "10 -1,2", "4"):
        assert "[checkpoint-slice]" in error_of("checkpoint-slice", parse_slice, text)


def test_latest_checkpoint(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "/gone/model-7"\nnew_field: 1\n')
    assert latest_checkpoint(tmp_path) is None
    save(tmp_path / "model-7", {"a": np.ones(1)})
    assert latest_checkpoint(tmp_path) == tmp_path / "model-7"
    (tmp_path / "checkpoint").write_text("model_checkpoint_path: 7")
    assert "must be a CheckpointState" in error_of("bad-checkpoint", latest_checkpoint, tmp_path)


# ---- damage --------------------------------------------------------------------------------------


def test_a_missing_name_is_answered_with_near_ones() -> None:
    reader = BundleReader(DATA / "plain")
    assert "did you mean string_scalar" in error_of(
        "checkpoint-no-tensor", reader.tensor, "string_scaler"
    )


def test_no_index(tmp_path: Path) -> None:
    (tmp_path / "model.index").touch()
    text = error_of("checkpoint-missing-index", BundleReader, tmp_path / "modle")
    assert "needed: modle.index" in text
    assert "model.index" in text.split("needed")[0]


def test_missing_shard(plain: Path) -> None:
    plain.with_suffix(".data-00000-of-00001").rename(plain.with_suffix(".data-00000-of-00002"))
    text = error_of("checkpoint-missing-shard", BundleReader(plain).tensor, "scalar")
    assert "found: plain.data-00000-of-00002" in text
    assert "needed: plain.data-00000-of-00001" in text


def test_a_changed_byte_of_data_is_named(plain: Path) -> None:
    data = plain.with_suffix(".data-00000-of-00001")
    raw = bytearray(data.read_bytes())
    stated = BundleReader(plain).entry("float32")
    raw[stated.offset] ^= 1
    data.write_bytes(raw)
    reader = BundleReader(plain)
    text = error_of("checkpoint-checksum", reader.tensor, "float32")
    assert "the checksum of tensor 'float32' must match" in text
    assert f"needed: {stated.crc:#010x}" in text
    assert reader.tensor("float64").tolist() == numeric("float64").tolist()
    assert BundleReader(plain, verify=False).tensor("float32").shape == (2, 3)


def test_truncated_data(plain: Path) -> None:
    data = plain.with_suffix(".data-00000-of-00001")
    data.write_bytes(data.read_bytes()[:-1])
    reader = BundleReader(plain)
    codes = {error_code(reader, name) for name in reader.keys()}  # noqa: SIM118
    assert codes == {"", "checkpoint-truncated"}


def error_code(reader: BundleReader, name: str) -> str:
    try:
        reader.tensor(name)
    except CheckpointError as error:
        return error.code
    return ""


def test_truncated_index(plain: Path) -> None:
    index = plain.with_suffix(".index")
    index.write_bytes(index.read_bytes()[:-1])
    assert "must end in the table's footer" in error_of("checkpoint-truncated", BundleReader, plain)


def test_a_changed_byte_of_the_index(plain: Path) -> None:
    index = plain.with_suffix(".index")
    raw = bytearray(index.read_bytes())
    raw[40] ^= 1
    index.write_bytes(raw)
    assert "the checksum of the block at byte 0" in error_of(
        "checkpoint-checksum", BundleReader, plain
    )


RESTART = struct.pack("<II", 0, 1)


def test_a_compressed_index(tmp_path: Path) -> None:
    block = entry(0, b"", b"\x08\x01") + RESTART
    (tmp_path / "x.index").write_bytes(table_of_block(block, kind=1))
    text = error_of("checkpoint-unsupported", BundleReader, tmp_path / "x")
    assert "compression type 1 (snappy)" in text


def write_index(path: Path, found: BundleEntryProto | None, **header: Any) -> Path:
    head = BundleHeaderProto(**{"num_shards": 1, **header})
    items = [(b"", head.SerializeToString())]
    if found is not None:
        items.append((b"t", found.SerializeToString()))
    path.with_suffix(".index").write_bytes(write_table(items))
    path.with_suffix(".data-00000-of-00001").write_bytes(b"\0" * 16)
    return path


def shaped(*dims: int, **fields: Any) -> BundleEntryProto:
    made = BundleEntryProto(
        **{"dtype": 1, "size": 16, "crc32c": mask(crc32c(b"\0" * 16)), **fields}
    )
    for dim in dims:
        made.shape.dim.add(size=dim)
    return made


@pytest.mark.parametrize(
    ("found", "needle"),
    [
        (shaped(2**62), "a full, sane shape"),
        (shaped(2**31, 2**31, 0, 2**31), "a full, sane shape"),
        (shaped(-1), "a full, sane shape"),
        (shaped(-7), "known dtype and shape"),
        (shaped(4, dtype=77), "known dtype and shape"),
        (shaped(5), "the size must fit dtype and shape"),
        (shaped(4, dtype=20), "must hold numbers or strings"),
        (shaped(4, shard_id=1), "must lie in a shard"),
        (shaped(4, offset=-4), "must lie in a shard"),
        (shaped(4, offset=2**62), "must lie inside its shard"),
        (shaped(2**40, dtype=7), "each string takes a byte"),
        (shaped(4, dtype=7), "strings must fill the entry"),
    ],
    ids=str,
)
def test_absurd_entries(tmp_path: Path, found: BundleEntryProto, needle: str) -> None:
    reader = BundleReader(write_index(tmp_path / "x", found))
    with pytest.raises(CheckpointError, match=needle):
        reader.tensor("t")


@pytest.mark.parametrize(
    ("header", "needle"),
    [
        ({"num_shards": 0}, "there must be a shard"),
        ({"endianness": 1}, "big-endian data"),
        ({"version": VersionDef(producer=9, min_consumer=9)}, "must allow consumer 1"),
        ({"version": VersionDef(producer=9, bad_consumers=[3, 1])}, "found: bad_consumers 1, 3"),
    ],
    ids=str,
)
def test_headers_that_are_refused(tmp_path: Path, header: dict[str, Any], needle: str) -> None:
    path = write_index(tmp_path / "x", None, **header)
    with pytest.raises(CheckpointError, match=needle):
        BundleReader(path)


def test_slices_must_cover_the_tensor(tmp_path: Path) -> None:
    with BundleWriter(tmp_path / "x") as writer:
        writer.add_slice("w", (5, 4), ((0, 2), (0, FULL)), WHOLE[:2])
    reader = BundleReader(tmp_path / "x")
    assert reader.part("w", ((1, 1), (0, 4))).tolist() == [WHOLE[1].tolist()]
    assert "8 elements in 1 slices" in error_of("checkpoint-slice", reader.tensor, "w")


def test_keys_that_grow_out_of_proportion(tmp_path: Path) -> None:
    """An index of 60 kB whose keys would take 80 MB is refused before they do."""
    first = entry(0, b"", b"\x08\x01") + entry(0, b"k" * 40_000, b"")
    more = b"".join(entry(40_000 + k, b"k", b"") for k in range(2000))
    (tmp_path / "x.index").write_bytes(table_of_block(first + more + RESTART))
    text = error_of("bad-checkpoint", BundleReader, tmp_path / "x")
    assert "keys must not grow out of proportion" in text
