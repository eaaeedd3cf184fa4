"""Write which module is for which ops: kernels, shapes, rewrites; `--check` only compares.

Run from the repository root, with drystone installed:
`python -m ci.scripts.families_index [--check]`.
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ci.scripts.project import ROOT
from drystone_base.autodiff._registry import RULES as GRADIENTS
from drystone_base.core.families import Families
from drystone_base.inference.batch_rules._registry import RULES
from drystone_base.inference.shapes._registry import SHAPES
from drystone_base.kernels._registry import KERNELS
from drystone_optimizer import passes
from drystone_optimizer.passes import (
    arithmetic_optimization,
    constant_folding,
    layer_fusion,
    remapping,
)
from drystone_optimizer.passes._late_rules import ANY, rules_of

__all__ = ["main", "outdated", "render", "render_rules"]

Family = Families[Callable[..., Any]]
LATE_RULES = (
    arithmetic_optimization.RULES, constant_folding.RULES, remapping.RULES, layer_fusion.RULES,
    layer_fusion.CONVOLUTIONS,
)  # fmt: skip


def render(families: Family) -> str:
    """Text of the package's ``_index.py``."""
    modules: dict[str, list[str]] = {}
    for op, module in sorted(families.registered().items()):
        modules.setdefault(module.removeprefix(f"{families.package}."), []).append(op)
    return _file("ops that it registers", [[name, *ops] for name, ops in modules.items()])


def render_rules() -> str:
    """Text of the index of rewrites: for each module that passes import late, the ops it is for.

    After ``<`` comes what nodes must read for that.
    """
    lines: list[list[str]] = []
    for rules in LATE_RULES:
        for module in rules.modules:
            ops: dict[tuple[str, ...], set[str]] = {}
            for rule in rules_of(module):
                ops.setdefault(tuple(sorted(rule.reads)), set()).update(rule.ops or (ANY,))
            for reads, named in ops.items():
                after = ["<", *reads] if reads else []
                lines.append([module.partition(".passes.")[2], *sorted(named), *after])
    return _file("ops of its rules < what they read", lines)


def _file(what: str, entries: Sequence[list[str]]) -> str:
    lines = [
        textwrap.fill(" ".join(words), 96, subsequent_indent="  ", break_on_hyphens=False)
        for words in sorted(entries)
    ]
    return (
        f'"""Module and {what}; `python -m ci.scripts.families_index` writes it."""\n'
        '\nfrom typing import Final\n\n__all__ = ["INDEX"]\n\nINDEX: Final = """\n'
        + "\n".join(lines)
        + '\n"""\n'
    )


def outdated() -> dict[Path, str]:
    """The files on disk that differ from what `render` gives, with the text they should have."""
    source = ROOT / "packages" / "base" / "src"
    texts = {source.joinpath(*f.package.split("."), "_index.py"): render(f) for f in _ALL}
    texts[Path(passes.__file__).with_name("_index.py")] = render_rules()
    return {
        file: text
        for file, text in texts.items()
        if not file.exists() or file.read_text(encoding="utf-8") != text
    }


_ALL: tuple[Family, ...] = (KERNELS, SHAPES, RULES, GRADIENTS)


def main() -> int:
    """Write the files, or with `--check` exit 1 when one is outdated."""
    stale = outdated()
    if stale and "--check" in sys.argv[1:]:
        print("op index: outdated; run python -m ci.scripts.families_index")
        return 1
    for file, text in stale.items():
        file.write_text(text, encoding="utf-8")
    print("op index: written" if stale else "op index: up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
