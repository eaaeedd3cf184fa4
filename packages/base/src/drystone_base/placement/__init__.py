"""Devices: their names, which nodes go where, and the parts that each of them runs.

What a name stands for is imported when it is asked for: with one device, nothing is placed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from drystone_base.core.lazy_names import lazy_names

if TYPE_CHECKING:
    from drystone_base.placement.device import Device, parse_device
    from drystone_base.placement.partitions import Partitions, Transfer
    from drystone_base.placement.placer import Decision, Placement, place
    from drystone_base.placement.splitter import partition
    from drystone_base.placement.support import Supports, by_op, everywhere

_HOME: Final = {
    "Decision": ".placer",
    "Device": ".device",
    "Partitions": ".partitions",
    "Placement": ".placer",
    "Supports": ".support",
    "Transfer": ".partitions",
    "by_op": ".support",
    "everywhere": ".support",
    "parse_device": ".device",
    "partition": ".splitter",
    "place": ".placer",
}

__all__ = [
    "Decision",
    "Device",
    "Partitions",
    "Placement",
    "Supports",
    "Transfer",
    "by_op",
    "everywhere",
    "parse_device",
    "partition",
    "place",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
