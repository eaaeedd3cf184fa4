"""TensorFlow checkpoints: V2 bundles read, written and merged; V1 files read and written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base.checkpoint._slices import FULL as FULL
    from drystone_base.checkpoint._slices import SliceSpec as SliceSpec
    from drystone_base.checkpoint._slices import parse_slice as parse_slice
    from drystone_base.checkpoint._v1_files import v1_files as v1_files
    from drystone_base.checkpoint.bundle import BundleReader as BundleReader
    from drystone_base.checkpoint.shards import Entry as Entry
    from drystone_base.checkpoint.state import latest_checkpoint as latest_checkpoint
    from drystone_base.checkpoint.state import state_latest as state_latest
    from drystone_base.checkpoint.v1 import V1Reader as V1Reader
    from drystone_base.checkpoint.v1 import open_checkpoint as open_checkpoint
    from drystone_base.checkpoint.v1_writer import V1Writer as V1Writer
    from drystone_base.checkpoint.writer import BundleWriter as BundleWriter
    from drystone_base.checkpoint.writer import merge as merge
    from drystone_base.checkpoint.writer import save as save

# Tensors of a model with cached plans are read without the modules that know the index.
_HOME = {
    "FULL": "._slices",
    "BundleReader": ".bundle",
    "BundleWriter": ".writer",
    "Entry": ".shards",
    "SliceSpec": "._slices",
    "V1Reader": ".v1",
    "V1Writer": ".v1_writer",
    "latest_checkpoint": ".state",
    "merge": ".writer",
    "open_checkpoint": ".v1",
    "parse_slice": "._slices",
    "save": ".writer",
    "state_latest": ".state",
    "v1_files": "._v1_files",
}

__all__ = [
    "FULL",
    "BundleReader",
    "BundleWriter",
    "Entry",
    "SliceSpec",
    "V1Reader",
    "V1Writer",
    "latest_checkpoint",
    "merge",
    "open_checkpoint",
    "parse_slice",
    "save",
    "state_latest",
    "v1_files",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
