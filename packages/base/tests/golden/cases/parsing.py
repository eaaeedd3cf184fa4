"""Golden cases of parsing examples, CSV lines, JSON and tensors."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import f32, i32, i64

from drystone_abi.protos import BytesList, Example, Feature, Features, FloatList, Int64List
from drystone_base.core.dtypes import FLOAT32, FLOAT64, INT32, INT64, STRING
from drystone_base.kernels.parsing.parsing import serialize_tensor
from golden.cases.strings import NONE, texts


def example(**features: Any) -> bytes:
    """A serialized example; lists of bytes, floats or ints tell the kind."""
    made = {}
    for key, values in features.items():
        if values is None:
            made[key] = Feature()
        elif values and isinstance(values[0], bytes):
            made[key] = Feature(bytes_list=BytesList(value=values))
        elif values and isinstance(values[0], float):
            made[key] = Feature(float_list=FloatList(value=values))
        else:
            made[key] = Feature(int64_list=Int64List(value=values))
    return Example(features=Features(feature=made)).SerializeToString(deterministic=True)


# TensorFlow's parser looks a key up once: each output has a key of its own.
ONE = example(a=[1.5, 2.5], b=[7], c=[1], s=[b"x", b"y"], v=[1, 2, 3, 4], w=[1, 2, 3, 4],
              t=[b"p", b"q"], i=[1, 2], j=[b"r"], k=[0.5])  # fmt: skip
TWO = example(a=[3.0, 4.0], s=[b"z"], v=[5, 6], w=[7, 8], t=[b"o"], i=[3], k=[1.5, 2.5])
THREE = example(b=[9], a=[0.0, -1.0], s=None, j=[b"", b"n"])
BATCH = texts(ONE, TWO, THREE)
DENSE: list[Any] = [
    ("a", FLOAT32, (2,), f32([])), ("b", INT64, (), i64(-5)), ("c", INT64, (1,), i64([8])),
    ("v", INT64, (-1,), i64(0)), ("w", INT64, (-1, 2), i64([-7])),
    ("t", STRING, (-1,), texts("pad")),
]  # fmt: skip


def _v2(serialized: Any, sparse: Any, dense: Any, ragged: Any, names: Any = NONE) -> Case:
    return case(
        "ParseExampleV2", serialized, names, texts(*[k for k, _ in sparse]),
        texts(*[d[0] for d in dense]), texts(*[r[0] for r in ragged]), *[d[3] for d in dense],
        num_sparse=len(sparse), sparse_types=[t for _, t in sparse], Tdense=[d[1] for d in dense],
        dense_shapes=[d[2] for d in dense], ragged_value_types=[r[1] for r in ragged],
        ragged_split_types=[r[2] for r in ragged],
    )  # fmt: skip


def _examples() -> Iterator[Case]:
    sparse = [("s", STRING), ("x", INT64), ("none", FLOAT32)]
    ragged = [("i", INT64, INT32), ("j", STRING, INT64), ("k", FLOAT32, INT64)]
    for serialized in (BATCH, BATCH[:1], BATCH[:0], ONE):
        yield _v2(serialized, sparse, DENSE, ragged)
        yield _v2(serialized, sparse, [], [])
        yield _v2(serialized, [], DENSE[:1], [])
    yield _v2(BATCH, sparse, [], [], texts("one", "two", "three"))
    yield _v2(BATCH, sparse, [], [], texts("one"))
    yield _v2(np.array([["a"]]), sparse, [], [])
    yield _v2(texts("not an example"), sparse, [], [])
    for bad in (
        ("b", INT64, (), i64([])), ("a", FLOAT32, (3,), f32([])), ("a", INT64, (2,), i64([])),
        ("v", INT64, (-1, 3), i64([0])), ("v", INT64, (-1,), i64([])),
    ):  # fmt: skip
        yield _v2(BATCH, [], [bad], [])
    yield _v2(BATCH, [("a", INT64)], [], [])
    none: Any = b"\xff"  # a key that no field of text can hold
    yield _v2(BATCH, [(none, INT64)], [(none, INT64, (), i64(-5))], [])
    yield _v2(BATCH, [], [], [(none, INT64, INT64)])
    yield _v2(BATCH, [], [], [("a", INT64, INT64)])
    for serialized in (BATCH, BATCH[:1], BATCH[:0]):
        yield case(
            "ParseExample", serialized, NONE, "s", "v", "a", "b", f32([]), i64(3), Nsparse=2,
            Ndense=2,
            sparse_types=[STRING, INT64], Tdense=[FLOAT32, INT64], dense_shapes=[(2,), ()],
        )  # fmt: skip
    for serialized in (ONE, TWO, THREE, example()):
        yield case(
            "ParseSingleExample", serialized, f32([1, 2]), i64(3), i64([0]), num_sparse=2,
            sparse_keys=["s", "i"], dense_keys=["a", "b", "v"], sparse_types=[STRING, INT64],
            Tdense=[FLOAT32, INT64, INT64], dense_shapes=[(2,), (), (-1,)],
        )  # fmt: skip


def _csv() -> Iterator[Case]:
    kinds: list[Any] = [INT32, FLOAT32, STRING]
    defaults = [i32([1]), f32([2.5]), texts("d")]
    lines = [
        "1,2,x", ",,", ' 7 ,1e3,"a,b"', '"3","4","say ""hi"""', "1,2,", "a,2,x", "1,2", "1,2,3,4",
        '1,2,a"b', '1,2,"a"b', '1,2,"a', "1,2,a\nb", '1,2,"a\nb"', "", "NA,2,x", "1,x,y",
        '"",2,""', "99999999999,2,x", '1,2,"x"\n',
    ]  # fmt: skip
    for line in lines:
        for extra in ({}, {"use_quote_delim": False}, {"na_value": "NA"}):
            yield case("DecodeCSV", texts(line), *defaults, OUT_TYPE=kinds, **extra)
    yield case("DecodeCSV", texts("1;2;x"), *defaults, OUT_TYPE=kinds, field_delim=";")
    yield case("DecodeCSV", np.array([["1,2,x"], [",,"]]), *defaults, OUT_TYPE=kinds)
    yield case("DecodeCSV", "1,2,x", *defaults, OUT_TYPE=kinds)
    yield case("DecodeCSV", texts("1,,x"), i32([1]), f32([]), texts("d"), OUT_TYPE=kinds)
    for cols in ([0, 2], [1, 3], [0, 9], [0]):
        yield case("DecodeCSV", texts("1,2,3,4"), i64([0]), np.array([0.0]),
                   OUT_TYPE=[INT64, FLOAT64], select_cols=cols)  # fmt: skip
    yield case("DecodeCSV", texts("1,2,x"), *defaults, OUT_TYPE=kinds, field_delim=";;")
    yield case("DecodeCSV", texts("", "a"), texts("d"), OUT_TYPE=[STRING])
    yield case("DecodeCSV", texts('""', "a"), texts("d"), OUT_TYPE=[STRING])


JSON = '{"features": {"feature": {"a": {"bytesList": {"value": ["YQ==", "Yg=="]}}}}}'


def _bytes() -> Iterator[Case]:
    for value in (f32([[1, 2]]), i64(7), np.array([True]), np.complex64([1j]), np.zeros((0, 2))):
        (text,) = serialize_tensor(None, value).reshape(1)  # type: ignore[arg-type]
        label = str(value.dtype)
        yield case("ParseTensor", text, out_type=label, tol=0)
        yield case("SerializeTensor", value)
    (text,) = serialize_tensor(None, texts("a", "bc")).reshape(1)  # type: ignore[arg-type]
    yield case("ParseTensor", text, out_type="string")
    yield case("ParseTensor", text, out_type="int32")
    yield case("ParseTensor", "junk", out_type="int32")
    yield case("SerializeTensor", texts("a", "bc"))
    yield case("DecodeJSONExample", texts(JSON, "{}"))
    yield case("DecodeJSONExample", texts("junk"))


CASES = [*_examples(), *_csv(), *_bytes()]
