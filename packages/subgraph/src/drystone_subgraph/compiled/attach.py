"""From calls of regions to operators that hold executables, in the graph of a session.

A call of a region of a backend that compiles becomes two nodes: ``CompiledSubgraph``, which gives
whether there are results, and results; and an ``If`` that passes them on, or calls the region. So
what a backend does not compute is computed by the host executor, in its own way and speed.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np

from drystone_abi.protos import FunctionDef
from drystone_abi.protos import OpDef as OpDefProto
from drystone_base.core.dtypes import DType, as_dtype
from drystone_base.core.errors import PluginError
from drystone_base.executor.calling import OPERATOR_ATTR
from drystone_base.executor.encode import READS_VERSION
from drystone_base.graph import FunctionLibrary, Graph, Node, Output, body_to_function
from drystone_base.host.operators import HostOperator
from drystone_base.kernels import Array, Call, kernel
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.defs import ArgDef, AttrDef, OpDef, register
from drystone_base.state.variables import Variable, resource_of
from drystone_subgraph.compiled.compiled import CompiledOperator, CompileSource
from drystone_subgraph.compiled.differentiated import keep_differentiated
from drystone_subgraph.contract.backend import SubgraphBackend, backends
from drystone_subgraph.contract.config import PartitionConfig
from drystone_subgraph.contract.failure import details_of, warn_of
from drystone_subgraph.contract.subgraph import BACKEND_ATTR, given_attrs

__all__ = ["KIND", "OP", "attach"]

OP: Final = "CompiledSubgraph"
READ: Final = "_ReadVariableWithVersion"
"""The op that a read of a variable becomes whose value a region takes: output 1 is its version."""

KIND: Final = "compiled subgraph"
"""The kind under which a session keeps the operators' state."""

_WEIGHTS: Final = frozenset({"ReadVariableOp", READ})
_SOURCES: Final[WeakValueDictionary[str, CompileSource]] = WeakValueDictionary()
"""By the attribute of operators; each lives with the library of functions of its graph."""
_keys: Final = itertools.count()
_BOOL: Final = as_dtype("bool")
_INT64: Final = as_dtype("int64")

register(
    OpDef(
        OP,
        inputs=(
            ArgDef("input", None, "", "", "Tin", False),
            ArgDef("version", _INT64, "", "N", "", False),
        ),
        outputs=(
            ArgDef("ready", _BOOL, "", "", "", False),
            ArgDef("output", None, "", "", "Tout", False),
        ),
        attrs={
            "Tin": AttrDef("Tin", "list(type)", minimum=0),
            "Tout": AttrDef("Tout", "list(type)", minimum=0),
            "N": AttrDef("N", "int", minimum=0),
            "key": AttrDef("key", "string"),
        },
        is_stateful=True,
        keeps_no_input=True,
    ),
    package="drystone-subgraph",
)
register(
    OpDef(
        READ,
        inputs=(ArgDef("resource", as_dtype("resource"), "", "", "", False),),
        outputs=(
            ArgDef("value", None, "dtype", "", "", False),
            ArgDef("version", _INT64, "", "", "", False),
        ),
        attrs={"dtype": AttrDef("dtype", "type")},
        is_stateful=True,
        keeps_no_input=True,
    ),
    package="drystone-subgraph",
)


@kernel(OP)
def compiled_subgraph(call: Call, *args: Array) -> list[Array]:
    """Whether an executable computed the region, then its outputs (empty ones where not)."""
    key = str(call.attrs["key"])
    runtime = call.runtime
    operator: CompiledOperator = runtime.resources.get_or_create(
        "", KIND, key, lambda: CompiledOperator(_SOURCES[key])
    )
    patience = operator.source.config.patience
    if runtime.deadline is not None:
        left = max(0.0, runtime.deadline - time.monotonic()) / 2
        patience = left if patience is None else min(left, patience)
    count = len(args) - len(operator.source.weights)
    versions = [int(version) for version in args[count:]]
    found = operator.run(args[:count], versions, patience, runtime.cancellation)
    if found is not None:
        return [np.array(True), *found]
    return [np.array(False), *(np.empty(0, t.np) for t in call.attrs["Tout"])]


@kernel(READ)
def read_variable_with_version(call: Call, resource: Array) -> list[Array]:
    """As ``ReadVariableOp``, with the version of the value."""
    target = resource_of(resource, Variable)
    call.require(
        target.dtype is call.attrs["dtype"],
        f"the dtype of variable {target.name!r} must be the node's",
        found=target.dtype,
        needed=call.attrs["dtype"],
    )
    with target.lock:
        version = target.version  # first: what comes in between is packed again
        return [target.read(), np.array(version, np.int64)]


def attach(graph: Graph, config: PartitionConfig, feeds: Sequence[str] = ()) -> None:
    """Give every call of a region, also in bodies of functions, an operator of its backend's.

    ``feeds``: tensor names; what is fed is neither a constant nor the value of a variable.
    """
    known = {name: b for name, b in backends().items() if b.compiles}
    if not known or (config.patience is not None and config.patience < 0):
        return
    fed = frozenset(graph.output(name) for name in feeds)
    _Attaching(graph.functions, config, known, fed).run(graph)


