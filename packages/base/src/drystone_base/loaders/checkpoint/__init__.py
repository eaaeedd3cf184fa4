"""TensorFlow checkpoints: V2 bundles read, written and merged; V1 files read and written."""

from drystone_base.loaders.checkpoint._slices import FULL, SliceSpec, parse_slice
from drystone_base.loaders.checkpoint.bundle import BundleReader, Entry
from drystone_base.loaders.checkpoint.state import latest_checkpoint, state_latest
from drystone_base.loaders.checkpoint.v1 import V1Reader, open_checkpoint, v1_files
from drystone_base.loaders.checkpoint.v1_writer import V1Writer
from drystone_base.loaders.checkpoint.writer import BundleWriter, merge, save

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
