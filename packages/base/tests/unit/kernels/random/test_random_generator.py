"""Random ops whose generator is a variable: TensorFlow's streams, and a state that moves on."""

from typing import Any

import numpy as np
import pytest
from stateful import Bench, i32, i64

from drystone_base.core.dtypes import as_dtype
from drystone_base.executor.testing import infer_shapes
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

START = (1, 2, 3)


class Generator:
    """A generator's variable, with a handle to it."""

    def __init__(self, *state: int, dtype: Any = np.int64) -> None:
        self.variable = Variable("generator", as_dtype(np.dtype(dtype)), (len(state),))
        self.variable.write(np.array(state or START, dtype))
        self.handle = handle_array(ResourceHandle("variable", "generator", "", self.variable))

    @property
    def state(self) -> list[int]:
        """The numbers that the variable holds."""
        return [int(v) for v in self.variable.read()]


def test_numbers_go_on_with_tensorflows_stream() -> None:
    """Recorded from TensorFlow, from the state [1, 2, 3]."""
    bench, made = Bench(), Generator()
    uniform = bench("StatefulUniform", made.handle, i64(1), i64([5]), dtype="float32")
    want = [0.45901167, 0.53342485, 0.9627732, 0.7121686, 0.08489156]
    np.testing.assert_allclose(uniform, want, rtol=1e-6)
    assert made.state == [1281, 2, 3]


def test_binomial_numbers_go_on_with_tensorflows_stream() -> None:
    bench, made = Bench(), Generator()
    counts, probs = np.array([5.0, 100.0]), np.array([0.3, 0.6])
    got = bench(
        "StatefulRandomBinomial", made.handle, i64(1), i32([3, 2]), counts, probs, dtype="int32"
    )
    assert got.tolist() == [[3, 56], [1, 66], [2, 65]]
    assert made.state == [153601, 2, 3]


def test_skipping_is_drawing() -> None:
    bench, drawn, skipped = Bench(), Generator(), Generator()
    first = bench("StatefulUniformFullInt", drawn.handle, i64(1), i32([7]), dtype="uint64")
    again = bench("StatefulUniformFullInt", drawn.handle, i64(3), i32([7]), dtype="uint64")
    bench.all("RngSkip", skipped.handle, i64(1), i64(7))
    got = bench("StatefulUniformFullInt", skipped.handle, i64(1), i32([7]), dtype="uint64")
    assert (first != again).all()
    assert (got == again).all()


def test_the_state_is_read_before_it_moves_on() -> None:
    bench, made = Bench(), Generator()
    read = bench("RngReadAndSkip", made.handle, i32(1), np.uint64(7))
    assert read.tolist() == [1, 2, 3]
    assert made.state == [1793, 2, 3]


def test_counter_carries_into_its_second_word() -> None:
    bench, made = Bench(), Generator(-1, -1, 3)
    bench.all("RngSkip", made.handle, i64(1), i64(1))
    assert made.state == [255, 0, 3]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_distributions_are_those_of_the_stateless_ops(dtype: str) -> None:
    bench, made = Bench(), Generator()
    pairs = {
        "StatefulUniform": "StatelessRandomUniformV2",
        "StatefulStandardNormalV2": "StatelessRandomNormalV2",
        "StatefulTruncatedNormal": "StatelessTruncatedNormalV2",
    }
    for stateful, stateless in pairs.items():
        low, high, key = (np.array(made.variable.read()[k], np.uint64) for k in range(3))
        got = bench(stateful, made.handle, i64(1), i32([3, 5]), dtype=dtype)
        where = np.stack([low, high])
        want = bench(stateless, i32([3, 5]), key[None], where, i32(1), dtype=dtype)
        assert (got == want).all()


def test_integers_lie_between_the_bounds() -> None:
    bench, made = Bench(), Generator()
    got = bench("StatefulUniformInt", made.handle, i64(1), i32([500]), i32(-3), i32(4))
    assert sorted(set(got.tolist())) == list(range(-3, 4))
    bench.fails("INVALID_ARGUMENT", "minval must be below maxval", "StatefulUniformInt",
                made.handle, i64(1), i32([5]), i32(4), i32(4))  # fmt: skip


