"""Row J15: backends chosen by policy, on fake devices."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from drystone_base.core.errors import BadRequest
from drystone_subgraph import (
    ContainOpProperty,
    PartitionConfig,
    SubgraphBackend,
    SubgraphProperty,
    register_backend,
)
from drystone_subgraph.contract import backend


class Fake(SubgraphBackend):
    """Compiles for a device of some kind, which may not be there."""

    compiles = True

    def __init__(self, name: str, device: str, there: bool = True) -> None:
        self.name, self.device, self.there = name, device, there

    def properties(self) -> Sequence[SubgraphProperty]:
        if not self.there:
            raise BadRequest(
                "no device", check="c", found="f", needed="n", remedy="r", code="no-device"
            )
        return [ContainOpProperty({"Exp"})]


@pytest.fixture(autouse=True)
def fakes() -> None:
    backend._BACKENDS._items.clear()
    for name, device in (("two", "gpu"), ("one", "gpu"), ("low", "npu"), ("plain", "cpu")):
        register_backend(Fake(name, device))
    register_backend(Fake("broken", "gpu", there=False))
    register_backend(Fake("odd", "abacus"))


@pytest.mark.parametrize(
    ("policy", "chosen"),
    [
        ("prefer-cpu", ("plain",)),
        ("prefer-gpu", ("one", "two", "plain")),
        ("prefer-npu", ("low", "plain")),
        ("max-performance", ("one", "two", "low", "plain")),
        ("min-power", ("low", "plain", "one", "two")),
    ],
)
def test_j15_policies(policy: str, chosen: tuple[str, ...]) -> None:
    assert PartitionConfig.of(f"policy:{policy}").backends == chosen


def test_j15_a_name_beside_a_policy_comes_where_it_stands() -> None:
    assert PartitionConfig.of("plain,policy:prefer-gpu").backends == ("plain", "one", "two")


def test_j15_an_unknown_policy() -> None:
    with pytest.raises(BadRequest) as caught:
        PartitionConfig.of("policy:max-performence")
    assert caught.value.code == "unknown-subgraph-policy"
    assert "no policy 'max-performence'" in str(caught.value)
    assert caught.value.remedy == "did you mean policy:max-performance?"
