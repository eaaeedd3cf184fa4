"""A loaded model in a few lines: as text for a terminal, as HTML for a notebook."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import BadRequest
from drystone_base.core.printable import described, plain
from drystone_base.core.shown import shape_text, size_text, table

if TYPE_CHECKING:
    from drystone_base.loaders import LoadedModel, TensorSpec
    from drystone_base.state.variables import Variable

__all__ = ["html", "lines", "write"]

_COLUMNS: Final = ("signature", "", "name", "dtype", "shape", "tensor")


def lines(loaded: LoadedModel, variables: Mapping[str, Variable]) -> Iterator[str]:
    """What ``Model.summary`` prints: facts, then the signatures as a table."""
    yield from (f"{name:10} {value}" for name, value in _facts(loaded, variables))
    yield ""
    yield from _aligned([_COLUMNS, *_signatures(loaded)])


def write(
    take: Callable[[str], Any], loaded: LoadedModel, variables: Mapping[str, Variable]
) -> None:
    """Hand each line to a function; raises ``BadRequest`` (``bad-argument``) if it takes none."""
    for line in lines(loaded, variables):
        try:
            take(line)
        except (TypeError, ValueError) as error:
            raise BadRequest(
                "the summary cannot be handed on",
                check="print_fn must take a line of text",
                found=described(take, 100),
                needed="a function such as print",
                remedy="leave print_fn out, or give the append of a list",
                code="bad-argument",
                inner=error,
            ) from error


def html(loaded: LoadedModel) -> str:
    """The model for a notebook: what it is, and its signatures as a table."""
    return table(f"{loaded.kind} {loaded.place}", _COLUMNS, list(_signatures(loaded)))


def _facts(loaded: LoadedModel, variables: Mapping[str, Variable]) -> Iterator[tuple[str, Any]]:
    graph = loaded.source.graph()
    tags = f", tags {', '.join(map(plain, loaded.tags))}" if loaded.tags else ""
    yield "model", plain(str(loaded.place))
    yield "kind", loaded.kind + tags
    yield "size", size_text(loaded.size)
    yield "graph", f"{len(graph)} nodes, {len(graph.functions)} functions"
    yield "variables", _counted(variables.values())


def _counted(variables: Iterable[Variable]) -> str:
    held = list(variables)
    if not held:
        return "none"
    shapes = [v.shape if v.value is None else v.value.shape for v in held]
    full = [(math.prod(s), v) for s, v in zip(shapes, held, strict=True) if s and min(s) >= 0]
    numbers = sum(count for count, _ in full) + sum(s == () for s in shapes)
    return f"{len(held)}, {numbers:,} numbers"


def _signatures(loaded: LoadedModel) -> Iterator[tuple[str, ...]]:
    for name, signature in loaded.signatures.items():
        first = plain(name)
        for role, specs in (("in", signature.inputs), ("out", signature.outputs)):
            for key, spec in specs.items():
                shown = f"{role}, optional" if spec.optional else role
                yield (first, shown, plain(key), *_spec(spec))
                first = ""


def _spec(spec: TensorSpec) -> tuple[str, str, str]:
    return spec.dtype.label, shape_text(spec.shape), plain(spec.tensor)


def _aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        padded = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(padded).rstrip()
