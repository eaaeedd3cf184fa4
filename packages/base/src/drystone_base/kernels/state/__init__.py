"""Reference kernels of resource and lookup ops."""
