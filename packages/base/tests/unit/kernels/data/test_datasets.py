"""Datasets one op at a time: what scenarios against TensorFlow do not reach."""

import threading
import time
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i64

from drystone_base.core.dtypes import FLOAT32, INT64, STRING, VARIANT
from drystone_base.core.errors import KernelError, ShapeError
from drystone_base.executor.testing import infer_shapes
from drystone_base.files.access import Access
from drystone_base.kernels.data._datasets.base import Context, dataset_of
from drystone_base.kernels.data._datasets.seeds import SeedGenerator, words
from drystone_base.kernels.random._philox import seeded
from drystone_base.ops.attrs import FunctionRef

SPEC: dict[str, Any] = {"output_types": [INT64], "output_shapes": [()]}


def numbers(bench: Bench, *bounds: int) -> Any:
    """A range as a dataset."""
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else bounds
    return bench("RangeDataset", i64(start), i64(stop), i64(step), **SPEC)


def taken(bench: Bench, dataset: Any, most: int = 100) -> list[Any]:
    """Up to ``most`` elements, one-component ones as numbers."""
    following = dataset_of(dataset).iterate(Context(bench.runtime))
    out: list[Any] = []
    while len(out) < most and (element := following()) is not None:
        out.append(element[0].tolist() if len(element) == 1 else [v.tolist() for v in element])
    return out


def size(bench: Bench, dataset: Any) -> int:
    """The cardinality."""
    return int(bench("DatasetCardinality", dataset))


def test_elements_and_counts() -> None:
    b = Bench()
    five = numbers(b, 5)
    assert (taken(b, five), size(b, five)) == ([0, 1, 2, 3, 4], 5)
    endless = b("RepeatDataset", five, i64(-1), **SPEC)
    assert (taken(b, endless, 7), size(b, endless)) == ([0, 1, 2, 3, 4, 0, 1], -1)
    assert size(b, b("TakeDataset", endless, i64(3), **SPEC)) == 3
    assert size(b, b("SkipDataset", endless, i64(3), **SPEC)) == -1
    assert size(b, b("ConcatenateDataset", five, endless, **SPEC)) == -1
    assert size(b, b("ZipDataset", five, endless, **SPEC)) == 5
    assert size(b, b("ShardDataset", five, i64(2), i64(1), **SPEC)) == 2
    assert size(b, b("BatchDatasetV2", five, i64(2), np.array(True), **SPEC)) == 2
    assert size(b, b("UniqueDataset", five, **SPEC)) == -2
    assert size(b, numbers(b, 0, 1 << 62, 3)) == -(-(1 << 62) // 3)


def test_words_are_the_stream_in_order() -> None:
    stream = words(3, 4)
    got = [next(stream) for _ in range(600)]
    assert got == seeded(3, 4).blocks(150).reshape(-1).tolist()
    fixed, new = SeedGenerator(3, 4, reshuffle=False), SeedGenerator(3, 4, reshuffle=True)
    assert fixed.seeds() == fixed.seeds() == (3, 4)
    assert [*new.seeds(), *new.seeds()] == got[:4]


def test_a_shuffle_without_seeds_differs_and_holds_all() -> None:
    b = Bench()
    thousand = numbers(b, 1000)
    orders = [
        taken(b, b("ShuffleDataset", thousand, i64(-2), i64(0), i64(0), **SPEC), 1000)
        for _ in range(2)
    ]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(1000))


def test_a_generator_is_shared_by_its_handle() -> None:
    b = Bench()
    ten = numbers(b, 10)
    handle, deleter = b.all("AnonymousSeedGenerator", i64(1), i64(2), np.array(True))
    made = b("ShuffleDatasetV2", ten, i64(10), handle, **SPEC)
    first, second = taken(b, made), taken(b, made)
    assert first != second
    seeds = i64(1), i64(2)
    dummy = b("DummySeedGenerator")
    same = b("ShuffleDatasetV3", ten, i64(10), *seeds, dummy, **SPEC)
    assert [taken(b, same), taken(b, same)] == [first, second]
    fixed = b("ShuffleDatasetV3", ten, i64(10), *seeds, dummy, reshuffle_each_iteration=False,
              **SPEC)  # fmt: skip
    assert taken(b, fixed) == taken(b, fixed) != first
    b.all("DeleteSeedGenerator", handle, deleter)
    b.fails("NOT_FOUND", "does not refer to a SeedGenerator", "ShuffleDatasetV2", ten, i64(2),
            handle, **SPEC)  # fmt: skip


