"""Random graphs with extreme feeds and constants: ``numeric="exact"`` changes no bit of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from random_arithmetic import draw
from random_drawing import Drawing
from random_images import draw_images
from random_layers import draw_layers

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.errors import DrystoneError
from drystone_base.ops.attrs import TensorAttr
from drystone_optimizer import OptimizerConfig

__all__ = ["KINDS", "bits", "extreme", "first_difference"]

KINDS = ("arithmetic", "images", "layers")
_TINY = float(np.finfo(np.float32).smallest_subnormal) * 5
_ODD = (np.nan, np.inf, -np.inf, -0.0, 0.0, _TINY, -_TINY, 1e38, 1.0, -1.0)


def extreme(kind: str, seed: int) -> tuple[Drawing, list[str]]:
    """A graph of a kind, some numbers of its feeds and of its constants made extreme."""
    drawers: dict[str, Any] = {
        "arithmetic": draw, "images": lambda seed: draw_images(seed, seed % 2 == 0),
        "layers": draw_layers,
    }  # fmt: skip
    made, fetches = drawers[kind](seed)
    rng = np.random.default_rng([seed, 7])
    made.feeds = {name: _spoiled(rng, value, 0.5) for name, value in made.feeds.items()}
    for node in made.m.graph:
        if node.op == "Const" and node.attr("dtype").label == "float32":
            value = _spoiled(rng, node.attr("value").array, 0.15)
            made.m.graph.set_attr(node, "value", TensorAttr(array=value))
    return made, fetches


def _spoiled(rng: np.random.Generator, value: Any, share: float) -> Any:
    value = np.asarray(value)
    if value.dtype != np.float32 or not value.size or rng.random() > share:
        return value
    value = value.copy()
    where = rng.permutation(value.size)[: max(value.size // 5, 1)]
    value.flat[where] = rng.choice(np.array(_ODD, np.float32), where.size)
    return value


def bits(made: Drawing, fetches: list[str], executor: Any, optimizer: Any) -> Any:
    """The values as integers, NaN of any bits as one; or the status of a refusal."""
    config = SessionConfig(
        executor=executor, optimizer=optimizer, deterministic=True, seed=1, intra_op_threads=1
    )
    try:
        found = Session(made.m.graph, config).run(fetches, made.feeds)
    except DrystoneError as error:
        return error.status
    return [_bits(np.asarray(value)) for value in found]


def _bits(value: Any) -> Any:
    if value.dtype.kind != "f":
        return value.dtype, value.tolist()
    whole = np.where(np.isnan(value), np.array(np.nan, value.dtype), value)
    return value.dtype, whole.view(f"u{value.dtype.itemsize}").tolist()


def first_difference(kind: str, seed: int, executor: Any) -> str:
    """Where the values of a graph differ with rewrites that are exact; empty where they do not."""
    made, fetches = extreme(kind, seed)
    wanted = bits(made, fetches, executor, "off")
    found = bits(made, fetches, executor, OptimizerConfig(numeric="exact"))
    if found == wanted:
        return ""
    if isinstance(wanted, str) or isinstance(found, str):
        both = [v if isinstance(v, str) else "values" for v in (wanted, found)]
        return f"{kind} {seed}, {executor}: {both[0]} became {both[1]}"
    names = [n for n, a, b in zip(fetches, wanted, found, strict=True) if a != b]
    return f"{kind} {seed}, {executor}: other bits of {', '.join(names)}"
