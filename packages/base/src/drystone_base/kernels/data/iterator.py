"""Iterators: where a session is in a dataset. And optional values, which an iterator may give."""

from __future__ import annotations

import itertools
import threading
from typing import Final

import numpy as np

from drystone_base.core.tensor import string_array
from drystone_base.kernels._registry import Array, Call, kernel
from drystone_base.kernels._strings import scalar_string
from drystone_base.kernels._variants import (
    add_variants,
    blank,
    register_variant,
    zeros_like_variants,
)
from drystone_base.kernels.data._datasets.base import (
    Context,
    Dataset,
    Element,
    Next,
    check_element,
    compatible,
    dataset_of,
    stacked,
)
from drystone_base.kernels.state._tables import table_of
from drystone_base.kernels.state.lookup import fill_once
from drystone_base.state.variables import ResourceHandle, handle_array, resource_of

_KIND: Final = "iterator"
_NAMES: Final = "iterator_name"
_serial: Final = itertools.count(1)


class Iterator:
    """A place in a dataset; none until one is set. ``types`` and ``shapes`` are declared."""

    def __init__(self, call: Call) -> None:
        self.types = call.attrs["output_types"]
        self.shapes = call.attrs["output_shapes"]
        self.lock = threading.Lock()
        self._context: Context | None = None
        self._following: Next | None = None

    def start(self, call: Call, dataset: Dataset) -> None:
        """Go to the first element of a dataset, which must have the declared types."""
        check_spec(call, dataset, self)
        context = Context(call.runtime)
        following = dataset.iterate(context)
        with self.lock:
            self._context, self._following = context, following

    def following(self, call: Call) -> Element | None:
        """The next element, or None at the end; FAILED_PRECONDITION without a dataset."""
        with self.lock:
            if self._following is None or self._context is None:
                call.fail(
                    "an iterator must be given a dataset before its first element is taken",
                    found="no dataset",
                    needed="a dataset",
                    remedy="run the iterator's initializer (MakeIterator) first",
                    status="FAILED_PRECONDITION",
                )
            self._context.runtime = call.runtime
            return self._following()


def check_spec(call: Call, found: Dataset | Iterator, wanted: Iterator) -> None:
    """Refuse a dataset whose elements are not what an iterator declares."""
    ok = list(found.types) == list(wanted.types) and all(
        compatible(a, b) for a, b in zip(found.shapes, wanted.shapes, strict=True)
    )
    call.require(
        ok,
        "a dataset must have the types and shapes that the iterator declares",
        found=f"{list(found.types)} {list(found.shapes)}",
        needed=f"{list(wanted.types)} {list(wanted.shapes)}",
    )


def _named(call: Call) -> Array:
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]
    fresh = Iterator(call)
    found = call.runtime.resources.get_or_create(container, _KIND, name, lambda: fresh)
    check_spec(call, found, fresh)
    return handle_array(ResourceHandle(_KIND, name, container, found))


@kernel("Iterator", "IteratorV2")
def iterator(call: Call) -> Array:
    """A handle to the session's iterator of that name."""
    return _named(call)


def _anonymous(call: Call) -> Array:
    name = f"{call.node}_{next(_serial)}"
    return handle_array(ResourceHandle(_KIND, name, "", Iterator(call)))


@kernel("AnonymousIterator", "AnonymousIteratorV3")
def anonymous_iterator(call: Call) -> Array:
    """A handle, a scalar resource, to a new iterator that no name leads to."""
    return _anonymous(call)


@kernel("AnonymousIteratorV2")
def anonymous_iterator_v2(call: Call) -> tuple[Array, Array]:
    """A handle to a new iterator, and what deletes it."""
    made = _anonymous(call)
    return made, handle_array(made.item())


@kernel("OneShotIterator")
def one_shot_iterator(call: Call) -> Array:
    """A handle to an iterator over the dataset that a function makes when it is first needed."""
    name, container = call.attrs["shared_name"] or call.node, call.attrs["container"]

    def create() -> Iterator:
        made = Iterator(call)
        outputs = call.runtime.invoke(call.attrs["dataset_factory"], [])
        call.require(
            len(outputs) == 1, "the factory must return one dataset", found=len(outputs), needed=1
        )
        made.start(call, dataset_of(outputs[0]))
        return made

    found = call.runtime.resources.get_or_create(container, _KIND, name, create)
    return handle_array(ResourceHandle(_KIND, name, container, found))


@kernel("MakeIterator")
def make_iterator(call: Call, dataset: Array, handle: Array) -> tuple[()]:
    """Set an iterator to the first element of a dataset."""
    resource_of(handle, Iterator).start(call, dataset_of(dataset))
    return ()


@kernel("DeleteIterator")
def delete_iterator(call: Call, handle: Array, _deleter: Array) -> tuple[()]:
    """Delete an iterator by its handle, a scalar resource; its name is free again."""
    held = handle.item()
    call.runtime.resources.delete(held.container, _KIND, held.name)
    held.resource = None
    return ()


@kernel("IteratorGetNext", "IteratorGetNextSync")
def iterator_get_next(call: Call, handle: Array) -> Element:
    """The next element; OUT_OF_RANGE at the end."""
    return taken(call, resource_of(handle, Iterator).following(call))


