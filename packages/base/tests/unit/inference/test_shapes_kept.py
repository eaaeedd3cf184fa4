"""Shapes that are kept while a graph is edited: what reads an edited node is told."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Bodies, Graph
from drystone_base.graph import from_text as graph_from_text
from drystone_base.inference.inference import Shapes
from drystone_base.inference.shapes._engine import Engine
from drystone_base.ops.attrs import FunctionRef, TensorAttr

CALLING: Final = """
node { name: "x" op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: -1 } dim { size: 3 } } } } }
node { name: "known" op: "Placeholder"
  attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "shape" value { shape { dim { size: 2 } dim { size: 3 } } } } }
node { name: "call" op: "StatefulPartitionedCall" input: "x"
  attr { key: "Tin" value { list { type: DT_FLOAT } } }
  attr { key: "Tout" value { list { type: DT_FLOAT } } }
  attr { key: "f" value { func { name: "twice" } } } }
library {
  function {
    signature { name: "twice" input_arg { name: "a" type: DT_FLOAT }
      output_arg { name: "b" type: DT_FLOAT } }
    node_def { name: "sum" op: "AddV2" input: "a" input: "a"
      attr { key: "T" value { type: DT_FLOAT } } }
    ret { key: "b" value: "sum:z:0" }
  }
  function {
    signature { name: "generic" input_arg { name: "a" type_attr: "T" }
      output_arg { name: "b" type_attr: "T" } attr { name: "T" type: "type" } }
    node_def { name: "sum" op: "AddV2" input: "a" input: "a"
      attr { key: "T" value { placeholder: "T" } } }
    ret { key: "b" value: "sum:z:0" }
  }
}
"""


def test_users_of_a_node_that_was_forgotten_are_inferred_anew() -> None:
    """It may be asked for in between, where it is not known any more what its users go by."""
    graph = Graph()
    x = graph.add("Placeholder", "x", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    other = graph.add("Placeholder", "other", attrs={"dtype": FLOAT32, "shape": (-1, 3)})
    node = graph.add("Neg", "node", [x], attrs={"T": FLOAT32})
    user = graph.add("Abs", "user", [node], attrs={"T": FLOAT32})
    shapes = Shapes(graph)
    of_x, of_other = shapes.shape((x, 0)), shapes.shape((other, 0))
    assert of_x != of_other
    assert shapes.shape((user, 0)) == of_x
    graph.set_inputs(node, [(other, 0)])
    shapes.forget(node)
    assert shapes.shape((node, 0)) == of_other
    assert shapes.shape((user, 0)) == of_x, "not yet"
    assert shapes.refresh([node]) == [node, user]
    assert shapes.shape((user, 0)) == of_other
    assert shapes.refresh([node]) == []


def test_what_was_wholly_known_is_not_inferred_anew() -> None:
    graph = Graph()
    value = graph.add(
        "Const", "c", attrs={"dtype": INT32, "value": TensorAttr(array=np.array([1, 2], np.int32))}
    )
    user = graph.add("Neg", "user", [value], attrs={"T": INT32})
    shapes = Shapes(graph)
    assert shapes.shape((user, 0)) == (2,)
    shapes.forget(value)
    assert shapes.refresh([value]) == []
    assert shapes.shape((value, 0)) == (2,)


def test_a_call_is_gone_over_again_only_for_other_inputs(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_from_text(CALLING)
    seen: list[str] = []
    original = Engine.infer_function

    def counted(self: Engine, ref: FunctionRef, *rest: Any) -> Any:
        seen.append(ref.name)
        return original(self, ref, *rest)

    monkeypatch.setattr(Engine, "infer_function", counted)
    shapes, call = Shapes(graph), graph["call"]
    before = shapes.shape((call, 0))
    assert seen == ["twice"]
    assert shapes.refresh([call]) == []
    assert seen == ["twice"]
    graph.set_inputs(call, [(graph["known"], 0)])
    assert shapes.refresh([call]) == [call]
    assert seen == ["twice", "twice"]
    assert before != shapes.shape((call, 0)) == (2, 3)


def test_of_a_loop_only_what_may_become_known_is_forgotten() -> None:
    graph = Graph()
    zero = graph.add(
        "Const", "c", attrs={"dtype": INT32, "value": TensorAttr(array=np.zeros(2, np.int32))}
    )
    x = graph.add("Placeholder", "x", attrs={"dtype": INT32, "shape": (-1,)})
    known = graph.add("Neg", "known", [zero], attrs={"T": INT32})
    unknown = graph.add("Neg", "unknown", [x], attrs={"T": INT32})
    merge = graph.add("Merge", "merge", [known, unknown], attrs={"T": INT32, "N": 2})
    shapes = Shapes(graph)
    assert shapes.shape((merge, 0)) == (-1,) or shapes.shape((merge, 0))[0] < 0  # type: ignore[index]
    count = len(shapes)
    shapes.refresh([known])
    assert len(shapes) == count, "it was wholly known"
    shapes.refresh([unknown])
    assert len(shapes) < count
    graph.set_inputs(unknown, [(zero, 0)])
    shapes.refresh([unknown])
    assert shapes.shape((merge, 0)) == (2,)


def test_bodies_are_built_once_unless_attributes_say_what_is_in_them() -> None:
    graph = graph_from_text(CALLING)
    bodies, library = Bodies(), graph.functions
    twice, generic = library["twice"], library["generic"]
    assert bodies.of(twice, library) is bodies.of(twice, library)
    assert twice.body(library) is not bodies.of(twice, library)
    floats, ints = (bodies.of(generic, library, {"T": t}) for t in (FLOAT32, INT32))
    assert [b.args[0].attrs["T"] for b in (floats, ints)] == [FLOAT32, INT32]
