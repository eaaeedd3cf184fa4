"""Graphs with functions, branches and loops, by number of nodes or so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ci.scripts.growth.build import BOOL, FLOAT, INT, Builder, Made
from drystone_abi.protos import AttrValue

__all__ = ["FLOW"]

Shape = Callable[[int], Made]


def _named(*names: str) -> AttrValue:
    held = AttrValue()
    if len(names) == 1:
        held.func.name = names[0]
        return held
    for name in names:
        held.list.func.add(name=name)
    return held


def _types(count: int) -> list[AttrValue]:
    return [FLOAT] * count


def long_body(n: int) -> Made:
    """A function of many nodes."""
    b = Builder()
    x, f = b.x(), b.function("F")
    last = "a0"
    for k in range(n):
        last = f"{f.unary(f'n{k}', last, k)}:y:0" if k % 5 != 3 else _relu(f, f"n{k}", last)
    f.returns(last)
    return b.made(b.call("y", "F", x))


def _relu(f: Builder, name: str, source: str) -> str:
    return f"{f.add('Relu', name, source, T=FLOAT)}:activations:0"


def call_chain(n: int) -> Made:
    """Functions that each call the one before."""
    b = Builder()
    x = b.x()
    for k in range(n // 2):
        f = b.function(f"F{k}")
        last = f"{f.add('Tanh', 'n', 'a0', T=FLOAT)}:y:0"
        f.returns(f"{f.call('c', f'F{k - 1}', last)}:output:0" if k else last)
    return b.made(b.call("y", f"F{n // 2 - 1}", x))


def nested_calls(n: int) -> Made:
    """Functions that each call the one before ten times."""
    b = Builder()
    x, depth = b.x(), max(2, n // 12)
    for k in range(depth):
        f = b.function(f"F{k}")
        last = "a0"
        for j in range(10):
            last = (f"{f.call(f'c{j}', f'F{k - 1}', last)}:output:0" if k
                    else f"{f.add('Neg', f'c{j}', last, T=FLOAT)}:y:0")  # fmt: skip
        f.returns(f"{f.add('AddV2', 'o', last, 'a0', T=FLOAT)}:z:0")
    return b.made(b.call("y", f"F{depth - 1}", x))


def nested_named_calls(n: int) -> Made:
    """The same, where the op of a node is the function that it calls, for good twice."""
    b = Builder()
    x, depth = b.x(), max(2, n // 4)
    for k in range(depth):
        f = b.function(f"F{k}")
        last = f"{f.add('Tanh', 'n', 'a0', T=FLOAT)}:y:0"
        if k:
            first = f.add(f"F{k - 1}", "c", last)
            last = f"{f.add(f'F{k - 1}', 'd', f'{first}:r0:0')}:r0:0"
        f.returns(last)
    return b.made(b.add(f"F{depth - 1}", "y", x))


def many_calls(n: int) -> Made:
    """Calls of one function, one after another."""
    b = Builder()
    last, f = b.x(), b.function("F")
    f.returns(f"{f.add('Tanh', 'n', 'a0', T=FLOAT)}:y:0")
    for k in range(n // 2):
        last = b.call(f"n{k}", "F", last)
    return b.made(last)


def many_stateful_calls(n: int) -> Made:
    """Calls of a function with an effect."""
    b = Builder()
    last, f = b.x(), b.function("F")
    f.add("Print", "p", "a0", "a0", T=FLOAT, U=[FLOAT], message="", first_n=-1, summarize=3)
    f.returns("p:output:0")
    f.body.signature.is_stateful = True  # type: ignore[union-attr]
    for k in range(n // 2):
        last = b.call(f"n{k}", "F", last, op="StatefulPartitionedCall")
    return b.made(last)


def many_functions(n: int) -> Made:
    """Functions that are each called once."""
    b = Builder()
    last = b.x()
    for k in range(n // 2):
        f = b.function(f"F{k}")
        f.returns(f"{f.unary('n', 'a0', k % 3)}:y:0")
        last = b.call(f"n{k}", f"F{k}", last)
    return b.made(last)


def idle_functions(n: int) -> Made:
    """Functions that nothing calls."""
    b = Builder()
    for k in range(n):
        f = b.function(f"F{k}")
        f.returns(f"{f.unary('n', 'a0', k % 3)}:y:0")
    return b.made(b.unary("y", b.x()))


def many_arguments(n: int) -> Made:
    """A function of many arguments and results."""
    b = Builder()
    x, f = b.x(), b.function("F", n, n)
    f.returns(*[f"{f.add('Tanh', f'n{k}', f'a{k}', T=FLOAT)}:y:0" for k in range(n)])
    given = [b.add("Pow", f"x{k}", x, b.const(f"c{k}", k), T=FLOAT) for k in range(n)]
    called = b.add("PartitionedCall", "call", *given, f=_named("F"), Tin=_types(n), Tout=_types(n))
    return b.made(b.sum("y", *[f"{called}:{k}" if k else called for k in range(n)]))


def _branch(b: Builder, name: str, k: int) -> str:
    f = b.function(name)
    f.returns(f"{f.unary('n', 'a0', k % 3)}:y:0")
    return name


def many_ifs(n: int) -> Made:
    """Branches by functions, one after another."""
    b = Builder()
    last, p = b.x(), b.x("p", (), BOOL)
    for k in range(n // 6):
        then, other = _branch(b, f"T{k}", k), _branch(b, f"E{k}", k + 1)
        last = b.add("If", f"n{k}", p, last, Tcond=BOOL, Tin=[FLOAT], Tout=[FLOAT],
                     then_branch=_named(then), else_branch=_named(other))  # fmt: skip
    return b.made(last, feeds=("x:0", "p:0"))


def nested_ifs(n: int) -> Made:
    """Branches within branches, of which both lead to the next."""
    b = Builder()
    x, p = b.x(), b.x("p", (), BOOL)
    inner = _branch(b, "F0", 0)
    for k in range(1, n // 5):
        f = b.function(f"F{k}", 1)
        zero = f"{f.const('zero', 0.0)}:output:0"
        total = f"{f.add('Sum', 's', 'a0', _axis(f), T=FLOAT, Tidx=INT, keep_dims=False)}:output:0"
        above = f"{f.add('Less', 'p', zero, total, T=FLOAT)}:z:0"
        names = {"then_branch": _named(inner), "else_branch": _named(inner)}
        f.add("StatelessIf", "i", above, "a0", Tcond=BOOL, Tin=[FLOAT], Tout=[FLOAT], **names)
        f.returns("i:output:0")
        inner = f"F{k}"
    both = {"then_branch": _named(inner), "else_branch": _named(inner)}
    b.add("StatelessIf", "y", p, x, Tcond=BOOL, Tin=[FLOAT], Tout=[FLOAT], **both)
    return b.made("y", feeds=("x:0", "p:0"))


def _axis(f: Builder) -> str:
    return f"{f.const('axis', 0, np.int32)}:output:0"


def cases(n: int) -> Made:
    """A choice among many functions."""
    b = Builder()
    x, at = b.x(), b.x("at", (), INT)
    names = [_branch(b, f"F{k}", k) for k in range(max(2, n // 2))]
    b.add("Case", "y", at, x, Tin=[FLOAT], Tout=[FLOAT], branches=_named(*names))
    return b.made("y", feeds=("x:0", "at:0"))


def many_whiles(n: int) -> Made:
    """Loops by functions, one after another."""
    b = Builder()
    last = b.x(dims=())
    for k in range(n // 6):
        c, f = b.function(f"C{k}"), b.function(f"B{k}")
        c.body.signature.output_arg[0].type = "DT_BOOL"  # type: ignore[union-attr]
        most = f"{c.const('most', 9.0)}:output:0"
        c.returns(f"{c.add('Less', 'n', 'a0', most, T=FLOAT)}:z:0")
        one = f"{f.const('one', 1.0)}:output:0"
        f.returns(f"{f.add('AddV2', 'n', 'a0', one, T=FLOAT)}:z:0")
        last = b.add("While", f"n{k}", last, T=[FLOAT], cond=_named(f"C{k}"), body=_named(f"B{k}"))
    return b.made(last)


def wide_while(n: int) -> Made:
    """One loop that carries many values round."""
    b = Builder()
    x = b.x(dims=())
    c, f = b.function("C", n, 1), b.function("B", n, n)
    c.body.signature.output_arg[0].type = "DT_BOOL"  # type: ignore[union-attr]
    most = f"{c.const('most', 9.0)}:output:0"
    c.returns(f"{c.add('Less', 'n', 'a0', most, T=FLOAT)}:z:0")
    one = f"{f.const('one', 1.0)}:output:0"
    f.returns(*[f"{f.add('AddV2', f'n{k}', f'a{k}', one, T=FLOAT)}:z:0" for k in range(n)])
    loop = b.add("While", "loop", *[x] * n, T=_types(n), cond=_named("C"), body=_named("B"))
    return b.made(b.sum("y", *[f"{loop}:{k}" if k else loop for k in range(n)]))


def _loop(b: Builder, frame: str, starts: list[str], body: Callable[[int, str], str]) -> list[str]:
    """A loop of frames until the first value is above 9; the values that leave it."""

    def held(name: str, source: str, **more: Any) -> str:
        return b.add("Enter", f"{frame}/{name}", source, T=FLOAT, frame_name=frame, **more)

    entered = [held(f"e{k}", s, is_constant=False) for k, s in enumerate(starts)]
    merged = [b.add("Merge", f"{frame}/m{k}", e, f"{frame}/n{k}", T=FLOAT, N=2)
              for k, e in enumerate(entered)]  # fmt: skip
    most = held("most", b.const(f"{frame}/c", 9.0), is_constant=True)
    less = b.add("Less", f"{frame}/less", merged[0], most, T=FLOAT)
    go = b.add("LoopCond", f"{frame}/go", less)
    ends = []
    for k, one in enumerate(merged):
        switch = b.add("Switch", f"{frame}/s{k}", one, go, T=FLOAT)
        inside = b.add("Identity", f"{frame}/i{k}", f"{switch}:1", T=FLOAT)
        b.add("NextIteration", f"{frame}/n{k}", body(k, inside), T=FLOAT)
        ends.append(b.add("Exit", f"{frame}/x{k}", switch, T=FLOAT))
    return ends


def _exp(b: Builder, frame: str) -> Callable[[int, str], str]:
    return lambda k, source: b.add("Exp", f"{frame}/b{k}", source, T=FLOAT)


def many_loops(n: int) -> Made:
    """Loops of frames, one after another."""
    b = Builder()
    last = b.x(dims=())
    for k in range(n // 11):
        (last,) = _loop(b, f"f{k}", [last], _exp(b, f"f{k}"))
    return b.made(last)


def wide_loop(n: int) -> Made:
    """One loop of frames that carries many values round."""
    b = Builder()
    ends = _loop(b, "f", [b.x(dims=())] * (n // 7), _exp(b, "f"))
    return b.made(b.sum("y", *ends))


def long_loop(n: int) -> Made:
    """One loop of frames with a long body."""
    b = Builder()

    def body(_: int, source: str) -> str:
        for k in range(n):
            source = b.unary(f"f/b{k}", source, k)
        return source

    return b.made(*_loop(b, "f", [b.x(dims=())], body))


def nested_loops(n: int) -> Made:
    """Loops of frames, each in the one before."""
    b = Builder()

    def within(depth: int) -> Callable[[int, str], str]:
        def body(_: int, source: str) -> str:
            if depth == 0:
                return b.add("Exp", "inner", source, T=FLOAT)
            return _loop(b, f"f{depth}", [source], within(depth - 1))[0]

        return body

    depth = min(n // 11, 24)  # deeper ones are nobody's
    return b.made(*_loop(b, "f", [b.x(dims=())], within(depth)))


def stacks(n: int) -> Made:
    """Loops of frames whose values go onto stacks."""
    b = Builder()
    last = b.x(dims=())
    size = b.const("size", -1, np.int32)
    for k in range(n // 13):
        stack = b.add("StackV2", f"f{k}/stack", size, elem_type=FLOAT, stack_name="")
        held = b.add("Enter", f"f{k}/held", stack, T=AttrValue(type="DT_RESOURCE"),
                     frame_name=f"f{k}", is_constant=True)  # fmt: skip

        def body(_: int, source: str, held: str = held, k: int = k) -> str:
            pushed = b.add("StackPushV2", f"f{k}/push", held, source, T=FLOAT, swap_memory=False)
            return b.add("Exp", f"f{k}/b", pushed, T=FLOAT)

        (last,) = _loop(b, f"f{k}", [last], body)
    return b.made(last)


def switches(n: int) -> Made:
    """Branches of old control flow, one after another."""
    b = Builder()
    last, p = b.x(), b.x("p", (), BOOL)
    for k in range(n // 4):
        s = b.add("Switch", f"s{k}", last, p, T=FLOAT)
        yes = b.add("Tanh", f"t{k}", f"{s}:1", T=FLOAT)
        last = b.add("Merge", f"n{k}", b.add("Neg", f"e{k}", s, T=FLOAT), yes, T=FLOAT, N=2)
    return b.made(last, feeds=("x:0", "p:0"))


def nested_switches(n: int) -> Made:
    """Branches of old control flow, each in the one before."""
    b = Builder()
    last, feeds, joins = b.x(), ["x:0"], []
    for k in range(n // 3):
        p = b.x(f"p{k}", (), BOOL)
        feeds.append(f"p{k}:0")
        s = b.add("Switch", f"s{k}", last, p, T=FLOAT)
        joins.append(s)
        last = b.add("Tanh", f"t{k}", f"{s}:1", T=FLOAT)
    for k, s in enumerate(reversed(joins)):
        last = b.add("Merge", f"n{k}", last, s, T=FLOAT, N=2)
    return b.made(last, feeds=feeds)


def wide_switch(n: int) -> Made:
    """One branch that many nodes read, and one predicate of many branches."""
    b = Builder()
    x, p = b.x(), b.x("p", (), BOOL)
    s = b.add("Switch", "s", x, p, T=FLOAT)
    ends = [b.unary(f"n{k}", f"{s}:1", k) for k in range(n // 2)]
    total = b.sum("total", *ends)
    other = b.sum("other", *[s] * (n // 2))
    return b.made(b.add("Merge", "y", other, total, T=FLOAT, N=2), feeds=("x:0", "p:0"))


def gradients(n: int) -> Made:
    """The gradient of a function of many nodes."""
    b = Builder()
    x, f = b.x(), b.function("F")
    last = "a0"
    for k in range(n):
        last = f"{f.add(('Tanh', 'Sigmoid', 'Neg')[k % 3], f'n{k}', last, T=FLOAT)}:y:0"
    f.returns(last)
    b.add("SymbolicGradient", "y", x, x, f=_named("F"), Tin=_types(2), Tout=_types(1))
    return b.made("y")


def datasets(n: int) -> Made:
    """Datasets, each made of the one before."""
    b = Builder()
    shape = AttrValue()
    shape.shape.SetInParent()
    types, shapes = AttrValue(), AttrValue()
    types.list.type.append(FLOAT.type)
    shapes.list.shape.add()
    last = b.add("TensorDataset", "d", b.x(dims=()), Toutput_types=types, output_shapes=shapes)
    count = b.const("count", 1, np.int64)
    for k in range(n):
        last = b.add("RepeatDataset", f"n{k}", last, count, output_types=types,
                     output_shapes=shapes)  # fmt: skip
    return b.made(last)


_ALL: Final = (
    long_body, call_chain, nested_calls, nested_named_calls, many_calls, many_stateful_calls,
    many_functions, idle_functions, many_arguments, many_ifs, nested_ifs, cases, many_whiles,
    wide_while, many_loops, wide_loop, long_loop, nested_loops, stacks, switches, nested_switches,
    wide_switch, gradients, datasets,
)  # fmt: skip
FLOW: Final[dict[str, Shape]] = {made.__name__: made for made in _ALL}
