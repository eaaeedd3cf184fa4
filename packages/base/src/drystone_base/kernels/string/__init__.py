"""Reference kernels of string ops."""
