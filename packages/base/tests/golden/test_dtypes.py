"""Every dtype that TensorFlow's CPU kernels take runs; ops with state by small programs."""

import json
from pathlib import Path

import pytest
from dtype_programs import failures

TABLE = json.loads((Path(__file__).parent / "dtypes.json").read_text(encoding="utf-8"))
NUMBERS = ("int8", "uint16", "int32", "uint64", "float16", "bfloat16", "float64", "complex64",
           "float8_e4m3fn", "int4")  # fmt: skip


def test_no_dtype_of_tensorflows_fails() -> None:
    failing = [
        (op, attr, found["fails"])
        for op, attrs in TABLE.items()
        for attr, found in attrs.items()
        if found.get("fails")
    ]
    assert failing == []
    assert (
        sum(len(found.get("runs", ())) for attrs in TABLE.values() for found in attrs.values())
        > 5000
    )


@pytest.mark.parametrize("label", NUMBERS)
def test_ops_with_state_take_any_number(label: str) -> None:
    ran, failed = failures(label)
    assert failed == {}
    assert {"AssignVariableOp", "TensorListStack", "TensorArrayConcatV3", "StackPopV2"} <= ran


def test_strings_are_held_but_not_added() -> None:
    ran, failed = failures("string")
    assert {"AssignVariableOp", "TensorListStack", "ScatterUpdate", "StackPopV2"} <= ran
    assert set(failed) <= {"AssignSubVariableOp", "AssignSub", "ScatterMax"}
