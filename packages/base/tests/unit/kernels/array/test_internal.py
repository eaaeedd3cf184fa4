"""Ops of TensorFlow's optimizer and debugger, kept tensors, mapped files, the end of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from model_files import const
from stateful import Bench, f32, i32, i64, shapes

import drystone_base as ds
from drystone_base import Access, Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, INT32, INT64, STRING
from drystone_base.graph import Graph
from drystone_base.state.variables import ResourceHandle, Variable, handle_array

B = Bench()


def test_debug_ops_send_nothing() -> None:
    urls = {"debug_urls": ["file:///tmp/dump"], "tensor_name": "a:0"}
    for op in ("DebugIdentity", "DebugIdentityV3", "DebugNanCount", "DebugNumericSummary"):
        B.fails("UNIMPLEMENTED", "not sent anywhere", op, f32([1]), **urls)
        B.fails("INVALID_ARGUMENT", "must name a tensor", op, f32([1]), tensor_name="a:b")
    urls.pop("tensor_name")
    B.fails("UNIMPLEMENTED", "fetch the node's output", "DebugIdentityV2", f32([1]), **urls)


def test_debug_identities_pass_on_what_they_get() -> None:
    variable = Variable("v", FLOAT32, ())
    assert B("DebugGradientRefIdentity", variable) is variable
    x = f32([1, np.nan])
    assert B("DebugIdentity", x, tensor_name="a:0") is x
    assert B("DebugGradientIdentity", x) is x


def test_debug_shapes_fit_what_is_given() -> None:
    x = f32([[1, np.nan]])
    cases: list[tuple[str, dict[str, Any]]] = [
        ("DebugNanCount", {"tensor_name": "a"}),
        ("DebugNumericSummary", {"tensor_name": "a"}),
        ("DebugNanCount", {"tensor_name": "a", "gated_grpc": True}),
        ("DebugIdentity", {"tensor_name": "a", "gated_grpc": True}),
        ("DebugIdentityV2", {}),
        *(("DebugNumericSummaryV2", {"tensor_debug_mode": m}) for m in (2, 3, 4, 5, 8)),
    ]
    for op, attrs in cases:
        assert shapes(op, [(1, 2)], **attrs)[0] == [B(op, x, **attrs).shape]
    assert shapes("DebugNumericSummaryV2", [(1,)], tensor_debug_mode=9)[0] == [(-1,)]
    assert shapes("DebugNumericSummary", [None])[0] == [(-1,)]


def test_an_abort_ends_the_run_only() -> None:
    for attrs in (
        {"error_msg": "stop here"},
        {"error_msg": "stop here", "exit_without_error": True},
    ):
        B.fails("ABORTED", "aborts the run\n  found: stop here", "Abort", **attrs)


def test_compositions_are_made_of_known_ops() -> None:
    x = f32([-4, 9])
    assert B("_UnaryOpsComposition", x, op_names=["Abs", "Sqrt", "Neg"]).tolist() == [-2, -3]
    for names in ([], ["Lgamma"], ["Abs", "ReadFile"]):
        B.fails("INVALID_ARGUMENT", "made of known ops", "_UnaryOpsComposition", x, op_names=names)


def test_numbers_are_hashed_as_their_decimals() -> None:
    numbers = i32([[-7, 0], [12, 2**31 - 1]])
    texts = [[str(v) for v in row] for row in numbers.tolist()]
    got = B("_TensorToHashBucketFast", numbers, num_buckets=1000)
    assert got.tolist() == B("StringToHashBucketFast", texts, num_buckets=1000).tolist()


def test_rows_are_filled_in_place() -> None:
    start = B("_ParallelConcatStart", shape=(2, 2), dtype="string")
    for loc, row in enumerate((["a", "b"], ["c", "d"])):
        B("_ParallelConcatUpdate", start, [row], loc=loc)
    assert start.tolist() == [[b"a", b"b"], [b"c", b"d"]]
    other = f32([[1, 2], [3, 4]])  # is not to be changed: no start has made it
    assert B("_ParallelConcatUpdate", other, f32([[9, 9]]), loc=1).tolist() == [[1, 2], [9, 9]]
    assert other.tolist() == [[1, 2], [3, 4]]
    fails = ("INVALID_ARGUMENT", "must be one row", "_ParallelConcatUpdate")
    B.fails(*fails, f32([[1, 2]]), f32([1, 2]), loc=0)


def test_fused_3d_convolutions_are_their_parts() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 3, 4, 5, 2)).astype(np.float32)
    w = rng.normal(size=(2, 2, 2, 2, 3)).astype(np.float32)
    bias, attrs = f32([1, -1, 0.5]), {"strides": [1, 1, 2, 1, 1], "padding": "SAME"}
    plain = B("BiasAdd", B("Conv3D", x, w, **attrs), bias)
    fused = B("_FusedConv3D", x, w, bias, fused_ops=["BiasAdd", "Relu"], num_args=1, **attrs)
    np.testing.assert_array_equal(fused, np.maximum(plain, 0))
    (inferred,) = shapes("_FusedConv3D", [x.shape, w.shape, (3,)], num_args=1, **attrs)[0]
    assert inferred == fused.shape


def test_handles_count_unless_named_or_weak() -> None:
    named = B("VarHandleOp", dtype="float32", shape=(), shared_name="v")
    own = handle_array(ResourceHandle("Variable", "x", "", Variable("x", FLOAT32, ())))
    weak = B("MakeWeakResourceHandle", own)
    counts = [bool(B("IsResourceHandleRefCounting", h)) for h in (named, own, weak)]
    assert counts == [False, True, False]
    assert weak.item().resource is own.item().resource


def test_rounding_by_chance_keeps_the_mean() -> None:
    x = np.full(20000, -2.25, np.float32)
    key, counter = np.array([1], np.uint64), np.array([2, 3], np.uint64)
    got = B("StochasticCastToInt", x, key, counter, i32(1), Tout="int8")
    assert (got.dtype, set(got.tolist())) == (np.int8, {-3, -2})
    assert abs(got.mean() + 2.25) < 0.01
    again = B("StochasticCastToInt", x, key, counter, i32(1), Tout="int8")
    np.testing.assert_array_equal(got, again)
    other = B("StochasticCastToInt", x, key, counter + np.uint64(9), i32(1), Tout="int8")
    assert (got != other).any()
    whole = f32([3, -4, 1e9, -1e9, np.nan])
    got = B("StochasticCastToInt", whole, key, counter, i32(1), Tout="int8")
    assert got.tolist() == [3, -4, 127, -128, 0]
    assert shapes("StochasticCastToInt", [(2, 3), (1,), (2,), ()], Tout="int8")[0] == [(2, 3)]
    for given in ([(2,), (2,), (2,), ()], [(2,), (1,), (), ()], [(2,), (1,), (2,), (1,)]):
        with pytest.raises(ds.ShapeError):
            shapes("StochasticCastToInt", given, Tout="int8")


# ---- tensors kept between runs -------------------------------------------------------------------


def keeper() -> Session:
    graph = Graph()
    value = graph.add("Placeholder", "value", attrs={"dtype": FLOAT32, "shape": None})
    text = graph.add("Placeholder", "handle", attrs={"dtype": STRING, "shape": ()})
    graph.add("GetSessionHandle", "keep", [value], attrs={"T": FLOAT32})
    graph.add("GetSessionTensor", "get", [text], attrs={"dtype": FLOAT32})
    graph.add("GetSessionTensor", "wrong", [text], attrs={"dtype": INT32})
    graph.add("DeleteSessionTensor", "delete", [text])
    return Session(graph)


def test_tensors_are_kept_until_deleted() -> None:
    session = keeper()
    first = session.run("keep", {"value": f32([1, 2])})
    second = session.run("keep", {"value": f32(3)})
    assert first.item().startswith(b"keep;")
    assert session.run("get", {"handle": first}).tolist() == [1, 2]
    assert session.run("get", {"handle": second}) == 3
    with pytest.raises(ds.KernelError, match="the node's type"):
        session.run("wrong", {"handle": first})
    session.run("delete", {"handle": first})
    for fetch in ("get", "delete"):
        with pytest.raises(ds.KernelError, match="that the session keeps") as caught:
            session.run(fetch, {"handle": first})
        assert caught.value.status == "INVALID_ARGUMENT"
    assert session.run("get", {"handle": second}) == 3
    with pytest.raises(ds.KernelError, match="that the session keeps"):
        keeper().run("get", {"handle": second})  # another session's


def test_kept_tensors_have_resource_handles_too() -> None:
    handle = B("GetSessionHandleV2", i64([5])).item()
    assert (handle.kind, handle.resource.tolist()) == ("SessionTensor", [5])
    assert B("GetSessionTensor", handle.name, dtype="int64").tolist() == [5]


# ---- mapped files --------------------------------------------------------------------------------


def mapped(path: Path, shape: tuple[int, ...], dtype: Any = FLOAT32) -> Graph:
    graph = Graph()
    attrs = {"dtype": dtype, "shape": shape, "memory_region_name": str(path)}
    graph.add("ImmutableConst", "c", attrs=attrs)
    return graph


def test_constants_are_mapped_from_files_that_may_be_read(tmp_path: Path) -> None:
    path = tmp_path / "blob"
    path.write_bytes(np.arange(6, dtype=np.float32).tobytes())
    with pytest.raises(ds.KernelError, match="may not read") as caught:
        Session(mapped(path, (2, 3))).run("c")
    assert caught.value.code == "access-denied"
    config = SessionConfig(executor="reference", access=Access().with_read(tmp_path))

    def read(*args: Any) -> Any:
        return Session(mapped(*args), config).run("c")

    assert read(path, (2, 3)).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read(path, (2,)).tolist() == [0, 1]
    assert read(path, (0, 4)).shape == (0, 4)
    assert not read(path, (2,)).flags.writeable
    for args, status in (
        ((path, (2, 4)), "INTERNAL"),
        ((path, (2,), STRING), "UNIMPLEMENTED"),
        ((tmp_path / "none", (2,)), "NOT_FOUND"),
        ((tmp_path, (2,)), "NOT_FOUND"),
    ):
        with pytest.raises(ds.KernelError) as caught:
            read(*args)
        assert caught.value.status == status


def test_shapes() -> None:
    assert shapes("Fingerprint", [(3, 2), ()])[0] == [(3, 8)]
    assert shapes("Fingerprint", [None, None])[0] == [(-1, 8)]
    assert shapes("ToBool", [(2,)])[0] == [()]
    assert shapes("Abort", [])[0] == []
    kept, call = shapes("ImmutableConst", [], dtype="float32", shape=(2, 3))
    assert (kept, call.output_values) == ([(2, 3)], [None])
    assert shapes("GetSessionTensor", [()], dtype="int32")[0] == [None]
    assert shapes("GetSessionHandleV2", [(2,)])[0] == [()]
    made, call = shapes("MakeWeakResourceHandle", [()], [(INT64, (2,))])
    assert (made, call.output_handles) == ([()], [(INT64, (2,))])
    assert shapes("_HostCast", [(2,)], DstT=BOOL)[0] == [(2,)]


def test_a_constant_graph_reaches_an_abort() -> None:
    graph = Graph()
    stop = graph.add("Abort", "stop", attrs={"error_msg": "no"})
    x = const(graph, "x", f32([1]), FLOAT32)
    graph.add("Identity", "y", [x], controls=[stop], attrs={"T": FLOAT32})
    with pytest.raises(ds.KernelError, match="node 'stop'") as caught:
        Session(graph).run("y")
    assert caught.value.status == "ABORTED"


def test_the_version_of_a_graph_is_its_producers() -> None:
    graph = ds.Graph()
    graph.add("GraphDefVersion", "v")
    assert Session(graph).run("v").item() == graph.producer
