"""The merge table of RFC 318: all rows for every toggle (S0-merge)."""

from __future__ import annotations

import itertools
import logging

import pytest

from drystone_optimizer import OptimizerConfig, Toggle
from drystone_optimizer.core.config import DEFAULT_OFF, OWN, PASSES
from drystone_optimizer.core.merge import _WORK_OF, RequestedToggles, merge, warn_of_changes

TURNED_ON = [name for name in PASSES if name != "disable_model_pruning"]
WISHES = ("on", "default", "off")
PAIRS = list(itertools.product(WISHES, WISHES))


def requested(plugin: str, name: str, choice: str) -> RequestedToggles:
    return RequestedToggles(plugin, {} if choice == "default" else {name: choice})


@pytest.mark.parametrize("name", TURNED_ON)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_rows_with_the_users_config_on(name: str, first: str, second: str) -> None:
    """Row B19. S0-merge, rows 1 to 4: on unless a plugin turns it off; conflicts where one does."""
    merged = merge(
        OptimizerConfig.from_options({name: "on"}),
        [requested("one", name, first), requested("two", name, second)],
    )
    off = [p for p, w in (("one", first), ("two", second)) if w == "off"]
    assert merged.values[name] is not bool(off)
    if not off:
        assert merged.changes == ()
        return
    (change,) = [change for change in merged.changes if _WORK_OF.get(change.name) != name]
    assert (change.name, change.now, list(change.by)) == (name, False, off)
    assert bool(change.against) == (len(off) == 1)


@pytest.mark.parametrize("name", TURNED_ON)
@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_row_with_the_users_config_off(name: str, first: str, second: str) -> None:
    """Row B19. S0-merge, last row: always disabled when the user turns it off."""
    merged = merge(
        OptimizerConfig.from_options({name: "off"}),
        [requested("one", name, first), requested("two", name, second)],
    )
    assert merged.values[name] is False
    assert [change for change in merged.changes if _WORK_OF.get(change.name) != name] == []


@pytest.mark.parametrize("name", TURNED_ON)
@pytest.mark.parametrize("first", WISHES)
def test_users_default_is_the_passes_own(name: str, first: str) -> None:
    """Where the user has said nothing, a plugin turns a pass on or off; off wins over on."""
    merged = merge(OptimizerConfig(), [requested("one", name, first)])
    assert merged.values[name] is (first == "on" or (name not in DEFAULT_OFF and first != "off"))
    merged = merge(
        OptimizerConfig(), [requested("one", name, first), requested("two", name, "off")]
    )
    assert merged.values[name] is False


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("user", [Toggle.DEFAULT, Toggle.ON, Toggle.OFF])
def test_off_holds_for_our_own_passes_of_that_work(name: str, user: Toggle) -> None:
    """Else our fusions, which come first, leave a plugin nothing to fuse."""
    config = OptimizerConfig.from_options({name: user.name.lower()})
    toggle = _WORK_OF[name]
    assert toggle in PASSES
    merged = merge(config, [RequestedToggles("itex", {toggle: "off"})])
    assert merged.values[name] is False
    assert (name in [change.name for change in merged.changes]) == config.is_on(name)
    for wishes in ({toggle: "on"}, {}, {"loop_optimization": "off"}):
        assert merge(config, [RequestedToggles("itex", wishes)]).values[name] is config.is_on(name)


@pytest.mark.parametrize(
    ("user", "first", "second", "final"),
    [
        (Toggle.DEFAULT, "default", "default", False),
        (Toggle.DEFAULT, "off", "default", False),
        (Toggle.DEFAULT, "on", "default", True),
        (Toggle.DEFAULT, "on", "off", True),
        (Toggle.OFF, "on", "on", True),
        (Toggle.ON, "off", "off", True),
        (Toggle.ON, "default", "default", True),
    ],
)
def test_disable_model_pruning_is_the_reverse(
    user: Toggle, first: str, second: str, final: bool
) -> None:
    """S0-merge: any plugin's On disables pruning."""
    name = "disable_model_pruning"
    merged = merge(
        OptimizerConfig(disable_model_pruning=user),
        [requested("one", name, first), requested("two", name, second)],
    )
    assert merged.values[name] is final
    assert bool(merged.changes) == (final and user is not Toggle.ON)


def test_no_plugins_leave_the_users_choices() -> None:
    merged = merge(OptimizerConfig(debug_stripper=True, remapping=False), [])
    assert merged.values["debug_stripper"]
    assert not merged.values["remapping"]
    assert merged.changes == ()


def logged(caplog: pytest.LogCaptureFixture, *wishes: RequestedToggles) -> list[str]:
    merged = merge(OptimizerConfig(), list(wishes))
    with caplog.at_level(logging.WARNING, logger="drystone.optimizer"):
        warn_of_changes(merged)
        warn_of_changes(merged)
    return [record.getMessage() for record in caplog.records]


def test_change_is_warned_of_once_naming_pass_and_plugin(caplog: pytest.LogCaptureFixture) -> None:
    """Row B20. S0-warn, second row: users are reminded that a plugin changed the config."""
    off = {"remapping": "off"}
    assert logged(caplog, RequestedToggles("itex", off)) == [
        f"{name} was turned off by plugin itex"
        for name in ("remapping", "layer_fusion", "elementwise_fusion")
    ]


def test_conflict_is_warned_of_more_strongly(caplog: pytest.LogCaptureFixture) -> None:
    """Row B20. S0-warn, rows 3 and 4: and that performance may suffer from conflicting configs."""
    off = {"loop_optimization": "off"}
    (line,) = logged(caplog, RequestedToggles("itex", off), RequestedToggles("zen", {}))
    assert line == (
        "loop_optimization was turned off by plugin itex, against plugin zen: their configurations "
        "conflict, which may cost performance"
    )
