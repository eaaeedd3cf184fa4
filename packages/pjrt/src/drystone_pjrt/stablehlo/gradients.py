"""Gradients of convolutions, biases and activations."""

from __future__ import annotations

from collections.abc import Sequence

from drystone_pjrt.stablehlo.convolutions import Places, rows
from drystone_pjrt.stablehlo.elementwise import of_floats
from drystone_pjrt.stablehlo.layouts import channel_axis, text_of
from drystone_pjrt.stablehlo.ops import Site, emits
from drystone_pjrt.stablehlo.products import HIGHEST
from drystone_pjrt.stablehlo.reductions import sum_of, widened
from drystone_pjrt.stablehlo.writer import Refused, Value, Writer, integers

__all__: list[str] = []

Shape = tuple[int, ...]


# ---- convolutions --------------------------------------------------------------------------------


class _Forward:
    """The convolution that a gradient is of: its places, its groups, its filters' shape as that of
    a convolution whose channels are in groups."""

    def __init__(self, w: Writer, s: Site, image: Shape, filters: Shape, slope: Value) -> None:
        by_itself = s.op.startswith("Depthwise")
        if len(filters) != len(image) or len(slope.shape) != len(image):
            raise Refused(f"filters of {list(filters)} over {list(image)}")
        site = Site(w, s.node, [Value("", image, slope.dtype)])
        channels = image[channel_axis(site)]
        if by_itself:
            filters = (*filters[:-2], 1, filters[-2] * filters[-1])
        depth, out = filters[-2:]
        if not depth or not out or channels % depth or out % (channels // depth):
            raise Refused(f"its {channels} channels are for filters of {depth}")
        self.at, self.filters = Places(site, filters[:-2], out), filters
        self.groups = channels // depth
        self.sizes = [image[axis] for axis in self.at.axes]
        if self.at.shape != slope.shape:
            raise Refused(f"its gradient is {list(slope.shape)}, and not {list(self.at.shape)}")

    def layout(self, batch: str, channel: str) -> str:
        """Which dimension of images is which."""
        names = [batch, *(str(k) for k in range(len(self.sizes)))]
        names.insert(self.at.channel, channel)
        return f"[{', '.join(names)}]"


def _sizes(s: Site, k: int, slope: Value) -> Shape:
    """A shape that is an input; without batch and channels it is refused."""
    sizes = tuple(s.integers(k))
    if len(sizes) != len(slope.shape) or min(sizes) < 0:
        raise Refused(f"its shape is {list(sizes)}")
    return sizes


@emits("Conv2DBackpropInput", "Conv3DBackpropInputV2", "DepthwiseConv2dNativeBackpropInput",
       static=(0,))  # fmt: skip
def of_input(w: Writer, s: Site) -> Value:
    """A convolution of the gradient, spread by the steps, with the filters backwards."""
    kernel, slope = s.inputs[1:3]
    image = _sizes(s, 0, slope)
    of = _Forward(w, s, image, kernel.shape, slope)
    *window, depth, out = of.filters
    count = len(window)
    # the outputs of a group are what is summed over, and its inputs are what comes out
    apart = w.reshape(kernel, (*window, depth, of.groups, out // of.groups))
    order = [*range(count), count + 1, count, count + 2]
    turned = w.reshape(w.transpose(apart, order), (*window, of.groups * depth, out // of.groups))
    around = []
    for k, size in enumerate(of.sizes):
        reach = (window[k] - 1) * of.at.spread[k]
        low = reach - of.at.pads[k][0]
        length = (slope.shape[of.at.axes[k]] - 1) * of.at.strides[k] + 1
        around.append((low, size + reach - length - low))
    places = [str(k) for k in range(count)]
    numbers = f"{of.layout('b', 'f')}x[{', '.join([*places, 'o', 'i'])}]->{of.layout('b', 'f')}"
    attrs = (
        f"window_strides = {integers([1] * count)}, padding = {rows(around)}, "
        f"lhs_dilation = {integers(of.at.strides)}, rhs_dilation = {integers(of.at.spread)}, "
        f"feature_group_count = {of.groups} : i64, batch_group_count = 1 : i64, "
        f"dimension_numbers = #stablehlo.conv<{numbers}>, {HIGHEST}"
    )
    back = w.reverse(turned, range(count))
    return w.op("stablehlo.convolution", [slope, back], image, slope.dtype, attrs)


@emits("Conv2DBackpropFilter", "Conv3DBackpropFilterV2", "DepthwiseConv2dNativeBackpropFilter",
       static=(1,))  # fmt: skip
def of_filter(w: Writer, s: Site) -> Value:
    """A convolution of the input with the gradient, in which batch and channels change places."""
    x, slope = s.inputs[0], s.inputs[2]
    filters = _sizes(s, 1, slope)
    of = _Forward(w, s, x.shape, filters, slope)
    window, around = of.filters[:-2], []
    for k, size in enumerate(of.sizes):
        low, step = of.at.pads[k][0], of.at.strides[k]
        length = (slope.shape[of.at.axes[k]] - 1) * step + 1
        around.append((low, (window[k] - 1) * of.at.spread[k] + length - size - low))
    places = [str(k) for k in range(len(window))]
    numbers = f"{of.layout('f', 'b')}x{of.layout('i', 'o')}->[{', '.join([*places, 'b', 'f'])}]"
    attrs = (
        f"window_strides = {integers(of.at.spread)}, padding = {rows(around)}, "
        f"rhs_dilation = {integers(of.at.strides)}, feature_group_count = 1 : i64, "
        f"batch_group_count = {of.groups} : i64, "
        f"dimension_numbers = #stablehlo.conv<{numbers}>, {HIGHEST}"
    )
    made = w.op("stablehlo.convolution", [x, slope], of.filters, slope.dtype, attrs)
    return w.reshape(made, filters)


# ---- biases and activations ----------------------------------------------------------------------


@emits("BiasAddGrad")
def of_bias(w: Writer, s: Site) -> Value:
    """The sum over everything but channels."""
    (slope,) = s.inputs
    first = text_of(s.attr("data_format", "NHWC")).startswith("NC")
    axis = 1 if first else len(slope.shape) - 1
    if len(slope.shape) < 2:
        raise Refused(f"its gradient is {list(slope.shape)}")
    return sum_of(w, slope, [k for k in range(len(slope.shape)) if k != axis])


@emits("ReluGrad", "Relu6Grad", check=of_floats)
def of_relu(w: Writer, s: Site) -> Value:
    """The gradient where the input was let through, by 0 elsewhere: what is no number stays."""
    slope, x = s.inputs
    _alike(slope, x)
    where = w.compare("GT", x, w.full(0, x.shape, x.dtype))
    if s.op == "Relu6Grad":
        below = w.compare("LT", x, w.full(6, x.shape, x.dtype))
        where = w.same("stablehlo.and", where, below)
    nothing = w.same("stablehlo.multiply", slope, w.full(0, slope.shape, slope.dtype))
    return w.select(where, slope, nothing)


@emits("SigmoidGrad", "TanhGrad", check=of_floats)
def of_bounded(w: Writer, s: Site) -> Value:
    """dy y (1 - y), or dy (1 - y y)."""
    _alike(*s.inputs)
    y, slope = (widened(w, value) for value in s.inputs)
    one = w.full(1, y.shape, y.dtype)
    if s.op == "SigmoidGrad":
        slope, rest = w.same("stablehlo.multiply", slope, y), y
    else:
        rest = w.same("stablehlo.multiply", y, y)
    made = w.same("stablehlo.multiply", slope, w.same("stablehlo.subtract", one, rest))
    return w.convert(made, s.inputs[0].dtype)


def _alike(*values: Value) -> None:
    shapes: Sequence[Shape] = [value.shape for value in values]
    if len(set(shapes)) > 1:
        raise Refused(f"its shapes are {[list(shape) for shape in shapes]}")
