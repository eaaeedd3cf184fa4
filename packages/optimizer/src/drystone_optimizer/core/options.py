"""The settings of ``OptimizerConfig``: what each may be, and what it means."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, NamedTuple

from drystone_base.core.environment import Variable
from drystone_base.core.settings import (
    Kind,
    Schema,
    Setting,
    choice,
    counts,
    flag,
    names,
    number,
    text,
    whole,
)

__all__ = [
    "CPU_LAYOUTS",
    "MEMORY_MODES",
    "NUMERIC",
    "SETTINGS",
    "TOGGLES",
    "VARIABLES",
    "VERIFY",
    "VERIFY_PASSES",
    "QueueRunner",
    "Toggle",
]


class Toggle(Enum):
    """On, off, whatever the default is, or on with rewrites that are not always worth it."""

    DEFAULT = "default"
    ON = "on"
    OFF = "off"
    AGGRESSIVE = "aggressive"


class QueueRunner(NamedTuple):
    """Names of the nodes that a queue runner uses, as in TensorFlow's ``QueueRunnerDef``."""

    queue: str
    enqueue: tuple[str, ...] = ()
    close: str = ""
    cancel: str = ""


VERIFY_PASSES: Final = Variable(
    "DRYSTONE_VERIFY_PASSES", flag(), False,
    "Check the graph after each pass of the optimizer.", "drystone-optimizer",
)  # fmt: skip
VERIFY: Final = Variable(
    "DRYSTONE_VERIFY_PLUGINS", choice("unsigned", "all", "off"), "unsigned",
    "Whose graphs are run on made-up inputs, before and after, as `OptimizerConfig.verify`.",
    "drystone-optimizer",
)  # fmt: skip
VARIABLES: Final = (VERIFY_PASSES, VERIFY)

NUMERIC: Final = ("exact", "reassociates", "approximate")
"""The numeric classes, from the strictest on; see ``drystone_optimizer.core.rules.Numeric``."""
CPU_LAYOUTS: Final = ("default", "no_conversion_on_cpu", "nchw_to_nhwc", "nhwc_to_nchw")
"""What ``layout_optimizer`` may do to nodes of the CPU.

By default those with their channels first get them last where that makes convolutions quicker.
"""
MEMORY_MODES: Final = (
    "default", "manual", "heuristics", "swapping_heuristics", "recomputation_heuristics",
    "scheduling_heuristics",
)  # fmt: skip
"""What ``memory_optimization`` goes by."""
_WORDS: Final = tuple(t.value for t in Toggle)
_LISTS: Final = tuple(
    f"{kind}list_{change}"
    for kind in ("allow", "infer", "deny", "clear")
    for change in ("add", "remove")
)
_ISOLATIONS: Final = ("none", "process")


def _toggle(value: Any) -> Toggle:
    if isinstance(value, Toggle):
        return value
    if value is None:
        return Toggle.DEFAULT
    if isinstance(value, bool):
        return Toggle.ON if value else Toggle.OFF
    if not isinstance(value, str):
        raise ValueError
    return Toggle(value.lower())


def _isolation(value: Any) -> Any:
    one_by_one = value if isinstance(value, Mapping) else {"": value}
    for name, choice_ in one_by_one.items():
        if not isinstance(name, str) or choice_ not in (None, *_ISOLATIONS):
            raise ValueError
    return dict(value) if isinstance(value, Mapping) else value


