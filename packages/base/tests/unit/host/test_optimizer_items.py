"""What an optimizer may ask: items, properties, op definitions (S0)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np
import pytest
from optimizing import small_graph

from drystone_abi.protos import FunctionDef, GraphDef, OpDef, OpInfo, OpPerformanceList
from drystone_base.core.dtypes import FLOAT32, INT32, VARIANT, from_number
from drystone_base.core.errors import BadRequest, HostError
from drystone_base.core.tensor import from_proto
from drystone_base.core.time_limits import OutOfTime
from drystone_base.graph import Graph
from drystone_base.host import _lib, optimizer
from drystone_base.host.buffer import BufferStruct, answer, filled
from drystone_base.host.live import live_objects
from drystone_base.host.status import Status, told
from drystone_base.inference.properties import Flags, infer_properties, properties_of
from drystone_base.ops.attrs import TensorAttr

if not _lib.available():
    pytest.skip("the host library is not built", allow_module_level=True)

FLOAT = from_number(1)


@pytest.fixture
def graph() -> Graph:
    return small_graph()


# ---- items -------------------------------------------------------------------------------------

_preserve_size = _lib.declare(
    "TF_GetNodesToPreserveListSize", None, *(ctypes.c_void_p,) * 4
)  # fmt: skip
_preserve_list = _lib.declare(
    "TF_GetNodesToPreserveList",
    None,
    *(ctypes.c_void_p,) * 3,
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
)
_fetch_size = _lib.declare("TF_GetFetchNodesListSize", None, *(ctypes.c_void_p,) * 4)
_rfc_size = _lib.declare("TF_GetNodesToPreserveSize", None, *(ctypes.c_void_p,) * 3)


@contextmanager
def item_of(graph: Graph, preserve: list[str], fetches: list[str] | None = None) -> Iterator[int]:
    with optimizer._item(graph.to_bytes(), fetches or [], ["x:0"], preserve, None) as item:
        yield item


def read_names(
    item: int, count: int, storage_size: int, num_values: int | None = None
) -> list[bytes | None]:
    values = (ctypes.c_void_p * max(count, 1))()
    lengths = (ctypes.c_size_t * max(count, 1))()
    storage = ctypes.create_string_buffer(b"#" * (storage_size + 8))
    asked = count if num_values is None else num_values
    with Status("names") as status:
        _preserve_list(item, values, lengths, asked, storage, storage_size, status.pointer)
    assert storage.raw[storage_size : storage_size + 8] == b"#" * 8
    return [
        ctypes.string_at(v, n) if v else None
        for v, n in zip(values, lengths, strict=True)
    ]  # fmt: skip


def sizes(query: Any, item: int | None) -> tuple[int, int]:
    count, size = ctypes.c_int(-7), ctypes.c_size_t(0)
    with Status("sizes") as status:
        query(item, ctypes.byref(count), ctypes.byref(size), status.pointer)
    return count.value, size.value


def test_preserved_names_come_as_sizes_then_list(graph: Graph) -> None:
    """Row B9. S0-item: GetNodesToPreserveSize, then the list in caller's storage."""
    with item_of(graph, ["", "alpha", "x"]) as item:
        assert sizes(_preserve_size, item) == (3, 6)
        assert read_names(item, 3, 6) == [b"", b"alpha", b"x"]
        assert read_names(item, 3, 100) == [b"", b"alpha", b"x"]


def test_at_most_num_values_names_are_written(graph: Graph) -> None:
    with item_of(graph, ["alpha", "x"]) as item:
        assert read_names(item, 2, 6, num_values=1) == [b"alpha", None]
        assert read_names(item, 2, 5, num_values=1) == [b"alpha", None]
        assert read_names(item, 4, 6, num_values=4) == [b"alpha", b"x", None, None]
        assert read_names(item, 2, 0, num_values=0) == [None, None]


def test_storage_too_small_is_an_error(graph: Graph) -> None:
    """Row B9. S0-item: fails if storage_size is too small for the requested strings."""
    with item_of(graph, ["alpha", "x"]) as item:
        with pytest.raises(HostError, match="storage of 5 bytes is too small for 6") as caught:
            read_names(item, 2, 5)
        assert caught.value.status == "INVALID_ARGUMENT"
        with pytest.raises(HostError, match="num_values is negative"):
            read_names(item, 2, 6, num_values=-1)


