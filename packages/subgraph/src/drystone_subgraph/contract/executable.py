"""What a backend that compiles is asked for, and what it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from drystone_base.core.dtypes import DType
from drystone_base.graph import Body

__all__ = ["CompileInput", "CompileRequest", "Executable", "Handle", "Updatable"]


@dataclass(frozen=True)
class CompileInput:
    """One input of a region, for one specialisation: its ``shape`` is fully known.

    ``value``: the array of a constant, or of a variable that was read (``is_weight``); None for any
    other input. What is a constant stays so. A weight may change between calls: see
    :class:`Updatable`.
    """

    dtype: DType
    shape: tuple[int, ...]
    value: np.ndarray[Any, Any] | None = None
    is_weight: bool = False


@dataclass(frozen=True)
class CompileRequest:
    """A region to compile for inputs of these shapes.

    ``body``: the region as a graph of its own, from ``_Arg`` nodes, one for each of ``inputs``, to
    ``_Retval`` nodes, one for each of ``output_types``; nothing else uses it. ``threads``: how many
    the executable may use, 0 for one a core. ``attrs``: what the creator gave the operator.
    """

    name: str
    body: Body
    inputs: Sequence[CompileInput]
    output_types: Sequence[DType]
    threads: int = 0
    attrs: Mapping[str, Any] = field(default_factory=dict)


class Executable(Protocol):
    """A compiled region. Calls of one executable never overlap."""

    def __call__(self, inputs: Sequence[np.ndarray[Any, Any]]) -> Sequence[np.ndarray[Any, Any]]:
        """The outputs, for all inputs of the region (constants and weights, too).

        The inputs must not be changed or kept; the outputs belong to the caller. If it raises, the
        host executor computes the region, in this call and in all later ones.
        """


@runtime_checkable
class Handle(Protocol):
    """An executable that the host library can call by itself: a plugin's."""

    def release(self) -> int:
        """Its address, which is the caller's from now on."""


class Updatable(Protocol):
    """An executable that can take new weights. One that cannot is compiled again."""

    def update(self, weights: Mapping[int, np.ndarray[Any, Any]]) -> None:
        """Pack the weights that have changed, by the number of their input, before the next call.

        The arrays may be kept: they do not change.
        """
