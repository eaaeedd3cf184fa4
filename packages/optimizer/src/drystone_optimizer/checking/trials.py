"""A plugin's answer tried on made-up inputs before it replaces the graph, in bounded time.

Only graphs without state and effects are run: what the answer is held against must be what every
run gives. Nothing is said of a graph that does not run on made-up inputs, or not in time; but where
the graph before took a small part of that time, the answer is refused.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Final

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.graph import Graph
from drystone_optimizer.checking.comparison import first_difference
from drystone_optimizer.checking.runs import Feeds, draw, inputs_of
from drystone_optimizer.checking.validation import refuse
from drystone_optimizer.core.purity import Effects
from drystone_optimizer.core.rules import Numeric

__all__ = ["SECONDS", "try_both"]

SECONDS: Final = 3.0
"""For each of the two graphs, to prepare and to run it; of the processor's, on a busy machine."""
_SAMPLES: Final = 2
_NODES: Final = 20_000
_SLOWER: Final = 20
_BUSY: Final = 10
_LATE: Final = ("deadline-exceeded", "cancelled")


def try_both(
    plugin: str, before: Graph, after: Graph, fetches: Sequence[str], feeds: Sequence[str]
) -> None:
    """Raise ``GraphError`` (``pass-changed-result``) where the results are clearly others.

    They may differ as the class ``approximate`` says: the plugin was not told of another.
    """
    if len(before) > _NODES or not (_has_no_effects(before) and _has_no_effects(after)):
        return
    try:
        samples = draw(inputs_of(before, feeds), 0, _SAMPLES, {})
        begin = time.process_time()
        known = _results(before, fetches, samples)
        took = time.process_time() - begin
    except DrystoneError:
        return
    numeric, found = Numeric.APPROXIMATE, list[list[Any]]()
    try:
        found.extend(_results(after, fetches, samples[: len(known)]))
    except DrystoneError as error:
        if error.code not in _LATE:
            told = f"the graph does not run any more: {error.what}"
            refuse(plugin, numeric, len(found), told, error)
        elif took < SECONDS / _SLOWER:
            told = f"it is not done after {SECONDS:.0f} s, the graph before took {took:.2g} s"
            refuse(plugin, numeric, len(found), told, error)
    for k, (was, now) in enumerate(zip(known, found, strict=False)):
        said = first_difference(fetches, was, now, numeric, to_the_bit=False)
        if said:
            refuse(plugin, numeric, k, said, None)


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
        if error.code not in _LATE or time.process_time() - begin > SECONDS / 4:
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
