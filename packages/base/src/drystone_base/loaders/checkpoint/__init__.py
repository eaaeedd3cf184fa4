"""TensorFlow checkpoints (V2 bundles): read, written and merged."""

from drystone_base.loaders.checkpoint._slices import FULL, SliceSpec, parse_slice
from drystone_base.loaders.checkpoint.bundle import BundleReader, Entry
from drystone_base.loaders.checkpoint.state import latest_checkpoint, state_latest
from drystone_base.loaders.checkpoint.writer import BundleWriter, merge, save

__all__ = [
    "FULL",
    "BundleReader",
    "BundleWriter",
    "Entry",
    "SliceSpec",
    "latest_checkpoint",
    "merge",
    "parse_slice",
    "save",
    "state_latest",
]
