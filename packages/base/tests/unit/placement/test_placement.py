"""Row H25, the placer: what it keeps, what it puts together, what it refuses, and its reasons."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from drystone_abi.protos import FunctionDef
from drystone_base import Graph, GraphError
from drystone_base.core import dtypes
from drystone_base.graph import Body, Node, body_to_function
from drystone_base.ops.attrs import FunctionRef, TensorAttr
from drystone_base.placement import Device, by_op, everywhere, parse_device, place

F = dtypes.FLOAT32
HOME = "/job:localhost/replica:0/task:0"
CPU0, CPU1, GPU0 = (f"{HOME}/device:{name}" for name in ("CPU:0", "CPU:1", "GPU:0"))
DEVICES = [CPU0, CPU1, GPU0]
GPU_FIRST = everywhere(["GPU", "CPU"])


@pytest.mark.parametrize(("text", "want"), [
    ("", Device()),
    ("/cpu:1", Device(type="CPU", index=1)),
    ("gpu:*", Device(type="GPU")),
    ("/device:TPU:*", Device(type="TPU")),
    ("/job:worker/replica:1/task:2/device:XPU:3", Device("worker", 1, 2, "XPU", 3)),
    ("/task:2/job:a", Device(job="a", task=2)),
    ("/device:*:1", Device(index=1)),
])  # fmt: skip
def test_names_are_read(text: str, want: Device) -> None:
    assert parse_device(text) == want
    assert parse_device(str(want)) == want


@pytest.mark.parametrize("text", ["/gpu0", "CPU", "/device:", "nonsense", "/task:x", "/job:", "//"])
def test_what_is_no_name_is_refused(text: str) -> None:
    with pytest.raises(GraphError) as caught:
        parse_device(text, "n")
    assert caught.value.code == "bad-device"
    assert caught.value.what == "node 'n' asks for a device that cannot be understood"


def test_demands_are_merged() -> None:
    task = Device(task=1)
    assert task.merged(Device(type="CPU")) == Device(task=1, type="CPU")
    assert task.merged(Device(task=2)) is None
    assert task.matches(Device("a", 0, 1, "CPU", 0))
    assert not task.matches(Device("a", 0, 2, "CPU", 0))


class Drawn:
    """A graph of constants and unary nodes."""

    def __init__(self) -> None:
        self.graph = Graph()

    def const(self, name: str, device: str = "") -> Node:
        attrs = {"dtype": F, "value": TensorAttr(array=np.float32([1]))}
        return self.graph.add("Const", name, attrs=attrs, device=device)

    def unary(self, name: str, source: Any, op: str = "Neg", **more: Any) -> Node:
        attrs = {"T": F} | more.pop("attrs", {})
        return self.graph.add(op, name, [source], attrs=attrs, **more)

    def placed(self, **options: Any) -> dict[str, str]:
        options = {"devices": DEVICES, "supports": GPU_FIRST} | options
        found = place(self.graph, options.pop("devices"), options.pop("supports"), **options)
        return {d.node: d.device for d in found.decisions}

    def fails(self, code: str, **options: Any) -> GraphError:
        with pytest.raises(GraphError) as caught:
            self.placed(**options)
        assert caught.value.code == code
        return caught.value


def test_the_type_with_the_best_kernels_comes_first() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"))
    assert drawn.placed() == {"a": GPU0, "b": GPU0}
    assert drawn.placed(supports=everywhere(["CPU", "GPU"])) == {"a": CPU0, "b": CPU0}


def test_what_is_asked_for_is_kept_and_refined() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a", "/cpu:1"), device="/device:CPU:*")
    assert drawn.placed() == {"a": CPU1, "b": CPU0}


def test_a_device_without_a_kernel_is_not_chosen() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"))
    supports = by_op(["GPU", "CPU"], {"Neg": ["CPU"]})
    assert drawn.placed(supports=supports) == {"a": CPU0, "b": CPU0}


def test_constants_follow_their_consumers_and_shapes_their_input() -> None:
    drawn = Drawn()
    a = drawn.const("a")
    b = drawn.unary("b", a, device="/cpu:1")
    drawn.unary("size", b, "Size", attrs={"out_type": dtypes.INT32})
    drawn.unary("same", b, "Identity")
    drawn.unary("other", b)
    assert drawn.placed() == {"a": CPU1, "b": CPU1, "size": CPU1, "same": CPU1, "other": GPU0}


def test_any_source_with_one_output_follows_its_consumers() -> None:
    drawn = Drawn()
    x = drawn.graph.add("Placeholder", "x", attrs={"dtype": F, "shape": ()})
    drawn.unary("y", x, device="/cpu:1")
    drawn.unary("z", x, device="/cpu:1")
    assert drawn.placed()["x"] == CPU1


def test_the_kernels_of_one_op_may_be_better_elsewhere() -> None:
    drawn = Drawn()
    a = drawn.const("a")
    drawn.unary("b", a)
    c = drawn.unary("c", a, "Exp")
    drawn.unary("d", a, attrs={"_class": ["loc:@c"]})

    def supports(node: Node) -> dict[str, int]:
        return {"GPU": 2, "CPU": 9 if node.op == "Exp" else 1}

    found = drawn.placed(supports=supports)
    assert [found[n] for n in ("b", "c", "d")] == [GPU0, CPU0, CPU0]
    drawn.graph.set_device(c, "/gpu:0")
    assert drawn.placed(supports=supports)["d"] == GPU0


def test_the_first_device_is_that_of_the_lowest_number() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"))
    names = [f"{HOME}/device:CPU:{k}" for k in (11, 10, 9, 2)]
    assert set(drawn.placed(devices=names).values()) == {names[3]}


def test_a_partial_demand_leaves_the_rest_open() -> None:
    drawn = Drawn()
    drawn.const("a", "/job:localhost")
    drawn.const("b", "/task:0/device:CPU:*")
    drawn.const("c", "/device:*:1")
    assert drawn.placed() == {"a": GPU0, "b": CPU0, "c": CPU1}


def returning(device: str) -> Drawn:
    """A call of a function that makes a variable, and a read of what it gives."""
    drawn = Drawn()
    graph, inner = drawn.graph, Graph()
    attrs = {"dtype": F, "shape": (), "shared_name": "v"}
    v = inner.add("VarHandleOp", "v", attrs=attrs, device=device)
    result = inner.add("_Retval", "r", [v], attrs={"T": dtypes.RESOURCE, "index": 0})
    proto = FunctionDef()
    proto.signature.name = "make"
    proto.signature.is_stateful = True
    proto.signature.output_arg.add(name="r", type=dtypes.RESOURCE.number)
    graph.functions.add(body_to_function(Body(inner, [], [result], []), proto))
    outer = {"f": FunctionRef("make", {}), "Tin": [], "Tout": [dtypes.RESOURCE]}
    call = graph.add("StatefulPartitionedCall", "call", attrs=outer)
    graph.add("ReadVariableOp", "read", [call], attrs={"dtype": F})
    return drawn


def test_functions_are_inspected_for_where_their_resources_live() -> None:
    drawn = returning("/cpu:1")
    assert drawn.placed() == {"call": CPU1, "read": CPU1}
    assert returning("").placed() == {"call": GPU0, "read": GPU0}
    drawn.graph.set_device(drawn.graph["call"], "/cpu:0")  # what the call itself asks for wins
    assert drawn.placed() == {"call": CPU0, "read": CPU0}
    error = returning("/device:TPU:0").fails("no-such-device")
    assert error.what == "node 'v' asks for a device that is not there"


def test_a_constant_of_two_devices_goes_to_the_first() -> None:
    drawn = Drawn()
    a = drawn.const("a")
    drawn.unary("b", a, device="/cpu:1")
    drawn.unary("c", a, device="/cpu:0")
    assert drawn.placed()["a"] == GPU0


def test_colocated_nodes_share_a_device() -> None:
    drawn = Drawn()
    a = drawn.const("a", "/cpu:1")
    drawn.unary("b", a, attrs={"_class": ["loc:@a"]})
    drawn.unary("c", a, attrs={"_class": [b"loc:@gone"]})
    drawn.unary("d", a, attrs={"_class": ["loc:@gone"]}, device="/cpu:0")
    assert drawn.placed() == {"a": CPU1, "b": CPU1, "c": CPU0, "d": CPU0}


def test_contradicting_colocations_name_both_nodes() -> None:
    drawn = Drawn()
    a = drawn.const("a", "/cpu:1")
    drawn.unary("b", a, attrs={"_class": ["loc:@a"]}, device="/gpu:0")
    error = drawn.fails("cannot-colocate")
    assert error.render() == (
        "nodes 'b' and 'a' cannot share a device [cannot-colocate]\n"
        "  check: nodes joined by colocation loc:@a must run on one device\n"
        "  found: /gpu:0 and /cpu:1\n"
        "  needed: devices that do not contradict each other\n"
        "  remedy: correct the device of one of them, or SessionConfig(allow_soft_placement=True)"
    )
    assert drawn.placed(soft=True) == {"a": GPU0, "b": GPU0}


def test_colocated_ops_need_a_common_type() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"), attrs={"_class": ["loc:@a"]})
    supports = by_op(["GPU", "CPU"], {"Neg": ["CPU"], "Const": ["GPU"]})
    error = drawn.fails("cannot-colocate", supports=supports)
    assert error.found == "Neg: CPU; Const: GPU"


def test_variables_and_what_touches_them_stay_together() -> None:
    drawn = Drawn()
    graph = drawn.graph
    handle = graph.add("VarHandleOp", "v", attrs={"dtype": F, "shape": ()}, device="/cpu:1")
    graph.add("AssignVariableOp", "set", [handle, drawn.const("a")], attrs={"dtype": F})
    graph.add("ReadVariableOp", "get", [handle], attrs={"dtype": F})
    ref = graph.add("VariableV2", "r", attrs={"dtype": F, "shape": ()}, device="/cpu:0")
    drawn.unary("read", ref, "Identity")
    found = drawn.placed()
    assert [found[n] for n in ("v", "set", "get", "r", "read")] == [CPU1, CPU1, CPU1, CPU0, CPU0]


def test_a_missing_device_is_an_error_unless_placement_is_soft() -> None:
    drawn = Drawn()
    drawn.const("a", "/device:TPU:0")
    error = drawn.fails("no-such-device")
    assert error.render() == (
        "node 'a' asks for a device that is not there [no-such-device]\n"
        "  check: some device of the session must fit what a node asks for\n"
        "  found: /device:TPU:0\n"
        f"  needed: one of {CPU0}, {CPU1}, {GPU0}\n"
        "  remedy: SessionConfig(allow_soft_placement=True) places it elsewhere"
    )
    assert drawn.placed(soft=True) == {"a": GPU0}


def test_a_missing_kernel_is_an_error_unless_placement_is_soft() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"), device="/gpu:0")
    supports = by_op(["GPU", "CPU"], {"Neg": ["CPU"]})
    error = drawn.fails("no-kernel-on-device", supports=supports)
    assert error.render() == (
        "node 'b' (Neg) has no kernel on /device:GPU:0 [no-kernel-on-device]\n"
        "  check: the device of a node must have a kernel for its op and dtypes\n"
        "  found: kernels on CPU\n"
        "  needed: one on GPU\n"
        "  remedy: SessionConfig(allow_soft_placement=True), or a plugin with the kernel"
    )
    assert drawn.placed(supports=supports, soft=True)["b"] == CPU0


def test_every_decision_has_its_reason() -> None:
    drawn = Drawn()
    a = drawn.const("a", "/cpu:1")
    b = drawn.unary("b", a, attrs={"_class": ["loc:@a"]})
    drawn.unary("c", b, "Identity")
    drawn.unary("d", drawn.const("e"), device="/device:TPU:1")
    found = place(drawn.graph, DEVICES, GPU_FIRST, soft=True).decisions
    assert {d.node: d.why for d in found} == {
        "a": "with 1 colocated node, asked for by 'a'",
        "b": "with 1 colocated node, asked for by 'a'",
        "c": "follows its input 'b'",
        "d": "soft placement: what was asked for cannot be had",
        "e": "follows its consumers",
    }


def test_a_branch_may_be_on_several_devices() -> None:
    drawn = Drawn()
    graph, a = drawn.graph, drawn.const("a", "/cpu:0")
    choice = graph.add("Placeholder", "p", attrs={"dtype": dtypes.BOOL, "shape": ()})
    switch = graph.add("Switch", "switch", [a, choice], attrs={"T": F})
    yes = drawn.unary("yes", (switch, 1))
    merge = graph.add("Merge", "merge", [(switch, 0), yes], attrs={"T": F, "N": 2})
    drawn.unary("after", merge, device="/cpu:1")
    found = drawn.placed()
    assert {found[n] for n in ("switch", "yes", "merge")} == {GPU0}
    assert found["after"] == CPU1
    graph.set_device(yes, "/cpu:1")
    graph.set_device(merge, "/cpu:0")
    found = drawn.placed()
    assert [found[n] for n in ("switch", "yes", "merge")] == [GPU0, CPU1, CPU0]


def test_the_graph_is_changed_by_apply_alone() -> None:
    drawn = Drawn()
    drawn.unary("b", drawn.const("a"))
    before = drawn.graph.to_bytes()
    made = place(drawn.graph, DEVICES, GPU_FIRST)
    assert drawn.graph.to_bytes() == before
    made.apply()
    assert {n.device for n in drawn.graph} == {GPU0}
    assert {
        d.device for d in place(drawn.graph, DEVICES, everywhere(["CPU", "GPU"])).decisions
    } == {GPU0}
