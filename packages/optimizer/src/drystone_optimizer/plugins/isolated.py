"""Optimizers in Python in a process of their own, where a crash or a hang costs a warning.

The process imports the optimizer by its place, ``package.module:name``: that of an entry point, or
of a function that a module defines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib.metadata import EntryPoint
from typing import Any

from drystone_base.core.errors import PluginError
from drystone_base.plugins.isolation import Limits, OptimizerPlugin
from drystone_optimizer.core.config import OptimizerConfig, QueueRunner, Toggle
from drystone_optimizer.plugins.sources import Work, caller

__all__ = ["open_one", "place_of", "run_isolated"]

_HERE = "python:drystone_optimizer.plugins.isolated:open_one:"


def place_of(function: Callable[..., Any], origin: str) -> str:
    """Where another process finds the function; "" where it cannot."""
    if ":" in origin:
        return origin
    module, name = getattr(function, "__module__", ""), getattr(function, "__qualname__", "")
    hidden = not module or not name or module == "__main__" or "<" in name
    return "" if hidden else f"{module}:{name}"


def run_isolated(name: str, version: str, place: str, work: Work) -> bytes | None:
    """What the optimizer of that place makes of the work, in its process.

    Raises ``PluginError``: ``isolated-plugin-crashed``, ``isolated-plugin-deadline`` and so on, and
    ``bad-graph-optimizer`` where no other process can find it.
    """
    if not place:
        raise PluginError(
            f"graph optimizer {name!r} cannot run in a process of its own",
            check="another process must be able to import it",
            found="a function that only this process knows",
            needed="a function of a module that can be imported",
            remedy="move it into a module, or run it here: OptimizerConfig(isolation='none')",
            plugin=name,
            version=version,
            code="bad-graph-optimizer",
        )
    plugin = OptimizerPlugin(
        name, version, f"{_HERE}{place}", "", isolation="process", only_isolated=True
    )
    limits = Limits(work.config.deadline, work.config.memory_limit, work.deadline)
    more = {
        "parameters": dict(work.parameters),
        "config": _told(work.config),
        "iteration": work.iteration,
        "deadline": work.deadline,
        "where": work.where,
    }
    ends = work.fetches, work.feeds, work.preserve
    return plugin.run(work.graph, *ends, limits=limits, more=more)


def _told(config: OptimizerConfig) -> dict[str, Any]:
    """The config in what JSON knows, as ``_heard`` takes it."""
    return {one.name: _plain(getattr(config, one.name)) for one in fields(config)}


def _plain(value: Any) -> Any:
    if isinstance(value, Toggle):
        return value.value
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, tuple) else value


def _heard(told: Mapping[str, Any]) -> OptimizerConfig:
    """The config that the other process told of."""
    found = {name: _hashable(value) for name, value in told.items()}
    found["queue_runners"] = tuple(QueueRunner(*one) for one in found["queue_runners"])
    found["custom_optimizers"] = tuple((name, more) for name, more in told["custom_optimizers"])
    return OptimizerConfig(**found)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _hashable(one) for name, one in value.items()}
    return tuple(_hashable(one) for one in value) if isinstance(value, list) else value


def open_one(place: str) -> Callable[[bytes, dict[str, Any]], bytes | None]:
    """In that process: the optimizer, as a function of a graph and a request."""
    function = EntryPoint("", place, "").load()
    run = caller(function, getattr(function, "takes", "bytes"))

    def on_request(graph: bytes, request: dict[str, Any]) -> bytes | None:
        ends = (request["fetches"], request["feeds"], frozenset(request["preserve"]))
        now = (request["iteration"], request["deadline"], request["where"])
        config = _heard(request["config"])
        return run(Work(graph, *ends, config, request["parameters"], *now))

    return on_request
