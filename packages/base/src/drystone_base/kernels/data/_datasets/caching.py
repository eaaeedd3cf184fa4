"""A dataset kept in a file, which is a checkpoint: component ``k`` of element ``i`` by name."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

from drystone_base.checkpoint import BundleReader, BundleWriter
from drystone_base.checkpoint._replacing import written_paths
from drystone_base.checkpoint.shards import index_path
from drystone_base.core.dtypes import RESOURCE, VARIANT
from drystone_base.files.access import checkpoint_parts
from drystone_base.kernels._registry import Call
from drystone_base.kernels.data._datasets.base import (
    Context,
    Dataset,
    Element,
    Next,
    Unary,
    from_generator,
)

__all__ = ["FileCached"]


class FileCached(Unary):
    """The source; from the file once an iteration has come to its end."""

    def __init__(self, call: Call, source: Dataset, prefix: str) -> None:
        super().__init__(call, source)
        call.require(
            VARIANT not in self.types and RESOURCE not in self.types,
            "elements must be plain tensors to be kept in a file",
            found=list(self.types),
            needed="numbers and strings",
            status="UNIMPLEMENTED",
        )
        self.prefix = prefix

    def iterate(self, context: Context) -> Next:
        """Whether the file is there is seen when the first element is asked for."""
        mode: Next | None = None

        def advance() -> Element | None:
            nonlocal mode
            if mode is None:
                mode = self._reading(context) or self._writing(context)
            return mode()

        return advance

    def _name(self, element: int, component: int) -> str:
        width = len(str(max(0, len(self.types) - 1)))
        return f"{element:7d}_{component:{width}d}"

    def _reading(self, context: Context) -> Next | None:
        index = index_path(self.prefix)
        context.runtime.access.check_read(self.call, index)
        if not index.exists():
            return None
        for path in checkpoint_parts(self.prefix):
            context.runtime.access.check_read(self.call, path)
        return from_generator(self._elements(BundleReader(self.prefix)))

    def _elements(self, reader: BundleReader) -> Iterator[Element]:
        count = 0
        while self._name(count, 0) in reader:
            yield [reader.tensor(self._name(count, k)) for k in range(len(self.types))]
            count += 1

    def _writing(self, context: Context) -> Next:
        for path in written_paths(self.prefix):
            context.runtime.access.check_write(self.call, path)
        source, writer, count = self.source.iterate(context), BundleWriter(self.prefix), 0
        done = False

        def advance() -> Element | None:
            nonlocal count, done
            element = None if done else source()
            if element is not None:
                for k, (value, dtype) in enumerate(zip(element, self.types, strict=True)):
                    writer.add(self._name(count, k), value, dtype)
                count += 1
            elif not done:
                done = True
                given_up.detach()
                writer.finish()
            return element

        given_up = weakref.finalize(advance, writer.discard)  # where no one reads to the end
        return advance