def test_fetch_names_keep_order_and_spelling(graph: Graph) -> None:
    """Row B10. S0-item: GetFetchNodes."""
    with item_of(graph, [], ["z:0", "y"]) as item:
        assert sizes(_fetch_size, item) == (2, 4)


def test_null_item_is_an_error_and_not_a_crash() -> None:
    with pytest.raises(HostError, match="item must not be NULL") as caught:
        sizes(_preserve_size, None)
    assert caught.value.status == "INVALID_ARGUMENT"


def test_rfc_size_query_has_ints_and_no_status(graph: Graph) -> None:
    """S0-item: the header of the proposal."""
    count, size = ctypes.c_int(-1), ctypes.c_int(-1)
    with item_of(graph, ["alpha", "x"]) as item:
        _rfc_size(item, ctypes.byref(count), ctypes.byref(size))
    assert (count.value, size.value) == (2, 6)
    _rfc_size(None, ctypes.byref(count), ctypes.byref(size))
    assert (count.value, size.value) == (0, 0)


# ---- properties --------------------------------------------------------------------------------

Known = dict[str, tuple[list[Any], list[Any]]]


def known(graph: Graph, feeds: list[str], flags: Flags) -> Known:
    answered = OpPerformanceList.FromString(infer_properties(graph, feeds, flags))
    return {
        entry.node: (list(entry.op.inputs), list(entry.op.outputs))
        for entry in answered.op_performance
    }


def dims(properties: OpInfo.TensorProperties) -> list[int] | None:
    if properties.shape.unknown_rank:
        return None
    return [d.size for d in properties.shape.dim]


def test_equal_symbols_are_equal_dimensions(graph: Graph) -> None:
    """S0-properties: -1 or ids of -2 and below, where an equal id is provably equal."""
    found = known(graph, ["x:0"], Flags.ASSUME_VALID_FEEDS)
    (symbol, three) = dims(found["x"][1][0]) or []
    assert symbol <= -2
    assert three == 3
    assert dims(found["z"][0][0]) == dims(found["z"][1][0]) == [symbol, 3]
    assert found["z"][1][0].dtype == 1
    assert not found["z"][1][0].HasField("value")


def test_fed_tensors_are_unknown_unless_assumed_valid(graph: Graph) -> None:
    """S0-properties: assume_valid_feeds."""
    assert dims(known(graph, ["x:0"], Flags(0))["z"][1][0]) is None
    assert dims(known(graph, ["x"], Flags(0))["x"][1][0]) is None
    assert dims(known(graph, ["gone:0"], Flags(0))["x"][1][0]) is not None
    assert known(graph, ["x"], Flags(0))["x"][1][0].dtype == 1


def test_values_come_when_flags_ask(graph: Graph) -> None:
    """S0-properties: include_input_tensor_values, include_output_tensor_values."""
    value = TensorAttr(array=np.array([4, 5], np.int32))
    c = graph.add("Const", "c", attrs={"dtype": INT32, "value": value})
    graph.add("Neg", "n", [c], attrs={"T": INT32})
    nothing = known(graph, [], Flags(0))["n"]
    assert not nothing[0][0].HasField("value")
    assert not nothing[1][0].HasField("value")
    inputs = known(graph, [], Flags.INPUT_VALUES)["n"]
    assert from_proto(inputs[0][0].value).tolist() == [4, 5]
    assert not inputs[1][0].HasField("value")
    outputs = known(graph, [], Flags.OUTPUT_VALUES)["n"]
    assert from_proto(outputs[1][0].value).tolist() == [-4, -5]
    assert not outputs[0][0].HasField("value")


def test_aggressive_inference_trusts_annotations(graph: Graph) -> None:
    """S0-properties: aggressive_shape_inference."""
    strange = graph.add("NobodyKnowsThis", "s", attrs={"_output_shapes": [(7, 2)]})
    graph.add("Relu", "after", [strange], attrs={"T": FLOAT})
    assert dims(known(graph, [], Flags(0))["after"][1][0]) is None
    assert dims(known(graph, [], Flags.AGGRESSIVE)["after"][1][0]) == [7, 2]


