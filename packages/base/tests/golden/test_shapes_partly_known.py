"""Shape functions told less than everything: what they infer must admit TensorFlow's shapes."""

import random
from typing import Any

import numpy as np
import oracle
import pytest

from drystone_base.executor.testing import as_array, infer_shapes


def blurred(shape: tuple[int, ...], rng: random.Random) -> tuple[int, ...] | None:
    """The shape with some dims, or the rank, made unknown."""
    if rng.random() < 0.15:
        return None
    return tuple(-1 if rng.random() < 0.4 else d for d in shape)


def problem(item: oracle.Case, want: list[Any], rng: random.Random) -> str | None:
    """What is wrong with the shapes inferred from blurred inputs."""
    arrays = [as_array(v) for v in item.inputs]
    shapes = [blurred(a.shape, rng) for a in arrays]
    values = [a if s == a.shape and rng.random() < 0.5 else None
              for a, s in zip(arrays, shapes, strict=True)]  # fmt: skip
    types = [oracle._label(a) for a in arrays]
    inferred = infer_shapes(item.op, shapes, values=values, dtypes_in=types, **item.attrs)
    for guess, real in zip(inferred, want, strict=True):
        shape = np.shape(real)
        if guess is None:
            continue
        if len(guess) != len(shape) or any(
            g >= 0 and g != r for g, r in zip(guess, shape, strict=True)
        ):
            return f"from {shapes}: inferred {guess} does not admit {shape}"
    return None


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("family", oracle.families())
def test_blurred_inputs(family: str) -> None:
    rng = random.Random(family)
    wrong = []
    for item, want in oracle.recorded(family):
        if isinstance(want, str) or oracle._held(item):
            continue
        for _ in range(3):
            found = problem(item, want, rng)
            if found:
                wrong.append(f"{item.label()} {item.attrs}: {found}")
    assert not wrong, f"{len(wrong)} inferences are wrong:\n" + "\n".join(wrong[:20])
