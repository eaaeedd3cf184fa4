"""Ops that TensorFlow 2.21 knows and has no kernel for on a CPU: what their definitions promise."""

import itertools
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, i64

from drystone_base.core.dtypes import INT64
from drystone_base.core.errors import KernelError
from drystone_base.executor.testing import run_op
from drystone_base.kernels.data._datasets.base import Context, dataset_of
from drystone_base.ops.attrs import FunctionRef

RNG = np.random.default_rng(5)
FOURIER: list[tuple[str, Any, tuple[int, ...]]] = [
    ("BatchFFT", np.fft.fftn, (-1,)),
    ("BatchFFT2D", np.fft.fftn, (-2, -1)),
    ("BatchFFT3D", np.fft.fftn, (-3, -2, -1)),
    ("BatchIFFT", np.fft.ifftn, (-1,)),
    ("BatchIFFT2D", np.fft.ifftn, (-2, -1)),
    ("BatchIFFT3D", np.fft.ifftn, (-3, -2, -1)),
]


@pytest.mark.parametrize(("op", "transform", "axes"), FOURIER)
def test_transforms_over_the_last_axes(op: str, transform: Any, axes: tuple[int, ...]) -> None:
    x = (RNG.normal(size=(2, 3, 4, 5)) + 1j * RNG.normal(size=(2, 3, 4, 5))).astype("c8")
    (out,) = run_op(op, x)
    assert out.dtype == np.complex64
    np.testing.assert_allclose(out, transform(x.astype("c16"), axes=axes), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("op", "want"),
    [
        ("SegmentSumV2", [5, 0, 4, 0]),
        ("SegmentProdV2", [6, 1, 4, 1]),
        ("SegmentMinV2", [2, np.finfo("f4").max, 4, np.finfo("f4").max]),
        ("SegmentMaxV2", [3, np.finfo("f4").min, 4, np.finfo("f4").min]),
    ],
)
def test_segments_of_a_stated_count(op: str, want: list[float]) -> None:
    (out,) = run_op(op, f32([2, 3, 4]), i32([0, 0, 2]), np.int32(4))
    assert out.tolist() == [float(np.float32(v)) for v in want]


def test_rows_of_no_segment_are_dropped_in_any_order() -> None:
    """What TensorFlow's compiler answers; its ops without the V2 refuse these ids."""
    lowest = float(np.finfo("f4").min)
    for ids, want in (
        ([0, -1, 2], [2, lowest, 4, lowest]),
        ([2, 0, 0], [4, lowest, 2, lowest]),
        ([0, 9, 1], [2, 4, lowest, lowest]),
    ):
        (out,) = run_op("SegmentMaxV2", f32([2, 3, 4]), i32(ids), np.int32(4))
        assert out.tolist() == want
    with pytest.raises(KernelError, match="one segment id for each row"):
        run_op("SegmentMaxV2", f32([2, 3, 4]), i32([0]), np.int32(4))


@pytest.mark.parametrize("op", ["CollectiveAllToAllV2", "CollectiveReduceScatterV2"])
def test_a_group_of_one_gives_its_value(op: str) -> None:
    b = Bench()
    more: dict[str, Any] = {"merge_op": "Add", "final_op": "Id"} if "Reduce" in op else {}
    x, keys = f32([[1, 2], [3, 4]]), (np.int32(7), np.int32(8))
    out = b(op, x, np.int32(1), *keys, Nordering_token=0, **more)
    np.testing.assert_array_equal(out, x)
    b.fails("UNIMPLEMENTED", "one", op, x, np.int32(2), *keys, Nordering_token=0, **more)


def test_one_replica_and_one_device() -> None:
    x = f32([[1, 2]])
    assert run_op("XlaReplicaId")[0] == 0
    (out,) = run_op("XlaSpmdFullToShardShape", x, manual_sharding="")
    np.testing.assert_array_equal(out, x)


def test_a_function_of_each_element_by_an_old_name() -> None:
    b = Bench({"double": lambda x: [x * 2]})
    spec: dict[str, Any] = {"output_types": [INT64], "output_shapes": [()]}
    numbers = b("RangeDataset", i64(0), i64(3), i64(1), **spec)
    mapped = b("ExperimentalMapDataset", numbers, f=FunctionRef("double"), Targuments=[], **spec)
    following = dataset_of(mapped).iterate(Context(b.runtime))
    taken = [element[0].tolist() for element in itertools.takewhile(bool, iter(following, None))]
    assert taken == [0, 2, 4]


def test_the_old_dense_table_keeps_its_empty_key_free() -> None:
    b = Bench()
    table = b("MutableDenseHashTable", i64(-1), key_dtype="int64", value_dtype="float32")
    b.all("LookupTableInsert", table, i64([3, 4]), f32([1, 2]))
    assert b("LookupTableFind", table, i64([4, 5]), f32(-1)).tolist() == [2, -1]
    b.fails("INVALID_ARGUMENT", "reserved key", "LookupTableInsert", table, i64([-1]), f32([1]))
