"""Batching of calls: put together, run at once, taken apart again.

Source: TensorFlow ops of the same names. A session runs one call at a time, so that no call waits
for others to share a batch with: each is a batch of its own at once, padded to an allowed size.
"""

from __future__ import annotations

import itertools
import secrets
import time
from typing import Any, Final

import numpy as np

from drystone_base.kernels._registry import Array, Call, kernel

_INDEX: Final = 3
"""Numbers of a row of the batch index: key, start, end."""
_MICRO: Final = 1e-6


class _Pieces:
    """Parts of batches that wait for the node with their key, until a time."""

    def __init__(self) -> None:
        self.parts: dict[int, tuple[float, Array]] = {}

    def forget_old(self) -> None:
        """Drop what has waited for too long."""
        now = time.monotonic()
        self.parts = {k: v for k, v in self.parts.items() if v[0] >= now}


def _pieces(call: Call) -> _Pieces:
    a = call.attrs
    name = a["shared_name"] or call.node
    return call.runtime.resources.get_or_create(a["container"], call.op, name, _Pieces)


def _check_sizes(call: Call, *, splitting: bool) -> None:
    a = call.attrs
    sizes, most = a["allowed_batch_sizes"] or (), a["max_batch_size"]
    call.require(most > 0, "max_batch_size must be positive", found=most, needed="1 or more")
    call.require(
        all(x < y for x, y in itertools.pairwise(sizes)),
        "allowed_batch_sizes must rise",
        found=list(sizes),
    )
    call.require(
        not sizes or splitting or sizes[-1] == most,
        "the last of allowed_batch_sizes must be max_batch_size",
        found=sizes[-1] if sizes else "",
        needed=most,
    )


def _rows(call: Call, tensors: tuple[Array, ...]) -> int:
    """The number of rows that all tensors have."""
    for tensor in tensors:
        call.require(tensor.ndim > 0, "a tensor to be batched must have rows", found="a scalar")
    counts = {len(tensor) for tensor in tensors}
    call.require(
        len(counts) == 1,
        "tensors to be batched must have as many rows as each other",
        found=[list(tensor.shape) for tensor in tensors],
    )
    count, most = counts.pop(), call.attrs["max_batch_size"]
    call.require(count <= most, "there must be room in a batch", found=count, needed=most)
    return count


def _padded(call: Call, tensor: Array) -> Array:
    """The tensor, its first row repeated at the end up to an allowed size."""
    count = len(tensor)
    wanted = min((s for s in call.attrs["allowed_batch_sizes"] or () if s >= count), default=count)
    return np.concatenate([tensor, *[tensor[:1]] * (wanted - count)]) if wanted > count else tensor


@kernel("Batch")
def batch(call: Call, *tensors: Array) -> list[Array]:
    """The tensors as a batch of this call alone, the index that takes it apart, and its key."""
    call.require(
        call.attrs["num_batch_threads"] > 0,
        "num_batch_threads must be positive",
        found=call.attrs["num_batch_threads"],
    )
    _check_sizes(call, splitting=False)
    count = _rows(call, tensors)
    if count == 0:
        nothing = np.zeros(0, np.int64)
        return [*(np.zeros(0, t.dtype) for t in tensors), nothing, nothing]
    key = secrets.randbits(64) - (1 << 63)
    index = np.array([[key, 0, count]], np.int64)
    return [*(_padded(call, t) for t in tensors), index, np.array(key, np.int64)]


def _key(call: Call, key: Array) -> int:
    call.require(key.ndim == 0, "the key must be a scalar", found=list(key.shape))
    return int(key)


