"""What all random graphs of passes are drawn with: nodes with names of their own, and chances."""

from __future__ import annotations

from typing import Any

import numpy as np
from pass_checks import Maker

from drystone_base.graph import Output

__all__ = ["Drawing"]


class Drawing:
    """A graph that grows, and the values that it is fed with."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.m = rng, Maker()
        self.feeds: dict[str, Any] = {}
        self.serial = 0

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Output:
        """A node with a name of its own."""
        self.serial += 1
        return self.m.op(op, f"{op}_{self.serial}", *inputs, **attrs)

    def const(self, value: Any) -> Output:
        """A constant with a name of its own."""
        self.serial += 1
        return self.m.const(f"c_{self.serial}", np.asarray(value))

    def numbers(self, *shape: int) -> Any:
        """Random numbers."""
        return self.rng.normal(size=shape).astype(np.float32)

    def weights(self, *shape: int) -> Output:
        """A constant of random numbers."""
        return self.const(self.numbers(*shape))

    def one_of(self, items: Any) -> Any:
        """One of the items."""
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        """True that often."""
        return bool(self.rng.random() < share)
