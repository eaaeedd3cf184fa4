"""Every option of TensorFlow: by the options call, and in a ConfigProto (S0-switch)."""

from __future__ import annotations

from typing import Any

import pytest
from pass_checks import Maker, as_lines

from drystone_abi.protos import ConfigProto, RewriterConfig, VerifierConfig
from drystone_base.api.config import SessionConfig
from drystone_base.api.tuning import tuned
from drystone_base.core.dtypes import FLOAT32
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_optimizer import (
    OptimizerConfig,
    Toggle,
    get_experimental_options,
    graph_optimizer,
    optimize_with_report,
    optimizers,
    set_experimental_options,
)
from drystone_optimizer.core.config import BY_SHORT_NAME, MEMORY_MODES, OWN, PASSES
from drystone_optimizer.passes import names_of_passes

# The keys of tf.config.optimizer.set_experimental_options in TensorFlow 2.21, documented or read.
TOGGLES = (
    "layout_optimizer", "constant_folding", "shape_optimization", "remapping",
    "arithmetic_optimization", "dependency_optimization", "loop_optimization",
    "function_optimization", "debug_stripper", "scoped_allocator_optimization",
    "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision",
    "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_mkl", "use_plugin_optimizers",
    "auto_parallel",
)  # fmt: skip
BOOLS = ("disable_model_pruning", "disable_meta_optimizer")


@pytest.mark.parametrize("name", [*TOGGLES, *BOOLS])
@pytest.mark.parametrize("value", [True, False])
def test_option_of_tensorflow_is_set_and_read(name: str, value: bool) -> None:
    set_experimental_options({name: value})
    assert get_experimental_options() == {name: value}
    found = getattr(OptimizerConfig.from_options(get_experimental_options()), name)
    assert found in (value, Toggle.ON if value else Toggle.OFF)


def test_options_are_added_to_those_before() -> None:
    set_experimental_options({"min_graph_nodes": -1})
    set_experimental_options({"remapping": False})
    assert get_experimental_options() == {"min_graph_nodes": -1, "remapping": False}
    assert OptimizerConfig.from_options(get_experimental_options()).min_graph_nodes == -1


def test_none_takes_an_option_back_whatever_its_kind() -> None:
    set_experimental_options({"min_graph_nodes": -1, "remapping": False, "numeric": "exact"})
    set_experimental_options(dict.fromkeys(("min_graph_nodes", "remapping", "numeric")))
    assert get_experimental_options() == {}


# Fields of RewriterConfig: a value, and what it sets.
FIELDS: dict[str, tuple[Any, dict[str, Any]]] = {
    **{
        name: (RewriterConfig.OFF, {name: Toggle.OFF})
        for name in (*PASSES, *OWN, "use_plugin_optimizers")
        if name
        not in (
            "disable_model_pruning",
            "memory_optimization",
            "auto_parallel",
            "layer_fusion",
            "quantized_layers",
            "elementwise_fusion",
        )
    },
    "disable_model_pruning": (True, {"disable_model_pruning": Toggle.ON}),
    "memory_optimization": (RewriterConfig.MANUAL, {"memory_mode": "manual"}),
    "memory_optimizer_target_node_name_scope": (
        "grad/",
        {"memory_optimizer_target_node_name_scope": "grad/"},
    ),
    "disable_meta_optimizer": (True, {"disable_meta_optimizer": True}),
    "disable_tfg_optimizer": (True, {"disable_tfg_optimizer": True}),
    "min_graph_nodes": (9, {"min_graph_nodes": 9}),
    "meta_optimizer_iterations": (RewriterConfig.ONE, {"meta_optimizer_iterations": 1}),
    "meta_optimizer_timeout_ms": (50, {"meta_optimizer_timeout_ms": 50}),
    "fail_on_optimizer_errors": (True, {"fail_on_optimizer_errors": True}),
    "cpu_layout_conversion": (
        RewriterConfig.NHWC_TO_NCHW,
        {"cpu_layout_conversion": "nhwc_to_nchw"},
    ),
    "experimental_conditional_code_motion": (
        RewriterConfig.OFF,
        {"experimental_conditional_code_motion": Toggle.OFF},
    ),
    "experimental_disable_compressed_tensor_optimization": (
        True,
        {"experimental_disable_compressed_tensor_optimization": True},
    ),
    "experimental_disable_folding_quantization_emulation": (
        True,
        {"experimental_disable_folding_quantization_emulation": True},
    ),
    "optimizers": (
        ["constfold", "remapping"],
        {"optimizers": ("constant_folding", "remapping")},
    ),
}