def _split(call: Call, tensor: Array, index: Array) -> dict[int, Array]:
    """The parts of a batch by their keys."""
    call.require(
        index.ndim == 2 and index.shape[1] == _INDEX and tensor.ndim > 0,
        "the batch index must be rows of three, the batch must have rows",
        found=f"{list(index.shape)}, {list(tensor.shape)}",
    )
    call.require(
        len(index) <= len(tensor),
        "there must not be more parts than rows",
        found=len(index),
        needed=len(tensor),
    )
    sizes = index[:, 2] - index[:, 1]
    call.require(
        (sizes >= 0).all() and sizes.sum() <= len(tensor),
        "the parts must lie in the batch",
        found=sizes.tolist(),
        needed=len(tensor),
    )
    keys, ends = index[:, 0].tolist(), np.cumsum(sizes).tolist()
    call.require(
        len(set(keys)) == len(keys),
        "a key must stand for one part",
        found=keys,
        status="ALREADY_EXISTS",
    )
    return {k: tensor[e - s : e] for k, s, e in zip(keys, sizes.tolist(), ends, strict=True)}


@kernel("Unbatch")
def unbatch(call: Call, tensor: Array, index: Array, key: Array) -> Array:
    """The part of a batch that belongs to the key; other parts wait for their nodes' runs."""
    parts, wanted, waiting = _split(call, tensor, index), _key(call, key), _pieces(call)
    waiting.forget_old()
    if wanted in waiting.parts:
        return waiting.parts.pop(wanted)[1]
    until = time.monotonic() + call.attrs["timeout_micros"] * _MICRO
    twice = [k for k in parts if k in waiting.parts]
    call.require(
        not twice, "a key must stand for one part", found=twice[:1], status="ALREADY_EXISTS"
    )
    waiting.parts |= {k: (until, part) for k, part in parts.items() if k != wanted}
    call.require(
        wanted in parts,
        "the part must be in a batch that was run before",
        found=f"no part of key {wanted}",
        remedy="feed id and batch_index from the same Batch node",
        status="DEADLINE_EXCEEDED",
    )
    return parts[wanted]


@kernel("UnbatchGrad")
def unbatch_grad(call: Call, original: Array, index: Array, grad: Array, key: Array) -> Array:
    """Gradients of parts, put together as the batch was; nothing for a call without a batch."""
    own, waiting = _key(call, key), _pieces(call)
    call.require(own not in waiting.parts, "a key must stand for one part", found=own)
    waiting.parts[own] = (np.inf, grad)
    if original.size == 0:
        return np.zeros((0, *original.shape[1:]), original.dtype)
    call.require(
        index.ndim == 2 and index.shape[1] == _INDEX,
        "the batch index must be rows of three",
        found=list(index.shape),
    )
    keys = index[:, 0].tolist()
    missing = [k for k in keys if k not in waiting.parts]
    call.require(
        not missing,
        "the gradients of all parts must have arrived",
        found=f"none of key {missing[:1]}",
        needed=keys,
        status="DEADLINE_EXCEEDED",
    )
    return np.concatenate([waiting.parts.pop(k)[1] for k in keys])


def _run(call: Call, tensors: list[Array], captured: tuple[Array, ...]) -> list[Array]:
    """The function's outputs for some rows, without those of the padding."""
    padded = [_padded(call, t) for t in tensors]
    found: list[Any] = call.runtime.invoke(call.attrs["f"], [*padded, *captured])
    for out in found:
        call.require(
            out.ndim > 0 and len(out) == len(padded[0]),
            "a batched function must give as many rows as it takes",
            found=list(out.shape),
            needed=[len(padded[0]), "..."],
            status="FAILED_PRECONDITION",
        )
    return [out[: len(tensors[0])] for out in found]


@kernel("BatchFunction")
def batch_function(call: Call, *inputs: Array) -> list[Array]:
    """Outputs of ``f`` for the rows of the inputs; it is run for a padded batch, or for several."""
    a = call.attrs
    splitting = bool(a["enable_large_batch_splitting"])
    _check_sizes(call, splitting=splitting)
    tensors, captured = inputs[call.input_slices["in_tensors"]], inputs[len(a["Tin"]) :]
    count = _rows(call, tensors)
    if count == 0:
        return [np.zeros(0, t.np) for t in a["Tout"]]
    most = (a["allowed_batch_sizes"] or [count])[-1] if splitting else count
    runs = [_run(call, [t[k : k + most] for t in tensors], captured) for k in range(0, count, most)]
    return [
        np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*runs, strict=True)
    ]
