"""What a PartitionConfig may say, and what it is told otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interpreter import Compiling

from drystone_base.core.errors import BadRequest
from drystone_subgraph import PartitionConfig


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("backends", "default"), ("backends", (1,)), ("backends", ("",)), ("backends", None),
        ("minimum_size", 0), ("minimum_size", "3"), ("minimum_size", True), ("minimum_size", 2.5),
        ("exclude", "n1"), ("exclude", {"n1"}),
        ("functions", 1), ("why", "yes"), ("gate", "no"),
        ("specialisations", 0), ("specialisations", -1), ("specialisations", None),
        ("patience", "1"), ("patience", float("nan")), ("patience", False),
        ("threads", -1), ("threads", 10**6), ("threads", "all"),
        ("artefacts", None), ("artefacts", b"there"), ("writes_artefacts", True),
    ],
)  # fmt: skip
def test_settings_are_checked_when_they_are_made(name: str, value: Any) -> None:
    with pytest.raises(BadRequest, match=rf"PartitionConfig\.{name} is not understood") as caught:
        PartitionConfig(**{name: value})
    found = caught.value
    assert found.code == "bad-subgraph-option"
    assert found.found == repr(value)
    assert found.check
    assert found.needed
    assert found.remedy


def test_settings_that_are_fine() -> None:
    given: dict[str, Any] = {
        "backends": ["b", "a", "b"], "exclude": ["n1"], "minimum_size": np.int64(2), "threads": 4,
        "patience": 0, "specialisations": 1, "artefacts": Path("there"), "writes_artefacts": True,
    }  # fmt: skip
    config = PartitionConfig(**given)
    assert (config.backends, config.exclude) == (("b", "a"), ("n1",))
    assert config.artefacts == "there"
    assert hash(config) == hash(PartitionConfig(**given))
    for patience in (None, -1, 0.5, float("inf"), np.float32(2)):
        assert PartitionConfig(patience=patience).patience == patience


def test_policies_among_backends() -> None:
    Compiling({"AddN"}, name="compiling")
    wish = PartitionConfig(("default", "policy:prefer-cpu"), minimum_size=2)
    chosen = PartitionConfig.of(wish)
    assert chosen.backends[0] == "default"
    assert "compiling" in chosen.backends
    assert chosen.minimum_size == 2
    with pytest.raises(BadRequest, match="there is no policy 'typo'"):
        PartitionConfig.of(PartitionConfig(("policy:typo",)))
