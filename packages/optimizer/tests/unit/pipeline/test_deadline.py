"""Row J9: what happens to plugins, in C and in Python, here and elsewhere, when the time is over.

What finished stays, what overran is undone and named, nothing begins any more.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import wrong_passes
from pass_checks import Maker

from drystone_base.core import time_limits
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.host import available
from drystone_base.plugins import in_process, isolation
from drystone_optimizer import (
    OptimizerConfig,
    OptimizerWarning,
    Report,
    graph_optimizer,
    optimize_with_report,
    register,
)
from drystone_optimizer.core.report import TOO_LATE
from drystone_optimizer.pipeline import pipeline, plugin_runs
from drystone_optimizer.plugins.sources import Optimizer, Work, optimizers

ABS_FOR_NEG = 'replace_name(graph, "\\x12\\x03Neg", "\\x12\\x03" "Abs", optimized)'
LIMIT: dict[str, Any] = {"meta_optimizer_timeout_ms": 1000, "min_graph_nodes": -1}
needs_host = pytest.mark.skipif(not available(), reason="the host library is not built")


class Clock:
    """A clock that goes when a test says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def overrun(self) -> None:
        """A minute goes by."""
        self.now += 60


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    fake = SimpleNamespace(monotonic=lambda: made.now, perf_counter=time.perf_counter)
    for module in (pipeline, plugin_runs, time_limits, in_process):
        monkeypatch.setattr(module, "time", fake)
    return made


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    isolation.stop_workers()


def graph(device: str = "") -> Graph:
    """``y = -x``, with something to fold and something to drop."""
    m = Maker()
    total = m.op("AddV2", "sum", m.const("a", 1.0), m.const("b", 2.0), T=FLOAT32)
    m.op("Mul", "y", m.op("Neg", "n", m.x(), T=FLOAT32, device=device), total, T=FLOAT32)
    return m.graph


def ran(one: Optimizer, device: str = "", **more: Any) -> tuple[Graph, Report]:
    return optimize_with_report(graph(device), ["y:0"], ["x:0"], OptimizerConfig(**more), [one])


def in_python(phase: str, clock: Clock) -> Optimizer:
    """An optimizer that makes the Neg an Abs, and takes a minute."""

    @graph_optimizer(name="slow", takes="work", phase=phase)
    def slow(work: Any) -> bytes:
        clock.overrun()
        return bytes(work.graph.replace(b"\x12\x03Neg", b"\x12\x03Abs"))

    return next(one for one in optimizers(load=False) if one.name == "slow")


def test_j9_a_python_optimizer_that_overruns_is_undone_and_named(clock: Clock) -> None:
    one = in_python("end", clock)
    with pytest.warns(OptimizerWarning) as warned:
        after, report = ran(one, **LIMIT)
    assert str(warned[0].message).endswith(
        "did not optimize the graph, which is left unchanged: it was not done when 1000 ms for "
        "optimizing were over (meta_optimizer_timeout_ms)"
    )
    assert after["n"].op == "Neg"
    assert after["sum"].op == "Const", "what finished before stays"
    [run] = report.runs
    assert (run.outcome, run.reason) == ("skipped", TOO_LATE)
    assert run.nodes_before == run.nodes_after
    after, report = ran(one)
    assert (after["n"].op, report.runs[0].outcome) == ("Abs", "changed")


@pytest.mark.parametrize("phase", ["start", "before constant_folding"])
def test_j9_nothing_begins_when_the_time_is_over(clock: Clock, phase: str) -> None:
    one = in_python(phase, clock)
    second = replace(one, name="second")
    with pytest.warns(OptimizerWarning, match="plugin slow") as warned:
        after, report = optimize_with_report(
            graph(), ["y:0"], ["x:0"], OptimizerConfig(**LIMIT), [one, second]
        )
    assert len(warned) == 1, "one that did not even begin is not blamed"
    assert [(r.plugin, r.outcome, r.reason) for r in report.runs] == [
        ("slow", "skipped", TOO_LATE), ("second", "skipped", TOO_LATE),
    ]  # fmt: skip
    assert after["sum"].op == "AddV2"
    assert (report.steps[-1].outcome, report.steps[-1].reason) == ("skipped", TOO_LATE)
    late = "constant_folding" if "folding" in phase else "model_pruning"
    assert report.steps[-1].name == late


def test_j9_each_iteration_counts(clock: Clock) -> None:
    """An optimizer that a config names changed something in time once; then the time is over."""

    @graph_optimizer(name="each", takes="work", custom=True)
    def each(work: Any) -> bytes:
        if work.iteration > 1:
            clock.overrun()
            return bytes(work.graph.replace(b"\x12\x03Abs", b"\x12\x03Exp"))
        return bytes(work.graph.replace(b"\x12\x03Neg", b"\x12\x03Abs"))

    one = next(one for one in optimizers(load=False) if one.name == "each")
    with pytest.warns(OptimizerWarning, match="1000 ms for optimizing were over"):
        after, report = ran(one, custom_optimizers=(("each", {}),), **LIMIT)
    assert after["n"].op == "Abs"
    assert [run.outcome for run in report.runs] == ["changed", "skipped"]


