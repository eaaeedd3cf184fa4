"""Shapes of random numbers."""

from __future__ import annotations

from drystone_base.ops.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt")
def stateful(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds."""
    return [c.value_as_shape(0)]


@shape(
    "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
    "StatelessRandomUniformFullInt", "StatelessRandomUniformInt",
)  # fmt: skip
def stateless(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds; the seed is two numbers."""
    c.merge(c.shape(1), (2,))
    return [c.value_as_shape(0)]


@shape(
    "StatelessRandomUniformV2", "StatelessRandomNormalV2", "StatelessTruncatedNormalV2",
    "StatelessRandomUniformFullIntV2", "StatelessRandomUniformIntV2",
)  # fmt: skip
def stateless_v2(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds; key and counter are vectors."""
    c.with_rank(c.shape(1), 1)
    c.with_rank(c.shape(2), 1)
    return [c.value_as_shape(0)]


@shape("RandomShuffle", "StatelessShuffle")
def shuffle(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("Multinomial", "StatelessMultinomial")
def multinomial(c: ShapeCall) -> list[Shape]:
    """One row of samples for each row of logits."""
    count = c.int_value(1)
    return [(c.with_rank(c.shape(0), 2)[0], UNKNOWN if count is None else count)]


@shape("StatelessRandomGetKeyCounter")
def key_counter(c: ShapeCall) -> list[Shape]:
    """A key of one number and a counter of two."""
    c.merge(c.shape(0), (2,))
    return [(1,), (2,)]


@shape("StatelessRandomGetKeyCounterAlg")
def key_counter_alg(c: ShapeCall) -> list[Shape]:
    """A key of one number, a counter of two, and a scalar."""
    c.merge(c.shape(0), (2,))
    return [(1,), (2,), ()]


@shape("StatelessRandomGetAlg")
def algorithm(c: ShapeCall) -> list[Shape]:
    """A scalar."""
    del c
    return [()]
