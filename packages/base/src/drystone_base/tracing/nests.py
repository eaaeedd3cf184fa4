"""Lists, tuples and dicts inside one another, and the leaves that they hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from drystone_base.core.errors import BadRequest

__all__ = ["described_nest", "leaves", "mapped"]

_DEEPEST: Final = 64


def leaves(nest: Any, path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Each leaf with its path: ``x``, ``x_0``, ``x_key``; keys in their order.

    Raises ``BadRequest`` (``bad-argument``) for what is nested in itself, or too deep.
    """
    if depth > _DEEPEST:
        raise BadRequest(
            "a nest is too deep",
            check="lists, tuples and dicts must not be in themselves",
            found=f"more than {_DEEPEST} inside one another, at {path[:60]!r}",
            needed=f"{_DEEPEST} at most",
            remedy="give the tensors in one list or dict",
            code="bad-argument",
        )
    if isinstance(nest, Mapping):
        for key, inner in nest.items():
            yield from leaves(inner, f"{path}_{key}" if path else str(key), depth + 1)
    elif isinstance(nest, list | tuple):
        for k, inner in enumerate(nest):
            yield from leaves(inner, f"{path}_{k}" if path else str(k), depth + 1)
    else:
        yield path, nest


def mapped(nest: Any, change: Callable[[Any], Any]) -> Any:
    """The same nest with another leaf in place of each."""
    if isinstance(nest, Mapping):
        return {key: mapped(inner, change) for key, inner in nest.items()}
    if isinstance(nest, tuple) and hasattr(nest, "_fields"):
        return type(nest)(*(mapped(inner, change) for inner in nest))
    if isinstance(nest, list | tuple):
        return type(nest)(mapped(inner, change) for inner in nest)
    return change(nest)


def described_nest(nest: Any) -> str:
    """The structure as text, with a dot for each leaf."""
    if isinstance(nest, Mapping):
        return "{" + ", ".join(f"{k!r}: {described_nest(v)}" for k, v in nest.items()) + "}"
    if isinstance(nest, list | tuple):
        inner = ", ".join(map(described_nest, nest))
        return f"[{inner}]" if isinstance(nest, list) else f"({inner})"
    return "."
