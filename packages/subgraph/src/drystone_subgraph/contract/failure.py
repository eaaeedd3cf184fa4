"""Failures of backends and gates: what a session tells about in a warning, and goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from drystone_base.core.errors import DrystoneError, PluginError
from drystone_base.core.payloads import Value
from drystone_base.core.printable import plain_lines
from drystone_base.core.time_limits import OutOfTime

if TYPE_CHECKING:
    from drystone_subgraph.contract.subgraph import Subgraph

__all__ = ["SubgraphWarning", "blamed", "details_of", "judged", "shown", "warn_of"]


class SubgraphWarning(UserWarning):
    """A backend failed; the graph, or a region of it, went on without it.

    ``details``: what the failure is about, by key, as ``DrystoneError.details`` has it: payloads
    that the backend attached to its status are among them.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.details: Mapping[str, Value] = {}


def warn_of(text: str, details: Mapping[str, Value] | None = None, *, stacklevel: int = 1) -> None:
    """Warn of a backend that failed; ``details`` are the warning's."""
    warning = SubgraphWarning(plain_lines(text))
    warning.details = dict(details or {})
    warnings.warn(warning, stacklevel=stacklevel + 1)


def details_of(error: BaseException) -> Mapping[str, Value]:
    """The details of an error of ours; none of another."""
    return error.details if isinstance(error, DrystoneError) else {}


@contextmanager
def blamed(backend: str, where: str, *passed: type[Exception]) -> Iterator[None]:
    """What is raised in the block is the backend's failure, but for the kinds in ``passed``.

    ``where``: the function that is partitioned, or "". Raises ``PluginError``
    (``subgraph-backend-failed``).
    """
    try:
        yield
    except OutOfTime:
        raise
    except passed:
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, PluginError) and error.plugin == backend:
            raise  # it says so itself
        graph = f"function {where!r}" if where else "the graph"
        raise PluginError(
            f"subgraph backend {backend!r} failed on {graph}",
            check="selectors and creators of a backend must not raise",
            found=shown(error),
            needed="True or False from a selector, an operator or None from a creator",
            remedy=f"leave {backend!r} out of the backends, and report this to its author",
            plugin=backend,
            code="subgraph-backend-failed",
            inner=error,
        ) from error


def judged(gate: Callable[[Subgraph], str], backend: str, region: Subgraph) -> str:
    """Why the gate of the user finds a region not worth an operator, or "".

    Raises ``PluginError`` (``subgraph-gate-failed``) where it raises, or says nothing of the kind.
    """
    try:
        text = gate(region)
        if text and not isinstance(text, str):
            raise TypeError(f"it gave {text!r}")
    except Exception as error:
        raise PluginError(
            f"the gate failed on region {region.name!r} of subgraph backend {backend!r}",
            check="PartitionConfig.gate gives a text, and does not raise",
            found=shown(error),
            needed="why the region is not worth an operator, or an empty text",
            remedy="mend the function that was given as gate, or leave it out",
            plugin=backend,
            code="subgraph-gate-failed",
            inner=error,
        ) from error
    return text or ""


def shown(error: BaseException) -> str:
    """An exception in short; of ours with what was found, as its text may be cut short."""
    if isinstance(error, DrystoneError):
        found = f": {error.found}" if error.found else ""
        return f"{type(error).__name__}: {error.what} [{error.code}]{found}"
    return f"{type(error).__name__}: {error}"
