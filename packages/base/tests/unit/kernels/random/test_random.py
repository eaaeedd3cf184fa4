"""Random ops: streams go on from run to run, and samples have the distributions they should."""

import numpy as np
import pytest

from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.kernels.random._philox import Stream, floats
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager


def _runtime() -> Runtime:
    return Runtime(ResourceManager(), lambda *_: [])


def test_philox_agrees_with_the_published_test_vectors() -> None:
    """The known answers of Random123 for philox4x32-10."""
    zero = Stream(0, 0).blocks(1)[0]
    assert [f"{v:08x}" for v in zero] == ["6627e8d5", "e169c58d", "bc57ac4c", "9b00dbd8"]
    ones = Stream(2**64 - 1, 2**128 - 1).blocks(1)[0]
    assert [f"{v:08x}" for v in ones] == ["408f276d", "41c83b0e", "a20bc7c6", "6d5451fd"]


def test_counter_carries_into_the_high_half() -> None:
    whole = Stream(7, 2**64 - 2).blocks(4)
    assert (whole[2:] == Stream(7, 2**64).blocks(2)).all()
    assert (Stream(7, 2**64 - 2).skip(3).blocks(1) == whole[3:]).all()


def test_runs_go_on_with_tensorflows_stream() -> None:
    """Recorded from three runs of one node in TensorFlow, seeds 41 and 3."""
    wanted = [
        [0.03594315, 0.9475224, 0.3934313],
        [0.53686786, 0.56561434, 0.59927094],
        [0.54200566, 0.8666855, 0.6272205],
    ]
    runtime, size = _runtime(), np.array([3], np.int32)
    for row in wanted:
        got = run_op("RandomUniform", size, runtime=runtime, dtype="float32", seed=41, seed2=3)[0]
        np.testing.assert_allclose(got, row, rtol=1e-6)
    shuffles = [[1, 5, 6, 3, 0, 2, 4], [5, 3, 2, 6, 4, 1, 0], [3, 0, 1, 6, 2, 5, 4]]
    for order in shuffles:
        got = run_op("RandomShuffle", np.arange(7), runtime=runtime, node="b", seed=41, seed2=3)[0]
        assert got.tolist() == order
    logits = np.array([[1, 2, 3]], np.float32)
    for classes in ([1, 1, 0, 2, 1], [1, 1, 2, 2, 2], [0, 2, 2, 2, 2]):
        got = run_op(
            "Multinomial", logits, np.int32(5), runtime=runtime, node="c", seed=41, seed2=3
        )
        assert got[0].tolist() == [classes]


def test_zero_seeds_differ_between_nodes() -> None:
    runtime, size = _runtime(), np.array([8], np.int32)
    a, b = (
        run_op("RandomUniform", size, runtime=runtime, node=n, dtype="float32")[0] for n in "ab"
    )
    assert (a != b).any()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_distributions(dtype: str) -> None:
    size = np.array([20000], np.int32)
    uniform = run_op("RandomUniform", size, dtype=dtype, seed=3)[0].astype(np.float64)
    assert uniform.min() >= 0
    assert uniform.max() < 1
    assert abs(uniform.mean() - 0.5) < 0.01
    assert abs(uniform.var() - 1 / 12) < 0.002
    normal = run_op("RandomStandardNormal", size, dtype=dtype, seed=3)[0].astype(np.float64)
    assert abs(normal.mean()) < 0.02
    assert abs(normal.std() - 1) < 0.02
    cut = run_op("TruncatedNormal", size, dtype=dtype, seed=3)[0].astype(np.float64)
    assert np.abs(cut).max() <= 2
    assert abs(cut.mean()) < 0.02
    assert abs(cut.std() - 0.88) < 0.02


def test_floats_are_below_one() -> None:
    assert floats(np.array([0, 2**32 - 1], np.uint32)).tolist() == [0.0, 1 - 2**-23]


def test_categorical_follows_the_probabilities() -> None:
    logits = np.log(np.array([[0.1, 0.0, 0.6, 0.3]], np.float64) + 1e-300)
    got = run_op("Multinomial", logits, np.int32(20000), seed=1)[0]
    share = np.bincount(got[0], minlength=4) / got.size
    np.testing.assert_allclose(share, [0.1, 0, 0.6, 0.3], atol=0.015)


def test_empty_range_is_refused() -> None:
    with pytest.raises(KernelError, match="minval must be below maxval"):
        run_op("RandomUniformInt", np.array([2], np.int32), np.int32(3), np.int32(3))


def test_huge_shape_is_refused() -> None:
    with pytest.raises(KernelError) as caught:
        run_op("RandomUniform", np.array([2**31, 2**31], np.int64), dtype="float32", seed=1)
    assert caught.value.status in ("RESOURCE_EXHAUSTED", "INVALID_ARGUMENT")


def test_shape_comes_from_the_value() -> None:
    shape = np.array([3, 4], np.int32)
    known = infer_shapes("RandomUniform", [(2,)], values=[shape], dtypes_in=["int32"], dtype="half")
    assert known == [(3, 4)]
    unknown = infer_shapes("RandomUniform", [(2,)], dtypes_in=["int32"], dtype="half")
    assert unknown == [(-1, -1)]
