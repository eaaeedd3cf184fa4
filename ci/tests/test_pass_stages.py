"""Every rewrite of the optimizer has its tests: done, at rest, equal values, almost its pattern."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("drystone_optimizer")

from ci.scripts import pass_stages
from ci.scripts.stage_recorder import KINDS, stage


def test_each_rewrite_has_a_test_of_each_kind() -> None:
    assert pass_stages.lacking(pass_stages.table()) == [], (
        "write the tests, then: python -m ci.scripts.pass_stages"
    )


def test_a_new_rewrite_and_a_kind_that_lacks_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    found = pass_stages.table()
    gone = found.pop("remapping: bias")
    found["remapping: leaky-relu"] = dict.fromkeys(KINDS, 1) | {"declined": 0}
    assert pass_stages.lacking(found) == [
        "remapping: bias: no test runs it; record it again",
        "remapping: leaky-relu: never declined",
    ]
    assert all(gone.values())


def test_rewrites_are_found_in_the_code() -> None:
    found = pass_stages.rewrites()
    assert {"constant_folding: folded", "elementwise_fusion: region", "layer_fusion: gelu"} < found
    assert len(found) > 100
    assert stage("common_subgraph_elimination: duplicate-Exp") == (
        "common_subgraph_elimination: duplicate-nodes"
    )


def test_rewrites_are_named_alike() -> None:
    """Reports, limits and tests name rewrites: in words of the field, with hyphens between."""
    named = {key.partition(": ")[2] for key in pass_stages.rewrites() | set(pass_stages.table())}
    assert [name for name in named if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []
