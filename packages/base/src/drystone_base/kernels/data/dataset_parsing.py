"""Datasets whose elements are parsed, and datasets written to files of records."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels.data._datasets.base import (
    Context,
    Dataset,
    Element,
    Next,
    Unary,
    check_element,
    dataset_of,
    part,
    scalar,
)
from drystone_base.kernels.io._records import write_record
from drystone_base.kernels.parsing.parse_example import parse_example_v2
from drystone_base.kernels.sparse.ragged_variant import Ragged
from drystone_base.ops.defs import op_def
from drystone_base.state.variables import handle_array

_OP: Final = "ParseExampleV2"
_PACKERS: Final[dict[bytes, Callable[[bytes], bytes]]] = {
    b"": bytes,
    b"GZIP": gzip.compress,
    b"ZLIB": zlib.compress,
}


class Parsed(Unary):
    """Batches of serialized examples, parsed; one component for each key, in their order."""

    def __init__(self, call: Call, source: Dataset, defaults: Sequence[Array]) -> None:
        super().__init__(call, source)
        a = {"ragged_keys": [], "ragged_value_types": [], "ragged_split_types": [], **call.attrs}
        self.kinds = [(k, "sparse") for k in a["sparse_keys"]]
        self.kinds += [(k, "dense") for k in a["dense_keys"]]
        self.kinds += [(k, "ragged") for k in a["ragged_keys"]]
        attrs = {**a, "num_sparse": len(a["sparse_keys"])}
        definition = op_def(_OP)
        self.parse = Call(
            call.node, call.op, attrs, call.runtime, definition.input_slices(attrs), len(self.kinds)
        )
        keys = [a["sparse_keys"], a["dense_keys"], a["ragged_keys"]]
        self.given = [string_array([], (0,)), *map(_texts, keys), *defaults]

    def iterate(self, context: Context) -> Next:
        """Batch by batch."""
        source = self.source.iterate(context)

        def advance() -> Element | None:
            batch = source()
            if batch is None:
                return None
            self.call.require(
                len(batch) == 1 and batch[0].ndim == 1 and batch[0].dtype == object,
                "examples must be a vector of strings",
                found=[f"{v.dtype}{list(v.shape)}" for v in batch],
                needed="string[n]",
            )
            element = self._arranged(parse_example_v2(self.parse, batch[0], *self.given))
            check_element(self.call, element, self.types, self.shapes)
            return element

        return advance

    def _arranged(self, outputs: Sequence[Array]) -> Element:
        """The outputs of the op by ascending key: sparse and ragged ones as variants."""
        sizes = [sum(kind == name for _, kind in self.kinds) for name in _KINDS]
        sparse, dense, ragged = sizes
        found: list[Array] = [_variants(outputs[k::sparse][:3]) for k in range(sparse)]
        found += outputs[3 * sparse : 3 * sparse + dense]
        rest = outputs[3 * sparse + dense :]
        found += [handle_array(Ragged((rest[ragged + k],), rest[k])) for k in range(ragged)]
        pairs = zip((key for key, _ in self.kinds), found, strict=True)
        return [value for _, value in sorted(pairs, key=lambda pair: pair[0])]


_KINDS: Final = ("sparse", "dense", "ragged")


def _texts(keys: Sequence[str]) -> Array:
    return string_array([k.encode("utf-8", "surrogateescape") for k in keys], (len(keys),))


def _variants(parts: Sequence[Array]) -> Array:
    out = np.empty(3, dtype=object)
    for k, one in enumerate(parts):
        out[k] = one
    return out


@kernel("ParseExampleDataset", "ParseExampleDatasetV2", "ExperimentalParseExampleDataset")
def parse_example_dataset(call: Call, *inputs: Array) -> Array:
    """Batches of serialized examples, parsed."""
    calls = scalar(call, "num_parallel_calls", part(call, "num_parallel_calls", inputs)[0])
    call.require(
        calls > 0 or calls == -1,
        "num_parallel_calls must be positive",
        found=calls,
        needed="1 or more, or -1",
    )
    defaults = part(call, "dense_defaults", inputs)
    return handle_array(Parsed(call, dataset_of(inputs[0]), defaults))


@kernel("DatasetToTFRecord", "ExperimentalDatasetToTFRecord")
def dataset_to_tf_record(call: Call, source: Array, name: Array, compression: Array) -> tuple[()]:
    """Write the elements, which are strings, to a file of records."""
    path = as_path(os.fsdecode(scalar_string(call, name, "the file name")))
    kind = scalar_string(call, compression, "the compression")
    call.require(
        kind in _PACKERS, "the compression must be known", found=kind, needed="'', ZLIB or GZIP"
    )
    call.runtime.access.check_write(call, path)
    out = io.BytesIO()
    for element in dataset_of(source).elements(Context(call.runtime)):
        call.require(
            len(element) == 1 and element[0].ndim == 0 and isinstance(element[0].item(), bytes),
            "elements must be strings to be written",
            found=[f"{v.dtype}{list(v.shape)}" for v in element],
            needed="one scalar string",
        )
        write_record(out, element[0].item())
    try:
        path.write_bytes(_PACKERS[kind](out.getvalue()))
    except OSError as error:
        call.fail(
            "the file must be writable",
            found=str(path),
            needed="a path to a file",
            status="NOT_FOUND",
            inner=error,
        )
    return ()
