"""A compiled region as the subgraph package calls it: inputs lent, weights kept on the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from drystone_base.core.errors import KernelError
from drystone_pjrt.api.client import Client, DeviceArray, LoadedProgram
from drystone_pjrt.stablehlo.region import Program
from drystone_subgraph import CompileRequest

__all__ = ["RegionExecutable"]

Array = np.ndarray[Any, Any]


class RegionExecutable:
    """A program on a device. Constants and weights are there already; a weight is replaced when its
    variable has a new value."""

    def __init__(
        self, client: Client, loaded: LoadedProgram, program: Program, request: CompileRequest
    ) -> None:
        self.loaded, self.program = loaded, program
        self._client, self._name = client, request.name
        self._arguments: list[DeviceArray | None] = [None] * len(program.arguments)
        self._feeds: list[tuple[int, int]] = []
        self._weights: dict[int, int] = {}
        for place, argument in enumerate(program.arguments):
            value = argument.held
            if value is None and request.inputs[argument.number].is_weight:
                value = request.inputs[argument.number].value
                self._weights[argument.number] = place
            if value is None:
                self._feeds.append((place, argument.number))
            else:
                self._arguments[place] = client.array(value)

    def update(self, weights: Mapping[int, Array]) -> None:
        """Put new values of weights on the device, by the numbers of inputs."""
        for number, value in weights.items():
            if number in self._weights:
                self._arguments[self._weights[number]] = self._client.array(value)

    def __call__(self, inputs: Sequence[Array]) -> list[Array]:
        """The region's outputs. Raises ``KernelError`` where a condition does not hold."""
        arguments = list(self._arguments)
        for place, number in self._feeds:
            arguments[place] = self._client.array(inputs[number])
        results = [np.empty(shape, dtype) for shape, dtype in self.program.results]
        checks = [np.empty((), bool) for _ in self.program.checks]
        try:
            self.loaded.run([a for a in arguments if a is not None], [*results, *checks])
        finally:
            for place, _ in self._feeds:
                given = arguments[place]
                if given is not None:
                    given.close()
        for holds, text in zip(checks, self.program.checks, strict=True):
            if not holds:
                raise self._does_not_hold(text)
        return results

    def _does_not_hold(self, text: str) -> KernelError:
        return KernelError(
            f"a condition of region {self._name!r} does not hold",
            check=text,
            found="a value for which that is not so",
            needed="values that the ops accept",
            remedy="the host executor runs the region, and says what is wrong with these values",
        )
