"""ThreeFry: the published test vectors, and numbers recorded from XLA."""

from typing import Any

import numpy as np
import pytest
from stateful import Bench, i32

from drystone_base.kernels.random._threefry import ThreeFry

KEY, COUNTER = np.array([0x123456789ABCDEF0], np.uint64), np.array([5, 7], np.uint64)
THREEFRY = i32(2)


def test_published_vectors() -> None:
    """The known answers of Random123 for threefry2x32-20."""
    assert [f"{v:08x}" for v in ThreeFry(0, 0).words(2)] == ["6b200159", "99ba4efe"]
    ones = ThreeFry(2**64 - 1, 2**64 - 1).words(2)
    assert [f"{v:08x}" for v in ones] == ["1cb996fc", "bb002be7"]


def test_counter_goes_on_and_wraps() -> None:
    whole = ThreeFry(7, 2**64 - 2).words(6)
    assert (whole[4:] == ThreeFry(7, 0).words(2)).all()


@pytest.mark.parametrize(
    ("dtype", "want"),
    [
        ("float32", [0.50425875, 0.25772834, 0.5139754, 0.5069963, 0.31531715]),
        ("float64", [0.2577284, 0.50699631, 0.60068446, 0.23480992, 0.36980842]),
        ("float16", [0.752, 0.2773, 0.1309, 0.6465, 0.1338]),
        ("bfloat16", [0.503906, 0.255859, 0.511719, 0.503906, 0.314453]),
    ],
)
def test_uniform_numbers_are_those_of_xla(dtype: str, want: list[float]) -> None:
    got = Bench()("StatelessRandomUniformV2", i32([5]), KEY, COUNTER, THREEFRY, dtype=dtype)
    np.testing.assert_allclose(
        got.astype(np.float64), want, rtol=1e-6 if dtype[-2:] != "16" else 4e-4
    )


def test_integers_are_those_of_xla() -> None:
    bench = Bench()
    got = bench("StatelessRandomUniformFullIntV2", i32([5]), KEY, COUNTER, THREEFRY, dtype="uint32")
    assert got.tolist() == [2165775106, 1106935068, 2207507590, 2177532566, 1354277001]
    got = bench("StatelessRandomUniformFullIntV2", i32([2]), KEY, COUNTER, THREEFRY, dtype="int64")
    assert got.tolist() == [4754249918021311234, -9094312914557082490]
    kinds: tuple[tuple[Any, list[int]], ...] = (
        (np.int32, [43, 74, 23, 36, 58]),
        (np.int64, [6, 14, 59, 92, 60]),
    )
    for kind, want in kinds:
        got = bench("StatelessRandomUniformIntV2", i32([5]), KEY, COUNTER, THREEFRY, kind(3),
                    kind(100))  # fmt: skip
        assert got.tolist() == want


def test_pairs_lie_along_one_dimension() -> None:
    words = ThreeFry(int(KEY[0]), 5).words(20)
    got = Bench()("StatelessRandomUniformFullIntV2", i32([3, 5]), KEY, COUNTER, THREEFRY,
                  dtype="uint32")  # fmt: skip
    assert (got == words[:18].reshape(3, 6)[:, :5]).all()
    tall = Bench()("StatelessRandomUniformFullIntV2", i32([3, 3]), KEY, COUNTER, THREEFRY,
                   dtype="uint32")  # fmt: skip
    assert (tall.ravel() == words[[0, 2, 4, 1, 3, 5, 6, 8, 10]]).all()
    even = Bench()("StatelessRandomUniformFullIntV2", i32([2, 4]), KEY, COUNTER, THREEFRY,
                   dtype="uint32")  # fmt: skip
    assert (even.ravel() == words[[0, 2, 4, 6, 1, 3, 5, 7]]).all()


@pytest.mark.parametrize(
    ("dtype", "count", "want"),
    [
        ("float32", 5, [1.168805, -0.05680023, -0.05070174, -1.1526445, -0.89831537]),
        ("float32", 4, [-0.10262176, -1.1656759, -0.07236499, -1.6451328]),
        ("float64", 5, [-0.07236518, -1.64513257, 1.00504404, 0.09621583, -0.79740752]),
        ("float16", 4, [0.553, 0.5146, -1.275, -0.9688]),
    ],
)
def test_normal_numbers_are_those_of_xla(dtype: str, count: int, want: list[float]) -> None:
    got = Bench()("StatelessRandomNormalV2", i32([count]), KEY, COUNTER, THREEFRY, dtype=dtype)
    tolerance = 2e-3 if dtype == "float16" else 2e-6
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_truncated_numbers_are_those_of_xla(dtype: str) -> None:
    wide = [-0.61659233, 0.01673998, 0.24327365, -0.68435302, -0.31670909]
    single = [0.01018956, -0.61659247, 0.03344345, 0.01673986, -0.45732075]
    got = Bench()("StatelessTruncatedNormalV2", i32([5]), KEY, COUNTER, THREEFRY, dtype=dtype)
    np.testing.assert_allclose(got, wide if dtype == "float64" else single, rtol=2e-6, atol=5e-7)


def test_other_ops_refuse_it() -> None:
    Bench().fails("INVALID_ARGUMENT", "must be Philox", "StatelessShuffle", i32([5, 6]), KEY,
                  COUNTER, THREEFRY)  # fmt: skip
