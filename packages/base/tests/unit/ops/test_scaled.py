"""Weights of a file that take in a factor: the same bits as the product, wherever it is made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from drystone_base._native import stored_tensor
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32
from drystone_base.executor.plan_cache.arrays import Places, read_constants
from drystone_base.files.local import map_file
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_base.ops.scaled import ScaledTensor, stays_finite

Floats = np.ndarray[Any, np.dtype[np.float32]]
TINY, LARGEST = np.finfo(np.float32).tiny, np.finfo(np.float32).max
FLOATS = st.floats(width=32)


def weights(folder: Path, *shape: int) -> Floats:
    """Numbers of many sizes, with both zeros, in a file from its third byte on."""
    random = np.random.default_rng(len(shape))
    values = random.normal(size=shape) * 10.0 ** random.integers(-9, 9, shape)
    values.flat[::7] = 0.0
    values.flat[::13] = -0.0
    file = folder / "weights"
    file.write_bytes(b"ab" + values.astype(np.float32).tobytes())
    return np.frombuffer(map_file(file), np.float32, values.size, 2).reshape(shape)


def numbers(*shape: int) -> Floats:
    return np.random.default_rng(9).normal(size=shape).astype(np.float32)


CASES = {
    "the last axis": ((3, 3, 64, 40), (40,), 1),
    "the last two axes": ((3, 3, 64, 40), (64, 40), 1),
    "rows": ((200, 130), (200, 1), 130),
    "one number": ((200, 130), (), 1),
    "a single channel of many": ((3, 3, 2000, 1), (2000, 1), 1),
    "rows of one": ((20000, 1), (20000, 1), 1),
}


def bits(array: Floats) -> Any:
    return array.view(np.uint32)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_it_is_the_product(tmp_path: Path, case: Any) -> None:
    shape, of_factors, inner = case
    held, factors = weights(tmp_path, *shape), numbers(*of_factors)
    wanted = held * factors
    scaled = ScaledTensor(TensorAttr(array=held), factors.reshape(-1), inner)
    assert scaled.shape == shape
    assert scaled.dtype is FLOAT32
    assert scaled.nbytes == held.nbytes
    flat = bits(wanted).reshape(-1)
    ends = np.frombuffer(scaled.ends(16), np.uint32)
    np.testing.assert_array_equal(ends, [*flat[:16], *flat[-16:]])
    np.testing.assert_array_equal(bits(scaled.array), bits(wanted))
    assert not scaled.array.flags.writeable
    assert scaled == TensorAttr(array=wanted)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("executor", ["native", "reference"])
def test_a_session_has_the_product(tmp_path: Path, case: Any, executor: Any) -> None:
    shape, of_factors, inner = case
    held, factors = weights(tmp_path, *shape), numbers(*of_factors)
    scaled = ScaledTensor(TensorAttr(array=held), factors.reshape(-1), inner)
    graph = Graph()
    w = graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": scaled})
    graph.add("Neg", "y", [w], attrs={"T": FLOAT32})
    session = Session(graph, SessionConfig(executor=executor, optimizer="off"))
    w_found, y_found = session.run(["w:0", "y:0"])
    np.testing.assert_array_equal(bits(w_found), bits(held * factors))
    np.testing.assert_array_equal(bits(y_found), bits(-(held * factors)))
    assert w_found.ctypes.data % 64 == 0 or executor == "reference"


def test_a_native_plan_leaves_the_product_to_the_host(tmp_path: Path) -> None:
    held = weights(tmp_path, 200, 130)
    scaled = ScaledTensor(TensorAttr(array=held), numbers(130), 1)
    graph = Graph()
    graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": scaled})
    Session(graph, SessionConfig(executor="native", optimizer="off")).run("w:0")
    assert scaled._array is None


@pytest.mark.parametrize("dtype", [2, 3])  # float64, int32
def test_only_floats_are_multiplied(tmp_path: Path, dtype: int) -> None:
    mapped: Any = map_file_of(weights(tmp_path, 200, 130))
    with pytest.raises(ValueError, match="only floats that stay in a file are multiplied"):
        stored_tensor(mapped, mapped.descriptor, 0, dtype, [10], numbers(10), 1)


@pytest.mark.parametrize(("factors", "inner"), [(numbers(0), 1), (numbers(3), 0), (numbers(3), -1)])
def test_factors_that_are_none_are_refused(tmp_path: Path, factors: Floats, inner: int) -> None:
    mapped: Any = map_file_of(weights(tmp_path, 200, 130))
    with pytest.raises(ValueError, match="factors are needed, and each is for one element or more"):
        stored_tensor(mapped, mapped.descriptor, 0, 1, [10], factors, inner)


@pytest.mark.parametrize("factors", [np.ones(10), np.ones(10, np.int32), b"0123456789ab", [1.0]])
def test_factors_of_another_type_are_refused(tmp_path: Path, factors: Any) -> None:
    mapped: Any = map_file_of(weights(tmp_path, 200, 130))
    with pytest.raises(ValueError, match="factors must be an array of float32"):
        stored_tensor(mapped, mapped.descriptor, 0, 1, [10], factors, 1)


def map_file_of(array: Floats) -> Any:
    place = TensorAttr(array=array).place
    assert place is not None
    return place.file


@given(
    arrays.arrays(np.float32, st.integers(1, 40), elements=FLOATS),
    arrays.arrays(np.float32, st.integers(1, 5), elements=FLOATS),
)
def test_what_stays_finite_is_zero_or_normal(of: Floats, factors: Floats) -> None:
    if not stays_finite(of, factors):
        return
    with np.errstate(all="ignore"):
        products = np.multiply.outer(of, factors)
    sizes = np.abs(products)
    lost = (of[:, None] != 0) & (factors != 0) & (sizes < TINY)
    assert np.isfinite(products).all()
    assert not lost.any()


@pytest.mark.parametrize(("of", "factors", "wanted"), [
    ([1.0, -2.0, 0.0], [3.0], True),
    ([0.0, -0.0], [3.0, 0.0], True),
    ([1.0], [np.nan], False),
    ([np.inf], [1.0], False),
    ([1e-39], [1e10], False),
    ([1e-30], [1e-30], False),
    ([1e30], [1e30], False),
    ([1e-30, 1e30], [1e-3, 1e3], True),
    ([LARGEST], [1.0], False),
])  # fmt: skip
def test_when_products_stay_finite(of: Any, factors: Any, wanted: bool) -> None:
    assert stays_finite(np.float32(of), np.float32(factors)) is wanted


def test_weights_that_are_multiplied_stay_in_the_model(tmp_path: Path) -> None:
    held = weights(tmp_path, 200, 130)
    mapped: Any = map_file_of(held)
    places = Places(memoryview(mapped))
    assert places.add(ScaledTensor(TensorAttr(array=held), numbers(130), 1), 1)
    assert places.rows == [(1, (200, 130), 1, 2, 0, 130, 1)]
    assert places.size < 1024
    (tmp_path / "kept").write_bytes(b"".join(places.parts))
    kept = map_file(tmp_path / "kept")
    model = memoryview(mapped)
    ((value, number),) = read_constants(json.loads(json.dumps(places.rows)), kept, model)
    assert number == 1
    assert not isinstance(value, np.ndarray), "a tensor of the host"
    for row in ((1, [200, 130], 1, 2, 0, 10**6, 1), (1, [200, 130], 1, 2, -1, 130, 1)):
        with pytest.raises(ValueError, match="factors lie outside of their file"):
            read_constants([row], kept, model)
    with pytest.raises(ValueError, match="each is for one element or more"):
        read_constants([(1, [200, 130], 1, 2, 0, 130, 0)], kept, model)
