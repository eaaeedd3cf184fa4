"""Kernels and ops of isolated plugins, as this process knows them: each call is a message.

An op is registered here by its definition; its shape function and its kernels run in the plugin's
process, one call at a time. A kernel that is lost with that process is made in the next one,
without the state that it had. Values must mean the same there: numbers and strings do; variables,
resources and variants do not, so that such nodes get another kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

from drystone_abi.protos import NodeDef, OpList
from drystone_base.core.errors import DrystoneError, KernelError, PluginError, ShapeError
from drystone_base.core.payloads import at_node
from drystone_base.core.registered import ENTRY_FUNCTIONS, ISOLATED_KERNELS
from drystone_base.plugins.isolation_limits import Limits
from drystone_base.plugins.isolation_offered import Offered
from drystone_base.plugins.isolation_pool import asked
from drystone_base.plugins.isolation_tensors import crosses, packed, unpacked
from drystone_base.state.cancellation import check_time

if TYPE_CHECKING:
    from drystone_base.executor.selection import Candidate
    from drystone_base.graph import Node
    from drystone_base.inference.shapes._registry import Shape, ShapeCall
    from drystone_base.kernels import Call
    from drystone_base.ops.defs import OpDef
    from drystone_base.plugins.isolation_process import Worker

__all__ = ["IsolatedKernel", "take_kernels", "what_stays"]

T = TypeVar("T")
_plugins: Final[dict[str, tuple[str, str, str]]] = {}
"""Name, version and path of each library."""


def take_kernels(name: str, version: str, path: str, offered: Offered) -> list[str]:
    """Make the ops and kernels of a library known; says which cannot be."""
    from drystone_base.ops import defs

    _plugins[path] = name, version, path
    remarks, refused = [], set()
    for proto in OpList.FromString(offered.ops).op:
        try:
            defs.register(proto, origin=path)
        except DrystoneError as error:
            remarks.append(f"op {proto.name} is not taken: {error.found}")
            refused.add(proto.name)
            continue
        if proto.name in offered.shaped:
            _add_shapes(proto.name, path)
    for row in offered.kernels:
        if row["op"] not in refused:
            known = ISOLATED_KERNELS.setdefault(row["op"], [])
            known.append(row | {"library": path, "isolated": True})
    ENTRY_FUNCTIONS.note("TF_InitKernel")
    return remarks


def what_stays(op: str, attrs: Mapping[str, Any]) -> list[str]:
    """What a node of ``op`` takes or gives that means nothing in another process."""
    from drystone_base.ops.attrs import FunctionRef
    from drystone_base.ops.defs import op_def

    definition = op_def(op)
    try:
        types = [*definition.input_types(attrs), *definition.output_types(attrs)]
    except KeyError:  # the node is not valid, as its check will say
        return []
    stays = [str(dtype) for dtype in types if not crosses(dtype)]
    return stays + [f"function {v.name}" for v in attrs.values() if isinstance(v, FunctionRef)]


# ---- shapes --------------------------------------------------------------------------------------


def _add_shapes(op: str, path: str) -> None:
    from drystone_base.inference.shapes._plugins import add_plugin_op

    add_plugin_op(op, lambda call: _shapes(call, path))


def _shapes(call: ShapeCall, path: str) -> Sequence[Shape]:
    from drystone_base.ops.attrs import encode_attr
    from drystone_base.ops.defs import op_def

    kinds = {name: attr.type for name, attr in op_def(call.op).attrs.items()}
    node = NodeDef(name=call.node, op=call.op)
    for name, value in call.attrs.items():
        node.attr[name].CopyFrom(encode_attr(value, kinds.get(name)))
    header = {"call": "shapes", "op": call.op, "shapes": [s and list(s) for s in call.shapes]}
    limits, during = Limits(), f"the shape function of node {call.node!r} ({call.op})"
    try:
        return asked(
            *_plugins[path],
            limits,
            lambda worker: worker.ask(header, node.SerializeToString(), limits, during, _shapes_of),
        )
    except PluginError as error:
        raise ShapeError(
            f"node {call.node!r} ({call.op}) cannot take its inputs",
            details=error.details | at_node(call.node, call.op),
            check="the shape function of the op's library must accept the node",
            found=f"{error.what}: {error.found}",
            needed="input shapes and attributes that the op is defined for",
            remedy=error.remedy or "see the documentation of the plugin",
            code=error.code if error.code.startswith("isolated-plugin") else None,
            status=error.status,
        ) from error


def _shapes_of(reply: Mapping[str, Any], _blob: bytes) -> list[Shape]:
    return [None if s is None else tuple(int(d) for d in s) for s in reply["shapes"]]


# ---- kernels -------------------------------------------------------------------------------------


class IsolatedKernel:
    """The kernel of one node, in the process of its plugin."""

    __slots__ = ("_create", "_key", "_proto", "_worker", "candidate", "inputs", "node", "outputs")

    def __init__(
        self, candidate: Candidate, node: Node, definition: OpDef, node_def: bytes
    ) -> None:
        attrs = node.full_attrs()
        self.candidate, self.node = candidate, node.name
        self._worker: Worker | None = None
        self._key = 0
        self.inputs = definition.input_types(attrs)
        self.outputs = definition.output_types(attrs)
        op_def = definition.to_proto().SerializeToString()
        self._proto = op_def + node_def
        self._create = {
            "call": "create", "kernel": candidate.id, "op": len(op_def),
            "producer": node.graph.producer,
        }  # fmt: skip
        self._ask(Limits(), self._made)

    def __del__(self) -> None:
        if self._worker is not None:
            self._worker.dropped.append(self._key)

    def __repr__(self) -> str:
        return f"<isolated kernel {self.candidate.name} of {self.candidate.library}>"

    def __call__(self, call: Call, *values: Any) -> list[Any]:
        """The outputs of the node; raises ``KernelError``."""
        runtime = call.runtime
        name, _, _ = _plugins[self.candidate.library]
        place = f"in node {self.node!r} ({self.candidate.op}) of isolated plugin {name}"
        longest = Limits().deadline if runtime.deadline is None else math.inf
        stop = partial(check_time, runtime, place)
        limits = Limits(deadline=longest, ends=runtime.deadline, stop=stop)
        header = {"call": "compute", "step": runtime.step.id}
        tensors, data = packed(values, self.inputs)

        def request(worker: Worker, limits: Limits) -> list[Any]:
            key = self._made(worker, limits)
            sent = header | {"kernel": key, "tensors": tensors}
            return worker.ask(sent, data, limits, self._during("compute"), self._taken)

        return self._ask(limits, request)

    def _taken(self, reply: Mapping[str, Any], blob: bytes) -> list[Any]:
        found = unpacked(reply["tensors"], blob)
        numbers = [row[0] for row in reply["tensors"]]
        if numbers != [dtype.number for dtype in self.outputs]:
            raise ValueError(f"outputs of dtypes {numbers}")
        return found

    def _made(self, worker: Worker, limits: Limits) -> int:
        """The number of the node's kernel in that process, where it is made if it is not there."""
        if worker is not self._worker:
            self._key = worker.ask(
                dict(self._create),
                self._proto,
                limits,
                self._during("create"),
                lambda reply, _: int(reply["made"]),
            )
            self._worker = worker
        return self._key

    def _during(self, call: str) -> str:
        return f"{call} of node {self.node!r} (op {self.candidate.op})"

    def _ask(self, limits: Limits, request: Callable[[Worker, Limits], T]) -> T:
        try:
            return asked(
                *_plugins[self.candidate.library], limits, lambda worker: request(worker, limits)
            )
        except PluginError as error:
            self._fail(error)

    def _fail(self, error: PluginError) -> NoReturn:
        """As of a kernel in this process where it is the kernel's own failure."""
        own = error.code in ("plugin-kernel-failed", "kernel-failed")
        kernel = self.candidate
        raise KernelError(
            error.what
            if own
            else f"node {self.node!r} ({kernel.op}) failed in isolated kernel {kernel.name!r} of "
            f"{kernel.library}",
            details=error.details | at_node(self.node, kernel.op),
            check=error.check,
            found=error.found if own else f"{error.what}: {error.found}",
            needed=error.needed,
            remedy=error.remedy,
            code=error.code,
            status=error.status,
        ) from error
