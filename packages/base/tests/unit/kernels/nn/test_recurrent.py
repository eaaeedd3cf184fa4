"""Recurrent blocks and CTC beyond the golden cases: cut sequences, numeric gradients, refusals."""

from typing import Any

import numpy as np
import pytest
from stateful import Bench, f32, i32, i64

RNG = np.random.default_rng(3)


def _draw(*shape: int) -> Any:
    return f32(RNG.normal(size=shape) * 0.5)


def _block(steps: int = 4, batch: int = 2, inputs: int = 3, cell: int = 2) -> list[Any]:
    weights = [_draw(inputs + cell, 4 * cell), *(_draw(cell) for _ in range(3)), _draw(4 * cell)]
    return [_draw(steps, batch, inputs), _draw(batch, cell), _draw(batch, cell), *weights]


def test_a_sequence_is_its_cells_one_after_another() -> None:
    run = Bench()
    x, cs, h, *weights = _block()
    attrs = {"forget_bias": 1.0, "cell_clip": 3.0, "use_peephole": True}
    whole = run.all("BlockLSTM", np.int64(4), x, cs, h, *weights, **attrs)
    for t in range(4):
        step = run.all("LSTMBlockCell", x[t], cs, h, *weights, **attrs)
        for got, want in zip(whole, step, strict=True):
            np.testing.assert_allclose(got[t], want, rtol=1e-6)
        cs, h = step[1], step[6]


@pytest.mark.parametrize("op", ["BlockLSTM", "BlockLSTMV2"])
def test_steps_past_the_length_are_zero(op: str) -> None:
    run = Bench()
    block = _block()
    whole, cut = run.all(op, np.int64(4), *block), run.all(op, np.int64(2), *block)
    for a, b in zip(whole, cut, strict=True):
        np.testing.assert_array_equal(a[:2], b[:2])
        assert not b[2:].any()


def test_gradient_of_a_sequence_is_its_slope() -> None:
    run = Bench()
    block = _block()
    out = run.all("BlockLSTMV2", np.int64(4), *block)
    seed = _draw(*out[6].shape)
    nothing = np.zeros_like(out[1])
    grads = run.all("BlockLSTMGradV2", np.int64(4), *block, *out, nothing, seed, use_peephole=False)
    for k in (0, 1, 2, 3, 7):
        bump = np.zeros_like(block[k])
        bump.flat[1] = 1e-2
        sides = []
        for sign in (1, -1):
            moved = list(block)
            moved[k] = block[k] + sign * bump
            sides.append((run.all("BlockLSTMV2", np.int64(4), *moved)[6] * seed).sum())
        assert grads[k].flat[1] == pytest.approx((sides[0] - sides[1]) / 2e-2, abs=2e-3)


def test_recurrent_blocks_refuse_shapes_that_do_not_fit() -> None:
    run = Bench()
    block = _block()
    bad = [*block[:3], block[3][:-1], *block[4:]]
    run.fails("INVALID_ARGUMENT", "w must fit the batch", "BlockLSTM", np.int64(4), *bad)
    run.fails("INVALID_ARGUMENT", "must not exceed the number of steps", "BlockLSTM",
              np.int64(5), *block)  # fmt: skip


def test_a_certain_path_costs_nothing() -> None:
    run = Bench()
    logits = np.full((3, 1, 3), -50, np.float32)
    for t, label in enumerate((0, 2, 1)):
        logits[t, 0, label] = 50
    loss, gradient = run.all("CTCLoss", logits, i64([[0, 0], [0, 1]]), i32([0, 1]), i32([3]))
    assert loss[0] == pytest.approx(0, abs=1e-6)
    np.testing.assert_allclose(gradient, 0, atol=1e-6)
    best = run.all("CTCBeamSearchDecoder", logits, i32([3]), beam_width=5, top_paths=1)
    assert best[1].tolist() == [0, 1]


def test_ctc_says_what_is_wrong_with_lengths_and_labels() -> None:
    run = Bench()
    logits, labels = np.zeros((2, 1, 3), np.float32), (i64([[0, 0]]), i32([0]))
    run.fails("INVALID_ARGUMENT", "as long as its labels", "CTCLoss", logits,
              i64([[0, 0], [0, 1], [0, 2]]), i32([0, 1, 0]), i32([2]))  # fmt: skip
    run.fails(
        "INVALID_ARGUMENT", "exceed the number of steps", "CTCLoss", logits, *labels, i32([3])
    )
    run.fails("FAILED_PRECONDITION", "one length for each", "CTCGreedyDecoder", logits, i32([1, 1]))
