"""Variables whose values lie on devices: changed there, read anywhere, always the newest."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from device_graphs import OFF, ON, Array, Build, settled, x_of
from drystone_conformance.strict_device import StrictDevice
from hypothesis import given, settings

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT32, FLOAT64, STRING
from drystone_base.core.errors import KernelError
from drystone_base.files.access import Access
from drystone_base.graph import Node
from drystone_base.host import available

if not available():
    pytest.skip("the host library is not built", allow_module_level=True)

SHAPE = (3, 4)
FIRST = np.arange(12, dtype=np.float32).reshape(SHAPE) / 7


class Variables(Build):
    """Graphs with variables, of both kinds."""

    def handle(self, name: str, dtype: Any = FLOAT32, shared: str = "") -> Node:
        attrs = {"dtype": dtype, "shape": None, "container": "", "shared_name": shared or name}
        return self.graph.add("VarHandleOp", name, attrs=attrs)

    def read(self, name: str, handle: Node, after: Any = (), dtype: Any = FLOAT32) -> Node:
        attrs = {"dtype": dtype}
        return self.graph.add("ReadVariableOp", name, [handle], attrs=attrs, controls=after)

    def write(self, op: str, name: str, handle: Node, value: Any, device: str = "") -> Node:
        attrs = {"dtype": FLOAT32}
        return self.graph.add(op, name, [handle, value], attrs=attrs, device=device)

    def reference(self, name: str) -> Node:
        attrs = {"dtype": FLOAT32, "shape": SHAPE, "container": "", "shared_name": ""}
        return self.graph.add("VariableV2", name, attrs=attrs)


def trained(rule: str, numbers: list[float], slots: int, *, is_ref: bool) -> Variables:
    """A layer, and a step that changes its weights: ``init``, ``y``, ``step``, ``now``."""
    b = Variables()
    make = b.reference if is_ref else b.handle
    variables = [make("w"), *(make(f"slot{k}") for k in range(slots))]
    init = []
    for k, variable in enumerate(variables):
        value = b.const(f"first{k}", FIRST if k == 0 else np.zeros(SHAPE))
        if is_ref:
            attrs = {"use_locking": True, "validate_shape": True}
            init.append(b.op("Assign", f"assign{k}", variable, value, **attrs))
        else:
            init.append(b.write("AssignVariableOp", f"assign{k}", variable, value))
    b.graph.add("NoOp", "init", controls=init)
    x = b.feed("x")
    w = b.op("Identity", "w/read", variables[0]) if is_ref else b.read("w/read", variables[0])
    y = b.op("MatMul", "y", x, w)
    gradient = b.op("MatMul", "gradient", x, y, transpose_a=True)
    inputs = [b.const(f"number{k}", number) for k, number in enumerate(numbers)]
    at = {"GradientDescent": 1, "Momentum": 1, "Adam": 6, "Adagrad": 1}[rule]
    inputs.insert(at, gradient)
    op = f"Apply{rule}" if is_ref else f"ResourceApply{rule}"
    step = b.op(op, "step", *variables, *inputs, use_locking=True)
    if is_ref:
        b.op("Identity", "now", step)
    else:
        b.read("now", variables[0], [step])
    return b


RULES: dict[str, tuple[list[float], int]] = {
    "GradientDescent": ([0.01], 0),
    "Momentum": ([0.01, 0.9], 1),
    "Adam": ([0.9, 0.999, 0.01, 0.9, 0.999, 1e-7], 2),
    "Adagrad": ([0.01], 1),  # which the device lacks
}


@pytest.mark.parametrize("is_ref", [False, True], ids=["resource", "reference"])
@pytest.mark.parametrize("rule", RULES)
def test_training_steps_give_the_hosts_values(
    strict: StrictDevice, rule: str, is_ref: bool
) -> None:
    b = trained(rule, *RULES[rule], is_ref=is_ref)
    rows = []
    for config in (ON, OFF):
        session = Session(b.graph, SessionConfig(**config))
        session.run("init")
        found = [session.run(["y:0", "now:0"], {"x:0": x_of(k + 2)}) for k in range(4)]
        rows.append([a for pair in found for a in pair])
    for one, other in zip(*rows, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-5)


def test_a_step_copies_what_is_fed_and_fetched_and_no_variable(strict: StrictDevice) -> None:
    for is_ref in (False, True):
        session = Session(
            trained("Momentum", *RULES["Momentum"], is_ref=is_ref).graph, SessionConfig(**ON)
        )
        session.run("init")
        fetches = ["y:0", "step"]
        session.run(fetches, {"x:0": x_of()})  # which copies constants
        strict.counted()
        for _ in range(5):
            session.run(fetches, {"x:0": x_of()})
        found = strict.counted()
        assert (found["copies_in"], found["copies_out"]) == (5, 5), is_ref


def test_a_variable_that_nobody_changes_is_copied_once(strict: StrictDevice) -> None:
    """It was given its value on the host, and both devices read it."""
    b = Variables()
    w = b.handle("w", FLOAT32)
    value = b.feed("value")
    b.write("AssignVariableOp", "assign", w, value, device="/cpu:0")
    x, w_read = b.feed("x"), b.read("w/read", w)
    for k in range(2):
        b.op("MatMul", f"y{k}", x, w_read, device=f"/device:STRICT:{k}")
    session = Session(b.graph, SessionConfig(**ON))
    session.run("assign", {"value:0": FIRST})
    strict.counted()
    for _ in range(4):
        one, other = session.run(["y0:0", "y1:0"], {"x:0": x_of()})
        np.testing.assert_allclose(one, other)
        np.testing.assert_allclose(one, x_of() @ FIRST, rtol=1e-5)
    assert strict.counted()["copies_in"] <= 2 + 4 * 3


@pytest.mark.parametrize("is_ref", [False, True], ids=["resource", "reference"])
def test_what_another_plan_assigns_is_read(strict: StrictDevice, is_ref: bool) -> None:
    b = Variables()
    w = b.reference("w") if is_ref else b.handle("w")
    value = b.feed("value")
    for place in ("/cpu:0", "/device:STRICT:0", "/device:STRICT:1"):
        name = "set" + place[-2:].replace(":", place[1])
        if is_ref:
            attrs = {"use_locking": True, "validate_shape": True}
            b.op("Assign", name, w, value, device=place, **attrs)
        else:
            b.write("AssignVariableOp", name, w, value, device=place)
    b.op("Neg", "y", w if is_ref else b.read("w/read", w))
    session = Session(b.graph, SessionConfig(**ON))
    for k in range(6):
        session.run(["setc0", "setd0", "setd1"][k % 3], {"value:0": FIRST + k})
        np.testing.assert_array_equal(session.run("y:0"), -FIRST - k)


def test_checkpoints_save_and_restore_what_is_there(strict: StrictDevice, tmp_path: Path) -> None:
    b = trained("Momentum", *RULES["Momentum"], is_ref=False)
    slot = b.read("slot/read", b.graph["slot0"])
    prefix = b.const("prefix", str(tmp_path / "model").encode(), STRING)
    names = b.const("names", [b"w", b"slot"], STRING)
    slices = b.const("slices", [b"", b""], STRING)
    rows = [prefix, names, slices]
    b.graph.add("SaveV2", "save", [*rows, b.graph["w/read"], slot], attrs={"dtypes": [FLOAT32] * 2})
    restored = b.graph.add("RestoreV2", "restored", rows, attrs={"dtypes": [FLOAT32] * 2})
    ends = [
        b.write("AssignVariableOp", f"restore{k}", b.graph[name], (restored, k))
        for k, name in enumerate(("w", "slot0"))
    ]
    b.graph.add("NoOp", "restore", controls=ends)
    session = Session(
        b.graph, SessionConfig(access=Access().with_read(tmp_path).with_write(tmp_path), **ON)
    )
    session.run("init")
    for _ in range(2):
        session.run("step", {"x:0": x_of()})
    session.run("save")
    kept = session.run(["w/read:0", "slot/read:0"])
    session.run("step", {"x:0": x_of()})
    assert not np.array_equal(session.run("w/read:0"), kept[0])
    session.run("restore")
    for one, other in zip(session.run(["w/read:0", "slot/read:0"]), kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_cannot_be_read_says_so_as_on_the_host(strict: StrictDevice) -> None:
    b = Variables()
    b.op("Neg", "y", b.read("w/read", b.handle("w")))
    b.op("Neg", "z", b.read("d/read", b.handle("d", FLOAT64)))
    for config in (ON, OFF):
        session = Session(b.graph, SessionConfig(**config))
        with pytest.raises(KernelError, match="'w' is read before it has a value") as error:
            session.run("y:0")
        assert error.value.code == "uninitialized-variable"
        with pytest.raises(KernelError, match="'d'"):
            session.run("z:0")


def test_a_temporary_variable_lives_on_the_device(strict: StrictDevice) -> None:
    b = Variables()
    attrs = {"dtype": FLOAT32, "shape": SHAPE, "var_name": "sum"}
    made = b.graph.add("TemporaryVariable", "made", attrs=attrs)
    kept = b.op(
        "Assign", "kept", made, b.const("first", FIRST), use_locking=True, validate_shape=True
    )
    more = b.op("AssignAdd", "more", kept, b.op("Neg", "minus", b.feed("x")), use_locking=True)
    b.op("DestroyTemporaryVariable", "end", more, var_name="sum")
    session = Session(b.graph, SessionConfig(**ON))
    for _ in range(2):
        found = session.run("end:0", {"x:0": FIRST * 3})
        np.testing.assert_allclose(found, FIRST - FIRST * 3, rtol=1e-6)


def test_runs_at_once_lose_no_change(strict: StrictDevice) -> None:
    """Each has a stream of its own, and waits for what others have written."""
    b = Variables()
    w = b.handle("w")
    b.write("AssignVariableOp", "init", w, b.const("zero", np.zeros(SHAPE)))
    b.write("AssignAddVariableOp", "add", w, b.const("one", np.ones(SHAPE)))
    b.op("Neg", "y", b.read("w/read", w))
    session = Session(b.graph, SessionConfig(**ON))
    session.run("init")
    wrong: list[object] = []

    def go() -> None:
        try:
            for _ in range(25):
                session.run("add")
                seen = session.run("y:0")
                if not (seen == np.round(seen)).all():
                    wrong.append(seen)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=go) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    np.testing.assert_array_equal(session.run("w/read:0"), np.full(SHAPE, 100, np.float32))


PLACES = ("/cpu:0", "/device:STRICT:0", "/device:STRICT:1")
ACTIONS: dict[str, Callable[[Array, Array], Array]] = {
    "AssignVariableOp": lambda _, new: new,
    "AssignAddVariableOp": np.add,
    "AssignSubVariableOp": np.subtract,
}


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([*ACTIONS, "read", "fetch"]), st.integers(0, 2), st.integers(-9, 9)
        ),
        max_size=16,
    )
)
def test_any_order_of_changes_and_reads_at_any_place_is_that_of_the_host(
    strict_device: StrictDevice, rows: list[tuple[str, int, int]]
) -> None:
    b = Variables()
    value = b.feed("value")
    for k, place in enumerate(PLACES):
        w = b.handle(f"w{k}", shared="w")  # one variable, a node for each place
        for op in ACTIONS:
            b.write(op, f"{op}{k}", w, value, device=place)
        b.op("Neg", f"read{k}", b.read(f"of{k}", w), device=place)
    before = os.environ["DRYSTONE_VISIBLE_DEVICES"]
    os.environ["DRYSTONE_VISIBLE_DEVICES"] = "STRICT"
    try:
        session = Session(b.graph, SessionConfig(**ON))
        want = FIRST
        session.run("AssignVariableOp0", {"value:0": FIRST})
        for action, where, number in rows:
            if action in ACTIONS:
                new = np.full(SHAPE, number, np.float32)
                want = ACTIONS[action](want, new)
                session.run(f"{action}{where}", {"value:0": new})
            elif action == "read":
                np.testing.assert_array_equal(session.run(f"read{where}:0"), -want)
            else:
                np.testing.assert_array_equal(session.run(f"of{where}:0"), want)
    finally:
        os.environ["DRYSTONE_VISIBLE_DEVICES"] = before
    del session
    assert settled(strict_device) == (0, [])
