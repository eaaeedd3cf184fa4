"""`drystone_base.dtypes`: the public names of what `core` makes."""

from __future__ import annotations

import drystone_base as ds
from drystone_base import dtypes
from drystone_base.core import dtypes as made


def test_the_public_module_has_every_constant_and_function() -> None:
    """A dtype that is added to `core` is added here, too, as the same object."""
    constants = {name for name, value in vars(made).items() if isinstance(value, made.DType)}
    assert set(dtypes.__all__) == constants | set(made.__all__)
    assert all(getattr(dtypes, name) is getattr(made, name) for name in dtypes.__all__)
    assert {getattr(dtypes, name) for name in constants} == set(made.all_dtypes())


def test_it_is_an_attribute_of_the_package_and_a_module_to_import_from() -> None:
    from drystone_base.dtypes import FLOAT32

    assert ds.dtypes is dtypes
    assert ds.dtypes.FLOAT32 is FLOAT32 is ds.as_dtype("float32")