class _Attaching:
    def __init__(
        self,
        library: FunctionLibrary,
        config: PartitionConfig,
        known: dict[str, SubgraphBackend],
        fed: frozenset[Output],
    ) -> None:
        self.library, self.config, self.known, self.fed = library, config, known, fed

    def run(self, graph: Graph) -> None:
        kept = keep_differentiated(graph)
        self.before = self.library.copy()
        for function in list(self.library):
            if function.name not in kept and any(
                BACKEND_ATTR in proto.attr for proto in function.proto.node_def
            ):
                body = function.body(self.library)
                self.nodes(body.graph)
                body.effects = [body.graph[node.name] for node in body.effects]
                self.library.add(body_to_function(body, function.proto), replace=True)
        self.nodes(graph)

    def nodes(self, graph: Graph) -> None:
        for node in [n for n in graph if n.states(BACKEND_ATTR)]:
            name = node.attrs[BACKEND_ATTR]
            if name not in self.known or not node.op.endswith("PartitionedCall"):
                continue
            try:
                source = self.source(node, self.known[name])
            except Exception as error:
                self.failed(self.known.pop(name), node, error)
            else:
                self.one(graph, node, source)

    def failed(self, backend: SubgraphBackend, node: Node, error: Exception) -> None:
        """Say once that a backend gives no operators: the host executor runs its regions."""
        told = PluginError(
            f"subgraph backend {backend.name!r} gave no operator for {node.name!r}, and the host "
            "executor runs its regions",
            check="operator() of a backend must not raise",
            found=f"{type(error).__name__}: {error}",
            needed="a HostOperator, or None",
            remedy=f"leave {backend.name!r} out of the backends, and report this to its author",
            plugin=backend.name,
            code="subgraph-backend-failed",
            details=details_of(error),
        )
        warn_of(told.render(), told.details, stacklevel=5)

    def one(self, graph: Graph, node: Node, source: CompileSource) -> None:
        """Put the two nodes in the place of a call."""
        key = f"{node.name}#{next(_keys)}"
        _SOURCES[key] = source
        self.library.companions.append(source)
        versions = [self.versioned(graph, node.inputs[k][0]) for k in source.weights]
        types = {"Tin": node.attrs["Tin"], "Tout": node.attrs["Tout"]}
        name = graph.unique_name(f"{node.name}/compiled")
        attrs = types | {"key": key, "N": len(versions)}
        if source.host is not None:
            attrs[OPERATOR_ATTR] = source.host.number
        inputs = [*node.inputs, *versions]
        made = graph.add(OP, name, inputs, controls=node.controls, device=node.device, attrs=attrs)
        passing, calling = self.branches(node)
        stateful = node.op.startswith("Stateful")
        results = [(made, 1 + k) for k in range(len(types["Tout"]))]
        graph.set_inputs(node, [(made, 0), *results, *node.inputs])
        graph.set_op(node, "If" if stateful else "StatelessIf")
        graph.remove_attr(node, "f")
        for attr, value in {
            "Tcond": _BOOL, "Tin": [*types["Tout"], *types["Tin"]],
            "then_branch": FunctionRef(passing, {}), "else_branch": FunctionRef(calling, {}),
        }.items():  # fmt: skip
            graph.set_attr(node, attr, value)

    def versioned(self, graph: Graph, read: Node) -> Output:
        """The version of what a node reads."""
        if read.op != READ:
            graph.set_op(read, READ)
            graph.set_attr(read, OPERATOR_ATTR, READS_VERSION)
        return (read, 1)

    def source(self, node: Node, backend: SubgraphBackend) -> CompileSource:
        function = self.library[node.attrs["f"].name].proto
        own = [(k, s) for k, (s, slot) in enumerate(node.inputs)
               if slot == 0 and (s, slot) not in self.fed]  # fmt: skip
        constants = frozenset(k for k, s in own if s.op == "Const")
        weights = tuple(k for k, s in own if s.op in _WEIGHTS)
        host = backend.operator(node.attrs["Tin"], weights, node.attrs["Tout"])
        if host is not None and not isinstance(host, HostOperator):
            raise TypeError(f"it gave {host!r}")
        return CompileSource(
            node.name, backend, function, self.before, constants, weights, self.config, host,
            given_attrs(node),
        )  # fmt: skip

    def branches(self, node: Node) -> tuple[str, str]:
        """Two functions of the results, then the inputs: give the results, or call the region."""
        called = node.attrs["f"].name
        tout, tin = node.attrs["Tout"], node.attrs["Tin"]
        passing = _function(f"{called}_results", tout, tin)
        calling = _function(f"{called}_otherwise", tout, tin)
        for k in range(len(tout)):
            passing.ret[f"output_{k}"] = f"result_{k}"
            calling.ret[f"output_{k}"] = f"call:output:{k}"
        call = Graph().add(node.op, "call", attrs={"Tin": tin, "Tout": tout, "f": node.attrs["f"]})
        proto = call.to_proto()
        proto.input.extend(f"input_{k}" for k in range(len(tin)))
        calling.node_def.append(proto)
        if node.op.startswith("Stateful"):
            calling.signature.is_stateful = True
            calling.control_ret["effect"] = "call"
            calling.signature.control_output.append("effect")
        for function in (passing, calling):
            self.library.add(function, replace=True)
        return passing.signature.name, calling.signature.name


def _function(name: str, results: Sequence[DType], inputs: Iterable[DType]) -> FunctionDef:
    """A function without nodes of results and inputs to the results."""
    signature = OpDefProto(name=name)
    for k, dtype in enumerate(results):
        number: Any = dtype.number
        signature.input_arg.add(name=f"result_{k}", type=number)
        signature.output_arg.add(name=f"output_{k}", type=number)
    for k, dtype in enumerate(inputs):
        number = dtype.number
        signature.input_arg.add(name=f"input_{k}", type=number)
    return FunctionDef(signature=signature)
