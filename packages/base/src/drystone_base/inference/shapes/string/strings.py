"""Shapes of element by element functions of strings."""

from __future__ import annotations

from drystone_base.inference.shapes._registry import Shape, ShapeCall, shape


@shape(
    "StringLower", "StringUpper", "StringStrip", "StringLength", "EncodeBase64", "DecodeBase64",
    "StringToHashBucketFast", "StringToHashBucket", "StringToHashBucketStrong", "AsString",
    "StringToNumber", "StaticRegexFullMatch", "StaticRegexReplace", "UnicodeTranscode",
    "UnicodeScript",
)  # fmt: skip
def same(c: ShapeCall) -> list[Shape]:
    """The input's shape."""
    return [c.shape(0)]


@shape("RegexFullMatch", "RegexReplace")
def regex(c: ShapeCall) -> list[Shape]:
    """The input's shape; pattern and rewrite are scalars."""
    for k in range(1, len(c.shapes)):
        c.with_rank(c.shape(k), 0)
    return [c.shape(0)]


@shape("Substr")
def substr(c: ShapeCall) -> list[Shape]:
    """Strings broadcast against positions, whose shape lengths share."""
    return [c.broadcast(c.shape(0), c.merge(c.shape(1), c.shape(2)))]