def taken(call: Call, element: Element | None) -> Element:
    """The element that an iterator gave, of the node's dtypes and shapes.

    Raises ``KernelError`` (OUT_OF_RANGE) where there is none.
    """
    if element is None:
        call.fail(
            "an element is taken only where there is one",
            found="End of sequence",
            needed="an element",
            remedy="stop there, or run the iterator's initializer again",
            status="OUT_OF_RANGE",
        )
    check_element(call, element, call.attrs["output_types"], call.attrs["output_shapes"])
    return element


@kernel("IteratorGetDevice", "ExperimentalIteratorGetDevice")
def iterator_get_device(_: Call, handle: Array) -> Array:
    """The device of an iterator: the one there is."""
    resource_of(handle, Iterator)
    return string_array([b"/job:localhost/replica:0/task:0/device:CPU:0"], ())


@kernel("IteratorToStringHandle")
def iterator_to_string_handle(call: Call, handle: Array) -> Array:
    """A text that stands for an iterator in this session."""
    resource_of(handle, Iterator)
    held = handle.item()
    name = f"{held.container}/{held.name}"
    call.runtime.resources.get_or_create("", _NAMES, name, lambda: held)
    return string_array([name.encode("utf-8", "surrogateescape")], ())


@kernel("IteratorFromStringHandle", "IteratorFromStringHandleV2")
def iterator_from_string_handle(call: Call, text: Array) -> Array:
    """The iterator that a text stands for."""
    name = scalar_string(call, text, "the handle").decode("utf-8", "surrogateescape")
    held = call.runtime.resources.find("", _NAMES, name)
    call.require(
        held is not None,
        "the text must be one that IteratorToStringHandle gave in this session",
        found=repr(name[:80]),
        needed="the handle of an iterator",
    )
    found = resource_of(handle_array(held), Iterator)
    types, shapes = call.attrs["output_types"], call.attrs["output_shapes"]
    if types:
        wanted = Iterator(call)
        wanted.shapes = shapes or [None] * len(types)
        check_spec(call, found, wanted)
    return handle_array(held)


@kernel("InitializeTableFromDataset")
def initialize_table_from_dataset(call: Call, table: Array, dataset: Array) -> tuple[()]:
    """Fill a table from a dataset of keys and values."""
    into, source = table_of(call, table), dataset_of(dataset)
    call.require(
        list(source.types) == [into.key_dtype, into.value_dtype],
        "elements must be keys and values of the table",
        found=list(source.types),
        needed=into.signature(),
    )
    rows = list(source.elements(Context(call.runtime)))
    if rows:
        keys, values = stacked(call, rows, source.types)
    else:
        keys, values = (blank((0,), dtype) for dtype in source.types)
    fill_once(call, into, keys, values)
    return ()


# ---- optional values ---------------------------------------------------------------------------


class Optional:
    """An element, or none."""

    __slots__ = ("element",)

    def __init__(self, element: Element | None) -> None:
        self.element = element


@kernel("IteratorGetNextAsOptional")
def iterator_get_next_as_optional(call: Call, handle: Array) -> Array:
    """The next element, or none at the end."""
    element = resource_of(handle, Iterator).following(call)
    if element is not None:
        check_element(call, element, call.attrs["output_types"], call.attrs["output_shapes"])
    return handle_array(Optional(element))


@kernel("OptionalFromValue")
def optional_from_value(_: Call, *components: Array) -> Array:
    """An optional that has a value."""
    return handle_array(Optional(list(components)))


@kernel("OptionalNone")
def optional_none(_: Call) -> Array:
    """A scalar variant: an optional without a value."""
    return handle_array(Optional(None))


@kernel("OptionalHasValue")
def optional_has_value(_: Call, optional: Array) -> Array:
    """A scalar bool: whether an optional, a scalar variant, has a value."""
    return np.array(resource_of(optional, Optional).element is not None)


@kernel("OptionalGetValue")
def optional_get_value(call: Call, optional: Array) -> Element:
    """The value, which must be there."""
    element = resource_of(optional, Optional).element
    if element is None:
        call.fail("an optional must have a value to be read", found="none", needed="a value")
    check_element(call, element, call.attrs["output_types"], call.attrs["output_shapes"])
    return element


def _zeros(value: Optional) -> Optional:
    if value.element is None:
        return value
    return Optional([_zeros_of(v) for v in value.element])


def _zeros_of(value: Array) -> Array:
    return zeros_like_variants(value) if value.dtype.hasobject else np.zeros_like(value)


def _add(a: Optional, b: Optional) -> Optional:
    if a.element is None or b.element is None:
        return a if b.element is None else b
    pairs = zip(a.element, b.element, strict=True)
    return Optional([add_variants(x, y) if x.dtype.hasobject else x + y for x, y in pairs])


register_variant(Optional, zeros_like=_zeros, add=_add)


@kernel("WrapDatasetVariant", "UnwrapDatasetVariant")
def same_variant(_: Call, handle: Array) -> Array:
    """The dataset: it is in host memory in either form."""
    return handle_array(dataset_of(handle))