@needs_host
def test_j9_a_c_optimizer_that_overruns_is_undone_and_named(
    clock: Clock, compile_library: Callable[..., Path]
) -> None:
    from drystone_base.host.library import open_library

    flags = ['-DDEVICE="LATE"', f"-DOPTIMIZE={ABS_FOR_NEG}"]
    library = open_library(compile_library("optimizer_variants.c", flags=flags))
    library.initialise("TF_InitGraph")
    one = next(one for one in optimizers(load=False) if one.device == "LATE")

    def slowly(work: Work) -> bytes | None:
        clock.overrun()
        return one.run(work)

    late = replace(one, run=slowly)
    with pytest.warns(OptimizerWarning, match="1000 ms for optimizing were over") as warned:
        after, report = ran(late, "/device:LATE:0", **LIMIT)
    assert library.path in str(warned[0].message)
    assert (after["n"].op, report.runs[0].outcome) == ("Neg", "skipped")
    for _ in range(200):  # the call that was left may be on its way yet, and then is refused
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OptimizerWarning)
            after, _ = ran(late, "/device:LATE:0")
        if after["n"].op == "Abs":
            break
        time.sleep(0.05)
    assert after["n"].op == "Abs"


INFER = 'report_item(item, "n", status)'
HIDE = INFER + '; TF_SetStatus(status, TF_INTERNAL, "no shapes")'
GO_ON = INFER + '; TF_SetStatus(status, TF_OK, ""); copy_graph(graph, optimized)'


@needs_host
@pytest.mark.parametrize(("device", "body"), [("TELLS", INFER), ("HIDES", HIDE), ("GOES", GO_ON)])
def test_j9_a_c_optimizer_that_asks_for_shapes_when_the_time_is_over_is_skipped(
    clock: Clock,
    compile_library: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    device: str,
    body: str,
) -> None:
    """Inference ends by the deadline, in a callback, whatever the plugin makes of that."""
    from drystone_base.host.library import open_library
    from drystone_base.inference import properties

    def late(*_: object) -> bytes:
        clock.overrun()
        with time_limits.until(clock.now - 1):
            time_limits.look()
        raise AssertionError

    monkeypatch.setattr(properties, "properties_of", late)
    flags = [f'-DDEVICE="{device}"', f"-DOPTIMIZE={body}"]
    open_library(compile_library("optimizer_variants.c", flags=flags)).initialise("TF_InitGraph")
    one = next(one for one in optimizers(load=False) if one.device == device)
    with pytest.warns(OptimizerWarning, match="1000 ms for optimizing were over"):
        after, report = ran(one, f"/device:{device}:0", fail_on_optimizer_errors=True, **LIMIT)
    assert [(run.outcome, run.reason) for run in report.runs] == [("skipped", TOO_LATE)]
    assert after["n"].op == "Neg"


@needs_host
def test_j9_an_isolated_c_optimizer_is_ended_when_the_time_is_over(
    compile_library: Callable[..., Path],
) -> None:
    flags = ['-DDEVICE="LOST"', "-DOPTIMIZE=for (volatile int k = 0;; ++k) {}"]
    isolation.load_isolated(compile_library("optimizer_variants.c", flags=flags))
    one = next(one for one in optimizers(load=False) if one.device == "LOST")
    for _ in range(2):  # it is asked again: it overran the caller's time, not its own
        with pytest.warns(OptimizerWarning, match="1000 ms for optimizing were over"):
            _, report = ran(replace(one, phase="start"), "/device:LOST:0", **LIMIT)
        assert [(r.outcome, r.reason) for r in report.runs] == [("skipped", TOO_LATE)]


def test_j9_an_isolated_python_optimizer_is_ended_when_the_time_is_over() -> None:
    wrong_passes.hangs.phase = "start"  # type: ignore[attr-defined]
    one = register(wrong_passes.hangs)
    with pytest.warns(OptimizerWarning, match="1000 ms for optimizing were over"):
        _, report = ran(one, isolation="process", **LIMIT)
    assert report.runs[0].outcome == "skipped"


def test_j9_an_isolated_python_optimizer_is_told_what_it_would_be_told_here() -> None:
    one = register(wrong_passes.notes_facts)
    named = (("notes_facts", {"depth": [1, 2], "by": {"k": 0.5}}),)
    config = OptimizerConfig(
        numeric="exact", keep=("y",), custom_optimizers=named, meta_optimizer_timeout_ms=600_000,
        mixed_precision_lists={"allowlist_add": ("Exp",)}, min_graph_nodes=-1,
        disable_model_pruning=True,
    )  # fmt: skip
    told = []
    for isolated in ("none", "process"):
        given = replace(config, isolation=isolated)
        after, _ = optimize_with_report(graph(), ["y:0"], ["x:0"], given, [one])
        told.append(after["told"].attrs["_facts"])
    assert told[0].startswith("(1, 'exact', ('y',), (('notes_facts'")
    assert told[0] == told[1]
