"""The protos: every message works, keeps what it does not know, and keeps its field numbers."""

from __future__ import annotations

import difflib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto
from google.protobuf.message import Message

import drystone_abi.protos as protos
from drystone_abi.protos import AttrValue, DataType, GraphDef, NodeDef, TensorProto

SNAPSHOT = Path(__file__).parent / "protos_fields.txt"
UNKNOWN = b"\xfa\xff\x0f\x07unknown"  # field 32767, length-delimited
EXPORTS = {name: getattr(protos, name) for name in protos.__all__}
MESSAGES = {
    name: value
    for name, value in EXPORTS.items()
    if isinstance(value, type) and issubclass(value, Message)
}


def fields(name: str, message: DescriptorProto) -> Iterator[str]:
    """One line for each field of a message and of the messages inside it."""
    for field in sorted(message.field, key=lambda f: f.number):
        kind = field.type_name or FieldDescriptorProto.Type.Name(field.type)
        many = " repeated" if field.label == FieldDescriptorProto.LABEL_REPEATED else ""
        yield f"{name}.{field.name} = {field.number} {kind}{many}"
    for nested in sorted(message.nested_type, key=lambda d: d.name):
        yield from fields(f"{name}.{nested.name}", nested)


def all_fields() -> Iterator[str]:
    """One line for each field of every message."""
    for name in sorted(MESSAGES):
        proto = DescriptorProto()
        MESSAGES[name].DESCRIPTOR.CopyToProto(proto)
        yield from fields(name, proto)


@pytest.mark.parametrize("name", sorted(MESSAGES))
def test_every_message_keeps_unknown_fields(name: str) -> None:
    """Row B8."""
    message = MESSAGES[name].FromString(UNKNOWN)
    assert message.SerializeToString() == UNKNOWN
    assert MESSAGES[name]() != message


def test_unknown_fields_survive_inside_lists_and_maps() -> None:
    attr = AttrValue(i=3).SerializeToString() + UNKNOWN
    node = NodeDef(name="n", attr={"a": AttrValue.FromString(attr)}).SerializeToString() + UNKNOWN
    graph = GraphDef(node=[NodeDef.FromString(node)])
    graph.node[0].name = "renamed"
    back = GraphDef.FromString(graph.SerializeToString()).node[0]
    assert back.name == "renamed"
    assert back.attr["a"].SerializeToString() == attr
    assert back.SerializeToString().count(UNKNOWN) == 2


def test_field_numbers_are_those_of_the_snapshot() -> None:
    found = list(all_fields())
    kept = SNAPSHOT.read_text(encoding="utf-8").splitlines()
    assert "\n".join(difflib.unified_diff(kept, found, "snapshot", "found", lineterm="")) == ""


def test_names_stay_out_of_tensorflows_space() -> None:
    for value in EXPORTS.values():
        assert value.DESCRIPTOR.full_name.startswith("drystone.")
        assert value.DESCRIPTOR.file.name.startswith("drystone_abi/protos/")


def test_a_message_on_the_wire() -> None:
    tensor = TensorProto(dtype=DataType.DT_FLOAT, float_val=[1.0])
    assert tensor.SerializeToString() == bytes.fromhex("0801 2a04 0000803f")
    node = NodeDef(name="x", op="Const")
    assert GraphDef(node=[node]).SerializeToString() == b"\n\n\n\x01x\x12\x05Const"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"'drystone_abi\.protos' has no attribute 'Graf'"):
        _ = protos.Graf


def test_importing_the_package_loads_no_message() -> None:
    program = (
        "import sys, drystone_abi.protos as p; assert 'GraphDef' in dir(p);"
        "print([m for m in sys.modules if m.endswith('_pb2')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr
