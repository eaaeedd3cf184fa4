"""What tests show of each rewrite of the optimizer: pass_stages.py [--check]

Runs the tests of passes with a recorder (``stage_recorder``) and writes
packages/optimizer/tests/stages.json: by rewrite, how often a test saw it done, saw nothing more to
do after it, compared the values before and after, and had it decline what is almost its pattern.
Prints what lacks one of the four; the status is 1 then. ``--check`` runs nothing: the table must
have all rewrites that passes have.

Examples:
  python -m ci.scripts.pass_stages
  python -m ci.scripts.pass_stages --check
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ci.scripts.stage_recorder import KINDS, rules

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "packages" / "optimizer" / "tests"
TABLE = TESTS / "stages.json"
PASSES = ROOT / "packages" / "optimizer" / "src" / "drystone_optimizer" / "passes"

PART_OF = dict.fromkeys(("concat_operands", "split_operands"), "elementwise_fusion")
"""Files beside passes, with the pass that they are a part of."""
ELSEWHERE = {
    "auto_parallel: replicas equal": "test_random_training_agrees trains with them",
    "auto_mixed_precision_cpu: round-to-float16 at_rest": "it rounds what is rounded once more",
    "auto_mixed_precision_cpu: round-to-float16 equal": "its test has a tolerance of its own",
    "auto_mixed_precision_mkl: casts equal": "the older name of ..._onednn_bfloat16",
    "auto_mixed_precision_mkl: to-bfloat16 equal": "the older name, too",
    "auto_mixed_precision_mkl: round-constants equal": "the older name, too",
    "debug_stripper: strip-check declined": "all nodes of these ops are stripped",
    "debug_stripper: strip-effect declined": "all nodes of these ops are stripped",
}
"""What no helper sees, with who does it or why it is not so."""


def rewrites() -> set[str]:
    """Every rewrite there is, by pass: rules, and what passes count by a name of their own."""
    found = {f"{name}: {rule.name}" for name, held in rules().items() for rule in held}
    for path in sorted(PASSES.rglob("*.py")):
        name = path.relative_to(PASSES).parts[0].removesuffix(".py")
        name = PART_OF.get(name, name)
        for text in _counted(path):
            if name != "auto_mixed_precision":  # one module, several passes
                found.add(f"{name}: {text}")
    return found


def _counted(path: Path) -> Iterator[str]:
    """The texts that ``ctx.count`` is called with."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        first = node.args[0] if node.args else None
        if node.func.attr == "count" and isinstance(first, ast.Constant):
            yield str(first.value)


def table() -> dict[str, dict[str, int]]:
    """What was recorded."""
    found: dict[str, dict[str, int]] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def lacking(found: dict[str, dict[str, int]]) -> list[str]:
    """What no test shows, in words."""
    lines = [f"{key}: no test runs it; record it again" for key in sorted(rewrites() - set(found))]
    for key, row in found.items():
        missing = [k for k in KINDS if not row[k] and f"{key} {k}" not in ELSEWHERE]
        lines += [f"{key}: never {kind}" for kind in missing]
    return lines


def record() -> None:
    """Run the tests of passes, and write the table."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:randomly", "-p",
               "ci.scripts.stage_recorder", str(TESTS / "unit" / "passes")]  # fmt: skip
    there = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    more = {"DRYSTONE_STAGES": str(TABLE), "PYTHONPATH": there}
    subprocess.run(command, cwd=ROOT, env=os.environ | more, check=True)


def main(arguments: list[str] | None = None) -> int:
    """Record, and say what lacks."""
    text, _, examples = (__doc__ or "").partition("Examples:")
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        description=text, epilog=f"Examples:{examples}", formatter_class=raw
    )
    parser.add_argument("--check", action="store_true", help="look at the table only")
    if not parser.parse_args(arguments).check:
        record()
    lines = lacking(table())
    print("\n".join(lines) or f"{len(table())} rewrites: each is shown")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
