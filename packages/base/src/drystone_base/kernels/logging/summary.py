"""Summaries as serialized protos, for an event file that another program writes.

Source: TensorFlow ops ScalarSummary, HistogramSummary, ImageSummary, AudioSummary, TensorSummary,
MergeSummary.
"""

from __future__ import annotations

from google.protobuf.message import DecodeError

from drystone_abi.protos import Summary
from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.logging._summaries import (
    add_audio,
    add_histogram,
    add_images,
    add_scalar,
    add_tensor,
    tag_text,
)

__all__: list[str] = []


def _text(summary: Summary) -> Array:
    return string_array([summary.SerializeToString(deterministic=True)], ())


@kernel("ScalarSummary")
def scalar_summary(call: Call, tags: Array, values: Array) -> Array:
    """Numbers under tags, one for one."""
    call.require(
        tags.shape == values.shape,
        "tags and values must have one shape",
        found=f"tags {list(tags.shape)}, values {list(values.shape)}",
        needed="equal shapes",
    )
    summary = Summary()
    for tag, value in zip(tags.reshape(-1).tolist(), values.reshape(-1), strict=True):
        add_scalar(call, summary, tag, value)
    return _text(summary)


@kernel("HistogramSummary")
def histogram_summary(call: Call, tag: Array, values: Array) -> Array:
    """Counts of the values in buckets that grow by a tenth."""
    summary = Summary()
    add_histogram(call, summary, scalar_string(call, tag, "the tag"), values)
    return _text(summary)


@kernel("ImageSummary")
def image_summary(call: Call, tag: Array, images: Array) -> Array:
    """A serialized Summary of images as PNG: ``[n, height, width, 1, 3 or 4]``.

    Of uint8 or floats; ``bad_color`` is for pixels that are not finite. Raises ``KernelError``.
    """
    bad_color = call.attrs["bad_color"].array
    call.require(
        bad_color.ndim == 1, "bad_color must be a vector", found=list(bad_color.shape), needed="1"
    )
    summary, limit = Summary(), call.attrs["max_images"]
    add_images(call, summary, scalar_string(call, tag, "the tag"), images, bad_color, limit)
    return _text(summary)


@kernel("AudioSummary", "AudioSummaryV2")
def audio_summary(call: Call, tag: Array, sounds: Array, rate: Array | None = None) -> Array:
    """Sounds as WAV files; the sample rate is an attribute, or an input of the second form."""
    if rate is not None:
        call.require(rate.size == 1, "sample_rate must be one number", found=list(rate.shape))
    given = call.attrs["sample_rate"] if rate is None else float(rate.reshape(-1)[0])
    summary, limit = Summary(), call.attrs["max_outputs"]
    add_audio(call, summary, scalar_string(call, tag, "the tag"), sounds, given, limit)
    return _text(summary)


@kernel("TensorSummary")
def tensor_summary(call: Call, tensor: Array) -> Array:
    """A tensor under the node's name."""
    summary = Summary()
    add_tensor(call, summary, tensor, None).node_name = call.node
    return _text(summary)


@kernel("TensorSummaryV2")
def tensor_summary_v2(call: Call, tag: Array, tensor: Array, metadata: Array) -> Array:
    """A tensor under a tag, with what a plugin of TensorBoard wants to know."""
    summary = Summary()
    name = tag_text(call, scalar_string(call, tag, "the tag"))
    add_tensor(call, summary, tensor, scalar_string(call, metadata, "the metadata")).tag = name
    return _text(summary)


@kernel("MergeSummary")
def merge_summary(call: Call, *texts: Array) -> Array:
    """All values of all summaries; a tag may occur once."""
    merged, seen = Summary(), set[str]()
    for text in (t for array in texts for t in array.reshape(-1).tolist()):
        try:
            summary = Summary.FromString(text)
        except DecodeError as error:
            call.fail("an input must be a summary", found=text[:40], needed="a proto", inner=error)
        for value in summary.value:
            call.require(
                not value.tag or value.tag not in seen,
                "a tag may occur once among summaries",
                found=value.tag,
                needed="different tags",
            )
            seen.add(value.tag)
        merged.MergeFrom(summary)
    return _text(merged)
