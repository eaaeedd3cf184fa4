"""What a user decides about optimizers: one tri-state per pass, and what must be kept.

Names are those of RFC 318's ``TP_OptimizerConfigs`` and of TensorFlow's ``RewriterConfig``.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeAlias

from drystone_base.core.arguments import blame, explained, explaining
from drystone_base.core.errors import BadRequest, near_matches
from drystone_base.core.printable import described
from drystone_base.core.settings import refusal
from drystone_optimizer.core.options import (
    CPU_LAYOUTS,
    MEMORY_MODES,
    NUMERIC,
    SETTINGS,
    VERIFY,
    VERIFY_PASSES,
    QueueRunner,
    Toggle,
)
from drystone_optimizer.core.process_state import EXPERIMENTAL_OPTIONS

if TYPE_CHECKING:
    from drystone_abi.protos import ConfigProto, RewriterConfig

__all__ = [
    "CPU_LAYOUTS",
    "DEFAULT_OFF",
    "MEMORY_MODES",
    "NUMERIC",
    "OWN",
    "PASSES",
    "OptimizerConfig",
    "QueueRunner",
    "Toggle",
    "get_experimental_options",
    "set_experimental_options",
]


Choice: TypeAlias = Toggle | bool | str | None

PASSES: Final = (
    "disable_model_pruning",
    "implementation_selector",
    "function_optimization",
    "common_subgraph_elimination",
    "arithmetic_optimization",
    "debug_stripper",
    "constant_folding",
    "shape_optimization",
    "auto_mixed_precision",
    "auto_mixed_precision_onednn_bfloat16",
    "auto_mixed_precision_mkl",
    "pin_to_host_optimization",
    "layout_optimizer",
    "remapping",
    "loop_optimization",
    "dependency_optimization",
    "auto_parallel",
    "memory_optimization",
    "scoped_allocator_optimization",
)
"""The toggles, in the order of the C struct. All turn a pass on, but the first turns one off."""

OWN: Final = (
    "auto_mixed_precision_cpu", "layer_fusion", "quantized_layers", "elementwise_fusion",
)  # fmt: skip
"""Toggles that the C struct lacks: what plugins say of the same work counts (``merge``)."""

DEFAULT_OFF: Final = frozenset(
    {
        "disable_model_pruning",
        "debug_stripper",
        "auto_mixed_precision",
        "auto_mixed_precision_onednn_bfloat16",
        "auto_mixed_precision_mkl",
        "auto_mixed_precision_cpu",
        "quantized_layers",
        "pin_to_host_optimization",
        "auto_parallel",
        "scoped_allocator_optimization",
    }
)
"""Toggles for which DEFAULT means off."""

_SWITCH: Final = "use_plugin_optimizers"
_PLUGIN: Final = "plugin "
_TOGGLES: Final = (*PASSES, *OWN, _SWITCH)

BY_SHORT_NAME: Final = {
    "pruning": "model_pruning",
    "function": "function_optimization",
    "constfold": "constant_folding",
    "shape": "shape_optimization",
    "remap": "remapping",
    "layout": "layout_optimizer",
    "memory": "memory_optimization",
    "arithmetic": "arithmetic_optimization",
    "autoparallel": "auto_parallel",
    "loop": "loop_optimization",
    "dependency": "dependency_optimization",
    "scoped_allocator": "scoped_allocator_optimization",
    "pin_to_host": "pin_to_host_optimization",
}
"""TensorFlow's names for passes in ``optimizers``, where they are not ours."""


