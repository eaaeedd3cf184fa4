"""Devices: their names, which nodes go where, and the parts that each of them runs."""

from __future__ import annotations

from drystone_base.placement.device import Device, parse_device
from drystone_base.placement.partition import Partitions, Transfer, partition
from drystone_base.placement.placer import Decision, Placement, place
from drystone_base.placement.support import Supports, by_op, everywhere

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
