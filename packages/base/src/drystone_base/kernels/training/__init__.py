"""Reference kernels of training ops."""
