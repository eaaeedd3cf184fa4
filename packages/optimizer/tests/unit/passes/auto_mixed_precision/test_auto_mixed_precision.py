"""Rows C8 and C9, auto_mixed_precision: layers, and what follows them, in 16 bits."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    as_lines,
    assert_same_natively,
    assert_unchanged,
    only,
    run_pass,
    told,
)
from random_images import draw_images

import drystone_base as ds
from drystone_abi.protos import ConfigProto, DataType, FunctionDef, RewriterConfig
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import BOOL, FLOAT32, FLOAT64, INT32, VARIANT, DType
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_base.ops.attrs import FunctionRef
from drystone_base.ops.own import FUSED_CONVOLUTION
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.passes import layer_fusion
from drystone_optimizer.passes.layer_fusion import convolutions

F16, CPU16 = "auto_mixed_precision", "auto_mixed_precision_cpu"
BF16 = "auto_mixed_precision_onednn_bfloat16"
GPU = "/device:GPU:0"
F = {"T": FLOAT32}
X = {"x:0": np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)}
PREFIX = "TF_AUTO_MIXED_PRECISION_GRAPH_REWRITE_"


def types(graph: Graph) -> dict[str, str]:
    """The type of each node with an attribute T."""
    return {node.name: str(node.attrs["T"]) for node in graph if node.states("T")}


def short(graph: Graph) -> set[str]:
    """Names of the nodes in 16 bits."""
    return {name for name, dtype in types(graph).items() if dtype in ("float16", "bfloat16")}


def layers(*ops: str, device: str = "", dtype: DType = FLOAT32) -> Maker:
    """A MatMul, ops with one input that are named o0, o1 and so on, a MatMul, and its end y."""
    m = Maker()
    more = {"T": dtype, "device": device}
    m.const("w", np.eye(3) + 0.5, dtype)
    m.op("MatMul", "a", m.x(dtype=dtype), "w", **more)
    last = "a"
    for k, op in enumerate(ops):
        last = f"o{k}"
        source = "a" if not k else f"o{k - 1}"
        extra = [m.const(f"k{k}", [-1])] if op in ("Sum", "Mean") else []
        kept = {"Tidx": INT32, "keep_dims": True} if extra else {}
        m.op(op, last, source, *extra, **kept, **more)
    if ops and ops[-1] in ("Sum", "Mean"):
        m.op("Mul", "wide", last, "a", **more)
        last = "wide"
    m.op("MatMul", "b", last, "w", **more)
    m.op("Identity", "y", "b", **more)
    return m


def assert_near(before: Graph, after: Graph, fetches: list[str], feeds: Any, share: float) -> None:
    """Values differ by no more than this share of the largest, on the reference."""
    off = SessionConfig(executor="reference", optimizer="off", seed=1)
    one, other = (Session(graph, off).run(fetches, feeds) for graph in (before, after))
    for left, right in zip(one, other, strict=True):
        assert left.dtype == right.dtype
        room = share * max(1.0, float(np.abs(left).max(initial=0)))
        np.testing.assert_allclose(left, right, rtol=0, atol=room)


@pytest.mark.parametrize(
    ("name", "device", "label", "share"),
    [(F16, GPU, "float16", 0.01), (BF16, "", "bfloat16", 0.05), (CPU16, "/cpu:0", "float16", 0.01)],
)
def test_c8_c9_layers_and_what_lies_between(
    name: str, device: str, label: str, share: float
) -> None:
    m = layers("Relu", "Tanh", device=device)
    after, report = run_pass(m.graph, name, ["y:0"], ["x:0"])
    assert short(after) == {"a", "o0", "o1", "b"}
    assert set(types(after).values()) == {label, "float32"}
    expected = {f"a = MatMul(x/to_{label}, w/to_{label})", f"b = MatMul(o1, w/to_{label})",
                "y = Identity(b/to_float32)"}  # fmt: skip
    assert expected <= set(as_lines(after)), "each value is cast once"
    rounded = after[f"w/to_{label}"]
    assert (rounded.op, str(rounded.attrs["dtype"])) == ("Const", label), "a constant at once"
    found = next(step for step in report.steps if step.name == name)
    changes = {f"to-{label}": 4, "casts": 2, "round-constants": 1}
    assert (found.rewrites, found.numeric) == (changes, "approximate")
    assert_near(m.graph, after, ["y:0"], X, share)
    assert_same_natively(m.graph, after, ["y:0"], X, tolerance=0.2)
    again, _ = run_pass(after, name, ["y:0"], ["x:0"])
    assert again is after


@pytest.mark.parametrize(
    ("ops", "in_16"),
    [
        (("Exp",), {"a", "b"}),
        (("Exp", "Tanh"), {"a", "b"}),
        (("Exp", "Tanh", "Relu"), {"a", "o2", "b"}),
        (("Relu", "Exp", "Relu"), {"a", "o0", "o2", "b"}),
        (("Tanh", "Cosh"), {"a", "b"}),
        (("Neg", "Cosh"), {"a", "o0", "b"}),
        (("Sigmoid", "Neg", "Tanh"), {"a", "o0", "o1", "o2", "b"}),
    ],
)
def test_c8_painting(ops: tuple[str, ...], in_16: set[str]) -> None:
    """Denial flows on to infer ops; clear ops beside allowed ones follow, infer ops do not."""
    m = layers(*ops, device=GPU)
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"])
    assert short(after) == in_16
    assert_near(m.graph, after, ["y:0"], X, 0.02)


def test_c9_sums_follow_in_bfloat16_only() -> None:
    for name, in_16 in ((BF16, {"a", "o0", "wide", "b"}), (CPU16, {"a", "b"})):
        m = layers("Sum")
        after, _ = run_pass(m.graph, name, ["y:0"], ["x:0"])
        assert short(after) == in_16, name
        assert_near(m.graph, after, ["y:0"], X, 0.06)


@pytest.mark.parametrize("name", [F16, BF16, CPU16])
def test_c8_c9_preconditions(name: str) -> None:
    device = GPU if name == F16 else ""
    report = assert_unchanged(layers(device="/device:XPU:0"), name, ["y:0"], ["x:0"])
    no_gpu = "no node is for a GPU that is there"
    why = no_gpu if name == F16 else "no op that 16 bits are worth for"
    assert told(report, name) == why
    report = assert_unchanged(layers(device=device), name, ["y:0"], ["x:0"], numeric="exact")
    assert "is less precise, and the session is to be exact" in told(report, name)
    report = assert_unchanged(layers(device=device, dtype=FLOAT64), name, ["y:0"], ["x:0"])
    assert told(report, name) == "no op that 16 bits are worth for"
    assert_unchanged(layers(device=device), name, ["a:0", "b:0"], ["x:0"])
    assert_unchanged(layers(device=device), name, ["y:0"], ["a:0", "b:0"])
    plain = Maker()
    plain.op("Tanh", "t", plain.x(), device=device, **F)
    plain.op("Neg", "y", "t", device=device, **F)
    assert_unchanged(plain, name, ["y:0"], ["x:0"])


def test_c8_what_reads_a_variable_in_place_stays() -> None:
    m = Maker()
    m.op("VariableV2", "v", shape=(3, 3), dtype=FLOAT32, shared_name="", container="")
    m.op("Identity", "read", "v", **F)
    m.op("MatMul", "a", m.x(), "read", **F)
    m.op("Identity", "y", "a", **F)
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"])
    assert short(after) == {"a"}
    assert "read/to_float16 = Cast(read)" in as_lines(after)


def test_c8_moments_of_a_batch_norm_stay_in_32_bits() -> None:
    m = Maker()
    common = {"strides": [1] * 4, "padding": "SAME", **F}
    m.op(
        "Conv2D", "a", m.x(shape=(1, 4, 4, 2)), m.const("w", np.ones((1, 1, 2, 2), "f4")), **common
    )
    moments = [m.const(f"m{k}", np.array([1.0, 2.0])) for k in range(4)]
    m.op("FusedBatchNormV3", "n", "a", *moments, U=FLOAT32, is_training=False, **F)
    m.op("Conv2D", "b", "n", "w", **common)
    m.op("Identity", "y", "b", **F)
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"])
    assert (str(after["n"].attrs["T"]), str(after["n"].attrs["U"])) == ("float16", "float32")
    feeds = {"x:0": np.ones((1, 4, 4, 2), np.float32)}
    assert_near(m.graph, after, ["y:0"], feeds, 0.02)


def loop(middle: str) -> Maker:
    """Three times ``x = middle(x @ w)``, in a frame."""
    m = Maker()
    m.op("Enter", "ex", m.x(shape=(3, 3)), frame_name="f", **F)
    m.op("Enter", "ew", m.const("w", np.eye(3) * 0.9), frame_name="f", is_constant=True, **F)
    m.op("Enter", "ei", m.const("zero", 0), frame_name="f", T=INT32)
    x = m.op("Merge", "mx", "ex", "ex", N=2, **F)
    i = m.op("Merge", "mi", "ei", "ei", N=2, T=INT32)
    three = m.const("three", 3, controls=["mi"])
    cond = m.op("LoopCond", "cond", m.op("Less", "less", i, three, T=INT32))
    m.op("Switch", "sx", x, cond, **F)
    m.op("Switch", "si", i, cond, T=INT32)
    m.op("MatMul", "mm", "sx:1", "ew", **F)
    m.op(middle, "mid", "mm", **F)
    one = m.const("one", 1, controls=["mi"])
    m.op("NextIteration", "nx", "mid", **F)
    m.op("NextIteration", "ni", m.op("AddV2", "inc", "si:1", one, T=INT32), T=INT32)
    m.graph.set_input(m.graph["mx"], 1, (m.graph["nx"], 0))
    m.graph.set_input(m.graph["mi"], 1, (m.graph["ni"], 0))
    m.op("Exit", "out", "sx:0", **F)
    m.op("Identity", "y", "out", **F)
    return m


@pytest.mark.parametrize(("middle", "around"), [("Relu", True), ("Exp", False)])
def test_c8_a_loop_goes_round_in_one_type(middle: str, around: bool) -> None:
    m = loop(middle)
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"])
    assert "mm" in short(after)
    assert after["nx"].attrs["T"] is after["mx"].attrs["T"]
    assert (("mid" in short(after)), after["mx"].inputs[1]) == (around, (after["nx"], 0))
    feeds = {"x:0": np.eye(3, dtype=np.float32) * 0.5}
    assert_near(m.graph, after, ["y:0"], feeds, 0.02)
    assert_same_natively(m.graph, after, ["y:0"], feeds, tolerance=0.05)


def lists(last: str) -> Maker:
    """A product is put into a tensor list and taken out for another product, or ``last``."""
    m = Maker()
    m.op("MatMul", "a", m.x(shape=(3, 3)), m.const("w", np.eye(3)), **F)
    shape, n = m.const("shape", [3, 3]), m.const("n", 2)
    m.op("TensorListReserve", "r", shape, n, element_dtype=FLOAT32, shape_type=INT32)
    zero = m.const("zero", 0)
    m.op("TensorListSetItem", "s", "r", zero, "a", element_dtype=FLOAT32)
    handle = m.op("Identity", "h", "s", T=VARIANT)
    m.op("TensorListGetItem", "g", handle, zero, "shape", element_dtype=FLOAT32)
    if last == "MatMul":
        m.op("MatMul", "b", "g", "w", **F)
    else:
        m.op(last, "b", "g", **F)
    m.op("Identity", "y", "b", **F)
    return m


def test_c8_ops_on_one_tensor_list_change_together() -> None:
    m = lists("MatMul")
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"])
    assert [str(after[n].attrs["element_dtype"]) for n in "rsg"] == ["float16"] * 3
    assert_near(m.graph, after, ["y:0"], {"x:0": np.eye(3, dtype=np.float32)}, 0.01)
    kept = m.graph.copy()
    after, _ = run_pass(kept, CPU16, ["y:0", "g:0"], ["x:0"])
    assert [str(after[n].attrs["element_dtype"]) for n in "rsg"] == ["float32"] * 3


def test_c8_a_tensor_list_that_a_loop_of_functions_has_in_hand_stays() -> None:
    m = lists("MatMul")
    m.graph.functions.add(same_list())
    call = m.op("PartitionedCall", "call", "s", f=FunctionRef("same", {}), Tin=[VARIANT],
                Tout=[VARIANT])  # fmt: skip
    m.graph.set_input(m.graph["h"], 0, call)
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"])
    assert [str(after[n].attrs["element_dtype"]) for n in "rsg"] == ["float32"] * 3
    assert short(after) == {"a", "b"}
    assert_near(m.graph, after, ["y:0"], {"x:0": np.eye(3, dtype=np.float32)}, 0.01)


def same_list() -> FunctionDef:
    """A function that gives the tensor list that it gets."""
    proto = FunctionDef()
    proto.signature.name = "same"
    proto.signature.input_arg.add(name="a", type=DataType.DT_VARIANT)
    proto.signature.output_arg.add(name="b", type=DataType.DT_VARIANT)
    proto.ret["b"] = "a"
    return proto


def test_c8_overrides_by_environment_and_option(monkeypatch: pytest.MonkeyPatch) -> None:
    m = layers("Exp", device=GPU)
    monkeypatch.setenv(f"{PREFIX}INFERLIST_ADD", "Exp, Cosh")
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"])
    assert "o0" in short(after)
    more: dict[str, Any] = {"mixed_precision_lists": {"denylist_add": ("Exp",)}}
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"], **more)
    assert short(after) == {"a", "b"}
    monkeypatch.setenv(f"{PREFIX}ALLOWLIST_REMOVE", "MatMul")
    assert_unchanged(m, F16, ["y:0"], ["x:0"])


def held(kind: str) -> Maker:
    """A product is put into a stack, a tensor array or a queue, which states its own dtype."""
    m = Maker()
    m.op("MatMul", "a", m.x(shape=(3, 3)), m.const("w", np.eye(3)), **F)
    if kind == "stack":
        m.op("StackV2", "s", m.const("n", 3), elem_type=FLOAT32)
        m.op("StackPushV2", "p", "s", "a", **F)
        m.op("MatMul", "b", "p", "w", **F)
    elif kind == "array":
        m.op("TensorArrayV3", "s", m.const("n", 3), dtype=FLOAT32)
        m.op("TensorArrayWriteV3", "p", "s", m.const("zero", 0), "a", "s:1", **F)
        m.op("TensorArrayReadV3", "r", "s", "zero", "p", dtype=FLOAT32)
        m.op("MatMul", "b", "r", "w", **F)
    else:
        m.op("VarHandleOp", "s", dtype=FLOAT32, shape=(3, 3))
        m.op("AssignVariableOp", "p", "s", "a", dtype=FLOAT32)
        m.op("ReadVariableOp", "r", "s", controls=["p"], dtype=FLOAT32)
        m.op("MatMul", "b", "r", "w", **F)
    m.op("Identity", "y", "b", **F)
    return m


@pytest.mark.parametrize("kind", ["stack", "array", "variable"])
def test_c8_what_something_outside_holds_keeps_its_dtype(kind: str) -> None:
    """Also where a user's lists name the op that puts it there."""
    m = held(kind)
    held_by = ("StackPushV2", "TensorArrayWriteV3", "TensorArrayReadV3", "AssignVariableOp",
               "ReadVariableOp")  # fmt: skip
    more: dict[str, Any] = {"mixed_precision_lists": {"allowlist_add": held_by}}
    after, _ = run_pass(m.graph, CPU16, ["y:0"], ["x:0"], **more)
    assert {"a", "b"} <= short(after)
    assert not {"p", "r"} & short(after)
    assert_near(m.graph, after, ["y:0"], {"x:0": np.eye(3, dtype=np.float32)}, 0.01)


