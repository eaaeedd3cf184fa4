"""Variants and resources on their way into the host library and back."""

from __future__ import annotations

import ctypes
import gc
import weakref
from typing import Any

import numpy as np
import pytest

from drystone_base.core import dtypes
from drystone_base.core.errors import HostError
from drystone_base.core.tensor import string_array
from drystone_base.executor.handles import adapt, value_of
from drystone_base.host._lib import declare
from drystone_base.host.extension import extension
from drystone_base.kernels.data_flow._tensor_lists import TensorList
from drystone_base.state.variables import handle_array

VARIANT = dtypes.VARIANT.number
data_of = declare("TF_TensorData", ctypes.c_void_p, ctypes.c_void_p)


def there_and_back(value: Any) -> Any:
    found = extension().value(adapt(value, VARIANT))
    return found.item() if found.ndim == 0 else found


def test_a_list_keeps_what_it_declares_and_its_elements() -> None:
    items = [np.float32([1, 2]), None, np.arange(2000, dtype=np.float32)]
    found = there_and_back(handle_array(TensorList(dtypes.FLOAT32, (-1,), items, 7)))
    assert (found.dtype, found.shape, found.limit) == (dtypes.FLOAT32, (-1,), 7)
    assert [None if v is None else v.tolist() for v in found.items()] == [
        None if v is None else v.tolist() for v in items
    ]


def test_lists_of_strings_and_of_lists() -> None:
    texts = TensorList(dtypes.STRING, None, [string_array([b"a", b"bc"], (2,))])
    nested = TensorList(dtypes.VARIANT, (), [handle_array(texts), None, handle_array(None)])
    found = there_and_back(handle_array(nested)).items()
    assert found[0].item().items()[0].tolist() == [b"a", b"bc"]
    assert found[1] is None
    assert found[2].item() is None


class Thing:
    """Something that only Python knows."""


def test_what_only_python_knows_comes_back_as_it_was() -> None:
    thing = Thing()
    assert there_and_back(handle_array(thing)) is thing
    several = np.array([thing, None], dtype=object)
    assert there_and_back(several) is several
    gone = weakref.ref(thing)
    held = adapt(handle_array(thing), VARIANT)
    del thing, several
    gc.collect()
    assert gone() is not None
    extension().delete_tensor(held)
    gc.collect()
    assert gone() is None


def test_a_list_that_cannot_be_made_says_so() -> None:
    bad = TensorList(dtypes.FLOAT32, None, [string_array([b"a"], (1,))])
    with pytest.raises(ValueError, match="no list can be made of dtype float"):
        adapt(handle_array(bad), VARIANT)


def test_arrays_of_what_plugins_alone_know_are_refused() -> None:
    tensor = extension().foreign_tensor(dtypes.RESOURCE.number, (2,), "")
    place = ctypes.c_uint64.from_address(data_of(tensor))
    assert value_of(dtypes.RESOURCE.number, tensor).tolist() == [None, None]
    place.value = 3
    with pytest.raises(HostError, match="an array of handles must hold what the session knows"):
        value_of(dtypes.RESOURCE.number, tensor)
    extension().delete_tensor(tensor)
