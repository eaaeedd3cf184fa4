"""``drystone passes``: the registered passes, in the order in which a session runs them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import click

from drystone_base.cli._output import common_options, print_json, print_table, wants_json

__all__ = ["passes"]

EPILOG = """\b
Examples:
  drystone passes
  drystone passes --grouping PRE_PLACEMENT --json
"""
GROUPINGS = ("PRE_PLACEMENT", "POST_PLACEMENT", "POST_REWRITE_FOR_EXEC", "POST_PARTITIONING")


@click.command(epilog=EPILOG)
@click.option("--grouping", type=click.Choice(GROUPINGS), help="Only the passes of one grouping.")
@common_options
def passes(grouping: str | None) -> None:
    """List the passes over graphs, by grouping and phase, in the order in which they run.

    A pass that does not run by default is switched on by SessionConfig(passes={NAME: True}).
    $DRYSTONE_DUMP_PASSES names a folder for the graph before and after each pass.
    """
    from drystone_base.passes import Grouping, Pass, registered

    found = registered(None if grouping is None else Grouping(grouping))
    if wants_json():
        names = [f.name for f in fields(Pass) if f.name not in ("run", "ops")]
        print_json([_as_json(p, names) for p in found])
        return
    rows = [
        (p.grouping, p.phase, p.name, "yes" if p.is_default else "no", p.origin, p.summary)
        for p in found
    ]
    columns = ("grouping", "phase", "pass", "default", "from", "what it does")
    print_table("" if rows else "no passes are registered", columns, rows, right=("phase",))


def _as_json(found: Any, names: list[str]) -> dict[str, Any]:
    described = {name: getattr(found, name) for name in names}
    return described | {"ops": sorted(found.ops), "summary": found.summary}
