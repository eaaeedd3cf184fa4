"""Files of records: what is written is read, and damage is told from the end."""

import gzip
import io
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drystone_base.core.errors import KernelError
from drystone_base.kernels.io import _records
from drystone_base.kernels.io._records import (
    RECORD_OVERHEAD,
    decompressed,
    read_records,
    write_record,
)

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "GZIP": gzip.compress,
    "ZLIB": zlib.compress,
}


def packed(*records: bytes) -> bytes:
    out = io.BytesIO()
    for record in records:
        write_record(out, record)
    return out.getvalue()


def read(data: bytes, compression: str = "") -> list[bytes]:
    return list(read_records(io.BytesIO(data), compression))


@given(st.lists(st.binary(max_size=40), max_size=5), st.sampled_from(sorted(PACKERS)))
def test_what_is_written_is_read(records: list[bytes], compression: str) -> None:
    data = packed(*records)
    assert len(data) == sum(len(r) + RECORD_OVERHEAD for r in records)
    assert read(PACKERS[compression](data), compression) == records


def test_the_stored_form_is_tensorflows() -> None:
    # Written by TensorFlow 2.21: tf.io.TFRecordWriter(path).write(b"abc")
    stored = "0300000000000000b099490e6162636e57f121"
    assert packed(b"abc").hex() == stored


@pytest.mark.parametrize("cut", range(1, 12))
def test_a_rest_shorter_than_a_header_is_the_end(cut: int) -> None:
    data = packed(b"abc")
    assert read(data + data[:cut]) == [b"abc"]


@pytest.mark.parametrize("cut", range(12, 19))
def test_a_record_that_is_cut_off_is_refused(cut: int) -> None:
    data = packed(b"abc")
    stream = read_records(io.BytesIO(data + data[:cut]), where="x.tfrecord")
    assert next(stream) == b"abc"
    with pytest.raises(KernelError, match=r"x\.tfrecord: record at 19 cannot be read") as caught:
        next(stream)
    assert (caught.value.code, caught.value.status) == ("bad-record", "DATA_LOSS")


@pytest.mark.parametrize(("at", "what"), [(0, "the length"), (9, "the length"), (13, "the bytes")])
def test_checksums_are_verified(at: int, what: str) -> None:
    data = bytearray(packed(b"abc"))
    data[at] ^= 1
    with pytest.raises(KernelError, match=f"checksum of {what} must match"):
        read(bytes(data))


def test_an_absurd_length_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_records, "byte_limit", lambda: 2)
    with pytest.raises(KernelError, match="must fit in this machine's memory") as caught:
        read(packed(b"abc"))
    assert caught.value.status == "RESOURCE_EXHAUSTED"


def test_gzip_parts_follow_each_other_and_zlib_ends_with_the_first() -> None:
    data = packed(b"a" * 1000)
    assert read(gzip.compress(data) * 3, "GZIP") == [b"a" * 1000] * 3
    assert read(zlib.compress(data) * 3, "ZLIB") == [b"a" * 1000]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_damaged_compression_is_refused(compression: str) -> None:
    data = PACKERS[compression](packed(b"abc" * 50))
    with pytest.raises(KernelError, match=f"must be {compression} data"):
        read(b"no such data at all", compression)
    with pytest.raises(KernelError, match="must be whole"):
        read(data[:-14], compression)
    assert read(data[:-3], compression) == [b"abc" * 50]  # only a checksum of zlib's is cut
    assert read(b"", compression) == []


def test_large_data_inflate_in_pieces() -> None:
    plain = bytes(1 << 20)
    assert decompressed(io.BytesIO(gzip.compress(plain)), "GZIP").read() == plain


def test_snappy_is_refused_and_an_unknown_name_means_none() -> None:
    with pytest.raises(KernelError, match="the compression must be one") as caught:
        read(b"", "SNAPPY")
    assert caught.value.status == "UNIMPLEMENTED"
    assert read(packed(b"abc"), "gzip") == [b"abc"]
