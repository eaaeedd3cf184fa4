"""Types of ml_dtypes, whose library is opened when somebody first asks for one of them."""

from __future__ import annotations

import copy
import pickle

import pytest
from fresh_process import run_program

from drystone_base.core.dtypes import BFLOAT16, FLOAT8_E5M2, FLOAT32, INT2, DType, from_number

START = """
import sys
import numpy as np
from drystone_base.core.dtypes import BFLOAT16, FLOAT32, as_dtype, from_number, from_numpy
"""
MODEL = """
import drystone_base as ds
def answer(dtype, value):
    graph = ds.Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": dtype, "shape": (3,)})
    graph.add("Identity", "y", [x], attrs={"T": dtype})
    found = ds.Session(graph).run("y:0", {"x:0": value})
    return found.dtype, found.tolist(), "ml_dtypes" in sys.modules
print(answer(FLOAT32, np.float32([1, 2, 3])))
"""


@pytest.mark.parametrize(
    ("asking", "answer"),
    [
        ("BFLOAT16.np", "bfloat16"),
        ("from_number(124).np", "float8_e5m2"),
        ("as_dtype('int4').np.itemsize", "1"),
        ("from_numpy(__import__('ml_dtypes').finfo('bfloat16').dtype)", "bfloat16"),
        ("from_numpy(np.dtype(__import__('ml_dtypes').uint2))", "uint2"),
    ],
)
def test_the_library_is_opened_for_the_first_who_asks(asking: str, answer: str) -> None:
    code = f"{START}print('ml_dtypes' in sys.modules, {asking}, 'ml_dtypes' in sys.modules)"
    assert run_program(code).split() == ["False", answer, "True"]


@pytest.mark.parametrize("feed", ["np.zeros(3, BFLOAT16.np)", "[0, 0, 0]"])
def test_the_native_executor_learns_of_such_a_type_with_its_first_array(feed: str) -> None:
    lines = run_program(f"{START}{MODEL}print(answer(BFLOAT16, {feed}))").splitlines()
    assert lines == [
        "(dtype('float32'), [1.0, 2.0, 3.0], False)",
        "(dtype(bfloat16), [0.0, 0.0, 0.0], True)",
    ]


def test_what_a_type_has_no_name_for_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="'DType' object has no attribute 'nothing'"):
        _ = BFLOAT16.nothing  # type: ignore[attr-defined]


@pytest.mark.parametrize("dtype", [BFLOAT16, INT2, from_number(124)])
def test_copies_are_the_type_itself(dtype: DType) -> None:
    assert copy.deepcopy(dtype) is dtype
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert not dtype.is_of_numpy
    assert dtype.size == 1 + (dtype is BFLOAT16)


def test_others_are_of_numpy() -> None:
    assert FLOAT32.is_of_numpy
    assert from_number(101).is_of_numpy
    assert from_number(124).base is FLOAT8_E5M2
