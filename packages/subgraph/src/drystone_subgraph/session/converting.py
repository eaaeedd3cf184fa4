"""``drystone convert``: a SavedModel that carries what a backend has compiled of its graph."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import click

from drystone_base.cli.kit import (
    AnyPath,
    check_local,
    common_options,
    moving,
    note,
    print_json,
    print_table,
    say,
    status,
    wants_json,
)
from drystone_base.files.uris import uri_of
from drystone_base.loaders import load_model
from drystone_subgraph.contract.backend import find_backend
from drystone_subgraph.contract.conversion import Conversion, ConversionRequest
from drystone_subgraph.session.beside import convert_beside

__all__ = ["convert"]

EPILOG = """\b
Examples:
  drystone convert saved_model/ --backend tvm --output compiled/
  drystone convert saved_model/ --backend tvm --ops Softmax,Mul,AddV2 --output compiled/
  drystone convert saved_model/ --backend tvm --target native --output compiled/ --json
  drystone convert saved_model/ --backend openvino --size 1 --size 8 --output compiled/
"""
_SHOWN: Final = 12


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.option("--backend", "name", default="tvm", show_default=True, metavar="NAME",
              help="Which subgraph backend compiles.")  # fmt: skip
@click.option("--ops", metavar="OPS",
              help="What regions may have, with commas between; default all.")  # fmt: skip
@click.option("--target", metavar="TARGET",
              help="Of tvm: llvm (default), all processors of this kind, native, this very one, "
              "or cuda, GPUs of NVIDIA; the others: native.")  # fmt: skip
@click.option("--size", "sizes", type=click.IntRange(0), multiple=True, default=(1,),
              show_default=True, metavar="N",
              help="What inputs have where their shapes do not say, for backends whose code is "
              "for shapes; may be repeated.")  # fmt: skip
@click.option("-o", "--output", required=True, type=AnyPath(), metavar="OUT",
              help="The folder of the new SavedModel.")  # fmt: skip
@common_options
def convert(
    model: Path,
    name: str,
    ops: str | None,
    target: str | None,
    sizes: tuple[int, ...],
    output: Path,
) -> None:
    """Write SavedModel MODEL to OUT with regions of its graph as compiled code.

    By the backend tvm these are libraries (assets.extra/tvm) that nodes of the graph call, by paths
    relative to OUT and with their hashes. OUT runs where TVM is not installed: drystone-tvm is. A
    library is code: what loads OUT must let it, Access(libraries=[OUT]) or --allow-library OUT.

    Other backends that keep what they compile, such as cpu and openvino, write it beside the
    model, which stays as it is (assets.extra/executables): a session that is told the backend and
    that folder compiles nothing for those shapes. What is shown is each region, and why other
    nodes stayed as they are.
    """
    check_local(output, "--output", "the system opens libraries from local ones")
    _check_apart(model, output)
    backend = find_backend(name)
    backend.properties()  # which says what is not installed
    chosen = None if ops is None else _names(ops)
    with moving(f"loading {model}", model):
        loaded = load_model(model)
    with status("converting") as shown:

        def tell(text: str) -> None:
            if shown is not None:
                shown.update(text)

        request = ConversionRequest(loaded, output, chosen, target, sizes, tell)
        made = backend.convert(request) or convert_beside(backend, request)
    _show(made, name, output)


def _check_apart(model: Path, output: Path) -> None:
    if uri_of(model) is None and model.resolve() in output.resolve().parents:
        raise click.BadParameter(f"{output} is inside the model", param_hint="--output")


def _names(ops: str) -> tuple[str, ...]:
    found = tuple(name.strip() for name in ops.split(",") if name.strip())
    if not found:
        raise click.BadParameter(f"{ops!r} names no op", param_hint="--ops")
    return found


def _show(made: Conversion, backend: str, output: Path) -> None:
    if wants_json():
        print_json(_fields(made, backend, output))
        return
    if made.regions:
        rows = [[r.node, str(len(r.nodes)), _ops(r.ops), r.library] for r in made.regions]
        print_table("Libraries", ["region", "nodes", "ops", "library"], rows)
    taken = sum(len(region.nodes) for region in made.regions)
    say(f"{taken} of {made.nodes} nodes are in {len(made.regions)} libraries")
    for (op, reason), count in made.left.most_common(_SHOWN):
        say(f"  left: {count} x {op}: {reason}")
    if len(made.left) > _SHOWN:
        say(f"  and {len(made.left) - _SHOWN} other reasons (--json shows all)")
    note(f"{output} is written; to run it: {made.remedy}")


def _ops(ops: Mapping[str, int]) -> str:
    counts = sorted(ops.items(), key=lambda item: -item[1])
    shown = ", ".join(op if n == 1 else f"{n} {op}" for op, n in counts[:4])
    return shown + (", ..." if len(counts) > 4 else "")


def _fields(made: Conversion, backend: str, output: Path) -> dict[str, Any]:
    return {
        "output": str(output),
        "backend": backend,
        "target": made.target,
        "nodes": made.nodes,
        "regions": [region._asdict() | {"ops": dict(region.ops)} for region in made.regions],
        "left": [
            {"op": op, "reason": reason, "nodes": count}
            for (op, reason), count in made.left.most_common()
        ],
        "remedy": made.remedy,
    }
