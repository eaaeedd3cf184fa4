"""Whether what the optimizer makes of a graph may be kept for other processes."""

from __future__ import annotations

import pytest
from fresh_process import run_program

PROGRAM = """
import warnings
from drystone_base import SessionConfig, Session
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_optimizer.session.module import MODULE
warnings.simplefilter("ignore")
optimize, lasts = MODULE.stages["optimize"], MODULE.stages["lasting"]
graph = Graph()
ends = [graph.add("Placeholder", "x", attrs={{"dtype": FLOAT32, "shape": None}})]
for k in range(6):
    ends.append(graph.add("Neg", f"n{{k}}", [ends[-1]], attrs={{"T": FLOAT32}}))
{before}
optimize(graph, ["n5:0"], ["x:0"], {config})
print(lasts({config}))
"""


def lasts(before: str = "", config: str = '"default"') -> bool:
    return run_program(PROGRAM.format(before=before, config=config)).strip() == "True"


def test_the_default_optimizer_does_the_same_in_every_process() -> None:
    assert lasts()


FAILING = """
from drystone_optimizer.passes import arithmetic_optimization as chosen
import drystone_optimizer.pipeline.schedule as schedule
def fail(ctx):
    raise ValueError("broken")
schedule.PASSES = [p._replace(run=fail) if p.name == "arithmetic_optimization" else p
               for p in schedule.PASSES]
"""


OPTIONS = """
from drystone_optimizer import set_experimental_options
set_experimental_options({"constant_folding": False})
"""
OWN = """
from drystone_optimizer import graph_optimizer
@graph_optimizer(name="mine")
def mine(graph):
    return graph
"""


@pytest.mark.parametrize(
    ("before", "config"),
    [
        ("from drystone_optimizer import OptimizerConfig", "OptimizerConfig()"),
        (OPTIONS, '"default"'),
        (OWN, '"default"'),
        (FAILING, '"default"'),
    ],
)
def test_what_a_program_adds_or_a_pass_leaves_out_does_not_last(before: str, config: str) -> None:
    assert not lasts(before, config)