@pytest.mark.parametrize("name", FIELDS)
def test_field_of_the_proto_is_read(name: str) -> None:
    """S0-switch, TF-1.x: rewrite_options of a ConfigProto."""
    value, expected = FIELDS[name]
    proto = ConfigProto()
    if isinstance(value, list):
        getattr(proto.graph_options.rewrite_options, name).extend(value)
    else:
        setattr(proto.graph_options.rewrite_options, name, value)
    found, plain = OptimizerConfig.from_proto(proto), OptimizerConfig()
    for field, wanted in expected.items():
        assert getattr(found, field) == wanted
        assert getattr(plain, field) != wanted


def test_fields_that_hold_messages_are_read() -> None:
    proto = RewriterConfig()
    proto.auto_parallel.enable, proto.auto_parallel.num_replicas = True, 3
    proto.scoped_allocator_opts.enable_op.append("Abs")
    custom = proto.custom_optimizers.add(name="mine")
    custom.parameter_map["depth"].i = 4
    proto.inter_optimizer_verifier_config.structure_verifier = VerifierConfig.ON
    found = OptimizerConfig.from_proto(proto)
    assert (found.auto_parallel, found.auto_parallel_replicas) == (Toggle.ON, 3)
    assert found.scoped_allocator_ops == ("Abs",)
    assert found.custom_optimizers == (("mine", {"depth": 4}),)
    assert found.verify_passes
    after = RewriterConfig()
    after.post_optimization_verifier_config.structure_verifier = VerifierConfig.ON
    assert OptimizerConfig.from_proto(after).verify_passes


def test_no_field_of_the_proto_is_passed_over() -> None:
    messages = {
        "auto_parallel", "scoped_allocator_opts", "custom_optimizers",
        "inter_optimizer_verifier_config", "post_optimization_verifier_config",
    }  # fmt: skip
    known = {field.name for field in RewriterConfig.DESCRIPTOR.fields}
    assert known == {*FIELDS, *messages}


@pytest.mark.parametrize("mode", range(2, 7))
def test_modes_of_memory_optimization_are_read(mode: int) -> None:
    found = OptimizerConfig.from_proto(RewriterConfig(memory_optimization=mode))  # type: ignore[arg-type]
    assert found.memory_mode == MEMORY_MODES[mode - 1]


# ---- passes by name ----------------------------------------------------------------------------


def graph() -> Graph:
    m = Maker()
    m.op("Mul", "one", m.x(), m.const("c", 1.0), T=FLOAT32)
    m.op("Neg", "n", "one", T=FLOAT32)
    m.op("Neg", "y", "n", T=FLOAT32)
    return m.graph


def test_list_of_optimizers_says_which_run_and_in_which_order() -> None:
    config = OptimizerConfig(
        optimizers=("arithmetic", "pruning", "constfold"), constant_folding=False,
        meta_optimizer_iterations=1,
    )  # fmt: skip
    _, report = optimize_with_report(graph(), ["y:0"], ["x:0"], config, ())
    assert [step.name for step in report.steps] == [
        "arithmetic_optimization",
        "model_pruning",
        "constant_folding",
    ]


@pytest.mark.parametrize("short", BY_SHORT_NAME)
def test_short_name_of_tensorflow_is_a_pass(short: str) -> None:
    config = OptimizerConfig(optimizers=(short,), min_graph_nodes=-1)
    assert config.optimizers == (BY_SHORT_NAME[short],)
    assert BY_SHORT_NAME[short] in names_of_passes()


def test_memory_by_name_runs_by_hand() -> None:
    assert OptimizerConfig(optimizers=("memory",)).memory_mode == "manual"


def test_name_that_is_no_pass_is_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig(optimizers=("constfol",))
    assert caught.value.code == "bad-optimizer-option"
    assert "OptimizerConfig.optimizers is not understood" in str(caught.value)


def test_custom_optimizer_runs_by_name_with_its_parameters() -> None:
    """Row B33. In-process custom optimizers by name."""
    seen: list[Any] = []

    @graph_optimizer(name="custom", takes="work", custom=True, device_type="NOWHERE")
    def custom(work: Any) -> None:
        seen.append(dict(work.parameters))

    known = [one for one in optimizers(load=False) if one.name == "custom"]
    optimize_with_report(graph(), ["y:0"], ["x:0"], OptimizerConfig(), known)
    assert seen == []
    config = OptimizerConfig(custom_optimizers=(("custom", {"depth": 2}), ("custom", {})))
    _, report = optimize_with_report(graph(), ["y:0"], ["x:0"], config, known)
    assert seen[:2] == [{"depth": 2}, {}]
    assert {run.plugin for run in report.runs} == {"custom"}


