"""Implementation selector: of several functions that do the same, the one for the device is called.

Functions with one ``api_implements`` are interchangeable by their author's word;
``api_preferred_device`` says what each of them is for. ``DeviceIndex``, which decides at run time
between branches for devices, becomes a constant where the device is known. A call that states no
device counts as one of the CPU; a ``DeviceIndex`` is left alone there: the placer may decide.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import numpy as np

from drystone_base.graph import Function, FunctionLibrary, Node
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import find
from drystone_optimizer.core.context import Context
from drystone_optimizer.core.devices import device_type
from drystone_optimizer.core.native_kernels import runs_here

__all__ = ["run"]

_CALLS: Final = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_CASES: Final = frozenset({"Case", "StatelessCase"})
# A function with one of these is half of a pair: what it keeps is what the other half expects.
_OF_GRADIENTS: Final = ("forward_function_name", "backward_function_name")
_Interfaces: TypeAlias = Mapping[str, Sequence[Function]]


def run(ctx: Context) -> None:
    """Set the functions of calls, and the values of device indices."""
    interfaces = _interfaces(ctx.graph.functions) if len(ctx.graph.functions) else {}
    if not interfaces and not any(node.op == "DeviceIndex" for node in ctx.graph):
        return
    for node in list(ctx.graph):
        if node.op == "DeviceIndex":
            index = _match_index(ctx, node)
            if index is not None:
                ctx.become_constant(node, np.array(index, np.int32))
                ctx.count("device-index")
        elif interfaces and (node.op in _CALLS or node.op in ctx.graph.functions):
            chosen = _match_call(ctx, node, interfaces)
            if chosen is not None:
                _call(ctx, node, chosen)
                ctx.count("implementation-for-device")


def _interfaces(library: FunctionLibrary) -> _Interfaces:
    found: dict[str, list[Function]] = defaultdict(list)
    for function in library:
        name = _text(function, "api_implements")
        if name:
            found[name].append(function)
    return {name: functions for name, functions in found.items() if len(functions) > 1}


def _text(function: Function, attr: str) -> str:
    value = function.attr(attr)
    return value.decode() if isinstance(value, bytes) else str(value or "")


# ---- calls ---------------------------------------------------------------------------------------


def _match_call(ctx: Context, node: Node, interfaces: _Interfaces) -> Function | None:
    """The function to call instead; None where the present one is right."""
    ref = node.attrs.get("f") if node.op in _CALLS else FunctionRef(node.op, {})
    present = ctx.graph.functions.get(ref.name) if isinstance(ref, FunctionRef) else None
    if present is None or node in ctx.fed_nodes:
        return None
    others = interfaces.get(_text(present, "api_implements"), ())
    device = ctx.device_type(node)
    if not others or _text(present, "api_preferred_device") == device:
        return None
    found = [f for f in others if _text(f, "api_preferred_device") == device]
    why = _objection(ctx, present, found)
    if why:
        ctx.decline(why)
        return None
    return found[0]


def _objection(ctx: Context, present: Function, found: Sequence[Function]) -> str:
    """Why the only one that was found must not be called instead; "" where it may."""
    if not found:
        return "no implementation prefers the device of a call"
    if len(found) > 1:
        return "several implementations prefer the device of a call"
    if any(_text(one, name) for one in (present, *found) for name in _OF_GRADIENTS):
        return "an implementation belongs to a gradient"
    if _ends(present) != _ends(found[0]):
        return "implementations differ in arguments or results"
    if not _can_run(found[0], ctx.graph.functions):
        return "the implementation for the device has an op without a kernel"
    return ""


def _ends(function: Function) -> object:
    """What a caller must give and gets: dtypes, in order; attributes that callers fill in."""
    signature = function.signature
    args = (*signature.inputs, None, *signature.outputs)
    return [a and (a.type, a.type_attr, a.number_attr, a.type_list_attr) for a in args], sorted(
        signature.attrs
    )


def _can_run(function: Function, library: FunctionLibrary) -> bool:
    """Whether every op of the body, and of bodies that it calls by name, has a kernel."""
    queue, seen = [function], {function.name}
    for one in queue:
        for proto in one.proto.node_def:
            called = [proto.op, *(value.func.name for value in proto.attr.values())]
            for name in called:
                inner = library.get(name) if name else None
                if inner is not None and name not in seen:
                    seen.add(name)
                    queue.append(inner)
            if proto.op not in library and find(proto.op) is not None and not runs_here(proto.op):
                return False
    return True


def _call(ctx: Context, node: Node, chosen: Function) -> None:
    if node.op in _CALLS:
        ctx.graph.set_attr(node, "f", FunctionRef(chosen.name, dict(node.attrs["f"].attrs)))
    else:
        ctx.graph.set_op(node, chosen.name)
    ctx.forget(node)


# ---- indices of devices --------------------------------------------------------------------------


def _match_index(ctx: Context, node: Node) -> int | None:
    """What a DeviceIndex gives: the place of its Case's device, one more than the last without."""
    if node in ctx.fed_nodes:
        return None
    users = ctx.users((node, 0))
    if not users or any(user.op not in _CASES or k for user, k in users):
        ctx.decline("a DeviceIndex is read by something else than a Case")
        return None
    if any(device_type(user.device, user.name) is None for user, _ in users):
        ctx.decline("the Case of a DeviceIndex states no device")
        return None
    types = {ctx.device_type(user) for user, _ in users}
    if len(types) > 1:
        ctx.decline("a DeviceIndex is read by Cases on several devices")
        return None
    kind = types.pop()
    names = [n.decode() if isinstance(n, bytes) else str(n) for n in node.attr("device_names")]
    return names.index(kind) if kind in names else len(names)