def _runners(value: Any) -> tuple[QueueRunner, ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    for one in value:
        if not isinstance(one, QueueRunner):
            raise ValueError
        named = (one.queue, one.close, one.cancel, *one.enqueue)
        if not all(isinstance(name, str) for name in named):
            raise ValueError
    return tuple(value)


def _types(value: Any) -> tuple[str, ...]:
    found: tuple[str, ...] = names().take(value)
    if not all(one.isidentifier() for one in found):
        raise ValueError
    return found


def _lists(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise ValueError
    kind = choice(*_LISTS)
    return {kind.take(name): names().take(ops) for name, ops in value.items()}


def _custom(value: Any) -> tuple[tuple[str, dict[str, Any]], ...]:
    if not isinstance(value, list | tuple):
        raise ValueError
    found = []
    for name, parameters in value:
        if not isinstance(name, str) or not isinstance(parameters, Mapping):
            raise ValueError
        found.append((name, dict(parameters)))
    return tuple(found)


TOGGLES: Final = {
    "disable_model_pruning": "keep nodes that only pass a value on.",
    "implementation_selector": "choose among implementations of a function by device.",
    "function_optimization": "inline and specialise functions.",
    "common_subgraph_elimination": "compute equal nodes once.",
    "arithmetic_optimization": "simplify arithmetic.",
    "debug_stripper": "drop assertions and prints.",
    "constant_folding": "compute beforehand what depends on no input.",
    "shape_optimization": "simplify what computes with shapes.",
    "auto_mixed_precision": "compute layers in float16 on GPUs.",
    "auto_mixed_precision_onednn_bfloat16": "compute layers in bfloat16 on CPUs.",
    "auto_mixed_precision_mkl": "the same, under its older name.",
    "auto_mixed_precision_cpu": "compute layers in float16 on CPUs.",
    "layer_fusion": "fuse layers into operators of the host executor.",
    "quantized_layers": "compute layers in 8 bits where the graph states their ranges.",
    "elementwise_fusion": "fuse chains of elementwise nodes.",
    "pin_to_host_optimization": "keep small integer nodes on the CPU.",
    "layout_optimizer": "convert the layout of images.",
    "remapping": "fuse nodes into ops that TensorFlow has.",
    "loop_optimization": "move what does not change out of loops.",
    "dependency_optimization": "drop control edges that say nothing.",
    "auto_parallel": "train copies of the graph at once.",
    "memory_optimization": "compute again or swap out what takes memory.",
    "scoped_allocator_optimization": "lay inputs of collective ops beside one another.",
    "use_plugin_optimizers": "run optimizers of plugins.",
}
"""Settings with four values, each with what it turns on."""

_TOGGLE: Final = Kind(_toggle, "True, False, None, 'on', 'off', 'default' or 'aggressive'", _WORDS)
_SECONDS: Final = number(0, 1e9, above=True, unit="seconds")

SETTINGS: Final = Schema(
    "OptimizerConfig",
    "bad-optimizer-option",
    *(Setting(name, _TOGGLE, doc) for name, doc in TOGGLES.items()),
    Setting("keep", names('("head/logits",)'), "nodes that must stay."),
    Setting("init", names(), "nodes of the initialization that must stay."),
    Setting(
        "queue_runners",
        Kind(_runners, "a tuple of QueueRunner"),
        "queue runners, whose nodes must stay.",
    ),
    Setting("keep_stateful", flag(), "keep every node with state."),
    Setting("optimize_functions", flag(), "hand bodies of reachable functions to plugins, too."),
    Setting(
        "isolation",
        Kind(_isolation, "None, 'none' or 'process', or such by plugin name", _ISOLATIONS),
        "where C plugins run; what it leaves open, ``$DRYSTONE_PLUGIN_ISOLATION`` and the plugins' "
        "manifests decide.",
    ),
    Setting("deadline", _SECONDS, "after which an isolated optimizer is ended."),
    Setting("memory_limit", whole(1, 1 << 62), "bytes at which an isolated optimizer is ended."),
    Setting("disable_meta_optimizer", flag(), "run none of the built-in passes and no plugin."),
    Setting("numeric", choice(*NUMERIC), "the highest numeric class that rewrites may have."),
    Setting(
        "meta_optimizer_iterations",
        whole(1, 1000),
        "how often all passes run in turn, at most; they end when none changes anything.",
    ),
    Setting(
        "min_graph_nodes",
        whole(-(1 << 31), 1 << 31),
        "smaller graphs are left alone (0: below 4, unless images have their channels first; "
        "negative: none).",
    ),
    Setting(
        "meta_optimizer_timeout_ms",
        whole(-(1 << 62), 1 << 62),
        "milliseconds after which the pass or plugin that runs is undone, an isolated one ended; "
        "what finished stays, and nothing begins any more (0: a minute and 1 ms for each node; "
        "negative: never; a run with a deadline gives a quarter of what is left of it).",
    ),
    Setting("fail_on_optimizer_errors", flag(), "raise what a pass raises."),
    Setting("verify_passes", flag(), "check the graph after each pass.", VERIFY_PASSES.name),
    Setting(
        "verify",
        choice("unsigned", "all", "off"),
        "the plugins whose graphs are run on made-up inputs, before and after: a result that is "
        "clearly another refuses the plugin's graph. Of graphs without state, for three seconds "
        "each at most, which the first run of a signature takes longer.",
        VERIFY.name,
    ),
    Setting(
        "cpu_layout_conversion",
        choice(*CPU_LAYOUTS),
        "what ``layout_optimizer`` may do to nodes of the CPU; by default those with channels "
        "first get them last where that makes convolutions quicker.",
    ),
    Setting("memory_mode", choice(*MEMORY_MODES), "what ``memory_optimization`` goes by."),
    Setting(
        "memory_optimizer_target_node_name_scope",
        text("the beginning of names"),
        'nodes below it are those for which others are computed again ("": ``gradients/``).',
    ),
    Setting(
        "device_memory",
        counts({"*": (0, 1 << 62)}, "a dict of types of devices to bytes"),
        "the bytes that types of devices have.",
    ),
    Setting(
        "devices",
        Kind(_types, "names of types, such as ('CPU', 'GPU')"),
        "the types that the graph is to run on, whatever its nodes ask for (none: those of this "
        "process).",
    ),
    Setting(
        "auto_parallel_replicas",
        whole(0, 1024, zero="one for each GPU"),
        "how many copies train at once.",
    ),
    Setting("scoped_allocator_ops", names('("CollectiveReduce",)'), "the ops that run together."),
    Setting(
        "mixed_precision_lists",
        Kind(_lists, f"a dict of {', '.join(_LISTS)} to names of ops", _LISTS),
        "changes of the lists of ops, under the names of TensorFlow's environment variables.",
    ),
    Setting(
        "optimizers",
        names('("constfold",)'),
        "the built-in passes that run, in that order and whatever the toggles say, by our names or "
        "TensorFlow's.",
    ),
    Setting(
        "custom_optimizers",
        Kind(_custom, "a tuple of pairs of a name and a dict of parameters"),
        "optimizers that run only when they are named, or built-in passes, with parameters.",
    ),
    Setting("disable_tfg_optimizer", flag(), "understood; there is no such pass here."),
    Setting(
        "experimental_conditional_code_motion", _TOGGLE, "understood; there is no such pass here."
    ),
    Setting(
        "experimental_disable_compressed_tensor_optimization",
        flag(),
        "understood; constants are not compressed here.",
    ),
    Setting(
        "experimental_disable_folding_quantization_emulation",
        flag(),
        "understood; it is never folded here.",
    ),
)
