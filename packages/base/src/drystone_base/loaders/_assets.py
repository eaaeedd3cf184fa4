"""How a graph is told where its files lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from drystone_base.core.errors import BadModelFile
from drystone_base.core.tensor import string_array
from drystone_base.files.uris import as_path

if TYPE_CHECKING:
    from drystone_abi.protos import AssetFileDef, MetaGraphDef

__all__ = ["COLLECTION", "asset_defs", "path_tensor"]

COLLECTION: Final = "saved_model_assets"
"""Where TensorFlow 1's builder states assets, and so every estimator and TFX export."""
_KIND: Final = "tensorflow.AssetFileDef"


def path_tensor(path: Path | str) -> np.ndarray[Any, Any]:
    """The string scalar of an absolute path."""
    return string_array([os.fsencode(as_path(path).absolute())], ())


def asset_defs(meta: MetaGraphDef, what: str) -> list[AssetFileDef]:
    """The assets that a MetaGraph states: in its field, else in its collection.

    Raises ``BadModelFile`` (``bad-saved-model``) that names ``what`` for a collection of others.
    Source: TensorFlow's SavedModel loaders.
    """
    if meta.asset_file_def or COLLECTION not in meta.collection_def:
        return list(meta.asset_file_def)
    from google.protobuf.message import DecodeError

    from drystone_abi.protos import AssetFileDef

    found = []
    for packed in meta.collection_def[COLLECTION].any_list.value:
        if packed.type_url.rpartition("/")[2] != _KIND:
            raise _bad(what, packed.type_url or "no type", None)
        try:
            found.append(AssetFileDef.FromString(packed.value))
        except DecodeError as error:
            raise _bad(what, "bytes that are none", error) from error
    return found


def _bad(what: str, found: str, inner: Exception | None) -> BadModelFile:
    return BadModelFile(
        f"the assets of {what} cannot be read",
        check=f"collection {COLLECTION} must hold files of the assets folder",
        found=found,
        needed=_KIND,
        remedy="the file is damaged: copy or export it again",
        code="bad-saved-model",
        inner=inner,
    )
