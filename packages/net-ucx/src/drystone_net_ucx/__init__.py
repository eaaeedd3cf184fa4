"""Network transports over UCX: `ucx://`, `ucx+tcp://` and `ucx+shm://`."""

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_net_ucx._missing import named

    raise named(error) from None

__version__ = "0.1.0"

__all__ = ["__version__"]

__getattr__, __dir__ = lazy_names(__name__, {}, __all__)
