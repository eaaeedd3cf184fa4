"""Graphs without functions and without control flow: edges, names, attributes, devices, state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from ci.scripts.growth.build import BOOL, FLOAT, INT, STRING, Builder, Made
from drystone_abi.protos import AttrValue

__all__ = ["EDGES"]

Shape = Callable[[int], Made]


def many_controls(n: int) -> Made:
    """One node waits for many that have effects."""
    b = Builder()
    x = b.x()
    message = b.const("text", b"a", object)
    true = b.x("p", (), BOOL)
    waits = [f"^{b.add('Assert', f'a{k}', true, message, T=[STRING])}" for k in range(n)]
    return b.made(b.unary("y", x, 0, *waits), feeds=("x:0", "p:0"))


def control_chain(n: int) -> Made:
    """Each node waits for the one before, and for a gate."""
    b = Builder()
    x = b.x()
    gate = b.add("NoOp", "gate", f"^{x}")
    last = "n0"
    b.unary(last, x, 0, f"^{gate}")
    for k in range(1, n):
        last = b.unary(f"n{k}", x, k, f"^{last}", f"^{gate}")
    return b.made(last)


def no_ops(n: int) -> Made:
    """Groups of groups that only wait, each for the ones before."""
    b = Builder()
    x = b.x()
    true = b.x("p", (), BOOL)
    message = b.const("text", b"a", object)
    last = [b.add("Assert", "a", true, message, T=[STRING])]
    for k in range(n):
        last = [*last[-3:], b.add("NoOp", f"g{k}", *[f"^{one}" for one in last[-4:]])]
    return b.made(b.unary("y", x, 0, f"^{last[-1]}"), feeds=("x:0", "p:0"))


def control_product(n: int) -> Made:
    """Many nodes with effects, a NoOp that waits for all, and many that wait for it."""
    b = Builder()
    x, true = b.x(), b.x("p", (), BOOL)
    message = b.const("text", b"a", object)
    half = n // 2
    waits = [f"^{b.add('Assert', f'a{k}', true, message, T=[STRING])}" for k in range(half)]
    gate = b.add("NoOp", "gate", *waits)
    ends = [b.unary(f"n{k}", x, k, f"^{gate}") for k in range(half)]
    return b.made(b.sum("y", *ends), feeds=("x:0", "p:0"))


def long_names(n: int) -> Made:
    """Few nodes whose names are long."""
    b = Builder()
    last = b.x()
    for k in range(30):
        last = b.unary("a" * n + f"/n{k}", last, k)
    return b.made(last)


def deep_scopes(n: int) -> Made:
    """Few nodes in many scopes."""
    b = Builder()
    last = b.x()
    for k in range(8):
        last = b.unary("s/" * n + f"n{k}", last, k)
    return b.made(last)


def many_scopes(n: int) -> Made:
    """Each node in a scope of its own, of a common one."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.unary(f"top/s{k}/n", last, k)
    return b.made(last)


def equal_stems(n: int) -> Made:
    """Names that end in numbers which new names would get."""
    b = Builder()
    x = b.x()
    ends = [b.unary("y/split" if not k else f"y/split_{k}", x, k) for k in range(n)]
    return b.made(b.sum("y", *ends))


def long_strings(n: int) -> Made:
    """One constant that is a long text."""
    b = Builder()
    text = b.const("text", b"\x00\xffab\n" * (8 * n), object)
    return b.made(b.add("Identity", "y", text, T=STRING), feeds=())


def many_strings(n: int) -> Made:
    """One constant of many texts."""
    b = Builder()
    text = b.const("text", np.array([b"t%d" % k for k in range(4 * n)], object), object)
    return b.made(b.add("Identity", "y", text, T=STRING), feeds=())


def many_attributes(n: int) -> Made:
    """One node that states many attributes."""
    b = Builder()
    x = b.x()
    attrs = {f"_a{k}": k for k in range(n)}
    return b.made(b.unary("z", b.add("Neg", "y", x, T=FLOAT, **attrs)))


def long_attributes(n: int) -> Made:
    """Attributes that are long lists."""
    b = Builder()
    last = b.x()
    for k in range(4):
        shapes = [AttrValue(s=b"v%d" % j) for j in range(n)]
        last = b.add("Tanh", f"n{k}", last, T=FLOAT, _list=[one.s for one in shapes],
                     _numbers=list(range(n)))  # fmt: skip
    return b.made(last)


