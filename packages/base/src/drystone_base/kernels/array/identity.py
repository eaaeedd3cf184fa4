"""Ops that pass a value on, hold one, or do nothing."""

from __future__ import annotations

from drystone_base.core.errors import KernelError
from drystone_base.kernels._registry import Array, Call, kernel

__all__: list[str] = []


@kernel(
    "Identity", "Snapshot", "StopGradient", "PreventGradient", "PlaceholderWithDefault",
    "GuaranteeConst", "Copy", "CopyHost", "_EagerConst",
)  # fmt: skip
def identity(_: Call, x: Array) -> Array:
    """The input itself, any dtype and shape."""
    return x


@kernel("IdentityN", "_ListToArray", "_ArrayToList")
def identity_n(_: Call, *values: Array) -> tuple[Array, ...]:
    """The inputs as they are, of any dtypes and shapes."""
    return values


@kernel("DeepCopy")
def deep_copy(_: Call, x: Array) -> Array:
    """A copy of the input that shares no memory with it."""
    return x.copy()


@kernel("EnsureShape")
def ensure_shape(call: Call, x: Array) -> Array:
    """The input, after checking it against the attribute ``shape``."""
    wanted = call.attrs["shape"]
    fits = wanted is None or (
        len(wanted) == x.ndim and all(w in (-1, d) for w, d in zip(wanted, x.shape, strict=True))
    )
    call.require(
        fits,
        "the tensor must have the shape that the node asserts",
        found=list(x.shape),
        needed=list(wanted or ()),
    )
    return x


@kernel("Const", "HostConst")
def const(call: Call) -> Array:
    """The attribute ``value``; the array may be read-only."""
    array: Array = call.attrs["value"].aligned()
    return array


@kernel("Placeholder", "PlaceholderV2")
def placeholder(call: Call) -> Array:
    """Always fails: the executor replaces a placeholder that is fed.

    Raises ``KernelError`` (``placeholder-not-fed``).
    """
    raise KernelError(
        f"placeholder {call.node!r} is needed but was not fed",
        check="every placeholder that a fetch depends on must be fed",
        found=f"no feed for {call.node!r}",
        needed=f"a {call.attrs['dtype']} value of shape {call.attrs.get('shape')}",
        remedy=f"feed a value for {call.node + ':0'!r}",
        code="placeholder-not-fed",
    )


@kernel("NoOp", "ControlTrigger")
def no_op(_: Call) -> tuple[()]:
    """Nothing; these nodes only order others."""
    return ()
