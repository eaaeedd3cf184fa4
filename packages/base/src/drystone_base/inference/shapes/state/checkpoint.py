"""Shapes of checkpoint ops: a restored slice has the shape that its text states."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


def _stated(text: bytes) -> Shape:
    """The shape of the part that a ``shape_and_slices`` string states; None when it states none."""
    dims, _, spec = text.decode("utf-8", "replace").strip().rpartition(" ")
    if not spec:
        return None
    try:
        full = [int(d) for d in dims.split()]
        lengths = [None if p == "-" else int(p.split(",")[1]) for p in spec.split(":")]
    except (ValueError, IndexError):
        return None
    if len(full) != len(lengths):
        return None
    return tuple(d if n is None else n for d, n in zip(full, lengths, strict=True))


@shape("RestoreV2")
def restore_v2(c: ShapeCall) -> list[Shape]:
    """Stated by the slices where they are known and not empty."""
    texts = c.value(2)
    if texts is None or texts.size != c.output_count:
        return [None] * c.output_count
    return [_stated(text) for text in texts.ravel().tolist()]


@shape("Restore")
def restore(_: ShapeCall) -> list[Shape]:
    """Whatever the file holds."""
    return [None]


@shape("RestoreSlice")
def restore_slice(c: ShapeCall) -> list[Shape]:
    """Stated by the slice where it is known and not empty."""
    text = c.value(2)
    return [None if text is None else _stated(text.item())]


@shape("Save", "SaveSlices")
def save(c: ShapeCall) -> list[Shape]:
    """No outputs; there is a name, and a slice, for each tensor."""
    c.with_rank(c.shape(0), 0)
    vectors = (1, 2) if c.op == "SaveSlices" else (1,)
    for k in vectors:
        c.merge_dim(c.with_rank(c.shape(k), 1)[0], len(c.shapes) - 1 - len(vectors))
    return []


@shape("SaveV2", "MergeV2Checkpoints")
def nothing(_: ShapeCall) -> list[Shape]:
    """No outputs."""
    return []


@shape("ShardedFilename", "ShardedFilespec")
def name(_: ShapeCall) -> list[Shape]:
    """A scalar."""
    return [()]
