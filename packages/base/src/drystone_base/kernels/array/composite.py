"""Composite tensors (ragged, sparse and other classes of Python) packed into one variant.

Source: TensorFlow ops CompositeTensorVariantFromComponents, CompositeTensorVariantToComponents.
"""

from __future__ import annotations

from dataclasses import dataclass

from drystone_base.core.dtypes import STRING, from_numpy
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.state.variables import handle_array


@dataclass(frozen=True)
class Composite:
    """The components, and what says which class they make: a serialized TypeSpec."""

    components: tuple[Array, ...]
    metadata: str


@kernel("CompositeTensorVariantFromComponents")
def from_components(call: Call, *components: Array) -> Array:
    """A variant that holds the components and the metadata."""
    return handle_array(Composite(components, call.attrs["metadata"]))


@kernel("CompositeTensorVariantToComponents")
def to_components(call: Call, encoded: Array) -> tuple[Array, ...]:
    """The components of a variant; their number and types must be the declared ones."""
    held = encoded.item() if encoded.ndim == 0 else None
    if not isinstance(held, Composite):
        call.fail(
            "the variant must hold a composite tensor",
            found=type(held).__name__,
            needed="what CompositeTensorVariantFromComponents made",
        )
    wanted = list(call.attrs["Tcomponents"])
    found = [_kind(v) for v in held.components]
    call.require(
        len(found) == len(wanted)
        and all(f == w or (v.dtype == object and w.is_object)
                for f, w, v in zip(found, wanted, held.components, strict=True)),
        "the components must have the declared types",
        found=found,
        needed=wanted,
    )  # fmt: skip
    return held.components


def _kind(value: Array) -> object:
    return STRING if value.dtype == object else from_numpy(value.dtype)
