"""Executables that give what the region does not: refused by name, and the host runs the region."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling, Interpreter

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.graph import Graph
from drystone_base.plugins import load_library
from drystone_subgraph import CompileRequest, PartitionConfig, SubgraphWarning, executables
from drystone_subgraph.compiled.outputs import checked_outputs

pytestmark = pytest.mark.cases_in_gate(3)

SOURCE = Path(__file__).parents[2] / "plugins" / "answering.c"
X = np.array([1, 2], np.float32)
Array = np.ndarray[Any, Any]


def session(backend: str, executor: Any = "native", size: Any = 2) -> ds.Session:
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (size,)})
    graph.add("Neg", "y", [x], attrs={"T": FLOAT32})
    settings = PartitionConfig((backend,))
    return ds.Session(
        graph, ds.SessionConfig(subgraphs=settings, optimizer="off", executor=executor)
    )


CASES = [
    (1, "output 0 has shape [3], and the region gives [2]"),
    (2, "output 0 has dtype int64, and the region states float"),
    (3, "output 0 is NULL"),
    (4, "it wrote outside of the array of outputs"),
    (5, "output 0 is NULL"),
    (6, "output 0 has shape [2, 1], and the region gives [2]"),
    (7, "output 0 has shape [0], and the region gives [2]"),
]


@pytest.mark.parametrize(("how", "text"), CASES)
@pytest.mark.parametrize("executor", ["native", "reference"])
def test_what_a_plugin_must_not_answer(
    compile_library: Callable[..., Path], how: int, text: str, executor: str
) -> None:
    """The run is right all the same; one warning names the backend and what was wrong."""
    name = f"answers{how}{executor}"
    file = compile_library(SOURCE, flags=[f"-DHOW={how}", f'-DNAME="{name}"'])
    load_library(str(file), policy="allow_unverified")
    made = session(name, executor)
    with pytest.warns(SubgraphWarning) as told:
        found = made.run("y:0", {"x:0": X})
    np.testing.assert_array_equal(found, -X)
    assert len(told) == 1
    assert f"subgraph backend '{name}' and operator" in str(told[0].message)
    assert text in str(told[0].message)
    (state,) = executables(made)
    assert (state.state, state.runs) == ("failed", 0)


@pytest.mark.parametrize("size", [2, -1])
def test_what_fits_is_taken(compile_library: Callable[..., Path], size: Any) -> None:
    name = f"answers0of{abs(size)}"
    file = compile_library(SOURCE, flags=["-DHOW=0", f'-DNAME="{name}"'])
    load_library(str(file), policy="allow_unverified")
    made = session(name, size=size)
    for k in (2, 2, 3) if size < 0 else (2, 2):
        x = np.arange(k, dtype=np.float32)
        np.testing.assert_array_equal(made.run("y:0", {"x:0": x}), -x)
    assert all(state.state == "ready" for state in executables(made))


class _Longer(Interpreter):
    """Gives a row too many."""

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        return [np.concatenate([a, a[:1]]) for a in super().__call__(inputs)]


class _Twice(Interpreter):
    """Gives each output twice."""

    def __call__(self, inputs: Sequence[Array]) -> Sequence[Array]:
        return [*super().__call__(inputs)] * 2


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (_Longer, "ValueError: output 0 has shape [3], and the region gives [2]"),
        (_Twice, "ValueError: it gave 2 outputs, and the region has 1"),
    ],
)
def test_what_a_backend_in_python_must_not_answer(
    kind: Callable[[CompileRequest], Any], text: str
) -> None:
    Compiling({"Neg"}, kind)
    made = session("fake")
    with pytest.warns(SubgraphWarning) as told:
        np.testing.assert_array_equal(made.run("y:0", {"x:0": X}), -X)
    assert text in str(told[0].message)


def test_unknown_dimensions_admit_anything() -> None:
    assert checked_outputs([X], [FLOAT32], [None])[0] is X
    assert checked_outputs([X], [FLOAT32], [(-1,)])[0] is X
    with pytest.raises(
        ValueError, match=r"output 0 has shape \[2\], and the region gives \[\?, 3\]"
    ):
        checked_outputs([X], [FLOAT32], [(-2, 3)])