def test_custom_optimizer_runs_at_the_end_of_each_iteration() -> None:
    """Row B33 and J9. It sees which iteration it is, what is fed, the config and the deadline."""
    seen: list[Any] = []

    @graph_optimizer(name="custom", takes="work", custom=True, device_type="NOWHERE")
    def custom(work: Any) -> bytes | None:
        seen.append((work.iteration, list(work.feeds), work.config.numeric, work.deadline))
        graph = Graph.from_bytes(work.graph)
        if work.iteration > 1:
            return None  # unchanged
        once = graph.add("Neg", "once", [graph["x"]], attrs={"T": FLOAT32})
        graph.add("Neg", "twice", [once], attrs={"T": FLOAT32})
        graph.set_input(graph["y"], 0, (graph["twice"], 0))
        return graph.to_bytes()

    m = Maker()
    m.op("Exp", "y", m.x(shape=(2,)), T=FLOAT32)
    known = [one for one in optimizers(load=False) if one.name == "custom"]
    more = {"custom_optimizers": (("custom", {}),), "min_graph_nodes": -1}
    config = OptimizerConfig(numeric="exact", meta_optimizer_iterations=3,
                             meta_optimizer_timeout_ms=-1, **more)  # fmt: skip
    after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config, known)
    assert seen == [(k, ["x:0"], "exact", None) for k in (1, 2, 3)]
    assert [run.outcome for run in report.runs] == ["changed", "unchanged", "unchanged"]
    assert sorted(node.name for node in after) == ["x", "y"], "built-in passes see what it made"
    limited = OptimizerConfig(meta_optimizer_timeout_ms=60_000, **more)
    optimize_with_report(m.graph, ["y:0"], ["x:0"], limited, known)
    assert seen[-1][3] is not None
    off = OptimizerConfig(meta_optimizer_iterations=1, **more)
    optimize_with_report(m.graph, ["y:0"], ["x:0"], off, known)
    assert [one[0] for one in seen[-1:]] == [1]


def test_custom_optimizer_that_is_built_in_is_turned_on() -> None:
    config = OptimizerConfig(custom_optimizers=(("debug_stripper", {}), ("constfold", {})))
    assert config.debug_stripper is Toggle.ON
    assert config.constant_folding is Toggle.ON
    assert config.custom_optimizers == ()


def test_custom_optimizer_that_is_not_there_is_refused() -> None:
    config = OptimizerConfig(custom_optimizers=(("gone", {}),))
    with pytest.raises(BadRequest) as caught:
        optimize_with_report(graph(), ["y:0"], ["x:0"], config, ())
    assert caught.value.code == "unknown-optimizer-option"
    assert "there is no optimizer 'gone'" in str(caught.value)


def test_quantization_emulation_is_never_folded() -> None:
    m = Maker()
    m.op("FakeQuantWithMinMaxArgs", "q", m.const("c", [1.0, 2.0]))
    m.op("Mul", "y", "q", m.x(shape=(2,)), T=FLOAT32)
    after, _ = optimize_with_report(
        m.graph, ["y:0"], ["x:0"], OptimizerConfig(min_graph_nodes=-1), ()
    )
    assert "q = FakeQuantWithMinMaxArgs(c)" in as_lines(after)


@pytest.mark.parametrize(
    ("precision", "on", "off"),
    [
        ("bfloat16", "auto_mixed_precision_onednn_bfloat16", "auto_mixed_precision_cpu"),
        ("float16", "auto_mixed_precision_cpu", "auto_mixed_precision_onednn_bfloat16"),
    ],
)
def test_a_precision_turns_its_pass_on_and_the_other_off(precision: str, on: str, off: str) -> None:
    config = tuned(SessionConfig(optimizer=OptimizerConfig(**{off: True})), precision=precision)
    assert config is not None
    assert config.optimizer.is_on(on)
    assert not config.optimizer.is_on(off)


@pytest.mark.parametrize(
    "forbidding", [OptimizerConfig(numeric="exact"), OptimizerConfig(disable_meta_optimizer=True)]
)
def test_a_precision_that_the_config_forbids(forbidding: OptimizerConfig) -> None:
    with pytest.raises(BadRequest, match="must be allowed to run") as error:
        tuned(SessionConfig(optimizer=forbidding), precision="bfloat16")
    assert error.value.code == "bad-precision"