def test_a_cache_is_filled_by_a_complete_iteration_only() -> None:
    calls: list[int] = []

    def double(x: Any) -> list[Any]:
        calls.append(int(x))
        return [np.asarray(x * 2)]

    b = Bench({"double": double})
    mapped = b("MapDataset", numbers(b, 3), f=FunctionRef("double"), Targuments=[], **SPEC)
    handle, _ = b.all("AnonymousMemoryCache")
    cached = b("CacheDatasetV2", mapped, b"", handle, **SPEC)
    assert taken(b, cached, 2) == [0, 2]
    assert taken(b, cached) == taken(b, cached) == [0, 2, 4]
    assert calls == [0, 1, 0, 1, 2]


def test_a_cache_in_a_file(tmp_path: Any) -> None:
    b = Bench()
    b.runtime.access = Access()
    name = str(tmp_path / "kept").encode()
    three = numbers(b, 3)
    cached = b("CacheDataset", three, name, **SPEC)
    with pytest.raises(KernelError, match="may not read"):
        taken(b, cached)
    b.runtime.access = Access().with_read(tmp_path)
    with pytest.raises(KernelError, match="may not write"):
        taken(b, cached)
    b.runtime.access = Access.anywhere()
    assert taken(b, cached, 2) == [0, 1]
    assert list(tmp_path.iterdir()) == []
    assert taken(b, cached) == taken(b, b("CacheDataset", numbers(b, 9), name, **SPEC)) == [0, 1, 2]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["kept.data-00000-of-00001", "kept.index"]
    windows: dict[str, Any] = {"output_types": [VARIANT], "output_shapes": [()]}
    b.fails("UNIMPLEMENTED", "must be plain tensors", "CacheDataset", three, name, **windows)


def test_auto_shard() -> None:
    b = Bench()
    five = numbers(b, 5)
    assert taken(b, b("AutoShardDataset", five, i64(1), i64(0), **SPEC)) == [0, 1, 2, 3, 4]
    shared = b("AutoShardDataset", five, i64(2), i64(1), auto_shard_policy=2, **SPEC)
    assert taken(b, shared) == [1, 3]
    b.fails("UNIMPLEMENTED", "files are not shared out", "AutoShardDataset", five, i64(2), i64(1),
            **SPEC)  # fmt: skip


def test_split_batches() -> None:
    b = Bench()
    batches = b("BatchDatasetV2", numbers(b, 7), i64(5), np.array(False), **SPEC)
    split = b("RebatchDataset", batches, i64(2), **SPEC)
    assert taken(b, split) == [[0, 1, 2], [3, 4], [5], [6]]
    assert size(b, split) == -2


def test_rows_that_do_not_fit_together() -> None:
    b = Bench()
    spec: dict[str, Any] = {"output_shapes": [(), ()]}
    b.fails("INVALID_ARGUMENT", "same number of rows", "TensorSliceDataset", f32([1, 2]), f32([1]),
            **spec)  # fmt: skip
    b.fails("INVALID_ARGUMENT", "same number of rows", "TensorSliceDataset", f32(1),
            output_shapes=[()])  # fmt: skip
    sparse = i64([[1, 0], [0, 0]]), f32([1, 2]), i64([2, 2])
    b.fails("UNIMPLEMENTED", "must be in order", "SparseTensorSliceDataset", *sparse)


def test_rows_of_a_sparse_tensor() -> None:
    b = Bench()
    parts = i64([[0, 0], [2, 2], [2, 3]]), f32([1, 2, 3]), i64([4, 4])
    rows = b("SparseTensorSliceDataset", *parts)
    assert taken(b, rows) == [
        [[[0]], [1], [4]], [[], [], [4]], [[[2], [3]], [2, 3], [4]], [[], [], [4]],
    ]  # fmt: skip
    assert dataset_of(rows).types == (INT64, FLOAT32, INT64)
    spec: dict[str, Any] = {"output_types": [INT64, FLOAT32, INT64]}
    spec["output_shapes"] = [(-1, 1), (-1,), (1,)]
    handle = b("IteratorV2", shared_name="rows", container="", **spec)
    b.all("MakeIterator", rows, handle)
    for _ in range(4):
        assert b.all("IteratorGetNext", handle, **spec)[2].tolist() == [4]
    many = b("SparseTensorSliceDataset", *parts[:2], i64([1 << 40, 4]))
    assert size(b, many) == 1 << 40
    assert len(taken(b, many, 5)) == 5
    for indices, shape in (([[0, 4]], [1, 4]), ([[1, 0]], [1, 4]), ([[-1, 0]], [1, 4])):
        b.fails("INVALID_ARGUMENT", "must lie in the dense shape", "SparseTensorSliceDataset",
                i64(indices), f32([1]), i64(shape))  # fmt: skip


