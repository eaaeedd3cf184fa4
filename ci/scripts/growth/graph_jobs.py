"""What is done to graphs: reading, looking, every pass, partition, lowering, printing."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from ci.scripts.growth.build import Made

__all__ = ["Job", "Work", "graph_jobs"]

Work = Callable[[], object]
Job = Callable[[Made], Work]
"""Prepares, and gives what is measured."""

_AGGRESSIVE: Final = (
    "function_optimization", "constant_folding", "arithmetic_optimization", "loop_optimization",
    "dependency_optimization", "remapping",
)  # fmt: skip
_MORE: Final[Mapping[str, Mapping[str, Any]]] = {
    "layout_optimizer": {"cpu_layout_conversion": "nhwc_to_nchw"},
    "auto_parallel": {"auto_parallel_replicas": 2},
    "memory_optimization": {"memory_mode": "heuristics"},
}


def graph_jobs() -> dict[str, Job]:
    """All of them, by name."""
    return {**_reading(), **_optimizing(), **_passes(), **_sessions(), **_printing()}


def _graph(made: Made) -> Any:
    from drystone_base.graph import Graph

    return Graph.from_bytes(made.data)


def _reading() -> dict[str, Job]:
    from drystone_base.graph import Graph, topological_order, validate
    from drystone_base.graph.pbtxt import from_text, to_text
    from drystone_base.inference.inference import infer

    def read_text(made: Made) -> Work:
        text = to_text(_graph(made))
        return lambda: from_text(text)

    def on_graph(do: Callable[[Any], object]) -> Job:
        return lambda made: partial(do, _graph(made))

    def edit(graph: Any) -> None:
        for node in list(graph):
            for k in range(1 if graph.has_users(node) else 0):
                graph.redirect((node, k), (node, k))

    def bodies(graph: Any) -> None:
        for function in graph.functions:
            function.body(graph.functions)

    return {
        "read pb": lambda made: lambda: Graph.from_bytes(made.data),
        "read pbtxt": read_text,
        "write pb": on_graph(lambda graph: graph.to_bytes()),
        "write pbtxt": on_graph(to_text),
        "order": on_graph(topological_order),
        "validate": on_graph(validate),
        "infer": on_graph(infer),
        "copy": on_graph(lambda graph: graph.copy()),
        "edit": on_graph(edit),
        "bodies": on_graph(bodies),
    }


def _optimizing() -> dict[str, Job]:
    from drystone_optimizer import OptimizerConfig, optimize_with_report
    from drystone_optimizer.core.config import OWN, PASSES

    def job(config: Any) -> Job:
        def prepare(made: Made) -> Work:
            graph = _graph(made)
            ends = made.fetches, made.feeds
            return lambda: optimize_with_report(graph, *ends, config, available=())

        return prepare

    names = ["model_pruning", *PASSES[1:], *OWN]
    found = {
        f"optimize: {name}": job(OptimizerConfig.of_passes((name,), **_MORE.get(name, {})))
        for name in names
    }
    found["optimize"] = job(OptimizerConfig())
    found["optimize verified"] = job(OptimizerConfig(verify_passes=True))
    most: dict[str, Any] = dict.fromkeys(_AGGRESSIVE, "aggressive")
    found["optimize aggressively"] = job(OptimizerConfig(numeric="approximate", **most))
    every: dict[str, Any] = {name: True for name in names if name != "model_pruning"}
    settings = {name: value for more in _MORE.values() for name, value in more.items()}
    found["optimize with all"] = job(OptimizerConfig(**every, **settings))
    return found


def _passes() -> dict[str, Job]:
    from drystone_base.api.config import SessionConfig
    from drystone_base.passes import PassOptions, registered, run_grouping

    switched = [one for one in registered() if one.origin == "drystone-base"]
    devices = ["/job:localhost/replica:0/task:0/device:CPU:0"]

    def job(one: Any) -> Job:
        def prepare(made: Made) -> Work:
            graph = _graph(made)
            settings = {"tensors": list(made.fetches)[:1]} if "Jitter" in one.name else {}
            options = PassOptions(graph=graph, fetches=made.fetches, feeds=made.feeds,
                                  devices=devices, session=SessionConfig())  # fmt: skip
            return lambda: run_grouping(one.grouping, options, {one.name: settings or True})

        return prepare

    return {f"pass: {one.name}": job(one) for one in switched if one.name != "BuildClusterOpsPass"}


_CLUSTERS: Final = (
    "CloneConstantsForBetterClusteringPass", "MarkForCompilationPass",
    "IncreaseDynamismForAutoJitPass", "PartiallyDeclusterPass", "EncapsulateSubgraphsPass",
)  # fmt: skip


def _sessions() -> dict[str, Job]:
    from drystone_base.api.config import SessionConfig
    from drystone_base.passes import prepare as split

    def prepared(**more: Any) -> Job:
        from drystone_base.api.session import Session

        def prepare(made: Made) -> Work:
            session = Session(_graph(made), SessionConfig(**more))
            return lambda: session.make_callable(list(made.fetches), list(made.feeds))

        return prepare

    def several(**more: Any) -> Job:
        config = SessionConfig(**more)

        def prepare(made: Made) -> Work:
            graph = _graph(made)
            return lambda: split(graph, made.fetches, made.feeds, config)

        return prepare

    both = {"LowerFunctionalOpsPass": True, "FunctionalizeControlFlowPass": True}
    return {
        "lower": prepared(optimizer="off"),
        "lower for reference": prepared(optimizer="off", executor="reference"),
        "prepare": prepared(),
        "place on two": several(device_count={"CPU": 2}),
        "clusters": several(passes=dict.fromkeys(_CLUSTERS, True)),
        "lowered and back": several(passes=both),
        **{f"subgraphs: {name}": _regions(name) for name in _backends()},
    }


def _backends() -> list[str]:
    """The backends that can be used here."""
    from drystone_base.core.errors import DrystoneError
    from drystone_subgraph.contract.backend import find_backend

    found = []
    for name in ("default", "cpu"):
        try:
            list(find_backend(name).properties())
            found.append(name)
        except DrystoneError as error:
            print(f"subgraph backend {name!r} is left out: {error.what}", flush=True)
    return found


def _regions(backend: str) -> Job:
    from drystone_subgraph import PartitionConfig, partition

    def prepare(made: Made) -> Work:
        graph = _graph(made)
        config = PartitionConfig((backend,), minimum_size=1)
        return lambda: partition(graph, made.fetches, made.feeds, config)

    return prepare


def _printing() -> dict[str, Job]:
    from click.testing import CliRunner

    from drystone_base.cli._app import app

    def job(*arguments: str) -> Job:
        def prepare(made: Made) -> Work:
            folder = tempfile.TemporaryDirectory()
            path = Path(folder.name) / "model.pb"
            path.write_bytes(made.data)

            def work() -> object:
                line = [a.format(model=path, folder=folder.name) for a in arguments]
                found = CliRunner().invoke(app, line)  # a model may be refused: that is measured
                if found.exception and not isinstance(found.exception, SystemExit):
                    raise found.exception
                return found.output

            return work

        return prepare

    def described(made: Made) -> Work:
        from drystone_base.api.config import SessionConfig
        from drystone_base.api.session import Session

        session = Session(_graph(made), SessionConfig(optimizer="off"))
        session.make_callable(list(made.fetches), list(made.feeds))
        return lambda: session.describe(list(made.fetches), list(made.feeds))

    return {
        "print: inspect": job("inspect", "{model}"),
        "print: inspect --json": job("inspect", "{model}", "--json"),
        "print: svg": job("inspect", "{model}", "--graph", "{folder}/out.svg"),
        "print: html": job("inspect", "{model}", "--graph", "{folder}/out.html"),
        "print: explain": job("explain", "{model}", "--nodes"),
        "print: placement": job("explain", "{model}", "--placement", "--cpus", "2"),
        "print: describe": described,
    }
