"""A graph that passes go over: the main one, or the body of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from drystone_base.graph import Body, Function, Graph
from drystone_base.graph.functions import Bodies
from drystone_base.graph.validate import Signatures
from drystone_optimizer.core.contradictions import fed_shapes
from drystone_optimizer.core.loop_arguments import loop_arguments
from drystone_optimizer.pipeline.functions import Place, body_ends, with_body

if TYPE_CHECKING:
    from drystone_base.inference.inference import Shapes

__all__ = ["BodyItems", "Item"]


class Item(NamedTuple):
    """A graph to optimize: the main one, or the body of a function."""

    graph: Graph
    roots: frozenset[str]
    fetches: tuple[str, ...]
    feeds: tuple[str, ...]
    where: str = ""
    stays: frozenset[str] = frozenset()
    whole: Callable[[Graph], Graph] = lambda graph: graph
    """The main graph with such a graph in its place: what can be run."""
    arguments: Callable[[], Mapping[str, tuple[int, ...]]] | None = None
    rebuild: Callable[[], Graph] | None = None
    """Makes the graph again, which may be edited in its place."""
    main: Graph | None = None
    """The main graph, where this is the body of a function."""

    @property
    def place(self) -> Place:
        """Where the graph belongs."""
        return Place(self.where, self.whole, self.main)

    def called(self) -> str:
        """What texts call it."""
        return f"function {self.where!r}" if self.where else "the graph"

    def again(self) -> Item:
        """The item as it was, where its graph may have been edited."""
        return self if self.rebuild is None else self._replace(graph=self.rebuild())


class BodyItems:
    """Items of the bodies of the functions of a main graph, which is not edited any more."""

    def __init__(
        self, main: Graph, feeds: tuple[str, ...], signatures: Signatures, bodies: Bodies
    ) -> None:
        self._main, self._feeds, self._signatures, self._bodies = main, feeds, signatures, bodies
        self._shapes: Shapes | None = None
        self._written: dict[Function, bytes] = {}

    def of(self, function: Function, body: Body) -> Item:
        """That of one body."""
        ends, main = body_ends(body), self._main
        results = tuple(node.name for node in body.results)
        args = tuple(node.name for node in body.args)

        def whole(graph: Graph) -> Graph:
            return main if graph is body.graph else with_body(main, graph, body, function)

        def arguments() -> Mapping[str, tuple[int, ...]]:
            return loop_arguments(main, self._main_shapes(), function, body, self._written)

        named = function.name
        return Item(body.graph, ends, results, args, named, ends, whole, arguments, main=main)

    def _main_shapes(self) -> Shapes:
        if self._shapes is None:
            from drystone_base.inference.inference import Shapes

            fed = fed_shapes(self._main, self._feeds)
            self._shapes = Shapes(self._main, fed, self._signatures, self._bodies)
        return self._shapes
