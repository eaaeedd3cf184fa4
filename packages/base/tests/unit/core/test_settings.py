"""Settings that mean nothing are errors, and variables likewise."""

from __future__ import annotations

import warnings
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import drystone_base as ds
from drystone_base.api.config import SETTINGS, SessionConfig
from drystone_base.api.session import Session
from drystone_base.files.access import Access
from drystone_base.modules import variables
from drystone_base.modules.variables import SettingWarning, check_environment

BAD: list[tuple[str, Any, str]] = [
    ("executor", "gpu", "bad-session-setting"),
    ("executor", None, "bad-session-setting"),
    ("deadline", "soon", "bad-session-setting"),
    ("deadline", float("nan"), "bad-session-setting"),
    ("deadline", float("inf"), "bad-session-setting"),
    ("deadline", -1, "bad-session-setting"),
    ("deadline", True, "bad-session-setting"),
    ("seed", 1.5, "bad-session-setting"),
    ("seed", "7", "bad-session-setting"),
    ("seed", 1 << 70, "bad-session-setting"),
    ("access", "data/", "bad-session-setting"),
    ("optimizer", "fast", "bad-optimizer-option"),
    ("optimizer", True, "bad-optimizer-option"),
    ("optimizer", {"remapping": False}, "bad-optimizer-option"),
    ("optimizer", object(), "bad-optimizer-option"),
    ("optimizer", np.array([1, 2]), "bad-optimizer-option"),
    ("optimizer", SessionConfig, "bad-optimizer-option"),
    ("subgraphs", 3, "bad-subgraph-option"),
    ("subgraphs", np.array([1, 2]), "bad-subgraph-option"),
    ("subgraphs", range(3), "bad-subgraph-option"),
    ("subgraphs", len, "bad-subgraph-option"),
    ("subgraphs", ["default"], "bad-subgraph-option"),
    ("passes", ["x"], "bad-session-setting"),
    ("passes", {"x": 1}, "bad-session-setting"),
    ("passes", {1: True}, "bad-session-setting"),
    ("device_count", {"CPU": 0}, "bad-session-setting"),
    ("device_count", {"CPU": 1.0}, "bad-session-setting"),
    ("device_count", {"cpu": 1}, "bad-session-setting"),
    ("device_count", {"GUP": 1}, "bad-session-setting"),
    ("device_count", 2, "bad-session-setting"),
    ("allow_soft_placement", "no", "bad-session-setting"),
    ("log_device_placement", 1, "bad-session-setting"),
    ("intra_op_threads", "2", "bad-threads"),
    ("inter_op_threads", True, "bad-threads"),
    ("deterministic", None, "bad-session-setting"),
    ("micro_batch_bytes", -1, "bad-micro-batch"),
    ("micro_batch_bytes", 1.5, "bad-micro-batch"),
]


@pytest.mark.parametrize(("name", "value", "code"), BAD)
def test_a_setting_that_means_nothing_is_an_error(name: str, value: Any, code: str) -> None:
    with pytest.raises(ds.BadRequest) as caught:
        SessionConfig(**{name: value})
    error = caught.value
    assert error.code == code
    assert error.what == f"SessionConfig.{name} is not understood"
    assert error.found == repr(value)
    assert error.check
    assert error.needed == SETTINGS.settings[name].kind.needed
    assert error.remedy


def test_settings_that_are_fine_are_kept_in_one_form() -> None:
    config = SessionConfig(
        executor="Native",  # type: ignore[arg-type]
        deadline=np.float32(0.5),  # type: ignore[arg-type]
        seed=np.int64(3),  # type: ignore[arg-type]
        device_count={"GPU": 0},
        deterministic=np.True_,  # type: ignore[arg-type]
        intra_op_threads=np.int32(2),  # type: ignore[arg-type]
    )
    assert (config.executor, config.deadline, config.seed) == ("native", 0.5, 3)
    assert config.deterministic is True
    assert type(config.intra_op_threads) is int


def test_help_says_what_each_setting_can_be() -> None:
    told = SessionConfig.__doc__ or ""
    for one in SETTINGS.settings.values():
        assert f"``{one.name}``: {one.doc}" in told
        assert one.kind.needed in told


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=4,
)


@given(st.sampled_from(sorted(SETTINGS.settings)), junk)
@settings(max_examples=300)
def test_any_value_is_taken_or_refused(name: str, value: Any) -> None:
    with suppress(ds.BadRequest):
        SessionConfig(**{name: value})


def test_a_pass_that_nobody_registered_is_an_error() -> None:
    graph = ds.Graph()
    graph.add("NoOp", "n")
    with pytest.raises(ds.BadRequest, match="there is no such pass") as caught:
        Session(graph, SessionConfig(passes={"MarkForCompilatoinPass": True})).run("n")
    assert caught.value.code == "unknown-pass"
    assert caught.value.remedy == "did you mean MarkForCompilationPass?"


@pytest.mark.parametrize("paths", ["data/", b"data/", 3, [3], ["a\0b"], None])
def test_access_takes_lists_of_paths(paths: Any) -> None:
    with pytest.raises(ds.BadRequest) as caught:
        Access(read=paths)
    assert caught.value.code == "bad-access"
    assert "a list or tuple of paths" in caught.value.needed


@pytest.mark.parametrize(
    ("name", "value", "needed"),
    [
        ("DRYSTONE_EXECUTOR", "gpu", "native or reference"),
        ("DRYSTONE_NUM_THREADS", "two", "a whole number from 0 to 256"),
        ("DRYSTONE_NUM_THREADS", "-1", "a whole number from 0 to 256"),
        ("DRYSTONE_CPU_LEVEL", "v5", "v2 or v3 or v4"),
        ("DRYSTONE_PLAN_CACHE_BYTES", "1 GiB", "a whole number from 0 to 2**50"),
        ("DRYSTONE_DEVELOPER_MODE", "maybe", "1 or 0"),
    ],
)
def test_a_variable_that_means_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, needed: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ds.BadRequest) as caught:
        check_environment()
    assert caught.value.what == f"{value!r} is not a value of {name}"
    assert caught.value.needed == needed
    assert f"unset {name}" in caught.value.remedy or "did you mean" in caught.value.remedy


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRYSTONE_EXECUTOR", " ")
    check_environment()
    assert SessionConfig().executor == "native"
    monkeypatch.setenv("DRYSTONE_EXECUTOR", "reference")
    assert SessionConfig().executor == "reference"


def test_a_name_that_nobody_reads_is_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables, "_told", set())
    monkeypatch.setenv("DRYSTONE_EXECUTR", "native")
    monkeypatch.setenv("DRYSTONE_HADOOP", "/x")
    with pytest.warns(SettingWarning, match="EXECUTR; did you mean DRYSTONE_EXECUTOR"):
        check_environment()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_environment()


def test_a_config_shows_what_is_not_as_it_is_by_default() -> None:
    config = SessionConfig(deadline=3, device_count={"CPU": 2})
    assert repr(config) == "SessionConfig(deadline=3.0, device_count={'CPU': 2})"
    assert repr(SessionConfig()) == "SessionConfig()"
