"""The contract between drystone and its plugins.

Protos live in `drystone_abi.protos`; importing this package alone loads nothing else.
"""

__version__ = "0.1.0"

__all__ = ["__version__"]
