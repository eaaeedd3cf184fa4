"""The registry of passes: grouping, then phase, then the order of registration."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.environment import DUMP_PASSES
from drystone_base.core.errors import DrystoneError, GraphError, PluginError
from drystone_base.core.installed import declared, points
from drystone_base.core.printable import warn
from drystone_base.core.registered import PASSES, Registered
from drystone_base.core.time_limits import OutOfTime, stage_ends, until
from drystone_base.graph.validate import validate
from drystone_base.passes._report import GroupingReport, PassRun
from drystone_base.passes._types import ALWAYS, Grouping, Pass, PassOptions, PassWarning, Run

if TYPE_CHECKING:
    from drystone_base.graph import Graph

__all__ = ["PassRegistry", "graph_pass", "registered", "registry", "run_grouping"]

GROUP: Final = "drystone.passes"
_OWN: Final = "drystone-base"
Switches = Mapping[str, bool | Mapping[str, Any]]
"""By pass: whether to run it, or the settings to run it with."""


class PassRegistry:
    """Passes by grouping and phase. Safe to use from several threads.

    ``changes``: where passes are noted that are not drystone-base's own.
    """

    def __init__(self, changes: Registered | None = None) -> None:
        self._changes = Registered() if changes is None else changes
        self._passes: list[Pass] = []
        self._lock = threading.Lock()

    def register(self, added: Pass) -> None:
        """Add a pass; raises ``PluginError`` (``already-registered``) where its name is taken."""
        with self._lock:
            present = next((p for p in self._passes if p.name == added.name), None)
            if present is None:
                self._passes.append(added)
                if added.origin != _OWN:
                    self._changes.note(added.name)
                return
        raise PluginError(
            f"pass {added.name!r} cannot be registered by {added.origin}",
            check="the name of a pass must be new",
            found=f"it is registered by {present.origin}",
            needed="another name, or only one of the two packages",
            remedy="uninstall one of them, or rename the pass",
            code="already-registered",
            status="ALREADY_EXISTS",
        )

    def remove(self, name: str) -> None:
        """Forget a pass if it is there."""
        with self._lock:
            removed = [p for p in self._passes if p.name == name]
            self._passes = [p for p in self._passes if p.name != name]
            for one in removed:
                (self._changes.note if one.origin == _OWN else self._changes.forget)(name)

    def passes(self, grouping: Grouping | None = None) -> list[Pass]:
        """The passes of one grouping, or of all, in the order in which they run."""
        order = list(Grouping)
        with self._lock:
            found = [p for p in self._passes if grouping is None or p.grouping is grouping]
        return sorted(found, key=lambda p: (order.index(p.grouping), p.phase))

    def run(
        self,
        grouping: Grouping,
        options: PassOptions,
        switches: Switches | None = None,
        *,
        dump: Path | None = None,
        check: bool = False,
    ) -> GroupingReport:
        """Run a grouping: phases ascending, in a phase by registration; the first failure ends it.

        ``switches``: which passes to run beside or without the default ones. ``dump``: a folder
        for the graphs before and after each pass, as text. ``check``: validate the graphs after
        each pass. A pass that takes longer than a minute and 1 ms for each node, or than a quarter
        of what is left of the run, is undone with a ``PassWarning``. Raises ``GraphError``
        (``pass-failed``) that names the pass.
        """
        report = GroupingReport(grouping)
        for step, found in enumerate(self.passes(grouping)):
            switch = (switches or {}).get(found.name, found.is_default)
            made = PassRun(found.name, found.phase)
            report.passes.append(made)
            if switch is False:
                made.skipped = "switched off" if found.is_default else "not switched on"
                continue
            if not found.may_apply(_ops(options.graphs())):
                made.skipped = "the graph has none of its ops"
                continue
            options.settings = switch if isinstance(switch, Mapping) else {}
            folder = None if dump is None else dump / f"{grouping}-{step:02}-{found.name}"
            _apply(found, options, made, folder, check)
        return report


def _ops(graphs: Iterable[Graph]) -> frozenset[str]:
    return frozenset(node.op for graph in graphs for node in graph)


def _apply(
    found: Pass, options: PassOptions, made: PassRun, folder: Path | None, check: bool
) -> None:
    names = set(options.partitions or ())
    made.nodes_before = sum(map(len, options.graphs()))
    _dump(options, folder, "before")
    start = time.monotonic()
    before = [graph.copy() for graph in options.graphs()]
    try:
        with until(stage_ends(made.nodes_before)):
            answer = found.run(options)
        if set(options.partitions or ()) != names:
            raise ValueError("a partition was added or removed")
        _check_transfers(options, before)
        if check:
            for graph in options.graphs():
                validate(graph)
    except OutOfTime as error:
        made.skipped, answer = "it was not done when its time was over", False
        made.skipped += f": {error}" if str(error) else ""
        _undo(found, options, before, made.skipped)
    except Exception as error:
        raise _failed(found, error) from error
    invalid = None if answer is False else _made_invalid(options, before)
    if invalid is not None:
        made.skipped, answer = "it left what ops do not allow", False
        _undo(found, options, before, f"{made.skipped}: {invalid.render()}")
    made.seconds = time.monotonic() - start
    made.nodes_after = sum(map(len, options.graphs()))
    made.changed = bool(answer) if isinstance(answer, bool) else True
    _dump(options, folder, "after")


def _check_transfers(options: PassOptions, before: Sequence[Graph]) -> None:
    """Refuse graphs of devices of which one waits for what no other sends any more."""
    if options.partitions is None:
        return
    left, right = _ends(options.graphs())
    was_left, was_right = _ends(before)
    if left != right and was_left == was_right:
        odd = sorted(map(str, left ^ right))
        raise ValueError(f"a value is sent or received, but not both: {odd[0]}")


def _ends(graphs: Iterable[Graph]) -> tuple[set[Any], set[Any]]:
    """The names under which values are sent, and under which they are received."""
    sent, received = set[Any](), set[Any]()
    for graph in graphs:
        for node in graph:
            if node.op in ("_Send", "_Recv"):
                (sent if node.op == "_Send" else received).add(node.attr("tensor_name"))
    return sent, received


def _made_invalid(options: PassOptions, before: Sequence[Graph]) -> GraphError | None:
    """What is wrong with a graph that was right before; None where nothing is."""
    for graph, was in zip(options.graphs(), before, strict=True):
        try:
            validate(graph)
        except GraphError as error:
            try:
                validate(was)
            except GraphError:
                continue  # which is told when it is run
            return error
    return None


def _undo(found: Pass, options: PassOptions, before: Sequence[Graph], why: str) -> None:
    """Give the graphs what they had before a pass that does not count, and say so."""
    for graph, kept in zip(options.graphs(), before, strict=True):
        graph.become(kept)
    warn(
        f"pass {found.name!r} of {found.origin} does not count, and the graph is left unchanged: "
        f"{why}; SessionConfig(deadline=...) says how long a run may take, "
        f'SessionConfig(passes={{"{found.name}": False}}) leaves the pass out',
        PassWarning,
        stacklevel=2,
    )


def _dump(options: PassOptions, folder: Path | None, when: str) -> None:
    if folder is None:
        return
    from drystone_base.graph.pbtxt import to_text

    folder.mkdir(parents=True, exist_ok=True)
    for k, graph in enumerate(options.graphs()):
        (folder / f"{when}-{k}.pbtxt").write_text(to_text(graph), "utf-8")


def _failed(found: Pass, error: Exception) -> GraphError:
    return GraphError(
        f"pass {found.name!r} of {found.origin} failed",
        check=f"a pass of {found.grouping}, phase {found.phase}, must leave a graph that can run",
        found=error.what
        if isinstance(error, DrystoneError)
        else f"{type(error).__name__}: {error}",
        needed="success",
        remedy=f'SessionConfig(passes={{"{found.name}": False}}) leaves the pass out',
        code="pass-failed",
        status=error.status if isinstance(error, DrystoneError) else "INTERNAL",
        inner=error,
    )


_REGISTRY: Final = PassRegistry(PASSES)
_loading: str | None = None


@cache
def registry() -> PassRegistry:
    """The registry of the process, with the built-in passes and those of installed packages."""
    global _loading
    from drystone_base.passes._builtin import register_all

    register_all()
    for point in points(GROUP) if declared(GROUP) else []:
        _loading = point.package
        try:
            point.load()
        except Exception as error:
            warn(
                f"pass {point.name!r} of package {point.package} ({point.value}) cannot be used: "
                f"{type(error).__name__}: {error}",
                stacklevel=2,
            )
        finally:
            _loading = None
    return _REGISTRY


def graph_pass(
    grouping: Grouping,
    phase: int,
    *,
    name: str | None = None,
    ops: Iterable[str] = ALWAYS,
    is_default: bool = True,
) -> Callable[[Run], Run]:
    """Register the decorated function as a pass; its name is the function's unless one is given.

    Raises ``PluginError`` (``already-registered``).
    """

    def register(run: Run) -> Run:
        stated = name or str(getattr(run, "__name__", ""))
        own = str(getattr(run, "__module__", "")).startswith("drystone_base.")
        if not own and _loading is None:
            registry()  # ours come first
        origin = _loading or (_OWN if own else "the program")
        _REGISTRY.register(
            Pass(stated, Grouping(grouping), phase, run, frozenset(ops), is_default, origin)
        )
        return run

    return register


def registered(grouping: Grouping | None = None) -> list[Pass]:
    """The passes of the process, in the order in which they run."""
    return registry().passes(grouping)


def run_grouping(
    grouping: Grouping, options: PassOptions, switches: Switches | None = None
) -> GroupingReport:
    """Run a grouping of the process's passes; see :meth:`PassRegistry.run`.

    ``$DRYSTONE_DUMP_PASSES`` names a folder for the graphs before and after each pass.
    """
    folder = DUMP_PASSES.value()
    dump = Path(folder) if folder else None
    return registry().run(grouping, options, switches, dump=dump)
