"""Cases of dual coordinate ascent: those whose answer does not hang on the order of examples."""

import itertools
from typing import Any

import numpy as np
from oracle import Case, case

F32, I64 = np.float32, np.int64
RNG = np.random.default_rng(8)
SIGNED = ("logistic_loss", "hinge_loss", "smooth_hinge_loss")
LOSSES = (*SIGNED, "squared_loss", "poisson_loss")


def _attrs(loss: str, sparse: int, values: int, dense: int, **more: Any) -> dict[str, Any]:
    return {
        "loss_type": loss, "num_sparse_features": sparse, "num_sparse_features_with_values": values,
        "num_dense_features": dense, "l1": 0.3, "l2": 1.5, "num_loss_partitions": 2,
        "num_inner_iterations": 1, "adaptive": False, **more,
    }  # fmt: skip


def _sparse(loss: str, label: float, values: bool, **more: Any) -> Case:
    """Three examples without a feature in common: their order does not matter."""
    examples, features = np.array([0, 0, 1, 2, 2], I64), np.array([9, 1, 4, 7, 2], I64)
    indices, weights = np.array([1, 2, 4, 7, 9, 11], I64), RNG.normal(size=6).astype(F32)
    given = [RNG.normal(size=5).astype(F32)] if values else []
    state = np.zeros((3, 4), F32)
    state[:, 0] = 0.25 if label else -0.25
    return case(
        "SdcaOptimizerV2", examples, features, *given, F32([1, 0.5, 2]), np.full(3, label, F32),
        indices, weights, state, **_attrs(loss, 1, int(values), 0, **more),
    )  # fmt: skip


def _dense(loss: str, label: float, op: str = "SdcaOptimizerV2", **more: Any) -> Case:
    """One example with two groups of dense features."""
    rows, weights = RNG.normal(size=(2, 1, 3)).astype(F32), RNG.normal(size=(2, 3)).astype(F32)
    state = np.zeros((1, 4), F32)
    attrs = _attrs(loss, 0, 0, 2, **more)
    if op == "SdcaOptimizer":
        attrs["adaptative"] = attrs.pop("adaptive")
    return case(op, *rows, F32([1.5]), F32([label]), *weights, state, **attrs)


def _wrong() -> list[Case]:
    row, weights, state = F32([[1, 2, 3]]), F32([1, 2, 3]), np.zeros((1, 4), F32)
    one, attrs = F32([1]), _attrs("squared_loss", 0, 0, 1)

    def dense(x: Any, w: Any, y: Any, v: Any, s: Any, **more: Any) -> Case:
        return case("SdcaOptimizerV2", x, w, y, v, s, **(attrs | more))

    return [
        dense(row, one, one, weights, state),
        dense(row, one, one, weights, state[0]),
        dense(row, one, one, weights, state[:, :3]),
        dense(row, one, np.ones(2, F32), weights, state),
        dense(row[0], one, one, weights, state),
        dense(row, one, one, weights[:2], state),
        *(dense(row, one, F32([2]), weights, state, loss_type=loss) for loss in SIGNED),
        dense(row, one, F32([-1]), weights, state, loss_type="poisson_loss"),
    ]


def _fingerprints() -> list[Case]:
    texts = np.empty(40, object)
    texts[:] = [RNG.integers(0, 256, 7 * k).astype(np.uint8).tobytes() for k in range(40)]
    return [case("SdcaFprint", v) for v in (texts, texts[:0], texts[0:1].reshape(1, 1))]


CASES = [
    *(_sparse(loss, y, v) for loss in LOSSES for y in (0, 1) for v in (False, True)),
    *(_dense(loss, y) for loss, y in itertools.product(LOSSES, (0, 1))),
    *(_dense(loss, 3.5) for loss in ("squared_loss", "poisson_loss")),
    *(_dense(loss, 1, adaptive=True) for loss in LOSSES),
    *(_dense(loss, 1, "SdcaOptimizer") for loss in LOSSES),
    *_wrong(),
    *_fingerprints(),
]
