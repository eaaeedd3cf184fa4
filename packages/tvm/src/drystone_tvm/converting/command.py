"""``drystone convert``: a SavedModel whose regions are compiled libraries."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

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
from drystone_base.loaders import load_model
from drystone_base.plugins import ensure_loaded
from drystone_tvm.compiling.building import checked_target, require_tvm
from drystone_tvm.converting.conversion import Conversion, check_ops, convert_model

__all__ = ["convert"]

EPILOG = """\b
Examples:
  drystone convert saved_model/ --backend tvm --output compiled/
  drystone convert saved_model/ --backend tvm --ops Softmax,Mul,AddV2 --output compiled/
  drystone convert saved_model/ --backend tvm --target native --output compiled/ --json
  drystone run compiled/ --allow-library compiled/
"""
_SHOWN = 12


@click.command(epilog=EPILOG)
@click.argument("model", type=AnyPath())
@click.option("--backend", type=click.Choice(["tvm"]), default="tvm", show_default=True,
              help="Whose compiler makes the libraries.")  # fmt: skip
@click.option("--ops", metavar="OPS",
              help="What regions may have, with commas between; default all.")  # fmt: skip
@click.option("--target", default="llvm", show_default=True, metavar="TARGET",
              help="llvm: all processors of this kind; native: this very one.")  # fmt: skip
@click.option("-o", "--output", required=True, type=AnyPath(), metavar="OUT",
              help="The folder of the new SavedModel.")  # fmt: skip
@common_options
def convert(model: Path, backend: str, ops: str | None, target: str, output: Path) -> None:
    """Write SavedModel MODEL to OUT with regions of its graph as compiled libraries.

    OUT carries the libraries (assets.extra/tvm), by paths relative to it and with their hashes, and
    runs where TVM is not installed: drystone-tvm is. A library is code: what loads OUT must let it,
    Access(libraries=[OUT]) or --allow-library OUT. What is shown is each region, and why other
    nodes stayed as they are.
    """
    check_local(output, "--output", "the system opens libraries from local ones")
    chosen = None if ops is None else check_ops([n.strip() for n in ops.split(",") if n.strip()])
    checked_target(target)
    require_tvm()
    ensure_loaded()
    with moving(f"loading {model}", model):
        loaded = load_model(model)
    with status("converting") as shown:

        def tell(text: str) -> None:
            if shown is not None:
                shown.update(text)

        conversion = Conversion(output, target, chosen, tell)
        convert_model(loaded, output, conversion)
    _show(conversion, backend, output)


def _show(conversion: Conversion, backend: str, output: Path) -> None:
    left = _left(conversion)
    if wants_json():
        print_json(_fields(conversion, backend, output, left))
        return
    if conversion.made:
        rows = [
            [made.node, str(len(made.nodes)), _ops(made.ops), made.library]
            for made in conversion.made
        ]
        print_table("Libraries", ["region", "nodes", "ops", "library"], rows)
    taken = sum(len(made.nodes) for made in conversion.made)
    say(f"{taken} of {conversion.report.nodes} nodes are in {len(conversion.made)} libraries")
    for (op, reason), count in left.most_common(_SHOWN):
        say(f"  left: {count} x {op}: {reason}")
    if len(left) > _SHOWN:
        say(f"  and {len(left) - _SHOWN} other reasons (--json shows all)")
    note(f"{output} is written; to run it: --allow-library {output}")


def _ops(ops: tuple[str, ...]) -> str:
    counts = Counter(ops).most_common()
    shown = ", ".join(op if n == 1 else f"{n} {op}" for op, n in counts[:4])
    return shown + (", ..." if len(counts) > 4 else "")


def _left(conversion: Conversion) -> Counter[tuple[str, str]]:
    """Why nodes are in no region, by op and reason."""
    found: Counter[tuple[str, str]] = Counter()
    for (_, name), reasons in conversion.report.why.items():
        reason = conversion.refused.get(name) or reasons.get("tvm", "")
        found[conversion.op_of.get(name, "?"), reason] += 1
    return found


def _fields(
    conversion: Conversion, backend: str, output: Path, left: Counter[tuple[str, str]]
) -> dict[str, Any]:
    return {
        "output": str(output),
        "backend": backend,
        "target": conversion.target,
        "nodes": conversion.report.nodes,
        "regions": [
            {
                "node": made.node,
                "nodes": list(made.nodes),
                "ops": dict(Counter(made.ops)),
                "library": made.library,
                "inputs": [str(one) for one in made.form.inputs],
                "outputs": [str(one) for one in made.form.outputs],
                "needs": list(made.form.needs),
            }
            for made in conversion.made
        ],
        "left": [
            {"op": op, "reason": reason, "nodes": count}
            for (op, reason), count in left.most_common()
        ],
    }