def test_every_node_is_in_the_answer_with_its_fan_in(graph: Graph) -> None:
    split = graph.add("Split", "s", [], attrs={"T": FLOAT, "num_split": 3})
    graph.set_inputs(split, [(graph["x"], 0), (graph["x"], 0)])
    graph.add("Unknown", "u", [split, (split, 2)])
    found = known(graph, [], Flags(0))
    assert set(found) == {"x", "y", "z", "s", "u"}
    assert [len(side) for side in found["s"]] == [2, 3]
    assert len(found["u"][0]) == 2
    assert found["u"][0][0].dtype == 0


def test_answer_is_the_same_from_bytes(graph: Graph) -> None:
    flags = Flags.ASSUME_VALID_FEEDS
    assert properties_of(graph.to_bytes(), ["x"], flags) == infer_properties(graph, ["x"], flags)


_new_properties = _lib.declare("TF_NewGraphProperties", ctypes.c_void_p, ctypes.c_void_p)
_delete_properties = _lib.declare("TF_DeleteGraphProperties", None, ctypes.c_void_p)
_infer = _lib.declare(
    "TF_InferStatically", None, ctypes.c_void_p, *(ctypes.c_ubyte,) * 4, ctypes.c_void_p
)
_inputs_size = _lib.declare("TF_GetInputPropertiesListSize", None, *(ctypes.c_void_p,) * 4)
_outputs_size = _lib.declare("TF_GetOutputPropertiesListSize", None, *(ctypes.c_void_p,) * 4)
_rfc_outputs_size = _lib.declare("TF_GetOutputPropertiesSize", None, *(ctypes.c_void_p,) * 3)
_outputs_list = _lib.declare(
    "TF_GetOutputPropertiesList",
    None,
    *(ctypes.c_void_p,) * 3,
    ctypes.c_int,
    ctypes.c_void_p,
)
_new_buffer = _lib.declare("TF_NewBuffer", ctypes.POINTER(BufferStruct))
_delete_buffer = _lib.declare("TF_DeleteBuffer", None, ctypes.c_void_p)


@contextmanager
def properties_in(item: int) -> Iterator[int]:
    pointer = _new_properties(item)
    try:
        yield pointer
    finally:
        _delete_properties(pointer)


def infer_into(properties: int | None) -> None:
    with Status("inference") as status:
        _infer(properties, 1, 0, 0, 0, status.pointer)


def count_of(query: Any, properties: int | None, name: str) -> int:
    count = ctypes.c_int(-7)
    with Status("count") as status:
        query(properties, name.encode(), ctypes.byref(count), status.pointer)
    return count.value


def test_properties_through_the_c_interface_equal_the_internal_ones(graph: Graph) -> None:
    """Row B11. S0-properties: TF_GraphProperties; an unknown node has none, with OK."""
    optimizer.attach_services()
    with item_of(graph, []) as item, properties_in(item) as properties:
        assert count_of(_outputs_size, properties, "z") == 0
        infer_into(properties)
        assert count_of(_inputs_size, properties, "z") == 1
        assert count_of(_outputs_size, properties, "z") == 1
        assert count_of(_inputs_size, properties, "nobody") == 0
        plain = ctypes.c_int(-1)
        _rfc_outputs_size(properties, b"z", ctypes.byref(plain))
        assert plain.value == 1
        buffer = _new_buffer()
        with Status("list") as status:
            _outputs_list(properties, b"z", ctypes.byref(buffer), 1, status.pointer)
        data = ctypes.string_at(buffer.contents.data, buffer.contents.length)
        _delete_buffer(buffer)
    expected = known(graph, ["x:0"], Flags.ASSUME_VALID_FEEDS)["z"][1][0]
    assert OpInfo.TensorProperties.FromString(data) == expected


