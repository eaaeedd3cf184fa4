"""Answers to JSON requests, without Ray."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_ray.serving import Predictions


@pytest.fixture(scope="module")
def predictions(tmp_path_factory: pytest.TempPathFactory) -> Predictions:
    """Signatures over floats, whole numbers, truth values, text, and two inputs."""
    graph = ds.Graph()
    signatures = {}
    for dtype in ("float32", "int8", "bool", "string", "bfloat16", "complex64"):
        kind = ds.as_dtype(dtype)
        x = graph.add("Placeholder", f"x_{dtype}", attrs={"dtype": kind, "shape": (-1,)})
        graph.add("Identity", f"y_{dtype}", [x], attrs={"T": kind})
        signatures[dtype] = ({"x": f"x_{dtype}:0"}, {"y": f"y_{dtype}:0"})
    pair = {"x": "x_float32:0", "n": "x_int8:0"}, {"y": "y_float32:0", "m": "y_int8:0"}
    signatures |= {"pair": pair, "serving_default": signatures["float32"]}
    folder = tmp_path_factory.mktemp("served") / "m"
    ds.save(graph, folder, signatures=signatures)
    return Predictions(folder)


def asked(predictions: Predictions, **body: Any) -> Any:
    return predictions.answer(json.dumps(body))


def test_rows_and_columns(predictions: Predictions) -> None:
    assert asked(predictions, instances=[1, 2.5]) == {"predictions": [1.0, 2.5]}
    assert asked(predictions, inputs=[1, 2.5]) == {"outputs": [1.0, 2.5]}
    assert asked(predictions, inputs={"x": [1]}) == {"outputs": [1.0]}
    pair = [{"x": 1.5, "n": 2}, {"x": 0, "n": -3}]
    by_row = asked(predictions, instances=pair, signature_name="pair")
    assert by_row == {"predictions": [{"y": 1.5, "m": 2}, {"y": 0.0, "m": -3}]}
    whole = asked(predictions, inputs={"x": [1.5], "n": [2]}, signature_name="pair")
    assert whole == {"outputs": {"y": [1.5], "m": [2]}}


def test_bytes_and_other_dtypes(predictions: Predictions) -> None:
    raw = {"b64": base64.b64encode(b"\xff\0").decode()}
    texts = asked(predictions, instances=["ä", raw, {"b64": "YQ=="}], signature_name="string")
    assert texts == {"predictions": ["ä", raw, "a"]}
    assert asked(predictions, instances=[True], signature_name="bool") == {"predictions": [True]}
    assert asked(predictions, inputs=[0.5], signature_name="bfloat16") == {"outputs": [0.5]}
    nan = predictions.answer('{"instances": [NaN, -Infinity]}')["predictions"]
    assert np.isnan(nan[0])
    assert nan[1] == -np.inf


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (b"\xff", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "neither of them, or both"),
        ('{"instances": [1], "inputs": [1]}', "neither of them, or both"),
        ('{"instances": []}', "no list of rows"),
        ('{"instances": [{"x": 1}, {"y": 1}]}', "do not have the same inputs"),
        ('{"instances": ["1"]}', "are not float32"),
        ('{"instances": [[1], [1, 2]]}', "are not float32"),
        ('{"instances": [1.5], "signature_name": "int8"}', "are not int8"),
        ('{"instances": [300], "signature_name": "int8"}', "are not int8"),
        ('{"instances": [1], "signature_name": "bool"}', "are not bool"),
        ('{"instances": [true], "signature_name": "int8"}', "are not int8"),
        ('{"instances": [1], "signature_name": "string"}', "is no text"),
        ('{"instances": [{"b64": "%"}], "signature_name": "string"}', "are not string"),
        ('{"inputs": [1], "signature_name": "complex64"}', "complex64"),
    ],
)
def test_requests_that_are_refused(predictions: Predictions, body: str | bytes, found: str) -> None:
    with pytest.raises(ds.BadRequest) as error:
        predictions.answer(body)
    assert error.value.code == "bad-json"
    assert found in error.value.found


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"inputs": {"z": [1]}}', "wrong-arguments"),
        ('{"inputs": [1], "signature_name": "nope"}', "unknown-signature"),
    ],
)
def test_what_the_model_refuses(predictions: Predictions, body: str, code: str) -> None:
    with pytest.raises(ds.DrystoneError) as error:
        predictions.answer(body)
    assert error.value.code == code


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=60)
@given(
    value=json_values,
    key=st.sampled_from(["inputs", "instances"]),
    signature=st.sampled_from(["float32", "int8", "string", "pair", 3]),
)
def test_any_request_ends_in_an_answer_or_an_error_of_ours(
    predictions: Predictions, value: Any, key: str, signature: Any
) -> None:
    code = ""
    try:
        asked(predictions, **{key: value, "signature_name": signature})
    except ds.DrystoneError as error:
        code = error.code
    assert code != "internal"
