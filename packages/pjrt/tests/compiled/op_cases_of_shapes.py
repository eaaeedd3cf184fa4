"""Cases of ops that move elements, and of those that say where they are."""

from __future__ import annotations

from typing import Final

import numpy as np
from hypothesis import strategies as st
from op_drawing import (
    Array,
    Case,
    Draw,
    axes,
    case,
    numbers,
    shape,
    typed,
)

from drystone_base.core.dtypes import as_dtype

__all__: list[str] = []

FLOAT: Final = as_dtype("float32")

# ---- shapes --------------------------------------------------------------------------------------

INDEX: Final = as_dtype("int32")


def ints(*values: int) -> Array:
    return np.asarray(values, np.int32)


@case("Shape", "Size", "Rank")
def of_shape(draw: Draw, op: str) -> Case:
    attrs = typed("float32") | ({} if op == "Rank" else {"out_type": INDEX})
    return [numbers(draw, shape(draw))], attrs, (), 1


@case("ShapeN")
def of_shapes(draw: Draw, _: str) -> Case:
    attrs = typed("float32") | {"out_type": INDEX, "N": 2}
    return [numbers(draw, shape(draw)), numbers(draw, shape(draw))], attrs, (), 2


@case("Reshape")
def of_other_shape(draw: Draw, _: str) -> Case:
    size = shape(draw)
    made = list(draw(st.permutations(size)))
    if made and draw(st.booleans()):
        made[0] = -1
    return [numbers(draw, size), ints(*made)], typed("float32") | {"Tshape": INDEX}, (1,), 1


@case("Squeeze")
def of_ones(draw: Draw, _: str) -> Case:
    size = tuple(draw(st.lists(st.sampled_from((1, 3)), max_size=4)))
    ones = [k for k, n in enumerate(size) if n == 1]
    dims = draw(st.lists(st.sampled_from(ones), unique=True)) if ones else []
    return [numbers(draw, size)], typed("float32") | {"squeeze_dims": dims}, (), 1


@case("ExpandDims")
def of_new_axis(draw: Draw, _: str) -> Case:
    size = shape(draw)
    axis = draw(st.integers(-len(size) - 1, len(size)))
    return [numbers(draw, size), np.int32(axis)], typed("float32") | {"Tdim": INDEX}, (1,), 1


@case("Transpose")
def of_order(draw: Draw, _: str) -> Case:
    size = shape(draw)
    order = draw(st.permutations(range(len(size))))
    return [numbers(draw, size), ints(*order)], typed("float32") | {"Tperm": INDEX}, (1,), 1


@case("ReverseV2")
def of_backwards(draw: Draw, _: str) -> Case:
    size = shape(draw)
    given = axes(draw, len(size))
    return [numbers(draw, size), given], typed("float32") | {"Tidx": INDEX}, (1,), 1


@case("ConcatV2", "Pack")
def of_parts(draw: Draw, op: str) -> Case:
    size, count = shape(draw, 1), draw(st.integers(1, 3))
    given = [numbers(draw, size) for _ in range(count)]
    axis = draw(st.integers(-len(size), len(size) - 1))
    if op == "Pack":
        return given, typed("float32") | {"N": count, "axis": axis}, (), 1
    return [*given, np.int32(axis)], typed("float32") | {"N": count, "Tidx": INDEX}, (count,), 1


@case("Unpack")
def of_whole(draw: Draw, _: str) -> Case:
    size = shape(draw, 1)
    axis = draw(st.integers(-len(size), len(size) - 1))
    return (
        [numbers(draw, size)],
        typed("float32") | {"num": size[axis], "axis": axis},
        (),
        size[axis],
    )


@case("Split", "SplitV")
def of_pieces(draw: Draw, op: str) -> Case:
    count, each, rest = draw(st.integers(1, 3)), draw(st.integers(1, 2)), shape(draw, 0, 2)
    axis = draw(st.integers(0, len(rest)))
    size = (*rest[:axis], count * each, *rest[axis:])
    attrs = typed("float32") | {"num_split": count}
    if op == "Split":
        return [np.int32(axis), numbers(draw, size)], attrs, (0,), count
    sizes = [each] * count
    if draw(st.booleans()):
        sizes[0] = -1
    given = [numbers(draw, size), ints(*sizes), np.int32(axis)]
    return given, attrs | {"Tlen": INDEX}, (1, 2), count


