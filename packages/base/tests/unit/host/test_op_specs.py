"""Specs of attributes and arguments: the grammar in op_spec_grammar.md, errors, and any garbage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from op_specs import attr_spec, define, input_spec, refusal, specs_of

from drystone_abi.protos import OpDef
from drystone_base.core.errors import HostError
from drystone_base.host import _lib

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

GRAMMAR = Path(__file__).resolve().parents[5] / "docs" / "reference" / "spec" / "op_spec_grammar.md"
ATTRIBUTES = ["T: type", "N: int", "L: list(type)", "S: string"]


def examples(kind: str) -> list[tuple[str, str]]:
    """Rows of the tables under a heading: the spec, and what the second column says in code."""
    text = GRAMMAR.read_text().split(f"### {kind}\n")[1].split("\n#")[0]
    return re.findall(r"^\| `(.+?)` \|.*?`(.+?)` \|$", text, re.MULTILINE)


@pytest.mark.parametrize(("spec", "normal"), examples("Attributes"))
def test_documented_attributes(spec: str, normal: str) -> None:
    made = define(f"Test>Doc{abs(hash(spec))}", [spec])
    assert attr_spec(made.attr[0]) == normal


@pytest.mark.parametrize(("spec", "normal"), examples("Arguments"))
def test_documented_arguments(spec: str, normal: str) -> None:
    made = define(f"Test>Doc{abs(hash(spec))}", ATTRIBUTES, [spec])
    assert input_spec(made.input_arg[0]) == normal


@pytest.mark.parametrize(("spec", "error"), examples("Refused"))
def test_documented_refusals(spec: str, error: str) -> None:
    assert error in refusal("Test>Refused", [spec])


ATTRS = {
    "": "position 0: expected the name of an attribute, found the end",
    "_T: int": "position 0: expected the name of an attribute, found '_T: int'",
    "T int": "position 2: expected ':', found 'int'",
    "T: any": "position 3: 'any' is no type of an attribute",
    "T: list": "position 7: expected '(', found the end",
    "T: list(list(int))": "position 8: 'list' is no type of an attribute",
    "T: list(int": "position 11: expected ')', found the end",
    "T: {floot}": "position 4: 'floot' is no data type",
    "T: {float_ref}": "position 4: 'float_ref' is no data type",
    "T: {float int32}": "position 10: expected ',' or '}', found 'int32}'",
    "T: {'a": "position 4: this string is not closed",
    "T: {'\\q'}": "position 6: expected an escape such as \\n, found 'q'}'",
    "T: {'\\777'}": "position 6: this escape is no byte",
    "T: int >= x": "position 10: expected an integer of 64 bits, found 'x'",
    "T: float >= 3": "position 9: expected the end of the spec, found '>= 3'",
    "T: int = 3 x": "position 11: expected the end of the spec, found 'x'",
    "T: int = 9223372036854775808": "position 9: '9223372036854775808' is out of range",
    "T: int = 1.5": "position 9: '1.5' is no integer",
    "T: float = 1.5f": "position 11: '1.5f' is no number",
    "T: bool = t": "position 10: 't' is neither true nor false",
    "T: type = float": "position 10: 'float' is no data type such as DT_FLOAT",
    "T: string = a": "position 12: expected a quoted string, found 'a'",
    "T: list(int) = 1": "position 15: expected '[', found '1'",
    "T: list(int) = [1": "position 17: expected ',' or ']', found the end",
    "T: shape = x": "position 11: expected '{' of TensorShapeProto, found 'x'",
    "T: shape = { dims: 2 }": "position 13: TensorShapeProto has no field 'dims'",
    "T: shape = { unknown_rank true }": "position 26: expected ':', found 'true }'",
    "T: shape = { unknown_rank: true unknown_rank: true }": (
        "position 46: field 'unknown_rank' is given twice"
    ),
    "T: func = { attr { value { i: 1 b: true } } }": (
        "position 35: only one kind of value may be given"
    ),
    "T: func = " + "{ attr { value { func " * 20 + "}": "messages are nested too deeply",
    "float: int": "attribute 'float' has the name of a data type",
    "T: list(int) >= -1": "the minimum length of attribute 'T' is negative",
    "T: list(int) >= 2 = [1]": "the length of attribute 'T' must be at least 2, not 1",
    "T: int >= 5 = 3": "attribute 'T' must be at least 5, not 3",
    "T: {'a'} = 'b'": "attribute 'T' must be one of 'a', not 'b'",
    "T: {float} = DT_INT32": "attribute 'T' must be one of float, not int32",
    "T: type = DT_INT8_REF": "attribute 'T' must be a data type and no reference, not int8_ref",
}


@pytest.mark.parametrize("spec", ATTRS)
def test_wrong_attributes(spec: str) -> None:
    text = refusal("Test>Wrong", [spec])
    assert text.startswith("TF_RegisterOpDefinition: op Test>Wrong of the host program: ")
    assert text.endswith(ATTRS[spec])
    assert ("position" not in text) or f'attribute "{spec}", position ' in text


ARGS = {
    "": "position 0: expected a name in lower case, found the end",
    "X: T": "position 0: expected a name in lower case, found 'X: T'",
    "xX: T": "position 1: expected ':', found 'X: T'",
    "x:": "position 2: expected a data type or the name of an attribute, found the end",
    "x: Q": "position 3: 'Q' is neither a data type nor an attribute",
    "x: DT_FLOAT": "position 3: 'DT_FLOAT' is neither a data type nor an attribute",
    "x: S": "position 3: attribute 'S' is of type string, but type or list(type) is needed",
    "x: S * T": "position 3: attribute 'S' is of type string, but a length must be int",
    "x: N * L": "position 7: a list of types has its own length, and takes no '*'",
    "x: N *": "position 6: expected a data type or the name of an attribute, found the end",
    "x: Ref(T": "position 8: expected ')', found the end",
    "x: T y": "position 5: expected the end of the spec, found 'y'",
    "x: float_ref": "position 3: 'float_ref' is neither a data type nor an attribute",
}


@pytest.mark.parametrize("spec", ARGS)
@pytest.mark.parametrize("kind", ["input", "output"])
def test_wrong_arguments(spec: str, kind: str) -> None:
    attrs = ["T: type", "N: int", "L: list(type)", "S: string"]
    given_specs = ([spec], []) if kind == "input" else ([], [spec])
    text = refusal("Test>Wrong", attrs, *given_specs)
    assert text.endswith(f'{kind} "{spec}", {ARGS[spec]}')


@pytest.mark.parametrize("name", ["lower", "", "A B", "A>b", "A>", ">A", "A-b", "1A"])
def test_wrong_names(name: str) -> None:
    expected = f"'{name}' is no name of an op: it must be in CamelCase"
    assert refusal(name).endswith(expected)


TEXT = st.text(
    st.sampled_from("TNxint:floatlistype(){}[]<>=,;'\"\\# \n-+.0123456789_*Ref\x01\xe9"),
    max_size=60,
)
WORDS = (
    "T N x : int float list ( ) { } [ ] >= = 1 -1 'a' \"b\" , type shape tensor func dim size Ref "
    "* unknown_rank true DT_FLOAT numbertype key value attr name dtype int_val"
)
PARTS = st.lists(st.sampled_from(WORDS.split()), max_size=20).map(" ".join)


def answered(name: str, *specs: list[bytes]) -> OpDef | None:
    """The definition, or None where the host refuses it as it should."""
    try:
        return define(name, *specs)
    except HostError as error:
        if error.status != "INVALID_ARGUMENT":
            raise
        return None


@given(st.one_of(TEXT, PARTS, st.binary(max_size=40).map(lambda b: b.replace(b"\0", b""))))
@example("T: tensor = { dtype: DT_INT32 int_val: [1, 2] }")
@example("T: func = {" * 10)
def test_any_spec_is_answered(spec: str | bytes) -> None:
    raw = spec if isinstance(spec, bytes) else spec.encode()
    for k in range(3):
        given_specs: list[list[bytes]] = [[b"T: type", b"N: int"], [], []]
        given_specs[k] = [raw]
        name = f"Test>Any{abs(hash((raw, k)))}"
        made = answered(name, *given_specs)
        if made is not None:
            again = define(f"{name}Again", **specs_of(made))
            again.name = name
            assert again == made
