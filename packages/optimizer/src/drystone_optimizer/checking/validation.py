"""Translation validation: samples are run before and after a pass, and the results compared.

It is the caller's business to leave out a pass whose result differs: here it becomes an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from drystone_base.core.errors import BadRequest, DrystoneError, GraphError
from drystone_base.graph import Graph
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.checking.runs import Feeds, Runner
from drystone_optimizer.core.config import NUMERIC
from drystone_optimizer.core.rules import Numeric

__all__ = ["Validator", "refuse"]


class Validator:
    """Holds graphs against the results of the one before, on every sample.

    Raises ``BadRequest`` (``no-sample-runs``) where the graph runs on none of them.
    """

    def __init__(
        self, runner: Runner, graph: Graph, fetches: Sequence[str], samples: Sequence[Feeds]
    ) -> None:
        self.runner, self.fetches = runner, list(fetches)
        self.samples: list[Feeds] = []
        self.checked = 0
        found: list[list[Any]] = []
        error: DrystoneError | None = None
        for sample in samples:
            try:
                found.append(runner.run(graph, self.fetches, sample))
                self.samples.append(sample)
            except DrystoneError as failure:
                error = failure
        if not self.samples:
            _no_sample(len(samples), error)
        self._graph, self._values = graph, found
        self._first, self._first_values = graph, found

    def begin(self, graph: Graph) -> None:
        """Hold what follows against this graph, which is run when that is needed."""
        if graph is self._first:
            self._values = self._first_values
        elif graph is not self._graph:
            self._values = []
        self._graph = graph

    def check(self, name: str, numeric: Numeric, graph: Graph) -> None:
        """Raise ``GraphError`` (``pass-changed-result``) unless results are as they were.

        They may differ as the numeric class of what the pass did allows.
        """
        if not self._values:
            self._values = [self.runner.run(self._graph, self.fetches, s) for s in self.samples]
        found = []
        for k, sample in enumerate(self.samples):
            try:
                found.append(self.runner.run(graph, self.fetches, sample))
            except DrystoneError as error:
                refuse(name, numeric, k, f"the graph does not run any more: {error.what}", error)
            exact = self.runner.executor == "reference"
            said = first_difference(
                self.fetches, self._values[k], found[k], numeric, to_the_bit=exact
            )
            if said:
                refuse(name, numeric, k, said, None)
        self.checked += 1
        self._values = found


def refuse(
    name: str, numeric: Numeric, sample: int, found: str, inner: DrystoneError | None
) -> NoReturn:
    """Raise ``GraphError`` (``pass-changed-result``)."""
    raise GraphError(
        f"{name} changed the result",
        check=f"sample {sample} gives the same before and after, as far as the numeric class says",
        found=found,
        needed=f"class {NUMERIC[numeric]}, the highest among what it did",
        remedy=f"`drystone bisect` finds the rewrite; leave {name} out until it is mended",
        code="pass-changed-result",
        inner=inner,
    )


def _no_sample(count: int, error: DrystoneError | None) -> NoReturn:
    raise BadRequest(
        "the graph runs on none of the samples",
        check="results can be compared where the graph as it is gives some",
        found=f"{count} samples" + (f", the last with: {error.what}" if error else ""),
        needed="inputs that the graph can be run with",
        remedy="give real ones with --inputs FILE.npz, or sizes with --shape NAME=SIZES",
        code="no-sample-runs",
        inner=error,
    )
