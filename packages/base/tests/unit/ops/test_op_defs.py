"""Op definitions: the data file, lookup, argument types, registration."""

from __future__ import annotations

from typing import Any

import pytest

from drystone_abi.protos import DataType
from drystone_abi.protos import OpDef as OpDefProto
from drystone_base.core.dtypes import FLOAT32, INT32, INT64, RESOURCE, STRING, as_dtype
from drystone_base.core.errors import GraphError, UnsupportedOp
from drystone_base.ops import defs
from drystone_base.ops.attrs import Placeholder
from drystone_base.ops.defs import OpDef, find, names, op_def, register


def test_all_ops_are_known_and_decode() -> None:
    known = names()
    assert len(known) > 1900
    assert list(known) == sorted(known)
    assert {"MatMul", "_FusedConv2D", "_Arg", "_Retval", "StatefulPartitionedCall"} <= set(known)
    assert [op_def(name).name for name in known] == list(known)


def test_the_data_names_its_release() -> None:
    assert defs.tensorflow_version().startswith("2.")


def test_a_plain_op() -> None:
    op = op_def("MatMul")
    assert [a.name for a in op.inputs] == ["a", "b"]
    assert [a.type_attr for a in (*op.inputs, *op.outputs)] == ["T", "T", "T"]
    assert op.attrs["transpose_a"].default is False
    assert op.attrs["transpose_a"].has_default
    assert not op.attrs["T"].has_default
    assert FLOAT32 in (op.attrs["T"].allowed or ())
    assert STRING not in (op.attrs["T"].allowed or ())
    assert not op.is_stateful
    assert op_def("MatMul") is op


def test_flags_and_limits() -> None:
    assert op_def("VarHandleOp").is_stateful
    assert op_def("AddN").is_commutative
    assert op_def("AddN").is_aggregate
    assert op_def("AddN").attrs["N"].minimum == 1
    assert op_def("MatMul").attrs["T"].minimum is None
    assert op_def("Assign").allows_uninitialized_input
    assert op_def("BatchMatrixDiag").deprecated == 14
    assert op_def("MatMul").deprecated is None


def test_defaults_of_every_kind() -> None:
    conv = op_def("Conv2D").attrs
    assert conv["dilations"].default == [1, 1, 1, 1]
    assert conv["data_format"].default == "NHWC"
    assert conv["data_format"].allowed is not None
    assert conv["explicit_paddings"].default == []
    assert op_def("FusedBatchNorm").attrs["epsilon"].default == pytest.approx(1e-4)
    assert op_def("ArgMax").attrs["output_type"].default is INT64
    shape = op_def("Placeholder").attrs["shape"]
    assert (shape.has_default, shape.default) == (True, None)


@pytest.mark.parametrize(
    ("op", "attrs", "inputs", "outputs"),
    [
        ("MatMul", {"T": FLOAT32}, [FLOAT32, FLOAT32], [FLOAT32]),
        ("ConcatV2", {"T": INT64, "N": 3, "Tidx": INT32}, [INT64, INT64, INT64, INT32], [INT64]),
        ("IdentityN", {"T": [FLOAT32, STRING]}, [FLOAT32, STRING], [FLOAT32, STRING]),
        ("ReadVariableOp", {"dtype": FLOAT32}, [RESOURCE], [FLOAT32]),
        ("AddN", {"T": FLOAT32, "N": 0}, [], [FLOAT32]),
        (
            "Assign",
            {"T": FLOAT32},
            [as_dtype("float32_ref"), FLOAT32],
            [as_dtype("float32_ref")],
        ),
    ],
)
def test_types_of_arguments(
    op: str, attrs: dict[str, Any], inputs: list[Any], outputs: list[Any]
) -> None:
    assert op_def(op).input_types(attrs) == inputs
    assert op_def(op).output_types(attrs) == outputs


def test_slices_of_list_arguments() -> None:
    attrs = {"Tdense": [FLOAT32], "Nsparse": 2, "Ndense": 1}
    assert op_def("ParseExample").input_slices(attrs) == {
        "serialized": slice(0, 1),
        "names": slice(1, 2),
        "sparse_keys": slice(2, 4),
        "dense_keys": slice(4, 5),
        "dense_defaults": slice(5, 6),
    }
    assert op_def("Split").output_slices({"num_split": 4}) == {"output": slice(0, 4)}


@pytest.mark.parametrize("attrs", [{}, {"T": Placeholder("T")}, {"T": FLOAT32}])
def test_an_attribute_that_is_missing_is_named(attrs: dict[str, Any]) -> None:
    with pytest.raises(KeyError, match="'T'" if attrs.get("T") is not FLOAT32 else "'N'"):
        op_def("AddN").input_types(attrs)


def test_an_unknown_op_names_near_matches() -> None:
    version = defs.tensorflow_version()
    assert find("MatMull") is None
    with pytest.raises(UnsupportedOp) as caught:
        op_def("MatMull")
    assert str(caught.value).splitlines() == [
        "op 'MatMull' is unknown [op-unknown]",
        "  check: an op must be defined by TensorFlow or be registered",
        "  found: MatMull",
        f"  needed: an op of TensorFlow {version}, or one registered with register()",
        "  remedy: did you mean MatMul, _MklMatMul, BatchMatMul?",
    ]


def test_registering(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defs._REGISTRY, "_decoded", {})
    op = OpDef("Test>Mine", is_stateful=True)
    register(op)
    register(OpDef("Test>Mine", is_stateful=True))
    assert find("Test>Mine") is op
    assert "Test>Mine" in names()
    with pytest.raises(GraphError, match=r"op 'Test>Mine' cannot be registered \[duplicate-op\]"):
        register(OpDef("Test>Mine"))
    with pytest.raises(GraphError, match="op 'MatMul' cannot be registered"):
        register(OpDef("MatMul"))


def test_registering_a_proto(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defs._REGISTRY, "_decoded", {})
    proto = OpDefProto(
        name="Test>Proto",
        input_arg=[OpDefProto.ArgDef(name="x", type=DataType.DT_INT32)],
        control_output=["done"],
    )
    register(proto)
    assert op_def("Test>Proto").input_types({}) == [INT32]
    assert op_def("Test>Proto").control_outputs == ("done",)
    assert find("MatMul") is not None
