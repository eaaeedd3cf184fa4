"""What this package adds to ``drystone_base.modules``: the ``optimize`` stage of a session."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from drystone_base.errors import BadRequest, GraphError
from drystone_base.graph import Graph, parse_tensor_name, reachable
from drystone_base.modules import Module
from drystone_optimizer.config import OptimizerConfig, Toggle, get_experimental_options
from drystone_optimizer.pipeline import OptimizerWarning, optimize
from drystone_optimizer.sources import optimizers

__all__ = ["MODULE"]


def _stage(graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any) -> Graph:
    """Optimize what the fetches reach; ``config`` is what ``SessionConfig.optimizer`` says."""
    chosen = _config(config)
    if chosen is None or chosen.use_plugin_optimizers is Toggle.OFF or not optimizers():
        return graph
    reached = _reached(graph, (*fetches, *feeds))
    here = tuple(name for name in chosen.keep if _is_in(reached, name) or not _is_in(graph, name))
    try:
        return optimize(reached, fetches, feeds, replace(chosen, keep=here))
    except GraphError as error:  # a session that runs without optimizers runs with them, too
        text = f"the graph was not optimized and goes on as it was: {error.render()}"
        warnings.warn(text, OptimizerWarning, stacklevel=2)
        return graph


def _is_in(graph: Graph, tensor: str) -> bool:
    return tensor in graph or parse_tensor_name(tensor)[0] in graph


def _config(config: Any) -> OptimizerConfig | None:
    if config == "off":
        return None
    if config in ("default", None):
        return OptimizerConfig.from_options(get_experimental_options())
    if isinstance(config, OptimizerConfig):
        return config
    raise BadRequest(
        "SessionConfig.optimizer is not understood",
        check="it says how graphs are optimized",
        found=repr(config),
        needed="'default', 'off' or an OptimizerConfig",
        remedy="SessionConfig(optimizer=OptimizerConfig(...))",
        code="bad-optimizer-option",
    )


def _reached(graph: Graph, tensors: Sequence[str]) -> Graph:
    """A copy with the nodes that a run of these tensors may need, and no others."""
    needed = reachable([graph.output(name)[0] for name in tensors])
    if len(needed) == len(graph):
        return graph
    twin = graph.copy()
    names = {node.name for node in needed}
    twin.remove([node for node in twin if node.name not in names])
    return twin


MODULE: Final = Module("optimizer", (), lambda _library, _symbol: None, stages={"optimize": _stage})