def colocated(n: int) -> Made:
    """Nodes that are to be placed where the one before is."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.add("Tanh", f"n{k}", last, T=FLOAT, _class=[f"loc:@{last}"])
    return b.made(last)


def colocated_with_one(n: int) -> Made:
    """Nodes that are to be placed where the first is, and one that names them all."""
    b = Builder()
    last = b.x()
    for k in range(n):
        last = b.add("Tanh", f"n{k}", last, T=FLOAT, _class=["loc:@x"])
    everywhere = [f"loc:@n{k}" for k in range(n)]
    return b.made(b.add("Tanh", "y", last, T=FLOAT, _class=everywhere))


def two_devices(n: int) -> Made:
    """Nodes by turns on two devices."""
    b = Builder()
    last = b.x()
    for k in range(n):
        b.device = f"/device:CPU:{k % 2}"
        last = b.unary(f"n{k}", last, k)
    return b.made(last)


def many_devices(n: int) -> Made:
    """Nodes that ask for as many devices."""
    b = Builder()
    last = b.x()
    for k in range(n):
        b.device = f"/job:worker/task:{k}/device:GPU:{k}"
        last = b.unary(f"n{k}", last, k)
    return b.made(last)


def across_devices(n: int) -> Made:
    """One value that many nodes of another device read and wait for."""
    b = Builder()
    b.device = "/device:CPU:0"
    last = b.unary("shared", b.x())
    ends: list[str] = []
    for k in range(n):
        b.device = f"/device:CPU:{k % 2}"
        ends.append(b.unary(f"n{k}", last, k, f"^{ends[-1]}") if ends else b.unary("n0", last))
    return b.made(b.sum("y", *ends))


def variables(n: int) -> Made:
    """Variables of resources, each read and assigned."""
    b = Builder()
    x = b.x()
    ends = []
    for k in range(n // 4):
        shape = AttrValue()
        shape.shape.dim.add(size=4)
        handle = b.add("VarHandleOp", f"v{k}", dtype=FLOAT, shape=shape, shared_name=f"v{k}",
                       container="")  # fmt: skip
        done = b.add("AssignVariableOp", f"a{k}", handle, x, dtype=FLOAT)
        ends.append(b.add("ReadVariableOp", f"r{k}", handle, f"^{done}", dtype=FLOAT))
    return b.made(b.sum("y", *ends))


def old_variables(n: int) -> Made:
    """Variables of references."""
    b = Builder()
    x = b.x()
    ends = []
    for k in range(n // 3):
        shape = AttrValue()
        shape.shape.dim.add(size=4)
        held = b.add("VariableV2", f"v{k}", dtype=FLOAT, shape=shape, shared_name="", container="")
        done = b.add("Assign", f"a{k}", held, x, T=FLOAT)
        ends.append(b.add("Identity", f"r{k}", held, f"^{done}", T=FLOAT))
    return b.made(b.sum("y", *ends))


def one_variable(n: int) -> Made:
    """One variable that many nodes change, one after another."""
    b = Builder()
    x = b.x()
    shape = AttrValue()
    shape.shape.dim.add(size=4)
    held = b.add("VarHandleOp", "v", dtype=FLOAT, shape=shape, shared_name="v", container="")
    last = b.add("AssignVariableOp", "a", held, x, dtype=FLOAT)
    for k in range(n):
        last = b.add("AssignAddVariableOp", f"a{k}", held, x, f"^{last}", dtype=FLOAT)
    return b.made(b.add("ReadVariableOp", "y", held, f"^{last}", dtype=FLOAT))


def many_feeds(n: int) -> Made:
    """Many placeholders."""
    b = Builder()
    made = [b.x(f"x{k}") for k in range(n)]
    return b.made(b.sum("y", *made), feeds=[f"{name}:0" for name in made])


def unknown_ops(n: int) -> Made:
    """Unknown ops, beside what is fetched."""
    b = Builder()
    x = last = b.x()
    for k in range(n):
        last = b.add(f"Nobody{k}", f"n{k}", last, T=FLOAT)
    return b.made(b.unary("y", x))


def handles(n: int) -> Made:
    """An array that each node writes to."""
    b = Builder()
    x, size = b.x(), b.const("size", n, np.int32)
    b.add("TensorArrayV3", "array", size, dtype=FLOAT)
    flow = "array:1"
    for k in range(n // 2):
        at = b.const(f"i{k}", k, np.int32)
        flow = b.add("TensorArrayWriteV3", f"w{k}", "array", at, x, flow, T=FLOAT)
    at = b.const("i", 0, np.int32)
    return b.made(b.add("TensorArrayReadV3", "y", "array", at, flow, dtype=FLOAT))


def reductions(n: int) -> Made:
    """Reductions to which parts of a shape are given."""
    b = Builder()
    x = b.x(dims=(-1, 3))
    ends = []
    for k in range(n // 4):
        scaled = b.add("Mul", f"m{k}", x, b.const(f"c{k}", k), T=FLOAT)
        axes = b.const(f"a{k}", [1], np.int32)
        ends.append(b.add("Sum", f"s{k}", scaled, axes, T=FLOAT, Tidx=INT, keep_dims=True))
    return b.made(b.sum("y", *ends))


def collectives(n: int) -> Made:
    """Reductions over devices that may share memory."""
    b = Builder()
    x = b.x()
    ends = [b.add("CollectiveReduce", f"n{k}", b.unary(f"t{k}", x, k), T=FLOAT, group_size=2,
                  group_key=1, instance_key=k, merge_op="Add", final_op="Id", subdiv_offsets=[0])
            for k in range(n // 2)]  # fmt: skip
    return b.made(b.sum("y", *ends))


def handles_of_one(n: int) -> Made:
    """Many readers of one handle."""
    b = Builder()
    shape = AttrValue()
    shape.shape.dim.add(size=4)
    held = b.add("VarHandleOp", "v", dtype=FLOAT, shape=shape, shared_name="v", container="")
    ends = [b.add("ReadVariableOp", f"r{k}", held, dtype=FLOAT) for k in range(n)]
    return b.made(b.sum("y", *ends), b.add("VarIsInitializedOp", "there", held), feeds=())


_ALL: Final = (
    many_controls,
    control_chain,
    no_ops,
    control_product,
    long_names,
    deep_scopes,
    many_scopes,
    equal_stems,
    long_strings,
    many_strings,
    many_attributes,
    long_attributes,
    colocated,
    colocated_with_one,
    two_devices,
    many_devices,
    across_devices,
    variables,
    old_variables,
    one_variable,
    many_feeds,
    unknown_ops,
    handles,
    reductions,
    collectives,
    handles_of_one,
)
EDGES: Final[dict[str, Shape]] = {made.__name__: made for made in _ALL}
