"""Our protos and op definitions are TensorFlow's: field by field, op by op."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from typing import Any

import pytest
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

import drystone_abi.protos as protos
from drystone_base.ops import defs

tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed; run nox -s tf_parity")

LEFT_OUT = {
    "ConfigProto.Experimental.coordination_config",
    "ConfigProto.rpc_options",
    "RunOptions.debug_options",
}
OWN = {"BlockDef", "InstructionDef", "PlanDef", "PlanKind"}  # plan.proto: TensorFlow has none
HOMES = (
    "tensorflow.core.framework",
    "tensorflow.core.protobuf",
    "tensorflow.core.example",
    "tensorflow.core.grappler.costs",
)


@functools.cache
def theirs() -> dict[str, Any]:
    """TensorFlow's messages and enumerations by name."""
    found: dict[str, Any] = {}
    modules = [
        "tensorflow.python.training.checkpoint_state_pb2",
        "tensorflow.compiler.xla.tsl.protobuf.histogram_pb2",
        "tensorflow.core.util.event_pb2",
        "tensorflow.core.util.saved_tensor_slice_pb2",
        "tensorflow.tsl.profiler.protobuf.xplane_pb2",
    ]
    for home in HOMES:
        path = importlib.import_module(home).__path__
        modules += [f"{home}.{m.name}" for m in pkgutil.iter_modules(path) if "_pb2" in m.name]
    for module in modules:
        file = importlib.import_module(module).DESCRIPTOR
        if file.package in {"tensorflow", "tensorflow.profiler"}:
            found |= dict(file.message_types_by_name) | dict(file.enum_types_by_name)
    return found


def short(name: str) -> str:
    """A full type name less its package."""
    name = name.removeprefix(".").removeprefix("drystone.").removeprefix("tensorflow.")
    return name.removeprefix("profiler.")


def describe(descriptor: Any) -> dict[str, Any]:
    """What decides the wire format and the text form, for every field and enumeration inside."""
    if hasattr(descriptor, "values"):
        enum = EnumDescriptorProto()
        descriptor.CopyToProto(enum)
        return _enum_parts(enum.name, enum)
    message = DescriptorProto()
    descriptor.CopyToProto(message)
    return _message_parts(message.name, message)


def _enum_parts(name: str, enum: EnumDescriptorProto) -> dict[str, Any]:
    return {f"{name}.{v.name}": v.number for v in enum.value}


def _message_parts(name: str, message: DescriptorProto) -> dict[str, Any]:
    out: dict[str, Any] = {name: (message.options.map_entry, list(message.reserved_name))}
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else ""
        packed = not field.options.HasField("packed") or field.options.packed
        out[f"{name}.{field.name}"] = (
            field.number,
            field.type,
            field.label,
            packed,
            short(field.type_name),
            oneof.removeprefix("_" + field.name),
        )
    for nested in message.nested_type:
        out |= _message_parts(f"{name}.{nested.name}", nested)
    for enum in message.enum_type:
        out |= _enum_parts(f"{name}.{enum.name}", enum)
    return out


@pytest.mark.parametrize("name", sorted(set(protos.__all__) - OWN))
def test_fields_are_tensorflows(name: str) -> None:
    ours = describe(getattr(protos, name).DESCRIPTOR)
    want = describe(theirs()[name])
    assert ours == {key: value for key, value in want.items() if key not in LEFT_OUT}


def sample(message: Message, depth: int = 3) -> Message:
    """The message with something in every field that is not a map."""
    for field in message.DESCRIPTOR.fields:
        inner = field.message_type
        if inner is not None:
            if (
                depth
                and not inner.GetOptions().map_entry
                and inner.file.package != "google.protobuf"
            ):
                target = getattr(message, field.name)
                sample(target.add() if field.is_repeated else target, depth - 1)
            continue
        value: Any = b"x" if field.type == field.TYPE_BYTES else 1
        if field.type == field.TYPE_STRING:
            value = "x"
        if hasattr(target := getattr(message, field.name), "append"):
            target.append(value)
        else:
            setattr(message, field.name, value)
    return message


@pytest.mark.parametrize("name", ["GraphDef", "SavedModel", "RewriterConfig", "BundleEntryProto"])
def test_filled_messages_have_the_same_bytes(name: str) -> None:
    ours = sample(getattr(protos, name)()).SerializeToString(deterministic=True)
    assert len(ours) > 10
    home = theirs()[name].file.name.removesuffix(".proto").replace("/", ".")
    back = getattr(importlib.import_module(f"{home}_pb2"), name).FromString(ours)
    assert back.SerializeToString(deterministic=True) == ours
    assert not UnknownFieldSet(back)


def test_a_traced_graph_has_the_same_bytes_both_ways() -> None:
    def loop(x: Any) -> Any:
        while tf.reduce_sum(x) < 100.0:
            x = x * 2.0
        return tf.strings.as_string(x)

    graph = tf.function(loop).get_concrete_function(tf.TensorSpec([None, 3])).graph.as_graph_def()
    sent = graph.SerializeToString(deterministic=True)
    ours = protos.GraphDef.FromString(sent)
    assert len(ours.library.function) >= 2
    assert ours.SerializeToString(deterministic=True) == sent
    assert type(graph).FromString(ours.SerializeToString()) == graph


def registered() -> dict[str, protos.OpDef]:
    """TensorFlow's own op definitions as our protos."""
    client = importlib.import_module("tensorflow.python.client.pywrap_tf_session")
    content = client.TF_GetBuffer(client.TF_GetAllOpList())
    return {op.name: op for op in protos.OpList.FromString(content).op}


def test_op_definitions_are_tensorflows() -> None:
    if tf.__version__ != defs.tensorflow_version():
        pytest.skip(f"op definitions are of {defs.tensorflow_version()}, this is {tf.__version__}")
    wanted = registered()
    shared = {name for name in defs.names() if not name.startswith("Drystone>")}
    assert shared <= set(wanted)
    more = set(wanted) - shared
    assert all(n.startswith("_") for n in more), "only internal ops may be registered by running"
    for name in shared:
        assert defs.OpDef.from_proto(wanted[name]) == defs.find(name)


def test_defaults_are_what_tensorflow_decodes() -> None:
    for name in ("Conv2D", "FusedBatchNormV3", "ParseExampleV2", "CropAndResize", "StridedSlice"):
        for attr in registered()[name].attr:
            ours = defs.op_def(name).attrs[attr.name]
            assert ours.has_default == attr.HasField("default_value")
            if attr.default_value.WhichOneof("value") in {"i", "f", "b"}:
                kind = attr.default_value.WhichOneof("value")
                assert ours.default == getattr(attr.default_value, str(kind))
