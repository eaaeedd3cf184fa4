"""The backend with a plugin that crashes, fails or has no table: the text says why."""

from __future__ import annotations

import ctypes as c
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.ops.attrs import TensorAttr
from drystone_pjrt.libraries import opened
from drystone_subgraph import SubgraphWarning, executables

W = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
X = np.linspace(-2, 2, 6, dtype=np.float32).reshape(2, 3)


def layer() -> Graph:
    """``y``: the hyperbolic tangent of a product."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (2, 3)})
    w = graph.add("Const", "w", attrs={"dtype": FLOAT32, "value": TensorAttr(array=W)})
    product = graph.add("MatMul", "product", [x, w], attrs={"T": FLOAT32})
    graph.add("Tanh", "y", [product], attrs={"T": FLOAT32})
    return graph


def session() -> ds.Session:
    return ds.Session(layer(), ds.SessionConfig(subgraphs="pjrt", optimizer="off"))


@pytest.fixture
def own_copy(fake_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only plugin; it has not been opened before, nor tried."""
    path = Path(shutil.copy(fake_path, tmp_path / "own.so"))
    with path.open("ab") as file:
        file.write(str(tmp_path).encode())
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGINS", f"own:{path}")
    monkeypatch.setenv("DRYSTONE_PJRT_PLUGIN", "own")
    monkeypatch.setenv("DRYSTONE_EXECUTABLE_CACHE", "off")
    monkeypatch.setattr(opened, "_CLIENTS", {})
    return path


@pytest.mark.parametrize(
    ("how", "code", "text"),
    [("crash", "plugin-probe-crashed", "SIGABRT"), ("none", "plugin-init-failed", "NULL")],
)
def test_a_plugin_that_cannot_be_opened_is_named(
    own_copy: Path, monkeypatch: pytest.MonkeyPatch, how: str, code: str, text: str
) -> None:
    monkeypatch.setenv("FAKE_PJRT", how)
    with pytest.raises(BadRequest, match="subgraph backend 'pjrt' cannot be used") as caught:
        session().run("y:0", {"x:0": X})
    assert (caught.value.code, text in str(caught.value)) == (code, True), str(caught.value)
    assert str(own_copy) in str(caught.value)


def test_a_region_that_does_not_compile_is_run_all_the_same(own_copy: Path) -> None:
    made = session()
    library: Any = c.CDLL(str(own_copy))
    library.GetPjrtApi()
    library.fake_set(b"failing", c.c_long(20))
    with pytest.warns(SubgraphWarning, match="cannot compile") as caught:
        found = made.run("y:0", {"x:0": X})
    np.testing.assert_allclose(found, np.tanh(X @ W), rtol=1e-6)
    (one,) = executables(made)
    assert one.state == "failed"
    assert "it is told to fail; its ops: MatMul, Tanh" in one.reason
    assert "pjrt-call-failed" in one.reason
    assert "MatMul, Tanh" in str(caught[-1].message)
