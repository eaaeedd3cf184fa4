"""Candidate samplers over several runs and files; bounded normal numbers; shuffled indices."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, i64

from drystone_base.core.errors import DrystoneError
from drystone_base.executor.testing import infer_shapes, run_op
from drystone_base.files.access import Access
from drystone_base.state.runtime import Runtime
from drystone_base.state.variables import ResourceManager

TRUE = i64([[0, 1], [5, 3]])
SIZES: dict[str, Any] = {"num_true": 2, "num_sampled": 5, "unique": False, "range_max": 10}


def test_unigrams_are_learned_from_run_to_run() -> None:
    bench = Bench()
    op = "LearnedUnigramCandidateSampler"
    first = bench.all(op, TRUE, **SIZES, seed=3)
    np.testing.assert_allclose(first[1], np.full((2, 2), 5 / 10), rtol=1e-6)
    second = bench.all(op, TRUE, **SIZES, seed=3)
    np.testing.assert_allclose(second[1], np.full((2, 2), 5 * 2 / 14), rtol=1e-6)
    other = bench.all(op, TRUE, node="other", **SIZES, seed=3)
    np.testing.assert_allclose(other[1], first[1])


def test_classes_go_on_from_run_to_run() -> None:
    bench = Bench()
    runs = [bench("UniformCandidateSampler", TRUE, **SIZES, seed=3).tolist() for _ in range(3)]
    assert len({tuple(r) for r in runs}) == 3
    assert Bench()("UniformCandidateSampler", TRUE, **SIZES, seed=3).tolist() == runs[0]


def test_weights_come_from_a_file(tmp_path: Path) -> None:
    words = tmp_path / "words.csv"
    words.write_text("\n".join(f"word{k},{k}" for k in range(1, 11)) + "\n", encoding="utf-8")
    op, given = "FixedUnigramCandidateSampler", SIZES | {"seed": 3}
    of_file = Bench().all(op, TRUE, **given, vocab_file=str(words))
    of_list = Bench().all(op, TRUE, **given, unigrams=[float(k) for k in range(1, 11)])
    for a, b in zip(of_file, of_list, strict=True):
        assert (a == b).all()
    words.write_text("word,heavy\n", encoding="utf-8")
    Bench().fails("INVALID_ARGUMENT", "must end with a weight", op, TRUE, **given,
                  vocab_file=str(words))  # fmt: skip
    Bench().fails("NOT_FOUND", "must be readable", op, TRUE, **given,
                  vocab_file=str(tmp_path / "none"))  # fmt: skip


def test_a_file_is_read_only_where_the_policy_allows_it(tmp_path: Path) -> None:
    runtime = Runtime(ResourceManager(), lambda *_: [], access=Access.nothing())
    with pytest.raises(DrystoneError, match="may not read") as caught:
        run_op("FixedUnigramCandidateSampler", TRUE, runtime=runtime, **SIZES,
               vocab_file=str(tmp_path / "words"))  # fmt: skip
    assert caught.value.status == "PERMISSION_DENIED"


def test_too_few_classes_with_a_weight_are_refused() -> None:
    given = SIZES | {"unique": True, "num_sampled": 2, "range_max": 2, "num_true": 1}
    Bench().fails("INVALID_ARGUMENT", "enough classes", "UniformCandidateSampler", TRUE[:, :1],
                  **given | {"num_sampled": 3})  # fmt: skip


def test_bounded_numbers_stay_between_their_bounds() -> None:
    bench, size = Bench(), i32([50, 20])
    lows, highs = np.linspace(-3, 3, 50, dtype=np.float32), f32(3.5)
    got = bench("ParameterizedTruncatedNormal", size, f32(0), f32(1), lows, highs, seed=1)
    assert (got >= lows[:, None]).all()
    assert (got <= 3.5).all()
    again = bench("ParameterizedTruncatedNormal", size, f32(0), f32(1), lows, highs, seed=1)
    assert (got != again).any()


def test_hopeless_bounds_are_refused() -> None:
    given = [np.float16(v) for v in (0, 0.01, 7, 7.01)]
    Bench().fails("INTERNAL", "between the bounds", "ParameterizedTruncatedNormal", i32([4]),
                  *given, seed=1, seed2=2)  # fmt: skip


@pytest.mark.parametrize("last", [1, 9, 65535, 70000])
def test_shuffled_indices_are_a_permutation(last: int) -> None:
    index = np.arange(min(last, 2000) + 1, dtype=np.int64)
    got = run_op("RandomIndexShuffle", index, i32([1, 2, 3]), np.full_like(index, last))[0]
    assert len(set(got.tolist())) == index.size
    assert got.max() <= last


def test_odd_rounds_are_refused() -> None:
    for rounds in (2, 5):
        Bench().fails("INVALID_ARGUMENT", "rounds must be even", "RandomIndexShuffle", i32(1),
                      i32([1, 2, 3]), i32(5), rounds=rounds)  # fmt: skip


def test_shapes() -> None:
    sampled = infer_shapes("UniformCandidateSampler", [(3, 2)], dtypes_in=["int64"], **SIZES)
    assert sampled == [(5,), (3, 2), (5,)]
    three = ["int32"] * 3
    assert infer_shapes("RandomIndexShuffle", [(), (3,), ()], dtypes_in=three) == [()]
    assert infer_shapes("RandomIndexShuffle", [(), (5, 3), ()], dtypes_in=three) == [(5,)]
    assert infer_shapes("RandomIndexShuffle", [None, (3,), ()], dtypes_in=three) == [None]
    with pytest.raises(DrystoneError, match="dimensions must be equal"):
        infer_shapes("RandomIndexShuffle", [(5,), (4, 3), ()], dtypes_in=three)
