"""From lowered plans to programs of the native executor, which calls kernels in Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from drystone_base.core.errors import DrystoneError
from drystone_base.core.made_by import NOBODY, Made, name_makers
from drystone_base.executor.calling import compute, needs_run
from drystone_base.executor.encode import Encoded, encode
from drystone_base.executor.native import Program
from drystone_base.executor.numpy_kernels import tell_of_heavy
from drystone_base.ops.properties import CHANNELS

if TYPE_CHECKING:
    from drystone_base.core.dtypes import DType
    from drystone_base.executor.functions import FunctionCaller
    from drystone_base.executor.plan import Plan

__all__ = ["encode_plan", "program_of"]

_SENDS: Final = frozenset({"_Send", "_HostSend"})


def encode_plan(
    plan: Plan,
    feed_types: Sequence[DType],
    caller: FunctionCaller,
    *,
    alone: bool = False,
    stays: bool = False,
) -> Encoded:
    """The PlanDef of a plan and of the functions that it calls; raises as :func:`encode` does."""
    names = [function.name for function in caller.library]
    lower_function = partial(caller.plan, native=True)
    has_devices = caller.place is not None and not alone
    return encode(
        plan, feed_types, lower_function, names,
        alone=alone, has_devices=has_devices, stays=stays,
    )  # fmt: skip


def program_of(encoded: Encoded, made_by: Made = NOBODY) -> Program:
    """What the host library loads; ``made_by``: plugins whose optimizers made nodes, by node."""
    kernels = encoded.kernels
    tell_of_heavy(kernel.op for kernel in kernels)
    run = partial(compute, kernels)
    return Program(
        encoded.plan.SerializeToString(),
        encoded.constants,
        encoded.outputs,
        _naming(run, made_by) if made_by else run,
        needs_run(kernels),
        made_by,
        [
            (number, kernel.op in _SENDS, kernel.attrs["tensor_name"])
            for number, kernel in enumerate(kernels)
            if kernel.op in CHANNELS
        ],
    )


def _naming(run: Callable[..., Any], made_by: Made) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        try:
            return run(*arguments)
        except DrystoneError as error:
            name_makers(error, made_by)
            raise

    return call