@explaining("of_passes", "without", "from_options", "from_proto")
@dataclass(frozen=True, repr=False)
class OptimizerConfig:
    """What graph optimizers do, and what they must keep; names are TensorFlow's where it has them.

    Raises ``BadRequest`` (``bad-optimizer-option``) for a setting that means nothing.
    """

    disable_model_pruning: Choice = Toggle.DEFAULT
    implementation_selector: Choice = Toggle.DEFAULT
    function_optimization: Choice = Toggle.DEFAULT
    common_subgraph_elimination: Choice = Toggle.DEFAULT
    arithmetic_optimization: Choice = Toggle.DEFAULT
    debug_stripper: Choice = Toggle.DEFAULT
    constant_folding: Choice = Toggle.DEFAULT
    shape_optimization: Choice = Toggle.DEFAULT
    auto_mixed_precision: Choice = Toggle.DEFAULT
    auto_mixed_precision_onednn_bfloat16: Choice = Toggle.DEFAULT
    auto_mixed_precision_mkl: Choice = Toggle.DEFAULT
    auto_mixed_precision_cpu: Choice = Toggle.DEFAULT
    layer_fusion: Choice = Toggle.DEFAULT
    quantized_layers: Choice = Toggle.DEFAULT
    elementwise_fusion: Choice = Toggle.DEFAULT
    pin_to_host_optimization: Choice = Toggle.DEFAULT
    layout_optimizer: Choice = Toggle.DEFAULT
    remapping: Choice = Toggle.DEFAULT
    loop_optimization: Choice = Toggle.DEFAULT
    dependency_optimization: Choice = Toggle.DEFAULT
    auto_parallel: Choice = Toggle.DEFAULT
    memory_optimization: Choice = Toggle.DEFAULT
    scoped_allocator_optimization: Choice = Toggle.DEFAULT
    use_plugin_optimizers: Choice = Toggle.DEFAULT
    keep: tuple[str, ...] = ()
    init: tuple[str, ...] = ()
    queue_runners: tuple[QueueRunner, ...] = ()
    keep_stateful: bool = False
    optimize_functions: bool = True
    isolation: str | Mapping[str, str] | None = None
    deadline: float = 60.0
    memory_limit: int = 4 << 30
    disable_meta_optimizer: bool = False
    numeric: str = "reassociates"
    meta_optimizer_iterations: int = 2
    min_graph_nodes: int = 0
    meta_optimizer_timeout_ms: int = 0
    fail_on_optimizer_errors: bool = False
    verify_passes: bool = field(default_factory=VERIFY_PASSES.value)
    verify: str = field(default_factory=VERIFY.value)
    cpu_layout_conversion: str = "default"
    memory_mode: str = "default"
    memory_optimizer_target_node_name_scope: str = ""
    device_memory: Mapping[str, int] = field(default_factory=dict)
    devices: tuple[str, ...] = ()
    auto_parallel_replicas: int = 0
    scoped_allocator_ops: tuple[str, ...] = ("CollectiveReduce",)
    mixed_precision_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    optimizers: tuple[str, ...] = ()
    custom_optimizers: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    disable_tfg_optimizer: bool = False
    experimental_conditional_code_motion: Choice = Toggle.DEFAULT
    experimental_disable_compressed_tensor_optimization: bool = False
    experimental_disable_folding_quantization_emulation: bool = False

    def __post_init__(self) -> None:
        SETTINGS.settle(self)
        self._settle_names()

    def __repr__(self) -> str:
        return SETTINGS.shown(self)

    def _settle_names(self) -> None:
        """``optimizers`` under our names; a custom one that is built-in is turned on instead."""
        for name in self.optimizers:
            if BY_SHORT_NAME.get(name, name) not in (*PASSES[1:], *OWN, "model_pruning"):
                kind = SETTINGS.settings["optimizers"].kind
                known = (*BY_SHORT_NAME, *PASSES[1:], *OWN)
                needed = kind._replace(needed=", ".join(known), choices=known)
                what = "OptimizerConfig.optimizers is not understood"
                raise refusal(what, name, needed, "leave it out", "bad-optimizer-option")
        if "memory" in self.optimizers and self.memory_mode == "default":
            object.__setattr__(self, "memory_mode", "manual")
        listed = tuple(BY_SHORT_NAME.get(name, name) for name in self.optimizers)
        object.__setattr__(self, "optimizers", listed)
        custom = []
        for name, parameters in self.custom_optimizers:
            ours = BY_SHORT_NAME.get(name, name)
            if ours in (*PASSES[1:], *OWN):
                object.__setattr__(self, ours, Toggle.ON)
            elif ours != "model_pruning":
                custom.append((name, dict(parameters)))
        object.__setattr__(self, "custom_optimizers", tuple(custom))

    def toggle(self, name: str) -> Toggle:
        """The choice for one of the toggles."""
        try:
            known = name in _TOGGLES
        except Exception as error:
            blame(OptimizerConfig.toggle, error, self, name)
        if not known:
            near = near_matches(name, _TOGGLES)
            raise BadRequest(
                f"there is no toggle {described(name, 100)}",
                check="a toggle must be a field of OptimizerConfig with four values",
                found=described(name, 100),
                needed=", ".join(_TOGGLES),
                remedy=f"did you mean {', '.join(near)}?" if near else "use one of these",
                code="unknown-optimizer-option",
            )
        found: Toggle = getattr(self, name)
        return found

    def is_on(self, name: str) -> bool:
        """Whether a toggle is on, its default applied."""
        chosen = self.toggle(name)
        if chosen is Toggle.DEFAULT:
            return name not in DEFAULT_OFF
        return chosen is not Toggle.OFF

    @classmethod
    def plugins_only(cls) -> OptimizerConfig:
        """None of the built-in passes: what the tests of a plugin's optimizer want to see."""
        return cls.of_passes(())

    @classmethod
    def of_passes(cls, names: Collection[str], **more: Any) -> OptimizerConfig:
        """The built-in passes of these names and no others; ``more`` are other fields.

        ``model_pruning`` is the pass that ``disable_model_pruning`` turns off. Raises
        ``BadRequest`` (``unknown-optimizer-option``) for another name.
        """
        names = _passes(names)
        toggles: dict[str, Any] = dict.fromkeys((*PASSES, *OWN), Toggle.OFF)
        toggles |= {name: Toggle.ON for name in names if name in toggles}
        pruning = Toggle.OFF if "model_pruning" in names else Toggle.ON
        return cls(**toggles | {"disable_model_pruning": pruning} | more)

    def without(self, names: Collection[str]) -> OptimizerConfig:
        """The config with these built-in passes off; ``plugin NAME`` turns all plugins off.

        Raises ``BadRequest`` (``unknown-optimizer-option``) for another name.
        """
        names = _passes(names, _PLUGIN)
        off: dict[str, Any] = {n: Toggle.OFF for n in names if n in (*PASSES, *OWN)}
        if "model_pruning" in names:
            off["disable_model_pruning"] = Toggle.ON
        if any(name.startswith(_PLUGIN) for name in names):
            off[_SWITCH] = Toggle.OFF
        return replace(self, **off)

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> OptimizerConfig:
        """The config of a mapping such as ``{"remapping": False}``; raises ``BadRequest``."""
        return replace(cls(), **_checked(options))

    @classmethod
    def from_proto(cls, proto: ConfigProto | RewriterConfig) -> OptimizerConfig:
        """The toggles of TensorFlow's ``RewriterConfig``, or of the one in a ``ConfigProto``."""
        from drystone_abi.protos import ConfigProto

        if isinstance(proto, ConfigProto):
            proto = proto.graph_options.rewrite_options
        from drystone_optimizer.core.from_proto import options_of

        return cls(**options_of(proto, _TOGGLES))


