"""Scenarios by family: what the modules of this folder register."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from scenarios._program import Program

__all__ = ["Scenario", "families", "load", "scenario", "with_tensorflow"]

Build: TypeAlias = Callable[..., None]

HERE = Path(__file__).parent
_FOUND: dict[str, list[Scenario]] = {}


@dataclass(frozen=True)
class Scenario:
    """A program by name; ``label`` ends in the seed of its draw where it is one of several.

    ``tol`` times the tolerance of its dtype is what an answer may differ by. ``by_tensorflow``: the
    graph is built by TensorFlow when it is recorded, and kept with the answers.
    """

    label: str
    build: Build
    by_tensorflow: bool = False
    tol: float = 1.0

    @property
    def drawn(self) -> bool:
        """Whether it is one of several draws."""
        return self.label.endswith("]")

    @property
    def draw(self) -> int:
        """The seed of its draw, 0 where it is the only one."""
        return int(self.label[:-1].rpartition("[")[2]) if self.drawn else 0

    def program(self, *first: Any) -> Program:
        """The program; TensorFlow itself is given where it builds the graph."""
        program = Program()
        self.build(*first, program)
        return program


def scenario(draws: int = 0, *, tol: float = 1.0) -> Callable[[Build], Build]:
    """Register ``build(p)``, or with ``draws`` as many of ``build(p, rng)`` with seeds 0, 1, ..."""
    return partial(_register, draws, tol, False)


def with_tensorflow(draws: int = 0, *, tol: float = 1.0) -> Callable[[Build], Build]:
    """Register ``build(tf, p)`` or ``build(tf, p, rng)``, called inside of a ``tf.Graph``.

    It makes nodes by TensorFlow's Python and runs them with ``p.step(tensor, ...)``.
    """
    return partial(_register, draws, tol, True)


def _register(draws: int, tol: float, by_tensorflow: bool, build: Build) -> Build:
    family = _FOUND.setdefault(build.__module__.rsplit(".", 1)[-1], [])
    name = build.__name__
    assert all(s.label.split("[")[0] != name for s in family), f"{name} is registered twice"
    if not draws:
        family.append(Scenario(name, build, by_tensorflow, tol))
    for seed in range(draws):
        drawn = _with_seed(build, seed)
        family.append(Scenario(f"{name}[{seed}]", drawn, by_tensorflow, tol))
    return build


def _with_seed(build: Build, seed: int) -> Build:
    return lambda *given: build(*given, np.random.default_rng(seed))


def families() -> list[str]:
    """Names of the modules with scenarios, sorted."""
    return sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("_"))


def load(family: str) -> list[Scenario]:
    """The scenarios of a family, in the order of their registration."""
    importlib.import_module(f"scenarios.{family}")
    return _FOUND[family]
