"""The generator of extreme inputs: what it changes, and that its processes may die or hang."""

import signal
import time

import numpy as np
import oracle
import pytest
from extremes.bases import ops
from extremes.changes import changed_case, extremes_of, huge_of
from extremes.process import Ours
from extremes.verdicts import verdict
from oracle import Case, case


def same(a: Case, b: Case) -> bool:
    return a.attrs == b.attrs and all(
        np.array_equal(x, y, equal_nan=x.dtype.kind == "f")
        for x, y in zip(a.inputs, b.inputs, strict=True)
    )


@pytest.mark.parametrize("op", ["CropAndResize", "GatherV2", "SplitV", "ResourceApplyAdam"])
def test_cases_come_again_and_differ_from_each_other(op: str) -> None:
    first = [changed_case(op, 3, k) for k in range(20)]
    again = [changed_case(op, 3, k) for k in range(20)]
    assert all(
        said == other and same(a, b) for (a, said), (b, other) in zip(first, again, strict=True)
    )
    assert len({said for _, said in first}) > 10


def test_every_kind_of_extreme_is_tried() -> None:
    tried = {changed_case("AddV2", 0, k)[1].split(": ", 1)[1] for k in range(400)}
    for wanted in ("all nan", "one -inf", "some -0.0", "no elements", "scalar", "one -1"):
        assert wanted in tried, sorted(tried)
    assert np.iinfo(np.int64).min in extremes_of(np.dtype(np.int64))


def test_huge_numbers_differ_within_an_input() -> None:
    drawn = [changed_case("SparseReshape", 0, k, huge=True) for k in range(60)]
    assert {said.partition(" ")[2] for _, said in drawn} >= {"0: all huge", "2: some huge"}
    most = max(len({*item.inputs[1].tolist()} & {*huge_of(np.dtype("i8"))}) for item, _ in drawn)
    assert most > 1
    assert huge_of(np.dtype("i8"))[0] == 2**63 - 1
    assert not huge_of(np.dtype("f4"))


def test_there_are_cases_of_most_ops() -> None:
    assert len(ops()) > 700


def test_a_process_that_ends_is_said_and_replaced() -> None:
    item, want = case("Relu", np.array([np.nan, -1], np.float32)), [np.array([np.nan, 0], "f4")]
    ours = Ours("plain", 20)
    try:
        ours.send(item, want)
        assert [(name, found.kind) for name, found in ours.verdicts()] == [
            ("reference", "equal"), ("native", "equal"),
        ]  # fmt: skip
        process = ours._worker._running()
        process.send_signal(signal.SIGSEGV)
        process.wait()
        ours.send(item, want)
        assert [found.text for _, found in ours.verdicts()] == ["crash: SIGSEGV"]
        ours.send(item, want)
        assert len(list(ours.verdicts())) == 2
    finally:
        ours.close()


def test_a_process_that_hangs_is_ended() -> None:
    ours = Ours("plain", 0.5)
    try:
        process = ours._worker._running()
        process.send_signal(signal.SIGSTOP)
        ours.send(case("Relu", np.float32(1)), [np.array(1, "f4")])
        start = time.monotonic()
        assert [found.way for _, found in ours.verdicts()] == ["hang"]
        assert time.monotonic() - start < 10
        assert process.returncode == -signal.SIGKILL
    finally:
        ours.close()


def test_what_differs_is_told_apart() -> None:
    x, kept = np.array([np.nan, 1], np.float32), vars(oracle)["run_op"]
    assert verdict(case("Relu", x), [np.array([0, 1], "f4")], "reference").way == "values"
    assert verdict(case("Relu", x), "InvalidArgumentError", "native").way == "TensorFlow refuses"
    bad = case("Reshape", x, np.array([3], np.int32))
    assert verdict(bad, [x], "reference").way == "we refuse"
    assert verdict(bad, "InvalidArgumentError", "native").kind == "refused"
    assert verdict(bad, "skip: TensorFlow aborts", "native").kind == "skipped"
    assert vars(oracle)["run_op"] is kept
