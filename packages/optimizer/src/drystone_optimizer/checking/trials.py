"""A plugin's answer tried on made-up inputs before it replaces the graph, in bounded time.

Only graphs without state and effects are run: what the answer is held against must be what every
run gives. An answer is taken untried where the graph before is not one of them, or does not run on
made-up inputs: that is so of a graph on every machine, at any time. One for which there was no time
is refused, as what is taken must not depend on how busy the machine is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.graph import Graph
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.checking.runs import Feeds, draw, inputs_of
from drystone_optimizer.checking.validation import refuse
from drystone_optimizer.core.purity import Effects
from drystone_optimizer.core.rules import Numeric

__all__ = ["SECONDS", "try_both", "without_time"]

SECONDS: Final = 3.0
"""For each of the two graphs, to prepare and to run it; of the processor's, on a busy machine."""
_SAMPLES: Final = 2
_NODES: Final = 20_000
_BUSY: Final = 10
_MOST_OF_IT: Final = 0.8
_LATE: Final = ("deadline-exceeded", "cancelled")


def try_both(
    plugin: str, before: Graph, after: Graph, fetches: Sequence[str], feeds: Sequence[str]
) -> str:
    """Why they were not run, "" where they were.

    Raises ``GraphError`` (``pass-changed-result``) where the results are clearly others: they may
    differ as the class ``approximate`` says, as the plugin was not told of another. Raises
    ``PluginError`` (``plugin-answer-untried``) where there was no time.
    """
    if len(before) > _NODES:
        return f"used untried: the graph has more than {_NODES} nodes"
    if not (_has_no_effects(before) and _has_no_effects(after)):
        return "used untried: the graph has state, effects or random numbers"
    try:
        samples = draw(inputs_of(before, feeds), 0, _SAMPLES, {})
        known = _results(before, fetches, samples)
    except DrystoneError as error:
        if error.code in _LATE:
            without_time(plugin, f"the graph before is not done after {SECONDS:.0f} s")
        return "used untried: the graph does not run on made-up inputs"
    numeric, found = Numeric.APPROXIMATE, list[list[Any]]()
    try:
        found.extend(_results(after, fetches, samples[: len(known)]))
    except DrystoneError as error:
        if error.code in _LATE:
            without_time(plugin, f"the plugin's graph is not done after {SECONDS:.0f} s")
        told = f"the graph does not run any more: {error.what}"
        refuse(plugin, numeric, len(found), told, error)
    for k, (was, now) in enumerate(zip(known, found, strict=False)):
        said = first_difference(fetches, was, now, numeric, to_the_bit=False)
        if said:
            refuse(plugin, numeric, k, said, None)
    return ""


def without_time(plugin: str, found: str) -> NoReturn:
    """Raise ``PluginError`` (``plugin-answer-untried``)."""
    raise PluginError(
        f"there was no time to try the graph of {plugin}",
        check="an unsigned plugin's graph gives the results of the one before on made-up inputs",
        found=found,
        needed=f"each graph done in {SECONDS:.0f} s of the processor's, all trials in twice that",
        remedy="to take its graphs untried, sign its library: drystone plugins sign, or set "
        'OptimizerConfig(verify="off")',
        code="plugin-answer-untried",
    )


def _has_no_effects(graph: Graph) -> bool:
    effects = Effects(graph.functions)
    return all(node.op.startswith("Placeholder") or effects.level(node) == 0 for node in graph)


def _results(graph: Graph, fetches: Sequence[str], samples: Sequence[Feeds]) -> list[list[Any]]:
    """Of each sample. Where the machine is busy with other things there is more time."""
    begin, found = time.process_time(), list[list[Any]]()
    try:
        for values in _of_each(graph, fetches, samples, SECONDS):
            found.append(values)
        return found
    except DrystoneError as error:
        if error.code not in _LATE or time.process_time() - begin > _MOST_OF_IT * SECONDS:
            raise
    return found or list(_of_each(graph, fetches, samples, _BUSY * SECONDS))


def _of_each(
    graph: Graph, fetches: Sequence[str], samples: Sequence[Feeds], seconds: float
) -> Iterator[list[Any]]:
    """Of each sample; after one that took half of the time, of no more."""
    config = SessionConfig(optimizer="off", deterministic=True, deadline=seconds)
    with Session(graph, config) as session:
        for sample in samples:
            begin = time.monotonic()
            yield list(session.run(list(fetches), dict(sample)))
            if time.monotonic() - begin > seconds / 2:
                return
