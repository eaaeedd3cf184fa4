"""A tiny amount added to named tensors: shows how much results hang on rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core import dtypes
from drystone_base.core.errors import BadRequest
from drystone_base.graph import output_name
from drystone_base.graph.validate import output_dtypes
from drystone_base.ops.attrs import TensorAttr
from drystone_base.passes._registry import graph_pass
from drystone_base.passes._types import Grouping, PassOptions

if TYPE_CHECKING:
    from drystone_base.graph import Graph, Output

__all__ = ["floating_point_jitter"]

_AMOUNT: Final = 1e-5
_KINDS: Final = frozenset({dtypes.FLOAT16, dtypes.BFLOAT16, dtypes.FLOAT32, dtypes.FLOAT64})


@graph_pass(Grouping.PRE_PLACEMENT, 25, name="IntroduceFloatingPointJitterPass", is_default=False)
def floating_point_jitter(options: PassOptions) -> bool:
    """Add a seeded amount to every element of the tensors that the settings name (approximate).

    Settings: ``tensors`` (names), ``amount`` (the largest absolute value, 1e-5), ``seed`` (0).
    The same seed gives the same amounts. Raises ``BadRequest`` (``bad-pass-setting``) for tensors
    that are not there or hold no floats. Source: TensorFlow's
    ``IntroduceFloatingPointJitterPass``.
    """
    assert options.graph is not None
    settings = dict(options.settings)
    names = list(settings.get("tensors", ()))
    draws = np.random.default_rng(settings.get("seed", 0))
    amounts = draws.uniform(-1, 1, len(names)) * settings.get("amount", _AMOUNT)
    found = [_find(options.graph, name) for name in names]
    for output, amount in zip(found, amounts, strict=True):
        _apply(options.graph, output, float(amount))
    return bool(found)


def _find(graph: Graph, name: Any) -> Output:
    output = graph.output(str(name))
    types = output_dtypes(output[0])
    if types and output[1] < len(types) and types[output[1]] in _KINDS:
        return output
    raise BadRequest(
        f"jitter cannot be added to {name!r}",
        check="jitter is for tensors of floats",
        found=str(types[output[1]]) if types and output[1] < len(types) else "no such output",
        needed=", ".join(sorted(map(str, _KINDS))),
        remedy="`drystone inspect` lists names and dtypes",
        code="bad-pass-setting",
    )


def _apply(graph: Graph, output: Output, amount: float) -> None:
    node, index = output
    types = output_dtypes(node)
    assert types is not None
    dtype = types[index]
    stem = output_name(output).replace(":", "_")
    value = TensorAttr(array=np.array(amount, dtype.np))
    device = node.device
    constant = graph.add(
        "Const", graph.unique_name(f"{stem}/jitter"), device=device,
        attrs={"dtype": dtype, "value": value},
    )  # fmt: skip
    total = graph.add(
        "AddV2", graph.unique_name(f"{stem}/jittered"), [(constant, 0), (constant, 0)],
        device=device, attrs={"T": dtype},
    )  # fmt: skip
    graph.redirect(output, (total, 0))
    graph.set_inputs(total, [output, (constant, 0)])