def test_more_properties_than_there_are_is_an_error(graph: Graph) -> None:
    with item_of(graph, []) as item, properties_in(item) as properties:
        infer_into(properties)
        buffers = (ctypes.POINTER(BufferStruct) * 2)()
        with (
            pytest.raises(HostError, match="node z has 1 of these, and 2 were asked for"),
            Status("list") as status,
        ):
            _outputs_list(properties, b"z", buffers, 2, status.pointer)


def test_properties_must_not_outlive_their_item(graph: Graph) -> None:
    """Row B12. S0-properties: the item must outlive the properties; here misuse is an error."""
    with item_of(graph, []) as item:
        properties = _new_properties(item)
    with pytest.raises(HostError, match="the item of these properties is gone") as caught:
        infer_into(properties)
    assert caught.value.status == "FAILED_PRECONDITION"
    _delete_properties(properties)
    assert _new_properties(None) is None
    _delete_properties(None)


def test_withdrawn_services_leave_a_clear_status(graph: Graph) -> None:
    """A dead interpreter is never called: callbacks are withdrawn before."""
    optimizer.attach_services()
    optimizer._detach_services()
    try:
        with (
            item_of(graph, []) as item,
            properties_in(item) as properties,
            pytest.raises(HostError, match="embedded without inference") as caught,
        ):
            infer_into(properties)
        assert caught.value.status == "UNAVAILABLE"
    finally:
        optimizer.attach_services()


class Ends(BaseException):
    """Ends the interpreter, or a task, as ``SystemExit`` does."""