@case("Slice")
def of_part(draw: Draw, _: str) -> Case:
    size = shape(draw)
    low = [draw(st.integers(0, n)) for n in size]
    lengths = [draw(st.integers(-1, n - a)) for n, a in zip(size, low, strict=True)]
    given = [numbers(draw, size), ints(*low), ints(*lengths)]
    return given, typed("float32") | {"Index": INDEX}, (1, 2), 1


@case("StridedSlice")
def of_strides(draw: Draw, _: str) -> Case:
    size = shape(draw, 1)
    rows, masks, used = (
        [],
        dict.fromkeys(
            ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
        ),
        0,
    )
    ellipsis = False
    for k in range(draw(st.integers(0, len(size) + 1))):
        kind = draw(st.sampled_from(("plain", "plain", "shrink", "new", "ellipsis")))
        if kind == "ellipsis" and not ellipsis:
            ellipsis = True
            masks["ellipsis_mask"] |= 1 << k
            rows.append((0, 0, 1))
        elif kind == "new":
            masks["new_axis_mask"] |= 1 << k
            rows.append((0, 1, 1))
        elif used < len(size) and not ellipsis:
            n = size[used]
            if kind == "shrink":
                masks["shrink_axis_mask"] |= 1 << k
                at = draw(st.integers(-n, n - 1))
                rows.append((at, at + 1, 1))
            else:
                step = draw(st.sampled_from((1, 2, -1, -2)))
                masks["begin_mask"] |= draw(st.integers(0, 1)) << k
                masks["end_mask"] |= draw(st.integers(0, 1)) << k
                rows.append((draw(st.integers(-n, n)), draw(st.integers(-n, n)), step))
            used += 1
        else:
            break
    begin, end, steps = ([r[j] for r in rows] for j in range(3))
    given = [numbers(draw, size), ints(*begin), ints(*end), ints(*steps)]
    return given, typed("float32") | masks | {"Index": INDEX}, (1, 2, 3), 1


@case("Pad", "PadV2")
def of_border(draw: Draw, op: str) -> Case:
    size = shape(draw)
    around = [[draw(st.integers(0, 2)), draw(st.integers(0, 2))] for _ in size]
    given = [numbers(draw, size), np.asarray(around, np.int32).reshape(-1, 2)]
    given += [np.asarray(7, np.float32)] if op == "PadV2" else []
    return given, typed("float32") | {"Tpaddings": INDEX}, (1,), 1


@case("Tile")
def of_copies(draw: Draw, _: str) -> Case:
    size = shape(draw)
    times = [draw(st.integers(0, 3)) for _ in size]
    return [numbers(draw, size), ints(*times)], typed("float32") | {"Tmultiples": INDEX}, (1,), 1


@case("BroadcastTo")
def of_larger(draw: Draw, _: str) -> Case:
    whole = shape(draw)
    size = tuple(1 if draw(st.booleans()) else n for n in whole)
    return [numbers(draw, size), ints(*whole)], typed("float32") | {"Tidx": INDEX}, (1,), 1


@case("Fill")
def of_one_number(draw: Draw, _: str) -> Case:
    attrs = typed("float32") | {"index_type": INDEX}
    return [ints(*shape(draw)), numbers(draw, ())], attrs, (0,), 1


@case("GatherV2", "Gather")
def of_places(draw: Draw, op: str) -> Case:
    size = shape(draw, 1)
    axis = draw(st.integers(-len(size), len(size) - 1)) if op == "GatherV2" else 0
    count = shape(draw, 0, 2)
    places = np.random.default_rng(draw(st.integers(0, 99))).integers(0, size[axis], count)
    attrs = {"Tparams": FLOAT, "Tindices": INDEX}
    given = [numbers(draw, size), places.astype(np.int32)]
    if op == "Gather":
        return given, attrs, (), 1
    return [*given, np.int32(axis)], attrs | {"Taxis": INDEX, "batch_dims": 0}, (2,), 1


@case("OneHot")
def of_classes(draw: Draw, _: str) -> Case:
    places = np.asarray(numbers(draw, shape(draw, 0, 2), "int32"))
    attrs = typed("float32") | {"TI": INDEX, "axis": draw(st.integers(-1, places.ndim))}
    return (
        [places, np.int32(draw(st.integers(0, 5))), np.float32(2), np.float32(-1)],
        attrs,
        (1,),
        1,
    )
