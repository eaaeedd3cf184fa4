"""Readers: keys, the first generation, access, and RecordInput."""

import io
import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stateful import Bench, i64, shapes

from drystone_base.core.dtypes import STRING
from drystone_base.core.errors import KernelError
from drystone_base.files.access import Access
from drystone_base.kernels.io._records import write_record
from drystone_base.state.variables import Variable

NUMBERS = itertools.count()


def records(path: Path, *values: bytes) -> Path:
    out = io.BytesIO()
    for value in values:
        write_record(out, value)
    path.write_bytes(out.getvalue())
    return path


def queue(b: Bench, *names: Path, version: str = "V2") -> Any:
    own = f"queue{next(NUMBERS)}"
    q = b(f"FIFOQueue{version}", component_types=[STRING], shapes=[()], shared_name=own)
    for name in names:
        value = np.array(str(name).encode(), object)
        b.all(f"QueueEnqueue{version}", q, value, Tcomponents=[STRING])
    b.all(f"QueueClose{version}", q)
    return q


def test_keys_name_the_place_in_the_file(tmp_path: Path) -> None:
    b = Bench()
    text = tmp_path / "text"
    text.write_bytes(b"head\none\ntwo\n")
    reader = b("TextLineReaderV2", skip_header_lines=1)
    q = queue(b, text)
    key, value = b.all("ReaderReadV2", reader, q)
    assert (key.item(), value.item()) == (f"{text}:2".encode(), b"one")
    path = records(tmp_path / "r", b"abc", b"d")
    keys, values = b.all("ReaderReadUpToV2", b("TFRecordReaderV2"), queue(b, path), i64(9))
    assert keys.tolist() == [f"{path}:0".encode(), f"{path}:19".encode()]
    assert values.tolist() == [b"abc", b"d"]
    keys, _ = b.all(
        "ReaderReadUpToV2",
        b("FixedLengthRecordReaderV2", record_bytes=4),
        queue(b, text),
        i64(9),
    )
    assert keys.tolist() == [f"{text}:{k}".encode() for k in range(3)]


def test_the_first_generation(tmp_path: Path) -> None:
    b = Bench()
    reader = b("TFRecordReader")
    assert isinstance(reader, Variable)
    path = records(tmp_path / "r", b"abc", b"d")
    q = queue(b, path, version="")
    assert b.all("ReaderRead", reader, q)[1].item() == b"abc"
    assert b.all("ReaderReadUpTo", reader, q, i64(4))[1].tolist() == [b"d"]
    assert b("ReaderNumRecordsProduced", reader) == 2
    assert b("ReaderNumWorkUnitsCompleted", reader) == 1
    b.fails("UNIMPLEMENTED", "whole files", "ReaderSerializeState", reader)
    b.all("ReaderReset", reader)
    assert b("ReaderNumRecordsProduced", reader) == 0
    own = b("IdentityReader")
    state = b("ReaderSerializeState", own)
    b.all("ReaderRestoreState", own, state)
    assert b("FixedLengthRecordReader", record_bytes=3).name == "node"


def test_files_are_read_by_the_sessions_policy(tmp_path: Path) -> None:
    b = Bench()
    path = records(tmp_path / "r", b"abc")
    b.runtime.access = Access.nothing()
    for op in ("WholeFileReaderV2", "TextLineReaderV2", "TFRecordReaderV2"):
        reader = b(op, shared_name=op)
        with pytest.raises(KernelError, match="may not read") as caught:
            b.all("ReaderReadV2", reader, queue(b, path))
        assert caught.value.code == "access-denied"
    with pytest.raises(KernelError, match="may not read"):
        b("RecordInput", file_pattern=str(path), batch_size=1)


def test_an_absurd_number_is_refused(tmp_path: Path) -> None:
    b = Bench()
    reader = b("TFRecordReaderV2")
    q = queue(b, tmp_path)
    b.fails("INVALID_ARGUMENT", "negative", "ReaderReadUpToV2", reader, q, i64(-1))
    b.fails("FAILED_PRECONDITION", "must be readable", "ReaderReadV2", reader, q)
    b.fails("INVALID_ARGUMENT", "must have sizes", "FixedLengthRecordReaderV2", record_bytes=0)


def test_record_input_gives_every_record_of_an_epoch(tmp_path: Path) -> None:
    names = [bytes([65 + k]) for k in range(12)]
    for k in range(3):
        records(tmp_path / f"part{k}", *names[4 * k : 4 * k + 4])
    attrs: dict[str, Any] = {"file_pattern": f"{tmp_path}/part*", "batch_size": 12}
    orders = []
    for seed in (1, 1, 2):
        b = Bench()
        first = b("RecordInput", **attrs, file_random_seed=seed)
        second = b("RecordInput", **attrs, file_random_seed=seed)
        assert Counter(first.tolist()) == Counter(second.tolist()) == Counter(names)
        orders.append(first.tolist())
    assert orders[0] == orders[1] != orders[2]
    b = Bench()
    small = b("RecordInput", **attrs, file_buffer_size=2)
    assert set(small.tolist()[:2]) <= {n for k in range(3) for n in names[4 * k : 4 * k + 3]}
    missing = {"file_pattern": f"{tmp_path}/none*"}
    Bench().fails("NOT_FOUND", "must match", "RecordInput", **missing)
    records(tmp_path / "empty")
    empty = {"file_pattern": str(tmp_path / "empty")}
    Bench().fails("INVALID_ARGUMENT", "must have records", "RecordInput", **empty)


def test_shapes() -> None:
    assert shapes("ReaderReadV2", [(), ()])[0] == [(), ()]
    assert shapes("ReaderReadUpToV2", [(), (), ()])[0] == [(-1,), (-1,)]
    assert shapes("RecordInput", [])[0] == [None]
