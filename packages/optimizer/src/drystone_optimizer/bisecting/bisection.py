"""The search for the rewrite that changes a result, or the pass that fails.

Of two numbers of rewrites, one after which results are right and one after which they are not, the
middle is tried until they are neighbours. The pass is then run alone on ever smaller parts of the
graph as it was before that rewrite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from drystone_base.cli.kit import graph_changes
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_base.graph.calls import calls_function
from drystone_optimizer.bisecting.minimizing import Minimal, minimize
from drystone_optimizer.bisecting.steps import Rewriting
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.checking.runs import Feeds, Runner
from drystone_optimizer.checking.validation import Validator
from drystone_optimizer.core.config import NUMERIC
from drystone_optimizer.core.fuel import Fuel, Rewrite
from drystone_optimizer.core.rules import Numeric

__all__ = ["Culprit", "bisect"]


@dataclass(frozen=True)
class Culprit:
    """What was found: rewrite ``step`` of ``steps``, counted from 1, and what it did.

    ``crash``: the pass raised, instead of changing a result. ``changes``: nodes removed, added and
    changed by the rewrite. ``minimal``: the smallest graph found on which the pass alone does it.
    """

    rewrite: Rewrite
    step: int
    steps: int
    crash: bool
    text: str
    changes: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    minimal: Minimal | None = None
    tried: int = 0

    def as_json(self) -> dict[str, Any]:
        """The finding as JSON-ready values."""
        return {
            **self.rewrite._asdict(),
            "step": self.step,
            "steps": self.steps,
            "crash": self.crash,
            "text": self.text,
            "changes": self.changes,
            "minimal": self.minimal.as_json() if self.minimal else None,
            "runs": self.tried,
        }


class _Search:
    def __init__(
        self,
        rewriting: Rewriting,
        runner: Runner,
        graph: Graph,
        fetches: Sequence[str],
        samples: Sequence[Feeds],
    ) -> None:
        self.rewriting, self.runner, self.graph = rewriting, runner, graph
        self.fetches, self.feeds = list(fetches), list(samples[0])
        known = Validator(runner, graph, fetches, samples)
        self.samples = known.samples
        self.expected = [runner.run(graph, self.fetches, sample) for sample in self.samples]
        self.ceiling = Numeric(NUMERIC.index(rewriting.config.numeric))
        self.sample = 0

    def after(self, limit: int | None) -> tuple[Graph, Fuel]:
        fuel = Fuel(limit)
        if limit == 0:
            return self.graph, fuel
        return self.rewriting.run(self.graph, self.fetches, self.feeds, fuel), fuel

    def wrong(self, graph: Graph) -> str:
        """How the graph's results differ; "" where they do not."""
        for k, sample in enumerate(self.samples):
            try:
                found = self.runner.run(graph, self.fetches, sample)
            except DrystoneError as error:
                self.sample = k
                return f"the graph does not run any more: {error.what}"
            said = first_difference(
                self.fetches, self.expected[k], found, self.ceiling,
                to_the_bit=self.runner.executor == "reference",
            )  # fmt: skip
            if said:
                self.sample = k
                return said
        return ""


def bisect(
    rewriting: Rewriting,
    runner: Runner,
    graph: Graph,
    fetches: Sequence[str],
    samples: Sequence[Feeds],
    tell: Callable[[str], None] = lambda _: None,
) -> Culprit | None:
    """The rewrite after which a result is another one; None where none changes one.

    Results may differ as the config's highest numeric class allows. ``tell`` is told how it goes.
    Raises ``BadRequest`` (``no-sample-runs``).
    """
    search = _Search(rewriting, runner, graph, fetches, samples)
    full, crash = Fuel(), None
    tell("optimizing with all passes")
    try:
        text = search.wrong(rewriting.run(graph, search.fetches, search.feeds, full))
    except Exception as error:  # a pass may raise anything
        crash, text = error, _words(error)
    if not text:
        return None
    total = len(full.trail)
    step, text = _first_wrong(search, total, text, tell, crash is not None)
    if step > total:
        before, _ = search.after(total)
        return _finish(search, full.at, step, total, text, before, None, tell)
    before, _ = search.after(step - 1)
    after, fuel = search.after(step)
    return _finish(search, fuel.trail[-1], step, total, text, before, after, tell)


def _first_wrong(
    search: _Search, total: int, text: str, tell: Callable[[str], None], crashed: bool
) -> tuple[int, str]:
    """The first number of rewrites after which it is wrong; one more than all where it crashes."""
    right, wrong = 0, total + 1 if crashed else total
    while wrong - right > 1:
        middle = (right + wrong) // 2
        tell(f"rewrites {right} to {wrong} of {total}: trying {middle}")
        found = search.wrong(search.after(middle)[0])
        if found:
            wrong, text = middle, found
        else:
            right = middle
    return wrong, text


def _finish(
    search: _Search,
    rewrite: Rewrite,
    step: int,
    total: int,
    text: str,
    before: Graph,
    after: Graph | None,
    tell: Callable[[str], None],
) -> Culprit:
    changes = {} if after is None else graph_changes(before, after)
    tell(f"{rewrite.name} alone, on ever smaller parts of the graph")
    minimal = minimize(
        before,
        _touched(before, rewrite, changes),
        search.rewriting.unit(rewrite),
        search.runner,
        search.ceiling,
        search.fetches,
        search.samples[search.sample],
    )
    return Culprit(rewrite, step, total, after is None, text, changes, minimal, search.runner.runs)


def _touched(graph: Graph, rewrite: Rewrite, changes: dict[str, list[dict[str, str]]]) -> list[str]:
    """Nodes that the rewrite removed or changed; of one in a function, the nodes that call any."""
    if rewrite.where:
        return [n.name for n in graph if n.op in graph.functions or calls_function(n)]
    return [row["node"] for kind in ("removed", "changed") for row in changes.get(kind, ())]


def _words(error: Exception) -> str:
    if isinstance(error, DrystoneError):
        return error.render()
    return f"{type(error).__name__}: {error}"
