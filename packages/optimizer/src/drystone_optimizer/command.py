"""``drystone optimize``: a graph that does the same with less, as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from drystone_base.cli.kit import (
    common_options,
    duration,
    note,
    print_json,
    print_table,
    wants_json,
)
from drystone_base.errors import BadRequest, near_matches
from drystone_base.graph import Graph
from drystone_base.loaders import load_model, write_graph
from drystone_optimizer.config import NUMERIC, OWN, PASSES, OptimizerConfig
from drystone_optimizer.passes import names_of_passes
from drystone_optimizer.pipeline import optimize_with_report
from drystone_optimizer.report import Report

__all__ = ["optimize"]

EPILOG = """\b
Examples:
  drystone optimize model.pb smaller.pb
  drystone optimize model.pb smaller.pb --fetch Softmax:0 --feed image:0 --report
  drystone optimize saved_model/ graph.pbtxt --passes constant_folding --json
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("output", metavar="OUT", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--signature", metavar="NAME",
              help="Whose inputs and outputs to keep; default serving_default.")  # fmt: skip
@click.option("--fetch", "fetches", multiple=True, metavar="TENSOR",
              help="A tensor instead of the signature's outputs; may be repeated.")  # fmt: skip
@click.option("--feed", "feeds", multiple=True, metavar="TENSOR",
              help="A tensor instead of the signature's inputs; may be repeated.")  # fmt: skip
@click.option("--passes", metavar="NAMES", help="Only these passes, with commas between.")
@click.option("--numeric", type=click.Choice(NUMERIC), default="reassociates", show_default=True,
              help="The most that rewrites may change numbers.")  # fmt: skip
@click.option("--iterations", type=click.IntRange(1), default=2, show_default=True,
              help="How often all passes run in turn, at most.")  # fmt: skip
@click.option("--report", is_flag=True, help="Show what each pass did.")
@common_options
def optimize(
    model: Path,
    output: Path,
    signature: str | None,
    fetches: tuple[str, ...],
    feeds: tuple[str, ...],
    passes: str | None,
    numeric: str,
    iterations: int,
    report: bool,
) -> None:
    """Optimize the graph of MODEL for its signature and write it to OUT (.pb or .pbtxt).

    Values of variables stay where they are: OUT holds the graph alone.
    """
    loaded = load_model(model)
    if not fetches:
        chosen = _signature(loaded.signatures, signature)
        fetches = tuple(spec.tensor for spec in chosen.outputs.values())
        feeds = feeds or tuple(spec.tensor for spec in chosen.inputs.values())
    config = OptimizerConfig.from_options(
        {"numeric": numeric, "meta_optimizer_iterations": iterations} | _toggles(passes)
    )
    after, found = optimize_with_report(loaded.graph, fetches, feeds, config)
    write_graph(after, output)
    _show(loaded.graph, after, found, output, report)


def _signature(signatures: Any, name: str | None) -> Any:
    chosen = name or next((n for n in ("serving_default", "default") if n in signatures), None)
    if chosen is None and len(signatures) == 1:
        chosen = next(iter(signatures))
    if chosen in signatures:
        return signatures[chosen]
    raise BadRequest(
        f"the model has no signature {chosen!r}"
        if chosen
        else "the model has no default signature",
        check="what is kept is the inputs and outputs of a signature",
        found=", ".join(signatures) or "no signatures",
        needed="the name of a signature, or --fetch and --feed",
        remedy="drystone optimize MODEL OUT --fetch TENSOR --feed TENSOR",
        code="unknown-signature" if chosen else "no-default-signature",
    )


def _toggles(passes: str | None) -> dict[str, Any]:
    """The toggles that leave on just the passes of that list."""
    if passes is None:
        return {}
    known = list(names_of_passes())
    wanted = [name.strip() for name in passes.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            near = near_matches(name, known)
            raise BadRequest(
                f"there is no pass {name!r}",
                check="--passes must name built-in passes",
                found=name,
                needed=", ".join(known),
                remedy=f"did you mean {', '.join(near)}?" if near else "leave it out",
                code="unknown-optimizer-option",
            )
    found: dict[str, Any] = dict.fromkeys((*PASSES, *OWN), "off")
    found |= {name: "on" for name in wanted if name in found}
    if "common_subgraph_elimination" in wanted and "arithmetic_optimization" not in wanted:
        raise BadRequest(
            "common_subgraph_elimination is asked for alone",
            check="as in TensorFlow it runs only where arithmetic_optimization does",
            found=passes,
            needed="both, or neither",
            remedy="add arithmetic_optimization to --passes",
            code="unknown-optimizer-option",
        )
    return found | {"disable_model_pruning": "off" if "model_pruning" in wanted else "on"}


def _show(before: Graph, after: Graph, report: Report, output: Path, wanted: bool) -> None:
    nodes = {"before": len(before), "after": len(after)}
    if wants_json():
        print_json({"output": str(output), "nodes": nodes} | report.as_json())
        return
    if wanted:
        rows = [_row(step) for step in report.steps]
        columns = ("pass", "where", "outcome", "nodes", "time", "class", "rewrites")
        print_table("", columns, rows, right=("nodes", "time"))
    click.echo(f"{output}: {len(after)} nodes, of {len(before)}, in {duration(report.seconds)}")
    holders = sum(node.op in ("VarHandleOp", "VariableV2", "Variable") for node in after)
    if holders:
        note(f"{holders} variables have their values elsewhere: {output} holds none")


def _row(step: Any) -> Sequence[Any]:
    done = ", ".join(f"{name} ({count})" for name, count in step.rewrites.items())
    return (
        step.name,
        step.where or "the graph",
        step.outcome,
        f"{step.nodes_before} -> {step.nodes_after}",
        duration(step.seconds),
        step.numeric,
        "; ".join(filter(None, (done, step.reason))),
    )
