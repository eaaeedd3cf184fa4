"""A plugin for pytest that notes what tests show of each rewrite of the optimizer.

``pytest -p ci.scripts.stage_recorder packages/optimizer/tests/unit/passes``, as
`ci.scripts.pass_stages` does, writes to the file that ``$DRYSTONE_STAGES`` names, by pass and
rewrite, how often it was

- ``fired``: done, where a test looks at what is left;
- ``at_rest``: done, and what is left was then optimized again, which changed nothing;
- ``equal``: done, and the values before and after were held against each other;
- ``declined``: not done to a node of its ops, where the graph had to come back as it was.
"""

from __future__ import annotations

import json
import os
import pkgutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

HELPERS = Path(__file__).resolve().parents[2] / "packages" / "optimizer" / "tests"
KINDS = ("fired", "at_rest", "equal", "declined")

_seen: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
_made: dict[int, tuple[Any, set[str]]] = {}
"""Graphs that passes left, by identity, with what was done to them; they are kept alive."""
_looked: set[str] = set()


def rules() -> dict[str, list[Any]]:
    """The rules of each pass, by the name of its module."""
    found: dict[str, list[Any]] = {}
    for name, _, _, held in _held():
        mine = found.setdefault(name, [])
        mine += [one for one in held if one not in mine]
    return found


def _held() -> Iterator[tuple[str, Any, str, tuple[Any, ...]]]:
    """Each pass, module of it, and name in that for a rule or several."""
    from drystone_optimizer import passes
    from drystone_optimizer.core.rules import Rule

    for info in pkgutil.walk_packages(passes.__path__, f"{passes.__name__}."):
        module = import_module(info.name)
        for name, value in list(vars(module).items()):
            several = (value,) if isinstance(value, Rule) else value
            held = several if isinstance(several, tuple) else ()
            if held and all(isinstance(one, Rule) for one in held):
                yield info.name.split(".")[2], module, name, held


def pytest_configure() -> None:
    """Put the recorders in place, before tests import what they wrap."""
    sys.path.insert(0, str(HELPERS))
    import pass_checks

    from drystone_optimizer.core import rules as core_rules

    held_rules = list(_held())
    # A node that reads nothing of a rule's is not shown to the rule: that is declining, too.
    every = frozenset(op for *_, held in held_rules for rule in held for op in rule.reads)
    chosen: Any = vars(core_rules)["_Chosen"]
    chosen.of = lambda self, node: self[node.op, every]
    for name, module, attribute, held in held_rules:
        noted = [one._replace(match=_noting(one.match, f"{name}: {one.name}")) for one in held]
        is_one = len(held) == 1 and getattr(module, attribute) is held[0]
        setattr(module, attribute, noted[0] if is_one else tuple(noted))
    import drystone_optimizer

    helpers: Any = pass_checks
    top: Any = drystone_optimizer
    helpers.optimize_with_report = _recording(helpers.optimize_with_report)
    top.optimize_with_report = helpers.optimize_with_report
    for helper in ("assert_same_values", "assert_same_natively"):
        setattr(helpers, helper, _comparing(getattr(helpers, helper)))


def _noting(match: Callable[..., Any], key: str) -> Callable[..., Any]:
    def noted(ctx: Any, node: Any) -> Any:
        found = match(ctx, node)
        if found is None:
            _looked.add(key)
        return found

    return noted


def _recording(optimize: Callable[..., Any]) -> Callable[..., Any]:
    def recorded(graph: Any, *args: Any, **more: Any) -> Any:
        _looked.clear()
        after, report = optimize(graph, *args, **more)
        done = {f"{step.name}: {rule}" for step in report.steps for rule in step.rewrites}
        _seen["fired"].update(done)
        if after is graph:
            _seen["declined"].update(_looked)
            _seen["declined"].update(f"{step.name}: *" for step in report.steps)
            _seen["at_rest"].update(_made.get(id(graph), (None, set()))[1])
        else:
            _made[id(after)] = (after, done)
        return after, report

    return recorded


def _comparing(compare: Callable[..., None]) -> Callable[..., None]:
    def compared(before: Any, after: Any, *args: Any, **more: Any) -> None:
        compare(before, after, *args, **more)
        _seen["equal"].update(_made.get(id(after), (None, set()))[1])

    return compared


def stage(key: str) -> str:
    """The rewrite of which a count is: of some passes it names the op as well."""
    name, _, rewrite = key.partition(": ")
    if name == "common_subgraph_elimination" and rewrite.startswith("duplicate-"):
        rewrite = "duplicate-nodes"
    if name == "scoped_allocator_optimization" and rewrite.startswith("merge-"):
        rewrite = "merge-ops"
    return f"{name}: {rewrite}"


def pytest_unconfigure() -> None:
    """Write what was seen; what is no rule was declined where its pass found nothing."""
    path = os.environ.get("DRYSTONE_STAGES")
    if not path:
        return
    ruled = {f"{name}: {rule.name}" for name, held in rules().items() for rule in held}
    table: dict[str, Counter[str]] = {key: Counter() for key in ruled}
    for kind, held in _seen.items():
        for key, count in held.items():
            if not key.endswith(": *"):
                table.setdefault(stage(key), Counter())[kind] += count
    for key in table.keys() - ruled:
        table[key]["declined"] = _seen["declined"][f"{key.partition(': ')[0]}: *"]
    told = {key: {kind: table[key][kind] for kind in KINDS} for key in sorted(table)}
    Path(path).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
