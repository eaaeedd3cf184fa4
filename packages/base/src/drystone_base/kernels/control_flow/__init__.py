"""Reference kernels of control flow ops."""