OptimizerConfig.__doc__ = SETTINGS.document(OptimizerConfig.__doc__)


def _passes(names: Collection[str], *others: str) -> list[str]:
    """The names, once each is of a built-in pass, or begins as one of the ``others`` do."""
    known = ["model_pruning", *PASSES[1:], *OWN]
    found = list(names)
    for name in found:
        if name not in known and not (isinstance(name, str) and name.startswith(others)):
            near = near_matches(name, known)
            raise BadRequest(
                f"there is no pass {described(name)}",
                check="a pass must be one of the built-in ones",
                found=name,
                needed=", ".join(known),
                remedy=f"did you mean {', '.join(near)}?" if near else "leave it out",
                code="unknown-optimizer-option",
            )
    return found


def _checked(options: object) -> dict[str, Any]:
    """The options, once they are a mapping with known names."""
    if isinstance(options, set | frozenset | list | tuple):
        _not_a_mapping(options)
    if not isinstance(options, Mapping):
        _not_a_mapping([options])
    known = [one.name for one in fields(OptimizerConfig)]
    for name in options:
        if name not in known:
            near = near_matches(name, known)
            raise BadRequest(
                f"there is no optimizer option {described(name)}",
                check="an option must be a field of OptimizerConfig",
                found=name,
                needed=", ".join(known),
                remedy=f"did you mean {', '.join(near)}?" if near else "leave it out",
                code="unknown-optimizer-option",
            )
    return dict(options)


def _not_a_mapping(options: Any) -> NoReturn:
    """RFC 318 shows ``{"use_plugin_optimizers", False}``, a set; a dict is meant."""
    names = sorted(str(o) for o in options if isinstance(o, str)) or [_SWITCH]
    raise BadRequest(
        "optimizer options must be a mapping",
        check="each option needs a name and a value",
        found=f"a {type(options).__name__} with {', '.join(sorted(map(described, options)))}",
        needed=f'a dict: {{"{names[0]}": False}}',
        remedy="write a colon, not a comma, between name and value",
        code="bad-optimizer-option",
    )


_lock: Final = threading.Lock()


@explained
def set_experimental_options(options: Mapping[str, Any]) -> None:
    """Set options for every session of this process that states no config of its own.

    The spelling of ``tf.config.optimizer.set_experimental_options``: a dict of option names, added
    to those set before; None takes one back. Raises ``BadRequest``.
    """
    found = _checked(options)
    OptimizerConfig.from_options({n: value for n, value in found.items() if value is not None})
    with _lock:
        EXPERIMENTAL_OPTIONS.update(found)
        for name in [n for n, value in EXPERIMENTAL_OPTIONS.items() if value is None]:
            del EXPERIMENTAL_OPTIONS[name]


def get_experimental_options() -> dict[str, Any]:
    """The options that :func:`set_experimental_options` set."""
    with _lock:
        return dict(EXPERIMENTAL_OPTIONS)
