"""Damaged checkpoints: every outcome is the right tensor or a DrystoneError."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from checkpoint_files import table_of_block
from hypothesis import given, settings
from hypothesis import strategies as st

from drystone_base.checkpoint import BundleReader, BundleWriter, latest_checkpoint
from drystone_base.checkpoint._table import read_table, write_table
from drystone_base.core.errors import DrystoneError

Damage = list[tuple[str, int, int]]
DAMAGE: st.SearchStrategy[Damage] = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "insert"]), st.integers(0, 4000), st.integers(0, 255)
    ),
    min_size=1,
    max_size=4,
)


def damaged(raw: bytes, damage: Damage) -> bytes:
    out = bytearray(raw)
    for kind, position, value in damage:
        at = position % (len(out) + 1)
        if kind == "cut":
            del out[at:]
        elif kind == "insert":
            out[at:at] = bytes([value]) * (value % 7)
        elif at < len(out):
            out[at] ^= value
    return bytes(out)


def read_everything(prefix: Path, verify: bool = True) -> None:
    try:
        reader = BundleReader(prefix, verify=verify)
    except DrystoneError:
        return
    for name in reader.keys():  # noqa: SIM118
        try:
            assert reader.tensor(name).nbytes < 1 << 20
        except DrystoneError:
            continue


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a small checkpoint with numbers, strings and a partitioned tensor."""
    folder = tmp_path_factory.mktemp("sound")
    with BundleWriter(folder / "x") as writer:
        writer.add("a/numbers", np.arange(12.0).reshape(3, 4))
        writer.add("a/strings", np.array([b"one", b"", b"three" * 50], object))
        writer.add("flag", np.array(True))
        writer.add_slice("parts", (4, 2), ((0, 2), (0, -1)), np.ones((2, 2), np.float32))
        writer.add_slice("parts", (4, 2), ((2, 2), (0, -1)), np.zeros((2, 2), np.float32))
    return {p.suffix: p.read_bytes() for p in folder.iterdir()}


@settings(max_examples=150, deadline=None)
@given(
    index=st.one_of(st.just([]), DAMAGE), data=st.one_of(st.just([]), DAMAGE), check=st.booleans()
)
def test_damaged_files(
    sound: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
    index: Damage,
    data: Damage,
    check: bool,
) -> None:
    prefix = tmp_path_factory.getbasetemp() / "x"
    for suffix, raw in sound.items():
        prefix.with_suffix(suffix).write_bytes(damaged(raw, index if suffix == ".index" else data))
    read_everything(prefix, verify=check)


@settings(max_examples=150, deadline=None)
@given(damage=DAMAGE, which=st.integers(0, 5))
def test_entries_with_sound_checksums_and_damaged_protos(
    sound: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory, damage: Damage, which: int
) -> None:
    """Damage behind the checksums: what a hostile writer could make."""
    rows = [(k, bytes(v)) for k, v in read_table(memoryview(sound[".index"]), "index")]
    key, value = rows[which % len(rows)]
    rows[which % len(rows)] = (key, damaged(value, damage))
    prefix = tmp_path_factory.getbasetemp() / "y"
    for suffix, raw in sound.items():
        prefix.with_suffix(suffix).write_bytes(write_table(rows) if suffix == ".index" else raw)
    read_everything(prefix, verify=False)


@settings(max_examples=100, deadline=None)
@given(body=st.binary(max_size=80), restarts=st.integers(0, 3))
def test_hostile_blocks(
    tmp_path_factory: pytest.TempPathFactory, body: bytes, restarts: int
) -> None:
    """Any bytes as the first block, with a right checksum."""
    block = body + b"\0" * 4 * restarts + restarts.to_bytes(4, "little")
    raw = table_of_block(block)
    path = tmp_path_factory.getbasetemp() / "z.index"
    path.write_bytes(raw)
    read_everything(path.with_suffix(""))


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    folder = tmp_path_factory.getbasetemp()
    (folder / "r.index").write_bytes(raw)
    (folder / "checkpoint").write_bytes(raw)
    read_everything(folder / "r")
    try:
        latest_checkpoint(folder)
    except DrystoneError as error:
        assert error.code == "bad-checkpoint"  # noqa: PT017
