"""Network transports over UCX: `ucx://`, `ucx+tcp://` and `ucx+shm://`."""

__all__: list[str] = []
__version__ = "0.1.0"