def test_what_the_iterator_declares_is_checked() -> None:
    b = Bench()
    handle = b("IteratorV2", shared_name="it", container="", **SPEC)
    strings = b("TensorDataset", np.array(b"x", object), Toutput_types=[STRING], output_shapes=[()])
    b.fails("INVALID_ARGUMENT", "types and shapes that the iterator declares", "MakeIterator",
            strings, handle)  # fmt: skip
    b.fails("FAILED_PRECONDITION", "given a dataset before", "IteratorGetNext", handle, **SPEC)
    wrong: dict[str, Any] = {"output_types": [INT64], "output_shapes": [(2,)]}
    b.fails("INVALID_ARGUMENT", "types and shapes that the iterator declares", "IteratorV2",
            shared_name="it", container="", **wrong)  # fmt: skip


def test_a_function_must_give_what_the_graph_says() -> None:
    b = Bench(
        {"wide": lambda _: [i64([1, 2])], "half": lambda _: [f32(0.5)], "pair": lambda x: [x, x]}
    )
    for name, match in (("wide", "declared shape"), ("half", "declared type"), ("pair", "as many")):
        mapped = b("MapDataset", numbers(b, 3), f=FunctionRef(name), Targuments=[], **SPEC)
        handle = b("AnonymousIteratorV3", **SPEC)
        b.all("MakeIterator", mapped, handle)
        b.fails("INVALID_ARGUMENT", match, "IteratorGetNext", handle, **SPEC)


def test_a_predicate_must_be_a_scalar_bool() -> None:
    b = Bench({"number": lambda x: [x]})
    kept = b("FilterDataset", numbers(b, 3), predicate=FunctionRef("number"), Targuments=[], **SPEC)
    with pytest.raises(KernelError, match="a predicate must return a scalar bool"):
        taken(b, kept)


@pytest.mark.parametrize("op", ["FilterDataset", "ShuffleDataset", "FlatMapDataset"])
def test_endless_work_ends_at_the_deadline(op: str) -> None:
    b = Bench({"never": lambda _: [np.array(False)], "none": lambda _: [empty]})
    empty = numbers(b, 0)
    endless = b("RepeatDataset", numbers(b, 5), i64(-1), **SPEC)
    given: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "FilterDataset": ([], {"predicate": FunctionRef("never"), "Targuments": []}),
        "ShuffleDataset": ([i64(-2), i64(1), i64(1)], {}),
        "FlatMapDataset": ([], {"f": FunctionRef("none"), "Targuments": []}),
    }
    inputs, attrs = given[op]
    made = b(op, endless, *inputs, **attrs, **SPEC)
    b.runtime.deadline = time.monotonic() + 0.05
    with pytest.raises(KernelError, match="must end before the session's deadline") as caught:
        taken(b, made)
    assert caught.value.status == "DEADLINE_EXCEEDED"


def test_an_iterator_obeys_the_step_that_asks() -> None:
    b = Bench()
    handle = b("AnonymousIteratorV3", **SPEC)
    b.all("MakeIterator", b("RepeatDataset", numbers(b, 5), i64(-1), **SPEC), handle)
    assert int(b("IteratorGetNext", handle, **SPEC)) == 0
    b.runtime.deadline = time.monotonic() - 1
    b.fails("DEADLINE_EXCEEDED", "session's deadline", "IteratorGetNext", handle, **SPEC)
    b.runtime.deadline = None
    assert int(b("IteratorGetNext", handle, **SPEC)) == 1


def test_threads_share_an_iterator() -> None:
    b = Bench()
    handle = b("AnonymousIteratorV3", **SPEC)
    b.all("MakeIterator", numbers(b, 400), handle)
    got: list[int] = []

    def work() -> None:
        got.extend(int(b("IteratorGetNext", handle, **SPEC)) for _ in range(100))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(400))


def test_files_need_the_policy(tmp_path: Any) -> None:
    b = Bench()
    b.runtime.access = Access.nothing()
    name = str(tmp_path / "a.txt").encode()
    (tmp_path / "a.txt").write_bytes(b"line\n")
    lines = b("TextLineDataset", name, b"", i64(0))
    with pytest.raises(KernelError, match="may not read") as caught:
        taken(b, lines)
    assert caught.value.status == "PERMISSION_DENIED"
    b.fails("PERMISSION_DENIED", "may not write", "DatasetToTFRecord", lines, name, b"")
    b.runtime.access = Access().with_read(tmp_path)
    assert taken(b, lines) == [b"line"]
    matching = b("MatchingFilesDataset", str(tmp_path / "*.txt").encode())
    assert taken(b, matching) == [name]


def test_delete_lets_go() -> None:
    b = Bench()
    handle, deleter = b.all("AnonymousIteratorV2", **SPEC)
    b.all("MakeIterator", numbers(b, 2), handle)
    b.all("DeleteIterator", handle, deleter)
    b.fails("NOT_FOUND", "does not refer to a Iterator", "IteratorGetNext", handle, **SPEC)


