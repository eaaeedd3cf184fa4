"""Gradients as nodes: rules by op, and what goes over a graph with them."""

from drystone_base.autodiff._registry import gradient
from drystone_base.autodiff._slices import IndexedSlices
from drystone_base.autodiff.asking import gradients

__all__ = ["IndexedSlices", "gradient", "gradients"]