def test_the_first_generation_keeps_the_algorithm_in_its_state() -> None:
    bench, tagged, plain = Bench(), Generator(1, 1, 2, 3), Generator()
    old = bench("StatefulStandardNormal", tagged.handle, i32([9]))
    new = bench("StatefulStandardNormalV2", plain.handle, i64(1), i32([9]))
    assert (old == new).all()
    assert tagged.state == [1, 1 + 9 * 256, 2, 3]


def test_other_states_and_algorithms_are_refused() -> None:
    bench, size = Bench(), i32([2])
    op = "StatefulUniform"
    bench.fails("UNIMPLEMENTED", "algorithm must be Philox", op, Generator().handle, i64(2), size)
    bench.fails(
        "INVALID_ARGUMENT", "algorithm must be Philox", op, Generator().handle, i64(9), size
    )
    bench.fails("INVALID_ARGUMENT", "must hold counter and key", op, Generator(1, 2).handle, i64(1),
                size)  # fmt: skip
    wrong = Generator(1, 2, 3, dtype=np.int32)
    bench.fails("INVALID_ARGUMENT", "must be of type int64", op, wrong.handle, i64(1), size)
    bench.fails("INVALID_ARGUMENT", "algorithm must be a scalar", op, Generator().handle, i64([1]),
                size)  # fmt: skip


def test_runs_without_a_seed_differ() -> None:
    bench = Bench()
    a, b = (bench("NonDeterministicInts", i32([3, 4]), dtype="int64") for _ in range(2))
    assert a.shape == (3, 4)
    assert (a != b).any()


def test_gamma_and_poisson_numbers_go_on_from_run_to_run() -> None:
    bench, size = Bench(), i32([6])
    first = bench("RandomPoissonV2", size, np.array(4.0), seed=3, seed2=5)
    again = bench("RandomPoissonV2", size, np.array(4.0), seed=3, seed2=5)
    whole = Bench()("RandomPoissonV2", i32([12]), np.array(4.0), seed=3, seed2=5)
    assert (np.concatenate([first, again]) == whole).all()
    both = [bench("RandomGamma", size, np.array(0.5), node="g", seed=3) for _ in range(2)]
    whole = Bench()("RandomGamma", i32([12]), np.array(0.5), seed=3)
    assert (np.concatenate(both) == whole).all()


def test_parameters_of_which_there_are_no_samples() -> None:
    """As recorded of the stateless ops; of a rate that is NaN no sample is ever accepted."""
    bench, size = Bench(), i32([2])
    for alpha in (np.nan, -3.0):
        assert np.isnan(bench("RandomGamma", size, np.array(alpha))).all()
    for rate in (np.inf, -np.inf):
        assert bench("RandomPoissonV2", size, np.array(rate)).tolist() == [0, 0]
    many = bench("RandomPoissonV2", size, np.array(np.inf), dtype="float")
    assert many.tolist() == [np.inf, np.inf]
    nan = np.array(np.nan)
    bench.fails("INVALID_ARGUMENT", "there are samples", "RandomPoissonV2", size, nan)


def test_shapes() -> None:
    shape: Any = np.array([3, 4], np.int32)
    known = infer_shapes("StatefulUniform", [(), (), (2,)], values=[None, None, shape],
                         dtypes_in=["resource", "int64", "int32"], dtype="half")  # fmt: skip
    assert known == [(3, 4)]
    samples = infer_shapes("RandomGamma", [(2,), (5,)], values=[shape, None],
                           dtypes_in=["int32", "float32"])  # fmt: skip
    assert samples == [(3, 4, 5)]
    read = infer_shapes("RngReadAndSkip", [(), (), ()], dtypes_in=["resource", "int32", "uint64"])
    assert read == [(3,)]
