"""Shapes of random numbers."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import UNKNOWN, Shape, ShapeCall, shape


@shape("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt")
def stateful(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds."""
    return [c.value_as_shape(0)]


@shape(
    "StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal",
    "StatelessRandomUniformFullInt", "StatelessRandomUniformInt", "StatelessRandomGammaV2",
    "StatelessRandomPoisson", "StatelessRandomBinomial",
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


@shape("RandomGamma", "RandomPoisson", "RandomPoissonV2")
def samples(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds, then that of the parameters."""
    drawn, given = c.value_as_shape(0), c.shape(1)
    return [None if drawn is None or given is None else (*drawn, *given)]


@shape("StatelessRandomGammaV3")
def stateless_samples_v3(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds; the key is one number, the algorithm a scalar."""
    c.merge(c.shape(1), (1,))
    c.with_rank(c.shape(2), 1)
    c.with_rank(c.shape(3), 0)
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


@shape(
    "StatefulUniform", "StatefulUniformFullInt", "StatefulStandardNormalV2",
    "StatefulTruncatedNormal", "StatefulUniformInt",
)  # fmt: skip
def generated(c: ShapeCall) -> list[Shape]:
    """The shape that the third input holds; the algorithm and bounds are scalars."""
    c.with_rank(c.shape(1), 0)
    for bound in range(3, len(c.shapes)):
        c.with_rank(c.shape(bound), 0)
    return [c.value_as_shape(2)]


@shape("StatefulRandomBinomial")
def generated_binomial(c: ShapeCall) -> list[Shape]:
    """The shape that the third input holds."""
    return [c.value_as_shape(2)]


@shape("StatefulStandardNormal")
def generated_normal(c: ShapeCall) -> list[Shape]:
    """The shape that the second input holds."""
    return [c.value_as_shape(1)]


@shape("RngSkip")
def skip(c: ShapeCall) -> list[Shape]:
    """Nothing; algorithm and distance are scalars."""
    c.with_rank(c.shape(1), 0)
    c.with_rank(c.shape(2), 0)
    return []


@shape("RngReadAndSkip")
def read_and_skip(c: ShapeCall) -> list[Shape]:
    """Two words of counter and one of key."""
    c.with_rank(c.shape(1), 0)
    c.with_rank(c.shape(2), 0)
    return [(3,)]


@shape("NonDeterministicInts")
def non_deterministic(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds."""
    return [c.value_as_shape(0)]


@shape("RandomGammaGrad", "IgammaGradA")
def broadcast(c: ShapeCall) -> list[Shape]:
    """The shape that both inputs are broadcast to."""
    return [c.broadcast(c.shape(0), c.shape(1))]


@shape("ParameterizedTruncatedNormal")
def truncated(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds; the parameters are scalars or vectors."""
    for k in range(1, 5):
        given = c.shape(k)
        if given is not None and len(given) > 1:
            c.fail("a parameter must be a scalar or a vector", found=list(given))
    return [c.value_as_shape(0)]


@shape("StatelessParameterizedTruncatedNormal")
def stateless_truncated(c: ShapeCall) -> list[Shape]:
    """The shape that the first input holds; the parameters broadcast."""
    c.merge(c.shape(1), (2,))
    common = c.shape(2)
    for k in range(3, 6):
        common = c.broadcast(common, c.shape(k))
    return [c.value_as_shape(0)]


@shape("RandomIndexShuffle")
def index_shuffle(c: ShapeCall) -> list[Shape]:
    """The index's shape, or a vector where seeds or bounds are given one for each place."""
    index, seed, last = c.shape(0), c.shape(1), c.shape(2)
    for given in (index, last):
        if given is not None and len(given) > 1:
            c.fail("an index must be a scalar or a vector", found=list(given))
    if seed is not None and len(seed) not in (1, 2):
        c.fail("the seed must be three numbers, or rows of three", found=list(seed))
    if seed is not None:
        c.merge_dim(seed[-1], 3)
    counts = [v[0] for v in (index, seed if seed and len(seed) == 2 else None, last) if v]
    if not counts:
        return [None if index is None or seed is None or last is None else ()]
    if counts[0] != 1:
        for other in counts[1:]:
            c.merge_dim(counts[0], other)
    return [(counts[0],)]
