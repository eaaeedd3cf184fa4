"""Cases of candidate sampling: first runs, each with seeds of its own."""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case

TRUE = np.array([[0, 1], [5, 3], [9, 2]], np.int64)
SIMPLE = (
    "UniformCandidateSampler",
    "LogUniformCandidateSampler",
    "LearnedUnigramCandidateSampler",
    "ThreadUnsafeUnigramCandidateSampler",
)
WEIGHTS = [float(k) for k in range(1, 11)]


def _simple(seeds: Iterator[int]) -> list[Case]:
    sizes = [(5, 10), (10, 10), (64, 1000), (3, 16), (40, 2**20 + 1)]
    out = [
        case(
            op, TRUE, num_true=2, num_sampled=count, unique=unique, range_max=size,
            seed=next(seeds), seed2=7,
        )
        for op in SIMPLE
        for count, size in sizes
        for unique in (True, False)
    ]  # fmt: skip
    given: dict[str, Any] = {"num_true": 2, "num_sampled": 5, "unique": True, "range_max": 10}
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (TRUE, {"num_sampled": 11}), (TRUE, {"range_max": 9}), (TRUE - 1, {}), (TRUE[:, :1], {}),
        (TRUE[0], {}), (TRUE[:0], {}),
    ]  # fmt: skip
    out += [case(op, x, **(given | other), seed=next(seeds)) for op in SIMPLE for x, other in wrong]
    return out


def _fixed(seeds: Iterator[int]) -> list[Case]:
    given: dict[str, Any] = {"num_true": 2, "num_sampled": 5, "range_max": 10}
    other: list[dict[str, Any]] = [
        {"unigrams": WEIGHTS},
        {"unigrams": WEIGHTS, "distortion": 0.75},
        {"unigrams": WEIGHTS[:8], "num_reserved_ids": 2},
        {"unigrams": [*WEIGHTS, *WEIGHTS[:8]], "num_reserved_ids": 2, "num_shards": 2, "shard": 1},
        {"unigrams": WEIGHTS[:3]},
        {"unigrams": WEIGHTS, "vocab_file": "words"},
        {},
    ]
    op = "FixedUnigramCandidateSampler"
    return [
        case(op, TRUE, **given, **more, unique=unique, seed=next(seeds))
        for more in other
        for unique in (True, False)
    ]


def _rest(seeds: Iterator[int]) -> list[Case]:
    every, hits = "AllCandidateSampler", "ComputeAccidentalHits"
    out = [
        case(every, TRUE, num_true=2, num_sampled=n, unique=unique, seed=next(seeds))
        for n in (10, 9, 12)
        for unique in (True, False)
    ]
    sampled: list[Any] = [np.array(v, np.int64) for v in ([1, 9, 4, 5], [1, 9, 1, 3, 3], [7], [])]
    out += [case(hits, TRUE, v, num_true=2) for v in sampled]
    return [
        *out,
        case(hits, TRUE, sampled[0], num_true=1),
        case(hits, TRUE[0], sampled[0], num_true=2),
        case(hits, TRUE, TRUE, num_true=2),
    ]


_SEEDS = itertools.count(1)
CASES = [*_simple(_SEEDS), *_fixed(_SEEDS), *_rest(_SEEDS)]
