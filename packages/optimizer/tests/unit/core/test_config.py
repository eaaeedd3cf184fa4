"""The user's choices: toggles, options, TensorFlow's protos."""

from __future__ import annotations

from typing import Any

import pytest

from drystone_abi.protos import ConfigProto, RewriterConfig
from drystone_base.core.errors import BadRequest
from drystone_optimizer import (
    OptimizerConfig,
    Toggle,
    get_experimental_options,
    set_experimental_options,
)
from drystone_optimizer.core.config import DEFAULT_OFF, PASSES


@pytest.mark.parametrize("name", PASSES)
def test_every_toggle_of_the_rfc_is_a_tri_state(name: str) -> None:
    """Row B5. S0-structs, S0-recommended: TP_OptimizerConfigs, each flag on, off or default."""
    assert OptimizerConfig().toggle(name) is Toggle.DEFAULT
    assert OptimizerConfig().is_on(name) is (name not in DEFAULT_OFF)
    for on in (True, "on", "ON", Toggle.ON):
        assert OptimizerConfig.from_options({name: on}).is_on(name)
    for off in (False, "off", Toggle.OFF):
        config = OptimizerConfig.from_options({name: off})
        assert config.toggle(name) is Toggle.OFF
        assert not config.is_on(name)
    assert OptimizerConfig.from_options({name: None}).toggle(name) is Toggle.DEFAULT


def test_toggles_are_those_of_the_c_struct_in_order() -> None:
    assert len(PASSES) == 19
    assert PASSES[:9] == (
        "disable_model_pruning",
        "implementation_selector",
        "function_optimization",
        "common_subgraph_elimination",
        "arithmetic_optimization",
        "debug_stripper",
        "constant_folding",
        "shape_optimization",
        "auto_mixed_precision",
    )


def test_switch_from_the_options_call_takes_a_dict() -> None:
    """Row B18. S0-switch, TF-2.x."""
    set_experimental_options({"use_plugin_optimizers": False})
    assert get_experimental_options() == {"use_plugin_optimizers": False}
    config = OptimizerConfig.from_options(get_experimental_options())
    assert config.use_plugin_optimizers is Toggle.OFF
    set_experimental_options({"use_plugin_optimizers": None, "remapping": "off"})
    assert get_experimental_options() == {"remapping": "off"}


def test_set_form_of_the_rfc_is_a_clear_error() -> None:
    """Row B18. S0-switch: its snippet writes a set; the remedy is shown."""
    options: Any = {"use_plugin_optimizers", False}
    with pytest.raises(BadRequest) as caught:
        set_experimental_options(options)
    text = str(caught.value)
    assert caught.value.code == "bad-optimizer-option"
    assert "found: a set with 'use_plugin_optimizers', False" in text
    assert 'needed: a dict: {"use_plugin_optimizers": False}' in text
    assert "write a colon, not a comma" in text
    assert get_experimental_options() == {}


def test_other_things_are_no_options() -> None:
    bad: Any = 7
    with pytest.raises(BadRequest, match="must be a mapping"):
        OptimizerConfig.from_options(bad)


def test_unknown_option_names_near_ones() -> None:
    with pytest.raises(BadRequest) as caught:
        set_experimental_options({"use_plugin_optimizer": False})
    assert caught.value.code == "unknown-optimizer-option"
    assert "did you mean use_plugin_optimizers" in str(caught.value)


@pytest.mark.parametrize("value", ["yes", 1.5, 7])
def test_value_that_is_no_choice_is_refused(value: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        set_experimental_options({"remapping": value})
    assert caught.value.code == "bad-optimizer-option"
    assert "OptimizerConfig.remapping is not understood" in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("isolation", "proc"), ("isolation", {"a": "process", "b": True}), ("deadline", 0)],
)
def test_isolation_and_deadline_must_make_sense(name: str, value: Any) -> None:
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig.from_options({name: value})
    assert caught.value.code == "bad-optimizer-option"
    assert f"OptimizerConfig.{name} is not understood" in str(caught.value)


def test_switch_from_a_session_config_of_tensorflow() -> None:
    """Row B18. S0-switch, TF-1.x: ConfigProto.graph_options.rewrite_options."""
    proto = ConfigProto()
    proto.graph_options.rewrite_options.use_plugin_optimizers = RewriterConfig.OFF
    proto.graph_options.rewrite_options.remapping = RewriterConfig.ON
    config = OptimizerConfig.from_proto(proto)
    assert config.use_plugin_optimizers is Toggle.OFF
    assert config.remapping is Toggle.ON
    assert config.layout_optimizer is Toggle.DEFAULT


def test_fields_of_other_types_in_the_proto_become_toggles() -> None:
    proto = RewriterConfig(
        disable_model_pruning=True, memory_optimization=RewriterConfig.NO_MEM_OPT
    )
    proto.auto_parallel.enable = True
    config = OptimizerConfig.from_proto(proto)
    assert config.disable_model_pruning is Toggle.ON
    assert config.memory_optimization is Toggle.OFF
    assert config.auto_parallel is Toggle.ON
    off = OptimizerConfig.from_proto(RewriterConfig(disable_meta_optimizer=True))
    assert off.disable_meta_optimizer


def test_names_of_passes_that_there_are_not_are_refused() -> None:
    for call in (OptimizerConfig().without, OptimizerConfig.of_passes):
        for names in (["remaping"], "remapping", [10**5000], [None]):
            with pytest.raises(BadRequest, match="unknown-optimizer-option"):
                call(names)  # type: ignore[operator]
    assert not OptimizerConfig().without(["remapping", "plugin x"]).is_on("remapping")
    assert not OptimizerConfig().without(iter(["plugin x"])).is_on("use_plugin_optimizers")  # type: ignore[arg-type]
