"""Regions of graphs on NVIDIA GPUs, as a plugin for drystone: installed, it is found.

Sessions ask for it by name: ``SessionConfig(subgraphs="gpu")``.
"""

__all__ = ["__version__"]

__version__ = "0.2.0"
