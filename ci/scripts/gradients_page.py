"""Write docs/reference/gradients.md: which ops have a gradient; `--check` only compares.

What TensorFlow has rules of is in ci/config/tensorflow_gradients.txt, which
`python -m ci.scripts.tensorflow_gradients` writes where TensorFlow is installed.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ci.scripts.generated import settle
from ci.scripts.project import ROOT
from drystone_base.autodiff._registry import CONSTANT, RULES
from drystone_base.core.dtypes import RESOURCE, VARIANT, DType, as_dtype
from drystone_base.kernels import find_kernel
from drystone_base.ops.defs import ArgDef, OpDef, names, op_def

__all__ = ["States", "main", "page", "states"]

THEIRS = ROOT / "ci" / "config" / "tensorflow_gradients.txt"
_PAGE = ROOT / "docs" / "reference" / "gradients.md"

_TEXT = """# Gradients

Written by `python -m ci.scripts.gradients_page`. `drystone.gradients` goes back through graphs by a
rule for each op. A rule is checked against differences of what its op computes, in float64, or in
float32 where the op has no other floats. An op without a rule is refused by name
(`no-gradient`), unless what is asked for does not depend on it. Others' rules are registered by
[`drystone.gradient`](api/functions.md).

## Ops with a rule ({rules})

{with_rule}

## Ops through which nothing passes ({constants})

What they give does not change smoothly with their inputs.

{constant}

## Ops that TensorFlow has a rule of, and drystone none ({theirs})

{behind}

{reasons}

## Ops of floats that neither has a rule of ({rest})

Ops with a kernel, that take floats and give floats: optimizers' updates, gradients of gradients,
quantized layers, collectives and others.

{without}
"""


_REASONS = {
    "TensorArray": "arrays of v1 loops, which frames run: functions have lists, which have rules",
    "ImageProjectiveTransform": "TensorFlow's rule transforms by the inverse matrix, which is the "
    "gradient of no interpolation but of exact turns and moves",
    "Xla": "where tensors lie, which programs for one machine do not state",
    "Debug": "TensorFlow's rule finds a debugger of its own process",
    "EagerPyFunc": "Python that is called has no graph to go back through",
    "_EagerConst": "TensorFlow's rule raises",
    "SparseMatrixMatMul": "compressed rows are a variant, of which no gradient is summed",
    "StatelessParameterizedTruncatedNormal": "draw with `StatelessTruncatedNormalV2` and scale",
    "QuantizeAndDequantizeV4Grad": "0 but where TensorFlow's own rule repeats the first",
    "ApproxTopK": "an op of TPUs; `TopKV2` has a rule",
}
"""By the beginning of their names, why ops have no rule."""


class States(NamedTuple):
    """Ops by what becomes of gradients at them."""

    rules: list[str]
    constants: list[str]
    behind: list[str]
    without: list[str]


def states() -> States:
    """Ask the registries of rules and kernels."""
    rules = sorted(op for op in RULES.load_all() if op in set(names()))
    theirs = set(THEIRS.read_text("utf-8").splitlines()[1:])
    none = [
        op for op in sorted(names())
        if op not in RULES.index and op not in CONSTANT and find_kernel(op) is not None
    ]  # fmt: skip
    smooth = [op for op in none if _is_smooth(op_def(op))]
    return States(
        rules,
        sorted(CONSTANT),
        [op for op in smooth if op in theirs],
        [op for op in smooth if op not in theirs],
    )


def _is_smooth(definition: OpDef) -> bool:
    sides = (definition.inputs, definition.outputs)
    return all(any(_holds_floats(definition, arg) for arg in side) for side in sides)


def _holds_floats(definition: OpDef, arg: ArgDef) -> bool:
    if arg.type is not None:
        return _is_float(arg.type)
    allowed = definition.attrs[arg.type_attr].allowed if arg.type_attr else None
    return not allowed or any(_is_float(as_dtype(kind)) for kind in allowed)


def _is_float(kind: DType) -> bool:
    return kind not in (RESOURCE, VARIANT) and (kind.is_floating or kind.is_complex)


def page(found: States) -> str:
    """The page."""
    return _TEXT.format(
        rules=len(found.rules), constants=len(found.constants), theirs=len(found.behind),
        rest=len(found.without), with_rule=_listed(found.rules),
        constant=_listed(found.constants), behind=_listed(found.behind),
        reasons=_reasons(found.behind),
        without=_listed(found.without),
    )  # fmt: skip


def _reasons(ops: Sequence[str]) -> str:
    """A line for each reason; raises ``SystemExit`` for an op without one."""
    for op in ops:
        if not op.startswith(tuple(_REASONS)):
            raise SystemExit(f"{op} has no gradient rule, and no reason for that in {__file__}")
    kept = [(k, v) for k, v in _REASONS.items() if any(op.startswith(k) for op in ops)]
    return "\n".join(f"- `{k}{'*' * (k not in ops)}`: {v}." for k, v in kept)


def _listed(ops: Iterable[str]) -> str:
    """Names, a paragraph for each initial."""
    initials: dict[str, list[str]] = defaultdict(list)
    for op in ops:
        initials[op.removeprefix("Drystone>").lstrip("_")[0].upper()].append(f"`{op}`")
    return "\n\n".join(", ".join(row) for _, row in sorted(initials.items())) or "None."


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or with `--check` say whether it is outdated."""
    made = page(states())
    return settle(
        "docs/reference/gradients.md",
        "gradients_page",
        outdated=not _PAGE.exists() or _PAGE.read_text("utf-8") != made,
        check="--check" in (sys.argv[1:] if arguments is None else arguments),
        write=lambda: _PAGE.write_text(made, "utf-8"),
    )


if __name__ == "__main__":
    sys.exit(main())
