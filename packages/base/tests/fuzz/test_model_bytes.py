"""Damaged and random model files: a model comes out or a DrystoneError, nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import text_format
from hypothesis import given, settings
from hypothesis import strategies as st
from model_files import meta_graph, model_graph, write_saved_model

from drystone_abi.protos import SavedModel
from drystone_base.core.errors import BadModelFile, DrystoneError
from drystone_base.core.wire import write_varint
from drystone_base.graph import validate
from drystone_base.loaders import LoadedModel, load_model, read_graph

Damage = list[tuple[str, int, int]]
DAMAGE: st.SearchStrategy[Damage] = st.lists(
    st.tuples(
        st.sampled_from(["flip", "cut", "repeat"]), st.integers(0, 9999), st.integers(0, 255)
    ),
    min_size=1,
    max_size=5,
)
BINARY = model_graph().to_bytes()
TEXT = text_format.MessageToString(model_graph().to_proto()).encode()
SAVED = SavedModel(meta_graphs=[meta_graph(model_graph())]).SerializeToString()


def damaged(raw: bytes, damage: Damage) -> bytes:
    out = bytearray(raw)
    for kind, position, value in damage:
        at = position % (len(out) + 1)
        if kind == "cut":
            del out[at : at + value]
        elif kind == "repeat":
            out[at:at] = out[at : at + value]
        elif at < len(out):
            out[at] ^= value
    return bytes(out)


def touch_everything(loaded: LoadedModel) -> None:
    """Decode what is decoded lazily."""
    for node in loaded.graph:
        try:
            dict(node.attrs)
            node.full_attrs()
        except DrystoneError:
            continue
    try:
        validate(loaded.graph)
    except DrystoneError:
        return


def assert_loads_or_says_why(path: Path) -> None:
    try:
        loaded = load_model(path)
    except DrystoneError as error:
        parts = error.fields()
        missing = [k for k in ("what", "check", "found", "remedy") if not parts[k]]
        if missing:
            pytest.fail(f"{error}\nlacks {missing}")
        return
    touch_everything(loaded)


@settings(max_examples=150, deadline=None)
@given(damage=DAMAGE, textual=st.booleans())
def test_damaged_graphs(
    tmp_path_factory: pytest.TempPathFactory, damage: Damage, textual: bool
) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.pb"
    path.write_bytes(damaged(TEXT if textual else BINARY, damage))
    assert_loads_or_says_why(path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_saved_model(tmp_path_factory.mktemp("fuzz") / "m", meta_graph(model_graph()))


@settings(max_examples=150, deadline=None)
@given(damage=DAMAGE)
def test_damaged_saved_models(folder: Path, damage: Damage) -> None:
    (folder / "saved_model.pb").write_bytes(damaged(SAVED, damage))
    assert_loads_or_says_why(folder)


@settings(max_examples=100, deadline=None)
@given(damage=DAMAGE)
def test_damaged_meta_graphs(tmp_path_factory: pytest.TempPathFactory, damage: Damage) -> None:
    path = tmp_path_factory.getbasetemp() / "damaged.meta"
    path.write_bytes(damaged(meta_graph(model_graph()).SerializeToString(), damage))
    assert_loads_or_says_why(path)


@settings(max_examples=150, deadline=None)
@given(
    raw=st.binary(max_size=300),
    name=st.sampled_from(["r.pb", "r.pbtxt", "r.meta", "r/saved_model.pb"]),
)
def test_random_bytes(tmp_path_factory: pytest.TempPathFactory, raw: bytes, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(raw)
    assert_loads_or_says_why(path)


def test_deep_nesting_ends(tmp_path: Path) -> None:
    """Messages nested far beyond protobuf's limit, binary and text."""
    raw = b""
    for _ in range(500):  # AttrValue.list.func.attr.value, over and over
        for tag in (b"\x12", b"\x12", b"\x4a", b"\x0a"):
            raw = tag + write_varint(len(raw)) + raw
    for tag in (b"\x12", b"\x2a", b"\x0a"):
        raw = tag + write_varint(len(raw)) + raw
    deep = 'node { attr { key: "a" value { ' + "list { func { attr { value {" * 3000
    for content in (raw, deep.encode(), b"{" * 100_000, b"node {" * 100_000):
        path = tmp_path / "deep.pbtxt"
        path.write_bytes(content)
        with pytest.raises(BadModelFile):
            read_graph(path)
