"""``drystone diff``: how two models, or two files of arrays, differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from drystone_base.cli._inputs import Asked, asks
from drystone_base.cli._output import (
    common_options,
    note,
    print_json,
    print_table,
    status,
    wants_json,
)
from drystone_base.cli._paths import AnyPath

if TYPE_CHECKING:
    from drystone_base.api.model import Model
    from drystone_base.cli._values import Array

__all__ = ["diff"]

EPILOG = """\b
Examples:
  drystone diff before.pb after.pb
  drystone diff before.pb after.pb --inputs in.npz --tolerance 1e-5
  drystone diff expected.npz got.npz
"""


@click.command(epilog=EPILOG)
@click.argument("first", type=AnyPath())
@click.argument("second", type=AnyPath())
@asks(fetches=False)
@click.option("--tolerance", default=1e-4, show_default=True, type=click.FloatRange(min=0),
              help="Largest |a-b| / (|a| + std a) of an output that counts as equal.")  # fmt: skip
@click.option("--no-run", is_flag=True, help="Compare the graphs only.")
@click.option("--limit", default=20, show_default=True, help="Rows to show of each kind.")
@common_options
def diff(
    first: Path,
    second: Path,
    asked: Asked,
    tolerance: float,
    no_run: bool,
    limit: int,
) -> None:
    """Compare two models, or two .npz files.

    Exits with 1 when they differ. Of models, the graphs are compared node by node, and the outputs
    of a run on the same inputs. Models that give the same outputs within the tolerance count as
    equal, whatever their nodes are.
    """
    from drystone_base.cli import _compare

    if first.suffix == second.suffix == ".npz":
        from drystone_base.cli._values import read_npz

        rows = _compare.outputs(read_npz(first), read_npz(second))
        report: dict[str, Any] = {"outputs": rows}
    else:
        a, b = (asked.load(m) for m in (first, second))
        with status("comparing the graphs"):
            report = {"graph": _compare.graphs(a.graph, b.graph)}
        if not no_run:
            report["outputs"] = _compare.outputs(*_run_both(a, b, asked))
    differ = _differ(report, tolerance)
    if wants_json():
        print_json(report | {"differ": differ, "tolerance": tolerance})
    else:
        _print(report, tolerance, limit)
        note("they differ" if differ else "no difference that counts")
    if differ:
        raise click.exceptions.Exit(1)


def _run_both(a: Model, b: Model, asked: Asked) -> tuple[dict[str, Array], dict[str, Array]]:
    """Outputs of both: on the given inputs, or on inputs made up for the first."""
    wanted = asked.request(a.loaded)
    other = asked.request(b.loaded, wanted.made_up)
    with status("running both"):
        return wanted.run(a), other.run(b)


def _differ(report: dict[str, Any], tolerance: float) -> bool:
    if "outputs" not in report:
        return any(report["graph"].values())
    return any(row["difference"] > tolerance for row in report["outputs"])


def _print(report: dict[str, Any], tolerance: float, limit: int) -> None:
    graph = report.get("graph", {})
    for kind in ("removed", "added", "changed"):
        rows = graph.get(kind, [])
        if rows:
            left = len(rows) - limit
            title = f"{len(rows)} nodes {kind}" + (f", {left} not shown" if left > 0 else "")
            print_table(title, ("node", "what"), [(r["node"], r["what"]) for r in rows[:limit]])
    if graph and not any(graph.values()):
        note("the graphs are the same, node by node")
    if "outputs" in report:
        rows = [
            (r["name"], r["what"], f"{r['absolute']:.3g}", f"{r['difference']:.3g}",
             "differs" if r["difference"] > tolerance else "")
            for r in report["outputs"]
        ]  # fmt: skip
        columns = ("output", "", "largest |a-b|", "relative", f"beyond {tolerance:g}")
        print_table("outputs", columns, rows, right=("largest |a-b|", "relative"))
