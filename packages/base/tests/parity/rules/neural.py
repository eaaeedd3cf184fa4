"""Convolutions, pooling, normalization, losses, activations of neural networks."""

from typing import Any

import numpy as np

from parity.draft import Draft, Drawer, Rule
from parity.drawers import (
    below,
    choice,
    fixed,
    integers,
    like,
    positive,
    scalar,
    shaped,
    some,
    unit,
)


def _windows(rank: int, most: int = 3) -> Drawer:
    """One number a dimension: 1 for batch and channels."""
    return lambda d: [1, *(d.size(1, most) for _ in range(rank)), 1]


def _strides(rank: int, most: int = 3, same: bool = False) -> Drawer:
    def draw(d: Draft) -> Any:
        inner = [d.size(1, most)] * rank if same else [d.size(1, most) for _ in range(rank)]
        return [1, *inner, 1]

    return draw


def _dilations(rank: int) -> Drawer:
    return lambda d: [1, *([1] * rank if d.chance(0.6) else [d.size(1, 3)] * rank), 1]


def _explicit(rank: int) -> Drawer:
    def draw(d: Draft) -> Any:
        if d["padding"] != "EXPLICIT":
            return []
        return [0, 0, *(d.size(0, 2) for _ in range(2 * rank)), 0, 0]

    return draw


