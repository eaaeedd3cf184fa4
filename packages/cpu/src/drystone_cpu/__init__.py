"""Kernels for the CPU, as a plugin for drystone: installed, it is found; no program imports it.

This package holds the libraries that the plugin opens: one for each level of instructions, and the
one that needs oneDNN.
"""

__all__ = ["__version__"]

__version__ = "0.2.0"
