"""Random graphs with branches, loops, functions and variables, for executors to agree on."""

from __future__ import annotations

from typing import Any

import numpy as np

from drystone_abi.protos import FunctionDef, NodeDef
from drystone_base.dtypes import BOOL, FLOAT32, INT32
from drystone_base.graph import Graph, Output
from drystone_base.ops.attrs import FunctionRef, TensorAttr, encode_attr

__all__ = ["Drawn", "draw"]

BINARY = ("AddV2", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference")
UNARY = ("Neg", "Abs", "Square", "Relu", "Tanh", "Sign")


class Drawn:
    """A graph with values to fetch, and values to feed."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.graph = Graph()
        self.values: list[Output] = []
        self.feeds: dict[str, Any] = {}
        self.targets: list[str] = []
        self._serial = 0

    def name(self, stem: str) -> str:
        """A name that is new."""
        self._serial += 1
        return f"{stem}_{self._serial}"

    def add(self, op: str, *inputs: Output, controls: Any = (), **attrs: Any) -> Output:
        """A node's first output."""
        node = self.graph.add(op, self.name(op), inputs, controls=controls, attrs=attrs)
        return (node, 0)

    def constant(self, value: Any, dtype: Any = FLOAT32) -> Output:
        """A constant."""
        array = TensorAttr(array=np.asarray(value, dtype.np))
        return self.add("Const", dtype=dtype, value=array)

    def pick(self) -> Output:
        """One of the values."""
        return self.values[int(self.rng.integers(len(self.values)))]

    # ---- pieces --------------------------------------------------------------------------------

    def arithmetic(self) -> None:
        """One element-wise node."""
        if self.rng.random() < 0.6:
            op = str(self.rng.choice(BINARY))
            self.values.append(self.add(op, self.pick(), self.pick(), T=FLOAT32))
        else:
            self.values.append(self.add(str(self.rng.choice(UNARY)), self.pick(), T=FLOAT32))

    def predicate(self) -> Output:
        """A scalar that is true or false."""
        total = self.add("Sum", self.pick(), self.constant([0], INT32), T=FLOAT32, Tidx=INT32)
        bound = self.constant(self.rng.normal())
        return self.add("Less", total, bound, T=FLOAT32)

    def branch_v1(self) -> None:
        """Switch and Merge around one node on each side."""
        data, choice = self.pick(), self.predicate()
        switch, _ = self.add("Switch", data, choice, T=FLOAT32)
        no = self.add("Neg", (switch, 0), T=FLOAT32)
        yes = self.add("Square", (switch, 1), T=FLOAT32)
        merge, _ = self.add("Merge", no, yes, T=FLOAT32, N=2)
        self.values.append((merge, 0))

    def loop_v1(self) -> None:
        """A counted loop of frames, with a constant of the loop."""
        frame, steps = self.name("frame"), int(self.rng.integers(0, 5))

        def enter(value: Output, dtype: Any, constant: bool = False) -> Output:
            return self.add("Enter", value, T=dtype, frame_name=frame, is_constant=constant)

        counter = enter(self.constant(0, INT32), INT32)
        data = enter(self.pick(), FLOAT32)
        limit = enter(self.constant(steps, INT32), INT32, True)
        step = enter(self.pick(), FLOAT32, True)
        merged = [self.graph.add("Merge", self.name("Merge"), [v, v], attrs={"T": t, "N": 2})
                  for v, t in ((counter, INT32), (data, FLOAT32))]  # fmt: skip
        test = self.add("LoopCond", self.add("Less", (merged[0], 0), limit, T=INT32))
        parts = [self.add("Switch", (m, 0), test, T=t)[0]
                 for m, t in zip(merged, (INT32, FLOAT32), strict=True)]  # fmt: skip
        inside = self.add("Identity", (parts[0], 1), T=INT32)
        one = self.add("Const", controls=[inside[0]], dtype=INT32,
                       value=TensorAttr(array=np.array(1, np.int32)))  # fmt: skip
        bodies = [self.add("AddV2", inside, one, T=INT32),
                  self.add("Minimum", (parts[1], 1), step, T=FLOAT32)]  # fmt: skip
        for merge, body, dtype in zip(merged, bodies, (INT32, FLOAT32), strict=True):
            back = self.add("NextIteration", body, T=dtype)
            self.graph.set_input(merge, 1, back)
        self.values.append(self.add("Exit", (parts[1], 0), T=FLOAT32))

    def functional(self) -> None:
        """If, While or a call of functions of the library."""
        kind = int(self.rng.integers(3))
        a, b = self.pick(), self.pick()
        if kind == 0:
            branches = {f"{name}_branch": self.function(2) for name in ("then", "else")}
            node = self.graph.add(
                "If", self.name("If"), [self.predicate(), a, b],
                attrs={"Tcond": BOOL, "Tin": [FLOAT32] * 2, "Tout": [FLOAT32], **branches},
            )  # fmt: skip
        elif kind == 1:
            node = self.graph.add(
                "PartitionedCall", self.name("Call"), [a, b],
                attrs={"Tin": [FLOAT32] * 2, "Tout": [FLOAT32], "f": self.function(2)},
            )  # fmt: skip
        else:
            limit = self.constant(int(self.rng.integers(0, 4)), INT32)
            node = self.graph.add(
                "While", self.name("While"), [self.constant(0, INT32), limit, a],
                attrs={"T": [INT32, INT32, FLOAT32], "cond": self.condition(), "body": self.body()},
            )  # fmt: skip
        self.values.append((node, 2 if kind == 2 else 0))

    def variable(self) -> None:
        """A resource variable that is assigned, changed and read, in this order."""
        shared = self.name("v")
        handle = self.add("VarHandleOp", dtype=FLOAT32, shape=None, shared_name=shared)
        put = self.add("AssignVariableOp", handle, self.pick(), dtype=FLOAT32)
        change = self.add(
            "AssignAddVariableOp",
            handle,
            self.constant([1.5] * 3),
            controls=[put[0]],
            dtype=FLOAT32,
        )
        read = self.add("ReadVariableOp", handle, controls=[change[0]], dtype=FLOAT32)
        self.values.append(self.add("Identity", read, T=FLOAT32))

    # ---- functions -----------------------------------------------------------------------------

    def _define(self, name: str, inputs: Any, outputs: Any, nodes: list[NodeDef]) -> FunctionRef:
        proto = FunctionDef()
        proto.signature.name = name
        for arg, dtype in inputs:
            proto.signature.input_arg.add(name=arg, type=dtype.number)
        for arg, dtype, source in outputs:
            proto.signature.output_arg.add(name=arg, type=dtype.number)
            proto.ret[arg] = source
        proto.node_def.extend(nodes)
        self.graph.functions.add(proto)
        return FunctionRef(name, {})

    def function(self, arguments: int) -> FunctionRef:
        """A few element-wise nodes of float32 arguments."""
        nodes, known = [], [f"x{k}" for k in range(arguments)]
        for k in range(int(self.rng.integers(1, 4))):
            op = str(self.rng.choice(BINARY))
            picked = [known[int(self.rng.integers(len(known)))] for _ in range(2)]
            nodes.append(_node(op, f"n{k}", picked, T=FLOAT32))
            known.append(f"n{k}:z:0")
        inputs = [(f"x{k}", FLOAT32) for k in range(arguments)]
        return self._define(self.name("f"), inputs, [("y", FLOAT32, known[-1])], nodes)

    def condition(self) -> FunctionRef:
        """counter < limit."""
        nodes = [_node("Less", "less", ["i", "limit"], T=INT32)]
        inputs = [("i", INT32), ("limit", INT32), ("x", FLOAT32)]
        return self._define(self.name("cond"), inputs, [("y", BOOL, "less:z:0")], nodes)

    def body(self) -> FunctionRef:
        """counter + 1, limit, and a node on x."""
        op = str(self.rng.choice(("Neg", "Relu", "Tanh")))
        one = TensorAttr(array=np.array(1, np.int32))
        out = "activations" if op == "Relu" else "y"
        nodes = [
            _node("Const", "one", [], dtype=INT32, value=one),
            _node("AddV2", "next", ["i", "one:output:0"], T=INT32),
            _node(op, "step", ["x"], T=FLOAT32),
        ]
        inputs = [("i", INT32), ("limit", INT32), ("x", FLOAT32)]
        outputs = [("i2", INT32, "next:z:0"), ("l2", INT32, "limit"),
                   ("x2", FLOAT32, f"step:{out}:0")]  # fmt: skip
        return self._define(self.name("body"), inputs, outputs, nodes)


def _node(op: str, name: str, inputs: list[str], **attrs: Any) -> NodeDef:
    proto = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        proto.attr[key].CopyFrom(encode_attr(value))
    return proto


def draw(seed: int, size: int = 12) -> Drawn:
    """The graph of a seed, with up to ``size`` pieces."""
    rng = np.random.default_rng(seed)
    drawn = Drawn(rng)
    for k in range(int(rng.integers(1, 4))):
        attrs = {"dtype": FLOAT32, "shape": (3,)}
        drawn.values.append((drawn.graph.add("Placeholder", f"x{k}", attrs=attrs), 0))
        drawn.feeds[f"x{k}:0"] = rng.normal(size=3).astype(np.float32)
    pieces = [drawn.arithmetic] * 4 + [
        drawn.branch_v1, drawn.loop_v1, drawn.functional, drawn.functional, drawn.variable
    ]  # fmt: skip
    for _ in range(int(rng.integers(1, size + 1))):
        pieces[int(rng.integers(len(pieces)))]()
    return drawn
