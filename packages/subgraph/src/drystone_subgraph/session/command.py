"""``drystone partition``: which backend would take which part of a graph, and why not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from drystone_base.cli.kit import (
    AnyPath,
    check_local,
    check_output,
    check_tensor,
    common_options,
    moving,
    status,
    wants_json,
)
from drystone_base.core.environment import SUBGRAPH_BACKEND
from drystone_base.core.errors import BadRequest
from drystone_base.loaders import load_model, write_graph
from drystone_base.modules import stage
from drystone_subgraph.compiled.aot import compile_ahead
from drystone_subgraph.compiled.compiled import ExecutableStatus
from drystone_subgraph.compiled.tables import find_nodes, show_report
from drystone_subgraph.contract.backend import backends as known
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.regions.partitioner import partition_with_report

__all__ = ["partition"]

EPILOG = """\b
Examples:
  drystone partition model.pb --backend default
  drystone partition saved_model/ --backend openvino,default --report
  drystone partition model.pb --backend openvino --node 'conv1/*'
  drystone partition model.pb --backend openvino --minimum-size 3 --output parts.pb
  drystone partition model.pb --backend openvino --compile --output executables/
"""


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.option("--backend", "backends", metavar="NAMES",
              help="Backends by priority, with commas between; default "
              "$DRYSTONE_SUBGRAPH_BACKEND.")  # fmt: skip
@click.option("--signature", metavar="NAME",
              help="Whose inputs and outputs to keep; default serving_default.")  # fmt: skip
@click.option("--fetch", "fetches", multiple=True, metavar="TENSOR",
              help="A tensor instead of the signature's outputs; may be repeated.")  # fmt: skip
@click.option("--feed", "feeds", multiple=True, metavar="TENSOR",
              help="A tensor instead of the signature's inputs; may be repeated.")  # fmt: skip
@click.option("--minimum-size", type=click.IntRange(1), metavar="N",
              help="Leave regions of fewer nodes as they are.")  # fmt: skip
@click.option("--exclude", multiple=True, metavar="PATTERN",
              help="An op, or a pattern of names, to leave out; may be repeated.")  # fmt: skip
@click.option("--output", metavar="OUT", type=AnyPath(),
              help="Write the partitioned graph to this file (.pb or .pbtxt); "
              "with --compile, executables to this folder.")  # fmt: skip
@click.option("--compile", "compiles", is_flag=True,
              help="Compile regions ahead of time (PartitionConfig(artefacts=OUT)).")  # fmt: skip
@click.option("--size", type=click.IntRange(0), default=1, show_default=True, metavar="N",
              help="With --compile: what feeds have where their shapes do not say.")  # fmt: skip
@click.option("--optimizer", type=click.Choice(["default", "off"]), default="default",
              show_default=True,
              help="What optimizes the graph first, as in SessionConfig: partition what a session "
                   "does, or what the model has.")  # fmt: skip
@click.option("--report", is_flag=True, help="Show why each backend left the ops that it left.")
@click.option("--node", "asked", multiple=True, metavar="NAME",
              help="Show for this node, or those of a pattern of names, whether each backend "
              "takes it, and why not; may be repeated.")  # fmt: skip
@common_options
def partition(
    model: Path,
    backends: str | None,
    signature: str | None,
    fetches: tuple[str, ...],
    feeds: tuple[str, ...],
    minimum_size: int | None,
    exclude: tuple[str, ...],
    output: Path | None,
    report: bool,
    asked: tuple[str, ...],
    compiles: bool,
    size: int,
    optimizer: str,
) -> None:
    """Partition the graph of MODEL for its signature, and show who takes what.

    Without --output nothing is written: a dry run. With --compile it exits with 1 when an
    executable was not compiled, or not written, or there was none.
    """
    if compiles and output is None:
        raise click.UsageError("--compile needs --output, the folder of executables")
    if output is not None and compiles:
        check_local(output, "--output", "the system loads executables from local ones")
    elif output is not None:
        _check_graph_file(output, model)
    with moving(f"loading {model}", model):
        loaded = load_model(model)
    if not fetches:
        chosen = _signature(loaded.signatures, signature)
        fetches = tuple(spec.tensor for spec in chosen.outputs.values())
        feeds = feeds or tuple(spec.tensor for spec in chosen.inputs.values())
    for role, tensors in (("fetch", fetches), ("feed", feeds)):
        for tensor in tensors:
            check_tensor(loaded.graph, role, tensor)
    why = report or bool(asked) or wants_json()
    config = replace(_config(backends), minimum_size=minimum_size, exclude=exclude, why=why)
    graph = loaded.graph
    with status("partitioning"):
        for simplify in stage("simplify", "optimize"):
            graph = simplify(graph, fetches, feeds, optimizer)
        after, found = partition_with_report(graph, fetches, feeds, config, placed=True)
    nodes = find_nodes(found, asked, loaded.graph)
    made: list[ExecutableStatus] | None = None
    if compiles:
        config = replace(config, artefacts=str(output), writes_artefacts=True)
        with status("compiling"):
            made = compile_ahead(model, fetches, feeds, config, size, optimizer)
    elif output is not None:
        write_graph(after, output)
    failed = made is not None and not (made and all(one.kept for one in made))
    show_report(found, len(after), nodes, report, None if failed else output, made)
    if failed:
        raise click.exceptions.Exit(1)


def _check_graph_file(output: Path, model: Path) -> None:
    if output.suffix not in (".pb", ".pbtxt"):
        found = f"{output.name!r} does not end in .pb or .pbtxt, which say how a graph is written"
        raise click.BadParameter(found, param_hint="--output")
    check_output(output, "--output", model)


def _config(backends: str | None) -> PartitionConfig:
    """The config that has the backends; raises ``BadRequest`` where there are none."""
    config = PartitionConfig.of(backends)
    if config.backends:
        return config
    name, variable = SUBGRAPH_BACKEND.name, SUBGRAPH_BACKEND.value()
    found = f"{name}={variable}" if variable else f"neither --backend nor {name}"
    raise BadRequest(
        "no backend is named",
        check="a graph is partitioned for backends; none and off are the names of no backend",
        found=found if backends is None else f"--backend {backends!r}",
        needed=f"names of backends: {', '.join(known())}",
        remedy="--backend default",
        code="unknown-subgraph-backend",
    )


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
        remedy="drystone partition MODEL --fetch TENSOR --feed TENSOR",
        code="unknown-signature" if chosen else "no-default-signature",
    )