def infer_raising(graph: Graph, monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def explode(*_: object) -> bytes:
        raise error

    monkeypatch.setattr("drystone_base.inference.properties.properties_of", explode)
    with item_of(graph, []) as item, properties_in(item) as properties:
        infer_into(properties)


@pytest.mark.parametrize(
    ("error", "status", "text"),
    [
        (ValueError("stop"), "INTERNAL", "ValueError: stop"),
        (MemoryError(), "INTERNAL", "MemoryError: "),
        (BadRequest("no", found="7", status="OUT_OF_RANGE"), "OUT_OF_RANGE", "no [bad-request]"),
    ],
)
def test_exception_of_inference_becomes_a_status(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, error: Exception, status: str, text: str
) -> None:
    with pytest.raises(HostError) as caught:
        infer_raising(graph, monkeypatch, error)
    assert caught.value.status == status
    assert f"TF_InferStatically: {text}" in caught.value.found


@pytest.mark.parametrize("error", [KeyboardInterrupt("stop"), SystemExit(3), Ends(), OutOfTime()])
def test_what_is_more_than_a_failure_goes_on_after_inference(
    graph: Graph, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    with pytest.raises(type(error)) as caught:
        infer_raising(graph, monkeypatch, error)
    assert caught.value is error


def swallowed(error: BaseException) -> None:
    """A call in which a callback raises, and of which the plugin makes nothing."""
    with Status("a call") as status, Status("a callback") as inner:
        told(inner.pointer, error)
        Status.set(inner.pointer, "OK", "")
        assert status.name == "OK"


def test_a_deadline_that_a_plugin_swallowed_does_not_end_a_later_call() -> None:
    swallowed(OutOfTime())
    with pytest.raises(HostError) as caught, Status("later") as status:
        Status.set(status.pointer, "DEADLINE_EXCEEDED", "another one")
    assert caught.value.found == "another one"
    told(None, OutOfTime())  # on a thread whose call was not ours
    with pytest.raises(HostError), Status("later") as status:
        Status.set(status.pointer, "INTERNAL", "its own fault")


def test_ctrl_c_that_a_plugin_swallowed_goes_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        swallowed(KeyboardInterrupt())


def ended_and_calling_on(outer: Status) -> None:
    """A plugin may call back once more, and that callback the host, before the plugin answers."""
    with outer:
        told(outer.pointer, OutOfTime())
        with Status("of a callback"):
            pass
        with suppress(HostError), Status("of a callback") as inner:
            Status.set(inner.pointer, "NOT_FOUND", "gone")


def test_what_ended_a_callback_outlives_calls_of_later_callbacks() -> None:
    with pytest.raises(OutOfTime):
        ended_and_calling_on(Status("outer"))


# ---- op definitions ----------------------------------------------------------------------------

_new_functions = _lib.declare(
    "TF_NewFunctionLibraryDefinition", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)
_delete_functions = _lib.declare("TF_DeleteFunctionLibraryDefinition", None, ctypes.c_void_p)
_look_up = _lib.declare("TF_LookUpOpDef", None, *(ctypes.c_void_p,) * 2, *(ctypes.c_void_p,) * 2)


@contextmanager
def functions_of(data: bytes) -> Iterator[int]:
    with Status("functions") as status, filled(data) as buffer:
        library = _new_functions(buffer, status.pointer)
    try:
        yield library
    finally:
        _delete_functions(library)


def look_up(library: int, name: str) -> OpDef:
    data = answer("look-up", lambda out, status: _look_up(library, name.encode(), out, status))
    return OpDef.FromString(data)


def test_function_of_the_graph_hides_an_op_of_its_name() -> None:
    """S0-library: TF_FunctionLibraryDefinition looks up an OpDef by op name."""
    proto = GraphDef()
    for name in ("own", "Relu"):
        function = FunctionDef()
        function.signature.name = name
        function.signature.output_arg.add(name="out", type=1)  # type: ignore[arg-type]
        proto.library.function.append(function)
    with functions_of(proto.SerializeToString()) as library:
        assert look_up(library, "own").output_arg[0].name == "out"
        assert look_up(library, "Relu").output_arg[0].name == "out"


def test_op_of_tensorflow_is_complete_with_defaults() -> None:
    """S0-library: plugins copy the defaults of attributes from the definitions looked up."""
    optimizer.attach_services()
    with functions_of(b"") as library:
        found = look_up(library, "MatMul")
    defaults = {a.name: a.default_value for a in found.attr if a.HasField("default_value")}
    assert [a.name for a in found.input_arg] == ["a", "b"]
    assert defaults["transpose_a"].WhichOneof("value") == "b"


def test_unknown_op_is_not_found() -> None:
    """Row B13. S0-library: TF_LookUpOpDef."""
    with functions_of(b"") as library, pytest.raises(HostError) as caught:
        look_up(library, "NoSuchOpAnywhere")
    assert caught.value.status == "NOT_FOUND"
    assert "op NoSuchOpAnywhere is neither known to the host nor a function" in caught.value.found


@pytest.mark.parametrize("data", [b"\x12\x05\x0a", b"\x0a\xff", b"\x12\x03\x0a\x0a\x0a"])
def test_malformed_graph_has_no_function_library(data: bytes) -> None:
    with (
        pytest.raises(HostError, match="the buffer holds no GraphDef"),
        Status("functions") as status,
        filled(data) as buffer,
    ):
        assert _new_functions(buffer, status.pointer) is None


def test_items_are_not_leaked(graph: Graph) -> None:
    before = live_objects()["items"]
    with item_of(graph, ["x"]):
        assert live_objects()["items"] == before + 1
    assert live_objects()["items"] == before


def test_buffer_struct_is_24_bytes() -> None:
    assert ctypes.sizeof(BufferStruct) == 24


def test_values_of_handles_are_left_out() -> None:
    """A list of tensors may be known when a graph is inferred, but no proto holds one."""
    graph = Graph()
    attrs = {"dtype": INT32, "value": TensorAttr(array=np.array([], np.int32))}
    shape = graph.add("Const", "shape", attrs=attrs)
    attrs = {"dtype": INT32, "value": TensorAttr(array=np.array(2, np.int32))}
    length = graph.add("Const", "length", attrs=attrs)
    attrs = {"element_dtype": FLOAT32, "shape_type": INT32}
    made = graph.add("TensorListReserve", "list", [shape, length], attrs=attrs)
    graph.add("Identity", "same", [made], attrs={"T": VARIANT})
    answer = OpPerformanceList.FromString(properties_of(graph.to_bytes(), [], Flags(15)))
    found = {entry.node: entry.op for entry in answer.op_performance}
    assert found["same"].inputs[0].dtype == VARIANT.number
    assert not found["same"].inputs[0].HasField("value")
    assert found["list"].inputs[1].value.int_val or found["list"].inputs[1].value.tensor_content