def _conv_output(rank: int, filter_dims: str, output: str) -> Drawer:
    """A gradient of the shape that the forward convolution gives."""

    def draw(d: Draft) -> Any:
        pads = d["explicit_paddings"] if "explicit_paddings" in d.op.attrs else []
        kernel = [d.dim(n) for n in filter_dims.split()][:rank]
        sizes = [d.dim(n) for n in "uvw"[:rank]]
        out = []
        for k, (n, f) in enumerate(zip(sizes, kernel, strict=True)):
            stride = d["strides"][k + 1]
            reach = (f - 1) * (d["dilations"][k + 1] if "dilations" in d else 1) + 1
            if d["padding"] == "SAME":
                out.append(-(-n // stride))
            else:
                extra = sum(pads[2 * k + 2 : 2 * k + 4])
                out.append(max(n + extra - reach + stride, 0) // stride)
        return d.tensor(d.making, (d.dim("b"), *out, d.dim(output)))

    return draw


def _sizes(spec: str) -> Drawer:
    return lambda d: np.array(d.shape(spec)).astype(d.dtype(d.making).np)


DIMS = {
    "b": (0, 3),
    "u": (3, 7),
    "v": (3, 7),
    "w": (3, 6),
    "f": (1, 3),
    "g": (1, 3),
    "h": (1, 3),
    "i": (1, 4),
    "o": (1, 4),
    "m": (1, 2),
}
PADDING = choice("SAME", "VALID", "SAME", "VALID", "EXPLICIT")


def _conv(rank: int, filter_spec: str, output: str, **more: Any) -> Rule:
    inner, still = "uvw"[:rank], bool(more.pop("still", False))
    spec = " ".join(["b", *inner, "i"])
    grad = _conv_output(rank, filter_spec, output)
    draw: dict[str, Drawer] = {
        "input": shaped(spec),
        "filter": shaped(filter_spec),
        "filter_sizes": _sizes(filter_spec),
        "input_sizes": _sizes(spec),
        "out_backprop": grad,
        "strides": _strides(rank, 3, same=bool(more.pop("square", False))),
        "dilations": fixed([1] * (rank + 2)) if still else _dilations(rank),
        "explicit_paddings": _explicit(rank),
    }
    padding = PADDING if rank == 2 else choice("SAME", "VALID")
    formats = {"data_format": lambda d: d.op.attrs["data_format"].default}
    return Rule(
        draw | {"padding": padding} | formats,
        dims=DIMS,
        special=False,
        tol=4,
        why="sums in another order",
        types=("float32", "float64", "float16", "bfloat16", "int32"),
        **more,
    )


def _pool(rank: int, value: str, **more: Drawer) -> Rule:
    spec = " ".join(["b", *"uvw"[:rank], "i"])
    draw: dict[str, Drawer] = {
        value: shaped(spec, None),
        "ksize": _windows(rank),
        "strides": _strides(rank),
        "padding": choice("SAME", "VALID"),
        "explicit_paddings": fixed([]),
        "data_format": lambda d: d.op.attrs["data_format"].default,
        **more,
    }
    return Rule(draw, dims=DIMS, special=False)


def _window_input() -> Drawer:
    return lambda d: np.array([1, d.size(1, 3), d.size(1, 3), 1], np.int32)


def _pooled(rank: int) -> Drawer:
    """The shape after pooling."""

    def draw(d: Draft) -> Any:
        sizes = [d.dim(n) for n in "uvw"[:rank]]
        k, s = d["ksize"], d["strides"]
        same = d["padding"] == "SAME"
        out = [
            -(-n // s[j + 1])
            if same
            else max(n - int(k[j + 1]) + int(s[j + 1]), 0) // int(s[j + 1])
            for j, n in enumerate(sizes)
        ]
        return d.tensor(d.making, (d.dim("b"), *out, d.dim("i")), False)

    return draw


def _max_pooled(rank: int) -> Drawer:
    """The maxima themselves, from our forward kernel: equal elements decide the gradient."""

    def draw(d: Draft) -> Any:
        from drystone_base.executor.testing import run_op

        op = "MaxPool" if rank == 2 else "MaxPool3D"
        attrs: dict[str, Any] = {k: [int(v) for v in d[k]] for k in ("ksize", "strides")}
        return run_op(op, d["orig_input"], padding=d["padding"], **attrs)[0]

    return draw


_PER_CHANNEL = {n: positive("c") for n in ("scale", "offset", "variance", "reserve_space_2")} | {
    "mean": unit("c", -1, 1),
    "reserve_space_1": unit("c", -1, 1),
    "reserve_space_3": fixed(np.zeros(0, np.float32)),
}


def _empty_when_training(low: float) -> Drawer:
    """Moving averages count only where they are used or mixed in."""

    def draw(d: Draft) -> Any:
        training = d["is_training"] and d["exponential_avg_factor"] == 1.0
        value = d.rng.uniform(low, 3, d.dim("c")).astype(d.dtype(d.making).np)
        return value[:0] if training else value

    return draw


def _batch_norm(gradient: bool) -> Rule:
    draw = {
        **_PER_CHANNEL,
        "x": shaped("b h w c"),
        "y_backprop": shaped("b h w c"),
        "data_format": fixed("NHWC"),
        "exponential_avg_factor": choice(1.0, 1.0, 0.5),
        "epsilon": choice(1e-4, 1e-3),
    }
    if not gradient:
        draw |= {"mean": _empty_when_training(-1), "variance": _empty_when_training(0.1)}
    dims = {"b": (1, 3), "h": (1, 4), "w": (2, 4), "c": (1, 4)}
    return Rule(
        draw,
        dims=dims,
        special=False,
        tol=20,
        why="differences of close numbers",
        compared=3,
        types=("float32",),
    )


def _bias(d: Draft) -> Any:
    shape = np.shape(d["value"])
    at = 1 if d.op.name == "BiasAdd" and d["data_format"] == "NCHW" else -1
    return d.tensor("bias", (shape[at],))


def _depth_output(d: Draft) -> Any:
    d.dims["im"] = d.dim("i") * d.dim("m")
    return _conv_output(2, "f g", "im")(d)


def _labels(d: Draft) -> Any:
    out = np.abs(d.rng.normal(size=np.shape(d["features"]))) + 0.1
    return (out / np.maximum(out.sum(-1, keepdims=True), 1e-3)).astype(d.dtype("labels").np)


def _blocks(d: Draft) -> Any:
    """An input whose batch and dimensions fit the block size."""
    block = d["block_size"]
    shapes = {
        "SpaceToDepth": (d.dim("b"), d.dim("h") * block, d.dim("w") * block, d.dim("c")),
        "DepthToSpace": (d.dim("b"), d.dim("h"), d.dim("w"), d.dim("c") * block * block),
        "SpaceToBatch": (d.dim("b"), d.dim("h") * block, d.dim("w") * block, d.dim("c")),
        "BatchToSpace": (d.dim("b") * block * block, d.dim("h"), d.dim("w"), d.dim("c")),
    }
    return d.tensor("input", shapes[d.op.name])


def _nd_input(d: Draft) -> Any:
    blocks, wide = [int(n) for n in d["block_shape"]], d.op.name == "SpaceToBatchND"
    inner = [d.size(1, 3) * (n if wide else 1) for n in blocks]
    batch = d.size(1, 2) * (1 if wide else int(np.prod(blocks)))
    return d.tensor("input", (batch, *inner, *d.any_shape(1)))


def _nd_margins(d: Draft) -> Any:
    out = [
        [d.size(0, 1) * int(n) if d.op.name == "SpaceToBatchND" else d.size(0, 1) for _ in "ab"]
        for n in d["block_shape"]
    ]
    return np.array(out).reshape(-1, 2).astype(d.dtype(d.making).np)


_SPATIAL = {"b": (0, 2), "h": (1, 3), "w": (1, 3), "c": (1, 3)}
_POOL_IN = {"input": shaped("b u v i"), "grad": _pooled(2), "orig_input": shaped("b u v i")}

RULES: dict[str, Rule] = {
    "Conv2D Conv2DBackpropFilter Conv2DBackpropInput "
    "Conv2DBackpropFilterV2 Conv2DBackpropInputV2": _conv(2, "f g i o", "o"),
    "Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2 "
    "Conv3DBackpropFilter Conv3DBackpropInput": _conv(3, "f g h i o", "o"),
    "DepthwiseConv2dNative": _conv(2, "f g i m", "im", square=True),
    "AvgPool": _pool(2, "value"),
    "AvgPool3D MaxPool3D": _pool(3, "input"),
    "MaxPool MaxPoolWithArgmax": _pool(2, "input"),
    "MaxPoolV2": _pool(2, "input", ksize=_window_input(), strides=_window_input()),
    "AvgPoolGrad": _pool(2, "value", orig_input_shape=_sizes("b u v i"), grad=_pooled(2)),
    "AvgPool3DGrad": _pool(3, "value", orig_input_shape=_sizes("b u v w i"), grad=_pooled(3)),
    "MaxPoolGrad": _pool(2, "orig_input", orig_output=_max_pooled(2), grad=_pooled(2)),
    "MaxPoolGradV2": _pool(
        2,
        "orig_input",
        orig_output=_max_pooled(2),
        grad=_pooled(2),
        ksize=_window_input(),
        strides=_window_input(),
    ),
    "MaxPool3DGrad": _pool(
        3, "orig_input", orig_output=_max_pooled(3), grad=_pooled(3), T=lambda d: d["TInput"]
    ),
    "MaxPoolGradGrad": _pool(2, "orig_input", orig_output=_max_pooled(2), grad=like("orig_input")),
    "MaxPool3DGradGrad": _pool(
        3, "orig_input", orig_output=_max_pooled(3), grad=like("orig_input")
    ),
    "FusedBatchNorm FusedBatchNormV2 FusedBatchNormV3": _batch_norm(False),
    "FusedBatchNormGrad FusedBatchNormGradV2 FusedBatchNormGradV3": _batch_norm(True),
    "LRN": Rule(
        {
            "input": shaped("b h w c"),
            "depth_radius": choice(1, 2, 5),
            "bias": choice(1.0, 2.0),
            "alpha": choice(1.0, 0.1),
            "beta": choice(0.5, 0.75, 1.0),
        },
        special=False,
    ),
    "LRNGrad": Rule(
        {n: shaped("b h w c") for n in ("input_grads", "input_image", "output_image")}
        | {
            "depth_radius": choice(1, 2),
            "bias": choice(1.0, 2.0),
            "alpha": fixed(1.0),
            "beta": choice(0.5, 0.75),
        },
        special=False,
        tol=10,
    ),
    "BiasAdd BiasAddV1": Rule({"value": some(4, 2), "bias": _bias}),
    "BiasAddGrad": Rule(
        {"out_backprop": some(4, 2)},
        special=False,
        tol={"bfloat16": 10, "float16": 10},
        why="TensorFlow adds up in 16 bits",
    ),
    "Softmax LogSoftmax": Rule({"logits": some(3, 1)}),
    "SoftmaxCrossEntropyWithLogits": Rule(
        {"features": shaped("n c", False), "labels": _labels},
        dims={"c": (1, 5), "n": (0, 4)},
        tol=4,
    ),
    "SparseSoftmaxCrossEntropyWithLogits": Rule(
        {"features": shaped("n c", False), "labels": below("c", "n")}, dims={"c": (1, 5)}, tol=4
    ),
    "InTopK": Rule(
        {"predictions": shaped("n c"), "targets": below("c", "n"), "k": choice(1, 2, 0)},
        dims={"c": (1, 5)},
    ),
    "InTopKV2": Rule(
        {"predictions": shaped("n c"), "targets": below("c", "n"), "k": scalar(0, 3)},
        dims={"c": (1, 5)},
    ),
    "Dilation2D": Rule(
        {
            "input": shaped("b u v i"),
            "filter": shaped("f g i"),
            "strides": _strides(2, 2),
            "rates": _dilations(2),
        },
        dims=DIMS,
        special=False,
    ),
    "SpaceToDepth DepthToSpace": Rule(
        {"block_size": choice(2, 3), "input": _blocks, "data_format": fixed("NHWC")}, dims=_SPATIAL
    ),
    "SpaceToBatch": Rule(
        {
            "block_size": choice(2, 3),
            "input": _blocks,
            "paddings": fixed(np.zeros((2, 2), np.int32)),
        },
        dims=_SPATIAL,
    ),
    "BatchToSpace": Rule(
        {"block_size": choice(2, 3), "input": _blocks, "crops": integers("2 2", 0, 1)},
        dims=_SPATIAL,
    ),
    "SpaceToBatchND BatchToSpaceND": Rule(
        {
            "block_shape": integers("k", 1, 3),
            "input": _nd_input,
            "paddings": _nd_margins,
            "crops": _nd_margins,
        },
        dims={"k": (0, 3)},
    ),
    "L2Loss": Rule(special=False),
    "BatchNormWithGlobalNormalization": Rule({"t": shaped("b h w c")}),
    "DepthwiseConv2dNativeBackpropFilter": Rule(
        dict(_conv(2, "f g i m", "im", square=True, still=True).draw)
        | {"out_backprop": _depth_output},
        dims=DIMS,
        special=False,
        tol=4,
        why="sums in another order",
    ),
    "DepthwiseConv2dNativeBackpropInput": Rule(
        dict(_conv(2, "f g i m", "im", square=True, still=True).draw)
        | {"out_backprop": _depth_output},
        dims=DIMS,
        special=False,
        tol=4,
        why="sums in another order",
    ),
    "Conv": Rule(
        {
            "input": shaped("b u v i"),
            "filter": shaped("f g i o"),
            "strides": _strides(2),
            "dilations": _dilations(2),
            "padding": choice("SAME", "VALID"),
            "data_format": fixed("CHANNELS_LAST"),
            "explicit_paddings": fixed([]),
            "batch_dims": fixed(1),
            "groups": fixed(1),
        },
        dims=DIMS,
        special=False,
        tol=4,
        why="sums in another order",
    ),
    "MaxPoolGradWithArgmax": Rule(
        {
            "input": shaped("b u v i"),
            "grad": _pooled(2),
            "ksize": _windows(2),
            "strides": _strides(2),
            "argmax": lambda d: d.rng.integers(
                0, d.dim("u") * d.dim("v") * d.dim("i"), d["grad"].shape
            ).astype(d.dtype("argmax").np),
        },
        dims=DIMS,
        special=False,
        spoil=False,
    ),
    "MaxPoolGradGradWithArgmax": Rule(
        {
            "input": shaped("b u v i"),
            "grad": like("input"),
            "ksize": _windows(2),
            "strides": _strides(2),
            "argmax": lambda d: d.rng.integers(
                0, d.dim("u") * d.dim("v") * d.dim("i"), _pooled(2)(d).shape
            ).astype(d.dtype("argmax").np),
        },
        dims=DIMS,
        special=False,
        spoil=False,
    ),
    "ExtractImagePatches": Rule(
        {
            "images": shaped("b u v i"),
            "ksizes": _windows(2),
            "strides": _strides(2),
            "rates": _dilations(2),
        },
        dims=DIMS,
    ),
    "ExtractVolumePatches": Rule(
        {"input": shaped("b u v w i"), "ksizes": _windows(3), "strides": _strides(3)}, dims=DIMS
    ),
    "Dilation2DBackpropInput Dilation2DBackpropFilter": Rule(
        {
            "input": shaped("b u v i"),
            "filter": shaped("f g i"),
            "strides": _strides(2, 2),
            "rates": fixed([1, 1, 1, 1]),
            "out_backprop": lambda d: _conv_output(2, "f g", "i")(d),
        },
        dims=DIMS,
        special=False,
    ),
}
