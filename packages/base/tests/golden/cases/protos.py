"""Golden cases of messages taken apart and put together."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from oracle import Case, case

from drystone_base.core.dtypes import as_dtype
from golden.cases.strings import texts

KINDS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string",
         "group", "message", "bytes", "uint32", "enum", "sfixed32", "sfixed64", "sint32",
         "sint64")  # fmt: skip
USED = [k for k in KINDS if k not in ("group", "message", "enum")]


def _set() -> descriptor_pb2.FileDescriptorSet:
    file = descriptor_pb2.FileDescriptorProto(name="t.proto", package="t", syntax="proto2")
    enum = file.enum_type.add(name="E")
    for k, name in enumerate(("ZERO", "ONE", "TWO")):
        enum.value.add(name=name, number=k)
    made = file.message_type.add(name="M")
    for k, kind in enumerate(USED):
        number = KINDS.index(kind) + 1
        made.field.add(name=kind, number=k + 1, label=1, type=number)
        many = made.field.add(name=f"many_{kind}", number=k + 40, label=3, type=number)
        if kind in ("int32", "float", "sint64", "bool", "fixed32"):
            many.options.packed = True
    made.field.add(name="enum", number=80, label=1, type=14, type_name=".t.E", default_value="TWO")
    made.field.add(name="inner", number=81, label=1, type=11, type_name=".t.M")
    made.field.add(name="inners", number=82, label=3, type=11, type_name=".t.M")
    made.field.add(name="seven", number=83, label=1, type=5, default_value="7")
    made.field.add(name="word", number=84, label=1, type=9, default_value="none")
    return descriptor_pb2.FileDescriptorSet(file=[file])


SOURCE = b"bytes://" + _set().SerializeToString()
SOURCE_TEXT = SOURCE.decode("utf-8", "surrogateescape")
_POOL = descriptor_pool.DescriptorPool()
_POOL.Add(_set().file[0])
M: Any = message_factory.GetMessageClass(_POOL.FindMessageTypeByName("t.M"))
ONE = M(double=1.5, float=-0.5, int32=-3, int64=2**40, uint32=2**31, uint64=2**63, bool=True,
        string="é", bytes=b"\0\xff", sint32=-9, sint64=-(2**50), fixed32=9, fixed64=10,
        sfixed32=-4, sfixed64=-5, many_int32=[1, -2, 3], many_string=["a", "", "b"],
        many_float=[0.5, 1.5], many_bool=[True, False], many_sint64=[-1, 1], many_double=[2.5],
        many_fixed32=[7, 8], many_bytes=[b"x"], enum=1, seven=0)  # fmt: skip
ONE.inner.int32 = 5
ONE.inners.add(string="q")
ONE.inners.add()
TWO = M(many_int32=[9], word="w")
RAW = [m.SerializeToString() for m in (ONE, TWO, M())]
TYPES = {
    "double": "float64", "float": "float32", "int64": "int64", "uint64": "uint64",
    "int32": "int32", "fixed64": "uint64", "fixed32": "uint32", "bool": "bool",
    "string": "string", "bytes": "string", "uint32": "uint32", "sfixed32": "int32",
    "sfixed64": "int64", "sint32": "int32", "sint64": "int64", "enum": "int32",
    "inner": "string", "inners": "string", "seven": "int32", "word": "string",
}  # fmt: skip


def _kind(name: str) -> str:
    return TYPES[name.removeprefix("many_")]


def _decode(values: Any, names: list[str], kinds: Any = None, **more: Any) -> Case:
    types = [as_dtype(k) for k in kinds or map(_kind, names)]
    attrs = {"message_type": "t.M", "descriptor_source": SOURCE_TEXT} | more
    return case("DecodeProtoV2", values, field_names=names, output_types=types, **attrs)


def _decoded() -> Iterator[Case]:
    batch = texts(*RAW)
    names = [*USED, *(f"many_{k}" for k in USED), "enum", "inner", "inners", "seven", "word"]
    yield _decode(batch, names)
    yield _decode(batch, names, sanitize=True)
    yield _decode(batch.reshape(3, 1), ["many_int32", "string"])
    yield _decode(np.array(RAW[0], object), ["word", "many_string"])
    yield _decode(batch, [])
    wide = ["int32", "sint32", "sfixed32", "uint32", "fixed32", "float", "many_float"]
    yield _decode(batch, wide, ["int64"] * 3 + ["uint64"] * 2 + ["float64"] * 2)
    twice = texts(RAW[0] + M(int32=4, many_int32=[6]).SerializeToString())
    yield _decode(twice, ["int32", "many_int32"])
    as_text = texts('int32: 4 many_string: "a" many_string: "b" inner { bool: true }', "")
    yield _decode(as_text, ["int32", "many_string", "inner"], message_format="text")
    yield _decode(batch, ["int32"], ["string"], note="refused")
    yield _decode(batch, ["nothing"], ["string"], note="refused")
    yield _decode(batch, ["int32"], message_type="t.N", note="refused")
    yield _decode(batch[:0], ["int32"], note="refused")
    yield _decode(texts("x"), ["int32"], note="refused")
    yield _decode(texts(b"\x28\xff"), ["int32"], note="refused")
    yield _decode(texts("int32: x"), ["int32"], message_format="text", note="refused")
    yield _decode(batch, ["int32"], descriptor_source="bytes://nonsense", note="refused")
    yield _decode(batch, ["int32"], message_format="json", note="refused")


def _encode(sizes: Any, values: list[Any], names: list[str], **more: Any) -> Case:
    attrs = {"message_type": "t.M", "descriptor_source": SOURCE_TEXT} | more
    return case("EncodeProto", np.array(sizes, np.int32), *values, field_names=names, **attrs)


def _encoded() -> Iterator[Case]:
    plain = {"float64": [[0.0, 2.5]], "float32": [[0.0, -1.5]], "int64": [[-1, 2**40]],
             "uint64": [[0, 2**63]], "int32": [[-7, 0]], "uint32": [[0, 2**32 - 1]],
             "bool": [[True, False]], "string": [[b"", b"\0\xff"]]}  # fmt: skip
    for kind in [*USED, "enum", "inner"]:
        dtype = as_dtype(_kind(kind))
        value = np.array(plain[dtype.label], dtype.np)
        if kind == "inner":
            value[...] = [[b"", ONE.SerializeToString()]]
        for name in (kind, f"many_{kind}") if kind in USED else (kind,):
            for count in (0, 1, 2):
                yield _encode([[count]], [value], [name])
    numbers = np.arange(12, dtype=np.int64).reshape(2, 2, 3) + 2**33
    words = texts(*"abcd").reshape(2, 2, 1)
    sizes = [[[1, 3], [0, 2]], [[1, 0], [1, 1]]]
    yield _encode(sizes, [words, numbers], ["word", "many_int32"])
    yield _encode(sizes, [words, numbers], ["many_string", "many_sint32"])
    yield _encode([[[2, 0]] * 2] * 2, [words, numbers], ["word", "many_int32"], note="refused")
    yield _encode([[1]], [words[0, :1]], ["word"])
    yield _encode([[1]], [words[0, :1]], ["int32"], note="refused")
    yield _encode([[1]], [words[0, :1]], ["other"], note="refused")
    yield _encode([1], [words[0, :1]], ["word"], note="refused")
    yield _encode([[1, 1]], [words[0, :1], words[0]], ["word", "string"], note="refused")


CASES = [*_decoded(), *_encoded()]
