"""A session whose graph is one op that is fed: what executors make of an op by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import from_numpy
from drystone_base.executor.testing import _infer_attrs, as_array, with_dtypes
from drystone_base.files.access import Access
from drystone_base.graph import Graph
from drystone_base.ops.defs import op_def
from drystone_base.state.variables import Variable

__all__ = ["OneOp"]


@dataclass(frozen=True)
class OneOp:
    """A session of the graph, what to fetch of the node ``"node"``, and what to feed."""

    session: Session
    fetches: Sequence[str]
    feeds: Mapping[str, Any]

    @classmethod
    def of(cls, op: str, inputs: Sequence[Any], attrs: Mapping[str, Any], executor: Any) -> OneOp:
        """An op with flat inputs; attributes left out as in ``kernels._testing.run_op``."""
        definition = op_def(op)
        values = [as_array(v) for v in inputs]
        filled = _filled(op, values, attrs)
        graph = Graph()
        feeds: dict[str, Any] = {}
        placeholders = []
        for k, (value, dtype) in enumerate(
            zip(values, definition.input_types(filled), strict=True)
        ):
            held = dtype.base
            if not held.is_object and not isinstance(value, Variable) and value.dtype != held.np:
                held = from_numpy(value.dtype)
            placeholders.append(
                graph.add("Placeholder", f"in{k}", attrs={"dtype": held, "shape": None})
            )
            feeds[f"in{k}:0"] = value
        graph.add(op, "node", placeholders, attrs=filled)
        config = SessionConfig(executor=executor, optimizer="off", access=Access.anywhere())
        outputs = range(len(definition.output_types(filled)))
        return cls(Session(graph, config), [f"node:{k}" for k in outputs] or ["node"], feeds)

    def run(self) -> list[Any]:
        """The outputs that were made."""
        found = self.session.run(list(self.fetches), dict(self.feeds))
        return [] if self.fetches == ["node"] else [v for v in found if v is not None]


def _filled(op: str, values: Sequence[Any], attrs: Mapping[str, Any]) -> dict[str, Any]:
    """All attributes: given ones, defaults, and dtypes and counts read off the inputs."""
    definition = op_def(op)
    given = with_dtypes(definition, attrs)
    for arg, value in zip(definition.inputs, values, strict=False):
        if arg.is_list:
            break
        if arg.type_attr and not isinstance(value, Variable):  # also where the op has a default
            given.setdefault(arg.type_attr, from_numpy(value.dtype))
    return _infer_attrs(definition, values, given)
