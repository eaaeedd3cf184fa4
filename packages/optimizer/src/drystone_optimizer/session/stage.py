"""Optimizing the graph of a session, for one set of fetches and feeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from drystone_base.core.errors import BadRequest, GraphError
from drystone_base.core.printable import warn
from drystone_base.graph import Graph, parse_tensor_name, reachable
from drystone_optimizer.core.config import OptimizerConfig, get_experimental_options
from drystone_optimizer.core.failure import OptimizerWarning
from drystone_optimizer.core.process_state import LEFT_OUT
from drystone_optimizer.core.report import TOO_LATE, Report
from drystone_optimizer.pipeline.fusions import fusions_only, without_fusions
from drystone_optimizer.pipeline.pipeline import optimize_with_report
from drystone_optimizer.session.ceiling import with_ceiling

__all__ = [
    "fuse_for_session",
    "optimize_for_session",
    "simplify_for_session",
    "with_precision",
    "without_plugins",
]

_SIXTEEN_BITS: Final = {
    "bfloat16": "auto_mixed_precision_onednn_bfloat16",
    "float16": "auto_mixed_precision_cpu",
}
"""The toggle of the pass that computes layers in a type, on the CPU."""


def optimize_for_session(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any
) -> Graph:
    """The graph that a session should run; ``graph`` itself where nothing changed it."""
    return _optimized(graph, fetches, feeds, _config(config))


def simplify_for_session(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any
) -> Graph:
    """The graph whose regions backends are offered: all that is done but fusions for the host."""
    return _optimized(graph, fetches, feeds, without_fusions(_config(config)))


def fuse_for_session(
    graph: Graph, fetches: Sequence[str], feeds: Sequence[str], config: Any
) -> Graph:
    """The graph with the rest done; optimizers of plugins have had their turn."""
    return _optimized(graph, fetches, feeds, fusions_only(_config(config)), has_plugins=False)


def with_precision(config: Any, precision: str) -> OptimizerConfig:
    """What ``SessionConfig.optimizer`` must be for layers to be computed in that type.

    Raises ``BadRequest`` (``bad-precision``) where the config forbids it.
    """
    chosen = _config(config)
    if chosen.numeric == "exact" or chosen.disable_meta_optimizer:
        found = 'numeric="exact"' if chosen.numeric == "exact" else "disable_meta_optimizer=True"
        raise BadRequest(
            f"the model cannot be run with precision {precision!r}",
            check="a pass that rounds values to 16 bits must be allowed to run",
            found=found,
            needed='numeric="reassociates" or "approximate", with the meta-optimizer on',
            remedy=f"leave out {found}, or the precision",
            code="bad-precision",
        )
    toggles: dict[str, Any] = dict.fromkeys(_SIXTEEN_BITS.values(), False)
    toggles[_SIXTEEN_BITS[precision]] = True
    return replace(chosen, **toggles)


def without_plugins(config: Any) -> OptimizerConfig:
    """What ``SessionConfig.optimizer`` says, without optimizers of plugins."""
    return replace(_config(config), use_plugin_optimizers=False, custom_optimizers=())


def _optimized(
    graph: Graph,
    fetches: Sequence[str],
    feeds: Sequence[str],
    chosen: OptimizerConfig,
    *,
    has_plugins: bool = True,
) -> Graph:
    if chosen.disable_meta_optimizer:
        return graph
    tensors = (*fetches, *feeds)
    reached = _reached(graph, tensors)
    rebuild = None if reached is graph else partial(_reached, graph, tensors)
    here = tuple(name for name in chosen.keep if _is_in(reached, name) or not _is_in(graph, name))
    try:
        chosen = replace(chosen, keep=here)
        after, report = optimize_with_report(
            reached, fetches, feeds, chosen, runs_plugins=has_plugins, rebuild=rebuild
        )
        if _leaves_out(report):
            LEFT_OUT.note("optimizer")
        return after if chosen.numeric != "approximate" else with_ceiling(after)
    except GraphError as error:  # a session that runs without optimizers runs with them, too
        LEFT_OUT.note("graph")
        text = f"the graph was not optimized and is left unchanged: {error.render()}"
        warn(text, OptimizerWarning, stacklevel=2)
        return graph


def _leaves_out(report: Report) -> bool:
    ends = [(one.outcome, one.reason) for one in report.steps]
    ends += [(one.outcome, one.reason) for one in report.runs]
    return any(end in ("failed", "rejected") or why == TOO_LATE for end, why in ends)


def _is_in(graph: Graph, tensor: str) -> bool:
    return tensor in graph or parse_tensor_name(tensor)[0] in graph


def _config(config: Any) -> OptimizerConfig:
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
    return graph if len(needed) == len(graph) else graph.copy(only=needed.keys())
