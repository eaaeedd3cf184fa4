"""Any setting of the optimizer, and any way to ask for a device, for ``random_graphs --options``.

Values come from the schema that ``OptimizerConfig`` is checked by: words and switches by
themselves, so that a new one of these is drawn without a change here. What needs names of a graph
or numbers has a rule in RULES; a setting with neither is an error, which a test shows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np

from drystone_base.graph import Graph
from drystone_base.ops.defs import find
from drystone_optimizer import OptimizerConfig
from drystone_optimizer.core.config import BY_SHORT_NAME, OWN, PASSES, QueueRunner, Toggle
from drystone_optimizer.core.options import SETTINGS
from drystone_optimizer.core.purity import is_pure

__all__ = [
    "DEVICES", "FIXED", "RULES", "ask_for_devices", "draw_config", "draw_value", "is_settled",
    "lossy", "said",
]  # fmt: skip

DEVICES: Final = (
    "", "/gpu:0", "/GPU:0", "/gpu:*", "/device:GPU:0", "/device:gpu:0", "/device:GPU", "gpu:1",
    "/device:GPU:*", "/job:localhost/replica:0/task:0/device:GPU:0", "/job:localhost/gpu:1",
    "/cpu:0", "/CPU:0", "/cpu:*", "/device:CPU:0", "/device:cpu:0", "/device:CPU:3", "cpu:0",
    "/job:localhost/replica:0/task:0/device:CPU:0", "/job:localhost", "/device:*",
    "/device:TPU:0", "/device:XPU:1", "/device:my_npu:0", "/device:NONSENSE:77",
    "/job:worker/replica:3/task:12/device:GPU:5", "/job:ps/task:1",
)  # fmt: skip
"""Spellings of devices, most of which are not there."""
FIXED: Final[Mapping[str, Any]] = {
    "fail_on_optimizer_errors": True,
    "verify_passes": True,
    # Of plugins, of which none takes part.
    "isolation": None, "deadline": 60.0, "memory_limit": 4 << 30,
}  # fmt: skip
"""Settings that are not drawn."""
_LOSSY: Final = tuple(name for name in (*PASSES, *OWN) if name.startswith("auto_mixed_precision"))
# What these do is there for when and where things happen: other passes would take it out again.
_LAST: Final = ("memory_optimization", "auto_parallel", "scoped_allocator_optimization")
_RARE: Final = ("disable_meta_optimizer", *_LOSSY)
_NAMES: Final = (*BY_SHORT_NAME, *PASSES[1:], *OWN)
_TYPES: Final = ((), (), ("CPU",), ("CPU", "GPU"), ("CPU", "GPU", "TPU", "XPU", "my_npu"))
Draw = Callable[[np.random.Generator, Graph], Any]


def _one_of(rng: np.random.Generator, items: Sequence[Any]) -> Any:
    return items[int(rng.integers(len(items)))]


def _some(rng: np.random.Generator, items: Sequence[Any], most: int) -> tuple[Any, ...]:
    """A few different ones, none at all often."""
    count = min(int(rng.integers(most + 1)), len(items))
    if rng.random() < 0.6 or not count:
        return ()
    return tuple(items[k] for k in rng.permutation(len(items))[:count])


def _nodes(rng: np.random.Generator, graph: Graph) -> tuple[str, ...]:
    return _some(rng, [node.name for node in graph], 3)


def _ops(rng: np.random.Generator, graph: Graph) -> tuple[str, ...]:
    return _some(rng, sorted({node.op for node in graph}), 4)


def _runners(rng: np.random.Generator, graph: Graph) -> tuple[QueueRunner, ...]:
    return tuple(QueueRunner(name) for name in _nodes(rng, graph)[:1])


def _scope(rng: np.random.Generator, graph: Graph) -> str:
    name = str(_one_of(rng, [node.name for node in graph]))
    return _one_of(rng, ("", "", name[:1], name))  # type: ignore[no-any-return]


def _memory(rng: np.random.Generator, _graph: Graph) -> dict[str, int]:
    sizes = (16, 1024, 1 << 34)
    return {kind: _one_of(rng, sizes) for kind in _some(rng, ("CPU", "GPU", "XPU"), 3)}


def _lists(rng: np.random.Generator, graph: Graph) -> dict[str, tuple[str, ...]]:
    known = SETTINGS.settings["mixed_precision_lists"].kind.choices
    return {name: _ops(rng, graph) for name in _some(rng, known, 3)}


def _scoped(rng: np.random.Generator, graph: Graph) -> tuple[str, ...]:
    """Ops that give one tensor element by element, or whatever the graph has of pure ones."""
    found = {node.op for node in graph if is_pure(node) and len(node.inputs) == 1}
    return _some(rng, sorted(op for op in found if find(op) is not None), 6)


RULES: Final[Mapping[str, Draw]] = {
    "keep": _nodes,
    "init": _nodes,
    "queue_runners": _runners,
    "meta_optimizer_iterations": lambda rng, _: int(rng.integers(1, 5)),
    "min_graph_nodes": lambda rng, _: _one_of(rng, (-1, -1, -1, 0, 9)),
    "meta_optimizer_timeout_ms": lambda rng, _: _one_of(rng, (0, 0, 0, 0, 1, 20, -1)),
    "memory_optimizer_target_node_name_scope": _scope,
    "device_memory": _memory,
    "devices": lambda rng, _: _one_of(rng, _TYPES),
    "auto_parallel_replicas": lambda rng, _: int(rng.integers(4)),
    "scoped_allocator_ops": _scoped,
    "mixed_precision_lists": _lists,
    "optimizers": lambda rng, _: _some(rng, _NAMES, 5),
    "custom_optimizers": lambda rng, _: tuple((name, {}) for name in _some(rng, _NAMES, 2)),
}
"""How settings are drawn that are neither a switch nor a word of a few."""


def draw_config(rng: np.random.Generator, graph: Graph) -> OptimizerConfig:
    """A config of any settings for a graph; raises ``KeyError`` for a setting without a rule."""
    values: dict[str, Any] = {}
    for one in fields(OptimizerConfig):
        value = draw_value(one.name, rng, graph)
        if rng.random() < (0.1 if one.name in _RARE else 0.6):
            values[one.name] = value
    return OptimizerConfig(**{**values, **FIXED})


def draw_value(name: str, rng: np.random.Generator, graph: Graph) -> Any:
    """A value for a setting; raises ``KeyError`` where no way to draw one is known."""
    if name in FIXED:
        return FIXED[name]
    kind = SETTINGS.settings[name].kind
    if name in RULES:
        return RULES[name](rng, graph)
    if kind.choices:
        return _one_of(rng, kind.choices)
    return {"True or False": bool(rng.integers(2))}[kind.needed]


def said(config: OptimizerConfig) -> str:
    """The settings that are not as by default, short."""
    plain = OptimizerConfig(**FIXED)
    words = []
    for one in fields(OptimizerConfig):
        value = getattr(config, one.name)
        if value != getattr(plain, one.name):
            words.append(f"{one.name}={value.value if isinstance(value, Toggle) else value!r}")
    return ", ".join(words) or "as by default"


def lossy(config: OptimizerConfig) -> bool:
    """Whether a pass may compute in fewer bits."""
    return any(config.is_on(name) or name in config.optimizers for name in _LOSSY)


def is_settled(config: OptimizerConfig) -> bool:
    """Whether passes must find nothing in what they left: none came too late, or is to be last.

    What was kept for its state may be a constant by then, that nothing keeps.
    """
    if config.meta_optimizer_timeout_ms > 0 or config.optimizers or config.disable_meta_optimizer:
        return False
    if config.keep_stateful:
        return False
    return not any(config.is_on(name) for name in (*_LAST, *_LOSSY))


def ask_for_devices(rng: np.random.Generator, graph: Graph) -> None:
    """Let no node, all of them, or some ask for devices, in one spelling or in several."""
    way = rng.random()
    if way < 0.25:
        return
    spellings = [_one_of(rng, DEVICES) for _ in range(int(rng.integers(1, 4)))]
    share = 1.0 if way < 0.6 else 0.5
    for node in graph:
        if rng.random() < share:
            graph.set_device(node, _one_of(rng, spellings))
