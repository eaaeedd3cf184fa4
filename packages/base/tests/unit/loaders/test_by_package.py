"""Files that other packages read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import drystone_base as ds
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadModelFile
from drystone_base.core.installed import EntryPoint
from drystone_base.loaders import Signature, TensorSpec, _by_package


def read_scaled(path: Path) -> tuple[ds.Graph, dict[str, Signature], dict[str, Any]]:
    """A model of one variable, whose value the file says."""
    b = ds.Builder(ds.Graph())
    x = b("Placeholder", dtype="float32", shape=[-1], name="x")
    handle = b("VarHandleOp", dtype="float32", shape=[], shared_name="scale")
    y = b("Mul", x, b("ReadVariableOp", handle, dtype="float32"), name="y")
    inputs = {"x": TensorSpec("x:0", FLOAT32, (-1,))}
    outputs = {"y": TensorSpec("y:0", FLOAT32, (-1,))}
    value = np.array(float(path.read_text()), np.float32)
    graph = y[0].graph
    return (
        graph,
        {"serving_default": Signature("serving_default", inputs, outputs)},
        {"scale": value},
    )


@pytest.fixture
def readers(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("scaled", f"{__name__}:read_scaled", "some-package", "1")
    monkeypatch.setattr(_by_package, "points", lambda _: [point])


@pytest.mark.usefixtures("readers")
def test_a_file_is_read_by_the_package_that_names_its_ending(tmp_path: Path) -> None:
    file = tmp_path / "model.SCALED"
    file.write_text("2.5")
    model = ds.load(file)
    assert model(x=[1.0, 2.0])["y"].tolist() == [2.5, 5.0]
    assert (model.loaded.kind, model.loaded.path) == ("scaled", file)
    ds.save(model, tmp_path / "saved")
    assert ds.load(tmp_path / "saved")(x=[2.0])["y"].tolist() == [5.0]


@pytest.mark.usefixtures("readers")
def test_other_files_are_what_their_bytes_say(tmp_path: Path) -> None:
    file = tmp_path / "model.h5"
    file.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(40))
    with pytest.raises(BadModelFile) as caught:
        ds.load(file)
    assert caught.value.code == "format-not-supported"
    assert "pip install drystone-keras" in str(caught.value.remedy)
