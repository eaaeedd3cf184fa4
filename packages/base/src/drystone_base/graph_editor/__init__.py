"""Regions of a graph replaced by one node: what converters and front ends of compilers need."""

from drystone_base.graph_editor._replace import replace

__all__ = ["replace"]
