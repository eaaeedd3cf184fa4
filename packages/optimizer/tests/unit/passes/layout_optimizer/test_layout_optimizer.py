"""Row C12, layout_optimizer: images lie in memory as the device likes them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pass_checks import (
    Maker,
    assert_same_natively,
    assert_same_values,
    assert_unchanged,
    only,
    run_pass,
    told,
)
from random_images import draw_images

from drystone_abi.protos import RewriterConfig
from drystone_base.api.session import Session, SessionConfig
from drystone_base.core.dtypes import FLOAT16, FLOAT32, INT32, DType
from drystone_base.core.errors import BadRequest
from drystone_base.graph import Graph
from drystone_optimizer import OptimizerConfig, optimize_with_report
from drystone_optimizer.core.config import CPU_LAYOUTS
from drystone_optimizer.passes.layout_optimizer import direction

PASS = "layout_optimizer"
GPU = "/device:GPU:0"
F = {"T": FLOAT32}
X = {"x:0": np.random.default_rng(0).normal(size=(2, 5, 6, 3)).astype(np.float32)}
W = np.random.default_rng(1).normal(size=(2, 3, 3, 3)).astype(np.float32)


def network(device: str = GPU, dtype: DType = FLOAT32, last: bool = True) -> Maker:
    """Two convolutions with an activation between them, and a mean over the image."""
    m, form = Maker(), "NHWC" if last else "NCHW"
    more = {"T": dtype, "device": device}
    m.x(shape=(-1, 5, 6, 3) if last else (-1, 3, 5, 6), dtype=dtype)
    m.const("w", W, dtype)
    strides = [1, 2, 1, 1] if last else [1, 1, 2, 1]
    m.op("Conv2D", "a", "x", "w", strides=strides, padding="SAME", data_format=form, **more)
    m.op("Relu", "r", "a", **more)
    m.op("Conv2D", "b", "r", "w", strides=[1] * 4, padding="VALID", data_format=form, **more)
    axes = [1, 2] if last else [2, 3]
    m.op("Mean", "mean", "b", m.const("k", axes), Tidx=INT32, keep_dims=False, **more)
    m.op("Identity", "y", "mean", T=dtype)
    return m


def count(graph: Graph, op: str) -> int:
    return sum(node.op == op for node in graph)


def test_c12_a_network_of_the_gpu_has_one_transpose_at_its_beginning() -> None:
    m = network()
    after, report = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert count(after, "Transpose") == 1
    assert [after[n].attrs["data_format"] for n in "ab"] == ["NCHW", "NCHW"]
    assert after["a"].attrs["strides"] == [1, 1, 2, 1]
    assert [after[n].device for n in ("a", "r", "mean", "a/to_layout")] == [GPU] * 4
    assert report.steps[0].rewrites == {"data-format": 2, "move-behind-transpose": 2}
    assert report.steps[0].numeric == "reassociates"
    assert_same_values(m.graph, after, ["y:0"], X, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], X)
    again, _ = run_pass(after, PASS, ["y:0"], ["x:0"])
    assert again is after


def test_c12_what_is_fetched_is_in_its_format() -> None:
    m = network()
    fetches = ["a:0", "r:0", "y:0"]
    after, _ = run_pass(m.graph, PASS, fetches, ["x:0"])
    assert after["a"].attr("data_format") == "NHWC"
    assert after["b"].attr("data_format") == "NCHW"
    assert_same_values(m.graph, after, fetches, X, exact=False)


@pytest.mark.parametrize("half", [False, True])
def test_c12_convolutions_of_16_bits_like_their_channels_last(half: bool) -> None:
    m = network(dtype=FLOAT16 if half else FLOAT32, last=False)
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert (after is not m.graph) is half
    if half:
        assert after["a"].attrs["data_format"] == "NHWC"
        assert after["a"].attrs["strides"] == [1, 2, 1, 1]


@pytest.mark.parametrize("last", [True, False])
def test_c12_the_cpu_changes_when_it_is_told_to(last: bool) -> None:
    m = network("", last=last)
    feeds = X if last else {"x:0": X["x:0"].transpose(0, 3, 1, 2)}
    way = {True: "NHWC_TO_NCHW", False: "NCHW_TO_NHWC"}
    stays = {"cpu_layout_conversion": "no_conversion_on_cpu"}
    report = assert_unchanged(m, PASS, ["y:0"], ["x:0"], **stays)
    assert "no node is for a GPU that is there" in told(report, PASS)
    assert_unchanged(m, PASS, ["y:0"], ["x:0"], cpu_layout_conversion=way[not last])
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"], cpu_layout_conversion=way[last])
    assert after["a"].attrs["data_format"] == ("NCHW" if last else "NHWC")
    assert count(after, "Transpose") == 1
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)
    assert_same_natively(m.graph, after, ["y:0"], feeds)


def test_c12_layers_of_integers_exact_sessions_and_fed_layers_stay() -> None:
    ints = Maker()
    ints.op("MaxPool", "y", ints.x(shape=(1, 4, 4, 1), dtype=INT32), T=INT32, ksize=[1, 2, 2, 1],
            strides=[1, 2, 2, 1], padding="SAME", device=GPU)  # fmt: skip
    ints.op("Neg", "z", "y", T=INT32)
    report = assert_unchanged(ints, PASS, ["z:0"], ["x:0"])
    assert told(report, PASS) == "a layer of integers"
    report = assert_unchanged(network(), PASS, ["y:0"], ["x:0"], numeric="exact")
    assert "another order" in told(report, PASS)
    assert_unchanged(network(), PASS, ["y:0"], ["a:0", "b:0"])
    assert_unchanged(network(), PASS, ["a:0", "b:0"], ["x:0"])


def behind(op: str, *more: Any, fetch: str = "z:0", **attrs: Any) -> Graph:
    """The graph after the pass of a convolution, ``op``, and another convolution if it fits."""
    m = Maker()
    m.op("Conv2D", "a", m.x(shape=(2, 5, 6, 3)), m.const("w", W), strides=[1] * 4, padding="SAME",
         device=GPU, **F)  # fmt: skip
    args = [m.const(f"arg_{k}", value) for k, value in enumerate(more)]
    m.op(op, "z", "a", *args, device=GPU, **{**F, **attrs})
    m.op("Square", "end", "z", device=GPU, **F)
    after, _ = run_pass(m.graph, PASS, ["end:0"], ["x:0"])
    assert_same_values(m.graph, after, ["end:0"], X, exact=False)
    return after


def moved(graph: Graph) -> bool:
    return graph["z"].inputs[0][0].op != "Transpose"


AXES = {"Tidx": INT32}


@pytest.mark.parametrize(
    ("op", "more", "attrs", "moves"),
    [
        ("Sum", ([1, 2],), {"keep_dims": False, **AXES}, True),
        ("Sum", ([-1],), {"keep_dims": True, **AXES}, True),
        ("Sum", ([3],), {"keep_dims": False, **AXES}, True),
        ("Sum", ([1],), {"keep_dims": False, **AXES}, False),
        ("AddV2", (np.ones(3, np.float32),), {}, True),
        ("AddV2", (np.ones((6, 3), np.float32),), {}, True),
        ("Mul", (np.arange(3, dtype=np.float32).reshape(1, 1, 3),), {}, True),
        ("Sub", (np.arange(90, dtype=np.float32).reshape(5, 6, 3),), {}, True),
        ("StridedSlice", ([0] * 4, [1] * 4, [1] * 4), {"Index": INT32, "end_mask": 13}, True),
        ("StridedSlice", ([0] * 4, [1] * 4, [1] * 4), {"Index": INT32, "new_axis_mask": 1}, False),
        ("StridedSlice", ([0], [1], [1]), {"Index": INT32}, False),
        ("Reshape", ([2, -1],), {"Tshape": INT32}, False),
        ("Pad", ([[0, 0], [1, 2], [3, 0], [0, 4]],), {"Tpaddings": INT32}, True),
        ("ReverseV2", ([1, -1],), {**AXES}, True),
    ],
)
def test_c12_ops_that_follow_any_format(op: str, more: Any, attrs: Any, moves: bool) -> None:
    assert moved(behind(op, *more, **attrs)) is moves


def test_c12_a_squeeze_must_leave_dimensions_in_order() -> None:
    m = network()
    m.op("Squeeze", "s", "b", squeeze_dims=[1], device=GPU, **F)
    m.op("Neg", "end", "s", **F)
    x = {"x:0": X["x:0"][:, :3]}
    m.graph.set_attr(m.graph["x"], "shape", (-1, 3, 6, 3))
    after, _ = run_pass(m.graph, PASS, ["end:0"], ["x:0"])
    assert_same_values(m.graph, after, ["end:0"], x, exact=False)
    assert after["s"].inputs[0][0].op == "Transpose"


def test_c12_branches_that_both_end_in_the_new_format() -> None:
    from drystone_base.core.dtypes import BOOL

    m = Maker()
    m.op("Conv2D", "a", m.x(shape=(2, 5, 6, 3)), m.const("w", W), strides=[1] * 4, padding="SAME",
         device=GPU, **F)  # fmt: skip
    m.op("Switch", "s", "a", m.x("p", (), BOOL), device=GPU, **F)
    m.op("Relu", "no", "s:0", device=GPU, **F)
    m.op("Mul", "yes", "s:1", m.const("two", np.full(3, 2, np.float32)), device=GPU, **F)
    m.op("Merge", "m", "no", "yes", N=2, device=GPU, **F)
    m.op("Square", "y", "m", device=GPU, **F)
    m.op("Identity", "end", "y", **F)
    after, _ = run_pass(m.graph, PASS, ["end:0"], ["x:0", "p:0"])
    assert after["m"].inputs == ((after["no"], 0), (after["yes"], 0))
    for choice in (True, False):
        assert_same_values(m.graph, after, ["end:0"], {**X, "p:0": np.bool_(choice)}, exact=False)


def test_c12_gradients_take_the_format_of_their_layers() -> None:
    m = Maker()
    m.const("w", W)
    common = {"strides": [1, 2, 1, 1], "padding": "SAME", "device": GPU, **F}
    m.op("Conv2D", "a", m.x(shape=(2, 5, 6, 3)), "w", **common)
    m.op("MaxPool", "p", "a", ksize=[1, 2, 2, 1], **common)
    m.op("OnesLike", "dp", "p", device=GPU, **F)
    m.op("MaxPoolGrad", "da", "a", "p", "dp", ksize=[1, 2, 2, 1], **common)
    m.op("Shape", "shape", "x", out_type=INT32, **F)
    m.op("Conv2DBackpropInput", "dx", "shape", "w", "da", **common)
    m.op("Conv2DBackpropFilter", "dw", "x", m.const("ws", [2, 3, 3, 3]), "da", **common)
    m.op("BiasAddGrad", "db", "da", device=GPU, **F)
    for name in ("dx", "dw", "db"):
        m.op("Identity", f"y_{name}", name, **F)
    fetches = ["y_dx:0", "y_dw:0", "y_db:0"]
    after, _ = run_pass(m.graph, PASS, fetches, ["x:0"])
    assert {n.attr("data_format") for n in after if n.states("data_format")} == {"NCHW"}
    assert count(after, "Transpose") == 2, "one to the images, one back from their gradient"
    assert_same_values(m.graph, after, fetches, X, exact=False)


@pytest.mark.parametrize("seed", range(80))
def test_c12_random_images_agree(seed: int) -> None:
    made, fetches = draw_images(seed, last=seed % 2 == 0, device="" if seed % 3 else GPU)
    way = "NHWC_TO_NCHW" if seed % 2 == 0 else "NCHW_TO_NHWC"
    after, _ = run_pass(made.m.graph, PASS, fetches, list(made.feeds), cpu_layout_conversion=way)
    assert_same_values(made.m.graph, after, fetches, made.feeds, exact=False)
    if after is not made.m.graph and seed % 4 == 0:
        assert_same_natively(made.m.graph, after, fetches, made.feeds)
    again, _ = run_pass(after, PASS, fetches, list(made.feeds), cpu_layout_conversion=way)
    assert again is after


@pytest.mark.parametrize("seed", range(100, 130))
def test_c12_what_is_fetched_inside_of_the_cpus_images_agrees(seed: int) -> None:
    """Its name stays, with an Identity of what is brought back; once is enough."""
    made, fetches = draw_images(seed, last=seed % 2 == 0, device="")
    inside = [node for node in made.m.graph if node.states("data_format")]
    fetches = [*fetches, *(f"{node.name}:0" for node in inside[seed % 3 :: 3])]
    way = "NHWC_TO_NCHW" if seed % 2 == 0 else "NCHW_TO_NHWC"
    after, _ = run_pass(made.m.graph, PASS, fetches, list(made.feeds), cpu_layout_conversion=way)
    assert_same_values(made.m.graph, after, fetches, made.feeds, exact=False)
    again, _ = run_pass(after, PASS, fetches, list(made.feeds), cpu_layout_conversion=way)
    assert again is after


def test_c12_a_depthwise_layer_keeps_its_format_unless_its_gradient_moves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    op = "DepthwiseConv2dNativeBackpropInput"
    monkeypatch.setattr(direction, "of_plugins", lambda: {op: ()})
    for stride, converts in ((1, False), (2, True)):
        m = Maker()
        sizes = m.const("s", np.array([1, 3, 8, 8], np.int32))
        weights = m.const("w", np.ones((3, 3, 3, 1), np.float32))
        side = 8 // stride
        m.op("Neg", "n", m.x(shape=(1, 3, side, side)), **F)
        m.op(op, "a", sizes, weights, "n", strides=[1, 1, stride, stride], padding="SAME",
             data_format="NCHW", **F)  # fmt: skip
        m.op("Identity", "y", "a", **F)
        after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
        assert (after is not m.graph) is converts


def test_c12_a_fetched_layer_of_the_cpu_is_converted_and_fused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    m = Maker()
    m.x(shape=(1, 3, 8, 8))
    weights = m.const("w", np.ones((3, 3, 3, 3), np.float32))
    more: dict[str, Any] = {"padding": "SAME", "data_format": "NCHW", **F}
    m.op("Conv2D", "a", "x", weights, strides=[1] * 4, **more)
    monkeypatch.setattr(direction, "of_plugins", lambda: {"Conv2D": ()})
    feeds = {"x:0": np.random.default_rng(2).normal(size=(1, 3, 8, 8)).astype(np.float32)}
    after, _ = optimize_with_report(m.graph, ["a:0"], ["x:0"], OptimizerConfig(min_graph_nodes=-1))
    assert after["a/inner"].attr("data_format") == "NHWC"
    assert_same_values(m.graph, after, ["a:0"], feeds, exact=False)
    m.op("BiasAdd", "b", "a", m.const("c", np.arange(3, dtype=np.float32)), data_format="NCHW", **F)
    m.op("Relu", "y", "b", **F)
    after, _ = optimize_with_report(m.graph, ["y:0"], ["x:0"])
    assert after["y"].op == "Identity"
    assert [n.op for n in after if "Conv2D" in n.op] == ["_FusedConv2D"]
    assert not [n for n in after if n.op in ("Relu", "BiasAdd")]
    assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)


@pytest.mark.parametrize("seed", range(200, 220))
def test_c12_random_images_agree_with_all_passes(seed: int) -> None:
    made, fetches = draw_images(seed, last=True)
    config = OptimizerConfig(cpu_layout_conversion="NHWC_TO_NCHW", min_graph_nodes=-1,
                             fail_on_optimizer_errors=True)  # fmt: skip
    after, _ = optimize_with_report(made.m.graph, fetches, list(made.feeds), config)
    assert_same_values(made.m.graph, after, fetches, made.feeds, exact=False)


def test_c12_a_session_of_several_devices_gives_the_same() -> None:
    m = network()
    devices = {"CPU": 1, "GPU": 1}
    plain = Session(m.graph, SessionConfig(optimizer="off", device_count=devices))
    session = Session(m.graph, SessionConfig(optimizer=OptimizerConfig(), device_count=devices))
    np.testing.assert_allclose(plain.run("y:0", X), session.run("y:0", X), rtol=1e-5, atol=1e-5)


def test_c12_a_config_proto_says_what_the_cpu_gets() -> None:
    proto = RewriterConfig(cpu_layout_conversion=RewriterConfig.NCHW_TO_NHWC)
    assert OptimizerConfig.from_proto(proto).cpu_layout_conversion == "nchw_to_nhwc"
    assert (
        OptimizerConfig.from_proto(RewriterConfig()).cpu_layout_conversion
        == "default"
        == CPU_LAYOUTS[0]
    )
    with pytest.raises(BadRequest) as caught:
        OptimizerConfig(cpu_layout_conversion="NHWC")
    assert "OptimizerConfig.cpu_layout_conversion is not understood" in str(caught.value)


def test_c12_off_is_off() -> None:
    m = network()
    config = only("model_pruning")
    after, _ = optimize_with_report(m.graph, ["y:0"], ["x:0"], config)
    assert after["a"].attrs["data_format"] == "NHWC"


def turned(last: bool, device: str, *more: str) -> Maker:
    """A convolution, the user's transpose to the other format, and what reads that as rows.

    ``more``: ``"twice"``: a transpose back and forth again between; ``"both"``: something reads the
    convolution as it is; ``"before"``: a transpose of the user's to its format.
    """
    m, form = Maker(), "NHWC" if last else "NCHW"
    there, back = ([0, 3, 1, 2], [0, 2, 3, 1]) if last else ([0, 2, 3, 1], [0, 3, 1, 2])
    shared = {"device": device, **F}
    moves = {"Tperm": INT32, **shared}
    shape = (2, 5, 6, 3) if last != ("before" in more) else (2, 3, 5, 6)
    x = m.x(shape=shape)
    if "before" in more:
        x = m.op("Transpose", "in", x, m.const("order_in", back), **moves)
    common = {"strides": [1] * 4, "padding": "VALID", "data_format": form, **shared}
    y = m.op("Conv2D", "a", x, m.const("w", W), **common)
    if "twice" in more:
        y = m.op("Transpose", "t0", y, m.const("order_0", there), **moves)
        y = m.op("Transpose", "t1", y, m.const("order_1", back), **moves)
    y = m.op("Transpose", "t", y, m.const("order", there), **moves)
    m.op("Reshape", "y", y, m.const("rows", [2, -1]), Tshape=INT32, **shared)
    if "both" in more:
        m.op("Mul", "other", "a", m.const("two", np.float32(2)), **shared)
        m.op("Reshape", "z", "other", m.const("row", [-1]), Tshape=INT32, **shared)
    return m


MORE = [(), ("twice",), ("both",), ("before",), ("both", "before", "twice")]


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("more", MORE, ids="-".join)
def test_c12_a_transpose_of_the_user_is_not_done_twice(last: bool, more: tuple[str, ...]) -> None:
    m = turned(last, "", *more)
    fetches = ["y:0", "z:0"] if "both" in more else ["y:0"]
    way = "nhwc_to_nchw" if last else "nchw_to_nhwc"
    shape = m.graph["x"].attrs["shape"]
    feeds = {"x:0": np.random.default_rng(2).normal(size=shape).astype(np.float32)}
    after, _ = run_pass(m.graph, PASS, fetches, ["x:0"], cpu_layout_conversion=way)
    assert after["a"].attr("data_format") == ("NCHW" if last else "NHWC")
    assert_same_values(m.graph, after, fetches, feeds, exact=False)
    if "twice" not in more:
        assert after["y"].inputs[0][0].name == "a", "its transpose has become none"
    for all_passes in (True, False):
        options = {"cpu_layout_conversion": way} if all_passes else {}
        config = SessionConfig(optimizer=OptimizerConfig(**options, min_graph_nodes=-1))
        plain = Session(m.graph, SessionConfig(optimizer="off")).run(fetches, feeds)
        for one, other in zip(plain, Session(m.graph, config).run(fetches, feeds), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


SPELLINGS = [
    "/gpu:0", "/GPU:0", "/device:GPU:0", "/device:GPU:*", "/device:GPU", "device:GPU:1",
    "/job:localhost/replica:0/task:0/device:GPU:0", "/job:worker/task:3/gpu:7",
]  # fmt: skip


@pytest.mark.parametrize("device", SPELLINGS)
def test_c12_a_gpu_that_is_not_there_changes_nothing(device: str) -> None:
    m = turned(True, device, "both")
    report = assert_unchanged(m, PASS, ["y:0", "z:0"], ["x:0"], devices=())
    assert "no node is for a GPU that is there" in told(report, PASS)
    after, _ = run_pass(m.graph, PASS, ["y:0", "z:0"], ["x:0"])
    assert after["a"].attr("data_format") == "NCHW", "where there is one, however it is spelled"
    assert_same_values(m.graph, after, ["y:0", "z:0"], X, exact=False)
    session = Session(m.graph, SessionConfig(optimizer=OptimizerConfig(min_graph_nodes=-1)))
    plain = Session(m.graph, SessionConfig(optimizer="off"))
    np.testing.assert_allclose(plain.run("y:0", X), session.run("y:0", X), rtol=1e-5, atol=1e-5)


def alone(size: int, form: str, op: str = "Conv2D") -> Maker:
    """A convolution between element-wise ops."""
    m = Maker()
    shape = (1, 3, 8, 8) if form == "NCHW" else (1, 8, 8, 3)
    m.op("Neg", "n", m.x(shape=shape), **F)
    weights = m.const("w", np.ones((size, size, 3, 2), np.float32))
    m.op(op, "a", "n", weights, strides=[1] * 4, padding="SAME", data_format=form, **F)
    m.op("Relu", "r", "a", **F)
    m.op("Identity", "y", "r", **F)
    return m


@pytest.mark.parametrize(("size", "form", "op", "gains"), [
    (3, "NCHW", "Conv2D", True), (1, "NCHW", "Conv2D", False), (3, "NHWC", "Conv2D", False),
    (3, "NCHW", "DepthwiseConv2dNative", False),
])  # fmt: skip
def test_c12_the_cpu_gets_channels_last_where_that_pays(
    size: int, form: str, op: str, gains: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    m = alone(size, form, op)
    monkeypatch.setattr(direction, "of_plugins", lambda: {op: ()})
    after, _ = run_pass(m.graph, PASS, ["y:0"], ["x:0"])
    assert (after is not m.graph) is gains
    if gains:
        assert after["a"].attrs["data_format"] == "NHWC"
        feeds = {"x:0": X["x:0"][:1].repeat(2, 1)[:, :8, :].repeat(2, 2)[:, :, :8]}
        feeds = {"x:0": np.ascontiguousarray(feeds["x:0"].transpose(0, 3, 1, 2))}
        assert_same_values(m.graph, after, ["y:0"], feeds, exact=False)
    assert_unchanged(m, PASS, ["y:0"], ["x:0"], cpu_layout_conversion="no_conversion_on_cpu")
    assert_unchanged(m, PASS, ["y:0"], ["x:0"], numeric="exact")
    monkeypatch.setattr(direction, "of_plugins", dict)
    assert_unchanged(m, PASS, ["y:0"], ["x:0"])