def test_elements_are_dealt_out_to_devices() -> None:
    b = Bench()
    handle = b("MultiDeviceIterator", devices=["a", "b"], shared_name="m", container="", **SPEC)
    start = b("MultiDeviceIteratorInit", numbers(b, 5), handle, i64(1))
    get = "MultiDeviceIteratorGetNextFromShard"
    turns = [1, 1, 0, 0, 0]
    got = [int(b(get, handle, np.int32(k), start, **SPEC)) for k in turns]
    assert got == [1, 3, 0, 2, 4]
    b.fails("OUT_OF_RANGE", "End of sequence", get, handle, np.int32(0), start, **SPEC)
    b.all("MultiDeviceIteratorInit", numbers(b, 5), handle, i64(1))
    b.fails("INVALID_ARGUMENT", "its present start", get, handle, np.int32(0), start, **SPEC)
    text = b("MultiDeviceIteratorToStringHandle", handle)
    found = b("MultiDeviceIteratorFromStringHandle", text)
    assert int(b(get, found, np.int32(0), i64(2), **SPEC)) == 0


def test_iterators_of_devices_are_let_go() -> None:
    b = Bench()
    handle, deleter = b.all("AnonymousMultiDeviceIterator", devices=["a"], **SPEC)
    start = b("MultiDeviceIteratorInit", numbers(b, 5), handle, i64(1))
    get = "MultiDeviceIteratorGetNextFromShard"
    assert int(b(get, handle, np.int32(0), start, **SPEC)) == 0
    b.all("DeleteMultiDeviceIterator", handle, deleter)
    b.fails("NOT_FOUND", "does not refer to", get, handle, np.int32(0), start, **SPEC)
    b.fails("INVALID_ARGUMENT", "there must be a device", "AnonymousMultiDeviceIteratorV3",
            devices=[], **SPEC)  # fmt: skip


def test_seeds_and_caches_are_let_go() -> None:
    b = Bench()
    handle, deleter = b.all("AnonymousRandomSeedGenerator", i64(1), i64(2))
    shuffled = b("ShuffleDatasetV2", numbers(b, 9), i64(9), handle, **SPEC)
    assert sorted(taken(b, shuffled)) == list(range(9))
    assert taken(b, shuffled) != taken(b, shuffled)
    b.all("DeleteRandomSeedGenerator", handle, deleter)
    assert handle.item().resource is None
    cache, deleter = b.all("AnonymousMemoryCache")
    b.all("DeleteMemoryCache", cache, deleter)
    assert cache.item().resource is None


def test_what_is_not_seen_from_outside() -> None:
    b = Bench()
    three, text = numbers(b, 3), np.array([], object)
    pool = np.array(None, object)
    made = [
        b("AssertPrevDataset", three, text, **SPEC),
        b("OptimizeDatasetV2", three, text, text, text, **SPEC),
        b("ThreadPoolDataset", three, pool, **SPEC),
        b("SetStatsAggregatorDataset", three, pool, b"", b"", **SPEC),
    ]
    assert [taken(b, d) for d in made] == [[0, 1, 2]] * 4


def test_filter_by_the_last_component() -> None:
    b = Bench()
    flags = np.array([True, False, True])
    pairs = b("TensorSliceDataset", i64([1, 2, 3]), flags, output_shapes=[(), ()])
    assert taken(b, b("FilterByLastComponentDataset", pairs, **SPEC)) == [1, 3]


def test_optionals_have_a_zero_and_a_sum() -> None:
    b = Bench()
    some, none = b("OptionalFromValue", f32([1, 2])), b("OptionalNone")
    floats: dict[str, Any] = {"output_types": [FLOAT32], "output_shapes": [(2,)]}
    both = b("AddN", some, some, T="variant")
    assert b("OptionalGetValue", both, **floats).tolist() == [2, 4]
    zero = b("ZerosLike", some, T="variant")
    assert b("OptionalGetValue", zero, **floats).tolist() == [0, 0]
    assert not b("OptionalHasValue", b("ZerosLike", none, T="variant"))


def test_shapes() -> None:
    assert infer_shapes("RangeDataset", [(), (), ()], **SPEC) == [()]
    declared: dict[str, Any] = {"output_types": [INT64, VARIANT], "output_shapes": [(2, -1), None]}
    assert infer_shapes("IteratorGetNext", [()], **declared) == [(2, -1), None]
    with pytest.raises(ShapeError, match="batch_size must be a scalar"):
        infer_shapes("BatchDataset", [(), (1,)], **SPEC)
    with pytest.raises(ShapeError, match="filenames must be a scalar or vector"):
        infer_shapes("TextLineDataset", [(2, 2), (), ()])
    with pytest.raises(ShapeError, match="a shape for each output"):
        infer_shapes("IteratorGetNext", [()], output_types=[INT64], output_shapes=[(), ()])