def test_c8_a_list_that_there_is_not() -> None:
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig(mixed_precision_lists={"whitelist_add": ("Exp",)})
    assert "OptimizerConfig.mixed_precision_lists is not understood" in str(caught.value)
    assert "needed: a dict of allowlist_add, allowlist_remove" in str(caught.value)


def test_c8_levels_and_simulated_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}SIMULATE_GPU", "true")
    m = layers("Tanh", "Exp")
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"])
    assert short(after) == {"a", "b"}
    monkeypatch.setenv(f"{PREFIX}LEVEL", "UNSAFE_FORCE_ALL")
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"])
    assert short(after) == {"a", "o0", "o1", "b"}
    monkeypatch.setenv(f"{PREFIX}LEVEL", "TREAT_INFER_AS_DENY")
    after, _ = run_pass(layers("Tanh").graph, F16, ["y:0"], ["x:0"])
    assert short(after) == {"a", "b"}


def test_c9_no_bfloat16_is_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(f"{PREFIX}LEVEL", "UNSAFE_FORCE_ALL")
    report = assert_unchanged(layers("Exp"), BF16, ["y:0"], ["x:0"])
    assert told(report, BF16) == "UNSAFE_FORCE_ALL is for float16: many ops have no bfloat16"


def test_c9_float16_is_emulated_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ops stay in 32 bits; what they read and give is rounded."""
    m = layers("Relu")
    monkeypatch.setenv(f"{PREFIX}EMULATE_FP16", "true")
    after, report = run_pass(m.graph, CPU16, ["y:0"], ["x:0"], twice=False)
    assert short(after) == set()
    assert {"a = MatMul(x/to_float16_and_back, w/to_float16_and_back)",
            "x/to_float16_and_back = Cast(x/to_float16)", "y = Identity(b/to_float16_and_back)",
            "o0 = Relu(a/to_float16_and_back)"} <= set(as_lines(after))  # fmt: skip
    assert report.steps[0].rewrites == {"round-to-float16": 5}
    assert_near(m.graph, after, ["y:0"], X, 0.01)
    half, _ = run_pass(layers("Relu").graph, BF16, ["y:0"], ["x:0"])
    assert short(half) == {"a", "o0", "b"}, "of bfloat16 nothing is emulated"


def test_c9_ops_whose_kernels_have_32_bits_only_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    class Kernel:
        constraints = (("T", (FLOAT32,)),)

    brought = {"Relu": (Kernel(),)}
    monkeypatch.setattr("drystone_optimizer.core.native_kernels.of_plugins", lambda: brought)
    after, _ = run_pass(layers("Relu").graph, CPU16, ["y:0"], ["x:0"])
    assert short(after) == {"a", "b"}
    monkeypatch.setenv(f"{PREFIX}IGNORE_PERFORMANCE", "1")
    after, _ = run_pass(layers("Relu").graph, CPU16, ["y:0"], ["x:0"])
    assert short(after) == {"a", "o0", "b"}


def test_c8_what_was_painted_is_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "log"
    monkeypatch.setenv(f"{PREFIX}LOG_PATH", str(folder))
    m = layers("Exp", device=GPU)
    after, _ = run_pass(m.graph, F16, ["y:0"], ["x:0"], twice=False)
    kinds = sorted(file.name.split("_float16_")[0] for file in folder.iterdir())
    assert kinds == ["graphdef_after", "graphdef_after", "graphdef_preop", "graphdef_preop",
                     "paintbuckets"]  # fmt: skip
    text = next(folder.glob("paintbuckets_*.txt")).read_text("utf-8")
    assert "allow list:\n  MatMul a\n  MatMul b\n" in text
    assert "deny list:\n  Exp o0\n" in text
    assert text.endswith("painted:\n  MatMul a\n  MatMul b\n")
    saved = Graph.from_bytes(next(folder.glob("graphdef_after_*.pb")).read_bytes())
    assert as_lines(saved) == as_lines(after)
    monkeypatch.delenv(f"{PREFIX}LOG_PATH")
    run_pass(m.graph, F16, ["y:0"], ["x:0"])
    assert len(list(folder.iterdir())) == 5


def test_c9_the_older_name_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "drystone.optimizer"):
        after, _ = run_pass(layers().graph, "auto_mixed_precision_mkl", ["y:0"], ["x:0"])
    assert short(after) == {"a", "b"}
    assert "is the older name of auto_mixed_precision_onednn_bfloat16" in caplog.text


def test_c8_c9_are_off_by_default_and_switched_by_a_config_proto() -> None:
    m = layers()
    _, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], OptimizerConfig())
    assert not {step.name for step in report.steps} & {F16, BF16, CPU16}
    proto = ConfigProto()
    proto.graph_options.rewrite_options.auto_mixed_precision_cpu = RewriterConfig.ON
    after, _ = optimize_with_report(m.graph, ["y:0"], ["x:0"], OptimizerConfig.from_proto(proto))
    assert short(after) == {"a", "b"}


@pytest.mark.cases_in_gate(3)
@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("name", [BF16, CPU16])
def test_c8_c9_random_images_agree_but_for_precision(name: str, seed: int) -> None:
    made, fetches = draw_images(seed, last=True)
    plain = Session(made.m.graph, SessionConfig(executor="reference", optimizer="off"))
    if max(np.abs(v).max() for v in plain.run(fetches, made.feeds)) > 1000:
        pytest.skip("float16 keeps little of numbers above 1000")
    for config in (only(name), OptimizerConfig(**{name: "on"}, min_graph_nodes=-1)):
        after, _ = optimize_with_report(made.m.graph, fetches, list(made.feeds), config)
        assert_near(made.m.graph, after, fetches, made.feeds, 0.1)


def test_c8_a_branch_keeps_its_type_at_its_ends() -> None:
    m = layers()
    m.op("Switch", "s", "b", m.x("p", (), BOOL), **F)
    m.op("Exp", "no", "s:0", **F)
    m.op("Relu", "yes", "s:1", **F)
    m.op("Merge", "m", "no", "yes", N=2, **F)
    m.op("Identity", "end", "m", **F)
    after, _ = run_pass(m.graph, CPU16, ["end:0"], ["x:0", "p:0"])
    assert short(after) >= {"a", "b"}
    for choice in (True, False):
        assert_near(m.graph, after, ["end:0"], {**X, "p:0": np.bool_(choice)}, 0.05)


def block() -> Maker:
    """A convolution with a bias and a Relu, twice, and its mean."""
    m = Maker()
    x = m.x(shape=(1, 6, 6, 3))
    for k, depth in enumerate((3, 4)):
        w = m.const(f"w{k}", np.random.default_rng(k).normal(size=(3, 3, depth, 4)))
        m.op("Conv2D", f"c{k}", x, w, strides=[1] * 4, padding="SAME", **F)
        m.op("BiasAdd", f"b{k}", f"c{k}", m.const(f"v{k}", np.arange(4.0)), **F)
        x = m.op("Relu", f"r{k}", f"b{k}", **F)
    m.op("Identity", "y", x, **F)
    return m


@pytest.mark.parametrize("fuses", [True, False])
def test_c9_sixteen_bits_come_after_fusion(fuses: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two fused convolutions of our own; without such ops it goes first, as in Grappler."""
    for module in (layer_fusion, convolutions):
        monkeypatch.setattr(module, "of_plugins", lambda: {FUSED_CONVOLUTION: ()})
    config = OptimizerConfig(
        auto_mixed_precision_onednn_bfloat16="on", layer_fusion="on" if fuses else "off"
    )
    m = block()
    after, report = optimize_with_report(m.graph, ["y:0"], ["x:0"], config)
    names = [step.name for step in report.steps]
    assert (names.index(BF16) > names.index("remapping")) is fuses
    found = [step for step in report.steps if step.name == BF16]
    assert len(found) == 1, "once"
    ops = [node.op for node in after if str(node.attrs.get("T")) == "bfloat16"]
    assert ops == [FUSED_CONVOLUTION] * 2 if fuses else ops.count("Conv2D") == 2
    casts = {node.name for node in after if node.op == "Cast"}
    assert len(casts) == 2, "at the two ends alone"
    feeds = {"x:0": np.random.default_rng(9).normal(size=(1, 6, 6, 3)).astype(np.float32)}
    assert_near(m.graph, after, ["y:0"], feeds, 0.02)
    assert_same_natively(m.graph, after, ["y:0"], feeds, tolerance=0.2)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_a_model_is_loaded_in_a_precision(
    precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(PREFIX + "IGNORE_PERFORMANCE", "1")
    graph = layers("Relu").graph
    ds.write_graph(graph, tmp_path / "m.pb")
    whole, lower = (ds.load(tmp_path / "m.pb", precision=p) for p in ("float32", precision))
    (name,) = whole.outputs
    a, b = (np.asarray(m(X["x:0"])[name]) for m in (whole, lower))
    assert a.dtype == b.dtype == np.float32
    assert not np.array_equal(a, b)
    np.testing.assert_allclose(a, b, rtol=0.1, atol=0.1)
