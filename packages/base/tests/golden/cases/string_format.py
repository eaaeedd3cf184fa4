"""Golden cases of tensors in a template."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle import Case, case
from stateful import f32

from golden.cases.strings import texts


def _templates() -> Iterator[Case]:
    rng = np.random.default_rng(5)
    values: list[Any] = [
        np.float32(1.5), f32([1, 0.1, 1e10, 1e-10, 123456.789, 1 / 3, np.nan, np.inf, -0.0]),
        np.array([1, 0.1, 1e10, 123456.789, 1 / 3, -np.inf, 1e300]),
        np.array([1, 0.1, 1 / 3], np.float16),
        np.array([True, False]), np.array([1, -2], np.int8), np.uint8(200),
        texts("a", 'b"c\n', b"\xff\\'\x01"),
        "scalar", np.arange(10), np.arange(100).reshape(10, 10), np.arange(8).reshape(2, 2, 2),
        rng.integers(0, 9, (7, 8, 2)), np.zeros((0,), np.int32),
    ]  # fmt: skip
    for value in values:
        for limit in (3, 1, -1, 10):
            yield case("StringFormat", value, template="<%s>", summarize=limit)
    yield case("StringFormat", np.int32(1), "x", template="a {} b {} c", placeholder="{}")
    yield case("StringFormat", np.int32(1), template="{} and {}", placeholder="{}", note="refused")
    yield case("StringFormat", template="plain", placeholder="{}")


CASES = [*_templates()]
