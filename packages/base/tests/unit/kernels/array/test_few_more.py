"""Groups of one process, composite tensors, top-k of the smallest."""

import numpy as np
import pytest
from stateful import Bench, f32, i32, shapes

from drystone_base.core.dtypes import FLOAT32, INT32, STRING

X = f32([[1, 2, 3]])
KEYS = (i32(4), i32(5))


@pytest.mark.parametrize(
    "op", ["CollectiveReduceV2", "CollectiveGatherV2", "CollectiveBcastSendV2"]
)
def test_a_group_of_one_gets_what_it_gives(op: str) -> None:
    run = Bench()
    more: dict[str, object] = (
        {"merge_op": "Add", "final_op": "Div"} if op == "CollectiveReduceV2" else {}
    )
    if op != "CollectiveBcastSendV2":
        more["Nordering_token"] = 0
    assert run(op, X, i32(1), *KEYS, **more).tolist() == X.tolist()
    run.fails("UNIMPLEMENTED", "this process alone", op, X, i32(2), *KEYS, **more)


def test_first_collectives_take_the_group_as_attributes() -> None:
    run = Bench()
    keys = {"group_key": 1, "instance_key": 2, "shape": (1, 3)}
    assert run("CollectiveGather", X, group_size=1, **keys).tolist() == X.tolist()
    assert run("CollectiveBcastSend", X, group_size=1, **keys).tolist() == X.tolist()
    run.fails("UNIMPLEMENTED", "without a distribution strategy", "CollectiveGather", X,
              group_size=4, **keys)  # fmt: skip
    assert shapes("CollectiveGather", [X], group_size=1, **keys)[0] == [(1, 3)]
    assert run.all("SyncDevice") == []


def test_composite_tensors_come_out_as_they_went_in() -> None:
    run = Bench()
    words = np.array([b"a", b"b"], object)
    packed = run("CompositeTensorVariantFromComponents", X, words, metadata="spec",
                 Tcomponents=[FLOAT32, STRING])  # fmt: skip
    numbers, texts = run.all("CompositeTensorVariantToComponents", packed, metadata="spec",
                             Tcomponents=[FLOAT32, STRING])  # fmt: skip
    assert (numbers.tolist(), texts.tolist()) == (X.tolist(), words.tolist())
    run.fails("INVALID_ARGUMENT", "declared types", "CompositeTensorVariantToComponents", packed,
              metadata="spec", Tcomponents=[INT32])  # fmt: skip


def test_the_smallest_entries_of_any_dimension() -> None:
    values, places = Bench().all("ApproxTopK", f32([[3, 1], [2, 9], [0, 4]]), k=2,
                                 reduction_dimension=0, is_max_k=False)  # fmt: skip
    assert (values.tolist(), places.tolist()) == ([[0, 1], [2, 4]], [[2, 0], [1, 2]])
