"""Random graphs of image ops in one data format, on a device of one's choice."""

from __future__ import annotations

from typing import Any

import numpy as np
from random_drawing import Drawing

from drystone_base.core.dtypes import FLOAT32, INT32
from drystone_base.graph import Output

__all__ = ["Images", "draw_images"]

F = {"T": FLOAT32}
_UNARY = ("Relu", "Neg", "Square", "Tanh", "Identity", "Sigmoid", "Abs")
_BINARY = ("AddV2", "Mul", "Maximum", "Sub")


class Images(Drawing):
    """A graph of float32 images; ``last`` says where the channels are."""

    def __init__(self, rng: np.random.Generator, last: bool, device: str) -> None:
        super().__init__(rng)
        self.last, self.device = last, device
        self.format = "NHWC" if last else "NCHW"
        self.values: list[tuple[Output, tuple[int, int, int, int]]] = []
        self.rows: list[Output] = []

    def op(self, op: str, *inputs: Any, **attrs: Any) -> Output:
        """A node with a name of its own, on the device."""
        return super().op(op, *inputs, device=self.device, **attrs)

    def placed(self, n: Any, h: Any, w: Any, c: Any) -> list[Any]:
        """One thing for each dimension, in the order of the format."""
        return [n, h, w, c] if self.last else [n, c, h, w]

    def axis(self, letter: str) -> int:
        """The place of a dimension, from the front or from the back."""
        at = self.format.index(letter)
        return at if self.rng.random() < 0.5 else at - 4

    def keep(self, made: Output, *shape: int) -> None:
        """Let later ops read a value: its sizes as batch, height, width and channels."""
        self.values.append((made, shape))  # type: ignore[arg-type]

    def image(self) -> None:
        """An image that is fed, with an unknown size now and then."""
        n, h, w, c = (int(self.rng.integers(1, 4)) for _ in range(4))
        shape = self.placed(n, h + 3, w + 3, c)
        stated = tuple(-1 if self.rng.random() < 0.2 else d for d in shape)
        name = f"x{len(self.feeds)}"
        self.feeds[f"{name}:0"] = self.rng.normal(size=shape).astype(np.float32)
        self.keep(self.m.x(name, stated), n, h + 3, w + 3, c)

    def layer(self) -> None:
        """A convolution, often with a bias."""
        data, (n, h, w, c) = self.one_of(self.values[-2:])
        kh, kw = (min(int(self.rng.integers(1, 4)), size) for size in (h, w))
        (oh, top, sh), (ow, left, sw), padding = self.windows((h, kh), (w, kw))
        wide = {"padding": padding, "strides": self.placed(1, sh, sw, 1), **F}
        wide["data_format"] = self.format
        if padding == "EXPLICIT":
            frames = self.placed([0, 0], [top, 0], [left, 0], [0, 0])
            wide["explicit_paddings"] = [k for pair in frames for k in pair]
        if self.rng.random() < 0.7 or sh != sw:  # a depthwise one has equal strides
            out = int(self.rng.integers(1, 4))
            made = self.op("Conv2D", data, self.weights(kh, kw, c, out), **wide)
        else:
            out = c * 2
            kind = "DepthwiseConv2dNative"
            made = self.op(kind, data, self.weights(kh, kw, c, 2), **wide)
        if self.rng.random() < 0.5:
            made = self.op("BiasAdd", made, self.weights(out), data_format=self.format, **F)
        self.keep(made, n, oh, ow, out)

    def windows(self, *sizes: tuple[int, int]) -> tuple[Any, Any, str]:
        """For a size and a filter each: how many windows, zeros before, stride; the padding."""
        padding = self.one_of(("SAME", "SAME", "VALID", "EXPLICIT"))
        found = []
        for size, kernel in sizes:
            stride = int(self.rng.integers(1, 3)) if self.rng.random() < 0.3 else 1
            before = int(self.rng.integers(2)) if padding == "EXPLICIT" else 0
            count = (
                -(-size // stride) if padding == "SAME" else (size + before - kernel) // stride + 1
            )
            found.append((count, before, stride))
        return (*found, padding)

    def turn(self) -> None:
        """A transpose of the user's to the other format, what reads it, and often one back."""
        data, (n, h, w, c) = self.one_of(self.values[-2:])
        there = [0, 3, 1, 2] if self.last else [0, 2, 3, 1]
        back = [0, 2, 3, 1] if self.last else [0, 3, 1, 2]
        made = self.op("Transpose", data, self.const(there), Tperm=INT32, **F)
        for _ in range(int(self.rng.integers(3))):
            made = self.op(self.one_of(_UNARY), made, **F)
        if self.rng.random() < 0.5:
            self.keep(self.op("Transpose", made, self.const(back), Tperm=INT32, **F), n, h, w, c)
        else:
            rows = self.const([n, -1] if self.rng.random() < 0.5 else [-1, c * w])
            self.rows.append(self.op("Reshape", made, rows, Tshape=INT32, **F))

    def flat(self) -> None:
        """A matrix of an image as it lies, and the image again."""
        data, sizes = self.one_of(self.values[-2:])
        rows = self.op("Reshape", data, self.const([sizes[0], -1]), Tshape=INT32, **F)
        self.rows.append(rows)
        if self.rng.random() < 0.5:
            again = self.op("Reshape", rows, self.const(self.placed(*sizes)), Tshape=INT32, **F)
            self.keep(self.op(self.one_of(_UNARY), again, **F), *sizes)

    def pool(self) -> None:
        """A pool of windows of two by one."""
        data, (n, h, w, c) = self.one_of(self.values[-2:])
        size = self.placed(1, 2, 1, 1)
        more = {"ksize": size, "strides": size, "padding": "SAME", "data_format": self.format}
        made = self.op(self.one_of(("MaxPool", "AvgPool")), data, **more, **F)
        self.keep(made, n, (h + 1) // 2, w, c)

    def norm(self) -> None:
        """A batch norm with moments that are known."""
        data, sizes = self.one_of(self.values[-2:])
        c = sizes[3]
        moments = [self.weights(c), self.weights(c), self.weights(c)]
        variance = self.const(self.rng.random(c).astype(np.float32) + 0.5)
        made = self.op("FusedBatchNormV3", data, *moments, variance, U=FLOAT32, epsilon=0.01,
                       is_training=False, data_format=self.format, **F)  # fmt: skip
        self.keep(made, *sizes)

    def unary(self) -> None:
        """An element-wise op."""
        data, sizes = self.one_of(self.values[-3:])
        self.keep(self.op(self.one_of(_UNARY), data, **F), *sizes)

    def binary(self) -> None:
        """An op of two images alike, or of an image with a number or a vector."""
        data, sizes = self.one_of(self.values[-3:])
        alike = [made for made, other in self.values if other == sizes]
        width = sizes[3] if self.last else sizes[2]
        kind = int(self.rng.integers(4))
        sizes_of = self.placed(*sizes)
        thin = [d if self.chance(0.7) else 1 for d in sizes_of[4 - int(self.rng.integers(1, 4)) :]]
        kinds = (self.one_of(alike), self.weights(), self.weights(width), self.weights(*thin))
        other = kinds[kind]
        pair = (data, other) if self.rng.random() < 0.5 else (other, data)
        self.keep(self.op(self.one_of(_BINARY), *pair, **F), *sizes)

    def join(self) -> None:
        """A concatenation, or a sum, of images alike."""
        data, (n, h, w, c) = self.values[-1]
        alike = [made for made, other in self.values if other == (n, h, w, c)]
        parts = [data, self.one_of(alike)]
        if self.rng.random() < 0.3:
            self.keep(self.op("AddN", *parts, N=2, **F), n, h, w, c)
            return
        letter = self.one_of("HWC")
        made = self.op("ConcatV2", *parts, self.const(self.axis(letter)), N=2, Tidx=INT32, **F)
        self.keep(
            made, n, *(d * 2 if letter == k else d for k, d in zip("HWC", (h, w, c), strict=True))
        )

    def cut(self) -> None:
        """A slice, a piece of a split, or an image with a frame around it."""
        data, (n, h, w, c) = self.one_of(self.values[-2:])
        kind = int(self.rng.integers(5))
        if kind == 0:
            begin, size = self.placed(0, 1, 0, 0), self.placed(-1, h - 1, -1, -1)
            if h < 2:
                return
            made = self.op("Slice", data, self.const(begin), self.const(size), Index=INT32, **F)
            self.keep(made, n, h - 1, w, c)
        elif kind == 1:
            frame = self.placed([0, 0], [1, 0], [0, 1], [0, 0])
            made = self.op("Pad", data, self.const(frame), Tpaddings=INT32, **F)
            self.keep(made, n, h + 1, w + 1, c)
        elif kind == 2:
            given = [
                self.const(self.placed(*v)) for v in ((0, 0, 0, 0), (0, 1, 0, 0), (1, 1, 1, 1))
            ]
            masks = {"begin_mask": 15, "end_mask": 15 - (1 << self.format.index("H"))}
            made = self.op("StridedSlice", data, *given, Index=INT32, **masks, **F)
            self.keep(made, n, 1, w, c)
        elif kind == 3:
            many = self.const(self.placed(1, 1, 2, 1))
            self.keep(self.op("Tile", data, many, Tmultiples=INT32, **F), n, h, w * 2, c)
        else:
            axes = self.const([self.axis("W")])
            self.keep(self.op("ReverseV2", data, axes, Tidx=INT32, **F), n, h, w, c)

    def size(self) -> None:
        """Numbers as large as an image, by way of its shape."""
        data, sizes = self.one_of(self.values[-2:])
        shape = self.op("Shape", data, out_type=INT32, **F)
        self.keep(self.op("Fill", shape, self.weights(), **F), *sizes)

    def reduce(self) -> None:
        """A sum or the like, over one axis that stays."""
        data, (n, h, w, c) = self.one_of(self.values[-2:])
        letter = self.one_of("HWC")
        axis = self.const([self.axis(letter)])
        kind = self.one_of(("Sum", "Mean", "Max"))
        made = self.op(kind, data, axis, keep_dims=True, Tidx=INT32, **F)
        self.keep(
            made, n, *(1 if letter == k else d for k, d in zip("HWC", (h, w, c), strict=True))
        )

    def outcome(self) -> Output:
        """What the last image comes to without some of its dimensions."""
        data = self.values[-1][0]
        axes = [self.axis("H"), self.axis("W")] if self.rng.random() < 0.7 else [self.axis("N")]
        return self.op("Mean", data, self.const(axes), keep_dims=False, Tidx=INT32, **F)


def draw_images(seed: int, last: bool, device: str = "") -> tuple[Images, list[str]]:
    """The graph of a seed, and what to fetch."""
    made = Images(np.random.default_rng(seed), last, device)
    made.image()
    made.layer()
    pieces = [made.layer] * 4 + [made.unary] * 4 + [made.binary] * 4 + [made.join] * 2
    pieces += [made.cut] * 3 + [made.turn] * 3 + [made.flat]
    pieces += [made.pool, made.norm, made.reduce, made.size]
    for _ in range(int(made.rng.integers(3, 14))):
        made.one_of(pieces)()
    chosen = [made.outcome(), made.one_of(made.values)[0], *made.rows[-2:]]
    return made, [f"{output[0].name}:0" for output in chosen]
